"""States that move evenly are no states: their values follow from the number of the step.

Of ``j, x = j - 1, x[j].set(x[j - 1])``, j is where it began, less the number of the step. So it is
in no memory, and what is known of numbers of steps says which indexes are in range.
"""

from __future__ import annotations

from functools import partial

from symc.codegen.dtypes import INT64
from symc.graph.dims import sub
from symc.graph.node import Tensor
from symc.loops.build import Carrying
from symc.loops.opened import Get, OpenLoop
from symc.loops.scan import Part
from symc.tensor.lengths import dim_of
from symc.tensor.views import BroadcastTo, DimShuffle, expand_dims

STEEP = 8  # how far a state moves in a step: no loop takes so many steps that it wraps around


def count_evenly(loop: OpenLoop) -> bool:
    """Takes such states out of a loop, of which only the last value is wanted; whether any was."""
    found: dict[int, int] = {}
    for number, carry in loop.carries.items():
        by = _moves_by(carry)
        if by is not None and Part("history", number) not in loop.wanted:
            found[number] = by
    for number, by in found.items():
        carry = loop.carries.pop(number)
        first = _begin(carry.initial)
        loop.replace({carry.slots[0]: moved(first, by, loop.plan.step)})
        final = Part("final", number)
        if final in loop.wanted:
            loop.follow(final, partial(_final, first, by))
    return bool(found)


def _moves_by(carry: Carrying) -> int | None:
    """How far a number moves in each step, if that is a constant and not 0."""
    if carry.taps != (-1,) or carry.shared or carry.result.dtype is not INT64 or carry.result.ndim:
        return None
    (slot,) = carry.slots
    by = sub(dim_of(carry.result), dim_of(slot))
    if not isinstance(by, int) or abs(by) > STEEP or carry.initial.dtype is not INT64:
        return None
    # What is computed from a number that stays would be computed outside, and conditions are not.
    return by or None


def _begin(initial: Tensor) -> Tensor:
    """The number that a state begins with: of a row of one element."""
    number = initial
    while isinstance(number.op, BroadcastTo | DimShuffle):
        number = number.args[0]
    return initial[0] if number.ndim else number


def moved(first: Tensor, by: int, steps: Tensor) -> Tensor:
    """Where a number is after some steps; from 0 on by one it is the steps themselves.

    As ``0 + steps`` it would be another number than where that is simplified, and what is computed
    from both would be computed twice.
    """
    way = steps if by == 1 else steps * by
    return way if dim_of(first) == 0 else first + way


def _final(first: Tensor, by: int, get: Get) -> Tensor:
    return expand_dims(moved(first, by, get(Part("count"))), 0)
