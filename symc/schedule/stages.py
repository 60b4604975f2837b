"""The elements that each node kept in memory is computed from: the facts scheduling decides on.

`Analysis.facts` is asked again whenever more nodes are stored. Each time it hands sets of stages
down the elements that they need (`elements.py`), every element after all that need it. A set is an
int with a bit for each stage, so that one pass serves all stages: the time is linear in the number
of elements, not in that of elements times stages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import prod
from typing import Any, assert_never

from symc.codegen import ir
from symc.codegen.record import field, record
from symc.graph.dims import Dim
from symc.graph.formulas import Index, folded_axis, folded_index, own_axis
from symc.graph.lowering import (
    Alias,
    At,
    Control,
    Fold,
    HostCall,
    LibCall,
    Lowering,
    Sweep,
    Write,
)
from symc.graph.node import REPEATED, Tensor
from symc.schedule.elements import UNKNOWN, Asked, Element, ElementPlace, Elements
from symc.schedule.views import memory_read
from symc.tensor.elementwise import Cast, Elementwise

WRITTEN_OUT = 8  # elements of a fold
WORTH = 32.0  # operations for each element, to write it to memory, and read it there
WORTH_IF_DEAR = 8.0  # of which one takes long in vector registers, too
CANDIDATES = 24  # nodes that are looked at, those which are needed at the most places


@record
class Stage:
    """A node kept in memory, with the elements that it is computed from.

    `loops` are the node's axes that are looped over (those not of length 1), outermost first;
    `reads` has each stored node it reads with the indexes it reads at, in terms of the variables of
    formulas: ``i[0], i[1], ...`` (one for each axis) and ``r[0], r[1], ...`` (one for each folded
    extent). `column` tells a fold whose result, not its folded axis, is contiguous in the arrays it
    reads.
    """

    node: Tensor
    lowering: Lowering
    loops: tuple[int, ...]
    reads: Mapping[Tensor, Sequence[Index]]
    column: bool

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
    `repeated` are those of them that some stage computes again in a loop they do not depend on, or
    at so many places that it had better read them there.
    """

    stages: dict[Tensor, Stage] = field(default_factory=dict)
    inlined: dict[Tensor, int] = field(default_factory=dict)
    repeated: set[Tensor] = field(default_factory=set)


@record
class Saving:
    """What is saved for each element if a node is stored, instead of computed at each place."""

    node: Tensor
    operations: float
    is_worth_it: bool
    needs: AbstractSet[Tensor]
    """The nodes that it is computed from, those in memory left out."""


def members(stages: int) -> Iterator[int]:
    """The numbers of the stages in a set."""
    while stages:
        lowest = stages & -stages
        yield lowest.bit_length() - 1
        stages ^= lowest


def full_index(node: Tensor, dims: Iterable[Dim]) -> Index:
    """The analysis' index of a node's own element: 0 along axes of length 1."""
    return tuple([ir.const(0) if d == 1 else own_axis(a) for a, d in enumerate(dims)])


