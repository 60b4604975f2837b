"""A PyTensor graph as steps: functions of symc's, and Ops between them that Python performs.

Values have levels. A node of numbers belongs to the function of its inputs' highest level; a node
that is performed in Python (it draws from a NumPy Generator, it has no converter) comes after the
function of that level, and its results are one level higher. So a graph without such nodes is one
function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.shape import Shape, Shape_i

from symc.calls.function import function
from symc.graph.node import Tensor
from symc.pytensor.conversion import (
    LARGE,
    Conversion,
    NoConversion,
    OnHost,
    is_numeric,
    line_of,
    new_input,
    symc_funcify,
)
from symc.pytensor.convert.inner_graphs import inlined
from symc.pytensor.host_ops import performer
from symc.pytensor.inventory import refusal


@dataclass(eq=False, slots=True)
class Value:
    """A value of the graph: its variable, its level, and where it is kept in a call."""

    variable: Any
    level: int
    number: int = -1
    data: Any = None
    is_constant: bool = False


@dataclass(frozen=True)
class Computed:
    """A function of symc's: the numbers of its arguments and results, and constants it is given."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    function: Any
    constants: tuple[Any, ...]


@dataclass(frozen=True)
class Performed:
    """An Op that Python performs: on values, or on constants."""

    node: Any
    inputs: tuple[Value, ...]
    outputs: tuple[int, ...]
    run: Callable[[Sequence[Any]], Sequence[Any]]
    reason: str


@dataclass(frozen=True)
class StepPlan:
    """The steps of a graph, in order, and where its inputs and outputs are kept."""

    steps: tuple[Computed | Performed, ...]
    inputs: tuple[int, ...]
    outputs: tuple[Value, ...]
    size: int

    @property
    def functions(self) -> list[Any]:
        """symc's functions, in the order of their calls."""
        return [step.function for step in self.steps if isinstance(step, Computed)]


class Segment(Conversion):
    """The nodes of one level as a function in the making."""

    def __init__(self, random: str = "numpy") -> None:
        super().__init__(random)
        self.given: list[tuple[Value, Tensor]] = []
        self.known: dict[Value, Any] = {}

    def tensor(self, value: Value) -> Any:
        """The tensor of a value: one computed here, an input, or a constant."""
        if value in self.known:
            return self.known[value]
        if value.is_constant:
            return self.constant(value.data)
        if not self.holds(value.variable):
            raise OnHost(f"its argument of {value.variable.type} is no array")
        made = new_input(value.variable)
        self.known[value] = made
        self.given.append((value, made))
        return made


@dataclass
class Planner:
    """A plan in the making."""

    random: str = "numpy"
    values: int = 0
    segments: list[Segment] = field(default_factory=list[Segment])
    performed: list[list[Performed]] = field(default_factory=list[list[Performed]])

    def value(self, variable: Any, level: int) -> Value:
        """A new value."""
        self.values += 1
        while len(self.segments) <= level:
            self.segments.append(Segment(self.random))
            self.performed.append([])
        return Value(variable, level, self.values - 1)

    def walk(self, fgraph: Any, env: dict[Any, Value]) -> list[Value]:
        """Places all nodes of a graph; gives the values of its outputs."""
        for node in fgraph.toposort():
            args = [value_of(v, env) for v in node.inputs]
            env.update(zip(node.outputs, self.place(node, args), strict=True))
        return [value_of(v, env) for v in fgraph.outputs]

    def place(self, node: Any, args: Sequence[Value]) -> list[Value]:
        """The values of a node's results: converted, or performed."""
        op = node.op
        if isinstance(op, OpFromGraph) and symc_funcify.dispatch(type(op)) is inlined:
            return self.walk(op.fgraph, dict(zip(op.fgraph.inputs, args, strict=True)))
        if (folded := _folded(node, args)) is not None:
            return folded
        level = max((a.level for a in args if not a.is_constant), default=0)
        self.value(None, level)  # so that the level is there
        segment = self.segments[level]
        try:
            tensors = segment.node(node, [segment.tensor(a) for a in args])
        except OnHost as reason:
            return self.perform(node, args, level, str(reason))
        made = [self.value(v, level) for v in node.outputs]
        segment.known.update(zip(made, tensors, strict=True))
        return made

    def perform(self, node: Any, args: Sequence[Value], level: int, reason: str) -> list[Value]:
        """The values of a node that Python performs."""
        run = performer(node, self.random)
        if run is None:
            kind = f"{type(node.op).__module__}.{type(node.op).__qualname__}"
            why = refusal(node) or f"{reason}, and PyTensor cannot perform it in Python"
            raise NoConversion(
                f"no symc conversion for the Op {kind}: {why}\n"
                f"  op  {node.op}\n  at  {line_of(node.outputs[0])}"
            )
        made = [self.value(v, level + 1) for v in node.outputs]
        numbers = tuple(m.number for m in made)
        self.performed[level].append(Performed(node, tuple(args), numbers, run, reason))
        return made


