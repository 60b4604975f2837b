"""Entries inserted at several places, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex

V, M = np.arange(5.0), np.arange(12).reshape(3, 4)
CASES: list[tuple[Any, Any, Any, int | None]] = [
    (V, [1, 3], [7.0, 8.0], None),
    (V, [3, 1, 3, -1, 5], np.arange(5) + 10.0, None),
    (V, np.array([2]), [7.0, 8.0], None),
    (V, [], 9.0, None),
    (V, slice(1, None, 2), 9.0, 0),
    (V, slice(None, None, -2), [1.0, 2.0, 3.0], 0),
    (V, np.array([True, False, True, False, False]), [1.0, 2.0], 0),
    (V, 1, [7.0, 8.0], None),
    (M, [0, 2], [[1], [2], [3]], 1),
    (M, [0, 2, 2], 7.5, 0),
    (M, 1, [7, 8, 9], 1),
    (M, 1, [[7, 8, 9, 10], [1, 2, 3, 4]], 0),
    (M, [1], [[7, 8, 9, 10]], 0),
    (M, [0, 3], [1, 2], None),
]


@pytest.mark.parametrize("mode", ["python", "compile"])
def test_places_are_numpys(mode: str) -> None:
    graphs = [T.insert(*case) for case in CASES]
    found = symc.function([], graphs, mode=mode)()
    for case, result in zip(CASES, found, strict=True):
        values, places, inserted, axis = case
        right = np.insert(values, places, inserted, axis=axis)
        assert result.dtype == right.dtype
        np.testing.assert_array_equal(result, right)


@pytest.mark.parametrize("mode", ["python", "compile"])
def test_places_and_lengths_that_are_not_known(mode: str) -> None:
    x, at, values = T.vector("x"), T.lvector("at"), T.vector("values")
    result = T.insert(x, at, values)
    f = symc.function([x, at, values], [result, symc.grad(T.sqr(result).sum(), x)], mode=mode)
    for places in ([0, 2], [5, -5, 1, 1], [4]):
        given = np.arange(len(places)) + 7.0
        np.testing.assert_array_equal(f(V, places, given)[0], np.insert(V, places, given))
        np.testing.assert_array_equal(f(V, places, given)[1], 2 * V)
    for wrong in ([6, 0], [0, -6]):
        with pytest.raises(BadIndex):
            f(V, wrong, [1.0, 2.0])
    with pytest.raises(BadIndex, match="position 6 is out of bounds"):
        T.insert(V, [0, 6], 1.0)
