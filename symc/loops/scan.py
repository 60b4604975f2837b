"""A body repeated: the op of `scan` and all other loops.

A step reads, in the order of the body's slots,

    the number of the step          int64[], from 0
    rows of the sequences           row ``t + tap`` of each, for each of its taps (from 0)
    earlier rows of the states      row ``t + tap`` of each, for each of its taps (below 0)
    the other arguments             whole, the same in each step

and gives, in the order of the body's results,

    row t of each state
    row t of each collected output
    whether this step is the last   bool[], if the layout says so

A node is one result of the whole loop; `part` says which. Nodes with the same body and arguments
are siblings: they are computed together, by one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from symc.codegen.dtypes import INT64
from symc.codegen.record import record, replace
from symc.errors import ShapeMismatch
from symc.graph.computation import between
from symc.graph.dims import Dim, Size, add, substitute
from symc.graph.inputs import SharedVariable
from symc.graph.lowering import Control
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.registry import SERVICES
from symc.graph.types import TensorType, to_numpy
from symc.loops.body import Body, value_lengths
from symc.tensor.broadcast import describe
from symc.tensor.lengths import dim_of

if TYPE_CHECKING:
    from symc.graph.lowering import SizeOf

_Each = TypeVar("_Each")
PartKind: TypeAlias = Literal["history", "final", "collected", "count"]


@record
class Rows:
    """An argument read row by row: at step t the rows ``t + tap``; from its end if `backwards`.

    Backwards, row 0 is the argument's last one, row 1 the one before it, and so on.
    """

    taps: tuple[int, ...]
    backwards: bool = False


@record
class State:
    """A result that later steps read: at step t the rows ``t + tap``, all taps below 0.

    Rows -depth to -1 are given: the argument has shape ``(depth, *row)``. It may be the value of a
    `shared` variable that steps change; then a function that forgets its update warns.
    """

    taps: tuple[int, ...]
    shared: bool = False

    @property
    def depth(self) -> int:
        """How many earlier rows must be kept, at least 1."""
        return -min(self.taps, default=-1)


@record
class BodyLayout:
    """The layout of a loop's body: the meaning of its slots and results.

    `truncate` limits the gradient to the last steps, that many; None for all. Of the collected
    outputs in `reverse`, the last step's row comes first; such a loop does not stop. Of an
    `unbounded` loop, which stops but may take any number of steps, rows of all cannot be kept.
    """

    sequences: tuple[Rows, ...]
    states: tuple[State, ...]
    collected: int
    stops: bool = False
    truncate: int | None = None
    reverse: tuple[int, ...] = ()
    unbounded: bool = False


@record
class Part:
    """One result of a loop.

    - ``history`` of a state: its given rows and the row of each step, ``(depth + steps, *row)``;
    - ``final`` rows of a state: its last ones, ``(depth, *row)``;
    - ``collected`` output: the row of each step, ``(steps, *row)``;
    - ``count``: how many steps were done, int64[]. Fewer than asked for if the body stopped; then
      the rows of the others are there, but their values are not specified.
    """

    kind: PartKind
    number: int = 0


@record
class Scan(Op):
    """One result of a loop: arguments are the steps, sequences, initial rows, and the others.

    `checks` is empty but inside the compiler (`symc/schedule/blocks.py`): then the body's last
    results are conditions that must hold in each step, and it has the numbers of those each one
    waits for.
    """

    body: Body
    layout: BodyLayout
    part: Part
    checks: tuple[tuple[int, ...], ...] = ()

    def graphs(self) -> Sequence[tuple[str, tuple[Tensor, ...]]]:
        return (("each step", self.body.results),)

    def infer(self, *args: Tensor) -> TensorType:
        layout, part = self.layout, self.part
        if part.kind == "count":
            return TensorType(INT64, ())
        number = part.number + (len(layout.states) if part.kind == "collected" else 0)
        row = self.row(number, args)
        steps = dim_of(args[0])
        length: Dim = steps
        if part.kind != "collected":
            depth = layout.states[part.number].depth
            length = add(steps, depth) if part.kind == "history" else depth
        return TensorType(self.body.results[number].dtype, (length, *row))

    def row(self, number: int, args: Sequence[Tensor]) -> tuple[Dim, ...]:
        """The shape of one of the body's results, in lengths of the arguments."""
        length = self.lengths(args)
        row: list[Dim] = []
        for axis, dim in enumerate(self.body.results[number].type.shape):
            known = length(dim)
            if known is None:
                raise ShapeMismatch(
                    f"axis {axis} of what a step gives has a length that the step computes; all "
                    f"steps must give the same\n  result {describe(self.body.results[number])}\n"
                    "  T.specify_shape(result, ...) says how long it is"
                )
            row.append(known)
        return tuple(row)

    def lengths(self, args: Sequence[Tensor]) -> Callable[[Dim], Dim | None]:
        """Lengths in the body as lengths outside; None for those that are known inside only."""
        given = self.given(args)[1:]
        known = [None, *(arg for arg, _ in given)]
        return self.body.lengths(known, [0, *(skip for _, skip in given)])

    def lower(self, node: Tensor, size: SizeOf) -> Control:
        for dim in self.value_lengths(node.args):
            size(dim)
        return Control(tuple(self.siblings()), first=1)

    @property
    def is_natural(self) -> bool:
        """Whether the result is an integer that is never below 0: see `symc/graph/dims.py`."""
        return self.part.kind == "count"

    def value_lengths(self, args: Sequence[Tensor]) -> Iterator[Dim]:
        """The number of steps, and the lengths that a step needs and that are values outside."""
        yield dim_of(args[0])
        yield from value_lengths(self.body, self.lengths(args))

    def changes(self, node: Tensor) -> Iterator[tuple[Any, Tensor]]:
        _, _, initial, _ = self.split(node.args)
        for number, (state, rows) in enumerate(zip(self.layout.states, initial, strict=True)):
            if state.shared and rows.args and isinstance(rows.args[0], SharedVariable):
                yield rows.args[0], self.sibling("final", number)(*node.args)[0]

    def given(self, args: Sequence[_Each]) -> list[tuple[_Each, int]]:
        """The argument of each slot, and how many of its leading axes the slot lacks."""
        steps, sequences, states, others = self.split(args)
        found = [(steps, 0)]
        for arg, sequence in zip(sequences, self.layout.sequences, strict=True):
            found += [(arg, 1)] * len(sequence.taps)
        for arg, state in zip(states, self.layout.states, strict=True):
            found += [(arg, 1)] * len(state.taps)
        return [*found, *((arg, 0) for arg in others)]

    def split(
        self, args: Sequence[_Each]
    ) -> tuple[_Each, Sequence[_Each], Sequence[_Each], Sequence[_Each]]:
        """The arguments by role: steps, sequences, initial rows, others."""
        first = 1 + len(self.layout.sequences)
        second = first + len(self.layout.states)
        return args[0], args[1:first], args[first:second], args[second:]

    def siblings(self) -> Iterator[Op]:
        """The ops of all results of this loop."""
        layout = self.layout
        for number in range(len(layout.states)):
            yield self.sibling("history", number)
            yield self.sibling("final", number)
        for number in range(layout.collected):
            yield self.sibling("collected", number)
        yield self.sibling("count")

    def sibling(self, kind: PartKind, number: int = 0) -> Op:
        """The op of another result of this loop."""
        return replace(self, part=Part(kind, number))

    @property
    def is_lazy(self) -> bool:
        return True

    @property
    def is_control(self) -> bool:
        return True

    def common(self) -> Any:
        return self.body, self.layout, self.checks

    @property
    def takes_bfloat16(self) -> bool:
        return True

    def evaluate(self, *args: Array) -> Array:
        return self.evaluate_only([self])(*args)(self)

    def evaluate_all(self, *args: Array) -> Callable[[Any], Array]:
        return self._evaluated(None, *args)

    def evaluate_only(self, results: Sequence[Op]) -> Callable[..., Callable[[Any], Array]]:
        return partial(self._evaluated, {op.part for op in results if isinstance(op, Scan)})

    def _evaluated(self, wanted: set[Part] | None, *args: Array) -> Callable[[Any], Array]:
        run = ScanRun(self, args, wanted)
        run.all_steps()
        return lambda op: run.result(op.part)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return self.grad_all({node: bar})

    def grad_all(self, bars: Mapping[Tensor, Tensor]) -> Sequence[Tensor | None]:
        parts: Sequence[Tensor | None] = SERVICES["reverse"](self, bars)
        return parts

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        batched_scan: Tensor = SERVICES["batch_scan"](self, args, batched)
        return batched_scan

    def require(self, node: Tensor) -> Iterable[Requirement]:
        found: Iterable[Requirement] = SERVICES["loop_requirements"](self, node)
        return found

    def rows_done(self, count: int) -> int | None:
        """How many rows it has of a loop that did `count` steps; None if they are no rows of steps.

        Those that follow have no specified values.
        """
        match self.part.kind:
            case "history":
                return self.layout.states[self.part.number].depth + count
            case "collected" if self.part.number not in self.layout.reverse:
                return count
            case "collected" | "final" | "count":
                return None

    def key(self) -> str:
        return f"Scan({self.body.key()}, {self.layout!r}, {self.part!r}, {self.checks})"

    @property
    def label(self) -> str:
        return "scan"


