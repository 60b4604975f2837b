"""States that steps add a few elements to are added to in place.

The slope of ``x[i]`` in a step is an array of zeros but for one element. Where all steps' slopes
are added up, ``bar + zeros[i].set(g)`` would write and read the whole array in each step;
``bar[i].inc(g)`` does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from symc.codegen.record import replace
from symc.graph.node import OPERATORS, Tensor
from symc.loops.build import Carrying
from symc.loops.opened import OpenLoop
from symc.tensor.elementwise import Elementwise
from symc.tensor.gather import Scatter, is_zero
from symc.tensor.slices import SliceWrite

MOST = 64  # terms of a sum


def add_in_place(loop: OpenLoop, *, exact: bool) -> None:
    """Has states of a loop that begin with zeros, or any, added to in place.

    Elements that nothing is added to stay as they are, where -0.0 + 0.0 would be 0.0. If `exact`,
    sums of several terms are left in their order.
    """
    for number, carry in list(loop.carries.items()):
        if carry.taps != (-1,) or not carry.result.dtype.is_inexact or not carry.result.ndim:
            continue
        if exact and not is_zero(carry.initial):
            continue
        result = _upon(carry.result, carry.slots[0], exact=exact)
        if result is not None and result is not carry.result:
            loop.carries[number] = Carrying(carry.initial, carry.taps, carry.slots, result)


def _upon(node: Tensor, slot: Tensor, *, exact: bool) -> Tensor | None:
    """A value as writes upon a state; None if it is another one."""
    if node is slot:
        return node
    match node.op:
        case SliceWrite() | Scatter():
            before = _upon(node.args[0], slot, exact=exact)
            return None if before is None else node.op(before, *node.args[1:])
        case Elementwise(name="add"):
            terms = _terms(node)
        case _:
            return None
    placed = [term for term in terms if _is_placed(term)]
    others = [term for term in terms if not _is_placed(term)]
    bases = [_upon(term, slot, exact=exact) for term in others]
    own = [base for base in bases if base is not None]
    if len(own) != 1 or not placed or (exact and len(terms) > 2):
        return None
    dense = [term for term, base in zip(others, bases, strict=True) if base is None]
    return reduce(_added, placed, reduce(OPERATORS["add"], dense, own[0]))


def _added(base: Tensor, term: Tensor) -> Tensor:
    """The base and a term that is placed among zeros."""
    op = term.op
    assert isinstance(op, SliceWrite | Scatter)
    return replace(op, mode="inc")(base, *term.args[1:])


def _terms(node: Tensor) -> Sequence[Tensor]:
    """The terms of a sum, in order; of a long one the sum itself."""
    found: list[Tensor] = []
    waiting = [node]
    while waiting:
        term = waiting.pop()
        if isinstance(term.op, Elementwise) and term.op.name == "add":
            waiting += reversed(term.args)
        else:
            found.append(term)
        if len(found) + len(waiting) > MOST:
            return [node]
    return found


def _is_placed(term: Tensor) -> bool:
    """Whether a term is zero but for some elements: those that are set last, or added."""
    op = term.op
    places = isinstance(op, SliceWrite) or (isinstance(op, Scatter) and op.mode == "inc")
    return places and is_zero(term.args[0])
