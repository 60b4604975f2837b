"""Merging groups that share outer loops into one kernel.

Two groups are merged when every read between them lies in the same iteration of at least one shared
outer loop, and when no third group must come between. Why two others stay apart is recorded.
"""

from __future__ import annotations

from symc.graph.dims import Dim
from symc.graph.formulas import own_axis
from symc.graph.lowering import At, Sweep, Write
from symc.graph.node import Tensor
from symc.schedule.dependencies import Groups
from symc.schedule.reasons import (
    Between,
    FewerLoops,
    NoLoops,
    OtherIterations,
    OtherLengths,
    OwnKernel,
    Reason,
    Refusal,
    TooMany,
)
from symc.schedule.stages import Stage, members

MOST_STAGES = 64


def merge(groups: Groups) -> list[Refusal]:
    """Merges producers into their readers' groups, then groups that read the same arrays."""
    fusing = _Fusing(groups)
    fusing.merge()
    groups.rank.clear()  # edges that are added from now on need not follow them
    return fusing.refusals


def share_all_loops(groups: Groups, users: int) -> bool:
    """Whether a set of stages stands in one innermost loop body, which shares values anyway."""
    every = list(groups.stages.values())
    stages = [every[number] for number in members(users)]
    found = {groups.group_of[stage.node] for stage in stages}
    if len(found) != 1:
        return False
    (group,) = found
    return all(
        isinstance(stage.lowering, At) and len(stage.loops) == groups.depth[group]
        for stage in stages
    )


class _Fusing:
    """The merging of the groups of one program."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._stages = groups.stages
        self._members, self._depth = groups.members, groups.depth
        order = list(groups.topological())
        self._ranked: list[int | None] = list(order)  # in an order of all edges; None: is gone
        groups.rank.update({group: rank for rank, group in enumerate(order)})
        self._dims = {node: self._loop_dims(stage) for node, stage in groups.stages.items()}
        self._aligned_loops: dict[tuple[Tensor, Tensor], int] = {}
        self.refusals: list[Refusal] = []

    def merge(self) -> None:
        """Merges all that can be."""
        group_of, readers = self._groups.group_of, self._groups.readers
        for node, stage in self._stages.items():
            for read in stage.reads:
                if read in self._stages:
                    reason = self._try(group_of[read], group_of[node], siblings=False)
                    if reason is not None:
                        self.refusals.append(Refusal(read, node, False, reason))
        for found in readers.values():
            groups = list(dict.fromkeys(group_of[node] for node in found))
            first = groups[0]
            for second in groups[1:]:
                if first in self._members and second in self._members:
                    one, other = self._members[first][0].node, self._members[second][0].node
                    reason = self._try(first, second, siblings=True)
                    if reason is not None:
                        self.refusals.append(Refusal(one, other, True, reason))
                if second in self._members:
                    first = second

    def _try(self, first: int, second: int, *, siblings: bool) -> Reason | None:
        """Merges two groups, or says why not."""
        if first == second:
            return None
        count = len(self._members[first]) + len(self._members[second])
        if count > MOST_STAGES:
            return TooMany(count)
        depth = self._shared_depth(first, second)
        if not isinstance(depth, int):
            return depth
        wanted = max(self._depth[first], self._depth[second])
        if siblings and depth < wanted:
            return FewerLoops(depth, wanted)
        between = self._groups.one_between(first, second)
        if between is None:
            between = self._groups.one_between(second, first)
        if between is not None:
            return Between(self._groups.sign(between))
        self._unite(first, second, depth)
        return None

    def _unite(self, first: int, second: int, depth: int) -> None:
        groups = self._groups
        self._rank_as_one(first, second)
        self._members[first] += self._members.pop(second)
        self._depth[first] = depth
        self._depth.pop(second)
        for stage in self._members[first]:
            groups.group_of[stage.node] = first
        for other in groups.after.pop(second):
            groups.before[other].discard(second)
            groups.edge(first, other)
        for other in groups.before.pop(second):
            groups.after[other].discard(second)
            groups.edge(other, first)
        groups.after[first] -= {first, second}
        groups.before[first] -= {first, second}

    def _rank_as_one(self, first: int, second: int) -> None:
        """Gives `first` a rank for both: the groups between them move before it or after it."""
        rank = self._groups.rank
        low, high = sorted((first, second), key=rank.__getitem__)
        start, stop = rank[low], rank[high]
        later = set(self._groups.between(low, high))
        window = [group for group in self._ranked[start + 1 : stop] if group is not None]
        order = [group for group in window if group not in later]
        order += [first, *(group for group in window if group in later)]
        gone = [None] * (stop + 1 - start - len(order))
        self._ranked[start : stop + 1] = [*order, *gone]
        rank.update({group: start + number for number, group in enumerate(order)})
        del rank[second]

    # --- shared loops -----------------------------------------------------------------------------

    def _shared_depth(self, first: int, second: int) -> int | Reason:
        """How many outer loops two groups can share, or why none."""
        depth = min(self._depth[first], self._depth[second])
        if not depth:
            return self._without_loops(first if not self._depth[first] else second)
        one, other = (self._dims[self._members[group][0].node] for group in (first, second))
        for position in range(depth):
            if one[position] != other[position]:
                if not position:
                    return OtherLengths(one[0], other[0])
                depth = position
                break
        group_of, readers = self._groups.group_of, self._groups.readers
        small, large = sorted((first, second), key=lambda group: len(self._members[group]))
        for stage in self._members[small]:
            for read in stage.reads:
                if group_of.get(read) == large:
                    depth = min(depth, self._aligned(stage, read))
                    if not depth:
                        return OtherIterations(stage.node, read)
            for reader in readers.get(stage.node, ()):
                if group_of[reader] == large:
                    depth = min(depth, self._aligned(self._stages[reader], stage.node))
                    if not depth:
                        return OtherIterations(reader, stage.node)
        return depth

    def _without_loops(self, group: int) -> Reason:
        stage = self._members[group][0]
        if isinstance(stage.lowering, Write | Sweep):
            return OwnKernel(stage.node)
        shortest = min(self._members[group], key=lambda stage: stage.shareable)
        return NoLoops(shortest.node)

    def _loop_dims(self, stage: Stage) -> list[Dim]:
        dims = self._groups.problem.dims[stage.node]
        return [dims[axis] for axis in stage.loops]

    def _aligned(self, stage: Stage, read: Tensor) -> int:
        """How many of `read`'s outer loops are indexed by `stage`'s own, in order, everywhere."""
        found = self._aligned_loops.get((stage.node, read))
        if found is None:
            indexes = stage.reads[read]
            found = 0
            for own, axis in zip(stage.loops, self._stages[read].loops, strict=False):
                wanted = own_axis(own)
                if any(index[axis] != wanted for index in indexes):
                    break
                found += 1
            self._aligned_loops[stage.node, read] = found
        return found
