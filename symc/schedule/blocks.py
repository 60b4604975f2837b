"""The bodies of loops and branches, prepared for scheduling: each is a problem of its own.

A block is computed from slots, whose values are somewhere outside. Its lengths are those outside
where slots have the same ones, so that loops over equal lengths are known to be equal. Others are
known inside only: those that depend on the number of the step, and those that are measured there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any

from symc.codegen import ir
from symc.codegen.dtypes import INT64
from symc.codegen.record import record, replace
from symc.codegen.targets.base import Target
from symc.graph import dims
from symc.graph.conditions import Test
from symc.graph.dims import Dim, Size, sizes, symbolic
from symc.graph.inputs import Input, Shared
from symc.graph.node import Op, Tensor
from symc.graph.walks import substitute, walk
from symc.loops.body import Body, Checks, Slot
from symc.loops.branch import Choice
from symc.loops.comparisons import Comparison, Counters, always_holds, comparisons
from symc.loops.scan import Part, Scan
from symc.rewrite.pipeline import lengths_of, optimise
from symc.schedule.numbers import StepNumber, as_number, is_index
from symc.schedule.plan import Block
from symc.schedule.problems import in_memory, own_memory, problem_of
from symc.schedule.selecting import with_selections
from symc.schedule.sizes import Lengths
from symc.schedule.stops import most_steps
from symc.schedule.written import read_where_written
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import dim_of

EMPTY: Mapping[int, Tensor] = MappingProxyType({})


@record
class Measured(Op):
    """Stands for a scalar of a block whose value is a length, in lengths of the whole program."""

    @property
    def label(self) -> str:
        return "length"


class BlockLengths(Lengths):
    """The lengths of a block, as `SizeTable` has those of a program.

    `asked` has those that are known around the block before it begins.
    """

    def __init__(
        self, outer: Lengths, length: Callable[[Dim], Dim | None], asked: Iterable[Dim]
    ) -> None:
        self.outer = outer
        self._asked = {size for dim in asked for size in sizes(dim)}
        if isinstance(outer, BlockLengths):
            self._asked |= outer._asked
        self.sizes, self.names, self.lengths = outer.sizes, outer.names, outer.lengths
        self._length = length
        self._measured: dict[Tensor, Tensor] = {}  # the stand-in for a scalar of the block
        self._known: dict[Dim, Dim] = {}

    def __call__(self, dim: Dim) -> ir.Expr:
        return self.outer(self.outside(dim))

    def raw(self, dim: Dim) -> ir.Expr:
        return self.outer.raw(self.outside(dim))

    def known(self, size: Size, name: str) -> None:
        self.outer.known(size, name)

    def unified(self, dim: Dim) -> Dim:
        return self.outer.unified(self.outside(dim))

    def measured(self, dim: Dim) -> list[Size]:
        return [size for size in sizes(dim) if self._is_inside(size)]

    def varies(self, dim: Dim) -> bool:
        outside = self.outside(dim)
        return self.outer.varies(outside) or any(
            isinstance(size.source.op, StepNumber | Measured) for size in sizes(outside)
        )

    def outside(self, dim: Dim) -> Dim:
        """A length of the block in lengths of the program around it."""
        if isinstance(dim, int):
            return dim
        found = self._known.get(dim)
        if found is None:
            found = self._known[dim] = dims.substitute(dim, self._size)
        return found

    def _is_inside(self, size: Size) -> bool:
        return self._is_in_block(size) and self._length(symbolic(size)) is None

    def _is_in_block(self, size: Size) -> bool:
        """Whether a length is one of the block, not of the program.

        A number that follows from constants alone is, unless it is known before the block begins:
        it may be found in the block only, where a slot turned out to stand for a constant.
        """
        source = size.source
        if isinstance(source.op, StepNumber | Measured):
            return False
        leaves = [node for node in walk([source]) if not node.args]
        if any(isinstance(leaf.op, Slot | StepNumber) for leaf in leaves):
            return True
        is_given = any(isinstance(leaf.op, Input | Shared | Measured) for leaf in leaves)
        return not is_given and size not in self._asked

    def _size(self, size: Size) -> Dim:
        if not self._is_in_block(size):
            return symbolic(size)
        found = self._length(symbolic(size))
        if found is not None:
            return found
        source = size.source
        if source not in self._measured:
            stand_in = Tensor(Measured(), (), source.type, source.where)
            stand_in.name = source.name
            self._measured[source] = stand_in
        return symbolic(Size(self._measured[source], None))


class Blocks:
    """Makes the blocks of a program, rewritten, and adds their lengths to `scopes`.

    `condition` is the number of conditions that fail in a step.
    """

    def __init__(self, mode: str, condition: int, target: Target, scopes: list[Lengths]) -> None:
        self._mode = mode
        self._target = target
        self._condition = condition
        self._scopes = scopes
        self._rewritten: dict[Tensor, Tensor] = {}
        self._counts: dict[Size, Dim] = {}  # by the step numbers of loops around, how many steps

    def of(self, order: Sequence[Tensor], table: Lengths) -> dict[Tensor, Sequence[Block]]:
        """The blocks of the loops and branches among some nodes; those of siblings are the same."""
        siblings: dict[tuple[object, ...], list[Tensor]] = {}
        for node in order:
            if isinstance(node.op, Scan | Choice):
                siblings.setdefault((node.op.common(), node.args), []).append(node)
        found: dict[Tensor, Sequence[Block]] = {}
        for nodes in siblings.values():
            parts = [node.op.part for node in nodes if isinstance(node.op, Scan | Choice)]
            blocks = self._blocks(nodes[0].op, nodes[0].args, parts, table)
            found.update(dict.fromkeys(nodes, blocks))
        return found

    def _blocks(
        self, op: Op, args: Sequence[Tensor], parts: Sequence[Any], outer: Lengths
    ) -> Sequence[Block]:
        match op:
            case Scan(body, _, _, checks):
                number = outer.counter("step", "the number of a loop's step")
                slots = dict(zip(body.slots[1:], (a for a, _ in op.given(args)[1:]), strict=True))
                numbers = self._numbers(slots, outer)
                count = most_steps(op, numbers, outer.unified(dim_of(args[0])))
                step = StepNumber(number, count)()
                outer.known(Size(step, None), number)  # lengths may follow from it
                self._counts[Size(step, None)] = count
                given = {body.slots[0]: step, **numbers}
                table = BlockLengths(outer, op.lengths(args), _known_before(op, args))
                needed = loop_results(op, parts)
                states = overwritten_states(op, parts)
                rings = frozenset(
                    slot for n, slot in states.items() if op.layout.states[n].depth > 1
                )
                block = self._block(body, given, needed, checks, table, number, states, rings)
                del self._counts[Size(step, None)]
                return [replace(block, numbers=frozenset(map(slots.__getitem__, numbers)))]
            case Choice(checks=both):
                made: list[Block] = []
                for body, checks in zip(op.bodies(), both, strict=True):
                    slots = dict(zip(body.slots, args[1:], strict=True))
                    numbers = self._numbers(slots, outer)
                    first = len(body.results) - len(checks)
                    needed = sorted({*parts, *range(first, len(body.results))})
                    table = BlockLengths(outer, op.lengths(body, args), _known_before(op, args))
                    block = self._block(body, numbers, needed, checks, table)
                    written = frozenset(map(slots.__getitem__, numbers))
                    made.append(replace(block, numbers=written))
                return made
            case _:
                raise AssertionError(f"{op!r} has no blocks")

    def _block(
        self, body: Body, replace: Mapping[Tensor, Tensor], needed: Sequence[int], checks: Checks,
        table: BlockLengths, number: str = "", states: Mapping[int, Tensor] = EMPTY,
        rings: frozenset[Tensor] = frozenset(),
    ) -> Block:  # fmt: skip
        """The block that computes some results of a body; the last ones are conditions.

        `states` has the slots of those results that are needed no longer when the step is done,
        `rings` those among them of states that keep more rows.
        """
        substituted = substitute([body.results[position] for position in needed], replace)
        selected = with_selections(substituted, lambda conditions: self._hold(conditions, table))
        chosen = self._in_lengths_outside(selected, table)
        results: list[Tensor | None] = [None] * len(body.results)
        for position, result in zip(needed, chosen, strict=True):
            results[position] = result
        first = len(body.results) - len(checks)
        conditions = [result for result in results[first:] if result is not None]
        different = list(dict.fromkeys(r for r in results[:first] if r is not None))
        kept = read_where_written(own_memory(different))
        tests, after = self._tests(conditions, checks, table, _measured(kept, table))
        own = dict(zip(different, kept, strict=True))
        final = [None if result is None else own[result] for result in results[:first]]
        problem = problem_of(
            kept, table, self._scalars([*kept, *conditions], table), self._target,
            updates=_updates(states, final), rings=rings, tests=tests, after=after,
            steps=self._steps(), blocks_of=self.of,
        )  # fmt: skip
        self._scopes.append(table)
        return Block(problem, len(self._scopes) - 1, body.slots, final, number)

    def _tests(
        self, conditions: Sequence[Tensor], waits: Sequence[Sequence[int]], table: BlockLengths,
        measured: AbstractSet[Size],
    ) -> tuple[list[Test], list[frozenset[int]]]:  # fmt: skip
        """The conditions as tests, each with the positions of those that it waits for.

        Comparisons of lengths and numbers of steps are made without memory, each by itself; of
        lengths that are `measured` in the step, too.
        """
        tests: list[Test] = []
        places: list[range] = []
        for node in conditions:
            compared = comparisons(node, lambda dim: _is_known(dim, table, measured))
            first = len(tests)
            if compared is None:
                tests.append(Test(self._condition, AssertionError, in_memory(node)))
            else:
                tests += [
                    Test(self._condition, AssertionError, None, (sign, left, right))
                    for sign, left, right in compared
                    if not self._is_proven((sign, table.unified(left), table.unified(right)))
                ]
            places.append(range(first, len(tests)))
        after = [
            frozenset(position for other in others for position in places[other])
            for own, others in zip(places, waits, strict=True)
            for _ in own
        ]
        return tests, after

    def _hold(self, conditions: Sequence[Tensor], table: BlockLengths) -> bool:
        """Whether conditions are comparisons that hold in every step."""
        for node in conditions:
            compared = comparisons(node, lambda dim: _is_known(dim, table, frozenset()))
            if compared is None or not all(
                self._is_proven((sign, table.unified(left), table.unified(right)))
                for sign, left, right in compared
            ):
                return False
        return True

    def _in_lengths_outside(
        self, results: Sequence[Tensor], table: BlockLengths
    ) -> Sequence[Tensor]:
        """The results with the indexes that follow from lengths of slots in lengths outside.

        So what is known of the numbers of steps, which are counted along lengths outside, says
        which of them are in range.
        """
        found: dict[Tensor, Tensor] = {}
        for node in walk(results):
            if node.args and not node.ndim and node.dtype is INT64 and is_index(node):
                number = self._as_number(node, table)
                if number is not None:
                    found[node] = number
        return substitute(results, found) if found else results

    def _numbers(self, args: Mapping[Tensor, Tensor], outer: Lengths) -> dict[Tensor, Tensor]:
        """The slots that stand for numbers, which are in no memory."""
        found = {slot: self._as_number(arg, outer) for slot, arg in args.items()}
        return {slot: number for slot, number in found.items() if number is not None}

    def _as_number(self, node: Tensor, table: Lengths) -> Tensor | None:
        """A node as a number that is known when a step begins, in the form that rewriting gives."""
        number = as_number(node, table.unified)
        if number is None or number is node:
            return number
        if number not in self._rewritten:
            (self._rewritten[number],) = optimise([number], self._mode)
        return self._rewritten[number]

    def _steps(self) -> Counters:
        return list(self._counts.items())

    def _is_proven(self, comparison: Comparison) -> bool:
        return always_holds(comparison, self._steps())

    def _scalars(self, roots: Sequence[Tensor], table: BlockLengths) -> dict[Tensor, Tensor]:
        """The nodes that compute the lengths that are measured in a block."""
        found: dict[Tensor, Tensor] = {}
        pending = list(roots)
        while pending:
            dims = lengths_of(walk(pending))
            new = [size.source for dim in dims for size in table.measured(dim)]
            new = [source for source in dict.fromkeys(new) if source not in found]
            pending = optimise([cast_to(source, INT64) for source in new], self._mode)
            found.update(zip(new, pending, strict=True))
        return found


def _known_before(op: Op, args: Sequence[Tensor]) -> list[Dim]:
    """The lengths that are known before a loop or branch: those of its arguments, too.

    A state is as long as what it begins with, which may be a number that follows from constants.
    """
    return [*op.value_lengths(args), *(dim for arg in args for dim in arg.type.shape)]


def _measured(roots: Sequence[Tensor], table: BlockLengths) -> set[Size]:
    """The sizes that are measured in a step anyway."""
    return {size for dim in lengths_of(walk(roots)) for size in table.measured(dim)}


def _is_known(dim: Dim, table: BlockLengths, measured: AbstractSet[Size]) -> bool:
    """Whether a length is known without computing anything for it: from lengths outside, numbers of
    steps, and what is measured."""
    return measured >= set(table.measured(dim)) and all(
        size.axis is not None or size in measured or isinstance(size.source.op, StepNumber)
        for size in sizes(dim)
    )


def _updates(
    states: Mapping[int, Tensor], results: Sequence[Tensor | None]
) -> list[tuple[Tensor, Tensor]]:
    """The slots of states, each with its new value; of states with one value, the first."""
    first: dict[Tensor, Tensor] = {}
    for number, slot in states.items():
        result = results[number]
        if result is not None:
            first.setdefault(result, slot)
    return [(slot, result) for result, slot in first.items()]


def loop_results(op: Scan, parts: Iterable[Part]) -> list[int]:
    """Which results of a body must be computed for some parts of a loop to be known."""
    layout = op.layout
    states, count = len(layout.states), len(op.body.results)
    needed: set[int] = set(range(states + layout.collected, count))
    for part in parts:
        match part.kind:
            case "history" | "final":
                needed.add(part.number)
            case "collected":
                needed.add(states + part.number)
            case _:
                pass
    reads = state_slots(op)
    while True:
        used = set(walk([op.body.results[number] for number in needed]))
        more = {n for n, slots in enumerate(reads) if used.intersection(slots)} - needed
        if not more:
            return sorted(needed)
        needed |= more


def overwritten_states(op: Scan, parts: Iterable[Part]) -> dict[int, Tensor]:
    """The states of which only the last rows are wanted, with the slots of their oldest ones.

    No later step reads these: with the new one in its place, the rows are in a ring of `depth`.
    """
    kept = {part.number for part in parts if part.kind == "history"}
    slots = state_slots(op)
    return {
        number: slots[number][state.taps.index(-state.depth)]
        for number, state in enumerate(op.layout.states)
        if state.taps and number not in kept
    }


def state_slots(op: Scan) -> list[list[Tensor]]:
    """The slots of each state's taps."""
    start = 1 + sum(len(sequence.taps) for sequence in op.layout.sequences)
    found: list[list[Tensor]] = []
    for state in op.layout.states:
        found.append(list(op.body.slots[start : start + len(state.taps)]))
        start += len(state.taps)
    return found
