"""Boxes: parts of arrays that are written as a range along each axis.

What is around a box is copied without being written over afterwards (`symc/lower/frames.py`). So
memory that the box is computed from may be where it is written, element by element.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen import ir
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.lowering import Write, Written
from symc.graph.node import Tensor

MOST_AXES = 4  # there are two loops more for each axis


def one_part(node: Tensor, write: Write) -> Written | None:
    """The only part of a node that is copied elsewhere, if that may be a box."""
    if write.base is None or len(write.parts) != 1 or not 1 <= node.ndim <= MOST_AXES:
        return None
    (part,) = write.parts
    is_whole = part.parallel and len(part.extents) == node.ndim
    return part if part.combine == "set" and is_whole else None


def is_box(
    target: Sequence[ir.Expr], counters: Sequence[ir.Var], starts: Sequence[ir.Expr]
) -> bool:
    """Whether places are indexes of the part, each moved by the same in all of it.

    `starts` has the place of the part's first element.
    """
    moved = map(ir.add, counters, starts)
    return all(found == wanted for found, wanted in zip(target, moved, strict=True))


def lacks_little(part: Dim, whole: Dim) -> bool:
    """Whether a range is most of an axis, or all but some places at its ends."""
    lacking = dims.sub(whole, dims.without_bound(part))
    if isinstance(part, int) and isinstance(whole, int):
        return 2 * part >= whole
    return isinstance(lacking, int)
