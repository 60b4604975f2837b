"""Reductions: sums, extremes, positions, means and norms against NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, DTypeError, ShapeMismatch
from symc.graph.interpreter import evaluate
from symc.tensor.fold import Reduce
from tests.ops.harness import check
from tests.ops.lowering_check import check_lowering, enforce

RNG = np.random.default_rng(0)
FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ALL = ["bool", *INTEGERS, *FLOATS]
NAN, INF = float("nan"), float("inf")


def values(dtype: str, shape: tuple[int, ...]) -> Any:
    """Numbers that differ, of both signs where the dtype has them."""
    count = int(np.prod(shape))
    if dtype == "bool":
        return np.arange(count).reshape(shape) % 3 == 1
    if dtype.startswith("float"):
        numbers = np.linspace(-2.0, 3.0, count) if count else np.zeros(0)
        return RNG.permutation(numbers).reshape(shape).astype(dtype)
    low = 0 if dtype.startswith("u") else -5
    return RNG.integers(low, 12, shape).astype(dtype)


SHAPES_AND_AXES = [
    ((), None), ((4,), None), ((4,), 0), ((3, 4), None), ((3, 4), 0), ((3, 4), -1),
    ((2, 3, 4), (0, 2)), ((2, 3, 4), (-1, 1)), ((2, 3, 4), 1), ((1, 3), 0), ((1, 1), None),
    ((2, 3), ()),
]  # fmt: skip
IDS = [f"{shape}-{axis}".replace(" ", "") for shape, axis in SHAPES_AND_AXES]


def wide(x: Any) -> Any:
    """float16 as float32: symc computes wider than NumPy there, and rounds once."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def like(result: Any, x: Any) -> Any:
    result = np.asarray(result)
    return result.astype(x.dtype) if result.dtype == np.float32 else result


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("shape", "axis"), SHAPES_AND_AXES, ids=IDS)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "ptp", "mean"])
def test_values_and_derivatives(name: str, shape: tuple[int, ...], axis: Any) -> None:
    x = values("float64", shape)
    function, numpy = getattr(T, name), getattr(np, name)
    for keepdims in (False, True):
        check(
            lambda a, k=keepdims: function(a, axis=axis, keepdims=k), x,
            oracle=lambda a, k=keepdims: numpy(a, axis=axis, keepdims=k), rtol=1e-12,
            compiled=not keepdims, static=keepdims,
        )  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "count_nonzero"]
)
def test_dtypes(name: str, dtype: str) -> None:
    x = values(dtype, (3, 4))
    function, numpy = getattr(T, name), getattr(np, name)
    build = lambda a: [function(a, axis=axis) for axis in (None, 1)]  # noqa: E731
    oracle = lambda a: [like(numpy(wide(a), axis=axis), a) for axis in (None, 1)]  # noqa: E731
    check(build, x, oracle=oracle, grad=False)
    check_lowering(build, x)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name: str, dtype: str) -> None:
    x = values(dtype, (3, 4))
    function, numpy = getattr(T, name), getattr(np, name)
    build = lambda a: [function(a, axis) for axis in (None, 0, 1, -1)]  # noqa: E731
    check(build, x, oracle=lambda a: [numpy(a, axis) for axis in (None, 0, 1, -1)], grad=False)
    check_lowering(build, x)
    check(lambda a: function(a), x[0], oracle=numpy, grad=False)
    check(lambda a: function(a), x[0, 0], oracle=numpy, grad=False)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_in_rows_of_many_lengths(name: str, dtype: str) -> None:
    """Short rows go in lanes, blocks of long ones in vectors: NaN, infinities and ties anywhere."""
    x = T.matrix("x", dtype=dtype)
    f = symc.function([x], [getattr(T, name)(x, 1), getattr(T, name)(x)])
    for rows, n in ((70, 1), (33, 5), (9, 8), (35, 17), (35, 64), (7, 65), (3, 200), (2, 9000)):
        some = np.random.default_rng(n)
        given = some.integers(-n, n, (rows, n)).astype(dtype)
        arrays = [given]
        if dtype.startswith("float"):
            arrays.append(np.where(some.random((rows, n)) < 1 / n, NAN, given).astype(dtype))
            arrays.append(np.full((rows, n), -INF if name == "argmax" else INF, dtype))
        for array in arrays:
            by_rows, of_all = f(array)
            np.testing.assert_array_equal(by_rows, getattr(np, name)(array, 1))
            assert of_all == getattr(np, name)(array)


