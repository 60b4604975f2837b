"""The reverse rule of loops: the gradient of a loop is a loop that runs backwards.

At its step s it is at step ``t = n - 1 - s`` of the loop. It reads the rows of the sequences and of
the states at t, computes the body's values from them anew, but for products of matrices, numbers
that take long and elements of long states, which the loop keeps, and pulls the gradients of step
t's results back through the body: those of row t from outside, and those that later steps have
added which read this row. So for each slot of a state, ``t + tap``, the gradient at the slot is a
state of the backward loop that is read with the same tap. The gradients of rows of sequences are
collected; those of the other arguments are added up in states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc import tensor as T
from symc.codegen.record import record, replace
from symc.derivatives.reverse import accumulate, placeholder, reaching
from symc.graph.dims import Dim, add, product, sub
from symc.graph.inputs import scalar_constant
from symc.graph.node import EXPENSIVE, Tensor
from symc.graph.walks import substitute, walk
from symc.loops.body import Body
from symc.loops.build import Carrying, Loop, LoopParts, Reading, row_of, step_number
from symc.loops.ends import ends_apart
from symc.loops.hoist import is_product
from symc.loops.scan import Part, Rows, Scan
from symc.tensor.elementwise import Elementwise
from symc.tensor.lengths import Length, dim_of, public, tensor_of
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.spans import GIVEN
from symc.tensor.specify import segment, specify_length
from symc.tensor.views import broadcast_to

FEW = 64  # elements of a state that is kept as a whole


def reverse(op: Scan, bars: Mapping[Tensor, Tensor]) -> list[Tensor | None]:
    """The gradient for each argument of a loop, given those of some of its results."""
    node = next(iter(bars))
    by_part = {other.op.part: bar for other, bar in bars.items() if isinstance(other.op, Scan)}
    loop = Loop(op.body, op.layout, node.args)
    forward, by_part = _Forward(loop), ends_apart(loop, by_part)
    pulled = _pulled(forward, by_part)
    forward.keep(pulled.slots.values(), by_part)
    backward = _Backward(forward, by_part, pulled)
    return backward.arguments()


# --- the loop, and the meaning of its slots -------------------------------------------------------


class _Forward:
    """The loop that is differentiated."""

    def __init__(self, loop: Loop) -> None:
        # How many steps were done; below, how many of them gradients flow back through.
        self.done = dim_of(loop.count() if loop.layout.stops else loop.args[0])
        if loop.layout.unbounded:
            # All rows are needed now: the loop runs again, for as many steps as it took.
            layout = replace(loop.layout, unbounded=False)
            loop = Loop(loop.body, layout, (tensor_of(self.done), *loop.args[1:]))
        self.loop = loop
        self.layout, slots = loop.layout, iter(loop.body.slots)
        self.step = next(slots)
        self.of_sequences = [[next(slots) for _ in rows.taps] for rows in self.layout.sequences]
        self.of_states = [[next(slots) for _ in state.taps] for state in self.layout.states]
        self.of_others = list(slots)
        first = 1 + len(self.of_sequences)
        self.sequences = loop.args[1:first]
        self.initial = loop.args[first : first + len(self.of_states)]
        self.steps = self.done
        if self.layout.truncate is not None:
            self.steps = dim_of(T.minimum(tensor_of(self.done), self.layout.truncate))
        # The values that are read instead of being computed again, with their places.
        self.kept: dict[Tensor, Part] = {}

    def keep(self, needed: Iterable[Tensor], parts: Iterable[Part]) -> None:
        """Finds what the loop's results hold, or should hold, to be read by the steps back.

        `needed` are the results of the backward loop, `parts` those of the loop itself.
        """
        results = self.loop.body.results
        known = {
            result: Part("history", n) for n, result in enumerate(results[: len(self.of_states)])
        }
        for part in parts:
            if part.kind == "collected" and part.number not in self.layout.reverse:
                known.setdefault(results[self.result(part)], part)
        known = {n: part for n, part in known.items() if n.args and not n.op.is_sought}
        saved = set[Tensor]()
        if not self.layout.stops:
            saved = self._products() | self._numbers()
            saved |= self._elements(list(needed), known.keys(), saved)
        reached = walk(needed, stop=lambda node: node in known or node in saved)
        self.kept = {node: known[node] for node in reached if node in known}
        more = [node for node in reached if node in saved and node not in known]
        if more:
            first = self.layout.collected
            self.kept.update((node, Part("collected", first + n)) for n, node in enumerate(more))
            layout = replace(self.layout, collected=first + len(more))
            whole = Body(self.loop.body.slots, (*results, *more))
            self.loop = Loop(whole, layout, self.loop.args)

    def _products(self) -> set[Tensor]:
        """The products of values of the loop; those of sequences alone will leave it."""
        return self._even(filter(is_product, self._from_states(walk(self.loop.body.results))))

    def _numbers(self) -> set[Tensor]:
        """Numbers of values of the loop that take longer to compute than to store and load.

        What only a branch or a loop reads is not among them: they need not run.
        """
        order = walk(self.loop.body.results, stop=lambda node: node.op.is_lazy)
        return {
            node
            for node in self._from_states(order)
            if not node.ndim and isinstance(node.op, Elementwise) and node.op.cost >= EXPENSIVE
        }

    def _from_states(self, order: Sequence[Tensor]) -> list[Tensor]:
        """Those of some nodes that follow from what the loop carries on."""
        found = {slot for own in self.of_states for slot in own}
        for node in order:
            if not found.isdisjoint(node.args):
                found.add(node)
        return [node for node in order if node in found]

    def _elements(
        self, needed: Sequence[Tensor], known: AbstractSet[Tensor], saved: AbstractSet[Tensor]
    ) -> set[Tensor]:
        """Elements and rows of long states, and of what steps write into them, if no more is read.

        Where they are kept, steps write such a state in place: whole states of all steps take as
        much memory as there are steps, and as long to write. What only a branch or a loop reads
        is not kept: its index may be out of range where they do not run.
        """
        origin = {
            slot: number
            for number, own in enumerate(self.of_states)
            for slot in own
            if is_long(slot)
        }
        reads: dict[Tensor, int] = {}
        for node in walk(self.loop.body.results, stop=lambda node: node.op.is_lazy):
            number = origin.get(node.args[0]) if node.args else None
            if number is not None and isinstance(node.op, SliceWrite):
                origin[node] = number
            elif number is not None and is_read_by_number(node):
                reads[node] = number
        even = self._even(reads)
        ends = saved | (known - origin.keys()) | even
        left = walk(needed, stop=ends.__contains__)
        used = [
            arg for n in left if not isinstance(n.op, Length) and n not in ends for arg in n.args
        ]
        whole = {origin[node] for node in (*needed, *used) if node in origin}
        return {node for node in even if reads[node] not in whole}

    def _even(self, nodes: Iterable[Tensor]) -> set[Tensor]:
        """Those that are as long in all steps, so that a loop can collect them.

        Others, such as ``a[i, i:]``, are computed anew.
        """
        known = self.loop.lengths()
        return {n for n in nodes if all(known(dim) is not None for dim in n.type.shape)}

    def lengths_of_states(self, roots: Iterable[Tensor]) -> dict[Tensor, Tensor]:
        """Lengths of states that these graphs ask for, from outside the loop."""
        numbers = {slot: number for number, own in enumerate(self.of_states) for slot in own}
        return {
            node: tensor_of(self.initial[numbers[node.args[0]]].type.shape[1:][node.op.axis])
            for node in walk(roots)
            if isinstance(node.op, Length) and node.args[0] in numbers
        }

    def depth(self, state: int) -> int:
        """How many rows of a state are given."""
        return self.layout.states[state].depth

    def readings(self) -> Iterator[Reading]:
        """The rows that the backward loop reads for the slots of sequences and states."""
        for array, rows, slots in zip(
            self.sequences, self.layout.sequences, self.of_sequences, strict=True
        ):
            last, length = max(rows.taps, default=0), array.type.shape[0]
            if rows.backwards:
                array = _cut(array, sub(sub(length, self.done), last), length)
            else:
                array = _cut(array, 0, add(self.done, last))
            taps = tuple(last - tap for tap in rows.taps)
            yield Reading(array, Rows(taps, not rows.backwards), tuple(slots))
        for number, (state, slots) in enumerate(
            zip(self.layout.states, self.of_states, strict=True)
        ):
            history = _cut(self.loop.history(number), 0, add(self.done, state.depth))
            taps = tuple(-tap for tap in state.taps)
            yield Reading(history, Rows(taps, backwards=True), tuple(slots))
        for node, part in self.kept.items():
            ahead = self.depth(part.number) if part.kind == "history" else 0
            array = _cut(self.loop.part(part), 0, add(self.done, ahead))
            yield Reading(array, Rows((0,), backwards=True), (node,))

    def result(self, part: Part) -> int:
        """The number of the body's result that a part is made of."""
        return part.number + (len(self.of_states) if part.kind == "collected" else 0)


