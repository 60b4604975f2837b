"""Boxes that are written into an array: what is around them is the base, written once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(5)


def box(lengths: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Where a box begins and ends in an array."""
    ends = [sorted(RNG.integers(0, n + 1, 2).tolist()) for n in lengths]
    return [low for low, _ in ends], [high for _, high in ends]


@pytest.mark.parametrize("rank", [2, 3, 4, 5])
def test_a_box_anywhere(rank: int) -> None:
    """Its ends are known at run time alone; it may be empty, or all of the array."""
    x, start, stop = T.tensor("float64", (None,) * rank), T.lvector("start"), T.lvector("stop")
    where = tuple(slice(start[k], stop[k]) for k in range(rank))
    doubled = x[where].set(x[where] * 2 + 1)
    added = x[where].inc(x[where])
    f = symc.function([x, start, stop], [doubled, added, T.zeros_like(x)[where].set(3.0)])
    lengths = (7, 5, 3, 2, 4)[:rank]
    for low, high in [box(lengths) for _ in range(20)] + [([0] * rank, list(lengths))]:
        given = RNG.normal(size=lengths)
        at = tuple(slice(a, b) for a, b in zip(low, high, strict=True))
        wanted: list[Any] = [given.copy(), given.copy(), np.zeros(lengths)]
        wanted[0][at] = given[at] * 2 + 1
        wanted[1][at] += given[at]
        wanted[2][at] = 3
        for value, right in zip(f(given, np.array(low), np.array(high)), wanted, strict=True):
            np.testing.assert_array_equal(value, right)


def test_the_interior_is_computed_where_it_belongs() -> None:
    """All was copied first: the interior went through memory twice."""
    x = T.matrix("x")
    inner = x[1:-1, 1:-1].set(x[:-2, 1:-1] + x[2:, 1:-1])
    f = symc.function([x], [inner, T.pad(x, ((1, 2), (3, 0)), constant_values=7.0)])
    for shape in ((2, 2), (3, 4), (40, 30), (300, 400)):
        given = RNG.normal(size=shape)
        wanted = given.copy()
        wanted[1:-1, 1:-1] = given[:-2, 1:-1] + given[2:, 1:-1]
        interior, padded = f(given)
        np.testing.assert_array_equal(interior, wanted)
        np.testing.assert_array_equal(padded, np.pad(given, ((1, 2), (3, 0)), constant_values=7.0))


def test_other_targets_than_boxes() -> None:
    """Steps, turned axes and rows by their numbers are written over a base as before."""
    x = T.matrix("x")
    f = symc.function([x], [x[::2, 1:].set(1.0), x[-2::-1].set(2.0), x[1].set(x[0])])
    given = RNG.normal(size=(6, 5))
    changes: list[tuple[Any, Any]] = [
        (np.s_[::2, 1:], 1.0),
        (np.s_[-2::-1], 2.0),
        (np.s_[1], given[0]),
    ]
    for value, (where, new) in zip(f(given), changes, strict=True):
        wanted = given.copy()
        wanted[where] = new
        np.testing.assert_array_equal(value, wanted)
