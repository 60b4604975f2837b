"""From a loop in the graph to a loop around steps: where its rows are, and the steps before and
after it.

The rows of a state are read and written where they stay: in the buffer of its history, or, if that
is not wanted, in a ring of as many rows as a step reads, and one more where it may not write over
the oldest. A number has one place and one for its next value, both of them registers. Rows of
sequences are read from the sequence; rows of collected outputs are written to their place. So no
row is copied, but for those given at the beginning (to both rows of a state that alternates:
`alternating.py`), and a ring's last ones to their result.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen import ir
from symc.codegen.dtypes import INT64, DType
from symc.codegen.record import record
from symc.graph.node import Tensor
from symc.loops.scan import PartKind, Rows, Scan, State
from symc.lower.nesting import copy, volume
from symc.lower.places import Places, StepsOf
from symc.schedule.blocks import overwritten_states
from symc.schedule.plan import Block, Plan
from symc.schedule.views import memory_read
from symc.tensor.lengths import dim_of
from symc.tensor.notation import described


@record
class StateRows:
    """Where the rows of a state are: `rows` of them in turn, or (None) one after the other."""

    buffer: str
    shape: tuple[ir.Expr, ...]
    rows: int | None


def repeated(
    outer: Places, nodes: Sequence[Tensor], block: Block, plan: Plan, steps_of: StepsOf
) -> list[ir.Step]:
    """The steps that compute all wanted results of a loop."""
    return _Loop(outer, nodes, block, plan).steps(plan, steps_of)


class _Loop:
    """One loop of the graph."""

    def __init__(self, outer: Places, nodes: Sequence[Tensor], block: Block, plan: Plan) -> None:
        node = nodes[0]
        assert isinstance(node.op, Scan)
        self.outer = outer
        self.op = node.op
        self.nodes = nodes
        self.wanted = {each.op.part: each for each in nodes if isinstance(each.op, Scan)}
        self.args = node.args
        self.block = block
        self.var = ir.Var(block.number)
        self.count, self.sequences, self.initial, self.others = self.op.split(self.args)
        self.stores: dict[int, StateRows] = {}
        self.next: dict[int, str] = {}
        slots = overwritten_states(self.op, [])
        self.in_place = {number for number, slot in slots.items() if slot in plan.in_place}
        self.alternating = {n for n, slot in slots.items() if slot in plan.alternating}

    def steps(self, plan: Plan, steps_of: StepsOf) -> list[ir.Step]:
        """The steps before the loop, the loop, and the steps after it."""
        op, block = self.op, self.block
        before: list[ir.Step] = []
        for number, state in enumerate(op.layout.states):
            if block.results[number] is not None:
                before += self.begin(number, state)
        homes, destinations = self.homes(), self.destinations()
        inner = self.outer.inside(block, plan, homes, destinations)
        body = (*steps_of(inner, block.problem, plan), *self.handed_on())
        states = len(op.layout.states)
        stop = None
        if op.layout.stops:
            last = block.results[states + op.layout.collected]
            assert last is not None
            stop = inner.home(last)
        sizes = self.outer.sizes
        done: str | None = None
        extent = sizes(dim_of(self.count))
        if stop is not None:
            done = sizes.counter("done", "how many steps a loop has done")
        rounds = ir.Var(done) if done else ir.binary("max", extent, ir.const(0))
        note = "\n".join(dict.fromkeys(described(node) for node in self.nodes))
        loop = ir.Repeat(block.number, extent, body, stop, done, note, op.layout.unbounded)
        return [*before, loop, *self.after(rounds)]

    # --- rows -------------------------------------------------------------------------------------

    def begin(self, number: int, state: State) -> list[ir.Step]:
        """Chooses where a state's rows are, and copies the first ones to there."""
        history = self.node("history", number)
        initial = self.initial[number]
        shape = self.outer.shape(initial)[1:]
        if history is not None:
            store = StateRows(self.outer.destinations(history)[0], shape, None)
        else:
            store = self.ring(number, state.depth, initial, shape)
        self.stores[number] = store
        count = volume((ir.const(state.depth), *shape))
        source = self.outer.home(initial)
        if source == store.buffer:  # the loop goes on where they are
            return []
        targets = [ir.const(0), *([count] if number in self.alternating else [])]
        return [copy(initial.dtype, source, store.buffer, count, to=to) for to in targets]

    def ring(
        self, number: int, depth: int, initial: Tensor, shape: tuple[ir.Expr, ...]
    ) -> StateRows:
        """A ring for the rows of a state. One less where a step overwrites the oldest row."""
        final = self.node("final", number)
        if self.is_number(number):
            rows = 1
            if number not in self.in_place:
                self.next[number] = self.outer.temp("next", initial.dtype, shape)
        elif number not in self.in_place:
            rows = depth + 1
        elif final is not None and depth == 1:  # at the end it has the result
            return StateRows(self.outer.destinations(final)[0], shape, 1)
        else:
            rows = depth
        name = initial.name or "state"
        buffer = self.outer.temp(name, initial.dtype, (ir.const(rows), *shape))
        return StateRows(buffer, shape, rows)

    def is_number(self, number: int) -> bool:
        """Whether a state is one number, of which the last value is read.

        Two in turn would have to be in memory. On a device they are, and a step more is slower.
        """
        one = all(dim == 1 for dim in self.initial[number].type.shape)
        return one and self.op.layout.states[number].depth == 1 and not self.outer.parts.on_device

    def handed_on(self) -> list[ir.Step]:
        """The steps at the end of each round by which numbers become what the next round reads."""
        if not self.next:
            return []
        parts = self.outer.parts
        params: list[ir.Param] = []
        body: list[ir.Stmt] = []
        buffers: list[str] = []
        for number, new in self.next.items():
            old, dtype = self.stores[number].buffer, self.initial[number].dtype
            own = f"state_{number}", f"next_{number}"
            params += [
                ir.Param(own[0], dtype, written=True),
                ir.Param(own[1], dtype, written=False),
            ]
            body.append(ir.Store(own[0], ir.const(0), ir.Load(own[1], ir.const(0), dtype)))
            buffers += [old, new]
        name = parts.names.fresh("next_kernel", "next_kernel")
        parts.kernels.append(ir.Kernel(name, tuple(params), (), tuple(body), "to the next step"))
        return [ir.Launch(name, tuple(buffers), ())]

    def homes(self) -> dict[Tensor, str]:
        """The buffer of each slot: a row, or a whole argument."""
        homes: dict[Tensor, str] = {}
        slots = iter(self.block.slots[1:])
        for arg, sequence in zip(self.sequences, self.op.layout.sequences, strict=True):
            for tap in sequence.taps:
                slot = next(slots)
                homes[slot] = self.sequence_row(slot, arg, sequence, tap)
        for number, state in enumerate(self.op.layout.states):
            for tap in state.taps:
                slot = next(slots)
                if number in self.stores:
                    homes[slot] = self.state_row(slot.name, number, slot.dtype, tap)
        read = set(memory_read(self.nodes[0]))
        for slot, arg in zip(slots, self.others, strict=True):
            if arg in read and arg not in self.block.numbers:
                homes[slot] = self.outer.home(arg)
        return homes

    def sequence_row(self, slot: Tensor, arg: Tensor, sequence: Rows, tap: int) -> str:
        """The row of a sequence that a step reads."""
        length, *shape = self.outer.shape(arg)
        at = ir.add(self.var, ir.const(tap))
        if sequence.backwards:
            at = ir.sub(ir.sub(length, ir.const(1)), at)
        return self.row(slot.name, slot.dtype, self.outer.home(arg), tuple(shape), at)

    def state_row(self, name: str | None, number: int, dtype: DType, tap: int) -> str:
        """The row of a state that a step reads, or (tap 0) the one that it writes."""
        store, depth = self.stores[number], self.op.layout.states[number].depth
        at = ir.add(self.var, ir.const(depth + tap))
        return self.row(name, dtype, store.buffer, store.shape, self.turn(store, at))

    def turn(self, store: StateRows, at: ir.Expr) -> ir.Expr:
        """Where a store has row `at`."""
        match store.rows:
            case None:
                return at
            case 1:
                return ir.const(0)
            case rows:
                return ir.binary("mod", at, ir.const(rows))

    def row(
        self, name: str | None, dtype: DType, buffer: str, shape: tuple[ir.Expr, ...], at: ir.Expr
    ) -> str:
        """A row of a buffer; the buffer itself, where it has but one."""
        if at == ir.const(0):
            return buffer
        offset = ir.mul(at, volume(shape))
        parts = self.outer.parts
        made = parts.names.fresh(name, "row")
        return parts.add(ir.Buffer(made, dtype, shape, "row", ir.Pointer(buffer, offset)))

    def destinations(self) -> list[tuple[str, Tensor]]:
        """The rows that the results of a step are written to."""
        found: list[tuple[str, Tensor]] = []
        states = len(self.op.layout.states)
        for number, result in enumerate(self.block.results):
            if result is None or number in self.in_place:
                continue
            if number < states:
                row = self.next.get(number)
                if row is None:
                    row = self.state_row(result.name, number, result.dtype, 0)
                if number in self.alternating:
                    self.outer.parts.filled.add(row)
                found.append((row, result))
            elif number < states + self.op.layout.collected:
                node = self.node("collected", number - states)
                assert node is not None
                _, *shape = self.outer.shape(node)
                buffer = self.outer.destinations(node)[0]
                at: ir.Expr = self.var
                if number - states in self.op.layout.reverse:
                    at = ir.sub(ir.sub(self.outer.sizes(dim_of(self.count)), ir.const(1)), at)
                row = self.row(result.name, result.dtype, buffer, tuple(shape), at)
                found.append((row, result))
        return found

    # --- results ----------------------------------------------------------------------------------

    def node(self, kind: PartKind, number: int = 0) -> Tensor | None:
        """The node of a part, if it is wanted."""
        return next(
            (n for p, n in self.wanted.items() if p.kind == kind and p.number == number), None
        )

    def after(self, rounds: ir.Expr) -> list[ir.Step]:
        """The steps that make the results which are not rows of the loop."""
        steps: list[ir.Step] = []
        for part, node in self.wanted.items():
            if part.kind == "final" and not self.stays(part.number):
                steps.append(self.final(part.number, node, rounds))
            elif part.kind == "count":
                steps.append(self.counted(self.outer.destinations(node)[0], rounds))
            steps += self.outer.copies(node)
        return steps

    def stays(self, number: int) -> bool:
        """Whether the last rows of a state are where its result is to be."""
        depth = self.op.layout.states[number].depth
        return number in self.in_place and depth == 1 and not self.is_number(number)

    def counted(self, target: str, rounds: ir.Expr) -> ir.Step:
        """Stores how many steps were done."""
        parts, count = self.outer.parts, ir.Var("count")
        name = parts.names.fresh("count_kernel", "count_kernel")
        store = ir.Store("result", ir.const(0), count)
        params = (ir.Param("result", INT64, written=True),)
        parts.kernels.append(ir.Kernel(name, params, (count,), (store,), "how many steps"))
        return ir.Launch(name, (target,), (rounds,))

    def final(self, number: int, node: Tensor, rounds: ir.Expr) -> ir.Step:
        """Copies the last rows of a state, one by one from a ring."""
        store, depth = self.stores[number], self.op.layout.states[number].depth
        target, count = self.outer.destinations(node)[0], volume(store.shape)
        if store.rows is None:
            whole = ir.mul(ir.const(depth), count)
            begin = ir.mul(rounds, count)
            return copy(node.dtype, store.buffer, target, whole, begin)
        if depth == 1:
            begin = ir.mul(self.turn(store, rounds), count)
            return copy(node.dtype, store.buffer, target, count, begin)
        var = ir.Var(self.outer.sizes.counter("row", "the number of a row that is copied"))
        begin = ir.mul(self.turn(store, ir.add(rounds, var)), count)
        one = copy(node.dtype, store.buffer, target, count, begin, ir.mul(var, count))
        return ir.Repeat(var.name, ir.const(depth), (one,))
