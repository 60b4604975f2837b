"""Loops over a batch: one loop whose rows have the batch as their first axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symc.derivatives.batch import batch
from symc.derivatives.reverse import placeholder
from symc.errors import NotBatchable
from symc.graph.dims import Dim
from symc.graph.node import Tensor
from symc.graph.types import TensorType
from symc.graph.walks import substitute, walk
from symc.loops.build import Carrying, LoopParts, Reading, row_of, step_number
from symc.loops.scan import Scan
from symc.tensor.lengths import public, tensor_of
from symc.tensor.views import broadcast_to, expand_dims, moveaxis


def batch_scan(op: Scan, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
    """One result of the loop for a batch: the `batched` arguments have it as their first axis."""
    if batched[0]:
        raise NotBatchable(
            "scan: the number of steps would differ within the batch, and how many rows there are\n"
            "  while_loop and fori_loop have no rows, and can be batched\n"
            "  symc.map does the elements of the batch one after another"
        )
    length = next(arg for arg, flag in zip(args, batched, strict=True) if flag).type.shape[0]
    return _Batched(op, args, batched, length).result()


class _Batched:
    """The loop over a batch while it is built.

    Each slot is first replaced by its counterpart in one element of the batch, and then, if it
    differs within the batch, by its counterpart for all of them.
    """

    def __init__(
        self, op: Scan, args: Sequence[Tensor], batched: Sequence[bool], length: Dim
    ) -> None:
        self.op, self.length = op, length
        self.steps, self.sequences, self.initial, self.others = op.split(args)
        _, self.sequence_flags, self.initial_flags, self.other_flags = op.split(batched)
        slots = iter(op.body.slots)
        self.step = step_number()
        self.single: dict[Tensor, Tensor] = {next(slots): self.step}
        self.all: dict[Tensor, Tensor] = {}
        self.of_sequences = [[next(slots) for _ in rows.taps] for rows in op.layout.sequences]
        self.of_states = [[next(slots) for _ in state.taps] for state in op.layout.states]
        self.of_others = list(slots)
        self.in_batch = self._in_batch()

    def _in_batch(self) -> set[Tensor]:
        """The nodes of the body that differ within the batch."""
        given = [*self.of_sequences, *self.of_states, *([slot] for slot in self.of_others)]
        flags = (*self.sequence_flags, *self.initial_flags, *self.other_flags)
        found = {slot for own, flag in zip(given, flags, strict=True) if flag for slot in own}
        order, results = walk(self.op.body.results), self.op.body.results
        before = -1
        while len(found) > before:
            before = len(found)
            for node in order:
                if any(arg in found for arg in node.args):
                    found.add(node)
            for result, own in zip(results, self.of_states, strict=False):
                if result in found:
                    found.update(own)
        return found

    def result(self) -> Tensor:
        """The op's result, the batch first."""
        op, layout = self.op, self.op.layout
        if layout.stops and op.body.results[-1] in self.in_batch:
            raise NotBatchable("scan: loops that end early would do so apart from one another")
        reads, carries = tuple(self._reads()), list(self._carries())
        inner = self._results()
        states = len(carries)
        carries = [
            Carrying(carry.initial, carry.taps, carry.slots, result)
            for carry, result in zip(carries, inner, strict=False)
        ]
        plan = LoopParts(
            self.steps, self.step, reads, tuple(carries),
            tuple(inner[states : states + layout.collected]),
            inner[-1] if layout.stops else None, layout.truncate, layout.reverse, layout.unbounded,
        )  # fmt: skip
        found = plan.close().part(op.part)
        if op.part.kind == "count":
            return broadcast_to(found, [public(self.length)])
        number = op.part.number + (states if op.part.kind == "collected" else 0)
        if self._flag(number):
            return moveaxis(found, 1, 0)
        return broadcast_to(found, list(map(public, (self.length, *found.type.shape))))

    def _flag(self, number: int) -> bool:
        """Whether a result of the body differs within the batch; all rows of a state do or none."""
        own = self.of_states[number] if number < len(self.of_states) else []
        given = number < len(self.of_states) and self.initial_flags[number]
        return given or any(node in self.in_batch for node in (self.op.body.results[number], *own))

    def _reads(self) -> Iterator[Reading]:
        parts = zip(
            self.sequences, self.op.layout.sequences, self.of_sequences, self.sequence_flags,
            strict=True,
        )  # fmt: skip
        for array, rows, own, flag in parts:
            array = moveaxis(array, 0, 1) if flag else array
            yield Reading(array, rows, self._rows(array, own, flag))

    def _carries(self) -> Iterator[Carrying]:
        parts = zip(
            self.initial, self.op.layout.states, self.of_states, self.initial_flags, strict=True
        )
        for number, (array, state, own, given) in enumerate(parts):
            if given:
                array = moveaxis(array, 0, 1)
            elif self._flag(number):
                depth, *row = array.type.shape
                shape: list[Dim] = [depth, self.length, *row]
                array = broadcast_to(expand_dims(array, 1), list(map(public, shape)))
            slots = self._rows(array, own, self._flag(number))
            yield Carrying(array, state.taps, slots, self.op.body.results[number])

    def _rows(self, array: Tensor, own: Sequence[Tensor], flag: bool) -> tuple[Tensor, ...]:
        rows = tuple(row_of(array, slot.name) for slot in own)
        for slot, row in zip(own, rows, strict=True):
            self._stands_for(slot, row, flag)
        return rows

    def _stands_for(self, slot: Tensor, given: Tensor, flag: bool) -> None:
        self.single[slot] = given
        if flag:
            one = placeholder(TensorType(given.dtype, given.type.shape[1:]))
            self.single[slot], self.all[one] = one, given

    def _results(self) -> list[Tensor]:
        """The body's results, with the batch where they differ within it, or must."""
        for slot, arg, flag in zip(self.of_others, self.others, self.other_flags, strict=True):
            self._stands_for(slot, arg, flag)
        results = substitute(self.op.body.results, self.single)
        flags = [self._flag(number) for number in range(len(results))]
        varying = [result for result, flag in zip(results, flags, strict=True) if flag]
        lifted = iter(batch(varying, self.all, tensor_of(self.length)))
        return [next(lifted) if flag else r for r, flag in zip(results, flags, strict=True)]
