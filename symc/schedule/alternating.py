"""Alternating memory: states of a loop whose steps write the same part of one array from another.

A step of a stencil reads old elements beside those that it writes, so that it cannot write where it
reads. If every step writes the same part, and reads the array that the step before wrote, two
arrays are enough without any copy: the rest of both is what the state began with, for good.

    u = u[1:-1].set((u[:-2] + u[2:]) / 2)       other[1:-1] = (u[:-2] + u[2:]) / 2; swap u and other

Both arrays are filled before the loop. So this is for parts that are most of the array: those that
lack only some rows or columns at its ends; of a small part the new elements are computed first.

If a step goes on to write other parts, the other array has what they were two steps before. Then
what is around the first part is copied in each step, and is as old as the rest; what comes after
finds the whole new array, and may do with it what it likes.

    u = u[1:-1].set((u[:-2] + u[2:]) / 2)       other[1:-1] = (u[:-2] + u[2:]) / 2
    u = u[0].set(u[1])                          other[0], other[-1] = u[0], u[-1]
                                                other[0] = other[1]; swap u and other
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod

from symc.codegen.ir import Var
from symc.graph import dims
from symc.graph.dims import Dim, sizes
from symc.graph.formulas import folded_index
from symc.graph.inputs import SharedVariable
from symc.graph.lowering import Write
from symc.graph.node import Tensor
from symc.graph.open_formulas import OpenFormula
from symc.schedule.boxes import lacks_little
from symc.schedule.numbers import StepNumber
from symc.schedule.overwriting import Counted, box_places, is_base
from symc.schedule.plan import Problem
from symc.schedule.ranges import dim_of
from symc.schedule.stages import Stage

_FEW = 4  # steps: filling a second array, and copying the result, costs as much


def may_alternate(
    owner: Tensor, writers: Sequence[Tensor], stages: Mapping[Tensor, Stage], problem: Problem
) -> bool:
    """Whether a loop may have its state `owner` in two arrays in turn.

    `writers` are the stages that make the new value, each from the one before.
    """
    if not _may_have_two(owner, writers, problem):
        return False
    writes: list[Write] = []
    for seen, writer in pairwise([owner, *writers]):
        lowering = stages[writer].lowering
        if not isinstance(lowering, Write) or not is_base(seen, writer, lowering):
            return False
        writes.append(lowering)
    extents = problem.written[writers[0]]
    if any(problem.written[writer] != extents for writer in writers):
        return False
    inner = folded_index(len(extents))
    counted = Counted(inner, extents)
    parts = [
        _steady_part(writer, write, problem, counted, inner)
        for writer, write in zip(writers, writes, strict=True)
    ]
    if parts[0] is None:
        return False
    # If parts differ, a write that reads between them finds what the step before last has set.
    return all(part == parts[0] for part in parts) and _is_most(writers[0], problem)


def may_begin_elsewhere(
    owner: Tensor, writers: Sequence[Tensor], stages: Mapping[Tensor, Stage], problem: Problem
) -> bool:
    """Whether a loop may write its new state beside the old one `owner`, what is around the first
    part copied.

    That is a box, or the whole array would be copied first.
    """
    if not _may_have_two(owner, writers, problem):
        return False
    first = stages[writers[0]]
    if not isinstance(first.lowering, Write) or not is_base(owner, first.node, first.lowering):
        return False
    is_boxed = len(first.loops) == owner.ndim and box_places(first.node, first.lowering, problem)
    return bool(is_boxed) and _is_most(first.node, problem) and _is_half(first.node, problem)


def _may_have_two(owner: Tensor, writers: Sequence[Tensor], problem: Problem) -> bool:
    """Whether a state may lie in two arrays: one row of it is read, for more than a few steps."""
    if isinstance(owner, SharedVariable) or owner in problem.rings:
        return False
    if not (owner.ndim and problem.steps and writers):
        return False
    count = problem.steps[-1][1]
    return not isinstance(count, int) or count >= _FEW


def _steady_part(
    node: Tensor, write: Write, problem: Problem, counted: Counted, inner: tuple[Var, ...]
) -> Sequence[Dim] | None:
    """The places that a stage sets, if they are known to be the same ones in each step."""
    if len(write.parts) != 1 or node in problem.readings or node in problem.folded:
        return None
    (part,) = write.parts
    if part.combine != "set" or part.target.reads:
        return None
    known = dict(problem.lengths) | counted.dims
    own = {size for size, _ in counted.counters}
    places: list[Dim] = []
    for index in OpenFormula(part.target, inner).target():
        place = dim_of(index, known)
        if place is None:
            return None
        places.append(place)
    for dim in (*places, *problem.written[node]):
        if not all(size in own or _is_fixed(size) for size in sizes(dim)):
            return None
    return places


def _is_fixed(size: dims.Size) -> bool:
    """Whether a size is a length that was there before the loop."""
    return size.axis is not None and not isinstance(size.source.op, StepNumber)


def _is_most(node: Tensor, problem: Problem) -> bool:
    """Whether a part lacks no more than some rows at the ends of each axis."""
    written, whole = problem.written[node], problem.dims[node]
    if len(written) != len(whole):
        return False
    return all(lacks_little(part, all_) for part, all_ in zip(written, whole, strict=True))


def _is_half(node: Tensor, problem: Problem) -> bool:
    """Whether as many elements are written as copied, as far as lengths are known.

    Elements that are computed first are moved twice, those around them not at all.
    """
    both = problem.written[node], problem.dims[node]
    written, whole = (prod(n for n in lengths if isinstance(n, int)) for lengths in both)
    return 2 * written >= whole
