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
from typing import TypeAlias

from symc.codegen.dtypes import BOOL
from symc.graph.inputs import scalar_constant
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import walk
from symc.loops.branch import IfElse, chosen_of
from symc.loops.entered import Scope, may_fail, may_have_none
from symc.loops.origins import origin_of
from symc.loops.paths import Path, computed_together, is_never, uses_of
from symc.loops.scan import Scan
from symc.tensor.logic import logical_or
from symc.tensor.slices import zeros_for

Ways: TypeAlias = tuple[Path, ...]

_MOST = 32  # ways; of more conditions none is asked, and the value computed in any case


def behind_conditions(
    roots: Sequence[Tensor], order: Sequence[Tensor], places: Mapping[Tensor, Path], scope: Scope
) -> list[Tensor] | None:
    """The roots with such values on a side of a branch of their own; None if there are none."""
    if not _has_several_ways(order):
        return None
    failing, risky = _failing(order, scope)
    if not failing:
        return None
    ways = _ways(roots, order, places)
    under = {condition: set(walk([condition])) for condition in _conditions(ways.values())}
    waiting: dict[Ways, list[Tensor]] = {}
    for node in order:
        is_branch = isinstance(node.op, IfElse) and node in risky
        if ways[node] and (is_branch or node in failing):
            own = _without(node, ways[node], under, risky)
            if all(own):
                waiting.setdefault(own, []).append(node)
    gates: dict[Tensor, Ways] = {}
    for own, nodes in waiting.items():
        before = set(_ordered(_conditions([own]), gates))
        gates.update((node, own) for node in nodes if node not in before)
    return _rebuilt(roots, gates, risky) if gates else None


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


def _ways(
    roots: Sequence[Tensor], order: Sequence[Tensor], places: Mapping[Tensor, Path]
) -> dict[Tensor, Ways]:
    """For each node the sides that need it, from its place on; none if it is needed in any case."""
    ways: dict[Tensor, Ways] = dict.fromkeys(roots, ())
    for siblings in reversed(computed_together(order)):
        base = places[siblings[0]]
        each = [ways[node] for node in siblings if node in ways]
        own = _all_of(each) if all(each) else ()
        ways.update(dict.fromkeys(siblings, own))
        for arg, side in uses_of(siblings):
            place, found = places[arg], list[Path]()
            if len(place) > len(base):  # inside of one side: there is no other way to it
                found = [side[len(place) - len(base) :]]
            else:
                found = [(*base[len(place) :], *way, *side) for way in own or ((),)]
            known = _without_unknown(way for way in found if not is_never((*place, *way)))
            if known is not None:
                old = ways.get(arg, known)
                both = _all_of([known, old]) if known and old else ()
                ways[arg] = both if len(both) <= _MOST else ()
    return {node: ways.get(node, ()) for node in order}


def _without_unknown(ways: Iterable[Path]) -> Ways | None:
    """Ways over known conditions; none if one has no condition. None if there are no ways."""
    found = [tuple(one for one in way if one[0] is not None) for way in ways]
    if not found:
        return None
    return tuple(found) if all(found) else ()


def _all_of(several: Sequence[Ways]) -> Ways:
    return tuple(dict.fromkeys(way for ways in several for way in ways))


def _without(
    node: Tensor, ways: Ways, under: Mapping[Tensor, set[Tensor]], risky: AbstractSet[Tensor]
) -> Ways:
    """The ways without conditions that depend on a node, so that they are gone more often.

    Conditions after those may be asked in vain, so that they must not fail: else the way ends.
    """
    kept: dict[Path, None] = {}
    for way in ways:
        known: list[tuple[Tensor | None, bool]] = []
        is_whole = True
        for condition, side in way:
            if condition is not None and node in under[condition]:
                is_whole = False
            elif is_whole or condition not in risky:
                known.append((condition, side))
            else:
                break
        kept[tuple(known)] = None
    return tuple(kept)


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
) -> list[Tensor]:
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
                condition = reduce(logical_or, _each(gates[node], done))
                pairs = zip(siblings, new, strict=True)
                unneeded = [_unneeded(old, each, done, risky) for old, each in pairs]
                new = chosen_of(condition, new, unneeded)
        done.update(zip(siblings, new, strict=True))
    return [done[root] for root in roots]


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


def _each(ways: Ways, done: Mapping[Tensor, Tensor]) -> Iterator[Tensor]:
    """For each way the condition that it is gone. What decides at its end may fail, too."""
    for way in ways:
        gone = scalar_constant(True, BOOL)
        for condition, side in reversed(way):
            if condition is not None:
                refused = scalar_constant(False, BOOL)
                sides = (gone, refused) if side else (refused, gone)
                (gone,) = chosen_of(done[condition], *([each] for each in sides))
        yield gone
