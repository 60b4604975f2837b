"""Values that are written into a region are read there by whoever reads the rest of it, too.

``b = b[1:-1].set(value); c = b[:-2] + value + b[2:]``: rewriting has made of the middle of b the
value itself, which is good for whoever needs no more of b. But c needs b as it lies in memory, and
for it the value would be stored a second time, beside b. So c reads it in b, and the loop that
computes it writes it there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc.graph.node import Tensor
from symc.graph.walks import rebuild, walk
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.views import broadcast_to

MOST = 32  # writes that are looked at: a thousand of them should not take a million looks


def read_where_written(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots, where values are read from the regions into which they are written."""
    order = walk(roots)
    writes = [node for node in order if _computes(node)][:MOST]
    if not writes:
        return list(roots)
    ends, users = set(roots), dict[Tensor, list[Tensor]]()
    for node in order:
        for arg in node.args:
            users.setdefault(arg, []).append(node)
    places: dict[Tensor, Tensor] = {}
    for write in writes:
        value = write.args[1]
        others = [user for user in users[value] if user is not write]
        if not others or value in ends or value in places or not all(map(_reads_views, others)):
            continue
        if _later(write, order, users, ends).issuperset(others):
            places[value] = write
    ordered = _after_writes(order, places) if places else None
    return list(roots) if ordered is None else _rebuilt(roots, ordered, places)


def _computes(node: Tensor) -> bool:
    """Whether a node sets a region to values that fill it, and are worth storing once."""
    if not isinstance(node.op, SliceWrite) or node.op.mode != "set":
        return False
    x, value, *given = node.args
    if not value.ndim or not isinstance(value.op, Elementwise | Cast):
        return False
    region = Slice(node.op.entries)(x, *given).type.shape
    if len(region) != value.ndim:
        return False
    # Lengths that are not known now are equal when the program runs, or it ends with an error.
    return all(
        one == other or not (isinstance(one, int) or isinstance(other, int))
        for one, other in zip(region, value.type.shape, strict=True)
    )


def _reads_views(user: Tensor) -> bool:
    """Whether a node reads an argument where that lies, in the loop that computes it."""
    return isinstance(user.op, Elementwise | Cast | Slice)


def _later(
    write: Tensor, order: Sequence[Tensor], users: Mapping[Tensor, Sequence[Tensor]],
    ends: AbstractSet[Tensor],
) -> set[Tensor]:  # fmt: skip
    """What is computed from a tensor, or only for what is."""
    found = {write}
    for node in order:
        if not found.isdisjoint(node.args):
            found.add(node)
    found.remove(write)
    for node in reversed(order):
        if node not in ends and node in users and found.issuperset(users[node]):
            found.add(node)
    return found


def _after_writes(order: Iterable[Tensor], places: Mapping[Tensor, Tensor]) -> list[Tensor] | None:
    """The nodes, each after the writes that it is to read; None if some wait for each other."""
    found: dict[Tensor, None] = {}
    begun: set[Tensor] = set()
    for last in order:
        pending = [last]
        while pending:
            node = pending[-1]
            needed = [arg if places.get(arg, node) is node else places[arg] for arg in node.args]
            missing = [each for each in needed if each not in found]
            if node in found or not missing:
                found[pending.pop()] = None
            elif node in begun:
                return None
            else:
                begun.add(node)
                pending += missing
    return list(found)


def _rebuilt(
    roots: Sequence[Tensor], order: Iterable[Tensor], places: dict[Tensor, Tensor]
) -> list[Tensor]:
    """The roots with values read from their places, but by those who write them there."""
    done: dict[Tensor, Tensor] = {}
    for node in order:
        args: list[Tensor] = []
        for arg in node.args:
            write = places.get(arg)
            if write is None or write is node:
                args.append(done[arg])
                continue
            assert isinstance(write.op, SliceWrite)
            given = [done[each] for each in write.args[2:]]
            region = Slice(write.op.entries)(done[write], *given)
            args.append(broadcast_to(region, arg.type.shape))
        done[node] = rebuild(node, args)
    return [done[root] for root in roots]
