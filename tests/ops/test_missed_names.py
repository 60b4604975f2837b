"""Names of NumPy, SciPy, JAX and Theano that users missed, against those."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import DTypeError, LoopError, RankError, ShapeMismatch
from tests.ops.harness import check

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("endpoint", [True, False])
def test_numbers_at_equal_ratios(endpoint: bool) -> None:
    a, b = np.array([0.5, 2.0]), np.array([3.0, 8.0])
    for name in ("logspace", "geomspace"):
        check(
            lambda x, y, name=name: getattr(T, name)(x, y, 5, endpoint=endpoint), a, b,
            oracle=lambda x, y, name=name: getattr(np, name)(x, y, 5, endpoint=endpoint),
        )  # fmt: skip
    check(
        lambda x: T.geomspace(x, -8.0, 4), np.array(-1.0), oracle=lambda x: np.geomspace(x, -8, 4)
    )
    assert T.logspace(0, 3, 4, base=2, dtype="int32").eval().tolist() == [1, 2, 4, 8]


def test_polynomials_by_their_roots() -> None:
    check(T.poly, np.array([1.0, -2.0, 0.5]), oracle=np.poly, static=True)
    check(lambda p: T.sort(T.real(T.roots(p))), np.array([2.0, -3.0, -11.0, 6.0]),
          oracle=lambda p: np.sort(np.roots(p).real), rtol=1e-12)  # fmt: skip
    u, v = np.array([3.0, 5.0, 2.0, 1.0]), np.array([2.0, 1.0])
    check(T.polydiv, u, v, oracle=np.polydiv, static=True)
    check(T.polydiv, v, u, oracle=lambda a, b: (np.zeros(1), a), static=True)
    with pytest.raises(RankError, match="has to be known"):
        T.poly(T.vector("x"))


def test_matrices_times_vectors() -> None:
    a, x = RNG.standard_normal((3, 2, 4)), RNG.standard_normal((3, 4))
    check(T.matvec, a, x, oracle=lambda a, x: np.einsum("bij,bj->bi", a, x))
    z = RNG.standard_normal((3, 2)) + 1j * RNG.standard_normal((3, 2))
    check(T.vecmat, z, a, oracle=lambda z, a: np.einsum("bi,bij->bj", z.conj(), a), grad=False)
    with pytest.raises(RankError, match="matvec: this needs a matrix"):
        T.matvec(x[0], x[0])


def test_questions_about_dtypes_and_shapes() -> None:
    x = T.fmatrix("x")
    assert T.result_type(x, 1.5) == x.dtype
    assert T.result_type("int8", "uint8").name == "int16"
    assert T.result_type(x, np.float64(1)).name == np.result_type("f4", np.float64(1)).name
    assert T.finfo(x).eps == np.finfo("f4").eps
    assert T.iinfo("int16").min == -32768
    assert T.isdtype(x.dtype, "real floating")
    assert not T.isdtype(x.dtype, ("integral", "bool"))
    assert T.can_cast(x, "float64")
    assert not T.can_cast("int64", "int32")
    assert T.broadcast_shapes((2, 1), (1, 3), ()) == (2, 3)
    n = T.shape(x)[0]
    assert T.broadcast_shapes((n, 1), (4,)) == (n, 4)
    with pytest.raises(ShapeMismatch, match="3 and 4 are not known to be one length"):
        T.broadcast_shapes((3,), (4,))
    assert T.astype([1.9], "int8").eval().tolist() == [1]


def test_segments() -> None:
    data, ids = RNG.standard_normal((5, 2)), np.array([0, 2, 0, -1, 7])
    wanted = np.stack([data[0] + data[2], np.zeros(2), data[1]])
    check(lambda x: T.segment_sum(x, ids, 3), data, oracle=lambda x: wanted)
    assert T.segment_sum(np.ones(2), [0, 1], 0).eval().shape == (0,)
    with pytest.raises(DTypeError, match="are integers"):
        T.segment_sum(data, np.ones(5), 3)


def test_segments_of_unknown_count() -> None:
    data, ids, count = T.vector("data"), T.lvector("ids"), T.lscalar("count")
    total = T.segment_sum(data, ids, count)
    function = symc.function([data, ids, count], [total, symc.grad((total**2).sum(), data)])
    assert "symc_place" not in function.source  # no place is counted from the end, nor checked
    assert "all_kernel" not in function.source
    far = np.array([0, -1, 2, 2, -(2**63), 2**63 - 1, 1, 3])
    values = np.array([1.0, np.nan, 2.0, 3.0, np.inf, 4.0, 5.0, 6.0])
    for n in range(5):
        kept = (far >= 0) & (far < n)
        wanted = np.zeros(n)
        np.add.at(wanted, far[kept], values[kept])
        slope = np.zeros(8)
        slope[kept] = 2 * wanted[far[kept]]
        found = function(values, far, n)
        assert found[0].tolist() == wanted.tolist()
        assert found[1].tolist() == slope.tolist()
    assert function([], [], 2)[0].tolist() == [0, 0]
    with pytest.raises(ShapeMismatch, match="length cannot be -1"):
        function(values, far, -1)


def test_lists_tables_and_the_largest() -> None:
    x = T.scalar("x")
    assert T.stacklists([[x, 1.0], [2.0, x]]).eval({x: 5.0}).tolist() == [[5, 1], [2, 5]]
    table, order = T.confusion_matrix([3, 1, 3, 3], [3, 3, 1, 3])
    assert table.eval().tolist() == [[0, 1], [1, 2]]
    assert order.eval().tolist() == [1, 3]
    values, places = T.top_k([[1.0, 3.0], [4.0, 2.0]], 1, axis=0)
    assert values.eval().tolist() == [[4, 3]]
    assert places.eval().tolist() == [[1, 0]]


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scans(n: int, reverse: bool) -> None:
    x = RNG.uniform(0.5, 1.5, (2, n))

    def oracle(x: Any) -> Any:
        return np.cumprod(x[:, ::-1], 1)[:, ::-1] if reverse else np.cumprod(x, 1)

    def build(x: Any) -> Any:
        return T.associative_scan(lambda a, b: a * b, x, reverse=reverse, axis=1)

    check(build, x, oracle=oracle, static=True, compiled=n == 5)


def test_an_associative_scan_of_pairs_is_a_linear_recurrence() -> None:
    a, b = RNG.uniform(-1, 1, (2, 7))

    def build(a: Any, b: Any) -> Any:
        def combined(p: Any, q: Any) -> Any:
            return p[0] * q[0], p[1] * q[0] + q[1]

        return T.associative_scan(combined, (a, b))[1]

    state, states = 0.0, []
    for factor, step in zip(a, b, strict=True):
        state = factor * state + step
        states.append(state)
    check(build, a, b, oracle=lambda a, b: np.array(states), static=True)
    with pytest.raises(LoopError, match="has to be known"):
        T.associative_scan(lambda p, q: p + q, T.vector("x"))


@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3)])
def test_lu(shape: tuple[int, ...]) -> None:
    a = RNG.standard_normal(shape)
    check(lambda a: T.linalg.lu(a).l @ T.linalg.lu(a).u, a)
    check(lambda a: T.linalg.lu_factor(a).lu, a)
    p, lower, upper = symc.function([], list(T.linalg.lu(a)))()
    np.testing.assert_allclose(p @ lower @ upper, a, rtol=1e-13, atol=1e-14)
    assert set(np.unique(p)) <= {0.0, 1.0}
    assert np.abs(lower).max() == 1
    factors, pivots = symc.function([], list(T.linalg.lu_factor(a)))()
    np.testing.assert_allclose(np.triu(factors), upper)
    rows = a.reshape(-1, *shape[-2:])[0].copy()
    for k, other in enumerate(pivots.reshape(-1, shape[-1])[0]):
        rows[[k, other]] = rows[[other, k]]
    one = np.reshape(lower @ upper, (-1, *shape[-2:]))[0]
    np.testing.assert_allclose(rows, one, rtol=1e-13, atol=1e-14)


def test_sylvesters_equation() -> None:
    a, b, q = RNG.standard_normal((3, 3)), RNG.standard_normal((2, 2)), RNG.standard_normal((3, 2))

    def product(a: Any, b: Any, q: Any) -> Any:
        x = T.linalg.solve_sylvester(a, b, q)
        return a @ x + x @ b

    check(product, a, b, q, oracle=lambda a, b, q: q, rtol=1e-11, grad=False)
    check(T.linalg.solve_sylvester, a, b, q, rtol=1e-11)
