"""Sequences that are parts of an array are read where the array has them, and not copied.

Row ``t`` of ``x[1:]`` is row ``t + 1`` of ``x``, and counted from the end, row ``t`` of ``x[:-1]``
is row ``t + 1``. This is so for arrays that are there in any case, arguments and results of loops:
of one that is computed for its part alone, all would be computed otherwise.
"""

from __future__ import annotations

from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.loops.build import Reading
from symc.loops.opened import OpenLoop
from symc.loops.scan import Scan
from symc.tensor.slices import Slice
from symc.tensor.spans import WHOLE, Span


def read_unsliced(loop: OpenLoop) -> None:
    """Replaces parts of arrays, as sequences, by the arrays."""
    loop.reads = [_unsliced(read) for read in loop.reads]


def _unsliced(read: Reading) -> Reading:
    skipped = _skipped(read.array, from_end=read.rows.backwards)
    if skipped is None:
        return read
    taps = tuple(tap + skipped for tap in read.rows.taps)
    return Reading(read.array.args[0], replace(read.rows, taps=taps), read.slots)


def _skipped(part: Tensor, *, from_end: bool) -> int | None:
    """How many rows of an array come before those that are read; None if nothing tells."""
    if not isinstance(part.op, Slice) or len(part.args) != 1 or not _is_there(part.args[0]):
        return None
    rows, *rest = part.op.entries
    if not isinstance(rows, Span) or rows.step != 1 or any(entry != WHOLE for entry in rest):
        return None
    edge = rows.stop if from_end else rows.start
    if edge is None:
        return 0
    if not isinstance(edge, int) or (edge >= 0) == from_end:
        return None
    return -edge if from_end else edge


def _is_there(array: Tensor) -> bool:
    """Whether an array is computed whole, or given."""
    return not array.args or isinstance(array.op, Scan)
