"""Loops of the program go in pieces, between which it is asked whether to stop."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import SymcError

PTR, COL, X = T.lvector("ptr"), T.lvector("col"), T.dvector("x")


def rows() -> Any:
    """The sums of the elements of rows, in a loop in a loop."""

    def row(i: Any) -> Any:
        return symc.fori_loop(PTR[i], PTR[i + 1], lambda k, t: t + X[COL[k]], 0.0)

    return symc.map(row, T.arange(PTR.shape[0] - 1))[0]


def test_steps_of_short_loops_in_loops_take_no_test_of_a_counter() -> None:
    """Jumps fill what processors remember of jumps: sums of rows of 4 took twice as long."""
    source = symc.function([PTR, COL, X], rows()).source
    innermost = re.findall(r"for \(int64_t step\w* = [^{}]*\{[^{}]*\}", source)
    assert innermost
    assert not any("stop" in loop for loop in innermost)
    assert "++steps" not in source


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 600])
def test_loops_of_as_many_steps_as_pieces_have_and_of_one_more_or_less(count: int) -> None:
    f = symc.function([PTR, COL, X], rows())
    rng = np.random.default_rng(count)
    lengths = rng.integers(0, 6, count)
    lengths[: min(count, 4)] = np.array([4095, 4096, 4097, 8192])[: min(count, 4)]
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    col, x = rng.integers(-50, 50, ptr[-1]), rng.normal(size=50)
    wanted = [x[col[a:b]].sum() for a, b in pairwise(ptr)]
    np.testing.assert_allclose(f(ptr, col, x), wanted, atol=1e-9)
    if count:
        col[min(4096, col.size - 1)] = 50
        with pytest.raises(SymcError):
            f(ptr, col, x)
