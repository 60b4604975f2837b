"""Loops in segments: gradients keep the states between segments, and compute the others anew.

A loop of n steps becomes one of ``n // k`` steps, each of which is a loop of k steps, and one for
the steps that are left. The gradient of the outer loop reads its states, which are every k-th of
all, and computes each inner loop again before it goes backwards through it.
"""

from __future__ import annotations

from symc.errors import LoopError
from symc.graph.dims import Dim, add, floordiv, mul, sub
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor
from symc.graph.walks import substitute
from symc.loops.build import Carrying, LoopParts, Reading, row_of, step_number
from symc.loops.run import Done, run
from symc.loops.scan import Rows
from symc.loops.sequences import known_steps
from symc.tensor.lengths import dim_of, public, tensor_of
from symc.tensor.reshape import reshape
from symc.tensor.shape import concatenate
from symc.tensor.views import expand_dims


def in_segments(plan: LoopParts, every: int) -> Done:
    """The results of a loop whose gradient keeps the states before every so-manieth step only."""
    every = known_steps("checkpoint", every)
    if plan.condition is not None or plan.truncate is not None:
        raise LoopError("scan: checkpoint goes neither with until nor with truncate_gradient")
    steps = dim_of(plan.steps)
    segments = floordiv(steps, every)
    done = mul(segments, every)
    whole = _segments(plan, segments, every)
    rest = sub(steps, done)
    if rest == 0:
        return whole
    last = run(_after(plan, done, rest, whole.finals))
    return Done(
        tuple(map(_joined, whole.histories, last.histories)),
        last.finals,
        tuple(map(_joined, whole.collected, last.collected)),
    )


def _joined(first: Tensor, second: Tensor) -> Tensor:
    return concatenate([first, second], axis=0)


def _segments(plan: LoopParts, segments: Dim, every: int) -> Done:
    """The loop over segments, and its results as those of all their steps."""
    step, inner_step = step_number(), step_number()
    done = mul(segments, every)
    outer_reads: list[Reading] = []
    inner_reads: list[Reading] = []
    for read in plan.reads:
        for slot, tap in zip(read.slots, read.rows.taps, strict=True):
            rows = _taken(read, tap, done)
            shape = (public(segments), every, *map(public, rows.type.shape[1:]))
            blocks = reshape(rows, shape)
            block, along = row_of(blocks, read.array.name), Rows((0,), read.rows.backwards)
            outer_reads.append(Reading(blocks, along, (block,)))
            inner_reads.append(Reading(block, along, (slot,)))
    blocks_before = [row_of(expand_dims(carry.initial, 0)) for carry in plan.carries]
    within = _shifted(plan, step * every + inner_step)
    inner = run(
        LoopParts(
            as_tensor(every),
            inner_step,
            tuple(inner_reads),
            tuple(
                Carrying(before, carry.taps, carry.slots, carry.result)
                for before, carry in zip(blocks_before, within.carries, strict=True)
            ),
            within.collected,
        )
    )
    loop = LoopParts(
        tensor_of(segments),
        step,
        tuple(outer_reads),
        tuple(
            Carrying(expand_dims(carry.initial, 0), (-1,), (before,), final)
            for carry, before, final in zip(plan.carries, blocks_before, inner.finals, strict=True)
        ),
        (*inner.histories, *inner.collected),
    ).close()
    results = [_flat(loop.collected(number), done) for number in range(loop.layout.collected)]
    count = len(plan.carries)
    finals = [loop.final(number)[0] for number in range(count)]
    return Done(tuple(results[:count]), tuple(finals), tuple(results[count:]))


def _taken(read: Reading, tap: int, done: Dim) -> Tensor:
    """The rows that the first steps read at a tap, in the order of the array."""
    start: Dim = tap
    if read.rows.backwards:
        start = sub(sub(read.array.type.shape[0], tap), done)
    stop = add(start, done)
    if start == 0 and stop == read.array.type.shape[0]:
        return read.array
    return read.array[public(start) : public(stop)]


def _flat(blocks: Tensor, done: Dim) -> Tensor:
    return reshape(blocks, (public(done), *map(public, blocks.type.shape[2:])))


def _shifted(plan: LoopParts, number: Tensor) -> LoopParts:
    """The plan with another tensor for the number of the step."""
    results = [*(carry.result for carry in plan.carries), *plan.collected]
    results = substitute(results, {plan.step: number})
    carries = tuple(
        Carrying(carry.initial, carry.taps, carry.slots, result)
        for carry, result in zip(plan.carries, results, strict=False)
    )
    collected = tuple(results[len(carries) :])
    return LoopParts(plan.steps, plan.step, plan.reads, carries, collected)


def _after(plan: LoopParts, done: Dim, rest: Dim, finals: tuple[Tensor, ...]) -> LoopParts:
    """The steps that are left after the segments."""
    step = step_number()
    shifted = _shifted(plan, step + tensor_of(done))
    reads: list[Reading] = []
    for read in plan.reads:
        stop = public(sub(read.array.type.shape[0], done))
        array = read.array[:stop] if read.rows.backwards else read.array[public(done) :]
        reads.append(Reading(array, read.rows, read.slots))
    carries = tuple(
        Carrying(final, carry.taps, carry.slots, carry.result)
        for final, carry in zip(finals, shifted.carries, strict=True)
    )
    return LoopParts(tensor_of(rest), step, tuple(reads), carries, shifted.collected)
