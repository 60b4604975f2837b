"""Gradients that reach only the last row of a loop's state become those of its final rows.

The gradient of ``ys[-1]`` with respect to ys is zero but for one row. As a whole it would be as
large as ys, and every step of the backward loop would read a row of zeros.
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.loops.build import Loop
from symc.loops.contract import terms_of
from symc.loops.scan import Part
from symc.tensor.lengths import public
from symc.tensor.shape import concatenate
from symc.tensor.slices import SliceWrite, zeros_for
from symc.tensor.spans import WHOLE, Span, is_last
from symc.tensor.views import BroadcastTo, broadcast_to, expand_dims


def ends_apart(loop: Loop, bars: Mapping[Part, Tensor]) -> dict[Part, Tensor]:
    """The bars of a loop's parts, with those of last rows moved to the final rows."""
    result = dict(bars)
    if loop.layout.stops:
        return result
    for part, bar in bars.items():
        if part.kind == "history":
            _move(result, part, bar, loop.layout.states[part.number].depth)
    return result


def _move(bars: dict[Part, Tensor], part: Part, bar: Tensor, depth: int) -> None:
    others: Tensor | None = None
    final = bars.get(Part("final", part.number))
    for term in terms_of(bar):
        row = _last_row(term, depth)
        if row is None:
            others = term if others is None else others + term
        else:
            rows = _as_final(row, depth)
            final = rows if final is None else final + rows
    if final is None or others is bar:
        return
    bars[Part("final", part.number)] = final
    if others is None:
        del bars[part]
    else:
        bars[part] = others


def _last_row(bar: Tensor, depth: int) -> Tensor | None:
    """The last row of a bar that is zero in all others."""
    if not _is_set_in_zeros(bar):
        return None
    assert isinstance(bar.op, SliceWrite)
    first, *rest = bar.op.entries
    if first == Span(depth, None) and all(entry == WHOLE for entry in rest):
        return _last_row(bar.args[1], 0)
    _, value, *given = bar.args
    length, *row = bar.type.shape
    if not is_last(first, length):
        return None
    if all(entry == WHOLE for entry in rest):
        return broadcast_to(value, list(map(public, row)))
    zeros = zeros_for(bar, bar.dtype)[0]
    return SliceWrite(tuple(rest), "set")(zeros, value, *given)


def _is_set_in_zeros(bar: Tensor) -> bool:
    if not isinstance(bar.op, SliceWrite) or bar.op.mode != "set":
        return False
    base = bar.args[0]
    if not isinstance(base.op, BroadcastTo):
        return False
    value = constant_value(base.args[0])
    return value is not None and not value.any()


def _as_final(row: Tensor, depth: int) -> Tensor:
    """The final rows, all zero but for the last."""
    last = expand_dims(row, 0)
    if depth == 1:
        return last
    shape = [depth - 1, *map(public, row.type.shape)]
    zero = zeros_for(row, row.dtype)
    return concatenate([broadcast_to(expand_dims(zero, 0), shape), last], axis=0)
