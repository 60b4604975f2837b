"""Merging stages into groups that share outer loops, and ordering the groups.

Groups form a graph: an edge says "before". Two groups are merged when every read between them lies
in the same iteration of at least one shared outer loop, and when no third group must come between.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from symc.graph.conditions import Test
from symc.graph.dims import Dim
from symc.graph.lowering import Alias, At, Control, Fold, HostCall, LibCall, Write
from symc.graph.node import Op, Tensor
from symc.schedule.overwriting import Use, uses
from symc.schedule.plan import Inside, Invoke, Lone, Nest, Problem, Reading, Unit
from symc.schedule.stages import Facts, Stage, members, variable

MOST_STAGES = 64


def extents(stage: Stage) -> list[Dim]:
    """The lengths of a stage's loops beyond those of its result."""
    match stage.lowering:
        case Fold(extents=dims):
            return list(dims)
        case Write(parts=parts):
            return [dim for part in parts for dim in part.extents]
        case _:
            return []


class Groups:
    """The groups of a program, and which must come before which."""

    def __init__(self, problem: Problem, facts: Facts) -> None:
        self._problem = problem
        self._facts = facts
        self._stages = facts.stages
        self.reasons: list[str] = []
        self._members: dict[int, list[Stage]] = {}
        self._depth: dict[int, int] = {}
        self._group_of: dict[Tensor, int] = {}
        self._after: dict[int, set[int]] = {}
        self._before: dict[int, set[int]] = {}
        self._extra: dict[int, Unit] = {}
        self._readings: dict[str, int] = {}
        self._readers: dict[Tensor, list[Tensor]] = {}
        self._position = {node: number for number, node in enumerate(facts.stages)}
        self._rank: dict[int, int] = {}  # while groups merge: places in an order of all edges
        self._ranked: list[int | None] = []  # groups in that order, None for those that are gone
        self._dims = {node: self._loop_dims(stage) for node, stage in facts.stages.items()}
        self._aligned_loops: dict[tuple[Tensor, Tensor], int] = {}
        self._others: dict[Tensor, list[int]] = {}  # the groups without stages that read a node
        self._build()

    # --- the graph of groups ----------------------------------------------------------------------

    def _build(self) -> None:
        calls: dict[tuple[tuple[Op, ...], tuple[Tensor, ...]], int] = {}
        for node, stage in self._stages.items():
            number = len(self._members)
            if isinstance(stage.lowering, LibCall | HostCall | Control) and stage.lowering.results:
                number = calls.setdefault((stage.lowering.results, node.args), number)
            self._group_of[node] = number
            self._members.setdefault(number, []).append(stage)
            self._depth[number] = stage.shareable
            self._after[number], self._before[number] = set(), set()
            for read in stage.reads:
                self._readers.setdefault(read, []).append(node)
        for node, stage in self._stages.items():
            for read in stage.reads:
                if read in self._group_of:
                    self._edge(self._group_of[read], self._group_of[node])
        self._add_readings()
        self._add_tests()

    def _edge(self, first: int, second: int) -> None:
        if first != second:
            self._after[first].add(second)
            self._before[second].add(first)

    def _new(self, unit: Unit) -> int:
        number = len(self._after)
        self._after[number], self._before[number] = set(), set()
        self._extra[number] = unit
        if isinstance(unit, Test | Reading) and unit.node is not None:
            self._others.setdefault(unit.node, []).append(number)
        return number

    def _add_readings(self) -> None:
        """Lengths are measured before stages that compute or read anything of such a length."""
        if not self._problem.measures:
            return
        found: list[list[tuple[str, Tensor]]] = []
        for node, stage in self._stages.items():
            found.append([pair for other in (node, *stage.reads) for pair in self._measured(other)])
            found[-1] += self._problem.measured(extents(stage))
        for node, users in self._facts.inlined.items():
            measured = self._measured(node)
            if measured:
                for number in members(users):
                    found[number] += measured
        for node, pairs in zip(self._stages, found, strict=True):
            for size, source in pairs:
                self._edge(self._reading(size, source), self._group_of[node])

    def _reading(self, size: str, source: Tensor) -> int:
        """The group that measures a length."""
        found = self._readings.get(size)
        if found is None:
            found = self._readings[size] = self._new(Reading(size, source))
            if source in self._group_of:
                self._edge(self._group_of[source], found)
        return found

    def _measured(self, node: Tensor) -> list[tuple[str, Tensor]]:
        """The lengths to be measured before an element of a node is computed."""
        return self._problem.measured((*node.type.shape, *self._problem.asked.get(node, ())))

    def _add_tests(self) -> None:
        """Conditions come before whatever they do not themselves need."""
        numbers: list[int] = []
        for test in self._problem.tests:
            numbers.append(self._new(test))
            if test.node is not None and test.node in self._group_of:
                self._edge(self._group_of[test.node], numbers[-1])
            _, *lengths = test.lengths or (None,)
            for size, source in self._problem.measured(lengths):
                self._edge(self._reading(size, source), numbers[-1])
        closures = [self._ancestors(number) for number in numbers]
        needed = {number for closure in closures for number in closure}
        for position, waits in enumerate(self._problem.after):
            # What those before it need waits for what they wait for, and not for each other.
            own = (closures[position] | {numbers[position]}) - {numbers[other] for other in waits}
            own -= {group for other in waits for group in closures[other]}
            for other in waits:
                for group in own:
                    self._edge(numbers[other], group)
        # Loops take lengths as equal that are compared: nothing may run before they have been.
        first = {number for number in numbers if not self._before[number]}
        for group in set(self._after) - needed - set(numbers):
            for number in numbers:
                self._edge(number, group)
        for group in set(self._after) - first:
            for number in first:
                self._edge(number, group)

    def _ancestors(self, group: int) -> set[int]:
        found: set[int] = set()
        pending = [group]
        while pending:
            for other in self._before[pending.pop()]:
                if other not in found:
                    found.add(other)
                    pending.append(other)
        return found

    def _path_around(self, first: int, second: int) -> bool:
        """Whether some other group must come after `first` and before `second`."""
        return any(second in self._after[other] for other in self._between(first, second))

    def _between(self, first: int, second: int) -> Iterator[int]:
        """The groups after `first` that may come before `second`: few of all, by their ranks."""
        rank, last = self._rank, self._rank.get(second, 0)
        found: set[int] = set()
        pending = [first]
        while pending:
            for other in self._after[pending.pop()]:
                if other not in found and other != second and rank.get(other, -1) < last:
                    found.add(other)
                    pending.append(other)
                    yield other

    # --- merging ----------------------------------------------------------------------------------

    def merge(self) -> None:
        """Merges producers into their readers' groups, then groups that read the same arrays."""
        order = list(self._topological())
        self._ranked = list(order)
        self._rank = {group: rank for rank, group in enumerate(order)}
        self._merge()
        self._rank.clear()  # edges that are added from now on need not follow them

    def _topological(self) -> Iterator[int]:
        """All groups, each after those before it."""
        waiting = {group: len(before) for group, before in self._before.items()}
        ready = [group for group, count in waiting.items() if not count]
        while ready:
            group = ready.pop()
            yield group
            for other in self._after[group]:
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)

    def _merge(self) -> None:
        for node, stage in self._stages.items():
            if stage.fusible:
                for read in stage.reads:
                    if read in self._stages:
                        self._try(self._group_of[read], self._group_of[node], siblings=False)
        for readers in self._readers.values():
            groups = list(dict.fromkeys(self._group_of[node] for node in readers))
            first = groups[0]
            for second in groups[1:]:
                if first in self._members and second in self._members:
                    self._try(first, second, siblings=True)
                if second in self._members:
                    first = second

    def _try(self, first: int, second: int, *, siblings: bool) -> None:
        if first == second or len(self._members[first]) + len(self._members[second]) > MOST_STAGES:
            return
        depth = self._shared_depth(first, second)
        if depth == 0:
            return
        if siblings and depth < max(self._depth[first], self._depth[second]):
            return
        if self._path_around(first, second) or self._path_around(second, first):
            return
        self._unite(first, second, depth)

    def _unite(self, first: int, second: int, depth: int) -> None:
        self._rank_as_one(first, second)
        self._members[first] += self._members.pop(second)
        self._depth[first] = depth
        self._depth.pop(second)
        for stage in self._members[first]:
            self._group_of[stage.node] = first
        for other in self._after.pop(second):
            self._before[other].discard(second)
            self._edge(first, other)
        for other in self._before.pop(second):
            self._after[other].discard(second)
            self._edge(other, first)
        self._after[first] -= {first, second}
        self._before[first] -= {first, second}

    def _rank_as_one(self, first: int, second: int) -> None:
        """Gives `first` a rank for both: what stands between them moves before or behind it."""
        low, high = sorted((first, second), key=self._rank.__getitem__)
        start, stop = self._rank[low], self._rank[high]
        behind = set(self._between(low, high))
        window = [group for group in self._ranked[start + 1 : stop] if group is not None]
        order = [group for group in window if group not in behind]
        order += [first, *(group for group in window if group in behind)]
        gone = [None] * (stop + 1 - start - len(order))
        self._ranked[start : stop + 1] = [*order, *gone]
        self._rank.update({group: start + number for number, group in enumerate(order)})
        del self._rank[second]

    def _shared_depth(self, first: int, second: int) -> int:
        """How many outer loops two groups can share; 0 if they cannot."""
        depth = min(self._depth[first], self._depth[second])
        one, other = (self._dims[self._members[group][0].node] for group in (first, second))
        for position in range(depth):
            if one[position] != other[position]:
                depth = position
                break
        if not depth:  # calls of routines share nothing
            return 0
        small, large = sorted((first, second), key=lambda group: len(self._members[group]))
        for stage in self._members[small]:
            for read in stage.reads:
                if self._group_of.get(read) == large:
                    depth = min(depth, self._aligned(stage, read))
            for reader in self._readers.get(stage.node, ()):
                if self._group_of[reader] == large:
                    depth = min(depth, self._aligned(self._stages[reader], stage.node))
        return depth

    def _loop_dims(self, stage: Stage) -> list[Dim]:
        dims = self._problem.dims_of(stage.node)
        return [dims[axis] for axis in stage.loops]

    def _aligned(self, stage: Stage, read: Tensor) -> int:
        """How many of `read`'s outer loops are indexed by `stage`'s own, in order, everywhere."""
        found = self._aligned_loops.get((stage.node, read))
        if found is None:
            indexes = stage.reads[read]
            found = 0
            for own, axis in zip(stage.loops, self._stages[read].loops, strict=False):
                wanted = variable(own)
                if any(index[axis] != wanted for index in indexes):
                    break
                found += 1
            self._aligned_loops[stage.node, read] = found
        return found

    def share_all_loops(self, users: int) -> bool:
        """Whether a set of stages stands in one innermost loop body, which shares values anyway."""
        every = list(self._stages.values())
        stages = [every[number] for number in members(users)]
        groups = {self._group_of[stage.node] for stage in stages}
        if len(groups) != 1:
            return False
        (group,) = groups
        return all(
            isinstance(stage.lowering, At) and len(stage.loops) == self._depth[group]
            for stage in stages
        )

    # --- questions --------------------------------------------------------------------------------

    def unit_of(self, node: Tensor) -> int | None:
        """The group that a node's stage is in; None if it has none."""
        return self._group_of.get(node)

    def members(self, group: int) -> tuple[Sequence[Stage], int]:
        """The stages of a group, and how many outer loops they share."""
        return self._members[group], self._depth[group]

    def uses(self, owner: Tensor) -> Iterator[Use]:
        """Every read of a node's memory."""
        return uses(owner, self._readers, self._stages, self._group_of, self._others)

    def put_before(self, first: int, second: int) -> None:
        """Orders two groups of which the second does not reach the first."""
        self._edge(first, second)

    def reaches(self, first: int, second: int) -> bool:
        """Whether a group must come before another."""
        return second in self._after[first] or self._path_around(first, second)

    # --- order ------------------------------------------------------------------------------------

    def needed(self) -> set[int]:
        """The conditions, measured lengths and whatever else may fail, and all that they need."""
        needed: set[int] = set()
        for number in [*self._extra, *self._failing()]:
            needed |= self._ancestors(number) | {number}
        return needed

    def _failing(self) -> list[int]:
        """What runs in Python: it may raise. And loops and branches: conditions may be in them."""
        return [
            number
            for number, stages in self._members.items()
            if isinstance(stages[0].lowering, HostCall | Control)
        ]

    def in_order(self) -> list[Unit]:
        """All units, each after what it needs; what may fail as early as possible."""
        needed = self.needed()
        waiting = {group: len(before) for group, before in self._before.items()}
        ready = [(group not in needed, group) for group, count in waiting.items() if not count]
        heapq.heapify(ready)
        units: list[Unit] = []
        while ready:
            _, group = heapq.heappop(ready)
            units += self._units(group)
            for other in self._after[group]:
                waiting[other] -= 1
                if not waiting[other]:
                    heapq.heappush(ready, (other not in needed, other))
        assert not any(waiting.values()), "groups form a cycle"
        return units

    def _units(self, group: int) -> list[Unit]:
        if group in self._extra:
            return [self._extra[group]]
        stages = self._members[group]
        if stages[0].fusible:
            stages = sorted(stages, key=lambda stage: self._position[stage.node])
            return [Nest(tuple(stages), self._depth[group])]
        match stages[0].lowering:
            case Alias():
                return []
            case LibCall() | HostCall():
                return [Invoke(tuple(stages))]
            case Control():
                return [Inside(tuple(stages))]
            case _:
                return [Lone(stages[0])]
