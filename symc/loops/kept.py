"""What some steps of a loop need and takes long: the first of them computes it, others have it.

    def step(k, a):
        return symc.while_loop(lambda a: a > 1.0, lambda a: a - x[places].sum(), a + x[k])

    symc.fori_loop(0, n, step, 0.0)

A sum of elements at places may fail, so it must not be computed before the outer loop: none of its
steps may need it. And it is the same in all that do. So the outer loop has two states more: whether
the sum has been computed, and the sum. A step that needs it computes it if no step before did, and
fails where that fails. Elements and what is computed of a few numbers are read again in each step:
that takes no longer than to ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import reduce

from symc.codegen.dtypes import BOOL
from symc.codegen.record import replace
from symc.graph.dims import sizes
from symc.graph.inputs import scalar_constant
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import substitute, walk
from symc.loops.branch import IfElse, chosen_of
from symc.loops.build import Carrying, LoopParts, row_of
from symc.loops.gated import each_way
from symc.loops.paths import Path, Ways, merged, places_of, ways_of
from symc.loops.scan import Scan
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.gather import Gather
from symc.tensor.logic import logical_and, logical_not, logical_or
from symc.tensor.reshape import Reshape
from symc.tensor.slices import WHOLE, Slice, SliceWrite, zeros_for
from symc.tensor.views import BroadcastTo, DimShuffle, expand_dims


def keeping(loop: LoopParts, inside: AbstractSet[Tensor]) -> LoopParts:
    """The loop, in which what takes long of that `inside`, and does not change, is a state."""
    seen: set[Tensor] = set()
    while True:
        found = _next(loop, inside, seen)
        if found is None:
            return loop
        ways, values = found
        seen.update(values)
        loop = _with_states(loop, ways, values)


def _next(
    loop: LoopParts, inside: AbstractSet[Tensor], seen: AbstractSet[Tensor]
) -> tuple[Ways, list[Tensor]] | None:
    """Some of these values, of which the same steps need all, and the ways to where they do."""
    results = _results(loop)
    order = walk(results)
    varying = _varying(loop, order)
    used = {arg for node in order if node in varying for arg in node.args}.union(results)
    waiting = [
        node
        for node in order
        if node in inside and node in used and node not in seen and _takes_long(node, inside)
    ]
    if not waiting:
        return None
    places = places_of(results, order)
    every = ways_of(results, order, places)
    found: dict[Ways, list[Tensor]] = {}
    for node in waiting:
        ways = _known_ways(node, places[node], every[node])
        asked = {condition for way in ways for condition, _ in way if condition is not None}
        if not varying.isdisjoint(walk(asked)):  # conditions need not be in the graph
            found.setdefault(ways, []).append(node)
    return next(iter(found.items()), None)


def _results(loop: LoopParts) -> list[Tensor]:
    condition = [] if loop.condition is None else [loop.condition]
    return [*(carry.result for carry in loop.carries), *loop.collected, *condition]


def _varying(loop: LoopParts, order: Sequence[Tensor]) -> set[Tensor]:
    """The nodes that may differ from step to step."""
    varying = {loop.step}.union(*(part.slots for part in (*loop.reads, *loop.carries)))
    for node in order:
        if not varying.isdisjoint(node.args):
            varying.add(node)
    return varying


def _takes_long(value: Tensor, inside: AbstractSet[Tensor]) -> bool:
    """Whether more than elements and numbers is computed for a value, whose lengths are known."""
    lengths = {size.source for dim in value.type.shape for size in sizes(dim)}
    if not inside.isdisjoint(walk(lengths)):
        return False
    return any(node in inside and not _is_short(node) for node in walk([value]))


def _is_short(node: Tensor) -> bool:
    match node.op:
        case Slice() | DimShuffle() | BroadcastTo() | Reshape():
            return True
        case Elementwise() | Cast() | Gather() | IfElse():
            return not node.ndim
        case _:
            return False


def _known_ways(node: Tensor, place: Path, ways: Ways) -> Ways:
    """All ways to a value; none if one has a condition that is not known or depends on it."""
    found = merged((*place, *way) for way in ways or ((),))
    for way in found:
        for condition, _ in way:
            if condition is None or node in walk([condition]):
                return ()
    return found


def _with_states(loop: LoopParts, ways: Ways, values: Sequence[Tensor]) -> LoopParts:
    """The loop, whose steps that go one of these ways compute values if none has done so."""
    with located_at(values[0].where):
        begun = [scalar_constant(False, BOOL), *(zeros_for(each, each.dtype) for each in values)]
        initial = [expand_dims(each, 0) for each in begun]
        is_made, *kept = [row_of(rows) for rows in initial]
        same = {condition: condition for way in ways for condition, _ in way if condition is not None}
        needed = reduce(logical_or, each_way(ways, same))
        new = [_written(*pair) for pair in zip(kept, values, strict=True)]
        now = chosen_of(logical_and(needed, logical_not(is_made)), new, kept)
        results = [logical_or(is_made, needed), *now]
    new = substitute(_results(loop), dict(zip(values, now, strict=True)))
    more = [
        Carrying(rows, (-1,), (slot,), result)
        for rows, slot, result in zip(initial, [is_made, *kept], results, strict=True)
    ]
    return _over(loop, new, more)


def _written(kept: Tensor, value: Tensor) -> Tensor:
    """A value, where the state is: steps that do not compute it then need no copy of an array."""
    return SliceWrite((WHOLE,) * value.ndim, "set")(kept, value) if value.ndim else value


def _over(loop: LoopParts, new: Sequence[Tensor], more: Sequence[Carrying]) -> LoopParts:
    """The loop with other results and more states."""
    results = iter(new)
    carries = [replace(carry, result=next(results)) for carry in loop.carries]
    return replace(
        loop,
        carries=(*carries, *more),
        collected=tuple([next(results) for _ in loop.collected]),
        condition=next(results, None),
    )
