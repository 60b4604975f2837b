"""Running folds along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex
from symc.graph.interpreter import evaluate
from symc.tensor.sweep import Lag, Recurrence
from tests.ops.harness import check
from tests.ops.lowering_check import check_lowering

RNG = np.random.default_rng(1)
NAN, INF = float("nan"), float("inf")
ORACLES: dict[str, Any] = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": lambda a, axis: np.maximum.accumulate(a.ravel() if axis is None else a, axis or 0),
    "cummin": lambda a, axis: np.minimum.accumulate(a.ravel() if axis is None else a, axis or 0),
}


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((4,), 0), ((4,), None), ((3, 4), 0), ((3, 4), 1), ((3, 4), None), ((2, 3, 2), 1), ((1,), 0),
     ((0,), 0), ((3, 0), 1), ((), None), ((1, 3), 0)],
)  # fmt: skip
@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("static", [False, True])
def test_values_and_derivatives(name: str, shape: tuple[int, ...], axis: Any, static: bool) -> None:
    x = RNG.standard_normal(shape)
    check(
        lambda a: getattr(T, name)(a, axis), x, oracle=lambda a: ORACLES[name](a, axis),
        static=static, compiled=not static,
    )  # fmt: skip
    check_lowering(lambda a: getattr(T, name)(a, axis), x, static=static)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32"]
)
@pytest.mark.parametrize("name", ORACLES)
def test_dtypes(name: str, dtype: str) -> None:
    x = (RNG.random((3, 4)) * 3).astype(dtype)
    oracle = lambda a: ORACLES[name](a.astype("float32"), 1).astype(a.dtype)  # noqa: E731
    check(
        lambda a: getattr(T, name)(a, 1), x, grad=False,
        oracle=oracle if dtype == "float16" else lambda a: ORACLES[name](a, 1),
    )  # fmt: skip
    check_lowering(lambda a: getattr(T, name)(a, 1), x)


def test_dtype_argument() -> None:
    x = np.array([100, 100, 100], "int8")
    check(lambda a: T.cumsum(a, dtype="int8"), x, oracle=lambda a: np.cumsum(a, dtype="int8"))
    check(lambda a: a.cumsum(0, "float32"), x, oracle=lambda a: np.cumsum(a, dtype="float32"))
    flags = np.array([False, True, False])
    check(lambda a: T.cumsum(a, dtype=bool), flags, oracle=lambda a: np.cumsum(a, dtype=bool))


@pytest.mark.parametrize(
    "x", [[2.0, 0.0, 3.0, 4.0], [2.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.0], [[1.0, 0.0], [0.0, 5.0]]]
)
def test_product_of_zeros_has_exact_derivatives(x: Any) -> None:
    array = np.array(x)
    check(lambda a: T.cumprod(a, -1), array, oracle=lambda a: np.cumprod(a, -1))
    check(lambda a: T.cumprod(a), array, oracle=np.cumprod)


@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        ([1.0, 3.0, 2.0, 3.0, 5.0], [1, 30 + 200 + 3000, 0, 0, 40000]),
        ([-INF, -INF, 1.0], [1 + 30, 0, 200]),
        ([1.0, NAN, 5.0, NAN], [1, 30 + 200 + 3000, 0, 0]),
    ],
)
def test_the_gradient_goes_to_what_set_the_extreme(x: Any, wanted: Any) -> None:
    weights = np.array([1.0, 30.0, 200.0, 3000.0, 40000.0])[: len(x)]
    for build, array in ((T.cummax, np.array(x)), (T.cummin, -np.array(x))):
        v = T.vector("v")
        u = T.vector("u")
        found = evaluate([symc.Lop(build(v), v, u)], {v: array, u: weights})[0]
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("axis", [0, 1])
def test_the_helpers_are_ops_like_others(axis: Any) -> None:
    a, b = RNG.standard_normal((2, 3, 4))
    a[1, 1] = 0
    build = lambda x, y: Recurrence(axis)(x, y)  # noqa: E731
    check(build, a, b)
    check_lowering(build, a, b, rtol=1e-12)
    check(lambda x: Lag(axis, 2.0)(x), a)
    check_lowering(lambda x: Lag(axis, 2.0)(x), a)
    check_lowering(lambda x: Lag(axis, 0.0)(x > 0), a)


def test_a_recurrence_runs_along_its_axis() -> None:
    x, y = T.vector("x"), T.vector("y")
    values = {x: np.array([9.0, 2, 0, 3]), y: np.array([1.0, 2, 3, 4])}
    np.testing.assert_array_equal(Recurrence(0)(x, y).eval(values), [1, 4, 3, 13])


def test_axes_are_checked() -> None:
    with pytest.raises(BadIndex, match=r"cumsum: there is no axis 2; there are 2 axes\n  given  x"):
        T.cumsum(T.matrix("x"), 2)


def test_methods_are_the_functions() -> None:
    x = T.matrix("x")
    assert x.cumsum(0) is T.cumsum(x, -2)
    assert x.cumprod() is T.cumprod(x)