class ScanRun:
    """One evaluation of a loop in NumPy, step by step.

    Of states whose rows of all steps are not wanted it has as many as the steps reach back: those
    of a large array, once for each step, would take all memory that there is.
    """

    def __init__(self, op: Scan, args: Sequence[Array], wanted: set[Part] | None) -> None:
        self.op = op
        steps, self.sequences, initial, self.others = op.split(args)
        self.steps = int(steps)
        self.count = 0
        self.histories = [list(rows) for rows in initial]
        self.collected: list[list[Array]] = [[] for _ in range(op.layout.collected)]
        self.args = args
        self.wanted = wanted

    def all_steps(self) -> None:
        """Every step, or as many as the body wants."""
        layout, step, look = self.op.layout, self.op.body.computed(), between.get()
        kept = [self.is_wanted(Part("history", n)) for n in range(len(layout.states))]
        given = [self.is_wanted(Part("collected", n)) for n in range(layout.collected)]
        while self.count < self.steps:
            if look is not None:
                look()
            values = step([*self.inputs()])
            states = len(layout.states)
            for history, value, is_kept in zip(self.histories, values, kept, strict=False):
                history.append(value)
                if not is_kept:
                    del history[0]
            for rows, value, is_kept in zip(self.collected, values[states:], given, strict=False):
                if is_kept:
                    rows.append(value)
            self.count += 1
            if layout.stops and bool(values[states + layout.collected]):
                break

    def is_wanted(self, part: Part) -> bool:
        """Whether somebody asks for one of the results."""
        return self.wanted is None or part in self.wanted

    def inputs(self) -> Iterator[Array]:
        """The values of the slots at this step."""
        t, layout = self.count, self.op.layout
        yield np.asarray(t, dtype=np.int64)
        for array, sequence in zip(self.sequences, layout.sequences, strict=True):
            for tap in sequence.taps:
                yield np.asarray(array[-1 - t - tap if sequence.backwards else t + tap])
        for history, state in zip(self.histories, layout.states, strict=True):
            for tap in state.taps:
                yield np.asarray(history[tap])
        yield from self.others

    def result(self, part: Part) -> Array:
        """The array of one part; rows of steps that were not done are 0."""
        match part.kind:
            case "count":
                return np.asarray(self.count, dtype=np.int64)
            case "history":
                depth = self.op.layout.states[part.number].depth
                return self.stacked(part.number, self.histories[part.number], depth + self.steps)
            case "final":
                depth = self.op.layout.states[part.number].depth
                rows = self.histories[part.number]
                return self.stacked(part.number, rows[len(rows) - depth :], depth)
            case "collected":
                number = len(self.op.layout.states) + part.number
                rows = self.collected[part.number]
                if part.number in self.op.layout.reverse:
                    rows = rows[::-1]
                return self.stacked(number, rows, self.steps)

    def stacked(self, number: int, rows: Sequence[Array], length: int) -> Array:
        """The rows as one array of this length."""
        result = self.op.body.results[number]
        shape = rows[0].shape if rows else self.row_shape(number)
        out = np.zeros((length, *shape), dtype=to_numpy(result.dtype))
        for at, row in enumerate(rows):
            out[at] = row
        return out

    def row_shape(self, number: int) -> tuple[int, ...]:
        """The shape of a row that no step computed, from the lengths of the arguments."""
        op = self.op
        outside = dict(zip(op.body.slots, op.given(self.args), strict=True))

        def length(size: Size) -> int:
            array, skip = outside[size.source]
            return int(array) if size.axis is None else array.shape[size.axis + skip]

        lengths = [substitute(dim, length) for dim in op.body.results[number].type.shape]
        return tuple(length for length in lengths if isinstance(length, int))