def test_positions_over_several_axes_count_in_row_major_order() -> None:
    x = values("float64", (2, 3, 4, 5))
    wanted = x.transpose(1, 0, 2, 3).reshape(3, -1).argmax(-1)
    for static in (False, True):
        check(lambda a: T.argmax(a, (0, -1, 2)), x, oracle=lambda a: wanted, static=static)
        check_lowering(lambda a: T.argmax(a, (0, -1, 2)), x, static=static)
    check(
        lambda a: T.argmax(a, (1, 2), keepdims=True), x,
        oracle=lambda a: a.reshape(2, 12, 5).argmax(1).reshape(2, 1, 1, 5),
    )  # fmt: skip


@pytest.mark.parametrize(
    "x",
    [
        [1.0, NAN, 3.0, NAN], [NAN, NAN], [2.0, 2.0, 1.0], [-INF, -INF], [INF, NAN, INF],
        [-0.0, 0.0], [[1.0, NAN], [0.0, 2.0]],
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "sum", "any", "all"])
def test_nan_ties_and_infinities(name: str, x: Any) -> None:
    for dtype in FLOATS:
        array = np.array(x, dtype)
        build = lambda a: getattr(T, name)(a, -1)  # noqa: E731
        check(build, array, oracle=lambda a: getattr(np, name)(a, -1), grad=False)
        check_lowering(build, array)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_nan_anywhere_in_a_row_is_the_extreme(name: str, dtype: str) -> None:
    """In every lane of a vector and in the remainder; the row before it has none."""
    x = symc.tensor.matrix("x", dtype=dtype)
    function = symc.function([x], getattr(T, name)(x, 1))
    for length in (1, 7, 16, 37):
        for nan in (NAN, -NAN):
            rows = np.random.default_rng(0).normal(size=(2 * length + 2, length)).astype(dtype)
            rows[1 : 2 * length : 2][np.diag_indices(length)] = nan
            rows[-2], rows[-1] = -INF, INF
            np.testing.assert_array_equal(function(rows), getattr(np, name)(rows, 1))


# --- dtypes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given", "dtype"),
    [
        ("sum", "int8", "int8"), ("sum", "float64", "float32"), ("sum", "bool", "bool"),
        ("sum", "int64", "float64"), ("prod", "uint8", "uint8"), ("prod", "bool", "bool"),
        ("mean", "int32", "float32"), ("mean", "float32", "float64"), ("var", "float32", "float64"),
        ("mean", "int64", "int64"), ("std", "int8", "float32"),
    ],
)  # fmt: skip
def test_dtype_argument(name: str, given: str, dtype: str) -> None:
    x = values(given, (3, 4))
    check(
        lambda a: getattr(T, name)(a, axis=0, dtype=dtype), x,
        oracle=lambda a: getattr(np, name)(a, axis=0, dtype=dtype), grad=False,
    )  # fmt: skip


def test_var_refuses_an_integer_dtype() -> None:
    with pytest.raises(DTypeError, match=r"^var needs a float dtype, not int64$"):
        T.var(T.vector("x"), dtype="int64")


def test_float32_sums_are_accumulated_in_float64() -> None:
    x = np.full(100_000, 0.1, np.float32)
    wanted = np.float32(x.astype(np.float64).sum())
    v = T.vector("v", dtype="float32")
    assert evaluate([v.sum()], {v: x})[0] == wanted
    assert symc.function([v], v.sum())(x) == wanted