def is_long(state: Tensor) -> bool:
    """Whether a state is not known to have few elements."""
    count = product(state.type.shape)
    return not isinstance(count, int) or count > FEW


def is_read_by_number(node: Tensor) -> bool:
    """Whether a node reads elements or rows of its argument."""
    if not isinstance(node.op, Slice):
        return False
    return any(entry is GIVEN or isinstance(entry, int) for entry in node.op.entries)


def _cut(array: Tensor, start: Dim, stop: Dim) -> Tensor:
    """The rows from `start` to `stop`."""
    if start == 0 and stop == array.type.shape[0]:
        return array
    return array[public(start) if start != 0 else None : public(stop)]


# --- one step back --------------------------------------------------------------------------------


@record
class _Pulled:
    """The pullback of one step: placeholders for its results' gradients, and slots' gradients."""

    bars: dict[int, Tensor]
    slots: dict[Tensor, Tensor]


def _pulled(forward: _Forward, by_part: Mapping[Part, Tensor]) -> _Pulled:
    results = forward.loop.body.results
    slots = [slot for slot in forward.loop.body.slots if slot.dtype.is_inexact]
    live = {forward.result(part) for part in by_part}
    while True:
        bars = {number: placeholder(results[number].type) for number in sorted(live)}
        given: dict[Tensor, Tensor] = {}
        for number, bar in bars.items():
            given[results[number]] = accumulate(given.get(results[number]), bar)
        found = zip(slots, reaching(list(given), given, slots), strict=True)
        reached = {slot: bar for slot, bar in found if bar is not None}
        states = {
            number
            for number, own in enumerate(forward.of_states)
            if not reached.keys().isdisjoint(own)
        }
        if states <= live:
            known = forward.loop.lengths()
            fitting = {slot: _like_slot(bar, slot, known) for slot, bar in reached.items()}
            return _Pulled(bars, fitting)
        live |= states


