"""Before all other rewriting: nodes that only one side of a branch needs move into it.

So do those that only the steps of a loop need, where there may be none: see `entered.py`.

The place of a node is a path of sides, from the outermost branch inwards: the longest one that all
its uses share. So a node that is used outside, or on both sides, stays outside. Branches on one
condition share their sides: nodes that both need there are computed by both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import repeat
from typing import TypeAlias

from symc.codegen.dtypes import INT64
from symc.codegen.record import replace
from symc.graph.dims import sizes
from symc.graph.inputs import Constant
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import walk
from symc.loops.body import Body, over_slots, slots_for
from symc.loops.branch import Choice, IfElse
from symc.loops.entered import Scope, may_fail, may_have_none
from symc.loops.scan import Scan
from symc.tensor.lengths import dim_of, tensor_of
from symc.tensor.logic import gt, where
from symc.tensor.slices import zeros_for

Path: TypeAlias = tuple[tuple[Tensor, bool], ...]


def outline(roots: Sequence[Tensor], *, loops: bool = True) -> list[Tensor]:
    """The roots with every `IfElse` made a `Choice`, also in the bodies of loops.

    With `loops` so is what may fail of that which only the steps of a loop need.
    """
    return _outlined(roots, Scope() if loops else None)


def _outlined(roots: Sequence[Tensor], scope: Scope | None) -> list[Tensor]:
    order = walk(roots)
    if not any(isinstance(node.op, IfElse | Scan) for node in order):
        return list(roots)
    places = _places(roots, order)
    done: dict[Tensor, Tensor] = {}
    new_places: dict[Tensor, Path] = {}
    loops: dict[object, tuple[Body, list[Tensor]]] = {}
    for node in order:
        args = [done[arg] for arg in node.args]
        if isinstance(node.op, IfElse):
            with located_at(node.where):
                new = _choice(node.op, args, places[node], new_places)
        elif isinstance(node.op, Scan):
            key = (node.op.common(), node.args)
            with located_at(node.where):
                if key not in loops:
                    loops[key] = _loop(node.op, args, places[node], new_places, scope)
                body, args = loops[key]
                new = replace(node.op, body=body)(*args)
        else:
            new = node
            if any(arg is not old for arg, old in zip(args, node.args, strict=True)):
                with located_at(node.where):
                    new = node.op(*args)
        if new.name is None:
            new.name = node.name
        done[node] = new
        new_places[new] = _shared(new_places.get(new, places[node]), places[node])
    return [done[root] for root in roots]


def _loop(
    op: Scan, args: list[Tensor], place: Path, places: dict[Tensor, Path], scope: Scope | None
) -> tuple[Body, list[Tensor]]:
    """The body of a loop and its arguments, both with branches."""
    inner = None if scope is None else scope.inside(op, args)
    body = Body(op.body.slots, tuple(_outlined(op.body.results, inner)))
    return body, args if scope is None else _entered(op, args, place, places, scope)


def _entered(
    op: Scan, args: list[Tensor], place: Path, places: dict[Tensor, Path], scope: Scope
) -> list[Tensor]:
    """The arguments of a loop; those that may fail are computed if there is a step."""
    if not may_have_none(op, args):
        return args
    same = [_as_known(arg) for arg in op.split(args)[3]]
    first = len(args) - len(same)
    failing = [
        number
        for number, arg in enumerate(same, first)
        if may_fail(_inside([arg], len(place), places), scope)
    ]
    some = _some_steps(args[0])
    values = [same[number - first] for number in failing]
    given = [some, *values, *(zeros_for(value, value.dtype) for value in values)]
    result = [*args[:first], *same]
    for part, number in enumerate(failing):
        result[number] = _choice(IfElse(len(failing), part), given, place, places)
    return result


def _as_known(value: Tensor) -> Tensor:
    """A length, computed as its array's type has it: that of an array which may fail need not."""
    is_length = not value.ndim and value.dtype is INT64
    return tensor_of(dim_of(value)) if is_length else value


def _some_steps(steps: Tensor) -> Tensor:
    """The condition that a loop does steps."""
    return gt(steps, 0)


