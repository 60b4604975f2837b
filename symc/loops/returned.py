"""What may fail and only some steps of a loop need, returns from the loop's arguments to its steps.

What does not change from step to step was made an argument of the loop. If it may fail, and only
some steps need it, as those that take one side of a branch in the loop, each of them computes it
again, or, if that takes long, the first of them: see `kept.py`. Others that need it, too, on sides
of branches or in some steps of other loops, compute it for themselves: no condition before the loop
says whether one of its steps will.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import walk
from symc.loops.body import Body
from symc.loops.build import Loop, opened
from symc.loops.entered import Scope, may_fail
from symc.loops.kept import keeping
from symc.loops.paths import Path, of_some_steps, ways_of
from symc.loops.scan import Scan


def returned(
    roots: Sequence[Tensor], order: Sequence[Tensor], places: Mapping[Tensor, Path], scope: Scope
) -> tuple[list[Tensor], set[Body]] | None:
    """The roots with such values, and what is computed from them, in the bodies of loops.

    Also gives those bodies. None if there are no such values.
    """
    loops = [node for node in order if isinstance(node.op, Scan)]
    if not any(of_some_steps(node.op, node.args) for node in loops if isinstance(node.op, Scan)):
        return None
    ways = ways_of(roots, order, places)
    sides = {node for node in order if node.args and (places[node] or ways[node])}
    failing = {node for node in sides if may_fail([node], scope, by_lengths=False)}
    some = {n for n in failing if any(map(_has_unknown, (places[n], *ways[n])))}
    if not some:
        return None
    bodies: set[Body] = set()
    done: dict[Tensor, Tensor] = {}
    made: dict[object, Loop | None] = {}
    for node in order:
        args = [done[arg] for arg in node.args]
        new = node
        with located_at(node.where):
            if isinstance(node.op, Scan):
                key = (node.op.common(), node.args)
                if key not in made:
                    made[key] = _with_steps(node, args, failing, some, done)
                loop = made[key]
                if loop is None:
                    new = node.op(*args)
                else:
                    bodies.add(loop.body)
                    new = loop.part(node.op.part)
            elif any(arg is not old for arg, old in zip(args, node.args, strict=True)):
                new = node.op(*args)
        new.name = new.name or node.name
        done[node] = new
    return ([done[root] for root in roots], bodies) if bodies else None


def _has_unknown(path: Path) -> bool:
    return any(condition is None for condition, _ in path)


def _with_steps(
    node: Tensor, args: list[Tensor], failing: AbstractSet[Tensor], some: AbstractSet[Tensor],
    done: Mapping[Tensor, Tensor],
) -> Loop | None:  # fmt: skip
    """The loop whose steps compute what may fail; None if none of that is for some steps alone.

    With what `some` of them need all `failing` returns: branches that return have it on sides.
    """
    op = node.op
    assert isinstance(op, Scan)
    of_some = [node.args[number] for number in of_some_steps(op, node.args)]
    if some.isdisjoint(walk(of_some)):
        return None
    inside = {done[one] for one in _returning(of_some, op.split(node.args)[3], failing)}
    return keeping(opened(op, args), inside).close(inside)


def _returning(
    of_some: Sequence[Tensor], given: Sequence[Tensor], failing: AbstractSet[Tensor]
) -> set[Tensor]:
    """What may fail for the values of some steps, and all for which given values return with it.

    A branch that needs such on one side is in the body then. So is what may fail on its other side,
    which nobody would know to be on a side if it stayed before the loop.
    """
    returning = list(of_some)
    while True:
        inside: set[Tensor] = set()
        for one in walk(returning):
            if one in failing or not inside.isdisjoint(one.args):
                inside.add(one)
        others = [one for one in given if one not in returning]
        more = [one for one in others if not inside.isdisjoint(walk([one]))]
        if not more:
            return inside
        returning += more


def left(op: Scan, args: list[Tensor]) -> tuple[Scan, list[Tensor]]:
    """The loop, without branches in its body that do not change either, and its arguments."""
    loop = opened(op, args).close()
    return replace(op, body=loop.body), list(loop.args)
