"""What compiling does to graphs inside loops: they are improved, and their conditions join them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from symc.conditions import as_tests, waits
from symc.dims import Dim
from symc.graph import Requirement, Tensor, located_at, walk
from symc.loops.body import Body
from symc.loops.scan import Layout, Scan
from symc.tensor.lengths import tensor_of
from symc.tensor.logic import eq

Change: TypeAlias = Callable[[Scan, Sequence[Tensor]], Scan]


def map_loops(roots: Sequence[Tensor], change: Change) -> list[Tensor]:
    """The roots with the op of each result of a loop changed, given its arguments, too."""
    order = walk(roots)
    if not any(isinstance(node.op, Scan) for node in order):
        return list(roots)
    done: dict[Tensor, Tensor] = {}
    for node in order:
        args = tuple([done[arg] for arg in node.args])
        op = change(node.op, args) if isinstance(node.op, Scan) else node.op
        if not node.args or (op is node.op and args == node.args):
            done[node] = node
            continue
        with located_at(node.where):
            done[node] = op(*args)
        if done[node].name is None:
            done[node].name = node.name
    return [done[root] for root in roots]


def improved(
    roots: Sequence[Tensor], improve: Callable[[Sequence[Tensor]], Sequence[Tensor]]
) -> list[Tensor]:
    """The roots with `improve` done to the results of each body, each distinct one once."""
    known: dict[Body, Body] = {}

    def change(op: Scan, args: Sequence[Tensor]) -> Scan:
        del args
        if op.body not in known:
            known[op.body] = Body(op.body.slots, tuple(improve(op.body.results)))
        return replace(op, body=known[op.body])

    return map_loops(roots, change)


def with_conditions(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots with conditions of steps as results of the bodies: see `Scan.checks`."""
    known: dict[tuple[Body, Layout], tuple[Body, tuple[tuple[int, ...], ...]]] = {}

    def change(op: Scan, args: Sequence[Tensor]) -> Scan:
        if op.checks:
            return op
        key = op.body, op.layout
        if key not in known:
            known[key] = _with_conditions(op.body, op.lengths(args))
        body, checks = known[key]
        return replace(op, body=body, checks=checks)

    return map_loops(roots, change)


def _with_conditions(
    body: Body, length: Callable[[Dim], Dim | None]
) -> tuple[Body, tuple[tuple[int, ...], ...]]:
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
            if length(left) is not None and length(right) is not None:
                continue
            with located_at(node.where):
                holds = eq(tensor_of(left), tensor_of(right))
        found.append((node, Requirement(holds, requirement.error, requirement.message)))
    return found