class Analysis:
    """Finds the elements that every stage reads, at which index, and those computed on the way."""

    def __init__(
        self,
        order: Sequence[Tensor],
        lowerings: Mapping[Tensor, Lowering],
        dims: Mapping[Tensor, tuple[Dim, ...]],
        sources: AbstractSet[Tensor],
    ) -> None:
        self._order = order
        self._lowerings = lowerings
        self._dims = dims
        self._kept = set(sources)
        self._elements = Elements(lowerings, self._kept)
        self._needs: dict[Tensor, list[Element]] = {}
        self._places: dict[Tensor, list[tuple[Element, int]]] = {}  # of nodes, with their users
        self._needs_of_parts: dict[Tensor, list[list[Element]]] = {}  # of what is written in parts

    def facts(self, stored: AbstractSet[Tensor], costs: dict[Tensor, float]) -> Facts:
        """The facts if these nodes are stored, and all that were stored before."""
        self._kept |= stored
        nodes = [node for node in self._order if node in stored]
        reads = [self._ask(node, 1 << number) for number, node in enumerate(nodes)]
        facts = Facts()
        self._places.clear()
        expensive = self._spread(reads, facts.inlined, costs)
        for node, found in zip(nodes, reads, strict=True):
            facts.stages[node] = self._stage(node, found)
        facts.repeated = _repeated(facts, expensive) | self._read_apart(facts)
        return facts

    def _read_apart(self, facts: Facts) -> set[Tensor]:
        """The nodes that a stage needs at several places, and which save most if they are stored.

        Neighbours' functions, say, or sums of sums of neighbours: each place is computed anew. Of
        those that are made from each other, one is stored at a time.
        """
        places = self._most_places(facts)
        if not places:
            return set()
        fewest: dict[Tensor, int] = {}  # of those that read a node
        for node in self._order:
            if node in facts.inlined or node in facts.stages:
                for arg in node.args:
                    fewest[arg] = min(places.get(node, 1), fewest.get(arg, places.get(node, 1)))
        several = [
            node
            for node in self._order
            if places.get(node, 1) > fewest.get(node, 1) and isinstance(node.op, Elementwise | Cast)
        ]
        several.sort(key=places.__getitem__, reverse=True)
        savings = [self._saving(node, places) for node in several[:CANDIDATES]]
        savings.sort(key=lambda saving: saving.operations, reverse=True)
        found: dict[Tensor, Saving] = {}
        for saving in savings:
            node = saving.node
            apart = found.keys().isdisjoint(saving.needs)
            if (
                saving.is_worth_it
                and apart
                and not any(node in one.needs for one in found.values())
            ):
                found[node] = saving
        return set(found)

    def _saving(self, node: Tensor, places: Mapping[Tensor, int]) -> Saving:
        """What is saved if a node is stored: all that is computed for it at more than one place."""
        first = self._places[node][0][0]
        counts = Counter[Tensor]()
        seen = {id(first)}
        pending = [first]
        while pending:
            element = pending.pop()
            counts[element.node] += 1
            new = [need for need in element.needs if need.node not in self._kept]
            for need in new:
                if id(need) not in seen:
                    seen.add(id(need))
                    pending.append(need)
        more = {n: places.get(n, 1) - count for n, count in counts.items() if n.ndim}
        operations = sum([n.op.cost * count for n, count in more.items() if count > 0])
        is_dear = any(n.op.cost >= REPEATED and count > 0 for n, count in more.items())
        worth = WORTH_IF_DEAR if is_dear else WORTH
        return Saving(node, operations, operations >= worth, counts.keys() - {node})

    def _most_places(self, facts: Facts) -> dict[Tensor, int]:
        """At how many places one stage needs a node, of those that are needed at several."""
        joined = {
            number: self._places_in_parts(node)
            for number, (node, stage) in enumerate(facts.stages.items())
            if isinstance(stage.lowering, Write) and len(self._needs_of_parts.get(node, ())) > 1
        }
        found: dict[Tensor, int] = {}
        for node, uses in self._places.items():
            if len(uses) > 1 and node.ndim:
                counts = Counter(number for _, users in uses for number in members(users))
                for number in counts.keys() & joined.keys():
                    counts[number] = max(part[node] for part in joined[number])
                most = max(counts.values())
                if most > 1:
                    found[node] = most
        return found

    def _places_in_parts(self, stage: Tensor) -> list[Counter[Tensor]]:
        """For each part of a stage, at how many places it needs each node that it computes."""
        found: list[Counter[Tensor]] = []
        for needs in self._needs_of_parts[stage]:
            pending = [need for need in needs if need.node not in self._kept]
            seen = {id(need): need for need in pending}
            while pending:
                for need in pending.pop().needs:
                    if id(need) not in seen and need.node not in self._kept:
                        seen[id(need)] = need
                        pending.append(need)
            found.append(Counter(need.node for need in seen.values()))
        return found

    def reads_of(self) -> dict[Tensor, set[Tensor]]:
        """The nodes of which a node reads elements, where it is computed from elements."""
        found: dict[Tensor, set[Tensor]] = {}
        for element in self._elements.order:
            found.setdefault(element.node, set()).update(need.node for need in element.needs)
        for node, needs in self._needs.items():
            found[node] = {need.node for need in needs}
        return found

    def _ask(self, node: Tensor, itself: int) -> dict[Tensor, list[Index]]:
        """The reads of a stage of whole buffers; of others, puts the stage among the users of the
        elements that it needs."""
        lowering = self._lowerings[node]
        if isinstance(lowering, LibCall | HostCall | Alias | Control):
            first = lowering.first if isinstance(lowering, Control) else 0
            args = node.args[first:]
            if isinstance(lowering, Control):
                read = {*memory_read(node), node.args[0]}
                args = tuple([arg for arg in args if arg in read])
            return {arg: [()] for arg in args if arg in self._kept}
        needs = self._needs.get(node)
        if needs is None:
            opened = list(_asked(lowering, full_index(node, self._dims[node])))
            needs = self._needs[node] = self._elements.needed(node, opened)
            if isinstance(lowering, Write):
                self._needs_of_parts[node] = _by_parts(lowering, opened)
        for need in needs:
            need.users |= itself
        return {}

    def _stage(self, node: Tensor, reads: Mapping[Tensor, Sequence[Index]]) -> Stage:
        lowering = self._lowerings[node]
        loops = tuple([axis for axis, dim in enumerate(self._dims[node]) if dim != 1])
        column = isinstance(lowering, Fold) and bool(loops) and _is_column(loops[-1], reads)
        return Stage(node, lowering, loops, reads, column and not _is_written_out(lowering))

    def _spread(
        self,
        found: Sequence[dict[Tensor, list[Index]]],
        inlined: dict[Tensor, int],
        costs: dict[Tensor, float],
    ) -> list[tuple[Element, int]]:
        """Hands users down to the elements that they need, and to each its reads, of which `found`
        has those so far; gives the expensive elements with their users."""
        kept = self._kept
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
            if costs[node] > 1:
                self._places.setdefault(node, []).append((element, users))
            if costs[node] >= REPEATED:
                expensive.append((element, users))
            for need in element.needs:
                need.users |= users
        for element, users in reversed(reads):
            for number in members(users):
                found[number].setdefault(element.node, []).append(element.place.index)
        return expensive


