"""The interpreter's special functions beside those of Python's math."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from symc.tensor import reference_values

FUNCTIONS: list[tuple[str, Callable[[float], float]]] = [("erf", math.erf), ("erfc", math.erfc)]


def numbers() -> NDArray[np.float64]:
    """Numbers of all sizes, and those at the ends of the range."""
    rng = np.random.default_rng(0)
    sizes = 10 ** rng.uniform(-300, 2, 2000) * rng.choice([-1, 1], 2000)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 26.6, -26.6, 27.0, 5e-324, -1e-310]
    return np.concatenate([rng.normal(size=2000) * 2, sizes, special])


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_error_functions_are_those_of_the_c_library(
    name: str, function: Callable[[float], float]
) -> None:
    """Of long arrays they may differ by 2 units in the last place."""
    x = np.tile(numbers(), 3)
    want = np.array([function(number) for number in x.tolist()])
    got = getattr(reference_values, name)(x)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    there = ~np.isnan(want)
    assert (np.abs(got - want)[there] <= 2 * np.spacing(np.abs(want))[there]).all()


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_of_short_arrays_they_are_the_same_to_the_bit(
    name: str, function: Callable[[float], float]
) -> None:
    """As the oracle of tests."""
    x = numbers()
    want = np.array([function(number) for number in x.tolist()])
    np.testing.assert_array_equal(getattr(reference_values, name)(x), want)


@pytest.mark.parametrize("length", [100, 12_000])
@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_of_float32_they_are_rounded_once_where_arrays_are_short(
    name: str, function: Callable[[float], float], length: int
) -> None:
    """Long ones are computed in float32: 4 units in the last place, as glibc promises."""
    x = np.tile(numbers(), 3)[-length:].astype(np.float32)
    want = np.array([function(number) for number in x.tolist()]).astype(np.float32)
    got = getattr(reference_values, name)(x)
    assert got.dtype == np.float32
    if length < 4096:
        np.testing.assert_array_equal(got, want)
        return
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    there = ~np.isnan(want)
    assert (np.abs(got - want)[there] <= 4 * np.spacing(np.abs(want))[there]).all()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16])
def test_other_dtypes_are_computed_in_float64(dtype: type) -> None:
    """And floats keep theirs."""
    x: NDArray[Any] = np.array([0, 1, 2, 3]).astype(dtype)
    got = reference_values.erf(x)
    assert got.dtype == (dtype if np.dtype(dtype).kind == "f" else np.float64)
    want = np.array([math.erf(number) for number in x.tolist()])
    np.testing.assert_array_equal(got, want.astype(got.dtype))


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_arrays_of_any_form(name: str) -> None:
    """Numbers, slices, transposes, no elements, and other floats."""
    function = getattr(reference_values, name)
    x = np.linspace(-2, 2, 24).reshape(4, 6)
    whole = function(x)
    np.testing.assert_array_equal(function(x.T), whole.T)
    np.testing.assert_array_equal(function(x[::2, ::-3]), whole[::2, ::-3])
    assert function(np.float64(0.5)).shape == ()
    assert function(np.zeros((0, 3))).shape == (0, 3)
    assert function(x.astype(np.float32)).dtype == np.float32
