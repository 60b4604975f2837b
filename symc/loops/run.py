"""Loops as their users see them: results without the rows that were given, one step written out."""

from __future__ import annotations

from symc.codegen.record import record
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.graph.walks import substitute
from symc.loops.build import LoopParts
from symc.tensor.shape import concatenate
from symc.tensor.views import expand_dims


@record
class Done:
    """The results of a loop: of states the rows of all steps and the last rows, and the others."""

    histories: tuple[Tensor, ...]
    finals: tuple[Tensor, ...]
    collected: tuple[Tensor, ...]


def run(plan: LoopParts, checkpoint: int | None = None) -> Done:
    """The results of a loop; a single step is written out."""
    if checkpoint is not None:
        from symc.loops.checkpoint import in_segments

        return in_segments(plan, checkpoint)
    steps = constant_value(plan.steps)
    return _one_step(plan) if steps is not None and steps == 1 else _all_steps(plan)


def _all_steps(plan: LoopParts) -> Done:
    loop = plan.close()
    count = None if plan.condition is None else loop.count()
    histories: list[Tensor] = []
    for number, state in enumerate(loop.layout.states):
        stop = None if count is None else count + state.depth
        histories.append(loop.history(number)[state.depth : stop])
    finals = [loop.final(number) for number in range(len(plan.carries))]
    collected = [loop.collected(number)[:count] for number in range(len(plan.collected))]
    return Done(tuple(histories), tuple(finals), tuple(collected))


def _one_step(plan: LoopParts) -> Done:
    given = {plan.step: plan.steps * 0}
    for read in plan.reads:
        for slot, tap in zip(read.slots, read.rows.taps, strict=True):
            given[slot] = read.array[-1 - tap if read.rows.backwards else tap]
    for carry in plan.carries:
        depth = -min(carry.taps)
        for slot, tap in zip(carry.slots, carry.taps, strict=True):
            given[slot] = carry.initial[depth + tap]
    results = substitute([*(carry.result for carry in plan.carries), *plan.collected], given)
    rows = [expand_dims(result, 0) for result in results]
    histories, collected = rows[: len(plan.carries)], rows[len(plan.carries) :]
    finals = [
        concatenate([carry.initial[1:], row], axis=0) if min(carry.taps) < -1 else row
        for carry, row in zip(plan.carries, histories, strict=True)
    ]
    return Done(tuple(histories), tuple(finals), tuple(collected))
