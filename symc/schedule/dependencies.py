"""Groups of stages, and which must come before which: a graph whose edges say "before".

At first each stage is a group of its own, as are conditions and lengths that become known; stages
of one call are one group. `fusing.py` merges groups, `in_place.py` adds edges, `order.py` makes
units of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from symc.graph.conditions import Test
from symc.graph.dims import Dim, sizes
from symc.graph.lowering import Control, Fold, HostCall, LibCall
from symc.graph.node import Op, Tensor
from symc.schedule.plan import MeasuredSize, Problem
from symc.schedule.stages import Facts, Stage, members


class Groups:
    """The groups of a program. A group has members, which are stages, or is an `extra` unit.

    `depth` is how many outer loops the members of a group share; `readers` has the stages that read
    a node. `rank` bounds searches while groups merge: places in an order of all edges. `gates` are
    groups of nothing: where many come before many others, their edges go through one.

    `before` has pairs of stages of which the first comes before the second.
    """

    def __init__(
        self, problem: Problem, facts: Facts, before: Iterable[tuple[Tensor, Tensor]] = ()
    ) -> None:
        self.problem = problem
        self.stages = facts.stages
        self.members: dict[int, list[Stage]] = {}
        self.depth: dict[int, int] = {}
        self.group_of: dict[Tensor, int] = {}
        self.after: dict[int, set[int]] = {}
        self.before: dict[int, set[int]] = {}
        self.extra: dict[int, Test | MeasuredSize] = {}
        self.readers: dict[Tensor, list[Tensor]] = {}
        self.rank: dict[int, int] = {}
        self.gates: list[int] = []
        self._readings: dict[str, int] = {}
        self._add_stages()
        self._add_readings(facts)
        for first, second in before:  # conditions may need the second, and then wait for the first
            self.edge(self.group_of[first], self.group_of[second])
        self._add_tests()

    # --- building ---------------------------------------------------------------------------------

    def _add_stages(self) -> None:
        calls: dict[tuple[tuple[Op, ...], tuple[Tensor, ...]], int] = {}
        for node, stage in self.stages.items():
            number = len(self.members)
            if isinstance(stage.lowering, LibCall | HostCall | Control) and stage.lowering.results:
                number = calls.setdefault((stage.lowering.results, node.args), number)
            self.group_of[node] = number
            self.members.setdefault(number, []).append(stage)
            self.depth[number] = stage.shareable
            self.after[number], self.before[number] = set(), set()
            for read in stage.reads:
                self.readers.setdefault(read, []).append(node)
        for node, stage in self.stages.items():
            for read in stage.reads:
                if read in self.group_of:
                    self.edge(self.group_of[read], self.group_of[node])

    def edge(self, first: int, second: int) -> None:
        """Says that a group comes before another."""
        if first != second:
            self.after[first].add(second)
            self.before[second].add(first)

    def _new(self, unit: Test | MeasuredSize) -> int:
        number = len(self.after)
        self.after[number], self.before[number] = set(), set()
        self.extra[number] = unit
        return number

    def _add_readings(self, facts: Facts) -> None:
        """Lengths are measured before stages that compute or read anything of such a length."""
        readings, folded = self.problem.readings, self.problem.folded
        if not readings and not folded:
            return
        found: list[list[MeasuredSize]] = []
        for node, stage in self.stages.items():
            # Loops and branches may ask how long an array is of which they read no element.
            asked = node.args if isinstance(stage.lowering, Control) else ()
            concerned = dict.fromkeys((node, *stage.reads, *asked))
            found.append([one for other in concerned for one in readings.get(other, ())])
            found[-1] += folded.get(node, ())
        for node, users in facts.inlined.items():
            if node in readings:
                for number in members(users):
                    found[number] += readings[node]
        for node, needed in zip(self.stages, found, strict=True):
            for reading in needed:
                self.edge(self._reading(reading), self.group_of[node])

    def _reading(self, reading: MeasuredSize) -> int:
        """The group that measures a length."""
        found = self._readings.get(reading.size)
        if found is None:
            found = self._readings[reading.size] = self._new(reading)
            if reading.node in self.group_of:
                self.edge(self.group_of[reading.node], found)
        return found

    def _add_tests(self) -> None:
        """Conditions come before whatever they do not themselves need."""
        numbers: list[int] = []
        for test, readings in zip(self.problem.tests, self.problem.tested, strict=True):
            numbers.append(self._new(test))
            if test.node is not None and test.node in self.group_of:
                self.edge(self.group_of[test.node], numbers[-1])
            for reading in readings:
                self.edge(self._reading(reading), numbers[-1])
        needed = self.ancestors(*numbers)
        self._wait(numbers)
        # Loops take lengths as equal that are compared: nothing may run before they have been.
        first = [number for number in numbers if not self.before[number]]
        self._hold(first, set(self.after) - set(first))
        self._hold(numbers, set(self.after) - needed - set(numbers))

    def _wait(self, numbers: Sequence[int]) -> None:
        """What those before a condition need waits for what they wait for, and not for each other.

        Of the conditions that one waits for, those that others of them wait for come before anyway.
        """
        after = self.problem.after
        concerned = {other for waits in after for other in waits}
        concerned.update(position for position, waits in enumerate(after) if waits)
        own = {position: self.ancestors(numbers[position]) for position in concerned}
        for position, waits in enumerate(after):
            last = waits.difference(*(after[other] for other in waits))
            if last:
                before = {numbers[other] for other in waits}.union(*(own[other] for other in waits))
                waiting = (own[position] | {numbers[position]}) - before
                for other in last:
                    # What a condition waits for may itself have come to wait for some of these.
                    for group in waiting - self.ancestors(numbers[other]):
                        self.edge(numbers[other], group)

    def _hold(self, first: Sequence[int], others: Iterable[int]) -> None:
        """Says that some groups come before all others: through one that is empty."""
        if not first:
            return
        gate = len(self.after)
        self.after[gate], self.before[gate] = set(), set()
        self.gates.append(gate)
        for group in first:
            self.edge(group, gate)
        for group in others:
            if group not in self.gates:
                self.edge(gate, group)

    # --- looking ----------------------------------------------------------------------------------

    def ancestors(self, *groups: int) -> set[int]:
        """All groups that must come before one of these."""
        found: set[int] = set()
        pending = list(groups)
        while pending:
            for other in self.before[pending.pop()]:
                if other not in found:
                    found.add(other)
                    pending.append(other)
        return found

    def needed(self, *, by_signals: bool = True, taking: Collection[int] = ()) -> set[int]:
        """The groups that may fail, and all that they need, or that some need which take memory."""
        failing = self.failing(by_signals=by_signals)
        return self.ancestors(*failing, *taking) | set(failing)

    def taking_memory(self) -> list[int]:
        """The groups whose memory is asked for while a call runs, as it measures their lengths.

        There may be none. Sums over such a length have parts of which as many are in memory.
        """
        return [
            number
            for number, stages in self.members.items()
            if any(_is_measured(dim) for stage in stages for dim in _in_memory(stage))
        ]

    def failing(self, *, by_signals: bool = True) -> list[int]:
        """The conditions, measured lengths and whatever else may fail.

        Calls into Python may raise, and loops and branches with any of these inside. Where a call
        that a signal ends counts as failing, `by_signals`, all loops and branches may.
        """
        failing = list(self.extra)
        for number, stages in self.members.items():
            lowering, node = stages[0].lowering, stages[0].node
            if isinstance(lowering, HostCall) or (
                isinstance(lowering, Control) and (by_signals or may_fail(self.problem, node))
            ):
                failing.append(number)
        return failing

    def reaches(self, first: int, second: int) -> bool:
        """Whether a group must come before another."""
        return second in self.after[first] or self.one_between(first, second) is not None

    def one_between(self, first: int, second: int) -> int | None:
        """A group that must come after `first` and before `second`, if there is one."""
        gates = [gate for gate in self.gates if second in self.after[gate]]
        for other in self.between(first, second):
            after = self.after[other]
            if other not in self.gates and (second in after or any(g in after for g in gates)):
                return other
        return None

    def between(self, first: int, second: int) -> Iterator[int]:
        """The groups after `first` that may come before `second`: few of all, by their ranks."""
        rank, last = self.rank, self.rank.get(second, 0)
        found: set[int] = set()
        pending = [first]
        while pending:
            for other in self.after[pending.pop()]:
                if other not in found and other != second and rank.get(other, -1) < last:
                    found.add(other)
                    pending.append(other)
                    yield other

    def topological(self) -> Iterator[int]:
        """All groups, each after those before it."""
        waiting = {group: len(before) for group, before in self.before.items()}
        ready = [group for group, count in waiting.items() if not count]
        while ready:
            group = ready.pop()
            yield group
            for other in self.after[group]:
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)

    def sign(self, group: int) -> Tensor | Test | str:
        """A group as reasons name it: a node that it computes, a condition, or a length's name."""
        unit = self.extra.get(group)
        match unit:
            case None:
                return self.members[group][-1].node
            case Test():
                return unit
            case MeasuredSize(size):
                return size


def _in_memory(stage: Stage) -> Iterator[Dim]:
    """The lengths that the memory of a stage follows from."""
    yield from stage.node.type.shape
    if isinstance(stage.lowering, Fold):
        yield from stage.lowering.extents


def _is_measured(dim: Dim) -> bool:
    """Whether a length is known to nobody before a call."""
    return not isinstance(dim, int) and any(size.axis is None for size in sizes(dim))


def may_fail(problem: Problem, node: Tensor) -> bool:
    """Whether a step of a loop, or a side of a branch, has anything that may fail."""
    for block in problem.blocks[node]:
        inner = block.problem
        if inner.tests or inner.readings or inner.folded:
            return True
        for other, lowering in inner.lowerings.items():
            if isinstance(lowering, HostCall):
                return True
            if isinstance(lowering, Control) and may_fail(inner, other):
                return True
    return False
