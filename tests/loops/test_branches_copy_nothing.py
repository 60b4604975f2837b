"""Branches in loops that read and write an array: it stays where it is, and is never copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Const
from symc.graph.node import Tensor
from tests.loops.test_compiled import check, temporaries

PLACES, TABLE = T.lvector("places"), T.vector("table")
RNG = np.random.default_rng(0)
GIVEN = RNG.integers(0, 10, 60), RNG.uniform(size=40)
Program = Callable[[Tensor, Tensor, Tensor], Any]


def operations(i: Tensor, total: Tensor, m: Tensor) -> Any:
    """Branches in branches, of which one gives the array as it is on both sides."""
    o = PLACES[i]
    last = symc.ifelse(T.eq(o, 3), [total + m[o], m], [total * 0.5, m])
    later = symc.ifelse(T.eq(o, 2), [total, m[o].set(total)], last)
    return symc.ifelse(T.eq(o, 0), [total + 1, m], later)


def a_search_on_a_side(i: Tensor, total: Tensor, m: Tensor) -> Any:
    """What the side checks is about what its loop has written."""

    def is_less(k: Tensor, m: Tensor) -> Any:
        return T.logical_and(k > 0, m[k] < total)

    def move(k: Tensor, m: Tensor) -> Any:
        return [k - 1, m[k].set(m[k - 1])]

    j = PLACES[i]
    k, moved = symc.while_loop(is_less, move, [j, m])
    return symc.ifelse(j > 5, [total + 1, moved[k].set(total)], [total + m[j], m])


def a_loop_on_each_side(i: Tensor, total: Tensor, m: Tensor) -> Any:
    """Both begin as the same row of the same array."""
    j = PLACES[i]
    more = symc.fori_loop(0, 3, lambda k, m: m[j + k].inc(1.0), m)
    less = symc.fori_loop(0, 3, lambda k, m: m[j + k].inc(-1.0), m)
    return [total + m[j], symc.ifelse(m[j] > 0, less, more)]


def elements_before_and_after(i: Tensor, total: Tensor, m: Tensor) -> Any:
    """One number needs an element of before the branch and one of after it."""
    j = PLACES[i]
    written = symc.ifelse(j > 5, m[j].set(total), m)
    return [total * 0.5 + m[j] + written[j + 1], written]


def three_in_one_another(i: Tensor, total: Tensor, m: Tensor) -> Any:
    j = PLACES[i]
    last = symc.ifelse(j > 3, [total, m[j].inc(1.0)[j + 1].inc(1.0)], [total + m[j + 1], m])
    other = symc.ifelse(j > 5, [total - m[j], m[j + 1].set(2.0)], last)
    return symc.ifelse(j > 7, [total + m[j], m[j].set(1.0)], other)


PROGRAMS: list[Program] = [
    operations, a_search_on_a_side, a_loop_on_each_side, elements_before_and_after,
    three_in_one_another,
]  # fmt: skip


@pytest.mark.parametrize("step", PROGRAMS, ids=lambda step: str(step.__name__))
def test_the_array_has_no_copy(step: Program) -> None:
    first = [T.constant(0.0), TABLE]
    results = symc.fori_loop(0, PLACES.shape[0], step, first)
    f = check([PLACES, TABLE], results, *GIVEN)
    arrays = temporaries(f).values()
    assert all(isinstance(length, Const) for array in arrays for length in array.shape)


def test_the_same_array_on_both_sides_is_that_array() -> None:
    """Whatever else the branch computes; it is not asked whether the other side may fail."""
    j = T.lscalar("j")
    number, table = symc.ifelse(j > 0, [TABLE[j], TABLE], [TABLE[0], TABLE])
    f = symc.function([j, TABLE], [number, table * 2])
    assert f(2, [1.0, 2.0, 3.0])[0] == 3
    np.testing.assert_array_equal(f(-7, [1.0, 2.0])[1], [2.0, 4.0])
    with pytest.raises(IndexError):
        f(7, [1.0, 2.0])
