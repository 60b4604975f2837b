"""Graphs made ready for the interpreter: computed many times, or in a call that must not wait.

    steps       nodes in order; each has places for its value and arguments, and knows which
                values nobody reads after it
    checks      a condition is checked as soon as it is known, before what it guards
    rows        neighbouring steps that go through their arguments row by row, see `rows.py`

A `Computation` is not changed by running; values are in a list that each run has for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias

import numpy as np

from symc.errors import MissingInput
from symc.graph.bfloat16 import computed, of_all, rounded
from symc.graph.dims import Dim, Poly, Size, sizes, substitute
from symc.graph.inputs import Constant, Input, Shared
from symc.graph.loop_lines import naming_line
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.rows import RowBlocks, by_levels
from symc.graph.steps import ConditionStep, Step
from symc.graph.types import to_numpy
from symc.graph.walks import walk, walk_within

Condition: TypeAlias = tuple[Tensor, Requirement]

between: ContextVar[Callable[[], None] | None] = ContextVar("between", default=None)
"""Called between the steps of computations and of loops in them; what it raises ends a run."""


class Computation:
    """Outputs as a function of given tensors, under conditions.

    With `by_rows` large arrays are computed by blocks of rows, if a run is told how large they are.
    """

    def __init__(
        self,
        given: Sequence[Tensor],
        outputs: Sequence[Tensor],
        conditions: Sequence[Condition] = (),
        *,
        by_rows: bool = False,
    ) -> None:
        self._given = tuple(given)
        # Code of the user's is to see NumPy's warnings as they are set.
        self._is_quiet = not any(node.op.is_users for node in walk_within(outputs))
        self._blank: list[Any] = [None] * len(given)
        self._places: dict[Any, int] = {node: place for place, node in enumerate(given)}
        self._siblings = siblings_in(
            walk([*outputs, *_needed_by(conditions)], stop=self._places.__contains__)
        )
        steps: list[Step | ConditionStep | RowBlocks] = []
        for _, requirement in conditions:
            needed = list(_needed(requirement.holds))
            steps += self._steps(walk(needed, stop=self._places.__contains__))
            places = tuple(self._places[node] for node in needed)
            steps.append(ConditionStep(self._holding(requirement.holds), places, requirement))
        rest = walk(outputs, stop=self._places.__contains__)
        last = self._steps(rest)
        self._outputs = [self._places[output] for output in outputs]
        if by_rows:
            last = by_levels(last, self._place)
        self.program = _without_dead([*steps, *last], self._outputs)
        self._own = {self._places[node] for node in rest if _makes_arrays(node)}
        self._shared = [node.op for node in rest if isinstance(node.op, Shared)]

    def run(
        self, given: Sequence[Array], bytes_of: Mapping[Tensor, int] | None = None
    ) -> list[Array]:
        """The outputs for some values of the given tensors."""
        if not self._is_quiet:
            return self._run(given, bytes_of)
        with np.errstate(all="ignore"):
            return self._run(given, bytes_of)

    def _run(self, given: Sequence[Array], bytes_of: Mapping[Tensor, int] | None) -> list[Array]:
        values = [*given, *self._blank[len(given) :]]
        look = between.get()
        for step in self.program:
            if look is not None:
                look()
            match step:
                case Step():
                    step.run(values)
                case ConditionStep():
                    step.run(values, dict(zip(self._given, given, strict=True)))
                case RowBlocks():
                    step.run(values, bytes_of or {}, look)
        return [values[place] for place in self._outputs]

    def unshared(self, given: Sequence[Array], outputs: Sequence[Array]) -> list[Array]:
        """The outputs of a run as arrays that nobody else has: most are so already."""
        held = (variable.evaluate() for variable in self._shared)
        known = {id(array) for array in (*given, *self._blank, *held)}
        result: list[Array] = []
        for place, value in zip(self._outputs, outputs, strict=True):
            is_own = place in self._own and value.base is None and id(value) not in known
            result.append(value if is_own and value.flags.owndata else np.array(value))
            known.add(id(value))
        return result

    def _place(self, value: Any = None) -> int:
        self._blank.append(value)
        return len(self._blank) - 1

    def _steps(self, order: Iterable[Tensor]) -> list[Any]:
        """Steps for the nodes that have no place yet."""
        steps: list[Step] = []
        for node in order:
            if node in self._places:
                continue
            op = node.op
            if isinstance(op, Input):
                raise MissingInput(f"no value was given for {node!r}")
            if isinstance(op, Constant):
                self._places[node] = self._place(op.value)
                continue
            args = tuple(self._places[arg] for arg in node.args)
            compute = computed(node, op.in_quiet(node) if self._is_quiet else op.evaluate)
            compute = naming_line(node, compute)
            common = op.common()
            if common is not None:
                key = (common, *node.args)
                if key not in self._places:
                    self._places[key] = self._place()
                    everything = naming_line(node, of_all(node, all_of(node, self._siblings)))
                    steps.append(Step(node, everything, args, self._places[key], (), None))
                compute, args = _result_of(node), (self._places[key],)
            self._places[node] = self._place()
            kind = None if isinstance(op, Shared) else (to_numpy(node.dtype), node.ndim)
            steps.append(Step(node, compute, args, self._places[node], (), kind))
        return steps

    def _holding(self, holds: Tensor | tuple[Dim, Dim]) -> Callable[[Sequence[Any]], bool]:
        if isinstance(holds, Tensor):
            place = self._places[holds]
            return lambda values: bool(np.all(values[place]))
        left, right = map(self._length, holds)
        return lambda values: left(values) == right(values)

    def _length(self, dim: Dim) -> Callable[[Sequence[Any]], Any]:
        """A length as a function of the values."""
        if not isinstance(dim, Poly):
            return lambda _: dim
        places = {size: self._places[size.source] for size in sizes(dim)}
        if len(places) == 1 and dim.terms == ((tuple(places), 1),):  # as nearly always
            ((size, place),) = places.items()
            axis = size.axis
            if axis is None:
                return lambda values: int(values[place])
            return lambda values: values[place].shape[axis]

        def length(values: Sequence[Any]) -> Any:
            def value(size: Size) -> int:
                array = values[places[size]]
                return int(array) if size.axis is None else array.shape[size.axis]

            return substitute(dim, value)

        return length


def siblings_in(order: Iterable[Tensor]) -> dict[Any, list[Op]]:
    """The ops of nodes that are computed together, by what they have in common."""
    found: dict[Any, list[Op]] = {}
    for node in order:
        common = node.op.common()
        if common is not None:
            found.setdefault((common, *node.args), []).append(node.op)
    return found


def all_of(
    node: Tensor, siblings: Mapping[Any, Sequence[Op]]
) -> Callable[..., Callable[[Any], Array]]:
    """What computes all results of a node's computation that are wanted."""
    return node.op.evaluate_only(siblings[(node.op.common(), *node.args)])


