"""Products of vectors, matrices and tensors of any rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen import ir
from symc.errors import RankError, ShapeMismatch
from symc.graph.lowering import Fold, LibCall
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.tensor.matrix_product import MatMul, MatVec
from tests.ops.harness import check
from tests.ops.lowering_check import check_lowering, enforce

RNG = np.random.default_rng(3)


def numbers(*shape: int) -> Any:
    return RNG.standard_normal(shape)


# --- the ops --------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("trans_a", [False, True])
def test_matrix_product_with_flags(trans_a: bool, trans_b: bool, batch: tuple[int, ...]) -> None:
    a = numbers(*batch, *((4, 3) if trans_a else (3, 4)))
    b = numbers(*batch, *((2, 4) if trans_b else (4, 2)))
    build = lambda x, y: MatMul(trans_a, trans_b)(x, y)  # noqa: E731

    def oracle(x: Any, y: Any) -> Any:
        return (x.swapaxes(-1, -2) if trans_a else x) @ (y.swapaxes(-1, -2) if trans_b else y)

    for static in (False, True):
        check(build, a, b, oracle=oracle, static=static, compiled=not static)
        check_lowering(build, a, b, static=static)


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("static", [False, True])
def test_matrix_times_vector(trans: bool, static: bool) -> None:
    a, x = numbers(3, 4), numbers(3 if trans else 4)
    build = lambda m, v: MatVec(trans)(m, v)  # noqa: E731
    check(build, a, x, oracle=lambda m, v: (m.T if trans else m) @ v, static=static)
    check_lowering(build, a, x, static=static)


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("which", ["left", "right", "both"])
def test_batching_rule(trans_a: bool, trans_b: bool, which: str) -> None:
    a = numbers(*((4, 3) if trans_a else (3, 4)))
    b = numbers(*((2, 4) if trans_b else (4, 2)))
    left = numbers(5, *a.shape) if which != "right" else a
    right = numbers(5, *b.shape) if which != "left" else b
    x, y = T.tensor("float64", (None,) * left.ndim), T.tensor("float64", (None,) * right.ndim)
    op = MatMul(trans_a, trans_b)
    found = op.batch([x, y], [which != "right", which != "left"])
    wanted = (left.swapaxes(-1, -2) if trans_a else left) @ (
        right.swapaxes(-1, -2) if trans_b else right
    )
    np.testing.assert_allclose(found.eval({x: left, y: right}), wanted)


def test_one_sided_batches_become_one_tall_product() -> None:
    a, b, w = T.tensor3("a"), T.tensor3("b"), T.matrix("w")
    for trans in (False, True):
        for found in (MatMul(trans)(w, w).op.batch([a, w], [True, False]),
                      MatMul(False, trans)(w, w).op.batch([w, b], [False, True])):  # fmt: skip
            products = [n for n in walk([found]) if isinstance(n.op, MatMul)]
            assert [n.ndim for n in products] == [2]


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float16", "float32"])
def test_dtypes(dtype: str) -> None:
    a = (RNG.random((3, 4)) * 3).astype(dtype)
    b = (RNG.random((4, 2)) * 3).astype(dtype)
    check(T.matmul, a, b, oracle=np.matmul, grad=False)
    check(T.matmul, a, b[:, 0], oracle=np.matmul, grad=False)
    check(T.dot, a[0], b[:, 0], oracle=np.dot, grad=False)
    check_lowering(T.matmul, a, b)
    check_lowering(T.matmul, a, b[:, 0])


def test_integers_wrap_around() -> None:
    a = np.full((2, 3), 100, "int8")
    check(T.matmul, a, a.T.copy(), oracle=np.matmul)


@pytest.mark.parametrize(
    ("left", "right"), [("int32", "float32"), ("int8", "int64"), ("bool", "int8")]
)
def test_mixed_dtypes(left: Any, right: Any) -> None:
    a, b = (RNG.random((3, 4)) * 3).astype(left), (RNG.random((4, 2)) * 3).astype(right)
    check(T.matmul, a, b, oracle=np.matmul, grad=False)


def lowered(node: Tensor) -> Any:
    return node.op.lower(node, lambda dim: ir.const(dim) if isinstance(dim, int) else ir.Var("n"))


def test_floats_go_to_blas_and_the_rest_to_loops() -> None:
    for dtype, routine in (("float32", "gemm_f32"), ("float64", "gemm_f64")):
        x = T.matrix("x", dtype=dtype)
        call = lowered(MatMul(True, False)(x, x))
        assert isinstance(call, LibCall)
        assert call.routine == routine
        assert call.args[:2] == (ir.const(1), ir.const(0))
        cube = T.tensor3("c", dtype=dtype)
        assert lowered(MatMul()(cube, cube)).routine == f"batched_{routine}"
        assert lowered(x @ x[0]).routine == routine.replace("gemm", "gemv")
    for dtype in ("int64", "float16", "bool"):
        x = T.matrix("x", dtype=dtype)
        assert isinstance(lowered(x @ x), Fold)
    small = T.tensor("float64", (8, 8))
    assert isinstance(lowered(small @ small), Fold)
    large = T.tensor("float64", (9, 9))
    assert isinstance(lowered(large @ large), LibCall)


def test_a_length_that_only_one_factor_tells_is_that_of_the_sum() -> None:
    """A block of 4 x 4 times four numbers of a vector had a loop of a length not known."""
    block, vector, four = T.tensor("float64", (4, 4)), T.vector("v"), T.tensor("float64", (4,))
    thin, tall = T.tensor("float64", (4, None)), T.tensor("float64", (None, 4))
    products = [
        block @ vector, MatVec(True)(block, vector), MatVec()(thin, four),
        MatMul()(thin, block), MatMul(True)(tall, block), MatMul(False, True)(block, thin),
    ]  # fmt: skip
    for product in products:
        found = lowered(product)
        assert isinstance(found, Fold)
        assert found.extents == (4,)


def test_small_blocks_times_parts_of_a_vector_in_steps() -> None:
    """Each step had loops of a length not known, and threads for them: 2.5 times the time."""
    blocks, x = T.tensor("float64", (None, 4, 4), "blocks"), T.vector("x")
    at = T.lvector("at")

    def step(k: Any, total: Any) -> Any:
        return total + blocks[k] @ x[at[k] * 4 : at[k] * 4 + 4]

    f = symc.function([blocks, x, at], symc.fori_loop(0, at.shape[0], step, T.zeros(4)))
    assert "symc_gemv" not in f.source
    assert "omp parallel" not in f.source
    given, numbers_of_x, places = numbers(3, 4, 4), numbers(12), np.array([2, 0, 1])
    expected = sum(b @ numbers_of_x[4 * p : 4 * p + 4] for b, p in zip(given, places, strict=True))
    np.testing.assert_allclose(f(given, numbers_of_x, places), expected)
    with pytest.raises(ShapeMismatch, match="axis 1 is 4 on the left, but axis 0 is 2"):
        f(given, numbers_of_x[:10], places)


# --- matmul, dot and their kin --------------------------------------------------------------------

SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)), ((4, 1, 2, 3), (5, 3, 2)), ((1, 3), (3, 1)), ((2, 1), (1, 3)),
    ((2, 3, 4, 5), (5,)), ((1,), (1,)),
]  # fmt: skip
EMPTY = [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)), ((0,), (0,)), ((2, 0), (0,)),
         ((0, 2, 3), (0, 3, 4)), ((3, 2, 0), (3, 0, 4))]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SHAPES + EMPTY)
@pytest.mark.parametrize("static", [False, True])
def test_matmul(left: Any, right: Any, static: bool) -> None:
    a, b = numbers(*left), numbers(*right)
    check(lambda x, y: x @ y, a, b, oracle=np.matmul, static=static, rtol=1e-12)
    check_lowering(T.matmul, a, b, static=static, rtol=1e-12)


@pytest.mark.parametrize(
    ("left", "right"), [((), ()), ((), (3,)), ((2, 3), ()), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)),
                        ((2, 3, 4), (4, 5)), ((2, 3, 4), (5, 4, 2)), ((2, 4), (4, 3))],
)  # fmt: skip
def test_dot(left: Any, right: Any) -> None:
    check(T.dot, numbers(*left), numbers(*right), oracle=np.dot, rtol=1e-12)


def test_method_and_operator() -> None:
    a, b = T.matrix("a"), T.matrix("b")
    assert a.dot(b) is a @ b
    assert (a @ b).op == MatMul()
    assert T.matmul(np.ones((2, 2)), a) is np.ones((2, 2)) @ a  # type: ignore[comparison-overlap]
    assert (a @ [1.0, 2.0]).op == MatVec()


@pytest.mark.parametrize(
    ("left", "right", "axes"),
    [
        ((2, 3, 4), (3, 4, 5), 2), ((2, 3), (4, 5), 0), ((2, 3), (2, 3), 2), ((3,), (3,), 1),
        ((2, 3, 4), (4, 3, 2), ([1, 2], [1, 0])), ((2, 3, 4), (5, 3), (1, 1)),
        ((3, 2), (3, 4), (0, 0)), ((3, 2, 4), (5, 3, 4), ([0, -1], [1, 2])),
        ((2, 3, 4), (3, 4), ([1, 2], [0, 1])), ((4, 3), (2, 3, 4), ([0, 1], [2, 1])),
        ((2, 2, 3), (3, 2, 2), ([0, 1], [2, 1])),
    ],
)  # fmt: skip
@pytest.mark.parametrize("static", [False, True])
def test_tensordot(left: Any, right: Any, axes: Any, static: bool) -> None:
    a, b = numbers(*left), numbers(*right)
    check(
        lambda x, y: T.tensordot(x, y, axes), a, b,
        oracle=lambda x, y: np.tensordot(x, y, axes), static=static, compiled=not static,
        rtol=1e-12,
    )  # fmt: skip


def test_tensordot_transposes_by_flag_where_it_can() -> None:
    x, w = T.tensor3("x"), T.tensor3("w")
    product = T.tensordot(x, w, ([0, 1], [0, 1]))
    assert product.op == MatMul(True, False)
    product = T.tensordot(x, w, (2, 2)).args[0]
    assert product.op == MatMul(False, True)


@pytest.mark.parametrize("name", ["inner", "outer", "vdot", "vecdot"])
def test_products_of_vectors(name: str) -> None:
    check(getattr(T, name), numbers(3), numbers(3), oracle=getattr(np, name))


def test_inner_outer_and_vecdot_of_more_axes() -> None:
    a, b = numbers(2, 3), numbers(4, 3)
    check(T.inner, a, b, oracle=np.inner)
    check(T.inner, a, np.float64(2.0), oracle=np.inner)
    check(T.outer, a, b, oracle=np.outer)
    check(T.vdot, a, numbers(2, 3), oracle=np.vdot)
    check(T.vecdot, a, numbers(2, 3), oracle=np.vecdot)
    check(T.vecdot, a, numbers(3), oracle=np.vecdot)
    check(
        lambda x, y: T.vecdot(x, y, axis=0), a, numbers(2, 1),
        oracle=lambda x, y: (x * y).sum(0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "subscripts"),
    [((2, 3, 4), (2, 4, 5), "bij,bjk->bik"), ((2, 3), (2, 3), "bi,bi->b"),
     ((2, 3, 4), (2, 4), "bij,bj->bi"), ((2, 3), (2, 3, 4), "bi,bij->bj")],
)  # fmt: skip
def test_batched_dot(left: Any, right: Any, subscripts: str) -> None:
    check(
        T.batched_dot, numbers(*left), numbers(*right),
        oracle=lambda x, y: np.einsum(subscripts, x, y),
    )  # fmt: skip


# --- einsum ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ji", [(2, 3)]),
        ("ij,kj->ki", [(2, 3), (4, 3)]), ("ij->", [(2, 3)]), ("ij->j", [(2, 3)]),
        ("ii", [(3, 3)]), ("ii->i", [(3, 3)]), ("iij->ji", [(3, 3, 2)]), ("iii->i", [(2, 2, 2)]),
        ("i,i", [(3,), (3,)]), ("i,j->ij", [(3,), (2,)]), ("i,j->ji", [(3,), (2,)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("bij,bkj->kbi", [(2, 3, 4), (2, 5, 4)]),
        ("bi,bi->b", [(2, 3), (2, 3)]), ("bij,bi->bj", [(2, 3, 4), (2, 3)]),
        ("ijk,jk->i", [(2, 3, 4), (3, 4)]), ("jk,ijk->i", [(3, 4), (2, 3, 4)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]), ("...i,...i", [(2, 3), (3,)]),
        ("i...,i...->...", [(3, 2), (3, 2)]), ("...", [(2, 3)]), ("...i->i...", [(2, 3)]),
        ("...ij,...jk->...ik", [(1, 2, 3), (5, 3, 4)]), ("...,...", [(2, 1), (3,)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("i,ij,j->", [(2,), (2, 3), (3,)]),
        ("ij,ik,il->jkl", [(2, 3), (2, 2), (2, 4)]), ("ab,bc,ca->", [(2, 3), (3, 4), (4, 2)]),
        ("ij,k->i", [(2, 3), (4,)]), ("ij,ij->ij", [(2, 3), (2, 3)]), ("i,->i", [(3,), ()]),
        ("ijkl,lk->ji", [(2, 3, 4, 2), (2, 4)]), ("ab,cd,ef->", [(2, 2), (3, 2), (2, 1)]),
        ("ij,jk->ik", [(2, 1), (3, 4)]), ("i,i->i", [(1,), (1,)]), ("abc->cab", [(2, 3, 4)]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("static", [False, True])
def test_einsum(subscripts: str, shapes: Any, static: bool) -> None:
    arrays = [numbers(*shape) for shape in shapes]
    check(
        lambda *xs: T.einsum(subscripts, *xs), *arrays,
        oracle=lambda *xs: np.einsum(subscripts, *xs), static=static, compiled=not static,
        rtol=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32"])
def test_einsum_of_other_dtypes(dtype: str) -> None:
    a, b = (RNG.random((3, 4)) * 3).astype(dtype), (RNG.random((4, 3)) * 3).astype(dtype)
    for subscripts in ("ij,jk->ik", "ij,ji->i", "ij,ji->"):
        check(
            lambda x, y, s=subscripts: T.einsum(s, x, y), a, b,
            oracle=lambda x, y, s=subscripts: np.einsum(s, x, y), grad=False,
        )  # fmt: skip


def test_einsum_multiplies_in_an_order_that_keeps_results_small() -> None:
    a, b, v = (T.tensor("float64", s) for s in ((100, 200), (200, 300), (300,)))
    products = [n for n in walk([T.einsum("ij,jk,k->i", a, b, v)]) if n.args]
    assert all(isinstance(n.op, MatVec) for n in products)


@pytest.mark.parametrize(
    ("subscripts", "count", "message"),
    [
        ("ij,jk->ik", 1, "einsum: 'ij,jk->ik' has 2 operands, not 1"),
        ("ij->ii", 1, "the output of 'ij->ii' has a letter twice"),
        ("ij->k", 1, "the output of 'ij->k' has 'k', which no operand has"),
        ("i1->i", 1, "einsum: 'i1->i' is not made of letters, '...', ',' and '->'"),
        ("...->", 1, r"the output of '...->' lacks the '...' of its operands"),
    ],
)
def test_einsum_refuses_bad_subscripts(subscripts: str, count: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        T.einsum(subscripts, *[T.matrix("x")] * count)


def test_einsum_refuses_a_wrong_rank() -> None:
    message = r"^einsum: 'ijk' names 3 axes of an operand with 2\n  given  x "
    with pytest.raises(RankError, match=message):
        T.einsum("ijk", T.matrix("x"))


# --- errors ---------------------------------------------------------------------------------------


def test_lengths_known_to_differ_are_refused_with_both_lines() -> None:
    a, b = T.tensor("float64", (2, 3), "a"), T.tensor("float64", (4, 5), "b")
    message = (
        r"^matmul: axis 1 is 3 on the left, but axis 0 is 4 on the right\n"
        r"  left   a +float64\[2, 3\] +test_matmul.py:\d+\n"
        r"  right  b +float64\[4, 5\] +test_matmul.py:\d+$"
    )
    with pytest.raises(ShapeMismatch, match=message):
        _ = a @ b
    with pytest.raises(ShapeMismatch, match=r"^dot: axis 1 is 3 on the left, but axis 0 is 4"):
        T.dot(a, b)
    with pytest.raises(ShapeMismatch, match=r"^matmul: axis 0 is 2 on the left, but axis 0 is 4"):
        T.matmul(T.tensor("float64", (2, 3, 3)), T.tensor("float64", (4, 3, 3)))
    with pytest.raises(ShapeMismatch, match=r"^tensordot: axis 0 is 2 on the left, but axis 1 "):
        T.tensordot(a, b, (0, 1))
    with pytest.raises(ShapeMismatch, match=r"^einsum: axis 1 is 3 on the left, but axis 0 is 4"):
        T.einsum("ij,jk->ik", a, b)
    with pytest.raises(ShapeMismatch, match=r"^vecdot: axis 1 is 3 on the left, but axis 1 is 5"):
        T.vecdot(a, b)
    for axes in ({}, {0: 1}, (1,), ([0], [0], [0]), 1.5):
        wrong: Any = axes  # it was a KeyError, or an IndexError
        with pytest.raises(TypeError, match="tensordot: axes is a number, or a pair of axes"):
            T.tensordot(T.matrix("a"), T.matrix("b"), wrong)
    with pytest.raises(ValueError, match=r"^tensordot: 1 axes of the left but 2 of the right"):
        T.tensordot(a, b, (0, (0, 1)))


@pytest.mark.parametrize(
    ("build", "label"),
    [
        (lambda a, b: a @ b, "matmul: axis 1 is 3 on the left, but axis 0 is 4"),
        (lambda a, b: a @ b[:, 0], "matmul: axis 1 is 3 on the left, but axis 0 is 4"),
        (lambda a, b: T.vecdot(a[0], b[:, 0]), "vecdot: axis 0 is 3 on the left, but axis 0 is 4"),
        (lambda a, b: T.tensordot(a, b, (1, 0)), "axis 1 is 3 on the left, but axis 0 is 4"),
        (lambda a, b: T.einsum("ij,jk", a, b), "einsum: axis 1 is 3 on the left, but axis 0 is 4"),
    ],
)
def test_lengths_that_differ_at_run_time(build: Any, label: str) -> None:
    a, b = T.matrix("a"), T.matrix("b")
    product = build(a, b)
    with pytest.raises(ShapeMismatch, match=label):
        enforce([product], {a: np.ones((2, 3)), b: np.ones((4, 5))})
    f = symc.function([a, b], product)
    f(np.ones((2, 3)), np.ones((3, 5)))
    with pytest.raises(ShapeMismatch, match=label):
        f(np.ones((2, 3)), np.ones((4, 5)))


def test_each_of_several_summed_lengths_is_checked() -> None:
    a, b = T.matrix("a"), T.matrix("b")
    product = T.tensordot(a, b, 2)
    with pytest.raises(ShapeMismatch, match="tensordot: axis 0 is 2 on the left, but axis 0 is 3"):
        enforce([product], {a: np.ones((2, 6)), b: np.ones((3, 4))})


def test_a_static_one_is_a_length_like_any_other_here() -> None:
    a, b = T.matrix("a"), T.tensor("float64", (1,), "b")
    for product in (a @ b, T.vecdot(a, b)):
        with pytest.raises(ShapeMismatch, match="axis 1 is 3 on the left, but axis 0 is 1"):
            enforce([product], {a: np.ones((2, 3)), b: np.ones(1)})
        np.testing.assert_array_equal(product.eval({a: np.ones((2, 1)), b: np.ones(1)}), [1, 1])


def test_ranks_are_checked() -> None:
    with pytest.raises(RankError, match=r"^matmul: a scalar is no matrix; use \*\n  given  s "):
        _ = T.matrix("m") @ T.scalar("s")
    with pytest.raises(RankError, match=r"^batched_dot needs 2 or 3 axes\n  given  v "):
        T.batched_dot(T.vector("v"), T.matrix("m"))


# --- routines -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_matrix_times_its_own_transpose(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces below the diagonal are those above it: of one matrix, and of several."""
    x, y, many = T.tensor(dtype, (None, None)), T.tensor(dtype, (None, None)), T.dtensor3()
    for threads in (1, 2):
        monkeypatch.setattr(symc.config, "threads", threads)
        f = symc.function([x, y], [x @ x.T, x.T @ x, 2 * x @ x.T + y], on_unused_input="ignore")
        batched = symc.function([many], many @ T.swapaxes(many, 1, 2))
        for m, k in ((191, 64), (192, 64), (250, 203), (300, 63), (2000, 65)):
            a, b = numbers(m, k).astype(dtype), numbers(m, m).astype(dtype)
            got = f(a, b)
            limit = {"float32": 1e-4, "float64": 1e-12}[dtype] * k
            wide = a.astype("float64")
            for one, wanted in zip(got, (a @ a.T, wide.T @ wide, 2 * a @ a.T + b), strict=True):
                np.testing.assert_allclose(one, wanted, rtol=0, atol=limit)
        stack = numbers(2, 200, 70)
        np.testing.assert_allclose(batched(stack), stack @ stack.swapaxes(1, 2), atol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_few_rows_times_many_columns(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips of columns, the last one narrower, with any number of threads the same."""
    a, b, c = (T.tensor(dtype, (None, None)) for _ in range(3))
    f = symc.function([a, b, c], [a @ b, 2 * (a @ b) + c])
    turned = symc.function([a, b], a.T @ b)
    for m, n, k in ((32, 512, 128), (32, 128, 512), (3, 1500, 700), (64, 515, 33), (17, 999, 321)):
        x, y, z = (numbers(*shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        wanted = x.astype("float64") @ y.astype("float64")
        limit = {"float32": 1e-6, "float64": 1e-14}[dtype] * k
        alone: list[Any] = []
        for threads in (1, 2):
            monkeypatch.setattr(symc.config, "threads", threads)
            plain, more = f(x, y, z)
            alone = alone or [plain, more]
            np.testing.assert_array_equal(plain, alone[0])
            np.testing.assert_array_equal(more, alone[1])
            np.testing.assert_allclose(plain, wanted, rtol=0, atol=limit)
            np.testing.assert_allclose(more, 2 * wanted + z, rtol=0, atol=2 * limit)
            np.testing.assert_allclose(turned(x.T.copy(), y), wanted, rtol=0, atol=limit)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_any_number_and_length_times_a_vector(dtype: str) -> None:
    a, x, y = T.tensor(dtype, (None, None)), T.tensor(dtype, (None,)), T.tensor(dtype, (None,))
    f = symc.function([a, x, y], [a @ x, 2 * (a @ x) + y])
    for m in (0, 1, 3, 4, 5, 9, 40):
        for n in (0, 1, 2, 5, 7, 15, 31, 64, 65, 1023, 1024, 1025, 5000):
            given, vector, more = numbers(m, n), numbers(n), numbers(m)
            parts = (given.astype(dtype), vector.astype(dtype), more.astype(dtype))
            wanted = parts[0].astype("float64") @ parts[1].astype("float64")
            limit = {"float32": 1e-5, "float64": 1e-13}[dtype] * (1 + n)
            plain, scaled = f(*parts)
            np.testing.assert_allclose(plain, wanted, rtol=0, atol=limit)
            np.testing.assert_allclose(scaled, 2 * wanted + parts[2], rtol=0, atol=2 * limit)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_infinities_of_a_row_stay_in_it(dtype: str) -> None:
    """Vectors at its end have elements of it twice, or some of the next row."""
    a, x = T.tensor(dtype, (None, None)), T.tensor(dtype, (None,))
    f = symc.function([a, x], a @ x)
    for n in (1, 3, 7, 9, 17, 35):
        for place in range(n):
            given, vector = np.ones((30, n), dtype), np.ones(n, dtype)
            given[::3, place] = np.inf
            wanted = np.full(30, n, dtype)
            wanted[::3] = np.inf
            np.testing.assert_array_equal(f(given, vector), wanted)
