"""The loops of a buffer that one box of elements is written into: what is around it, and the box.

Each element is written once, in the order of memory. The base first and the box over it would move
the box through memory twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen import ir
from symc.codegen.record import record
from symc.graph import dims
from symc.graph.formulas import Formula
from symc.graph.lowering import Write, Written
from symc.graph.node import Tensor
from symc.lower.builder import KernelBuilder, Scope
from symc.lower.nesting import wrap
from symc.schedule.boxes import is_box, lacks_little, one_part
from symc.schedule.stages import Stage


@record
class BoxedWrite:
    """A box from `first` on, in a buffer of `lengths`.

    Where the box is empty, `first` may be anywhere; `starts` is within the buffer.
    """

    builder: KernelBuilder
    node: Tensor
    buffer: str
    base: Formula
    part: Written
    lengths: Sequence[ir.Expr]
    first: Sequence[ir.Expr]
    starts: Sequence[ir.Expr]
    outer: Scope

    def loops(self, outside: tuple[ir.Expr, ...], inside: tuple[ir.Expr, ...]) -> list[ir.Stmt]:
        """Those over the next axis, given the index so far in the buffer and in the box."""
        axis = len(outside)
        if axis == len(self.starts):
            return self.store(self.part.value, inside, outside)
        start, length = self.starts[axis], self.lengths[axis]
        extent = self.builder.context.sizes(self.part.extents[axis])
        (at,) = self.builder.loops(axis, 1)
        box = self.loops((*outside, ir.add(at, self.first[axis])), (*inside, at))
        end = ir.add(start, extent)
        return [
            *self.around(outside, ir.const(0), start),
            *wrap([at], [extent], box, "parallel", self.note),
            *self.around(outside, end, ir.sub(length, end)),
        ]

    def around(self, outside: tuple[ir.Expr, ...], first: ir.Expr, count: ir.Expr) -> list[ir.Stmt]:
        """Loops over the base: `count` places of the next axis from `first` on, and the rest."""
        axis = len(outside)
        loops = self.builder.loops(axis, len(self.starts) - axis)
        index = (*outside, ir.add(loops[0], first), *loops[1:])
        extents = [count, *self.lengths[axis + 1 :]]
        return wrap(loops, extents, self.store(self.base, index, index), "parallel", self.note)

    def store(
        self, formula: Formula, index: tuple[ir.Expr, ...], place: tuple[ir.Expr, ...]
    ) -> list[ir.Stmt]:
        """The formula's element at an index, at its place."""
        inner = self.builder.scope([], self.outer)
        value = inner.tracer.run(self.node, formula, index)
        inner.block.append(ir.Store(self.buffer, self.builder.flat(self.node, place), value))
        return inner.block

    @property
    def note(self) -> str:
        """What the loops compute."""
        return self.builder.context.describe(self.node)


def frame(
    builder: KernelBuilder, stage: Stage, lowering: Write, buffer: str, outer: Scope
) -> BoxedWrite | None:
    """The loops, if what is written into the base is one box."""
    node, rank = stage.node, len(stage.loops)
    part = None if builder.context.on_device else one_part(node, lowering)
    if part is None or lowering.base is None or rank != node.ndim:
        return None
    if rank == 1:
        written = builder.context.sizes.unified(part.extents[0])
        if not lacks_little(written, builder.context.dims[node][0]):
            return None  # all of it is copied in one go, and little moved twice
    tried = builder.scope([], outer)  # what it reads for places that are no box is not wanted
    counters = tuple(builder.loops(0, rank))
    origin = (ir.const(0),) * rank
    starts = tried.tracer.target(node, part.target, origin)
    if not is_box(tried.tracer.target(node, part.target, counters), counters, starts):
        return None
    first = outer.tracer.target(node, part.target, origin)
    lengths = builder.extents(stage, stage.loops)
    starts = tuple(_within(builder, node, axis, first[axis], outer) for axis in range(rank))
    return BoxedWrite(builder, node, buffer, lowering.base, part, lengths, first, starts, outer)


def _within(
    builder: KernelBuilder, node: Tensor, axis: int, start: ir.Expr, outer: Scope
) -> ir.Expr:
    """A start as far as the axis goes: an empty box may start anywhere."""
    dim = builder.context.dims[node][axis]
    length = builder.context.sizes(dim)
    if not isinstance(start, ir.Const):
        above = ir.binary("max", start, ir.const(0))
        # Not the name of the size below: a kernel does not know the sizes that it adds.
        return builder.named(outer.block, "begin", ir.binary("min", above, length))
    if dims.nonnegative(dims.sub(dim, int(start.value))):
        return start
    if isinstance(length, ir.Const):
        return ir.const(min(int(start.value), int(length.value)))
    return builder.context.sizes.computed("start", ir.binary("min", start, length))