def _places(roots: Sequence[Tensor], order: Sequence[Tensor]) -> dict[Tensor, Path]:
    """Where each node is needed; all results of one loop or branch where any of them is.

    Otherwise the loop would run twice, if one result is needed on one side only.
    """
    kin = _kin(order)
    places = _needed(order, dict.fromkeys(roots, ()))
    while True:
        joint = [reduce(_shared, (places[node] for node in nodes)) for nodes in kin]
        moved = {
            node: place
            for nodes, place in zip(kin, joint, strict=True)
            for node in nodes
            if places[node] != place
        }
        if not moved:
            return places
        known = {node: place for nodes, place in zip(kin, joint, strict=True) for node in nodes}
        places = _needed(order, known | dict.fromkeys(roots, ()))


def _kin(order: Sequence[Tensor]) -> list[list[Tensor]]:
    """The results of each loop and branch that has several."""
    found: dict[object, list[Tensor]] = {}
    for node in order:
        match node.op:
            case Scan() as op:
                found.setdefault((op.common(), node.args), []).append(node)
            case IfElse(count=count):
                found.setdefault((count, node.args), []).append(node)
            case _:
                pass
    return [nodes for nodes in found.values() if len(nodes) > 1]


def _needed(order: Sequence[Tensor], places: dict[Tensor, Path]) -> dict[Tensor, Path]:
    """Where each node is needed by others; `places` has some that are needed there anyway."""

    def need(node: Tensor, path: Path) -> None:
        places[node] = _shared(places[node], path) if node in places else path

    for node in reversed(order):
        place = places[node]
        shown = [node]  # what has its shape outside: results, and values that a branch may give
        for arg, side in zip(node.args, _sides(node), strict=True):
            need(arg, place if side is None else (*place, side))
            if side is not None:
                shown.append(arg)
        for source in dict.fromkeys(_computed_lengths(shown)):
            need(source, place)
    return places


def _computed_lengths(nodes: Sequence[Tensor]) -> Iterator[Tensor]:
    """The values that lengths of nodes are."""
    for node in nodes:
        for dim in node.type.shape:
            if not isinstance(dim, int):
                yield from (size.source for size in sizes(dim) if size.axis is None)


def _sides(node: Tensor) -> Iterator[tuple[Tensor, bool] | None]:
    """For each argument the side of a condition that needs it, None for both."""
    match node.op:
        case IfElse(count=count):
            yield None
            for number in range(1, len(node.args)):
                yield node.args[0], number <= count
        case Scan() as op if may_have_none(op, node.args):
            same = len(op.split(node.args)[3])
            yield from repeat(None, len(node.args) - same)
            yield from repeat((_some_steps(node.args[0]), True), same)
        case _:
            yield from repeat(None, len(node.args))


def _shared(first: Path, second: Path) -> Path:
    """The path that both begin with."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return first[:count]


def _choice(op: IfElse, args: Sequence[Tensor], place: Path, places: dict[Tensor, Path]) -> Tensor:
    """The branch around bodies that compute the nodes on one of its sides."""
    condition, *values = args
    known = condition.op
    if isinstance(known, Constant):
        return values[op.part if bool(known.value) else op.count + op.part]
    sides = values[: op.count], values[op.count :]
    inside = [_inside(side, len(place), places) for side in sides]
    alike = all(a.type.shape == b.type.shape for a, b in zip(*sides, strict=True))
    if alike and not any(inside):
        return where(condition, sides[0][op.part], sides[1][op.part])
    outside, replaced = slots_for((), _boundary(sides, inside))
    slots = tuple(replaced[node] for node in outside)
    bodies = [Body(slots, over_slots(side, replaced)) for side in sides]
    return Choice(bodies[0], bodies[1], op.part)(condition, *outside)


def _is_outside(nodes: set[Tensor], node: Tensor) -> bool:
    return node not in nodes


def _boundary(sides: Sequence[Sequence[Tensor]], inside: Sequence[set[Tensor]]) -> Iterator[Tensor]:
    """The nodes outside that are needed inside, or are results."""
    for results, nodes in zip(sides, inside, strict=True):
        for node in walk(results, stop=partial(_is_outside, nodes)):
            is_number = isinstance(node.op, Constant) and not node.type.shape
            if node not in nodes and not is_number:
                yield node


def _inside(values: Sequence[Tensor], depth: int, places: dict[Tensor, Path]) -> set[Tensor]:
    """The nodes that stand deeper than the branch itself: those of this side."""
    order = walk(values, stop=lambda node: len(places.get(node, ())) <= depth)
    return {node for node in order if node.args and len(places.get(node, ())) > depth}