def _by_parts(lowering: Write, opened: Sequence[Asked]) -> list[list[Element]]:
    """What each of the loops needs that a stage has side by side, for other elements of it each."""
    needs = [asked.needs for asked in opened]
    base = [] if lowering.base is None else [needs[0]]
    targets, values = needs[len(base) :: 2], needs[len(base) + 1 :: 2]
    return [*base, *([*a, *b] for a, b in zip(targets, values, strict=True))]


def _repeated(facts: Facts, expensive: Sequence[tuple[Element, int]]) -> set[Tensor]:
    """The nodes of those elements that some user computes again in loops they do not depend on."""
    orders: dict[tuple[tuple[str, ...], bool], int] = {}
    for number, stage in enumerate(facts.stages.values()):
        order = _loop_order(stage), stage.column
        orders[order] = orders.get(order, 0) | 1 << number
    repeated: set[Tensor] = set()
    repeating: dict[ElementPlace, int] = {}  # the stages that would repeat their reads at a place
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
    kept = tuple([own_axis(axis).name for axis in stage.loops])
    match stage.lowering:
        case At() | Sweep():
            return kept
        case Fold(extents):
            folded = tuple([folded_axis(number).name for number in range(len(extents))])
            return (*kept[:-1], *folded, kept[-1]) if stage.column else (*kept, *folded)
        case Write() | LibCall() | HostCall() | Alias() | Control():
            return ()
        case _:
            assert_never(stage.lowering)


def _asked(lowering: Lowering, index: Index) -> Iterator[Asked]:
    """The readers that compute the element of a stage at its own index."""
    match lowering:
        case At(element):
            yield Asked(element, index)
        case Fold(extents, element=folded):
            yield Asked(folded, index, _inner(extents))
        case Write(base, parts):
            if base is not None:
                yield Asked(base, index)
            for part in parts:
                inner = folded_index(len(part.extents))
                yield Asked(part.target, inner)
                yield Asked(part.value, inner)
        case Sweep(element=element, scale=scale):
            yield Asked(element, index)
            if scale is not None:
                yield Asked(scale, index)
        case LibCall() | HostCall() | Alias() | Control():
            pass  # they read whole buffers
        case _:
            assert_never(lowering)


def _inner(extents: Sequence[Dim]) -> Index:
    return tuple(
        [ir.const(0) if dim == 1 else folded_axis(number) for number, dim in enumerate(extents)]
    )


def _is_written_out(lowering: Lowering) -> bool:
    """Whether a fold is of so few elements that they are written out, result by result."""
    if not isinstance(lowering, Fold) or not all(isinstance(n, int) for n in lowering.extents):
        return False
    return prod(n for n in lowering.extents if isinstance(n, int)) <= WRITTEN_OUT


def _is_column(axis: int, reads: Mapping[Tensor, Sequence[Index]]) -> bool:
    """Whether the innermost kept axis, and no folded one, is contiguous in the arrays it reads.

    Of arrays that are read along either axis, those decide that are read along both. So are those
    whose rows are chosen by elements of others: each of them is read as it lies.
    """
    kept = own_axis(axis).name
    along_kept = along_folded = columns = rows = 0
    for indexes in reads.values():
        for index in indexes:
            if index:
                *before, last = map(variables, index)
                others = set[str]().union(*before)
                along_kept += kept in last
                is_among = _is_folded(others) or UNKNOWN in others
                columns += kept in last and not _is_folded(last) and is_among
                along_folded += _is_folded(last)
                rows += _is_folded(last) and kept in others
    return (along_kept > 0 and along_folded == 0) or (columns > 0 and rows == 0)


def _is_folded(names: Iterable[str]) -> bool:
    """Whether one of these variables goes along a folded axis."""
    return any(name.startswith("r[") for name in names)


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
