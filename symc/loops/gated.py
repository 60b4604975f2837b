"""What may fail and only sides of branches need, of several conditions: computed if one holds.

    ifelse(a, z[j], 0.) + ifelse(b, z[j], 1.)

reads ``z[j]`` on two sides, so neither branch can have it to itself. It becomes
``ifelse(a | b, z[j], 0)``, which is computed once, before both, and not at all where neither side
is taken. A value on which one of the conditions depends is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TypeAlias

from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.loops.branch import IfElse, chosen_of
from symc.loops.entered import Scope, may_fail
from symc.loops.paths import Path, computed_together, is_never, uses_of
from symc.tensor.logic import logical_and, logical_not, logical_or
from symc.tensor.slices import zeros_for

Ways: TypeAlias = tuple[Path, ...]

_MOST = 32  # ways; of more conditions none is asked, and the value computed in any case


def behind_conditions(
    roots: Sequence[Tensor], order: Sequence[Tensor], places: Mapping[Tensor, Path], scope: Scope
) -> list[Tensor] | None:
    """The roots with such values on a side of a branch of their own; None if there are none."""
    if not any(isinstance(node.op, IfElse) for node in order):
        return None
    failing: dict[Ways, list[Tensor]] = {}
    for node, ways in reversed(_ways(roots, order, places).items()):
        if ways and node.args and may_fail([node], scope, by_lengths=False):
            failing.setdefault(ways, []).append(node)
    gates: dict[Tensor, Ways] = {}
    for ways, nodes in failing.items():
        before = set(_ordered(_conditions(ways), gates))
        gates.update((node, ways) for node in nodes if node not in before)
    return _rebuilt(roots, gates) if gates else None


def _ways(
    roots: Sequence[Tensor], order: Sequence[Tensor], places: Mapping[Tensor, Path]
) -> dict[Tensor, Ways]:
    """For each node the sides that need it, from its place on; none if it is needed in any case."""
    ways: dict[Tensor, Ways] = dict.fromkeys(roots, ())
    for siblings in reversed(computed_together(order)):
        place = places[siblings[0]]
        each = [ways[node] for node in siblings if node in ways]
        own = _all_of(each) if all(each) else ()
        ways.update(dict.fromkeys(siblings, own))
        for arg, side in uses_of(siblings):
            path = (*place, *side)
            if is_never(path):
                continue
            rest = tuple(one for one in path[len(places[arg]) :] if one[0] is not None)
            found = (rest,) if rest else own if path == places[arg] else ()
            old = ways.get(arg, found)
            both = _all_of([found, old]) if found and old else ()
            ways[arg] = both if len(both) <= _MOST else ()
    return ways


def _all_of(several: Sequence[Ways]) -> Ways:
    return tuple(dict.fromkeys(way for ways in several for way in ways))


def _conditions(ways: Ways) -> list[Tensor]:
    return [condition for way in ways for condition, _ in way if condition is not None]


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
            needed = [*node.args, *_conditions(gates.get(node, ()))]
            pending += [(other, False) for other in reversed(needed)]
    return list(done)


def _rebuilt(roots: Sequence[Tensor], gates: Mapping[Tensor, Ways]) -> list[Tensor]:
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
                zeros = [zeros_for(each, each.dtype) for each in new]
                new = chosen_of(condition, new, zeros)
        done.update(zip(siblings, new, strict=True))
    return [done[root] for root in roots]


def _each(ways: Ways, done: Mapping[Tensor, Tensor]) -> Iterator[Tensor]:
    """For each way the condition that it is gone."""
    for way in ways:
        sides = [done[c] if side else logical_not(done[c]) for c, side in way if c is not None]
        yield reduce(logical_and, sides)
