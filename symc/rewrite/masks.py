"""Rules of elements that a mask chooses.

Canonical: what is done with them is done with all, and the mask selects from the results. Then no
positions are looked for, nothing is gathered or scattered, and the loop over all is one of vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.graph import dims
from symc.graph.node import OPERATORS, Tensor
from symc.rewrite.rule import EXACT, ROUNDS, Rules
from symc.tensor.elementwise import Cast, Elementwise, cast_to
from symc.tensor.fold import Reduce
from symc.tensor.gather import Gather, Scatter
from symc.tensor.positions import Coordinate, Fitted, FlatNonzero, fitted, flat_nonzero
from symc.tensor.reshape import Reshape, ravel
from symc.tensor.views import BroadcastTo, shape_padright

MASKS = Rules("masks")

# Of one element, in simple operations. More than this may cost more for all than it costs to find
# out where the mask is true, to gather there and to scatter.
_CHEAP = 40

# Rows of a mask over the first axes alone: longer ones are read and written by vectors in any case,
# and those that the mask does not choose need not be read.
_SHORT = 16


@MASKS.structural(
    "a sum of what a mask chooses", Reduce, valid=ROUNDS, inner=[Gather, Elementwise, Cast]
)
def _sum(node: Tensor) -> Tensor | None:
    """The sum of all, with zeros for the others."""
    (chosen,) = node.args
    if node.op != Reduce("add", (0,)):
        return None
    gathers = _gathers(chosen)
    mask = _mask(gathers[0]) if gathers else None
    every = None if mask is None else _from_all(chosen, mask)
    if mask is None or every is None:
        return None
    if every.type.shape != (*mask.type.shape, *chosen.type.shape[1:]):
        return None
    zeros_elsewhere = OPERATORS["where"](_beside(mask, every), every, 0)
    return Reduce("add", tuple(range(mask.ndim)))(zeros_elsewhere)


@MASKS.structural("writing where a mask is true", Scatter, valid=EXACT)
def _write(node: Tensor) -> Tensor | None:
    """All elements computed, and those selected where the mask is true."""
    x, value = node.args[:2]
    found = _mask(node)
    if found is None or not isinstance(node.op, Scatter):
        return None
    # Its lengths are those of `x`, as those of the result must be: the mask's are perhaps unequal
    # where it is not known yet that it fits, and outside of a branch or loop in which it must.
    mask = fitted(_bare(found), x.type.shape[: found.ndim])
    every = value if value.ndim == 0 else None
    if value.ndim == x.ndim - mask.ndim + 1:
        every = _from_all(value, mask)
    if every is None:
        return None
    if node.op.mode == "inc":
        every = OPERATORS["add"](x, every)
    return OPERATORS["where"](_beside(mask, x), every, x)


@MASKS.structural("the count of the mask itself", Reduce, valid=EXACT, inner=[Cast])
def _count(node: Tensor) -> Tensor | None:
    """How many elements a mask chooses of several tensors is counted once."""
    if node.ndim:
        return None
    ones = node.args[0]
    flat = ones.args[0] if isinstance(ones.op, Cast) else ones
    mask = flat.args[0] if isinstance(flat.op, Reshape) else flat
    bare = _bare(mask)
    return None if bare is mask else node.op(cast_to(ravel(bare), ones.dtype))


@MASKS.structural("positions in the mask itself", FlatNonzero, valid=EXACT, inner=[Fitted])
def _positions(node: Tensor) -> Tensor | None:
    """Positions in a mask that fits several tensors are looked for once: that it fits is tested."""
    mask, _, count = node.args
    bare = _bare(mask)
    if bare is mask:
        return None
    return FlatNonzero()(bare, flat_nonzero(bare).args[1], count)


# --- computed from all elements -------------------------------------------------------------------


def _from_all(chosen: Tensor, mask: Tensor) -> Tensor | None:
    """What is computed from elements that a mask chooses, computed from all of them.

    None where it is computed from other things, too, or may cost more.
    """
    gathers = _gathers(chosen)
    if gathers is None:
        return None
    every: dict[Tensor, Tensor] = {}
    for gathered in gathers:
        own = _mask(gathered)
        if own is None or _bare(own) is not _bare(mask):
            return None
        every[gathered] = _all_gathered(gathered, mask)

    def from_all(node: Tensor) -> Tensor:  # as deep as _CHEAP at most
        if node not in every:
            same = _same_for_all(node, chosen.ndim)
            every[node] = node.op(*map(from_all, node.args)) if same is None else same
        return every[node]

    return from_all(chosen)


def _gathers(chosen: Tensor) -> list[Tensor] | None:
    """What is gathered, by element of which a tensor is computed with few operations."""
    gathers: list[Tensor] = []
    seen: set[Tensor] = set()
    pending, cost = [chosen], 0.0
    while pending:
        node = pending.pop()
        if node in seen or _same_for_all(node, chosen.ndim) is not None:
            continue
        seen.add(node)
        if isinstance(node.op, Gather):
            gathers.append(node)
            continue
        if not isinstance(node.op, Elementwise | Cast) or _may_fail(node):
            return None
        cost += max(node.op.cost, 1.0)
        if cost > _CHEAP:
            return None
        pending += node.args
    return gathers


def _same_for_all(node: Tensor, rank: int) -> Tensor | None:
    """The tensor without the choice's axis, the first of `rank`, if it does not vary along it."""
    if node.ndim < rank:
        return node
    stretched = isinstance(node.op, BroadcastTo) and node.args[0].ndim < rank
    return node.args[0] if stretched else None


def _may_fail(node: Tensor) -> bool:
    """Whether some elements are refused: an op must not see those that the mask does not choose."""
    return any(True for _ in node.op.require(node))


def _all_gathered(gathered: Tensor, mask: Tensor) -> Tensor:
    """What is gathered from. That a mask fits both makes lengths of these the same, too."""
    source, lengths = gathered.args[0], mask.type.shape
    return fitted(source, (*lengths, *source.type.shape[len(lengths) :]))


def _mask(node: Tensor) -> Tensor | None:
    """The mask through which a `Gather` reads or a `Scatter` writes elements or short rows."""
    if not isinstance(node.op, Gather | Scatter):
        return None
    places = node.args[1 if isinstance(node.op, Gather) else 2 :]
    if node.op.place != 0 or node.op.axes != tuple(range(len(places))):
        return None
    row = dims.product(node.args[0].type.shape[len(places) :])
    flat = _flat_places(places)
    return flat.args[0] if flat is not None and isinstance(row, int) and row <= _SHORT else None


def _flat_places(places: Sequence[Tensor]) -> Tensor | None:
    """The positions in a mask of which these are the coordinates, along all of its axes."""
    flat = places[0]
    if len(places) > 1:
        for axis, place in enumerate(places):
            if not isinstance(place.op, Coordinate) or place.op.axis != axis:
                return None
        flat = flat.args[0]
        if any(place.args[0] is not flat for place in places):
            return None
    return flat if isinstance(flat.op, FlatNonzero) and flat.args[0].ndim == len(places) else None


def _bare(mask: Tensor) -> Tensor:
    return mask.args[0] if isinstance(mask.op, Fitted) else mask


def _beside(mask: Tensor, x: Tensor) -> Tensor:
    """The mask, to broadcast along the axes that it does not choose from."""
    return shape_padright(mask, x.ndim - mask.ndim)