def _makes_arrays(node: Tensor) -> bool:
    """Whether an op computes its values itself: nobody else keeps those, but for its arguments.

    A loop may pass a constant on, a user's op what it remembers.
    """
    op = node.op
    return op.common() is None and not (op.is_control or op.is_users or isinstance(op, Shared))


def _result_of(node: Tensor) -> Callable[[Any], Any]:
    def result(together: Callable[[Any], Any]) -> Any:
        return rounded(node, together(node.op))

    return result


def _needed_by(conditions: Iterable[Condition]) -> Iterator[Tensor]:
    for _, requirement in conditions:
        yield from _needed(requirement.holds)


def _needed(holds: Tensor | tuple[Dim, Dim]) -> Iterator[Tensor]:
    """The tensors that a condition is about."""
    if isinstance(holds, Tensor):
        yield holds
    else:
        for dim in holds:
            yield from (size.source for size in sizes(dim))


def _without_dead(
    program: Sequence[Step | ConditionStep | RowBlocks], outputs: Sequence[int]
) -> list[Step | ConditionStep | RowBlocks]:
    """The steps, each of which forgets what no later one reads: places above the given ones'."""
    read = set(outputs)
    found: list[Step | ConditionStep | RowBlocks] = []
    for step in reversed(program):
        match step:
            case ConditionStep():
                read |= set(step.args)
            case Step():
                step = step.forgetting(read)
                read |= set(step.args)
            case RowBlocks():
                step = step.forgetting(read)
                read |= step.reads
        found.append(step)
    return found[::-1]
