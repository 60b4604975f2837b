"""Ops that cannot be applied to a batch at once, applied to its elements in turn, by a loop.

Loops that would not all do the same number of steps are such, branches that would compute what may
fail though it is not chosen, draws from keys, and ops of users that have no rule for batches. Each
element is computed as it would be alone: no more is, and nothing else can fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symc.graph.dims import sizes
from symc.graph.node import Op, Tensor
from symc.graph.walks import walk
from symc.loops.branch import Choice
from symc.loops.build import LoopParts, Reading, row_of, step_number
from symc.loops.scan import Rows, Scan
from symc.tensor.lengths import length


def in_turn(op: Op, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor | None:
    """The op for each element of the batch; None if its lengths may differ from one to the other.

    The `batched` arguments have the batch as their first axis, and the result has.
    """
    rows = [row_of(arg) if flag else arg for arg, flag in zip(args, batched, strict=True)]
    places = [number for number, flag in enumerate(batched) if flag]
    elements = {rows[number] for number in places}
    # All results of the op are collected, so that one loop computes them: what is not asked for is
    # dropped before compiling.
    several = op.siblings() if isinstance(op, Scan | Choice) else (op,)
    parts = [part for part in several if _alike(part(*rows), elements) and not _is_endless(part)]
    if op not in parts:
        return None
    reads = tuple(Reading(args[n], Rows((0,)), (rows[n],)) for n in places)
    results = tuple(part(*rows) for part in parts)
    plan = LoopParts(length(args[places[0]], 0), step_number(), reads, (), results)
    return plan.close().collected(parts.index(op))


def _is_endless(op: Op) -> bool:
    """Whether a result has rows for more steps than memory could: the interpreter drops nothing."""
    return isinstance(op, Scan) and op.layout.unbounded and op.part.kind in ("history", "collected")


def _alike(result: Tensor, elements: set[Tensor]) -> bool:
    """Whether the lengths of a result are the same for all elements of a batch."""
    return not any(node in elements for node in walk(list(_computed(result))))


def _computed(result: Tensor) -> Iterator[Tensor]:
    """The values that its lengths follow from."""
    for dim in result.type.shape:
        if not isinstance(dim, int):
            yield from (size.source for size in sizes(dim) if size.axis is None)