def test_float16_mean_does_not_overflow() -> None:
    x = np.full(1000, 100.0, np.float16)
    check(lambda a: a.mean(), x, oracle=lambda a: a.mean(), grad=False)


# --- no elements ----------------------------------------------------------------------------------


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((0,), None), ((0, 3), 0), ((3, 0), 1), ((0, 3), 1)])
@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "mean", "count_nonzero"])
def test_no_elements(name: str, shape: tuple[int, ...], axis: Any, static: bool) -> None:
    x = np.zeros(shape)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "mean of empty slice"
        wanted = getattr(np, name)(x, axis=axis)
    check(lambda a: getattr(T, name)(a, axis), x, oracle=lambda a: wanted, static=static)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_of_nothing_are_refused(name: str) -> None:
    function = getattr(T, name)
    x = T.tensor("float64", (0,), name="x")
    message = rf"^{name}: there are no elements to choose from\n  given  x +float64\[0\] +test_red"
    with pytest.raises(ValueError, match=message):
        function(x)
    with pytest.raises(ValueError, match="no elements"):
        function(T.tensor("float64", (3, 0)), axis=1)
    y = T.matrix("y")
    rows = function(y, axis=1)
    enforce([rows], {y: np.zeros((3, 1))})
    with pytest.raises(ValueError, match=rf"^{name}: there are no elements"):
        enforce([rows], {y: np.zeros((3, 0))})
    f = symc.function([y], rows)
    assert f(np.zeros((0, 2))).shape == (0,)  # no rows: nothing is asked for
    with pytest.raises(ValueError, match=rf"^{name}: there are no elements"):
        f(np.zeros((3, 0)))


def test_no_extremes_of_something_are_fine() -> None:
    check(lambda a: a.max(axis=1), np.zeros((0, 3)), oracle=lambda a: a.max(axis=1))
    check(lambda a: a.argmin(axis=1), np.zeros((0, 3)), oracle=lambda a: a.argmin(axis=1))


# --- gradients at special points ------------------------------------------------------------------


def gradient(build: Any, *arrays: Any) -> Any:
    symbols = [T.tensor("float64", (None,) * np.ndim(a)) for a in arrays]
    found = symc.grad(build(*symbols), symbols)
    return evaluate(found, dict(zip(symbols, map(np.asarray, arrays), strict=True)))


def test_ties_share_the_gradient() -> None:
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    found = gradient(lambda a: T.max(a, 1).sum(), x)[0]
    np.testing.assert_array_equal(found, [[0, 0.5, 0.5], [1 / 3] * 3])
    found = gradient(lambda a: T.min(a), x)[0]
    np.testing.assert_array_equal(found, [[1.0, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    "x",
    [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 0.0, 4.0], [0.0, 0.0, 0.0],
     [[1.0, 0.0], [0.0, 3.0], [2.0, 5.0]]],
)  # fmt: skip
def test_product_of_zeros_has_exact_derivatives(x: Any) -> None:
    array = np.array(x)
    check(lambda a: T.prod(a), array, oracle=np.prod)
    check(lambda a: T.prod(a, -1), array, oracle=lambda a: np.prod(a, -1))
    others = [np.prod(np.delete(array, i)) for i in range(array.size)]
    np.testing.assert_array_equal(gradient(T.prod, array)[0], np.reshape(others, array.shape))


def test_product_over_several_axes_with_zeros() -> None:
    x = values("float64", (2, 3, 2))
    x[0, 1, 1] = x[1, 1, 0] = x[1, 2, 0] = 0
    check(lambda a: T.prod(a, (0, 2)), x, oracle=lambda a: a.prod((0, 2)))
    check(lambda a: T.prod(a, (1, 2)), x, oracle=lambda a: a.prod((1, 2)), static=True)


@pytest.mark.parametrize("order", [None, 1, 2, 3, INF, -INF])
def test_gradient_of_a_norm_at_zero_is_zero(order: float | None) -> None:
    np.testing.assert_array_equal(gradient(lambda a: T.norm(a, order), np.zeros(3))[0], np.zeros(3))


def test_gradient_of_a_constant_row_in_std_is_zero() -> None:
    x = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])
    found = gradient(lambda a: T.std(a, 1).sum(), x)[0]
    np.testing.assert_array_equal(found[0], 0)
    np.testing.assert_allclose(found[1], np.array([-1, 0, 1]) / (3 * np.std([1, 2, 3])))


