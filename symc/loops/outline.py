"""Before all other rewriting: nodes that only one side of a branch needs move into it.

So do those that only the steps of a loop need, where there may be none: see `entered.py`.

The place of a node is a path of sides, from the outermost branch inwards: the longest one that all
its uses share. So a node that is used outside, or on both sides, stays outside. Branches on one
condition share their sides: nodes that both need there are computed by both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial

from symc.codegen.dtypes import INT64
from symc.codegen.record import replace
from symc.errors import TooLarge
from symc.graph.inputs import Constant
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import rebuild, walk
from symc.loops.anew import anew, without_anew
from symc.loops.body import Body
from symc.loops.branch import Choice, IfElse
from symc.loops.closing import over_slots, slots_for
from symc.loops.entered import Scope, may_fail, may_have_none
from symc.loops.gated import behind_conditions
from symc.loops.late_lengths import late_lengths
from symc.loops.paths import (
    Path,
    begun_path,
    computed_lengths,
    places_of,
    shared_path,
    some_steps,
)
from symc.loops.returned import left, returned
from symc.loops.scan import Scan
from symc.loops.unsliced import specified_inside
from symc.tensor.lengths import dim_of, tensor_of
from symc.tensor.logic import where
from symc.tensor.slices import zeros_for
from symc.tensor.specify import specify_lengths
from symc.tensor.views import DimShuffle


def outline(roots: Sequence[Tensor], *, loops: bool = True) -> list[Tensor]:
    """The roots with every `IfElse` made a `Choice`, also in the bodies of loops.

    With `loops` so is what may fail of that which only the steps of a loop need.
    """
    found = _outlined(roots, Scope() if loops else None)
    return found if found == list(roots) else without_anew(found)


def _outlined(
    roots: Sequence[Tensor], scope: Scope | None, opened_bodies: AbstractSet[Body] = frozenset()
) -> list[Tensor]:
    """`outline`, with the bodies to which something has returned in a loop around already."""
    order = walk(roots)
    if not any(isinstance(node.op, IfElse | Scan) for node in order):
        return list(roots)
    if scope is not None and (lengths := late_lengths(roots, order, scope)) is not None:
        roots, order = lengths, walk(lengths)
    places = places_of(roots, order)
    if scope is not None and (some := returned(roots, order, places, scope)) is not None:
        roots, opened_bodies = some[0], opened_bodies | some[1]
        order = walk(roots)
        places = places_of(roots, order)
    if scope is not None and (late := anew(roots, order, places, scope)) is not None:
        roots, order = late, walk(late)
        places = places_of(roots, order)
    if scope is not None and (gated := behind_conditions(roots, order, places, scope)) is not None:
        roots, order = gated, walk(gated)
        places = places_of(roots, order)
    done: dict[Tensor, Tensor] = {}
    new_places: dict[Tensor, Path] = {}
    loops: dict[object, tuple[Body, list[Tensor]]] = {}
    for node in order:
        args, place = [done[arg] for arg in node.args], _as_done(places[node], done)
        if isinstance(node.op, IfElse):
            with located_at(node.where):
                new = _on_known_side(node, args, places[node])
                if new is None:
                    new = _choice(node.op, args, place, new_places)
                else:
                    _place_new([new], place, new_places)
        elif isinstance(node.op, Scan):
            key = (node.op.common(), node.args)
            with located_at(node.where):
                if key not in loops:
                    loops[key] = _loop(node.op, args, place, new_places, scope, opened_bodies)
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
        new_places[new] = shared_path(new_places.get(new, place), place)
    return [done[root] for root in roots]


def _as_done(path: Path, done: Mapping[Tensor, Tensor]) -> Path:
    """A path over what its conditions have become: several may have become one.

    Gradients have branches of which the conditions are outlined, as values do not yet.
    """
    return tuple((None if one is None else _condition(one, done), side) for one, side in path)


def _condition(condition: Tensor, done: Mapping[Tensor, Tensor]) -> Tensor:
    """What a condition has become; that a loop does steps need not be in the graph."""
    if condition in done:
        return done[condition]
    return rebuild(condition, [done.get(arg, arg) for arg in condition.args])


def _loop(
    op: Scan, args: list[Tensor], place: Path, places: dict[Tensor, Path], scope: Scope | None,
    opened_bodies: AbstractSet[Body],
) -> tuple[Body, list[Tensor]]:  # fmt: skip
    """The body of a loop and its arguments, both with branches.

    Of a loop to which something has returned, those that do not change are outside.
    """
    if scope is None:
        return Body(op.body.slots, tuple(_outlined(op.body.results, None))), args
    op, args = specified_inside(op, args)
    inside = scope.inside(op, args)
    body = Body(op.body.slots, tuple(_outlined(op.body.results, inside, opened_bodies)))
    if op.body in opened_bodies:
        op, args = left(replace(op, body=body), args)
        _place_new(list(computed_lengths(args)), place, places)  # as `places_of` has them
        _place_new(args, (*place, *begun_path(op, args)), places)
        body = op.body
    return body, _entered(op, args, place, places, scope)


def _entered(
    op: Scan, args: list[Tensor], place: Path, places: dict[Tensor, Path], scope: Scope
) -> list[Tensor]:
    """The arguments of a loop; those that may fail are computed if there is a step."""
    if not may_have_none(op, args):
        return args
    given = op.split(args)[3]
    same = [_as_known(arg) for arg in given]
    for arg, value in zip(given, same, strict=True):
        _place_new([value], places.get(arg, ()), places)
    first = len(args) - len(same)
    failing = [
        number
        for number, arg in enumerate(same, first)
        if may_fail(_inside([arg], len(place), places), scope)
    ]
    some = some_steps(args[0])
    values = [same[number - first] for number in failing]
    sides = [some, *values, *(zeros_for(value, value.dtype) for value in values)]
    result = [*args[:first], *same]
    for part, number in enumerate(failing):
        result[number] = _choice(IfElse(len(failing), part), sides, place, places)
    _place_new(result, place, places)
    return result


def _as_known(value: Tensor) -> Tensor:
    """A length, computed as its array's type has it: that of an array which may fail need not.

    A number beyond 64 bits is no length but wraps, as numbers of programs do.
    """
    if value.ndim or value.dtype is not INT64:
        return value
    with suppress(TooLarge):
        return tensor_of(dim_of(value))
    return value


def _on_known_side(node: Tensor, args: Sequence[Tensor], place: Path) -> Tensor | None:
    """The value of an `ifelse` on a side of its own condition, with the lengths of the result.

    What its other value needs is in no place at all: a branch would take it from outside.
    """
    assert isinstance(node.op, IfElse)
    for condition, side in place:
        if condition is node.args[0]:
            value = args[1 + node.op.part + (0 if side else node.op.count)]
            return specify_lengths(value, node.op(*args))
    return None


def _place_new(nodes: Sequence[Tensor], place: Path, places: dict[Tensor, Path]) -> None:
    """Says where nodes are that were made for what is needed in a place."""
    for node in walk(nodes, stop=lambda node: node in places):
        places.setdefault(node, place)


def _choice(op: IfElse, args: Sequence[Tensor], place: Path, places: dict[Tensor, Path]) -> Tensor:
    """The branch around bodies that compute the nodes on one of its sides."""
    condition, *values = args
    known = condition.op
    if isinstance(known, Constant):
        return values[op.part if bool(known.value) else op.count + op.part]
    sides = values[: op.count], values[op.count :]
    if sides[0][op.part] is sides[1][op.part]:
        return sides[0][op.part]
    inside = [_with_rows(_inside(side, len(place), places)) for side in sides]
    alike = all(a.type.shape == b.type.shape for a, b in zip(*sides, strict=True))
    if alike and not any(inside):
        return where(condition, sides[0][op.part], sides[1][op.part])
    outside, replaced = slots_for((), _boundary(sides, inside))
    slots = tuple(replaced[node] for node in outside)
    bodies = [Body(slots, over_slots(side, replaced)) for side in sides]
    return Choice(bodies[0], bodies[1], op.part)(condition, *outside)


def _with_rows(nodes: set[Tensor]) -> set[Tensor]:
    """With the arrays that loops among some nodes begin with, as one row: views of others.

    Where both sides have such loops, it could be outside of both; then it could not be seen that
    what they give begins as an array outside, in which they may write.
    """
    args = [arg for node in nodes if isinstance(node.op, Scan) for arg in node.args]
    return nodes.union(
        arg for arg in args if isinstance(arg.op, DimShuffle) and arg.op.order[:1] == (None,)
    )


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
