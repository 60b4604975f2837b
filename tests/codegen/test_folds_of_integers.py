"""Folds of distances between integers are vector loops, as those of floats are."""

from __future__ import annotations

import numpy as np
import pytest

import symc
import symc.tensor as T


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_the_largest_distance(dtype: str) -> None:
    """It took six times NumPy's time: `abs` of integers was no function for vector loops."""
    x, y = T.tensor(dtype, (None,), "x"), T.tensor(dtype, (None,), "y")
    function = symc.function([x, y], [T.max(T.abs(x - y)), T.sum(T.sign(x - y))])
    assert function.source.count("omp simd reduction(") >= 2
    limits = np.iinfo(dtype)
    ends = np.array([limits.min, limits.max, 0, 1], dtype)
    middle = np.random.default_rng(1).integers(0, 100, (2, 75)).astype(dtype)
    for given in (middle, np.stack([np.repeat(ends, 4), np.tile(ends, 4)]), middle[:, :1]):
        with np.errstate(over="ignore"):
            difference = given[0] - given[1]
            largest, signs = function(given[0], given[1])
            assert largest == np.abs(difference).max()
            assert signs == np.sign(difference).sum()