@pytest.mark.parametrize(
    "build",
    [
        lambda a: T.max(a, 1), lambda a: T.prod(a, 1), lambda a: T.prod(a, (0, 1)), T.sum,
        lambda a: T.mean(a, 0), lambda a: T.std(a, 1), lambda a: T.norm(a, 3, 1),
        lambda a: T.logsumexp(a, 1), lambda a: T.cumsum(a, 1), lambda a: T.cumprod(a, 0),
        lambda a: T.cummax(a, 1), T.softmax, T.log_softmax, lambda a: a @ a[0],
    ],
)  # fmt: skip
def test_masked_gradients_pass_through(build: Any) -> None:
    def chosen(a: Any) -> Any:
        result = build(a)
        return T.where(T.isfinite(result) & (result > 0.2), T.log(result), 0.0)

    check(chosen, np.abs(values("float64", (3, 4))), compiled=False)


def test_nan_of_the_branch_not_taken_does_not_pass_a_reduction() -> None:
    x = T.matrix("x")
    rows = T.where(T.any(x > 0, 1), T.sqrt(x).sum(1), 0.0).sum()
    found = evaluate([symc.grad(rows, x)], {x: np.array([[0.0, -1.0], [1.0, 4.0]])})[0]
    np.testing.assert_array_equal(found, [[0, 0], [0.5, 0.25]])


# --- means and norms ------------------------------------------------------------------------------


@pytest.mark.parametrize("ddof", [0, 1, 0.5])
@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("static", [False, True])
def test_var_and_std(axis: Any, ddof: float, static: bool) -> None:
    x = RNG.standard_normal((4, 3))
    for name in ("var", "std"):
        check(
            lambda a, name=name: getattr(T, name)(a, axis=axis, ddof=ddof, keepdims=True), x,
            oracle=lambda a, name=name: getattr(np, name)(a, axis=axis, ddof=ddof, keepdims=True),
            static=static, compiled=not static,
        )  # fmt: skip


def test_var_without_degrees_of_freedom_is_not_a_number() -> None:
    for count, ddof in ((1, 1), (2, 3)):
        check(
            lambda a, ddof=ddof: T.var(a, ddof=ddof), np.ones(count),
            oracle=lambda a: np.float64(NAN), grad=False,
        )  # fmt: skip


