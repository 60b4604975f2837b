"""Rules of indexing.

Canonical: reading a region that was just written is the value written; reversing twice is nothing.
"""

from __future__ import annotations

from symc.graph.node import OPERATORS, Tensor
from symc.rewrite.rule import EXACT, Rules
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
