"""Grids by slices, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

KEYS: list[Any] = [
    np.s_[0:5], np.s_[2:9:3], np.s_[0:1:5j], np.s_[5:0:-2], np.s_[:3, 1:4], np.s_[0:2, 0:1:3j],
    np.s_[0:2:0.5, 0:2, 3:5], np.s_[0:3,], np.s_[0:0, 0:2],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_grids_are_numpys(key: Any) -> None:
    open_grid: Any = T.ogrid[key]
    right: Any = np.ogrid[key]
    parts = open_grid if isinstance(open_grid, tuple) else (open_grid,)
    found, *others = symc.function([], [T.mgrid[key], *parts], mode="python")()
    wanted = right if isinstance(right, tuple) else (right,)
    pairs = zip([found, *others], [np.mgrid[key], *wanted], strict=True)
    for result, of_numpy in pairs:
        assert result.dtype == of_numpy.dtype
        np.testing.assert_array_equal(result, of_numpy)


def test_lengths_that_are_not_known_and_what_is_no_slice() -> None:
    n = T.lscalar("n")
    f = symc.function([n], T.mgrid[0:n, 0 : n + 1], mode="python")
    np.testing.assert_array_equal(f(3), np.mgrid[0:3, 0:4])
    wrong: Any = (slice(0, 3), 2)
    with pytest.raises(TypeError, match="takes slices"):
        T.mgrid[wrong]
    with pytest.raises(TypeError, match="needs an end"):
        T.ogrid[0:]
