"""Rules of writes into regions.

Canonical: the gradient of a tensor that was read in regions is one tensor of all their gradients,
not a sum of tensors that are zero elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from symc.graph.inputs import scalar_constant
from symc.graph.node import Tensor
from symc.rewrite.rule import EXACT, ROUNDS, Rules
from symc.rewrite.zeros import has_no_negative_zero
from symc.tensor.elementwise import ELEMENTWISE
from symc.tensor.gather import is_zero
from symc.tensor.shape import Concatenate
from symc.tensor.slices import SliceWrite
from symc.tensor.spans import WHOLE, Entries, Entry, Span, layout
from symc.tensor.views import broadcast_to, expand_dims

WRITES = Rules("writes")
_ADD = ELEMENTWISE["add"]
MOST = 32  # writes in a row that are looked at: a thousand of them should not take a million looks


class Interval(NamedTuple):
    """The positions on an axis from `start` up to `stop`, as far as there are that many."""

    start: int
    stop: float


def interval(entry: Entry) -> Interval | None:
    """The range that an entry selects, where it is known without the axis' length."""
    match entry:
        case int() if entry >= 0:
            return Interval(entry, entry + 1)
        case Span(None | int() as start, None | int() as stop, 1):
            if (start or 0) >= 0 and (stop is None or stop >= 0):
                return Interval(start or 0, inf if stop is None else stop)
        case _:
            pass
    return None


def are_disjoint(left: Entries, right: Entries) -> bool:
    """Whether no element is in both regions, as far as the entries tell."""
    for one, other in zip(left, right, strict=True):
        a, b = interval(one), interval(other)
        if a and b and (a.stop <= b.start or b.stop <= a.start):
            return True
    return False


def into_zeros(node: Tensor) -> list[Tensor]:
    """The writes, last one first, that made a tensor out of zeros; none if it was not made so."""
    writes: list[Tensor] = []
    while isinstance(node.op, SliceWrite) and node.op.mode == "set" and len(writes) < MOST:
        writes.append(node)
        node = node.args[0]
    return writes if is_zero(node) else []


def _and_written(base: Tensor, write: Tensor) -> Tensor | None:
    """The sum of two tensors, the second of which is zero but where it was written, as a write."""
    writes = into_zeros(base)
    entries = _entries(write)
    if not writes or not all(are_disjoint(_entries(each), entries) for each in writes):
        return None
    return _added_to_zeros(write, _again(base))


def _again(base: Tensor) -> Tensor:
    """Zeros with writes, to which zeros are added."""
    writes = into_zeros(base)
    made = writes[-1].args[0]
    for write in reversed(writes):
        made = _added_to_zeros(write, made)
    return made


def _added_to_zeros(write: Tensor, base: Tensor) -> Tensor:
    """The write into another base, of values to which 0 is added: none is -0.0 then."""
    value = write.args[1]
    if not has_no_negative_zero(value):
        value = _ADD(value, scalar_constant(0.0, value.dtype))
    return write.op(base, value, *write.args[2:])


def _entries(write: Tensor) -> Entries:
    assert isinstance(write.op, SliceWrite)
    return write.op.entries


@WRITES.structural(
    "regions of zeros, added: writes one after the other", _ADD, valid=ROUNDS, inner=[SliceWrite]
)
def _sum_of_writes(node: Tensor) -> Tensor | None:
    for base, write in (node.args, node.args[::-1]):
        if len(into_zeros(write)) != 1 or write.type != base.type:
            continue
        found = _and_written(base, write)
        if found is not None:
            return found
        if base.op is not _ADD or any(arg.type != base.type for arg in base.args):
            continue
        for other, before in (base.args, base.args[::-1]):
            found = _and_written(before, write)
            if found is not None:
                return _ADD(other, found)
    return None


@WRITES.structural("a whole, written in pieces", SliceWrite, valid=EXACT)
def _pieces(node: Tensor) -> Tensor | None:
    writes: list[Tensor] = []
    while isinstance(node.op, SliceWrite) and node.op.mode == "set" and len(writes) < MOST:
        writes.append(node)
        if set(node.op.entries) <= {WHOLE}:
            return _value(node) if len(writes) == 1 else None
        axis = _whole_along(writes)
        if axis is not None:
            ordered = sorted(writes, key=lambda write: _place(write, axis))
            pieces = [_piece(write, axis) for write in ordered]
            return pieces[0] if len(pieces) == 1 else Concatenate(axis)(*pieces)
        node = node.args[0]
    return None


def _whole_along(writes: Sequence[Tensor]) -> int | None:
    """The axis along which regions are all of a tensor, one after the other."""
    shape = writes[0].type.shape
    axis = _cut_axis(_entries(writes[0]))
    if axis is None or any(_cut_axis(_entries(write)) != axis for write in writes):
        return None
    end: float = 0
    for start, stop in sorted(_place(write, axis) for write in writes):
        if start != end:
            return None
        end = stop
    return axis if shape[axis] == end else None


def _cut_axis(entries: Entries) -> int | None:
    """The only axis that is not taken whole, if it is cut where numbers tell."""
    cut = [axis for axis, entry in enumerate(entries) if entry != WHOLE]
    return cut[0] if len(cut) == 1 and interval(entries[cut[0]]) else None


def _place(write: Tensor, axis: int) -> Interval:
    found = interval(_entries(write)[axis])
    assert found is not None
    length = write.type.shape[axis]
    return Interval(found.start, min(found.stop, length) if isinstance(length, int) else found.stop)


def _piece(write: Tensor, axis: int) -> Tensor:
    """The values written, with all axes."""
    value = _value(write)
    return expand_dims(value, axis) if isinstance(_entries(write)[axis], int) else value


def _value(write: Tensor) -> Tensor:
    """The values written, in the shape of their region."""
    x, value, *given = write.args
    return broadcast_to(value, layout(_entries(write), x, given, 2).shape)
