"""A graph in the form that scheduling expects: the problem of a whole function, or of a block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc.codegen import ir
from symc.codegen.foreign import FOREIGN
from symc.codegen.record import replace
from symc.codegen.targets.base import Target
from symc.graph.conditions import Test
from symc.graph.dims import Dim, Size
from symc.graph.inputs import Constant, Input
from symc.graph.lowering import Alias, At, Fold, HostCall, LibCall, Lowering, Write
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import walk
from symc.loops.comparisons import Counters
from symc.schedule.plan import Block, MeasuredSize, Problem, is_source
from symc.schedule.sizes import Lengths
from symc.schedule.views import has_memory_of_argument, views
from symc.tensor.copies import Copy
from symc.tensor.elementwise import Elementwise


def problem_of(
    roots: Sequence[Tensor],
    table: Lengths,
    scalars: Mapping[Tensor, Tensor],
    target: Target,
    *,
    updates: Sequence[tuple[Tensor, Tensor]] = (),
    rings: frozenset[Tensor] = frozenset(),
    tests: Sequence[Test] = (),
    after: Sequence[frozenset[int]] = (),
    steps: Counters = (),
    blocks_of: Callable[[Sequence[Tensor], Lengths], Mapping[Tensor, Sequence[Block]]],
) -> Problem:
    """The problem of computing roots and tests.

    `scalars` has the nodes that compute the numbers measured here, by what lengths call them.
    """
    known = {tensor: in_memory(scalar) for tensor, scalar in scalars.items()}
    conditions = [test.node for test in tests if test.node is not None]
    measured = list(dict.fromkeys(known.values()))
    order = walk([*measured, *roots, *conditions])
    unify = table.unified
    changed = [shared for shared, _ in updates]
    lowerings, asked = _lowerings(order, table, target, views(order, roots))
    readings = _Readings(table, known)
    return Problem(
        order=order,
        roots=[*roots, *conditions, *measured],
        updates=updates,
        rings=rings,
        tests=tests,
        after=after,
        lowerings=lowerings,
        dims={node: tuple([unify(dim) for dim in node.type.shape]) for node in (*order, *changed)},
        readings=readings.by_node((n, (*n.type.shape, *asked.get(n, ()))) for n in order),
        folded=readings.by_node((n, _extents(lowering)) for n, lowering in lowerings.items()),
        tested=[readings(test.lengths[1:] if test.lengths else ()) for test in tests],
        written={
            node: tuple([unify(extent) for extent in lowering.parts[0].extents])
            for node, lowering in lowerings.items()
            if isinstance(lowering, Write) and len(lowering.parts) == 1
        },
        lengths=table.lengths,
        steps=steps,
        blocks=blocks_of(order, table),
        on_device=target.on_device,
    )


def own_memory(
    roots: Sequence[Tensor], measured: Callable[[Tensor], AbstractSet[Size]] | None = None
) -> list[Tensor]:
    """Roots that are given from outside, or wanted twice, become copies.

    So do those of `measured` lengths in the memory of others: these are written before such lengths
    need be known, and the caller is asked for memory of the root's lengths.
    """
    taken: set[Tensor] = set()
    result: list[Tensor] = []
    for number, root in enumerate(roots):
        base = root
        while has_memory_of_argument(base):
            base = base.args[0]
        given = not base.args or isinstance(base.op, Input)
        late = measured is not None and base is not root and measured(root) - measured(base)
        if given or base in taken or late:
            with located_at(root.where):
                root = base = Copy(number)(root)
        taken.add(base)
        result.append(root)
    return result


def in_memory(scalar: Tensor) -> Tensor:
    """A scalar that can be read from memory: numbers need a place there."""
    return Copy(-1)(scalar) if isinstance(scalar.op, Constant) else scalar


def _lowerings(
    order: Sequence[Tensor],
    table: Lengths,
    target: Target,
    aliases: AbstractSet[Tensor],
) -> tuple[dict[Tensor, Lowering], dict[Tensor, list[Dim]]]:
    """How nodes that are not given are lowered, and the lengths that each lowering asks for."""
    lowerings: dict[Tensor, Lowering] = {}
    asked: dict[Tensor, list[Dim]] = {}
    dims: list[Dim] = []

    def size(dim: Dim) -> ir.Expr:
        dims.append(dim)
        return table(dim)

    for node in order:
        if is_source(node) or isinstance(node.op, Constant):
            continue
        dims = []
        found = Alias() if node in aliases else node.op.lower(node, size)
        if isinstance(found, LibCall) and not target.has_routine(found.routine):
            found = found.otherwise or HostCall(found.results)
        elif isinstance(node.op, Elementwise) and node.op.name in FOREIGN:
            found = found if target.has_routine(node.op.name) else HostCall()
        elif isinstance(found, At) and not node.ndim and not _computes(target, node):
            found = HostCall()
        if isinstance(found, Fold) and found.otherwise is not None and target.on_device:
            found = found.otherwise
        if isinstance(found, Fold):
            found = replace(found, extents=tuple([_settled(n, table) for n in found.extents]))
        lowerings[node] = found
        if dims:
            asked[node] = dims
    return lowerings, asked


def _settled(length: Dim, table: Lengths) -> Dim:
    """A length, as a number if it is known to be one where loops are counted."""
    found = table.unified(length)
    return found if isinstance(found, int) else length


def _computes(target: Target, node: Tensor) -> bool:
    """Whether kernels have the numbers of a node and of its arguments."""
    return all(target.computes(each.dtype) for each in (node, *node.args))


def _extents(lowering: Lowering) -> Sequence[Dim]:
    """The lengths of a lowering's loops beyond those of its result."""
    match lowering:
        case Fold(extents=dims):
            return dims
        case Write(parts=parts):
            return [dim for part in parts for dim in part.extents]
        case _:
            return ()


class _Readings:
    """Among lengths, those that the problem itself computes: the sizes, and their scalars."""

    def __init__(self, table: Lengths, scalars: Mapping[Tensor, Tensor]) -> None:
        self._table = table
        self._scalars = scalars
        self._known: dict[Dim, list[MeasuredSize]] = {}

    def by_node(
        self, lengths: Iterable[tuple[Tensor, Sequence[Dim]]]
    ) -> dict[Tensor, Sequence[MeasuredSize]]:
        """Those among the lengths of each node, for nodes that have any."""
        if not self._scalars:
            return {}
        found = {node: self(dims) for node, dims in lengths}
        return {node: readings for node, readings in found.items() if readings}

    def __call__(self, dims: Iterable[Dim]) -> list[MeasuredSize]:
        """Those among some lengths."""
        different = dict.fromkeys(dim for dim in dims if type(dim) is not int)
        return list(dict.fromkeys(one for dim in different for one in self._of(dim)))

    def _of(self, dim: Dim) -> list[MeasuredSize]:
        found = self._known.get(dim)
        if found is None:
            table, scalars = self._table, self._scalars
            found = [
                MeasuredSize(table.variable(s), scalars[s.source]) for s in table.measured(dim)
            ]
            self._known[dim] = found
        return found
