"""Rows of parts of an array are read where the array has them, and not copied.

Row ``t`` of ``x[1:]`` is row ``t + 1`` of ``x``, and counted from the end, row ``t`` of ``x[:-1]``
is row ``t + 1``. This is so for arrays that are there in any case, arguments and results of loops:
of one that is computed for its part alone, all would be computed otherwise.

So are rows that a step chooses from a part, ``x[1:, 2:][i]``, or from the same numbers under a
shape that was promised, or another one: the part is an expression of the step then, of which only
the indexes are computed. Parts of which a step uses more than rows are copied: they are matrices of
products, perhaps, for which each step would make a copy of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.build import Reading, opened
from symc.loops.opened import OpenLoop
from symc.loops.scan import Scan
from symc.tensor.reshape import Reshape
from symc.tensor.slices import Slice
from symc.tensor.spans import WHOLE, Span
from symc.tensor.specify import SpecifyShape


def read_unsliced(loop: OpenLoop) -> None:
    """Replaces parts of arrays of which a loop reads only rows by the arrays."""
    loop.reads = [_unsliced(read) for read in loop.reads]
    loop.in_parts = _reads_row_of_part


def specified_inside(op: Scan, args: list[Tensor]) -> tuple[Scan, list[Tensor]]:
    """The loop with promised shapes, and other shapes of the same numbers, in its steps.

    Of a loop of no steps nobody asks whether such a shape fits.
    """
    if not _is_promised(op, args):
        return op, args
    parts = opened(op, args)
    inner: dict[Tensor, Tensor] = {}
    for node in walk(parts.results()):
        if isinstance(node.op, Scan) and _is_promised(node.op, node.args):
            changed, given = specified_inside(node.op, list(node.args))
            inner[node] = changed(*given)
    loop = parts.replaced(inner).close(in_parts=_reads_row_of_part)
    return replace(op, body=loop.body), list(loop.args)


def _is_promised(op: Scan, args: Sequence[Tensor]) -> bool:
    """Whether a loop is given such a shape of an array that is there, the same in all steps."""
    given = op.split(args)[3]
    return any(isinstance(arg.op, SpecifyShape | Reshape) and is_part(arg) for arg in given)


def _unsliced(read: Reading) -> Reading:
    if _is_reversed(read.array):
        rows = replace(read.rows, backwards=not read.rows.backwards)
        return _unsliced(Reading(read.array.args[0], rows, read.slots))
    skipped = _skipped(read.array, from_end=read.rows.backwards)
    if skipped is None:
        return read
    taps = tuple(tap + skipped for tap in read.rows.taps)
    return Reading(read.array.args[0], replace(read.rows, taps=taps), read.slots)


def _is_reversed(array: Tensor) -> bool:
    """Whether an array is ``x[::-1]`` of one that is there."""
    if not isinstance(array.op, Slice) or not _is_there(array.args[0]):
        return False
    rows, *rest = array.op.entries
    return rows == Span(None, None, -1) and all(entry == WHOLE for entry in rest)


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


def _reads_row_of_part(node: Tensor, part: Tensor) -> bool:
    """Whether a node reads a row, or an element, of a part of an array."""
    if not isinstance(node.op, Slice) or node.args[0] is not part or node.args.count(part) > 1:
        return False
    return not isinstance(node.op.entries[0], Span) and is_part(part)


def is_part(part: Tensor) -> bool:
    """Whether rows of an array lie in another one, which is there in any case, as they are."""
    match part.op:
        case Slice(entries):
            spans = [entry for entry in entries if isinstance(entry, Span)]
            are_rows = len(spans) == len(entries) and (part.ndim == 1 or spans[-1].step == 1)
            return are_rows and len(part.args) == 1 and _is_there(part.args[0])
        case SpecifyShape() | Reshape():
            return _is_there(part.args[0])
        case _:
            return False