@pytest.mark.parametrize("order", [None, 0, 1, 2, 3, 2.5, INF, -INF, -1])
@pytest.mark.parametrize(("shape", "axis"), [((4,), None), ((3, 4), 1), ((3, 4), None)])
def test_norm(order: float | None, shape: tuple[int, ...], axis: Any) -> None:
    x = RNG.standard_normal(shape)
    wanted = 2 if order is None else order
    check(
        lambda a: T.norm(a, order, axis), x,
        oracle=lambda a: np.linalg.vector_norm(a, ord=wanted, axis=axis),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32"])
@pytest.mark.parametrize("order", [None, 0, 1, 2, INF])
def test_norm_of_other_dtypes(dtype: str, order: float | None) -> None:
    x = values(dtype, (3, 4))
    wanted = 2 if order is None else order
    check(
        lambda a: T.norm(a, order, 1, keepdims=True), x,
        oracle=lambda a: np.linalg.vector_norm(a, ord=wanted, axis=1, keepdims=True), grad=False,
    )  # fmt: skip


def test_norms_of_matrices_are_elsewhere() -> None:
    with pytest.raises(ValueError, match=r"'fro' is a norm of matrices; it is in T.linalg.norm"):
        T.norm(T.matrix(), "fro")  # type: ignore[arg-type]


def test_norm_of_nothing() -> None:
    for order in (1, 2, INF):
        check(lambda a, order=order: a.norm(order), np.zeros(0), oracle=lambda a: np.float64(0))


def test_average() -> None:
    x, w, v = RNG.standard_normal((3, 4)), RNG.random((3, 4)), RNG.random(4)
    check(lambda a: T.average(a, 0), x, oracle=lambda a: np.average(a, 0))
    check(
        lambda a, b: T.average(a, 1, b, keepdims=True), x, w,
        oracle=lambda a, b: np.average(a, 1, b, keepdims=True),
    )  # fmt: skip
    check(lambda a, b: T.average(a, -1, b), x, v, oracle=lambda a, b: np.average(a, -1, b))
    check(lambda a, b: T.average(a, weights=b), x, w, oracle=lambda a, b: np.average(a, weights=b))
    check(
        lambda a, b: T.average(a, weights=b), np.array([1, 2], "float32"), np.array([1, 2]),
        oracle=lambda a, b: np.average(a, weights=b),
    )  # fmt: skip


def test_average_refuses_weights_that_do_not_fit() -> None:
    x, w = T.tensor("float64", (3, 4), "x"), T.tensor("float64", (3,), "w")
    with pytest.raises(ShapeMismatch, match=r"the weights need the shape of x.*\n.*x .*\n.* w "):
        T.average(x, 1, w)


# --- calls ----------------------------------------------------------------------------------------


def test_methods_are_the_functions() -> None:
    x = T.matrix("x")
    names = "sum prod max min argmax argmin any all mean var std"
    for name in names.split():
        assert getattr(x, name)(axis=-1) is getattr(T, name)(x, 1)
    assert x.norm(1, axis=0) is T.norm(x, 1, 0)
    assert T.max_and_argmax(x, 0) == (x.max(0), x.argmax(0))
    assert T.amax is T.max
    assert T.amin is T.min


def test_equal_calls_give_one_node() -> None:
    x = T.tensor3("x")
    assert x.sum((2, 0)) is x.sum(axis=[0, -1])
    assert x.sum(()) is x
    assert x.max(axis=None) is x.max((0, 1, 2))
    row = T.row("r")
    assert not isinstance(row.sum(0).op, Reduce)
    assert row.max(0, keepdims=True) is row
    assert row.sum(0, keepdims=True) is row.sum(0, keepdims=True)  # 0.0 even for -0.0


def test_axes_are_checked() -> None:
    x = T.matrix("x")
    with pytest.raises(BadIndex, match=r"sum: there is no axis 2; there are 2 axes\n  given  x "):
        x.sum(2)
    with pytest.raises(ValueError, match="an axis is repeated"):
        x.max((0, -2))
    with pytest.raises(TypeError, match="must be an integer"):
        x.mean(True)


def test_reductions_of_views_and_products_are_lowered() -> None:
    x = values("float64", (3, 4))
    check_lowering(lambda a: (a.T * a.T).sum(0), x)
    check_lowering(lambda a: T.std(a, 0), x)
    check_lowering(lambda a: symc.grad(T.prod(a, 1).sum() + T.max(a, 0).sum(), a), x)


def test_more_loops_than_eight() -> None:
    """There were names for eight, and the ninth crashed."""
    x = T.tensor("float64", (None,) * 10, "x")
    given = values("float64", (2,) * 10)
    function = symc.function([x], [x.sum((1, 3)), T.exp(x.T)], mode="compile")
    np.testing.assert_allclose(function(given)[0], given.sum((1, 3)), rtol=1e-13)
    np.testing.assert_allclose(function(given)[1], np.exp(given.T), rtol=1e-13)