def _folded(node: Any, args: Sequence[Value]) -> list[Value] | None:
    """The values of a node that computes whole numbers from constants: lengths and places, mostly.

    Types say more where these are known; PyTensor's own folding goes through all of a graph, often.
    """
    if isinstance(node.op, Shape | Shape_i):
        lengths = node.inputs[0].type.shape
        wanted = lengths if isinstance(node.op, Shape) else lengths[node.op.i : node.op.i + 1]
        if None in wanted:
            return None
        data = np.array(wanted if isinstance(node.op, Shape) else wanted[0], dtype=np.int64)
        return [Value(node.outputs[0], 0, data=data, is_constant=True)]
    if not all(a.is_constant for a in args) or not _is_short_whole(node, args):
        return None
    if (run := performer(node)) is None:
        return None
    made = run([a.data for a in args])
    pairs = zip(node.outputs, made, strict=True)
    return [Value(v, 0, data=v.type.filter(data), is_constant=True) for v, data in pairs]


def _is_short_whole(node: Any, args: Sequence[Value]) -> bool:
    """Whether the results of a node have integers or truth values, and surely not many."""
    if not all(
        is_numeric(v) and np.dtype(v.type.dtype).kind in "iub"
        for v in [*node.inputs, *node.outputs]
    ):
        return False
    lengths = [n for v in node.outputs for n in getattr(v.type, "shape", ())]
    if None not in lengths:
        return all(math.prod(getattr(v.type, "shape", ())) <= LARGE for v in node.outputs)
    # A range for each row: symc has no form for it, as it knows the lengths of ranges by numbers.
    return isinstance(node.op, Blockwise) and all(np.all(np.abs(a.data) <= LARGE) for a in args)


def value_of(variable: Any, env: Mapping[Any, Value]) -> Value:
    """The value of a variable of a graph."""
    found = env.get(variable)
    if found is not None:
        return found
    assert isinstance(variable, Constant), variable
    return Value(variable, 0, data=variable.data, is_constant=True)


def plan(
    fgraph: Any, *, name: str = "pytensor", mode: str | None = None, random: str = "numpy"
) -> StepPlan:
    """The steps that compute a PyTensor graph; `random` as in `Conversion`."""
    planner = Planner(random)
    inputs = [planner.value(v, 0) for v in fgraph.inputs]
    outputs = planner.walk(fgraph, dict(zip(fgraph.inputs, inputs, strict=True)))
    needed = _needed(planner, outputs)
    place = {value: at for at, value in enumerate(outputs)}
    steps: list[Computed | Performed] = []
    for level, segment in enumerate(planner.segments):
        wanted = [v for v in segment.known if v in needed and _is_computed(v, segment)]
        # In the order of the graph's outputs, so that the results of one function are these.
        wanted.sort(key=lambda value: place.get(value, len(place)))
        if wanted:
            steps.append(
                _compiled(segment, wanted, name if level == 0 else f"{name}_{level}", mode)
            )
        steps.extend(planner.performed[level])
    return StepPlan(tuple(steps), tuple(v.number for v in inputs), tuple(outputs), planner.values)


def _is_computed(value: Value, segment: Segment) -> bool:
    return all(value is not given for given, _ in segment.given)


def _needed(planner: Planner, outputs: Sequence[Value]) -> set[Value]:
    """The values that are used outside the function of their level."""
    needed = set(outputs)
    for each in planner.performed:
        for step in each:
            needed.update(step.inputs)
    for segment in planner.segments:
        needed.update(value for value, _ in segment.given)
    return needed


def _compiled(segment: Segment, wanted: Sequence[Value], name: str, mode: str | None) -> Computed:
    segment.given.sort(key=lambda pair: pair[0].number)  # as the graph has its inputs
    given = [tensor for _, tensor in segment.given]
    large = [tensor for tensor, _ in segment.large]
    made = function(
        [*given, *large],
        [segment.known[value] for value in wanted],
        on_unused_input="ignore",
        name=name,
        mode=mode,
    )
    return Computed(
        tuple(value.number for value, _ in segment.given),
        tuple(value.number for value in wanted),
        made,
        tuple(array for _, array in segment.large),
    )
