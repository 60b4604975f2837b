"""Systems of equations, least squares, and functions of several matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from tests.linalg.cases import definite, normal, regular
from tests.near import assert_near, size_of
from tests.ops.harness import check

L: Any = T.linalg
RNG = np.random.default_rng(11)

# Shapes of a matrix and of a right side.
SYSTEMS = [
    ((0, 0), (0,)), ((0, 0), (0, 2)), ((3, 3), (3, 0)), ((1, 1), (1,)), ((3, 3), (3,)),
    ((3, 3), (3, 2)), ((3, 2, 2), (3, 2, 1)), ((3, 2, 2), (2, 2)), ((2, 2), (3, 2, 1)),
    ((2, 2), (3, 2, 2)), ((1, 2, 2), (3, 2, 2)), ((2, 0, 2, 2), (2,)),
]  # fmt: skip


def by_numpy(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("a", "b"), SYSTEMS, ids=str)
def test_solve(a: Any, b: Any, dtype: str) -> None:
    right = normal(RNG, b, dtype)
    check(L.solve, regular(RNG, a, dtype), right, oracle=by_numpy, compiled=False, rtol=1e-12)
    matrix = definite(RNG, a, dtype)
    for kind in ("sym", "pos"):
        check(lambda a, b, kind=kind: L.solve(a, b, kind), matrix, right, oracle=by_numpy,
              compiled=False, rtol=1e-12)  # fmt: skip
    check(lambda a, b: L.cho_solve((L.cholesky(a), True), b), matrix, right, oracle=by_numpy,
          compiled=False, rtol=1e-12)  # fmt: skip


def by_triangle(a: Any, b: Any, lower: bool, trans: int, unit: bool) -> Any:
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        triangle[..., range(a.shape[-1]), range(a.shape[-1])] = 1
    return np.linalg.solve([triangle, triangle.mT, triangle.mT.conj()][trans], b)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("lower", [False, True])
def test_solve_triangular(lower: bool, trans: int, dtype: str) -> None:
    """Nothing is read beyond the triangle: the other one has other numbers."""
    for unit in (False, True):

        def build(a: Any, b: Any, unit: bool = unit) -> Any:
            return L.solve_triangular(a, b, lower, trans, unit)

        def oracle(a: Any, b: Any, unit: bool = unit) -> Any:
            return by_triangle(a, b, lower, trans, unit)

        for a, b in SYSTEMS[4:10] if unit else SYSTEMS:
            check(build, regular(RNG, a, dtype), normal(RNG, b, dtype), oracle=oracle,
                  compiled=False, rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_compiled_systems(dtype: str) -> None:
    """All ways through the routines, by one function for matrices and one for stacks."""
    tolerance = 1e-3 if dtype in ("float32", "complex64") else 1e-11
    for lead in ((), (3,)):
        rank = 2 + len(lead)
        a, b = (T.tensor(dtype, (None,) * rank, name=name) for name in "ab")
        v = T.vector("v", dtype)
        outputs = [L.solve(a, b), L.solve(a.mT, b), L.solve(a, v), L.solve(a, b, "pos")]
        ways = [(lower, trans) for lower in (False, True) for trans in (0, 1, 2)]
        outputs += [L.solve_triangular(a, b, lower, t, t == 1) for lower, t in ways]
        outputs += [L.solve_triangular(a[(0,) * len(lead)], b), L.solve_triangular(a, v, True)]
        function = symc.function([a, b, v], outputs, mode="compile")
        for n, m in ((0, 2), (1, 1), (4, 0), (5, 3), (80, 70)):
            # Small beside the diagonal: triangles with ones there are well conditioned, too.
            x = (definite(RNG, (*lead, n, n), dtype) / max(2 * n, 1)).astype(dtype)
            y = normal(RNG, (*lead, n, m), dtype)
            z = normal(RNG, (n,), dtype)
            wanted = [by_numpy(x, y), by_numpy(x.mT, y), by_numpy(x, z), by_numpy(x, y)]
            wanted += [by_triangle(x, y, lower, t, t == 1) for lower, t in ways]
            wanted += [by_triangle(x[(0,) * len(lead)], y, False, 0, False),
                       by_triangle(x, z, True, 0, False)]  # fmt: skip
            for got, value in zip(function(x, y, z), wanted, strict=True):
                assert got.dtype == dtype
                assert_near(got, value, tolerance, tolerance * size_of(value))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 1), (4, 3), (3, 4), (3, 3)], ids=str)
def test_least_squares(shape: tuple[int, int], dtype: str) -> None:
    a = normal(RNG, shape, dtype)
    check(L.pinv, a, oracle=np.linalg.pinv, compiled=shape == (4, 3), rtol=1e-10)
    for b in ((shape[0],), (shape[0], 2)):
        check(lambda a, b: L.lstsq(a, b).x, a, normal(RNG, b, dtype), compiled=shape == (3, 4),
              oracle=lambda a, b: np.linalg.lstsq(a, b)[0], rtol=1e-10)  # fmt: skip


def test_least_squares_without_full_rank() -> None:
    a, b = np.outer(normal(RNG, (4,), "float64"), [1.0, 2.0, -1.0]), normal(RNG, (4, 2), "float64")
    x, _, rank, values = np.linalg.lstsq(a, b)
    errors = ((b - a @ x) ** 2).sum(0)
    check(lambda a, b: [*L.lstsq(a, b)], a, b, grad=False, compiled=False, rtol=1e-10,
          oracle=lambda a, b: [x, errors, np.int64(rank), values])  # fmt: skip
    check(lambda a: [L.matrix_rank(a), L.matrix_rank(a, tol=1e9), L.matrix_rank(a, rtol=1e-20)], a,
          oracle=lambda a: [np.linalg.matrix_rank(a), np.linalg.matrix_rank(a, 1e9),
                            np.linalg.matrix_rank(a, rtol=1e-20)], compiled=False)  # fmt: skip
    check(lambda v: [L.matrix_rank(v), L.matrix_rank(v * 0)], b[0], compiled=False,
          oracle=lambda v: [np.linalg.matrix_rank(v), np.linalg.matrix_rank(v * 0)])  # fmt: skip
    check(lambda a: L.pinv(a, 0.5), np.diag([4.0, 3.0, 1.0]), compiled=False, grad=False,
          oracle=lambda a: np.linalg.pinv(a, 0.5))  # fmt: skip
    stack, cutoffs = np.stack([np.diag([4.0, 3.0, 1.0])] * 2), np.array([0.5, 0.8])
    check(lambda a, c: [L.pinv(a, c), L.matrix_rank(a, rtol=c)], stack, cutoffs, grad=False,
          oracle=lambda a, c: [np.linalg.pinv(a, c), np.linalg.matrix_rank(a, rtol=c)],
          compiled=False)  # fmt: skip


# --- products, norms and blocks -------------------------------------------------------------------

ORDERS: list[Any] = ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]


def test_norms_of_matrices() -> None:
    for dtype in ("float64", "complex128"):
        a = normal(RNG, (3, 4), dtype)
        check(lambda a: [L.norm(a, o) for o in [None, *ORDERS]], a, rtol=1e-12,
              oracle=lambda a: [np.linalg.norm(a, o) for o in [None, *ORDERS]],
              compiled=dtype == "float64")  # fmt: skip
    a = normal(RNG, (3, 2, 4), "float64")
    for order in ORDERS:
        for axis, keep in (((0, 2), True), ((2, 1), False)):
            check(lambda a, o=order, x=axis, k=keep: L.norm(a, o, x, k), a, rtol=1e-12,
                  oracle=lambda a, o=order, x=axis, k=keep: np.linalg.norm(a, o, x, k),
                  compiled=False)  # fmt: skip
    check(lambda a: [L.norm(a, 3, 1), L.norm(a, axis=0), L.matrix_norm(a, keepdims=True)], a,
          oracle=lambda a: [np.linalg.norm(a, 3, 1), np.linalg.norm(a, axis=0),
                            np.linalg.matrix_norm(a, keepdims=True)],
          compiled=False, rtol=1e-12)  # fmt: skip
    for shape in ((0, 3), (2, 3, 0)):  # of no elements the greatest is 0
        check(lambda a: [L.norm(a, o, (-2, -1)) for o in ("fro", "nuc", 1, 2, np.inf)],
              np.zeros(shape), oracle=lambda a: [np.zeros(a.shape[:-2])] * 5, compiled=False,
              grad=False)  # fmt: skip
    check(lambda a: L.norm(a, 1), np.array([[1, -2], [3, 4]]), compiled=False,
          oracle=lambda a: np.linalg.norm(a, 1))  # fmt: skip


def test_matrix_power_of_integers() -> None:
    a = np.array([[1, 2], [0, 3]])
    for n in (0, 1, 4, 7):
        check(lambda a, n=n: L.matrix_power(a, n), a, compiled=False,
              oracle=lambda a, n=n: np.linalg.matrix_power(a, n))  # fmt: skip


@pytest.mark.parametrize("static", [False, True])
def test_multi_dot(static: bool) -> None:
    for shapes in (((3,), (3, 4), (4, 2)), ((3, 4), (4, 2), (2,)), ((2, 5), (5, 1), (1, 6), (6, 2)),
                   ((2, 3), (3, 4))):  # fmt: skip
        arrays = [normal(RNG, shape, "float64") for shape in shapes]
        check(lambda *xs: L.multi_dot(xs), *arrays, oracle=lambda *xs: np.linalg.multi_dot(xs),
              static=static, compiled=False, rtol=1e-12)  # fmt: skip


def test_multi_dot_multiplies_small_matrices_first() -> None:
    tall, wide = T.tensor("float64", (500, 2), "tall"), T.tensor("float64", (2, 500), "wide")
    product = L.multi_dot([tall, wide, tall])
    assert product.args[1].type.shape == (2, 2)


@pytest.mark.parametrize(
    ("a", "b"),
    [((2,), (3,)), ((2, 3), (3, 2)), ((2, 3, 2), (2,)), ((2,), (2, 1, 4)), ((), (2,)),
     ((0, 2), (3, 1))],
    ids=str,
)  # fmt: skip
def test_kron(a: Any, b: Any) -> None:
    check(L.kron, normal(RNG, a, "float64"), normal(RNG, b, "float64"), oracle=np.kron,
          compiled=len(a) == 3)  # fmt: skip


def test_block_diag() -> None:
    def oracle(*blocks: Any) -> Any:
        blocks = tuple(map(np.atleast_2d, blocks))
        whole = np.zeros(tuple(sum(b.shape[axis] for b in blocks) for axis in (0, 1)))
        i = j = 0
        for block in blocks:
            whole[i : i + block.shape[0], j : j + block.shape[1]] = block
            i, j = i + block.shape[0], j + block.shape[1]
        return whole

    arrays = [normal(RNG, shape, "float64") for shape in ((2, 3), (2,), (3, 1), (0, 2))]
    check(L.block_diag, *arrays, oracle=oracle)
    assert L.block_diag().type.shape == (1, 0)
    stack = L.block_diag(T.constant(np.ones((3, 2, 2))), T.constant(np.ones((1, 1, 1)))).eval()
    assert stack.shape == (3, 3, 3)
    assert stack.sum() == 15


# --- determinants of singular matrices ------------------------------------------------------------

LESS_THAN_REGULAR = {
    "one rank less": RNG.normal(size=(5, 4)) @ RNG.normal(size=(4, 5)),
    "two ranks less": RNG.normal(size=(5, 3)) @ RNG.normal(size=(3, 5)),
    "integers": np.arange(9.0).reshape(3, 3),
    "a row of zeros": np.array([[3.0, 1, 2], [0, 0, 0], [1, 4, 1]]),
    "zeros on the diagonal": np.eye(4, k=1),
    "nothing": np.zeros((3, 3)),
    "one element": np.zeros((1, 1)),
    "regular": RNG.normal(size=(4, 4)),
}


def cofactors(a: Any) -> Any:
    """By minors, as the textbook has them."""
    result = np.ones_like(a)
    for i, j in np.ndindex(a.shape if len(a) > 1 else (0, 0)):
        minor = np.delete(np.delete(a, i, 0), j, 1)
        result[i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return result


@pytest.mark.parametrize("name", LESS_THAN_REGULAR)
def test_gradient_of_the_determinant_of_a_singular_matrix(name: str) -> None:
    """It raised LinAlgError: the gradient was computed with the inverse."""
    array = LESS_THAN_REGULAR[name]
    a = T.matrix("a")
    for mode in ("compile", "python"):
        got = symc.function([a], symc.grad(T.linalg.det(a), a), mode=mode)(array)
        np.testing.assert_allclose(got, cofactors(array), rtol=1e-12, atol=1e-13)


def test_gradient_of_determinants_of_which_one_is_singular() -> None:
    stack = np.stack([LESS_THAN_REGULAR["one rank less"], RNG.normal(size=(5, 5))])
    a = T.tensor3("a")
    got = symc.grad((T.linalg.det(a) * [2.0, 3.0]).sum(), a).eval({a: stack})
    wanted = np.stack([2 * cofactors(stack[0]), 3 * cofactors(stack[1])])
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_gradient_of_the_determinant_of_a_singular_complex_matrix() -> None:
    z = T.zmatrix("z")
    array = RNG.normal(size=(4, 4)) + 1j * RNG.normal(size=(4, 4))
    array[3] = 1j * array[0]
    got = symc.grad(T.linalg.det(z).real, z).eval({z: array})
    np.testing.assert_allclose(got, np.conj(cofactors(array)), rtol=1e-12, atol=1e-13)


def test_gradient_of_the_logarithm_of_a_determinant_that_overflows() -> None:
    a = T.matrix("a")
    for cost in (T.log(T.linalg.det(a)), T.log(abs(T.linalg.det(a)))):
        got = symc.grad(cost, a).eval({a: 1e200 * np.eye(3)})
        np.testing.assert_allclose(got, 1e-200 * np.eye(3), rtol=1e-14)
