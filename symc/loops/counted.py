"""Sequences of numbers that are counted are no sequences: they follow from the number of the step.

Row ``t`` of ``T.arange(a, b)`` is ``a + t``. So there is no array, and what is known of numbers of
steps says which indexes are in range, as in `fori_loop`: ``x[i + 1]`` of ``symc.map(lambda i: ...,
T.arange(n - 1))`` was checked in each step.
"""

from __future__ import annotations

from symc.codegen.dtypes import INT64
from symc.graph.dims import Dim, mul, sub
from symc.graph.node import Tensor
from symc.loops.build import Reading
from symc.loops.conditions import at_most
from symc.loops.even import moved
from symc.loops.opened import OpenLoop
from symc.tensor.build import ARange
from symc.tensor.lengths import dim_of, tensor_of


def count_sequences(loop: OpenLoop) -> None:
    """Takes such sequences out of a loop, if they surely have rows for all of its steps."""
    rows: dict[Tensor, Tensor] = {}
    kept: list[Reading] = []
    for read in loop.reads:
        by = _counts_by(read, loop)
        if by is None:
            kept.append(read)
        else:
            rows |= {slot: _row(read, slot, by, loop.plan.step) for slot in read.slots}
    if rows:
        loop.reads = kept
        loop.replace(rows)


def is_counted(array: Tensor) -> bool:
    """Whether an array has counted numbers, which are exact."""
    return isinstance(array.op, ARange) and array.dtype is INT64


def _counts_by(read: Reading, loop: OpenLoop) -> int | None:
    """How far apart the numbers of a sequence are, if that is a constant and not 0."""
    array = read.array
    if not is_counted(array):
        return None
    available = sub(array.type.shape[0], max(read.rows.taps, default=0))
    by = dim_of(array.args[1])
    if not isinstance(by, int) or not at_most(dim_of(loop.plan.steps), available):
        return None
    # What is computed from a number that stays would be computed outside, and conditions are not.
    return by or None


def _row(read: Reading, slot: Tensor, by: int, step: Tensor) -> Tensor:
    """What the loop reads for a slot, from the number of the step."""
    first, length = read.array.args[0], read.array.type.shape[0]
    skipped: Dim = read.rows.taps[read.slots.index(slot)]
    if read.rows.backwards:
        skipped = sub(sub(length, 1), skipped)
    if skipped != 0:
        first = first + tensor_of(mul(skipped, by))
    return moved(first, -by if read.rows.backwards else by, step)
