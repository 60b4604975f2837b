"""From a branch in the graph to a branch around steps."""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen import ir
from symc.graph.node import Tensor
from symc.loops.branch import Choice
from symc.lower.places import Places, StepsOf
from symc.schedule.plan import Block, Plan
from symc.schedule.views import memory_read
from symc.tensor.notation import described


def branched(
    outer: Places,
    nodes: Sequence[Tensor],
    blocks: Sequence[Block],
    plans: Sequence[Plan],
    steps_of: StepsOf,
) -> list[ir.Step]:
    """The steps that compute all wanted results of a branch: each side writes them in place."""
    condition, *args = nodes[0].args
    read = set(memory_read(nodes[0]))
    sides: list[tuple[ir.Step, ...]] = []
    for block, plan in zip(blocks, plans, strict=True):
        homes = {
            slot: outer.home(arg)
            for slot, arg in zip(block.slots, args, strict=True)
            if arg in read and arg not in block.numbers
        }
        destinations: list[tuple[str, Tensor]] = []
        for node in nodes:
            assert isinstance(node.op, Choice)
            result = block.results[node.op.part]
            assert result is not None
            destinations += [(name, result) for name in outer.destinations(node)]
        inner = outer.inside(block, plan, homes, destinations)
        sides.append(steps_of(inner, block.problem, plan))
    note = "\n".join(dict.fromkeys(described(node) for node in nodes))
    return [ir.Branch(outer.home(condition), sides[0], sides[1], note)]
