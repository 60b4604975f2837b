"""Steps of the interpreter that go through their arguments row by row, a block of rows at a time.

NumPy writes each value of a large array to memory and reads it back. Row i of most values needs no
more than row i of the arguments: so neighbouring steps compute a block of some rows each, which
stays in the cache, and only what others need is written as a whole.

    level of a node    1 + the greatest level of its arguments; not more than that of an argument
                       which it needs row by row
    group              the nodes of one level that have as many rows
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from symc.codegen.record import record, replace
from symc.graph.node import Array, Tensor
from symc.graph.steps import Step

LARGE = 1 << 19  # bytes of a value from which on there are blocks
BLOCK = 1 << 17  # bytes of a block's part of the largest value: a few of them stay in the cache


@record
class RowBlocks:
    """A group of steps. `cut` has places from outside and those of their blocks' rows."""

    steps: tuple[Step, ...]
    cut: tuple[tuple[int, int], ...]
    kept: tuple[int, ...] = ()
    """The places that are needed afterwards."""
    dead: tuple[int, ...] = ()
    """Those from outside that are not."""

    @property
    def reads(self) -> set[int]:
        """The places from outside."""
        inside = {step.place for step in self.steps} | {inner for _, inner in self.cut}
        read = {place for step in self.steps for place in step.args} - inside
        return read | {outer for outer, _ in self.cut}

    def forgetting(self, needed: AbstractSet[int]) -> RowBlocks:
        """The group that forgets all that is not needed."""
        kept = tuple(step.place for step in self.steps if step.place in needed)
        reads = self.reads
        read = {*kept, *reads}
        steps: list[Step] = []
        for step in reversed(self.steps):
            steps.append(step.forgetting(read))
            read |= set(step.args)
        return replace(
            self, steps=tuple(steps[::-1]), kept=kept, dead=tuple(sorted(reads - needed))
        )

    def run(
        self,
        values: list[Any],
        bytes_of: Mapping[Tensor, int],
        look: Callable[[], None] | None,
    ) -> None:
        """Compute the group, by blocks where its values are known to be large."""
        rows, block = self._blocks(values, bytes_of)
        whole: dict[int, Array] = {}
        for first in range(0, rows, block):
            for outer, inner in self.cut:
                array = values[outer]
                values[inner] = array if block == rows else array[first : first + block]
            for step in self.steps:
                if look is not None:
                    look()
                step.run(values)
            if block < rows:
                for place in self.kept:
                    part = values[place]
                    if first == 0:
                        whole[place] = np.empty((rows, *part.shape[1:]), part.dtype)
                    whole[place][first : first + block] = part
        for place, array in whole.items():
            values[place] = array
        for place in self.dead:
            values[place] = None

    def _blocks(self, values: Sequence[Any], bytes_of: Mapping[Tensor, int]) -> tuple[int, int]:
        """How many rows there are, and how many in a block: all, where blocks do not pay."""
        lengths = {len(values[outer]) for outer, _ in self.cut}
        largest = max(bytes_of.get(step.node, 0) for step in self.steps)
        rows = lengths.pop()
        if lengths or rows == 0 or largest < LARGE:
            return 1, 1  # all in one go, and nothing is cut
        return rows, min(rows, max(1, rows * BLOCK // largest))


def by_levels(steps: Sequence[Step], new_place: Callable[[], int]) -> list[Step | RowBlocks]:
    """The steps in groups, level by level."""
    level: dict[int, int] = {}
    lengths: dict[int, Any] = {}  # of the places of steps that go row by row: how many rows
    grouped: dict[tuple[int, Any], list[Step]] = {}
    for step in steps:
        rows = step.node.op.row_args(step.node) if step.node.ndim else None
        length = None if rows is None else step.node.type.shape[0]
        levels = [
            level.get(place, -1) + (not (rows and number in rows and lengths.get(place) == length))
            for number, place in enumerate(step.args)
        ]
        level[step.place] = max(levels, default=0)
        if rows is not None:
            lengths[step.place] = length
        grouped.setdefault((level[step.place], length), []).append(step)
    found: list[Step | RowBlocks] = []
    for (_, length), members in sorted(grouped.items(), key=lambda item: item[0][0]):
        found += members if length is None else [_group(members, new_place)]
    return found


def _group(members: Sequence[Step], new_place: Callable[[], int]) -> RowBlocks:
    inside = {step.place for step in members}
    cut: dict[int, int] = {}
    steps: list[Step] = []
    for step in members:
        args = list(step.args)
        for number in step.node.op.row_args(step.node) or ():
            if args[number] not in inside:
                if args[number] not in cut:
                    cut[args[number]] = new_place()
                args[number] = cut[args[number]]
        steps.append(replace(step, args=tuple(args)))
    return RowBlocks(tuple(steps), tuple(cut.items()))