def _like_slot(bar: Tensor, slot: Tensor, known: Callable[[Dim], Dim | None]) -> Tensor:
    """The gradient of a slot, with the slot's lengths where its own are computed by the step.

    Where a step multiplies a state by ``x[i : i + 3]``, the gradient has that slice's length. It is
    the state's by a condition of the forward step, which the backward one perhaps does not have.
    """
    for axis, (have, want) in enumerate(zip(bar.type.shape, slot.type.shape, strict=True)):
        if have != want and known(have) is None:
            bar = specify_length(bar, axis, want)
    return bar


# --- the loop backwards ---------------------------------------------------------------------------


class _Backward:
    """The loop that computes the gradients, and where they are found in its results."""

    def __init__(self, forward: _Forward, by_part: Mapping[Part, Tensor], pulled: _Pulled) -> None:
        self.forward, self.by_part, self.pulled = forward, by_part, pulled
        self.step = step_number()
        self.reads: list[Reading] = []
        # The states: for each the slot it belongs to (None: given from outside), and its depth.
        self.carries: list[Carrying] = []
        self.of_state: dict[int, list[int]] = {n: [] for n in range(len(forward.of_states))}
        self.of_other: dict[int, int] = {}
        self.collected: dict[Tensor, int] = {}
        self._build()

    def _build(self) -> None:
        forward, pulled = self.forward, self.pulled
        inside = dict(zip(forward.of_others, forward.loop.outside, strict=True))
        inside[forward.step] = tensor_of(sub(forward.done, 1)) - self.step
        for read in forward.readings():
            rows = tuple(row_of(read.array, slot.name) for slot in read.slots)
            inside.update(zip(read.slots, rows, strict=True))
            self.reads.append(Reading(read.array, read.rows, rows))
        totals = {bar: self._read_bar(number) for number, bar in pulled.bars.items()}
        for number, slots in enumerate(forward.of_states):
            self._carry_bars(number, slots, totals)
        for number, slot in enumerate(forward.of_others):
            if slot in pulled.slots:
                self._add_up(number, slot)
        given = {bar: total for bar, total in totals.items() if total is not None}
        found = [carry.result for carry in self.carries] + self._rows_of_sequences()
        inner = substitute(found, given | inside | forward.lengths_of_states(found))
        self.plan = self._plan(inner)
        self.loop = self.plan.close()

    def _read_bar(self, number: int) -> Tensor | None:
        """The row of a result's gradient from outside."""
        states = len(self.forward.of_states)
        if number < states:
            bar = self.by_part.get(Part("history", number))
            length = add(self.forward.done, self.forward.depth(number) if bar is not None else 0)
        else:
            bar = self.by_part.get(Part("collected", number - states))
            length = self.forward.done
        if bar is None:
            return None
        row = row_of(bar)
        turned = number >= states and number - states in self.forward.layout.reverse
        rows = Rows((0,), backwards=not turned)
        self.reads.append(Reading(_cut(bar, 0, length), rows, (row,)))
        return row

    def _carry_bars(
        self, number: int, slots: Sequence[Tensor], totals: dict[Tensor, Tensor | None]
    ) -> None:
        """States for the gradients of earlier rows of a state from each step."""
        bar, depth = self.pulled.bars.get(number), self.forward.depth(number)
        if bar is None:
            return
        final = self.by_part.get(Part("final", number))
        row = self.forward.initial[number].type.shape[1:]
        pulled = self.pulled.slots
        found = {
            -tap: pulled[slot]
            for tap, slot in zip(self.forward.layout.states[number].taps, slots, strict=True)
            if slot in pulled
        }
        if final is not None and depth not in found:
            found[depth] = T.zeros_like(bar)
        for back, result in found.items():
            initial = _zeros(bar, (back, *row))
            if final is not None and back == depth:
                initial = final[::-1] if depth > 1 else final
            slot = row_of(initial)
            totals[bar] = accumulate(totals[bar], slot)
            self.of_state[number].append(len(self.carries))
            self.carries.append(Carrying(initial, (-back,), (slot,), result))

    def _add_up(self, number: int, slot: Tensor) -> None:
        """A state for the gradient of a loop-invariant argument: the sum over all steps."""
        shape = self.forward.loop.outside[number].type.shape
        initial = _zeros(slot, (1, *shape))
        total = row_of(initial)
        self.of_other[number] = len(self.carries)
        result = accumulate(total, self.pulled.slots[slot])
        self.carries.append(Carrying(initial, (-1,), (total,), result))

    def _rows_of_sequences(self) -> list[Tensor]:
        """The gradients of the rows of sequences, to be collected."""
        for slots in self.forward.of_sequences:
            for slot in slots:
                if slot in self.pulled.slots:
                    self.collected[slot] = len(self.collected)
        return [self.pulled.slots[slot] for slot in self.collected]

    def _plan(self, inner: Sequence[Tensor]) -> LoopParts:
        used = set(walk(inner))
        reads = [
            Reading(
                read.array,
                Rows(tuple(tap for _, tap in kept), read.rows.backwards),
                tuple(slot for slot, _ in kept),
            )
            for read in self.reads
            if (kept := [p for p in zip(read.slots, read.rows.taps, strict=True) if p[0] in used])
        ]
        carries = [
            Carrying(carry.initial, carry.taps, carry.slots, result)
            for carry, result in zip(self.carries, inner, strict=False)
        ]
        return LoopParts(
            tensor_of(self.forward.steps), self.step, tuple(reads), tuple(carries),
            tuple(inner[len(carries) :]), reverse=self._turned(),
        )  # fmt: skip

    def _turned(self) -> tuple[int, ...]:
        """The collected rows that belong to sequences read forwards: those end at the end."""
        forwards = {
            slot
            for rows, slots in zip(
                self.forward.layout.sequences, self.forward.of_sequences, strict=True
            )
            for slot in slots
            if not rows.backwards
        }
        return tuple(number for slot, number in self.collected.items() if slot in forwards)

    # --- results ----------------------------------------------------------------------------------

    def arguments(self) -> list[Tensor | None]:
        """The gradient for each argument of the loop."""
        sequences = [self._of_sequence(n) for n in range(len(self.forward.sequences))]
        states = [self._of_initial(n) for n in range(len(self.forward.initial))]
        others = [
            self.loop.final(self.of_other[number])[0] if number in self.of_other else None
            for number in range(len(self.forward.of_others))
        ]
        return [None, *sequences, *states, *others]

    def _of_sequence(self, number: int) -> Tensor | None:
        """The gradient of a sequence: the rows collected, each at its place."""
        forward = self.forward
        array, rows = forward.sequences[number], forward.layout.sequences[number]
        length, total = array.type.shape[0], None
        for tap, slot in zip(rows.taps, forward.of_sequences[number], strict=True):
            if slot not in self.collected:
                continue
            found = self.loop.collected(self.collected[slot])
            if rows.backwards:
                start = sub(sub(length, forward.done), tap)
            else:
                start = add(sub(forward.done, forward.steps), tap)
            if start != 0 or forward.steps != length:
                region = (T.zeros_like(array))[public(start) : public(add(start, forward.steps))]
                found = T.set_subtensor(region, found)
            total = accumulate(total, found)
        return total

    def _of_initial(self, number: int) -> Tensor | None:
        """The gradient of the initial rows of a state."""
        forward = self.forward
        depth, array, total = forward.depth(number), forward.initial[number], None
        bar = self.by_part.get(Part("history", number))
        if bar is not None:
            total = segment(bar, 0, 0, depth)
        for carry in self.of_state[number]:
            found = self.loop.final(carry)
            back = -self.carries[carry].taps[0]
            if forward.steps != forward.done:  # truncated: nothing comes from so far away
                whole = T.eq(tensor_of(forward.steps), tensor_of(forward.done))
                found = T.where(whole, found, 0)
            found = found[::-1] if back > 1 else found
            if back < depth:
                found = T.set_subtensor(T.zeros_like(array)[depth - back :], found)
            total = accumulate(total, found)
        return total


def _zeros(like: Tensor, shape: Sequence[Dim]) -> Tensor:
    """Zeros of this shape, of the dtype of `like`."""
    return broadcast_to(scalar_constant(0.0, like.dtype), list(map(public, shape)))
