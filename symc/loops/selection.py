"""Branches between numbers that take no longer than the branch: both are computed, one selected.

    ifelse(c, x >> 1 ^ k, x >> 1)  ->  where(c, x >> 1 ^ k, x >> 1)

Which side of a branch comes next is often as good as random, and a processor that expected the
other one loses the time of some twenty operations. A selection also leaves all that is around it in
one kernel. Sides that check anything, or that do more than a few steps of arithmetic, stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.graph.inputs import Constant
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.body import Slot
from symc.loops.branch import Choice
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.logic import where

FEW = 8  # operations of both sides


def selected(op: Choice, args: Sequence[Tensor]) -> dict[int, Tensor]:
    """The results of a branch as selections, by their numbers; none if it has to stay a branch."""
    condition, *given = args
    if any(arg.ndim for arg in given) or any(op.checks):
        return {}
    if sum(_cost(result) for body in op.bodies() for result in body.results) > FEW:
        return {}
    pairs = zip(op.then.at(given), op.otherwise.at(given), strict=True)
    return {part: where(condition, one, other) for part, (one, other) in enumerate(pairs)}


def _cost(result: Tensor) -> int:
    """Operations of a number from arguments of a body; more than `FEW` if it is no arithmetic."""
    total = 0
    for node in walk([result]):
        match node.op:
            case Elementwise(cost=cost, checks=None) if node.ndim == 0:
                total += cost
            case Cast() if not (node.ndim or node.dtype.is_complex):
                total += 1
            case Constant() | Slot() if node.ndim == 0:
                pass
            case _:
                return FEW + 1
    return total
