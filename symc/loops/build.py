"""A builder of loops: rows read, states carried and outputs collected become a `Scan`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc.codegen.dtypes import INT64
from symc.codegen.record import record, replace
from symc.derivatives.reverse import placeholder
from symc.graph.dims import Dim, Poly, Size
from symc.graph.node import Tensor
from symc.graph.types import TensorType
from symc.graph.walks import substitute
from symc.loops.body import Body
from symc.loops.closing import closed
from symc.loops.scan import BodyLayout, Part, Rows, Scan, State
from symc.tensor.positions import fitted


@record
class Reading:
    """An array that is read row by row; `slots` stand for the rows at its taps."""

    array: Tensor
    rows: Rows
    slots: tuple[Tensor, ...]


@record
class Carrying:
    """A state: its first rows, the earlier rows that `slots` stand for, and its next row."""

    initial: Tensor
    taps: tuple[int, ...]
    slots: tuple[Tensor, ...]
    result: Tensor
    shared: bool = False

    @property
    def state(self) -> State:
        """How the loop has it."""
        return State(self.taps, self.shared)


@record
class Loop:
    """A loop's data, of which any result can be had."""

    body: Body
    layout: BodyLayout
    args: tuple[Tensor, ...]

    def part(self, part: Part) -> Tensor:
        """One result."""
        return Scan(self.body, self.layout, part)(*self.args)

    def history(self, number: int) -> Tensor:
        """The given rows of a state and the row of each step."""
        return self.part(Part("history", number))

    def final(self, number: int) -> Tensor:
        """The last rows of a state, as many as were given."""
        return self.part(Part("final", number))

    def collected(self, number: int) -> Tensor:
        """The collected values of an output, one for each step."""
        return self.part(Part("collected", number))

    def count(self) -> Tensor:
        """How many steps were done."""
        return self.part(Part("count"))

    def lengths(self) -> Callable[[Dim], Dim | None]:
        """Lengths in the body as lengths outside; None for those that are known inside only."""
        return Scan(self.body, self.layout, Part("count")).lengths(self.args)

    @property
    def outside(self) -> tuple[Tensor, ...]:
        """A loop-invariant input: the same in all steps."""
        layout = self.layout
        return self.args[1 + len(layout.sequences) + len(layout.states) :]


def opened(op: Scan, args: Sequence[Tensor]) -> LoopParts:
    """The parts of a loop again, with slots of their own."""
    layout, slots = op.layout, iter(op.body.slots)
    steps, sequences, initial, others = op.split(args)
    step = step_number()
    inside = {next(slots): step}

    def rows(array: Tensor, taps: Sequence[int]) -> tuple[Tensor, ...]:
        own = [next(slots) for _ in taps]
        made = tuple(row_of(array, slot.name) for slot in own)
        inside.update(zip(own, made, strict=True))
        return made

    reads = [
        Reading(array, sequence, rows(array, sequence.taps))
        for array, sequence in zip(sequences, layout.sequences, strict=True)
    ]
    earlier = [rows(array, state.taps) for array, state in zip(initial, layout.states, strict=True)]
    length = op.lengths(args)
    inside |= {slot: _informed(slot, x, length) for slot, x in zip(slots, others, strict=True)}
    results = iter(substitute(op.body.results, inside))
    carries = [
        Carrying(array, state.taps, own, next(results))
        for array, state, own in zip(initial, layout.states, earlier, strict=True)
    ]
    collected = [next(results) for _ in range(layout.collected)]
    return LoopParts(
        steps, step, tuple(reads), tuple(carries), tuple(collected), next(results, None),
        layout.truncate, layout.reverse, layout.unbounded,
    )  # fmt: skip


def _informed(slot: Tensor, given: Tensor, length: Callable[[Dim], Dim | None]) -> Tensor:
    """What is given for a slot, with the lengths that the body knows to follow from others.

    The loop has compared them. A history's follows from the number of steps, and the body may rely
    on that; outside, a slot of a loop around may have any length.
    """
    shape: list[Dim] = []
    for own, dim in zip(slot.type.shape, given.type.shape, strict=True):
        known = length(own)
        match known:
            case None | Poly(terms=(((Size(),), 1),)):
                shape.append(dim)
            case _:
                shape.append(known)
    return fitted(given, tuple(shape))


def step_number() -> Tensor:
    """The placeholder for the number of the step while a body is made."""
    return placeholder(TensorType(INT64, ()))


def row_of(array: Tensor, name: str | None = None) -> Tensor:
    """The placeholder for a row of an array while a body is made."""
    row = placeholder(TensorType(array.dtype, array.type.shape[1:]))
    row.name = name
    return row


@record
class LoopParts:
    """A loop before it is closed: its parts speak of slots and of tensors from outside.

    `step` stands for the number of the step.
    """

    steps: Tensor
    step: Tensor
    reads: tuple[Reading, ...]
    carries: tuple[Carrying, ...]
    collected: tuple[Tensor, ...]
    condition: Tensor | None = None
    truncate: int | None = None
    reverse: tuple[int, ...] = ()
    unbounded: bool = False

    def results(self) -> list[Tensor]:
        """The results of a step: of states, outputs, and the condition, if there is one."""
        condition = [] if self.condition is None else [self.condition]
        return [*(carry.result for carry in self.carries), *self.collected, *condition]

    def replaced(self, nodes: Mapping[Tensor, Tensor]) -> LoopParts:
        """The loop with other nodes in the results of a step."""
        new = iter(substitute(self.results(), nodes))
        carries = tuple(replace(carry, result=next(new)) for carry in self.carries)
        collected = tuple(next(new) for _ in self.collected)
        return replace(self, carries=carries, collected=collected, condition=next(new, None))

    def close(
        self, inside: AbstractSet[Tensor] = frozenset(),
        in_parts: Callable[[Tensor, Tensor], bool] | None = None,
    ) -> Loop:  # fmt: skip
        """The loop, of which each step computes those `inside`, though they do not change."""
        params = [self.step]
        params += [slot for read in self.reads for slot in read.slots]
        params += [slot for carry in self.carries for slot in carry.slots]
        body, outside = closed(params, self.results(), inside, in_parts)
        layout = BodyLayout(
            tuple(read.rows for read in self.reads),
            tuple(carry.state for carry in self.carries),
            len(self.collected),
            self.condition is not None,
            self.truncate,
            self.reverse,
            self.unbounded,
        )
        given = [*(read.array for read in self.reads), *(c.initial for c in self.carries)]
        return Loop(body, layout, (self.steps, *given, *outside))
