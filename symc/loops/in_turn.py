"""Ops that cannot be applied to a batch at once, applied to its elements in turn, by a loop.

Loops that would not all do the same number of steps are such, branches that would compute what may
fail though it is not chosen, draws from keys, and ops of users that have no rule for batches. Each
element is computed as it would be alone: no more is, and nothing else can fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from symc.graph.dims import sizes
from symc.graph.node import Op, Tensor
from symc.graph.walks import substitute, walk
from symc.loops.branch import Choice
from symc.loops.build import LoopParts, Reading, row_of, step_number
from symc.loops.entered import Scope, may_fail, may_have_none
from symc.loops.scan import Rows, Scan
from symc.tensor.lengths import length


def in_turn(
    node: Tensor, args: Sequence[Tensor], batched: Mapping[Tensor, Tensor],
    shared: Mapping[Tensor, Tensor],
) -> Tensor | None:  # fmt: skip
    """A node for each element of the batch; None if its lengths may differ from one to the other.

    `args` are its arguments for the whole batch, those that are `batched` with the batch as their
    first axis, which the result has, too. Lengths of those are `shared` by all elements.
    """
    op = node.op
    later = _for_steps(node, batched)
    needed = [arg for arg in node.args if arg in batched and arg not in later]
    needed += [arg for one in later for arg in one.args if arg in batched and arg not in later]
    rows = {one: row_of(batched[one]) for one in dict.fromkeys(needed)}
    pairs = zip(node.args, args, strict=True)
    known = {**shared, **{arg: new for arg, new in pairs if arg not in batched}}
    given = substitute(node.args, {**known, **rows})
    elements = set(rows.values())
    # All results of the op are collected, so that one loop computes them: what is not asked for is
    # dropped before compiling.
    several = op.siblings() if isinstance(op, Scan | Choice) else (op,)
    parts = [part for part in several if _alike(part(*given), elements) and not _is_endless(part)]
    if op not in parts:
        return None
    reads = tuple(Reading(batched[one], Rows((0,)), (row,)) for one, row in rows.items())
    results = tuple(part(*given) for part in parts)
    plan = LoopParts(length(reads[0].array, 0), step_number(), reads, (), results)
    return plan.close().collected(parts.index(op))


def _for_steps(node: Tensor, batched: Mapping[Tensor, Tensor]) -> list[Tensor]:
    """What may fail of a loop's arguments, and is needed if the loop does steps alone.

    Each element of the batch computes that, as one of them may do no steps.
    """
    op = node.op
    if not isinstance(op, Scan) or not may_have_none(op, node.args):
        return []
    found: dict[Tensor, None] = {}
    for one in walk(op.split(node.args)[3], stop=lambda arg: arg not in batched):
        if (
            one in batched
            and one.args
            and (
                not found.keys().isdisjoint(one.args) or may_fail([one], Scope(), by_lengths=False)
            )
        ):
            found[one] = None
    return list(found)


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
