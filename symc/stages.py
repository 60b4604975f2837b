"""What a node that is kept in memory reads to be computed: the facts that scheduling decides on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from symc.codegen import ir
from symc.codegen.dtypes import INT64
from symc.dims import Dim
from symc.graph import Tensor
from symc.lowering import Alias, At, Fold, Index, LibCall, Lowering, Sweep, Write
from symc.tensor.elementwise import Elementwise, project
from symc.trace import Key, Tracer

# An element that costs this many simple operations is computed once, not wherever it is read.
EXPENSIVE = 10.0
_UNKNOWN = "?"


@dataclass(slots=True)
class Stage:
    """A node kept in memory, with all it is computed from.

    `loops` are the node's axes that are looped over (those not of length 1), outermost first;
    `reads` has each stored node it reads with the indexes it reads at, in terms of the variables
    ``i0, i1, ...`` (one for each axis) and ``r0, r1, ...`` (one for each folded extent). `column`
    tells a fold whose result, not its folded axis, is contiguous in what it reads.
    """

    node: Tensor
    lowering: Lowering
    loops: tuple[int, ...]
    reads: dict[Tensor, list[Index]] = field(default_factory=dict)
    inlined: dict[Tensor, float] = field(default_factory=dict)
    repeated: set[Tensor] = field(default_factory=set)
    column: bool = False

    @property
    def fusible(self) -> bool:
        """Whether it can share loops with other stages."""
        return isinstance(self.lowering, At | Fold)

    @property
    def shareable(self) -> int:
        """How many of its outer loops it may share: a column fold keeps its innermost one."""
        return len(self.loops) - (1 if self.column else 0) if self.fusible else 0


def variable(axis: int) -> ir.Var:
    """The analysis' loop variable for an axis of the result."""
    return ir.Var(f"i{axis}")


def full_index(node: Tensor, dims: Iterable[Dim]) -> Index:
    """The analysis' index of a node's own element: 0 along axes of length 1."""
    return tuple(ir.const(0) if d == 1 else variable(a) for a, d in enumerate(dims))


class Analysis:
    """Traces every stage once, computing only what is read, at which index, and at what cost."""

    def __init__(
        self,
        lowering_of: Callable[[Tensor], Lowering],
        is_stored: Callable[[Tensor], bool],
        dims_of: Callable[[Tensor], tuple[Dim, ...]],
        costs: dict[Tensor, float],
    ) -> None:
        self._lowering_of = lowering_of
        self._is_stored = is_stored
        self._dims_of = dims_of
        self._costs = costs

    def stage(self, node: Tensor) -> Stage:
        """The facts about one stored node."""
        dims = self._dims_of(node)
        lowering = self._lowering_of(node)
        loops = tuple(axis for axis, dim in enumerate(dims) if dim != 1)
        stage = Stage(node, lowering, loops)
        index = full_index(node, dims)
        expensive: dict[Index, list[Tensor]] = {}

        def stored(read: Tensor, at: Index) -> ir.Expr | None:
            if not self._is_stored(read):
                return None
            stage.reads.setdefault(read, []).append(at)
            return ir.Var(_UNKNOWN, read.dtype)

        def note(read: Tensor, at: Index) -> None:
            cost = stage.inlined[read] = self._costs[read]
            if cost >= EXPENSIVE:
                expensive.setdefault(at, []).append(read)

        def name(read: Tensor, at: Index, value: ir.Expr) -> ir.Expr:
            note(read, at)
            # Index arithmetic stays visible (a gather at arange(n) is the identity); the rest not.
            small = isinstance(value, ir.Var | ir.Const | ir.Binary) and value.dtype is INT64
            return value if small else ir.Var(_UNKNOWN, read.dtype)

        tracer = _Facts(self._lowering_of, stored, name, note)
        match lowering:
            case At():
                tracer.run(node, lowering.element(index))
                order = [f"i{axis}" for axis in loops]
            case Fold():
                inner = tuple(
                    ir.const(0) if extent == 1 else ir.Var(f"r{number}")
                    for number, extent in enumerate(lowering.extents)
                )
                tracer.run(node, lowering.element(index, inner))
                stage.column = _is_column(stage, dims)
                order = loop_order(stage, len(inner))
            case Write():
                _trace_write(tracer, node, lowering, index)
                order = []
            case Sweep():
                tracer.run(node, lowering.element(index))
                if lowering.scale is not None:
                    tracer.run(node, lowering.scale(index))
                order = [f"i{axis}" for axis in loops]
            case LibCall() | Alias():
                for arg in node.args:
                    stored(arg, ())
                order = []
        for at, nodes in expensive.items():
            if _recomputed(at, order):
                stage.repeated.update(nodes)
        return stage


