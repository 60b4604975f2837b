"""Sorting rows of few elements, which lie side by side in vectors: blocks of them are turned."""

from __future__ import annotations

import numpy as np
import pytest

import symc
import symc.tensor as T


@pytest.mark.parametrize("dtype", ["float64", "float32", "uint64", "int16"])
def test_short_rows_are_sorted_side_by_side(dtype: str) -> None:
    x, y = (T.tensor(dtype, (None, None)) for _ in range(2))
    f = symc.function([x, y], [T.sort(x, axis=1), T.sort(y, axis=0)])
    rng, kind = np.random.default_rng(0), np.dtype(dtype)
    special: list[float] = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    if kind.kind != "f":
        special = [np.iinfo(kind).min, np.iinfo(kind).max]
    for length in (*range(10), 13, 16, 17, 24, 25, 31, 33, 40, 41, 48, 49, 56, 63, 64, 65):
        for rows in (15, 16, 32, 33, 95):
            a = np.abs(rng.standard_normal((rows, length)) * 30).astype(dtype)
            spoiled = rng.random(a.shape) < 0.3
            a[spoiled] = rng.choice(np.array(special, kind), a.shape)[spoiled]
            along, across = f(a, a.T.copy())
            np.testing.assert_array_equal(along, np.sort(a, axis=1))
            np.testing.assert_array_equal(across, np.sort(a, axis=1).T)
