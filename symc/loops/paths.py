"""Where nodes are needed: on which sides of branches, in which loops that do steps.

path = ((condition, side), ...)      from the outermost branch inwards
ways = (path, ...)                   all that lead from the place of a node to its uses
"""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TypeAlias

from symc.graph.dims import sizes
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.body import Body
from symc.loops.branch import IfElse
from symc.loops.entered import may_have_none
from symc.loops.scan import Scan
from symc.tensor.logic import gt

Path: TypeAlias = tuple[tuple[Tensor | None, bool], ...]
Ways: TypeAlias = tuple[Path, ...]

SOME: Path = ((None, True),)  # where only some steps of a loop, of those it does, need something

_MOST = 32  # ways; of more conditions none is asked, and the value computed in any case


def places_of(
    roots: Sequence[Tensor], order: Sequence[Tensor], *, lengths_inside: bool = False
) -> dict[Tensor, Path]:
    """Where each node is needed.

    All results of a loop or branch are in one place: it is done once, though but one of them may be
    needed on one side only. The lengths of what a side needs are needed outside of it, unless they
    are to be where it needs them: `lengths_inside`.
    """
    places: dict[Tensor, Path] = dict.fromkeys(roots, ())
    never: dict[Tensor, Path] = {}

    def need(node: Tensor, path: Path) -> None:
        # On both sides of one condition nothing is: an `ifelse` within a side of its own condition.
        found = never if is_never(path) else places
        found[node] = shared_path(found[node], path) if node in found else path

    for siblings in reversed(computed_together(order)):
        node = siblings[0]
        for other in siblings:
            if other not in places:
                places[other] = never[other]
            need(node, places[other])
        places.update(dict.fromkeys(siblings, places[node]))
        for arg, side in uses_of(siblings, lengths_inside=lengths_inside):
            need(arg, (*places[node], *side))
    return places


def ways_of(
    roots: Sequence[Tensor], order: Sequence[Tensor], places: Mapping[Tensor, Path]
) -> dict[Tensor, Ways]:
    """For each node the sides that need it, from its place on; none if it is needed in any case."""
    ways: dict[Tensor, Ways] = dict.fromkeys(roots, ())
    for siblings in reversed(computed_together(order)):
        base = places[siblings[0]]
        each = [ways[node] for node in siblings if node in ways]
        own = merged(way for one in each for way in one) if all(each) else ()
        ways.update(dict.fromkeys(siblings, own))
        for arg, side in uses_of(siblings):
            place = places[arg]
            if len(place) > len(base):  # inside of one side: there is no other way to it
                found = [side[len(place) - len(base) :]]
            else:
                found = [(*base[len(place) :], *way, *side) for way in own or ((),)]
            found = [way for way in found if not is_never((*place, *way))]
            if found:
                old = ways.get(arg)
                ways[arg] = merged(found) if old is None else merged([*found, *old]) if old else ()
    return {node: ways.get(node, ()) for node in order}


def merged(ways: Iterable[Path]) -> Ways:
    """The ways, as few as possible: both sides of a branch are the way to it.

    Ways with all conditions of another say nothing that it does not. None if one is empty, or of
    many.
    """
    found = {way: frozenset(way) for way in ways}
    if not all(found):
        return ()
    for way, own in found.items():
        if any(other < own for other in found.values()):
            return merged(w for w, s in found.items() if not any(o < s for o in found.values()))
        condition, side = way[-1]
        if (*way[:-1], (condition, not side)) in found:
            return merged([*found, way[:-1]])
    return tuple(found) if len(found) <= _MOST else ()


def is_never(path: Path) -> bool:
    """Whether a path is on both sides of one condition."""
    return len(set(path)) > len(dict(path))


def computed_together(order: Sequence[Tensor]) -> list[list[Tensor]]:
    """The nodes in an order of arguments before users, all results of a loop or branch as one."""
    found: list[list[Tensor]] = []
    results: dict[object, list[Tensor]] = {}
    for node in order:
        key = _of_all_results(node)
        siblings = None if key is None else results.get(key)
        if siblings is None:
            found.append([node])
            if key is not None:
                results[key] = found[-1]
        else:
            siblings.append(node)
    return found


def uses_of(
    siblings: Sequence[Tensor], *, lengths_inside: bool = False
) -> Iterator[tuple[Tensor, Path]]:
    """What nodes that are computed together need, and on which sides of them."""
    shown = list(siblings)  # what has its shape outside: results, and values a branch may give
    for arg, side in zip(siblings[0].args, _sides_of(siblings[0]), strict=True):
        yield arg, side
        if side and lengths_inside:
            yield from zip(computed_lengths([arg]), repeat(side), strict=False)
        elif side:
            shown.append(arg)
    for source in dict.fromkeys(computed_lengths(shown)):
        yield source, ()


def _of_all_results(node: Tensor) -> object:
    """What the results of one loop or branch have in common; None for other nodes."""
    match node.op:
        case Scan() as op:
            return op.common(), node.args
        case IfElse(count=count):
            return count, node.args
        case _:
            return None


def computed_lengths(nodes: Iterable[Tensor]) -> Iterator[Tensor]:
    """The values that lengths of nodes are."""
    for node in nodes:
        for dim in node.type.shape:
            if not isinstance(dim, int):
                yield from (size.source for size in sizes(dim) if size.axis is None)


def _sides_of(node: Tensor) -> Iterator[Path]:
    """For each argument the sides that need it: of a branch, of a loop that does steps, of steps.

    None of these for what is needed in any case.
    """
    match node.op:
        case IfElse(count=count):
            yield ()
            for number in range(1, len(node.args)):
                yield ((node.args[0], number <= count),)
        case Scan() as op:
            begun = begun_path(op, node.args)
            first = len(node.args) - len(op.split(node.args)[3])
            some = frozenset(of_some_steps(op, node.args))
            yield from repeat((), first)
            for number in range(first, len(node.args)):
                yield (*begun, *SOME) if number in some else begun
        case _:
            yield from repeat((), len(node.args))


def shared_path(first: Path, second: Path) -> Path:
    """The path that both begin with."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return first[:count]


def of_some_steps(op: Scan, args: Sequence[Tensor]) -> list[int]:
    """The numbers of the arguments that do not change, of which only some steps need the value."""
    more = len(args) - len(op.body.slots)  # of a state that reaches back, some slots have rows
    first = len(args) - len(op.split(args)[3])
    return [number + more for number in _on_sides(op.body) if number + more >= first]


@lru_cache(maxsize=256)
def _on_sides(body: Body) -> tuple[int, ...]:
    """The numbers of the slots that are needed on sides of branches alone."""
    order = walk(body.results)
    places = places_of(body.results, order)
    ways = ways_of(body.results, order, places)
    return tuple(
        number
        for number, slot in enumerate(body.slots)
        if slot in ways and (places[slot] or ways[slot])
    )


atexit.register(_on_sides.cache_clear)  # nodes that outlive the import system cannot be compared


def begun_path(op: Scan, args: Sequence[Tensor]) -> Path:
    """The side on which a loop does steps, if it may do none."""
    return ((some_steps(args[0]), True),) if may_have_none(op, args) else ()


def some_steps(steps: Tensor) -> Tensor:
    """The condition that a loop does steps."""
    return gt(steps, 0)
