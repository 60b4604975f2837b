"""What some steps of a loop need and takes long: the first of them computes it, others have it.

    def step(k, a):
        return symc.while_loop(lambda a: a > 1.0, lambda a: a - x[places].sum(), a + x[k])

    symc.fori_loop(0, n, step, 0.0)

A sum of elements at places may fail, so it must not be computed before the outer loop: none of its
steps may need it. And it is the same in all that do. So the outer loop has two states more: whether
the sum has been computed, and the sum. A step that needs it computes it if no step before did, and
fails where that fails. Where steps of an inner loop need it, that has these states, too: they begin
as those of the outer loop, which go on as they end. Of what is computed element by element, steps
that need single elements compute these again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce

from symc.codegen.dtypes import BOOL
from symc.codegen.record import replace
from symc.graph.dims import sizes
from symc.graph.inputs import scalar_constant
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import substitute, walk, walk_within
from symc.loops.branch import IfElse, chosen_of
from symc.loops.build import Carrying, LoopParts, opened, row_of
from symc.loops.gated import each_way
from symc.loops.paths import Path, Ways, merged, of_some_steps, places_of, ways_of
from symc.loops.scan import Scan
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.gather import Gather
from symc.tensor.logic import logical_and, logical_not, logical_or
from symc.tensor.reshape import Reshape
from symc.tensor.slices import Slice, SliceWrite, zeros_for
from symc.tensor.spans import WHOLE
from symc.tensor.views import BroadcastTo, DimShuffle, expand_dims


def keeping(loop: LoopParts, inside: AbstractSet[Tensor]) -> LoopParts:
    """The loop, in which what takes long of that `inside`, and does not change, is a state."""
    seen: set[Tensor] = set()
    while True:
        value = _next(loop, inside, seen)
        if value is None:
            return loop
        with located_at(value.where):
            begun = [scalar_constant(False, BOOL), zeros_for(value, value.dtype)]
            new = _with_states(loop, value, begun, inside)
        if new is None or not [*_inner_loops(walk(_results(new)), value)]:
            seen.add(value)  # what still needs it computes it for its state
        loop = loop if new is None else new


def _next(loop: LoopParts, inside: AbstractSet[Tensor], seen: AbstractSet[Tensor]) -> Tensor | None:
    """One of these values that what changes in the loop is computed of."""
    results = _results(loop)
    order = walk(results)
    varying = _varying(loop, order)
    used = {arg for node in order if node in varying for arg in node.args}.union(results)
    for node in order:
        is_next = node in inside and node in used and node not in seen
        if is_next and _takes_long(node, inside) and not _is_left(node, order, results):
            return node
    return None


def _is_left(value: Tensor, order: Sequence[Tensor], results: Sequence[Tensor]) -> bool:
    """Whether `codegen/passes/steps/once.py` keeps a value: a side alone has it in memory.

    That costs less. But it does not keep what a branch gives, nor loops that stop.
    """
    if _is_given(value, order, results):
        return False
    loops = (node.op for node in walk_within([value]))
    return not any(isinstance(op, Scan) and op.layout.stops for op in loops)


def _is_given(value: Tensor, order: Sequence[Tensor], results: Sequence[Tensor]) -> bool:
    """Whether a loop, a branch or the loop around has a value as a whole."""
    users = [node for node in order if value in node.args]
    return value in results or any(isinstance(node.op, Scan | IfElse) for node in users)


def _results(loop: LoopParts) -> list[Tensor]:
    condition = [] if loop.condition is None else [loop.condition]
    return [*(carry.result for carry in loop.carries), *loop.collected, *condition]


def _varying(loop: LoopParts, order: Sequence[Tensor]) -> set[Tensor]:
    """The nodes that may differ from step to step."""
    slots = [*(read.slots for read in loop.reads), *(carry.slots for carry in loop.carries)]
    varying = {loop.step}.union(*slots)
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


def _is_by_element(node: Tensor) -> bool:
    return not node.args or isinstance(node.op, Elementwise | Cast | Gather) or _is_short(node)


def _is_short(node: Tensor) -> bool:
    match node.op:
        case Slice() | DimShuffle() | BroadcastTo() | Reshape():
            return True
        case Elementwise() | Cast() | Gather() | IfElse():
            return not node.ndim
        case _:
            return False


def _with_states(
    loop: LoopParts, value: Tensor, begun: Sequence[Tensor], inside: AbstractSet[Tensor]
) -> LoopParts | None:
    """The loop with a value as a state, and whether it has been computed as another one.

    None if it is not known which steps need it.
    """
    initial = [expand_dims(each, 0) for each in begun]
    slots = [row_of(rows) for rows in initial]
    results = _results(loop)
    order = walk(results)
    places = places_of(results, order)
    every = ways_of(results, order, places)
    ways = _known_ways([value], value, places, every)
    if ways:
        if not _is_given(value, order, results) and all(map(_is_by_element, walk([value]))):
            return None  # of its elements those that are needed are computed
        asked = {condition for way in ways for condition, _ in way if condition is not None}
        if _varying(loop, order).isdisjoint(walk(asked)):  # it is asked before the loop
            return None
        now = _computed(value, ways, slots)
        made = {value: now[-1]}
    else:
        found = _in_inner_loop(order, value, slots, inside)
        if found is None:
            return None
        made, now = found
        around = _known_ways(made, value, places, every)
        if around:
            now = chosen_of(_taken(around), now, slots)
        elif any(places[node] or every[node] for node in made):
            return None
    rows = zip(initial, slots, now, strict=True)
    more = [Carrying(begin, (-1,), (slot,), result) for begin, slot, result in rows]
    return _over(loop, substitute(results, made), more)


def _known_ways(
    nodes: Iterable[Tensor], value: Tensor, places: Mapping[Tensor, Path],
    every: Mapping[Tensor, Ways],
) -> Ways:  # fmt: skip
    """All ways to some nodes; none if one has a condition that is not known or needs the value."""
    found = merged((*places[node], *way) for node in nodes for way in every[node] or ((),))
    for way in found:
        for condition, _ in way:
            if condition is None or value in walk([condition]):
                return ()
    return found


def _taken(ways: Ways) -> Tensor:
    """The condition that one of these ways is gone."""
    same = {condition: condition for way in ways for condition, _ in way if condition is not None}
    return reduce(logical_or, each_way(ways, same))


def _computed(value: Tensor, ways: Ways, slots: Sequence[Tensor]) -> list[Tensor]:
    """Whether a value has been computed, and the value, after what goes these ways."""
    is_made, kept = slots
    needed = _taken(ways)
    # Where the state is: steps that do not compute it then need no copy of an array.
    new = SliceWrite((WHOLE,) * value.ndim, "set")(kept, value) if value.ndim else value
    now = chosen_of(logical_and(needed, logical_not(is_made)), [new], [kept])
    return [logical_or(is_made, needed), *now]


def _in_inner_loop(
    order: Sequence[Tensor], value: Tensor, slots: Sequence[Tensor], inside: AbstractSet[Tensor]
) -> tuple[dict[Tensor, Tensor], list[Tensor]] | None:
    """The results of an inner loop some of whose steps need a value, with these states as its own.

    And what the states are after it. None if there is no such loop.
    """
    for node in _inner_loops(order, value):
        assert isinstance(node.op, Scan)
        inner = _with_states(opened(node.op, node.args), value, slots, inside)
        if inner is not None:
            loop = inner.close(inside)
            first = len(loop.layout.states) - len(slots)
            finals = [loop.final(first + number)[0] for number in range(len(slots))]
            siblings = [one for one in order if _are_one(one, node)]
            new = {one: loop.part(one.op.part) for one in siblings if isinstance(one.op, Scan)}
            return new, finals
    return None


def _inner_loops(order: Sequence[Tensor], value: Tensor) -> Iterator[Tensor]:
    """The loops of which some steps need a value."""
    for node in order:
        if isinstance(node.op, Scan) and value in node.args:
            some = [node.args[number] for number in of_some_steps(node.op, node.args)]
            yield from [node] if value in some else []


def _are_one(one: Tensor, other: Tensor) -> bool:
    """Whether two nodes are results of one loop."""
    loops = one.op, other.op
    return all(isinstance(op, Scan) for op in loops) and (one.op.common(), one.args) == (
        other.op.common(),
        other.args,
    )


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
