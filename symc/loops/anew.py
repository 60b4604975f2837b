"""What may fail, and both decides on a side and is needed there, is computed for that side anew.

    take = ifelse(i < n, a[i] <= b, False)
    ifelse(take, a[i], b)

reads ``a[i]`` on a side of the first branch and on a side of the second, whose condition depends on
it: so it can wait behind neither condition alone, nor behind both. Read before both it would fail
in vain where i is n. So the side of the second branch has an element of its own: that at `Anew`
of i, which is a node of its own until branches have bodies of their own. Loops and branches are not
computed anew, nor what a length depends on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc.codegen.record import record, replace
from symc.graph.formulas import own_element
from symc.graph.lowering import At, SizeOf
from symc.graph.node import Array, Op, Tensor
from symc.graph.provenance import located_at
from symc.graph.types import TensorType
from symc.graph.walks import rebuild, substitute, walk, walk_within
from symc.loops.body import Body
from symc.loops.branch import Choice, IfElse
from symc.loops.entered import Scope, may_fail
from symc.loops.paths import Path, Ways, places_of, ways_of
from symc.loops.scan import Scan

_ROUNDS = 16  # conditions in one graph


@record
class Anew(Op):
    """The argument itself; a number tells the sides apart that compute something of it anew."""

    number: int

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(own_element(node))


def anew(
    roots: Sequence[Tensor], order: Sequence[Tensor], places: Mapping[Tensor, Path], scope: Scope
) -> list[Tensor] | None:
    """The roots, with what their sides compute anew; None if there is nothing of that kind."""
    found: list[Tensor] | None = None
    refused: set[Tensor] = set()
    for number in range(_ROUNDS):
        branches = [node for node in order if isinstance(node.op, IfElse)]
        conditions = {branch.args[0] for branch in branches} - refused
        if len(conditions) < 2:
            break
        ways = ways_of(roots, order, places)
        condition, nodes = _needed_late(order, ways, scope, conditions)
        if condition is None:
            break
        refused.add(condition)
        always = {node for node in order if not ways[node]}
        own = [
            (branch, {node for node in always if _is_before(places[node], places[branch])})
            for branch in branches
            if branch.args[0] is condition
        ]
        new = _with_own(roots, own, nodes, number)
        if new is not None:
            found = roots = new
            order = walk(roots)
            places = places_of(roots, order)
    return found


def _is_before(place: Path, other: Path) -> bool:
    """Whether what is in one place is there in another one, too."""
    return other[: len(place)] == place


def _needed_late(
    order: Sequence[Tensor], ways: Mapping[Tensor, Ways], scope: Scope,
    conditions: AbstractSet[Tensor],
) -> tuple[Tensor | None, list[Tensor]]:  # fmt: skip
    """A condition, and what it depends on that its sides need but may only be computed there."""
    under: dict[Tensor, set[Tensor]] = {}
    late: dict[Tensor, list[Tensor]] = {}
    for node in order:
        if not ways[node] or not node.args or node.op.is_control or isinstance(node.op, IfElse):
            continue
        if any(condition is None for way in ways[node] for condition, _ in way):
            continue
        if not may_fail([node], scope, by_lengths=False):
            continue
        early: list[Path] = []
        others: dict[Tensor, list[Path]] = {}
        for way in ways[node]:
            for place, (condition, _) in enumerate(way):
                assert condition is not None
                if condition not in under:
                    under[condition] = set(walk([condition]))
                if node in under[condition]:
                    others.setdefault(condition, []).append(way[:place])
                    break
            else:
                early.append(way)
        for condition, begun in others.items():
            is_early = all(any(set(one) <= set(way) for one in early) for way in begun)
            if early and not is_early and condition in conditions:
                late.setdefault(condition, []).append(node)
    first = next(iter(late), None)
    return first, [] if first is None else late[first]


def _with_own(
    roots: Sequence[Tensor], branches: Sequence[tuple[Tensor, AbstractSet[Tensor]]],
    nodes: Sequence[Tensor], number: int,
) -> list[Tensor] | None:  # fmt: skip
    """The roots, with some nodes computed anew on the sides of branches; None if types differ.

    Each branch with the nodes that are computed before it in any case: these stay.
    """
    own: dict[Tensor, Tensor] = {}
    for node in nodes:
        last = Anew(number)(node.args[-1])
        with located_at(node.where):
            own[node] = node.op(*node.args[:-1], last)
        own[node].name = node.name
    new: dict[Tensor, Tensor] = {}
    for branch, before in branches:
        condition, *values = branch.args
        kept = {node: node for node in walk(values, stop=before.__contains__) if node in before}
        with located_at(branch.where):
            new[branch] = branch.op(condition, *substitute(values, {**kept, **own}))
        new[branch].name = branch.name
    pairs = [*own.items(), *new.items()]
    return substitute(roots, new) if all(one.type == other.type for one, other in pairs) else None


def without_anew(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots without `Anew`, also in the bodies of loops and branches."""
    if not any(isinstance(node.op, Anew) for node in walk_within(roots)):
        return list(roots)
    return _without(roots, {})


def _without(roots: Sequence[Tensor], known: dict[Body, Body]) -> list[Tensor]:
    def better(body: Body) -> Body:
        if body not in known:
            known[body] = Body(body.slots, tuple(_without(body.results, known)))
        return known[body]

    done: dict[Tensor, Tensor] = {}
    for node in walk(roots):
        args = [done[arg] for arg in node.args]
        with located_at(node.where):
            match node.op:
                case Anew():
                    new = args[0]
                case Scan(body):
                    new = replace(node.op, body=better(body))(*args)
                case Choice(then, otherwise):
                    new = replace(node.op, then=better(then), otherwise=better(otherwise))(*args)
                case _:
                    new = rebuild(node, args)
        new.name = new.name or node.name
        done[node] = new
    return [done[root] for root in roots]
