"""Between rewriting and scheduling: names, lengths, and the form that scheduling expects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from symc.codegen import ir
from symc.codegen.record import record
from symc.dims import Dim, sizes
from symc.graph import Array, Op, Requirement, Tensor, walk
from symc.inputs import Constant, Input, SharedVariable
from symc.lowering import Alias, At, HostCall, Index, LibCall, Lowering, Read, Reader, SizeOf
from symc.request import Optimised, Request
from symc.sizes import Names, SizeTable, Unifier
from symc.types import TensorType
from symc.units import Problem, Test


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


@record
class Prepared:
    """The scheduling problem, and the names of what the caller provides.

    `outputs` has the name and node of each output and of each update with its shared variable.
    """

    problem: Problem
    sizes: SizeTable
    names: dict[Tensor, str]
    constants: list[Tensor]
    outputs: list[tuple[str, Tensor, SharedVariable | None]]


def prepare(
    request: Request,
    rewritten: Optimised,
    found: Sequence[tuple[Tensor, Requirement]],
    tests: Sequence[Test],
    after: Sequence[frozenset[int]],
    names: Names,
    has_routine: Callable[[str], bool],
) -> Prepared:
    """Makes every root a node of its own, names all buffers, and sets up lengths and lowerings.

    Routines that the target does not have are called in Python.
    """
    unify = Unifier(
        requirement.holds for _, requirement in found if isinstance(requirement.holds, tuple)
    )
    conditions = iter(rewritten.conditions)
    tests = [
        Test(t.number, t.requirement, None if t.node is None else _in_memory(next(conditions)))
        for t in tests
    ]
    known = {tensor: _in_memory(scalar) for tensor, scalar in rewritten.scalars.items()}
    roots = _own_memory([*rewritten.outputs, *rewritten.updates])
    outputs, updates = roots[: len(request.outputs)], roots[len(request.outputs) :]
    measured_roots = [test.node for test in tests if test.node is not None]
    scalars = list(dict.fromkeys(known.values()))
    order = walk([*scalars, *roots, *measured_roots])

    buffers: dict[Tensor, str] = {}
    for number, node in enumerate(request.inputs):
        buffers[node] = names.fresh(node.name, f"x{number}")
    for number, node in enumerate(request.shared):
        buffers[node] = names.fresh(node.name, f"s{number}")
    constants = [n for n in order if isinstance(n.op, Constant) and n.type.shape]
    for node in constants:
        buffers[node] = names.fresh(node.name, "constant")
    named: list[tuple[str, Tensor, SharedVariable | None]] = [
        (names.fresh(old.name, "out"), node, None)
        for node, old in zip(outputs, request.outputs, strict=True)
    ]
    named += [
        (names.fresh(f"{buffers[shared]}_new", "new"), node, shared)
        for (shared, _), node in zip(request.updates, updates, strict=True)
    ]

    table = SizeTable(names, unify, buffers.__getitem__)
    asked: dict[Tensor, list[Dim]] = {}
    problem = Problem(
        order=order,
        roots=[*roots, *measured_roots, *scalars],
        updates=[(s, node) for (s, _), node in zip(request.updates, updates, strict=True)],
        tests=tests,
        after=after,
        lowering_of=_lowerings(table, asked, has_routine),
        dims_of=_dims(unify),
        asked=asked,
        measures=bool(known),
        measured=_measured(table, unify, known),
    )
    return Prepared(problem, table, buffers, constants, named)


def _own_memory(roots: Sequence[Tensor]) -> list[Tensor]:
    """Roots that are given from outside, or wanted twice, become copies."""
    taken: set[Tensor] = set()
    result: list[Tensor] = []
    for number, root in enumerate(roots):
        base = root
        while isinstance(_plain_lowering(base), Alias):
            base = base.args[0]
        given = not base.args or isinstance(base.op, Input)
        if given or base in taken:
            root = base = Copy(number)(root)
        taken.add(base)
        result.append(root)
    return result


def _in_memory(scalar: Tensor) -> Tensor:
    """A scalar that can be read from memory: numbers need a place there."""
    return Copy(-1)(scalar) if isinstance(scalar.op, Constant) else scalar


def _plain_lowering(node: Tensor) -> Lowering | None:
    from symc.tensor.reshape import Reshape

    return Alias() if isinstance(node.op, Reshape) else None


def _lowerings(
    table: SizeTable, asked: dict[Tensor, list[Dim]], has_routine: Callable[[str], bool]
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
            if isinstance(found, LibCall) and not has_routine(found.routine):
                found = found.otherwise or HostCall(found.results)
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
    table: SizeTable, unify: Callable[[Dim], Dim], scalars: Mapping[Tensor, Tensor]
) -> Callable[[Iterable[Dim]], list[tuple[str, Tensor]]]:
    known: dict[Dim, list[tuple[str, Tensor]]] = {}

    def of_dim(dim: Dim) -> list[tuple[str, Tensor]]:
        found = known.get(dim)
        if found is None:
            parts = [*sizes(dim), *sizes(unify(dim))]
            values = [size for size in parts if size.axis is None]
            found = [(table.variable(size), scalars[size.source]) for size in values]
            known[dim] = found
        return found

    def measured(dims: Iterable[Dim]) -> list[tuple[str, Tensor]]:
        different = dict.fromkeys(dim for dim in dims if type(dim) is not int)
        return list(dict(pair for dim in different for pair in of_dim(dim)).items())

    return measured