class _Facts(Tracer):
    """A tracer that makes no expressions of floats computed elementwise: it only notes them."""

    def __init__(
        self,
        lowering_of: Callable[[Tensor], Lowering],
        stored: Callable[[Tensor, Index], ir.Expr | None],
        name: Callable[[Tensor, Index, ir.Expr], ir.Expr],
        note: Callable[[Tensor, Index], None],
    ) -> None:
        super().__init__(lowering_of, stored, name)
        self._note = note
        self._open: dict[Key, list[Key]] = {}

    def elementwise(self, key: Key) -> Key | None:
        if not key[0].type.dtype.is_float:
            return super().elementwise(key)
        pending = self._open.get(key)
        if pending is None:
            pending = self._open[key] = self._cone(*key)
        while pending:
            missing = pending.pop()
            if missing not in self.memo:
                return missing
        del self._open[key]
        return None

    def _cone(self, node: Tensor, index: Index) -> list[Key]:
        """Notes all that is computed elementwise for an element; gives what else it needs."""
        others: list[Key] = []
        seen: set[Tensor] = set()  # at this very index: to ask for those costs no hash of an index
        stack = [(node, index)]
        self._visit(node, index)
        while stack:
            current, at = stack.pop()
            for arg in current.args:
                place = project(at, arg.type.shape)
                if place is index:
                    if arg in seen:
                        continue
                    seen.add(arg)
                if self.find(arg, place) is not None:
                    continue
                if isinstance(arg.op, Elementwise) and arg.type.dtype.is_float:
                    self._visit(arg, place)
                    stack.append((arg, place))
                else:
                    others.append((arg, place))
        return others

    def _visit(self, node: Tensor, index: Index) -> None:
        self._note(node, index)
        self.memo[node, index] = ir.Var(_UNKNOWN, node.type.dtype)


def _trace_write(tracer: Tracer, node: Tensor, write: Write, index: Index) -> None:
    if write.base is not None:
        tracer.run(node, write.base(index))
    for part in write.parts:
        inner = tuple(ir.Var(f"r{number}") for number in range(len(part.extents)))
        tracer.run(node, part.target(inner))
        tracer.run(node, part.value(inner))


def loop_order(stage: Stage, folded: int) -> list[str]:
    """The loop variables of a stage, outermost first."""
    kept = [f"i{axis}" for axis in stage.loops]
    inner = [f"r{number}" for number in range(folded)]
    return [*kept[:-1], *inner, kept[-1]] if stage.column else [*kept, *inner]


def _is_column(stage: Stage, dims: tuple[Dim, ...]) -> bool:
    """Whether the innermost kept axis, and no folded one, is contiguous in the arrays it reads."""
    if not stage.loops:
        return False
    kept = f"i{stage.loops[-1]}"
    along_kept = along_folded = 0
    for indexes in stage.reads.values():
        for index in indexes:
            if index:
                names = variables(index[-1])
                along_kept += kept in names
                along_folded += any(name.startswith("r") for name in names)
    return along_kept > 0 and along_folded == 0


def _recomputed(index: Index, order: list[str]) -> bool:
    """Whether an element at this index would be computed again in a loop it does not depend on."""
    used: set[str] = set()
    for expression in index:
        used |= variables(expression)
    positions = sorted(order.index(name) for name in used if name in order)
    return positions != list(range(len(positions)))


def variables(expression: ir.Expr) -> set[str]:
    """The names of the variables in an (index) expression."""
    found: set[str] = set()
    pending: list[Any] = [expression]
    while pending:
        match pending.pop():
            case ir.Var(name):
                found.add(name)
            case ir.Unary(_, x) | ir.Cast(x):
                pending.append(x)
            case ir.Binary(_, left, right):
                pending += [left, right]
            case ir.Call(_, args):
                pending += args
            case ir.Select(c, then, otherwise):
                pending += [c, then, otherwise]
            case ir.Load(_, index):
                pending.append(index)
            case _:
                pass
    return found
