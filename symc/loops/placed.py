"""States that steps add a few elements to are added to in place.

The slope of ``x[i]`` in a step is an array of zeros but for one element. Where all steps' slopes
are added up, ``bar + zeros[i].set(g)`` would write and read the whole array in each step;
``bar[i].inc(g)`` does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from symc.codegen.record import replace
from symc.graph.node import OPERATORS, Tensor
from symc.graph.walks import walk
from symc.loops.build import Carrying
from symc.loops.opened import OpenLoop
from symc.tensor.elementwise import Elementwise
from symc.tensor.gather import Scatter, is_zero
from symc.tensor.slices import SliceWrite

MOST = 64  # terms of a sum


def add_in_place(loop: OpenLoop, *, exact: bool) -> None:
    """Has steps add to states in place.

    Elements that nothing is added to stay as they are, where -0.0 + 0.0 would be 0.0. So, if
    `exact`, only states that begin with zeros are; and sums of several terms are left in their
    order.
    """
    for number, carry in list(loop.carries.items()):
        if carry.taps != (-1,) or not carry.result.dtype.is_inexact or not carry.result.ndim:
            continue
        if exact and not is_zero(carry.initial):
            continue
        result = _written(carry, most=2 if exact else MOST)
        if result is not None and result is not carry.result:
            loop.carries[number] = Carrying(carry.initial, carry.taps, carry.slots, result)


def _written(carry: Carrying, most: int) -> Tensor | None:
    """The new value of a state as writes upon the old one; None if it is another one."""
    (slot,) = carry.slots
    upon = {slot: slot}
    for node in walk([carry.result]):
        match node.op:
            case SliceWrite() | Scatter():
                before = upon.get(node.args[0])
                if before is not None:
                    upon[node] = node.op(before, *node.args[1:])
            case Elementwise(name="add"):
                made = _sum(_terms(node, most), upon)
                if made is not None:
                    upon[node] = made
            case _:
                pass
    return upon.get(carry.result)


def _sum(terms: Sequence[Tensor], upon: Mapping[Tensor, Tensor]) -> Tensor | None:
    """A sum of writes upon a state, terms that are placed among zeros, and others."""
    own = [upon[term] for term in terms if term in upon]
    placed = [term for term in terms if _is_placed(term)]
    if len(own) != 1 or not placed:
        return None
    others = [term for term in terms if term not in upon and term not in placed]
    return reduce(_added, placed, reduce(OPERATORS["add"], others, own[0]))


def _added(base: Tensor, term: Tensor) -> Tensor:
    """The base and a term that is placed among zeros."""
    op = term.op
    assert isinstance(op, SliceWrite | Scatter)
    return replace(op, mode="inc")(base, *term.args[1:])


def _terms(node: Tensor, most: int) -> Sequence[Tensor]:
    """The terms of a sum, in order; none if there are too many."""
    found: list[Tensor] = []
    waiting = [node]
    while waiting:
        term = waiting.pop()
        if isinstance(term.op, Elementwise) and term.op.name == "add":
            waiting += reversed(term.args)
        else:
            found.append(term)
        if len(found) + len(waiting) > most:
            return []
    return found


def _is_placed(term: Tensor) -> bool:
    """Whether a term is zero but for some elements: those that are set last, or added."""
    op = term.op
    places = isinstance(op, SliceWrite) or (isinstance(op, Scatter) and op.mode == "inc")
    return places and is_zero(term.args[0])
