"""Graphs inside loops, before compiling: improved, with their conditions as further results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

from symc.codegen.record import replace
from symc.graph.conditions import as_tests, waits
from symc.graph.dims import Dim
from symc.graph.node import Requirement, Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import walk
from symc.loops.body import Body, Checks
from symc.loops.branch import Choice
from symc.loops.scan import Scan
from symc.tensor.lengths import tensor_of
from symc.tensor.logic import eq
from symc.tensor.positions import fitted

Bodied: TypeAlias = Scan | Choice
Change: TypeAlias = Callable[[Bodied, Sequence[Tensor]], Bodied]


def map_bodies(roots: Sequence[Tensor], change: Change) -> list[Tensor]:
    """The roots with the op of each result of a loop or branch changed, given its arguments, too.

    A branch whose condition is known becomes the results of that side, if no conditions are tested
    there: they would be tested nowhere.
    """
    order = walk(roots)
    if not any(isinstance(node.op, Bodied) for node in order):
        return list(roots)
    done: dict[Tensor, Tensor] = {}
    for node in order:
        args = tuple([done[arg] for arg in node.args])
        op = change(node.op, args) if isinstance(node.op, Bodied) else node.op
        if not node.args or (op is node.op and args == node.args):
            done[node] = node
            continue
        with located_at(node.where):
            side = op.known(args) if isinstance(op, Choice) else None
            done[node] = op(*args) if side is None else side
        if done[node].name is None:
            done[node].name = node.name
    return [done[root] for root in roots]


def improved(
    roots: Sequence[Tensor], improve: Callable[[Sequence[Tensor]], Sequence[Tensor]]
) -> list[Tensor]:
    """The roots with `improve` done to the results of each body, each distinct one once.

    Results keep their lengths. Rules may give others, which are the same by conditions of the body:
    those hold nowhere outside, where a branch is perhaps not taken, and a loop may have no steps.
    """
    known: dict[Body, Body] = {}

    def better(body: Body) -> Body:
        if body not in known:
            pairs = zip(improve(body.results), body.results, strict=True)
            results = tuple(fitted(new, old.type.shape) for new, old in pairs)
            known[body] = Body(body.slots, results)
        return known[body]

    def change(op: Bodied, args: Sequence[Tensor]) -> Bodied:
        del args
        match op:
            case Scan(body):
                return replace(op, body=better(body))
            case Choice(then, otherwise):
                return replace(op, then=better(then), otherwise=better(otherwise))
            case _:
                assert_never(op)

    return map_bodies(roots, change)


def with_conditions(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots with conditions of steps as results of the bodies: see `Scan.checks`.

    A loop compares lengths that are known outside before it begins. A branch compares none unless
    it is taken.
    """
    loops: dict[object, tuple[Body, Checks]] = {}
    branches: dict[object, Choice] = {}

    def change(op: Bodied, args: Sequence[Tensor]) -> Bodied:
        match op:
            case Scan(body, layout, part, checks):
                if checks:
                    return op
                if (body, layout) not in loops:
                    loops[body, layout] = _with_conditions(body, op.lengths(args))
                return Scan(loops[body, layout][0], layout, part, loops[body, layout][1])
            case Choice(then, otherwise, part, checks):
                if any(checks):
                    return op
                if (then, otherwise) not in branches:
                    left, right = (_with_conditions(body, _nowhere) for body in (then, otherwise))
                    branches[then, otherwise] = Choice(left[0], right[0], part, (left[1], right[1]))
                return replace(branches[then, otherwise], part=part)
            case _:
                assert_never(op)

    return map_bodies(roots, change)


def _nowhere(dim: Dim) -> Dim | None:
    del dim
    return None


def _with_conditions(body: Body, length: Callable[[Dim], Dim | None]) -> tuple[Body, Checks]:
    found = _inside(body, length)
    tests = as_tests(found)
    scalars = [test.node for test in tests if test.node is not None]
    results = with_conditions([*body.results, *scalars])
    checks = tuple(tuple(sorted(before)) for before in waits(found, tests))
    return Body(body.slots, tuple(results)), checks


def _inside(body: Body, length: Callable[[Dim], Dim | None]) -> list[tuple[Tensor, Requirement]]:
    """The conditions of a body, comparisons of lengths that are known outside left out."""
    found: list[tuple[Tensor, Requirement]] = []
    for node, requirement in body.conditions():
        holds = requirement.holds
        if isinstance(holds, tuple):
            left, right = holds
            if left == right or (length(left) is not None and length(right) is not None):
                continue
            with located_at(node.where):
                holds = eq(tensor_of(left), tensor_of(right))
        found.append((node, Requirement(holds, requirement.error, requirement.message)))
    return found
