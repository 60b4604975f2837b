"""Differences with numbers and arrays joined to the ends, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

M = np.arange(12).reshape(3, 4) ** 2
CASES: list[dict[str, Any]] = [
    {"prepend": 0},
    {"append": 1.5},
    {"prepend": 0, "append": 7, "axis": 0, "n": 2},
    {"prepend": M[:, :2]},
    {"append": M[:1], "axis": 0},
    {"prepend": 9, "n": 0},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_diff_joins_what_is_before_and_after(case: dict[str, Any]) -> None:
    x = T.lmatrix("x")
    result = symc.function([x], T.diff(x, **case), mode="python")(M)
    right = np.diff(M, **case)
    assert result.dtype == right.dtype
    np.testing.assert_array_equal(result, right)
