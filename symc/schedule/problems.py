"""A graph in the form that scheduling expects: the problem of a whole function, or of a block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc.codegen import ir
from symc.codegen.foreign import FOREIGN
from symc.codegen.record import record
from symc.graph.conditions import Test
from symc.graph.dims import Dim
from symc.graph.inputs import Constant, Input
from symc.graph.lowering import Alias, At, HostCall, Index, LibCall, Lowering, Read, Reader, SizeOf
from symc.graph.node import Array, Op, Tensor
from symc.graph.provenance import located_at
from symc.graph.types import TensorType
from symc.graph.walks import walk
from symc.schedule.plan import Block, Problem
from symc.schedule.ranges import Counters, Known
from symc.schedule.sizes import Lengths
from symc.schedule.views import has_memory_of_argument, views
from symc.tensor.elementwise import Elementwise


@record
class Copy(Op):
    """The argument in memory of its own: number tells copies of one node apart."""

    number: int

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0].copy()

    def lower(self, node: Tensor, size: SizeOf) -> At:
        def element(index: Index) -> Reader:
            return (yield Read(0, index))

        return At(element)


def problem_of(
    roots: Sequence[Tensor],
    table: Lengths,
    scalars: Mapping[Tensor, Tensor],
    has_routine: Callable[[str], bool],
    *,
    updates: Sequence[tuple[Tensor, Tensor]] = (),
    tests: Sequence[Test] = (),
    after: Sequence[frozenset[int]] = (),
    steps: Counters = (),
    blocks_of: Callable[[Sequence[Tensor], Lengths], Callable[[Tensor], Sequence[Block]]],
) -> Problem:
    """The problem of computing roots and tests.

    `scalars` has the nodes that compute what is measured here, by what lengths call them.
    """
    known = {tensor: in_memory(scalar) for tensor, scalar in scalars.items()}
    conditions = [test.node for test in tests if test.node is not None]
    measured = list(dict.fromkeys(known.values()))
    order = walk([*measured, *roots, *conditions])
    asked: dict[Tensor, list[Dim]] = {}
    return Problem(
        order=order,
        roots=[*roots, *conditions, *measured],
        updates=updates,
        tests=tests,
        after=after,
        lowering_of=_lowerings(table, asked, has_routine, views(order, roots)),
        dims_of=_dims(table.unified),
        known=Known(table.named, table.unified, steps),
        asked=asked,
        measures=bool(known),
        measured=_measured(table, known),
        blocks_of=blocks_of(order, table),
    )


def own_memory(roots: Sequence[Tensor]) -> list[Tensor]:
    """Roots that are given from outside, or wanted twice, become copies."""
    taken: set[Tensor] = set()
    result: list[Tensor] = []
    for number, root in enumerate(roots):
        base = root
        while has_memory_of_argument(base):
            base = base.args[0]
        given = not base.args or isinstance(base.op, Input)
        if given or base in taken:
            with located_at(root.where):
                root = base = Copy(number)(root)
        taken.add(base)
        result.append(root)
    return result


def in_memory(scalar: Tensor) -> Tensor:
    """A scalar that can be read from memory: numbers need a place there."""
    return Copy(-1)(scalar) if isinstance(scalar.op, Constant) else scalar


def _lowerings(
    table: Lengths,
    asked: dict[Tensor, list[Dim]],
    has_routine: Callable[[str], bool],
    aliases: AbstractSet[Tensor],
) -> Callable[[Tensor], Lowering]:
    """How nodes are lowered; `asked` collects the lengths that each one asks for."""
    known: dict[Tensor, Lowering] = {}

    def lowering_of(node: Tensor) -> Lowering:
        found = known.get(node)
        if found is None:
            dims = asked.setdefault(node, [])

            def size(dim: Dim) -> ir.Expr:
                dims.append(dim)
                return table(dim)

            found = node.op.lower(node, size)
            if node in aliases:
                found = Alias()
            elif isinstance(found, LibCall) and not has_routine(found.routine):
                found = found.otherwise or HostCall(found.results)
            elif isinstance(node.op, Elementwise) and node.op.name in FOREIGN:
                found = found if has_routine(node.op.name) else HostCall()
            known[node] = found
        return found

    return lowering_of


def _dims(unify: Callable[[Dim], Dim]) -> Callable[[Tensor], tuple[Dim, ...]]:
    known: dict[Tensor, tuple[Dim, ...]] = {}

    def dims_of(node: Tensor) -> tuple[Dim, ...]:
        found = known.get(node)
        if found is None:
            found = known[node] = tuple(unify(dim) for dim in node.type.shape)
        return found

    return dims_of


def _measured(
    table: Lengths, scalars: Mapping[Tensor, Tensor]
) -> Callable[[Iterable[Dim]], list[tuple[str, Tensor]]]:
    known: dict[Dim, list[tuple[str, Tensor]]] = {}

    def of_dim(dim: Dim) -> list[tuple[str, Tensor]]:
        found = known.get(dim)
        if found is None:
            found = [(table.variable(size), scalars[size.source]) for size in table.measured(dim)]
            known[dim] = found
        return found

    def measured(dims: Iterable[Dim]) -> list[tuple[str, Tensor]]:
        different = dict.fromkeys(dim for dim in dims if type(dim) is not int)
        return list(dict(pair for dim in different for pair in of_dim(dim)).items())

    return measured
