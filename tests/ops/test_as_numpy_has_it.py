"""Dtypes and special values that differed from NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import DTypeError

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_a_nan_of_the_second_vector_stays_in_its_own_sums(name: str, mode: Any) -> None:
    a, v = T.vectors("a", "v")
    f = symc.function([a, v], getattr(T, name)(a, v, mode))
    for first in ([1.0, 2.0, 3.0, 4.0, 5.0], [INF, 1.0], [3.0]):
        for second in ([1.0, NAN, 2.0], [INF, 0.5, -1.0, 2.0, 1.0, 3.0], [NAN], [1.0, 2.0]):
            with np.errstate(invalid="ignore"):
                wanted = getattr(np, name)(first, second, mode)
            np.testing.assert_array_equal(f(first, second), wanted)
            known = getattr(T, name)(np.array(first), np.array(second), mode)
            np.testing.assert_array_equal(known.eval(), wanted)


def test_complex_convolutions_with_nan() -> None:
    a, v = np.array([1.0, 2.0j]), np.array([1.0, 2.0, NAN])
    x, y = T.zvectors("x", "y")
    f = symc.function([x, y], T.convolve(x, y))
    np.testing.assert_array_equal(np.isnan(f(a, v)), [False, False, True, True])


def test_gradients_of_convolutions_whose_sides_are_branches() -> None:
    a, v = T.vectors("a", "v")
    f = symc.function([a, v], symc.grad(T.convolve(a, v)[0], [a, v]))
    by_a, by_v = f([2.0, 3.0], [5.0, 7.0])
    assert by_a.tolist() == [5.0, 0.0]
    assert by_v.tolist() == [2.0, 0.0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_medians_of_nothing_are_nan(dtype: str) -> None:
    x = T.matrix("x", dtype=dtype)
    of_none: list[Callable[..., Any]] = [
        T.median, T.nanmedian,
        lambda x, **options: T.nanquantile(x, 0.3, **options),
        lambda x, **options: T.nanpercentile(x, 30, **options),
    ]  # fmt: skip
    for call in of_none:
        f = symc.function([x], [call(x), call(x, axis=1), call(x, axis=0, keepdims=True)])
        whole, rows, columns = f(np.zeros((3, 0), dtype))
        assert np.isnan(whole)
        assert np.isnan(rows).tolist() == [True] * 3
        assert columns.shape == (1, 0)
        assert whole.dtype == (np.float64 if dtype == "int64" else dtype)
        assert np.isnan(call(np.zeros(0, dtype)).eval())
    f = symc.function([x], T.median(x, axis=1))
    assert f(np.array([[1, 5, 3], [2, 2, 9]], dtype)).tolist() == [3, 2]


@pytest.mark.parametrize("name", ["nanquantile", "nanpercentile"])
def test_quantiles_of_no_integers_are_nan(name: str) -> None:
    """They were refused, where those of no floats are NaN; no integer is NaN, so those that give
    an element as it is still are."""
    for dtype in ("int64", "bool"):
        x = T.matrix("x", dtype=dtype)
        for mode in ("default", "python"):
            found = symc.function([x], getattr(T, name)(x, [0.3, 0.5], axis=1), mode=mode)
            np.testing.assert_array_equal(found(np.zeros((2, 0), dtype)), np.full((2, 2), np.nan))
            np.testing.assert_array_equal(found(np.ones((1, 3), dtype)), [[1.0], [1.0]])
        with pytest.raises(IndexError):
            getattr(T, name)(np.zeros(0, dtype), 0.5, method="nearest").eval()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
@pytest.mark.parametrize("method", ["linear", "nearest", "weibull"])
def test_quantiles_are_as_precise_as_where_they_are_asked(
    dtype: str, name: str, method: Any
) -> None:
    x = np.array([1, 2, 4, 9], dtype)
    for q in (0.3, [0.3, 0.9], np.float64(0.3), np.array([0.3, 0.9], "float32")):
        if dtype in ("int8", "float64") and getattr(q, "dtype", None) == np.float32:
            continue  # NumPy's places are in float32
        wanted = getattr(np, name)(x, q, method=method)
        got = getattr(T, name)(x, q, method=method).eval()
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=2 * float(np.finfo(wanted.dtype).eps)
                                   if wanted.dtype.kind == "f" else 0)  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "float16"])
@pytest.mark.parametrize("name", ["sinc", "i0", "angle", "square", "trapezoid"])
def test_functions_of_small_integers_and_bool(name: str, dtype: str) -> None:
    x = np.array([1, 1, 0, 1], dtype)
    wanted, got = getattr(np, name)(x), getattr(T, name)(x).eval()
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=2e-3 if dtype == "float16" else 1e-12, atol=1e-3
                               if dtype == "float16" else 1e-15)  # fmt: skip


@pytest.mark.parametrize("call", [
    lambda x: T.gcd(x, x), lambda x: T.lcm(x, x), T.positive
])  # fmt: skip
def test_bool_has_no_divisors_and_no_sign(call: Callable[[Any], Any]) -> None:
    with pytest.raises(DTypeError, match="bool"):
        call(np.array([True, False]))


def test_bool_beside_integers_has_divisors() -> None:
    x, k = np.array([True, False]), np.array([4, 6], "int8")
    assert T.gcd(x, k).eval().tolist() == np.gcd(x, k).tolist()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_limits_beyond_the_dtype_leave_a_side_open(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, 0, 7, info.max], dtype)
    for low, high in ((-(2**70), 5), (3, 2**70), (info.min - 1, info.max + 1), (None, info.max)):
        wanted, got = np.clip(x, low, high), T.clip(x, low, high).eval()
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
    with pytest.raises(OverflowError):
        T.clip(x, info.max + 1, None)


SHORT = (0, 1, 2, 3)
PAIRS_OF_SHAPES: list[tuple[tuple[int | None, ...], tuple[int | None, ...]]] = [
    ((None,), (None,)), ((None,), (2,)), ((None,), (1,)), ((None,), (None, None)),
    ((None, 2), (None, None)), ((None, 1), (3, None)),
]  # fmt: skip


def _arrays(shape: tuple[int | None, ...]) -> list[np.ndarray[Any, Any]]:
    """Arrays of ones of all shapes that a tensor may have."""
    sides = [SHORT if n is None else (n,) for n in shape]
    return [np.ones(lengths) for lengths in product(*sides)]


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize(("one", "other"), PAIRS_OF_SHAPES)
def test_arrays_of_unlike_unknown_lengths_are_not_equal(
    one: tuple[int | None, ...], other: tuple[int | None, ...], mode: str
) -> None:
    """Lengths that were not known raised `ShapeMismatch` where they differed."""
    x, y = T.tensor("float64", shape=one, name="x"), T.tensor("float64", shape=other, name="y")
    same = [T.array_equal(x, y), T.array_equal(x, y, equal_nan=True), T.array_equiv(x, y)]
    f = symc.function([x, y], same, mode=mode, on_unused_input="ignore")
    for a, b in product(_arrays(one), _arrays(other)):
        for last in ((1.0, 1.0), (1.0, 2.0), (NAN, NAN)):
            a.flat[-1:], b.flat[-1:] = last
            wanted = [
                np.array_equal(a, b), np.array_equal(a, b, equal_nan=True), np.array_equiv(a, b)
            ]  # fmt: skip
            assert [bool(value) for value in f(a, b)] == wanted, (a, b)
