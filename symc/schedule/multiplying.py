"""Nodes that are stored before anything is looked at: their places would be too many to look at.

An element of a sum of neighbours needs several elements of what is summed, which may be such sums
themselves: the places multiply from level to level. How many there are at most is counted by the
views on the way, whatever their indexes are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from symc.graph.node import Tensor
from symc.schedule.plan import Problem
from symc.tensor.elementwise import Cast, Elementwise

MOST = 64  # places of a node in one stage
ALL = 4096  # in all stages: of more, some are left out

Way = tuple[int, int]
"""A stage, and a number that stands for the views between it and a node."""


def multiplying(
    problem: Problem, sources: AbstractSet[Tensor], stored: AbstractSet[Tensor]
) -> set[Tensor]:
    """The nodes that a stage would need at too many places."""
    ways: dict[Tensor, set[Way]] = {}
    numbers: dict[tuple[int, int], int] = {}  # of a view after other views
    found: set[Tensor] = set()
    for place, node in enumerate(reversed(problem.order)):
        if node in sources:
            continue
        mine = ways.pop(node, set())
        is_elementwise = isinstance(node.op, Elementwise | Cast)
        if node not in stored and is_elementwise and node.ndim and _is_too_many(mine):
            found.add(node)
        if node in stored or node in found:
            mine = {(place, 0)}
        if not is_elementwise and node not in stored:
            mine = {
                (stage, numbers.setdefault((place, way), len(numbers) + 1)) for stage, way in mine
            }
        for arg in node.args:
            theirs = ways.setdefault(arg, set())
            if len(theirs) < ALL:
                theirs |= mine
    return found


def _is_too_many(ways: Iterable[Way]) -> bool:
    return any(count > MOST for count in Counter(stage for stage, _ in ways).values())
