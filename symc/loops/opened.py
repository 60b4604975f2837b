"""Loops taken apart, changed and closed again: an editable view for all loop optimisations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from symc.graph.dims import Dim, add, sub
from symc.graph.node import Tensor
from symc.graph.walks import substitute, walk
from symc.loops.build import Carrying, LoopParts, Reading, opened
from symc.loops.scan import Part, Rows, Scan
from symc.tensor.lengths import dim_of, public

# Gives a part of the loop that is made in the end.
Get: TypeAlias = Callable[[Part], Tensor]


class OpenLoop:
    """The parts of a loop. States and collected outputs keep their numbers until it is closed.

    `after` has, for parts that the loop does not compute any more, how they follow from others:
    from what the loop computed then, which later changes may have made to follow from others, too.
    """

    def __init__(self, op: Scan, args: Sequence[Tensor], wanted: Iterable[Part]) -> None:
        plan = opened(op, args)
        self.plan = plan
        self.done = dim_of(plan.steps)
        self.reads = list(plan.reads)
        self.carries = dict(enumerate(plan.carries))
        self.collected = list(plan.collected)
        self.reverse = set(plan.reverse)
        self.condition = plan.condition
        self.asked = frozenset(wanted)
        self.wanted = set(wanted)
        self.after: list[tuple[Part, Callable[[Get], Tensor]]] = []
        self.in_parts: Callable[[Tensor, Tensor], bool] | None = None  # see `unsliced.py`
        self.gathered: dict[tuple[Tensor, bool], Callable[[Get], Tensor]] = {}

    def results(self) -> list[Tensor]:
        """The results of a step."""
        carried = [carry.result for carry in self.carries.values()]
        condition = [] if self.condition is None else [self.condition]
        return [*carried, *self.collected, *condition]

    def slots(self) -> dict[Tensor, Reading | int]:
        """The slots for rows, with the reading or the number of the state that each belongs to."""
        found: dict[Tensor, Reading | int] = {}
        for read in self.reads:
            found.update(dict.fromkeys(read.slots, read))
        for number, carry in self.carries.items():
            found.update(dict.fromkeys(carry.slots, number))
        return found

    def replace(self, nodes: Mapping[Tensor, Tensor]) -> None:
        """Replaces nodes in the results of a step."""
        new = iter(substitute(self.results(), nodes))
        for number, carry in self.carries.items():
            self.carries[number] = Carrying(carry.initial, carry.taps, carry.slots, next(new))
        self.collected = [next(new) for _ in self.collected]
        self.condition = next(new, None)

    def follow(self, part: Part, how: Callable[[Get], Tensor]) -> None:
        """A part is not computed by steps any more, but follows from other parts after the loop."""
        self.wanted.discard(part)
        self.after.append((part, how))

    def collect(self, node: Tensor, reverse: bool) -> Part:
        """The part that has a node's values in all steps, the last step's first if `reverse`."""
        for number, other in enumerate(self.collected):
            if other is node and (number in self.reverse) == reverse:
                break
        else:
            number = len(self.collected)
            self.collected.append(node)
            if reverse:
                self.reverse.add(number)
        part = Part("collected", number)
        self.wanted.add(part)
        return part

    def gather(self, node: Tensor, reverse: bool) -> Callable[[Get], Tensor]:
        """The values of a node in all steps, along a new first axis, for use after the loop."""
        known = self.gathered.get((node, reverse))
        if known is not None:
            return known
        read = self.slots().get(node)
        if isinstance(read, Reading):
            rows = self.rows_read(read, node)
            rows = rows if read.rows.backwards == reverse else rows[::-1]
            made = partial(_given, rows)
        else:
            made = partial(_got, self.collect(node, reverse))
        self.gathered[node, reverse] = made
        return made

    def rows_read(self, read: Reading, slot: Tensor) -> Tensor:
        """The rows that all steps read for a slot, in the order of the array."""
        tap = read.rows.taps[read.slots.index(slot)]
        start: Dim = tap
        length = read.array.type.shape[0]
        if read.rows.backwards:
            start = sub(sub(length, self.done), tap)
        stop = add(start, self.done)
        if start == 0 and stop == length:
            return read.array
        return read.array[public(start) : public(stop)]

    # --- closing ----------------------------------------------------------------------------------

    def close(self) -> dict[Part, Tensor]:
        """The parts that were asked for, of a loop that computes no more than it must."""
        carries, used = self._needed()
        kept = [n for n in range(len(self.collected)) if Part("collected", n) in self.wanted]
        reads = [read for read in (_only(read, used) for read in self.reads) if read.slots]
        plan = LoopParts(
            self.plan.steps, self.plan.step, tuple(reads),
            tuple(self.carries[number] for number in carries),
            tuple(self.collected[number] for number in kept), self.condition, None,
            tuple(index for index, number in enumerate(kept) if number in self.reverse),
            self.plan.unbounded,
        )  # fmt: skip
        loop = plan.close(in_parts=self.in_parts)

        def computed(part: Part) -> Tensor:
            if part.kind == "collected":
                return loop.collected(kept.index(part.number))
            if part.kind == "count":
                return loop.count()
            return loop.part(Part(part.kind, carries.index(part.number)))

        def get(part: Part, since: int = 0) -> Tensor:
            for number, (other, how) in enumerate(self.after[since:], since + 1):
                if other == part:
                    return how(partial(get, since=number))
            return computed(part)

        return {part: get(part) for part in self.asked}

    def _needed(self) -> tuple[list[int], set[Tensor]]:
        """The states that are needed, and the nodes that steps compute then."""
        needed = {part.number for part in self.wanted if part.kind in ("history", "final")}
        needed &= self.carries.keys()
        others = [self.collected[p.number] for p in self.wanted if p.kind == "collected"]
        if self.condition is not None:
            others.append(self.condition)
        while True:
            used = set(walk([*others, *(self.carries[number].result for number in needed)]))
            more = {n for n, c in self.carries.items() if not used.isdisjoint(c.slots)} - needed
            if not more:
                return sorted(needed), used
            needed |= more


def _given(rows: Tensor, get: Get) -> Tensor:
    del get
    return rows


def _got(part: Part, get: Get) -> Tensor:
    return get(part)


def _only(read: Reading, used: set[Tensor]) -> Reading:
    """The part of a reading whose slots are used."""
    kept = [p for p in zip(read.slots, read.rows.taps, strict=True) if p[0] in used]
    taps = tuple(tap for _, tap in kept)
    return Reading(read.array, Rows(taps, read.rows.backwards), tuple(slot for slot, _ in kept))


def is_free(node: Tensor) -> bool:
    """Whether a node may be computed elsewhere: it asks for nothing that depends on values."""
    return all(isinstance(requirement.holds, tuple) for requirement in node.op.require(node))
