"""States that are another state's row of the step before: they become one state with more rows.

Of ``old, now = now, f(old, now)``, as in equations of second order in time and in multistep
methods, `old` is `now` one step later. Kept apart, each step copies `now` to where `old` is. As one
state it is in a ring of its last rows, where nothing moves, and a step may write over the oldest.

Of ``old, now = now, now[1:-1].set(f(old[1:-1], now))`` a step would copy what it does not set. But
that is the same in all steps. So it is copied once, to the rows that are given as older ones, and
each step sets a part of the oldest row: ``old[1:-1].set(...)``.
"""

from __future__ import annotations

from functools import partial

from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.build import Carrying, row_of
from symc.loops.opened import Get, OpenLoop
from symc.loops.scan import Part
from symc.tensor.lengths import Length
from symc.tensor.shape import concatenate
from symc.tensor.slices import Slice, SliceWrite


def join_delayed(loop: OpenLoop) -> None:
    """Makes each state, and those that follow it by some steps, one state."""
    followers = _followers(loop)
    leaders = followers.keys() - set(followers.values())
    for leader in sorted(leaders):
        chain = [leader]
        while chain[-1] in followers:
            chain.append(followers[chain[-1]])
        _join(loop, chain)


def _followers(loop: OpenLoop) -> dict[int, int]:
    """By the number of a state, that of one whose new row is the oldest row of the first."""
    oldest = {_oldest(carry): number for number, carry in loop.carries.items()}
    found: dict[int, int] = {}
    for number, carry in loop.carries.items():
        leader = oldest.get(carry.result)
        if leader is not None and leader != number and _may_follow(carry, loop.carries[leader]):
            found.setdefault(leader, number)
    return found


def _oldest(carry: Carrying) -> Tensor | None:
    """The slot of the oldest row that steps read."""
    return carry.slots[carry.taps.index(-carry.state.depth)] if carry.taps else None


def _may_follow(carry: Carrying, leader: Carrying) -> bool:
    """Whether two states can be rows of one. Numbers stay apart: they are in registers."""
    if not carry.taps or carry.initial.dtype is not leader.initial.dtype:
        return False
    rows = carry.initial.type.shape[1:], leader.initial.type.shape[1:]
    return len(rows[0]) == len(rows[1]) and not any(all(dim == 1 for dim in row) for row in rows)


def _join(loop: OpenLoop, chain: list[int]) -> None:
    """Makes the states of a chain one, with the number of the first; the last is oldest."""
    parts = _in_the_oldest(loop, chain) or [loop.carries[number] for number in chain]
    initial = concatenate([part.initial for part in reversed(parts)])
    taps: list[int] = []
    slots: list[Tensor] = []
    new: dict[Tensor, Tensor] = {}
    back = 0  # how many steps a state of the chain is behind the first
    for part in parts:
        for tap, slot in zip(part.taps, part.slots, strict=True):
            taps.append(tap - back)
            slots.append(row_of(initial, slot.name))
            new[slot] = slots[-1]
        back += part.state.depth
    leader = chain[0]
    loop.carries[leader] = Carrying(initial, tuple(taps), tuple(slots), parts[0].result)
    for number in chain[1:]:
        del loop.carries[number]
    loop.replace(new)
    older, newer = back, 0
    wanted, asked = set(loop.wanted), set[Part]()
    for number, part in zip(chain, parts, strict=True):
        older -= part.state.depth
        for whole in (Part("history", leader), Part("final", leader)):
            own = Part(whole.kind, number)
            if own in wanted:
                asked.add(whole)
                loop.follow(own, partial(_rows, whole, older, newer))
        newer += part.state.depth
    loop.wanted |= asked


def _in_the_oldest(loop: OpenLoop, chain: list[int]) -> list[Carrying] | None:
    """The states of a chain, the first of which sets a part of the oldest row, not of the newest.

    None if older rows are wanted, or are read elsewhere than in that part.
    """
    parts = [loop.carries[number] for number in chain]
    leader, *others = parts
    write = leader.result
    if not isinstance(write.op, SliceWrite) or write.op.mode != "set" or len(write.args) != 2:
        return None
    if any(part.taps != (-1,) for part in parts) or write.args[0] is not leader.slots[0]:
        return None
    asked = {part for part in loop.wanted if part.number in chain}
    if not asked <= {Part("final", chain[0])}:
        return None
    older = {part.slots[0] for part in others}
    elsewhere = [carry.result for number, carry in loop.carries.items() if number not in chain]
    condition = [] if loop.condition is None else [loop.condition]
    region = Slice(write.op.entries)
    read = [write.args[1], *elsewhere, *loop.collected, *condition]
    if not older.isdisjoint(read):
        return None
    for node in walk(read):
        if (
            node.op != region
            and not isinstance(node.op, Length)
            and not older.isdisjoint(node.args)
        ):
            return None
    oldest = others[-1].slots[0]
    found = [replace(leader, result=write.op(oldest, write.args[1]))]
    inner = SliceWrite((0, *write.op.entries), "set")
    for part in others:
        rows = inner(leader.initial, region(part.initial[0]))
        found.append(replace(part, initial=rows))
    return found


def _rows(whole: Part, first: int, newer: int, get: Get) -> Tensor:
    return get(whole)[first : -newer or None]
