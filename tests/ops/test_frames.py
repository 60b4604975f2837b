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


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("lengths", "where"),
    [
        ((40,), np.s_[2:5]),
        ((40,), np.s_[1:39]),
        ((40,), np.s_[3:3]),
        ((1, 40), np.s_[:, 2:5]),
        ((5, 1), np.s_[1:4]),
        ((5, 7), np.s_[1:2, 3:6]),
    ],
)
def test_a_bug_a_box_that_has_no_frame_was_to_be_computed_of_the_memory_it_overwrites(
    lengths: tuple[int, ...], where: Any, known: bool
) -> None:
    """A small part of a new vector, computed of the old one's elements there: an assertion."""
    shape = lengths if known else tuple(1 if n == 1 else None for n in lengths)
    given = RNG.integers(-9, 9, lengths).astype(float)
    wanted = given + 1
    wanted[where] *= 3

    def changed(x: Any) -> Any:
        return (x + 1)[where].set((x + 1)[where] * 3)

    state = symc.shared(given, shape=shape)
    symc.function([], updates=[(state, changed(state))])()
    np.testing.assert_array_equal(state.get_value(), wanted)
    x, n = T.tensor("float64", shape), T.lscalar("n")
    in_place = symc.function([symc.In(x, mutable=True)], changed(x))
    np.testing.assert_array_equal(in_place(given.copy()), wanted)
    again = symc.fori_loop(0, n, lambda _, state: changed(state), x)
    np.testing.assert_array_equal(symc.function([x, n], again)(given, 1), wanted)
