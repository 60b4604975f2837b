"""What may fail and only sides of branches need, of several conditions: computed if one holds.

    ifelse(a, z[j], 0.) + ifelse(b, z[j], 1.)

reads ``z[j]`` on two sides, so neither branch can have it to itself. It becomes
``ifelse(a | b, z[j], 0)``, which is computed once, before both, and not at all where neither side
is taken. So do branches that have something which may fail inside. Conditions are asked in the
order in which the branches would, as they may fail, too. Those that depend on the value are left
out: where nobody needs it, it may be computed then, but never is it missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from itertools import count

from symc.codegen.dtypes import BOOL
from symc.graph.inputs import scalar_constant
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import walk
from symc.loops.branch import IfElse, chosen_of
from symc.loops.entered import Scope, may_fail, may_have_none
from symc.loops.origins import origin_of
from symc.loops.paths import Path, Ways, computed_together, merged, places_of, ways_of
from symc.loops.scan import Scan
from symc.tensor.logic import logical_or
from symc.tensor.slices import zeros_for

_ROUNDS = 8  # of deeper branches all wait in one


def behind_conditions(
    roots: Sequence[Tensor], order: Sequence[Tensor], places: Mapping[Tensor, Path], scope: Scope
) -> list[Tensor] | None:
    """The roots with such values on a side of a branch of their own; None if there are none."""
    if not _has_several_ways(order):
        return None
    branches = {node for node in order if isinstance(node.op, IfElse)}
    found = None
    seen = set[Tensor]()  # zeros that may fail wait in a branch, on whose other side they are again
    for number in count():
        failing, risky = _failing(order, scope)
        gates = _gates(roots, order, places, failing, risky, branches, number < _ROUNDS)
        gates = {node: own for node, own in gates.items() if node not in seen}
        if not gates:
            return found
        seen |= gates.keys()
        done = _rebuilt(roots, gates, risky)
        branches = {done[node] for node in branches if node in done and node not in gates}
        found = roots = [done[root] for root in roots]
        order = walk(roots)
        places = places_of(roots, order)
    return found


def _gates(
    roots: Sequence[Tensor], order: Sequence[Tensor], places: Mapping[Tensor, Path],
    failing: AbstractSet[Tensor], risky: AbstractSet[Tensor], branches: AbstractSet[Tensor],
    outermost: bool,
) -> dict[Tensor, Ways]:  # fmt: skip
    """What may fail, and branches around such, with the ways behind whose conditions they wait.

    With `outermost` nothing that is needed by others of these on sides of theirs.
    """
    if not failing:
        return {}
    every = ways_of(roots, order, places)
    ways = {node: _known_ways(found) for node, found in every.items()}
    under = {condition: set(walk([condition])) for condition in _conditions(ways.values())}
    waiting: dict[Ways, list[Tensor]] = {}
    for node in order:
        is_branch = node in branches and node in risky
        if ways[node] and (is_branch or node in failing):
            own = _without(node, ways[node], under, risky)
            if own:
                waiting.setdefault(own, []).append(node)
    gates: dict[Tensor, Ways] = {}
    together = {node: siblings for siblings in computed_together(order) for node in siblings}
    for own, nodes in waiting.items():
        before = set(_ordered(_conditions([own]), gates))
        gates.update((node, own) for node in nodes if before.isdisjoint(together[node]))
    if outermost:
        with_sides = [node for node in gates if isinstance(node.op, IfElse | Scan)]
        later = set(walk(arg for node in with_sides for arg in node.args))
        gates = {node: own for node, own in gates.items() if later.isdisjoint(together[node])}
    return gates


def _has_several_ways(order: Sequence[Tensor]) -> bool:
    """Whether there are branches, or several loops that may do no steps."""
    if any(isinstance(node.op, IfElse) for node in order):
        return True
    loops = {
        (node.op.common(), node.args)
        for node in order
        if isinstance(node.op, Scan) and may_have_none(node.op, node.args)
    }
    return len(loops) > 1


def _failing(order: Sequence[Tensor], scope: Scope) -> tuple[set[Tensor], set[Tensor]]:
    """The nodes that may fail, and all that are computed from such."""
    failing: set[Tensor] = set()
    risky: set[Tensor] = set()
    for node in order:
        if node.args and may_fail([node], scope, by_lengths=False):
            failing.add(node)
        if node in failing or not risky.isdisjoint(node.args):
            risky.add(node)
    return failing, risky


def _known_ways(ways: Ways) -> Ways:
    """Ways over known conditions; none if one has no condition."""
    found = [tuple(one for one in way if one[0] is not None) for way in ways]
    return merged(found) if all(found) else ()


def _without(
    node: Tensor, ways: Ways, under: Mapping[Tensor, set[Tensor]], risky: AbstractSet[Tensor]
) -> Ways:
    """The ways without conditions that depend on a node, so that they are gone more often.

    Conditions after those may be asked in vain, so that they must not fail, unless other ways ask
    them in any case: else the way ends.
    """
    asked = {way[0][0] for way in ways}
    kept: dict[Path, None] = {}
    for way in ways:
        known: list[tuple[Tensor | None, bool]] = []
        is_whole = True
        for condition, side in way:
            if condition is not None and node in under[condition]:
                is_whole = False
            elif is_whole or condition in asked or condition not in risky:
                known.append((condition, side))
            else:
                break
        kept[tuple(known)] = None
    return merged(kept)


def _conditions(several: Iterable[Ways]) -> list[Tensor]:
    found = (condition for ways in several for way in ways for condition, _ in way)
    return list(dict.fromkeys(condition for condition in found if condition is not None))


def _ordered(roots: Sequence[Tensor], gates: Mapping[Tensor, Ways]) -> list[Tensor]:
    """All nodes that some need, before those that need them; so do values behind conditions."""
    done: dict[Tensor, None] = {}
    pending = [(root, False) for root in reversed(roots)]
    entered: set[Tensor] = set()
    while pending:
        node, is_left = pending.pop()
        if is_left:
            done[node] = None
        elif node not in entered:
            entered.add(node)
            pending.append((node, True))
            needed = [*node.args, *_conditions([gates.get(node, ())])]
            pending += [(other, False) for other in reversed(needed)]
    return list(done)


def _rebuilt(
    roots: Sequence[Tensor], gates: Mapping[Tensor, Ways], risky: AbstractSet[Tensor]
) -> dict[Tensor, Tensor]:
    """What all nodes have become."""
    order = _ordered(roots, gates)
    together = {node: siblings for siblings in computed_together(order) for node in siblings}
    done: dict[Tensor, Tensor] = {}
    for node in order:
        if node in done:
            continue
        siblings = together[node] if node in gates else [node]
        args = tuple([done[arg] for arg in node.args])
        with located_at(node.where):
            new = [each if args == each.args else each.op(*args) for each in siblings]
            for each, old in zip(new, siblings, strict=True):
                each.name = each.name or old.name
            if node in gates:
                condition = reduce(logical_or, each_way(gates[node], done))
                pairs = zip(siblings, new, strict=True)
                unneeded = [_unneeded(old, each, done, risky) for old, each in pairs]
                new = chosen_of(condition, new, unneeded)
        done.update(zip(siblings, new, strict=True))
    return done


def _unneeded(
    old: Tensor, new: Tensor, done: Mapping[Tensor, Tensor], risky: AbstractSet[Tensor]
) -> Tensor:
    """What a value is where nobody needs it: zeros, or the array that it is written into.

    That is in memory where nothing is written, and zeros would take memory of their own.
    """
    begun = origin_of(old)
    if begun is not old and begun not in risky and done[begun].type == new.type:
        return done[begun]
    return zeros_for(new, new.dtype)


def each_way(ways: Ways, done: Mapping[Tensor, Tensor]) -> Iterator[Tensor]:
    """For each way the condition that it is gone. What decides at its end may fail, too."""
    for way in ways:
        gone = scalar_constant(True, BOOL)
        for condition, side in reversed(way):
            if condition is not None:
                refused = scalar_constant(False, BOOL)
                sides = (gone, refused) if side else (refused, gone)
                (gone,) = chosen_of(done[condition], *([each] for each in sides))
        yield gone
