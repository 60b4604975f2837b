"""What the nodes that are kept in memory read to be computed: the facts that scheduling decides on.

`Analysis.facts` is asked again whenever more nodes are stored. Each time it hands sets of stages
down the elements that they need (`elements.py`), every element after all that need it. A set is an
int with a bit for each stage, so that one pass serves all stages: the time is linear in the number
of elements, not in that of elements times stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, assert_never

from symc.codegen import ir
from symc.codegen.record import field, record
from symc.graph.dims import Dim
from symc.graph.lowering import (
    Alias,
    At,
    Control,
    Fold,
    HostCall,
    Index,
    LibCall,
    Lowering,
    Sweep,
    Write,
)
from symc.graph.node import Tensor
from symc.schedule.elements import AnyReader, Element, Elements, Place
from symc.schedule.views import memory_read

# An element that costs this many simple operations is computed once, not wherever it is read.
EXPENSIVE = 10.0


@record(frozen=False)
class Stage:
    """A node kept in memory, with what it is computed from.

    `loops` are the node's axes that are looped over (those not of length 1), outermost first;
    `reads` has each stored node it reads with the indexes it reads at, in terms of the variables
    ``i0, i1, ...`` (one for each axis) and ``r0, r1, ...`` (one for each folded extent). `column`
    tells a fold whose result, not its folded axis, is contiguous in what it reads.
    """

    node: Tensor
    lowering: Lowering
    loops: tuple[int, ...]
    reads: dict[Tensor, list[Index]] = field(default_factory=dict)
    column: bool = False

    @property
    def fusible(self) -> bool:
        """Whether it can share loops with other stages."""
        return isinstance(self.lowering, At | Fold)

    @property
    def shareable(self) -> int:
        """How many of its outer loops it may share: a column fold keeps its innermost one."""
        return len(self.loops) - (1 if self.column else 0) if self.fusible else 0


@record(frozen=False)
class Facts:
    """All stages, in order, and the nodes that are computed where they are read.

    `inlined` has the set of stages that compute each of those, bit n standing for stage n;
    `repeated` are those of them that some stage computes again in a loop they do not depend on.
    """

    stages: dict[Tensor, Stage] = field(default_factory=dict)
    inlined: dict[Tensor, int] = field(default_factory=dict)
    repeated: set[Tensor] = field(default_factory=set)


def members(stages: int) -> Iterator[int]:
    """The numbers of the stages in a set."""
    while stages:
        lowest = stages & -stages
        yield lowest.bit_length() - 1
        stages ^= lowest


def variable(axis: int) -> ir.Var:
    """The analysis' loop variable for an axis of the result."""
    return ir.Var(f"i{axis}")


def full_index(node: Tensor, dims: Iterable[Dim]) -> Index:
    """The analysis' index of a node's own element: 0 along axes of length 1."""
    return tuple(ir.const(0) if d == 1 else variable(a) for a, d in enumerate(dims))


class Analysis:
    """Finds what every stage reads, at which index, and what it computes on the way."""

    def __init__(
        self,
        order: Sequence[Tensor],
        lowering_of: Callable[[Tensor], Lowering],
        dims_of: Callable[[Tensor], tuple[Dim, ...]],
        sources: AbstractSet[Tensor],
    ) -> None:
        self._order = order
        self._lowering_of = lowering_of
        self._dims_of = dims_of
        self._kept = set(sources)
        self._elements = Elements(lowering_of, self._kept)
        self._needs: dict[Tensor, list[Element]] = {}

    def facts(self, stored: AbstractSet[Tensor], costs: dict[Tensor, float]) -> Facts:
        """The facts if these nodes are stored, and all that were stored before."""
        self._kept |= stored
        facts = Facts()
        for node in self._order:
            if node in stored:
                facts.stages[node] = self._stage(node, 1 << len(facts.stages))
        expensive = self._spread(facts, costs)
        for stage in facts.stages.values():
            stage.column = isinstance(stage.lowering, Fold) and _is_column(stage)
        facts.repeated = _repeated(facts, expensive)
        return facts

    def _stage(self, node: Tensor, itself: int) -> Stage:
        """The stage of a node, and among the users of all that it needs."""
        lowering = self._lowering_of(node)
        dims = self._dims_of(node)
        loops = tuple([axis for axis, dim in enumerate(dims) if dim != 1])
        stage = Stage(node, lowering, loops)
        if isinstance(lowering, LibCall | HostCall | Alias | Control):
            args: Iterable[Tensor] = node.args
            if isinstance(lowering, Control):
                read = {*memory_read(node), node.args[0]}
                args = [arg for arg in node.args[lowering.first :] if arg in read]
            for arg in args:
                if arg in self._kept:
                    stage.reads[arg] = [()]
            return stage
        needs = self._needs.get(node)
        if needs is None:
            readers = _readers(lowering, full_index(node, dims))
            needs = self._needs[node] = self._elements.needed(node, readers)
        for need in needs:
            need.users |= itself
        return stage

    def _spread(self, facts: Facts, costs: dict[Tensor, float]) -> list[tuple[Element, int]]:
        """Hands users down to the elements that they need; gives the expensive ones with theirs."""
        kept, inlined = self._kept, facts.inlined
        reads: list[tuple[Element, int]] = []
        expensive: list[tuple[Element, int]] = []
        for element in reversed(self._elements.order):
            users = element.users
            if not users:
                continue
            element.users = 0
            node = element.node
            if node in kept:
                reads.append((element, users))
                continue
            inlined[node] = inlined.get(node, 0) | users
            if costs[node] >= EXPENSIVE:
                expensive.append((element, users))
            for need in element.needs:
                need.users |= users
        stages = list(facts.stages.values())
        for element, users in reversed(reads):
            for number in members(users):
                stages[number].reads.setdefault(element.node, []).append(element.place.index)
        return expensive


