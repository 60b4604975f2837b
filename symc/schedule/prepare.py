"""Between rewriting and scheduling: names, lengths, and the form that scheduling expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.record import record
from symc.codegen.targets.base import Target
from symc.graph.conditions import Test
from symc.graph.dims import Dim, sizes
from symc.graph.inputs import Constant
from symc.graph.node import Requirement, Tensor
from symc.graph.request import Optimised, Request
from symc.graph.walks import walk
from symc.loops.comparisons import comparisons
from symc.schedule.plan import Block, Problem
from symc.schedule.problems import in_memory, own_memory, problem_of
from symc.schedule.sizes import Lengths, SizeTable, Unifier, UniqueNames


@record
class Prepared:
    """The scheduling problem, and the names of the caller's arrays.

    `scopes` has the lengths of the program, and of each of its blocks. `outputs` has the name and
    node of each output, maybe with an input that it may be written into, and of each update with
    its shared variable.
    """

    problem: Problem
    scopes: Sequence[Lengths]
    names: dict[Tensor, str]
    constants: list[Tensor]
    outputs: list[tuple[str, Tensor, Tensor | None]]


def prepare(
    request: Request,
    rewritten: Optimised,
    found: Sequence[tuple[Tensor, Requirement]],
    tests: Sequence[Test],
    after: Sequence[frozenset[int]],
    names: UniqueNames,
    mode: str,
    target: Target,
) -> Prepared:
    """Makes every root a node of its own, names all buffers, and sets up lengths and lowerings.

    Bodies of loops and branches are rewritten and prepared, too: scheduling only decides.
    Routines that the target does not have are called in Python, and so are scalars computed whose
    dtype its kernels do not know.
    """
    unify = Unifier(
        requirement.holds for _, requirement in found if isinstance(requirement.holds, tuple)
    )
    computed = iter(rewritten.conditions)
    tests = [test if test.node is None else _computed(test, next(computed)) for test in tests]
    buffers: dict[Tensor, str] = {}
    table = SizeTable(names, unify, buffers.__getitem__)
    roots = own_memory(
        [*rewritten.outputs, *rewritten.updates],
        lambda node: {size for dim in node.type.shape for size in table.measured(dim)},
    )
    outputs, updates = roots[: len(request.outputs)], roots[len(request.outputs) :]
    conditions = [test.node for test in tests if test.node is not None]
    order = walk([*rewritten.scalars.values(), *roots, *conditions])

    for number, node in enumerate(request.inputs):
        buffers[node] = names.fresh(node.name, f"x{number}")
    for number, node in enumerate(request.shared):
        buffers[node] = names.fresh(node.name, f"s{number}")
    constants = [n for n in order if isinstance(n.op, Constant) and n.type.shape]
    for node in constants:
        buffers[node] = names.fresh(node.name, "constant")
    places = _given_places(request.given, outputs, unify)
    named: list[tuple[str, Tensor, Tensor | None]] = [
        (names.fresh(old.name, "out"), node, places.get(node))
        for node, old in zip(outputs, request.outputs, strict=True)
    ]
    named += [
        (names.fresh(f"{buffers[shared]}_new", "new"), node, shared)
        for (shared, _), node in zip(request.updates, updates, strict=True)
    ]

    scopes: list[Lengths] = [table]

    def blocks_of(order: Sequence[Tensor], table: Lengths) -> Mapping[Tensor, Sequence[Block]]:
        if not any(node.op.is_control for node in order):
            return {}
        from symc.schedule.blocks import Blocks  # late: most programs have no loops or branches

        return Blocks(mode, len(found), target, scopes).of(order, table)

    problem = problem_of(
        roots, table, rewritten.scalars, target,
        updates=[(owner, node) for _, node, owner in named if owner is not None],
        tests=tests, after=after, blocks_of=blocks_of,
    )  # fmt: skip
    return Prepared(problem, scopes, buffers, constants, named)


def _given_places(
    given: Sequence[Tensor], outputs: Sequence[Tensor], unify: Unifier
) -> dict[Tensor, Tensor]:
    """For outputs an input that was given away, from whose elements they are computed.

    The first such output of the same dtype and lengths gets the input's memory, if all else that
    reads the input can be done before.
    """
    places: dict[Tensor, Tensor] = {}
    for x in given:
        lengths = [*map(unify, x.type.shape)]
        for node in outputs:
            alike = node.dtype is x.dtype and [*map(unify, node.type.shape)] == lengths
            if alike and node not in places and x in walk([node]):
                places[node] = x
                break
    return places


def _computed(test: Test, node: Tensor) -> Test:
    """A condition, over rewritten nodes: lengths are compared without memory."""
    match comparisons(node, _is_given):
        case [one]:
            return Test(test.number, test.error, None, one)
        case _:
            return Test(test.number, test.error, in_memory(node))


def _is_given(dim: Dim) -> bool:
    """Whether a length follows from lengths of the caller's arrays."""
    return all(size.axis is not None and not size.source.args for size in sizes(dim))
