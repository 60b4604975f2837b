"""Bins that NumPy refuses, and how edges are rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("mode", ["compile", "python", "debug"])
def test_bins_with_nan_are_refused(mode: Any) -> None:
    """Modes gave different counts for them."""
    x, edges = T.vector("x"), T.vector("edges")
    outputs = [T.histogram(x, edges)[0], T.digitize(x, edges)]
    functions = [symc.function([x, edges], output, mode=mode) for output in outputs]
    for bad in ([1.0, np.nan, 3.0], [np.nan, 1.0, 2.0], [1.0, 2.0, np.nan], [np.nan, np.nan]):
        for f in functions:
            with pytest.raises(ValueError, match="nor be NaN"):
                f([0.0, 1.5], bad)
        for build in (T.histogram, T.digitize):
            with pytest.raises(ValueError, match="nor be NaN"):
                build(x, bad)


@pytest.mark.parametrize("mode", ["compile", "python", "debug"])
def test_histograms_without_room_for_their_bins_are_refused(mode: Any) -> None:
    """They had bins without width, or edges that were NaN."""
    x, low, high = T.vector("x"), T.scalar("low"), T.scalar("high")
    own = symc.function([x], T.histogram(x, 10)[0], mode=mode)
    given = symc.function([x, low, high], T.histogram(x, 10, (low, high))[0], mode=mode)
    near = float(np.nextafter(1.0, 2.0))
    for ends in ((1e20, 1e20), (1.0, near), (-1e308, 1e308), (0.0, 5e-324)):
        known = symc.function([x], T.histogram(x, 10, ends)[0], mode=mode)
        for f, arguments in ((own, (ends,)), (given, ([1.0], *ends)), (known, ([1.0],))):
            with pytest.raises(ValueError, match="too small or too large for 10 bins"):
                f(*arguments)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_edges_between_elements_are_rounded_in_their_dtype(dtype: str) -> None:
    """They were computed in float64, and differed from NumPy's in the last place."""
    x = T.vector("x", dtype)
    f = symc.function([x], list(T.histogram(x, 13)), mode="python")
    for _ in range(20):
        values = (RNG.standard_normal(50) * 10).astype(dtype)
        for value, wanted in zip(f(values), np.histogram(values, 13), strict=True):
            np.testing.assert_array_equal(value, wanted)


def test_ends_with_a_dtype_count_for_that_of_the_edges() -> None:
    """As in NumPy, where Python's numbers do not."""
    x = np.array([0.25, 0.5], "float32")
    several: list[Any] = [
        (0, 1), (0.0, 1.0), (np.float64(0), 1), (np.float32(0), np.float32(1)),
    ]  # fmt: skip
    for ends in several:
        found, wanted = T.histogram(x, 3, ends)[1].eval(), np.histogram(x, 3, ends)[1]
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
