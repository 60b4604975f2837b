"""States that are another state's row of the step before: they become one state with more rows.

Of ``old, now = now, f(old, now)``, as in equations of second order in time and in multistep
methods, `old` is `now` one step later. Kept apart, each step copies `now` to where `old` is. As one
state it is in a ring of its last rows, where nothing moves, and a step may write over the oldest.
"""

from __future__ import annotations

from functools import partial

from symc.graph.node import Tensor
from symc.loops.build import Carrying, row_of
from symc.loops.opened import Get, OpenLoop
from symc.loops.scan import Part
from symc.tensor.shape import concatenate


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
    parts = [loop.carries[number] for number in chain]
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
    asked = set[Part]()
    for number, part in zip(chain, parts, strict=True):
        older -= part.state.depth
        for whole in (Part("history", leader), Part("final", leader)):
            own = Part(whole.kind, number)
            if own in loop.asked:
                loop.wanted.discard(own)
                asked.add(whole)
                loop.after[own] = partial(_rows, whole, older, newer)
        newer += part.state.depth
    loop.wanted |= asked


def _rows(whole: Part, first: int, newer: int, get: Get) -> Tensor:
    return get(whole)[first : -newer or None]
