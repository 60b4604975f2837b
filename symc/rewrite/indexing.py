"""Rules of indexing.

Canonical: reading a region that was just written is the value written; reversing twice is nothing.
"""

from __future__ import annotations

from symc.graph import dims
from symc.graph.node import OPERATORS, Tensor
from symc.rewrite.rule import EXACT, ROUNDS, Rules
from symc.tensor.elementwise import ELEMENTWISE, Elementwise
from symc.tensor.fold import Reduce
from symc.tensor.gather import Gather
from symc.tensor.positions import Coordinate, FlatNonzero
from symc.tensor.reshape import reshape
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.spans import WHOLE, Entry, Span
from symc.tensor.views import broadcast_to

INDEXING = Rules("indexing")
structural = INDEXING.structural


@structural("reading a region just written", Slice, valid=EXACT, inner=[SliceWrite])
def _read_of_write(node: Tensor) -> Tensor | None:
    source = node.args[0]
    read, write = node.op, source.op
    if not isinstance(read, Slice) or not isinstance(write, SliceWrite):
        return None
    x, value, *given = source.args
    if read.entries != write.entries or list(node.args[1:]) != given:
        return None
    if write.mode == "set":
        return broadcast_to(value, node.type.shape)
    total: Tensor = OPERATORS["add"](read(x, *given), value)
    return total


_REVERSED = Span(None, None, -1)


@structural("one slice, not two", Slice, valid=EXACT, inner=[Slice])
def _slice_of_slice(node: Tensor) -> Tensor | None:
    source = node.args[0]
    outer, inner = node.op, source.op
    if not isinstance(outer, Slice) or not isinstance(inner, Slice):
        return None
    if len(node.args) > 1 or len(source.args) != 1:
        return None
    rest = iter(outer.entries)
    merged: list[Entry] = []
    for entry in inner.entries:
        both = _both(entry, next(rest)) if isinstance(entry, Span) else entry
        if both is None:
            return None
        merged.append(both)
    (x,) = source.args
    return x if all(entry == WHOLE for entry in merged) else Slice(tuple(merged))(x)


def _both(inner: Span, outer: Entry) -> Entry | None:
    """One entry for two, where that needs no lengths: None where it does."""
    if inner == WHOLE:
        return outer
    if outer == WHOLE:
        return inner
    if inner == outer == _REVERSED:
        return WHOLE
    return None


# --- masks ----------------------------------------------------------------------------------------

# Cheaper to compute of every element than to find out of which.
_CHEAP = frozenset(ELEMENTWISE[name] for name in ("add", "sub", "mul", "neg", "abs", "sqr"))


@structural("a sum of what a mask chooses", Reduce, valid=ROUNDS, inner=[Gather, Elementwise])
def _masked_sum(node: Tensor) -> Tensor | None:
    """The sum of all, with zeros for the others: positions are not looked for."""
    (chosen,) = node.args
    if node.op != Reduce("add", (0,)) or chosen.ndim != 1:
        return None
    masks = set[Tensor]()
    whole = _before_choice(chosen, masks)
    if whole is None or len(masks) != 1:
        return None
    (mask,) = masks
    flat = (dims.product(mask.type.shape),)
    if whole.type.shape != flat:
        return None
    mask = mask if mask.ndim == 1 else reshape(mask, flat)
    return node.op(OPERATORS["where"](mask, whole, 0))


def _before_choice(node: Tensor, masks: set[Tensor]) -> Tensor | None:
    """The elements that a mask, which is added to `masks`, chooses some of; or a number."""
    if node.ndim == 0:
        return node
    if isinstance(node.op, Gather):
        x, *places = node.args
        flat = _flat_places(places)
        if flat is None or node.op != Gather(tuple(range(x.ndim)), 0):
            return None
        masks.add(flat.args[0])
        return x if x.ndim == 1 else reshape(x, (dims.product(x.type.shape),))
    if node.op not in _CHEAP:
        return None
    parts = [_before_choice(arg, masks) for arg in node.args]
    known = [part for part in parts if part is not None]
    return node.op(*known) if len(known) == len(parts) else None


def _flat_places(places: list[Tensor]) -> Tensor | None:
    """The positions in a mask of which these are the coordinates, along all of its axes."""
    if len(places) == 1:
        return places[0] if isinstance(places[0].op, FlatNonzero) else None
    flat = places[0].args[0] if isinstance(places[0].op, Coordinate) else None
    for axis, place in enumerate(places):
        if not isinstance(place.op, Coordinate) or place.op.axis != axis:
            return None
        if place.args[0] is not flat:
            return None
    if flat is None or not isinstance(flat.op, FlatNonzero):
        return None
    return flat if flat.args[0].ndim == len(places) else None