def _repeated(facts: Facts, expensive: Sequence[tuple[Element, int]]) -> set[Tensor]:
    """The nodes of those elements that some user computes again in loops they do not depend on."""
    orders: dict[tuple[tuple[str, ...], bool], int] = {}
    for number, stage in enumerate(facts.stages.values()):
        order = _loop_order(stage), stage.column
        orders[order] = orders.get(order, 0) | 1 << number
    repeated: set[Tensor] = set()
    repeating: dict[Place, int] = {}  # the stages that would repeat what they read at a place
    for element, users in expensive:
        place = element.place
        if place not in repeating:
            repeating[place] = sum(
                [
                    stages
                    for (order, column), stages in orders.items()
                    if _recomputed(place.index, order, column=column)
                ]
            )
        if users & repeating[place]:
            repeated.add(element.node)
    return repeated


def _loop_order(stage: Stage) -> tuple[str, ...]:
    """The loop variables of a stage, outermost first; none where nothing can be moved out."""
    kept = tuple([f"i{axis}" for axis in stage.loops])
    match stage.lowering:
        case At() | Sweep():
            return kept
        case Fold(extents):
            folded = tuple([f"r{number}" for number in range(len(extents))])
            return (*kept[:-1], *folded, kept[-1]) if stage.column else (*kept, *folded)
        case Write() | LibCall() | HostCall() | Alias() | Control():
            return ()
        case _:
            assert_never(stage.lowering)


def _readers(lowering: Lowering, index: Index) -> Iterator[AnyReader]:
    """What computes the element of a stage at its own index."""
    match lowering:
        case At(element):
            yield element(index)
        case Fold(extents, element=folded):
            yield folded(index, _inner(extents))
        case Write(base, parts):
            if base is not None:
                yield base(index)
            for part in parts:
                inner = tuple([ir.Var(f"r{number}") for number in range(len(part.extents))])
                yield part.target(inner)
                yield part.value(inner)
        case Sweep(element=element, scale=scale):
            yield element(index)
            if scale is not None:
                yield scale(index)
        case LibCall() | HostCall() | Alias() | Control():
            pass  # they read whole buffers
        case _:
            assert_never(lowering)


def _inner(extents: Sequence[Dim]) -> Index:
    return tuple(
        [ir.const(0) if dim == 1 else ir.Var(f"r{number}") for number, dim in enumerate(extents)]
    )


def _is_column(stage: Stage) -> bool:
    """Whether the innermost kept axis, and no folded one, is contiguous in the arrays it reads.

    Of arrays that are read along either axis, those decide that are read along both.
    """
    if not stage.loops:
        return False
    kept = f"i{stage.loops[-1]}"
    along_kept = along_folded = columns = rows = 0
    for indexes in stage.reads.values():
        for index in indexes:
            if index:
                *before, last = map(variables, index)
                others = set[str]().union(*before)
                along_kept += kept in last
                columns += kept in last and not _is_folded(last) and _is_folded(others)
                along_folded += _is_folded(last)
                rows += _is_folded(last) and kept in others
    return (along_kept > 0 and along_folded == 0) or (columns > 0 and rows == 0)


def _is_folded(names: Iterable[str]) -> bool:
    """Whether one of these variables goes along a folded axis."""
    return any(name.startswith("r") for name in names)


def _recomputed(index: Index, order: Sequence[str], *, column: bool) -> bool:
    """Whether an element at this index would be computed again in a loop it does not depend on.

    Or in the loops of a `column` fold, outside of the innermost one: there it would be computed by
    itself, but with its neighbours in vector registers if it were stored.
    """
    used: set[str] = set()
    for expression in index:
        used |= variables(expression)
    positions = sorted(order.index(name) for name in used if name in order)
    if column and _is_folded(used) and order[-1] not in used:
        return True
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
