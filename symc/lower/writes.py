"""The loops of stages that fill a buffer part by part."""

from __future__ import annotations

from symc.codegen import ir
from symc.graph.formulas import Index
from symc.graph.lowering import Write, Written
from symc.graph.node import Tensor
from symc.lower.builder import KernelBuilder, Scope
from symc.lower.frames import frame
from symc.lower.nesting import convert, wrap
from symc.schedule.overwriting import is_base
from symc.schedule.stages import Stage, full_index


def write(builder: KernelBuilder, stage: Stage, lowering: Write) -> list[ir.Stmt]:
    """The base, unless it is there already, and then each part."""
    node = stage.node
    outer = builder.scope([], None)
    for buffer in builder.context.destinations(node):
        builder.uses(buffer, written=True)
        there = _is_there(builder, stage, lowering, buffer)
        found = None if there else frame(builder, stage, lowering, buffer, outer)
        if found is not None:
            outer.block += found.loops((), ())
            continue
        if lowering.base is not None and not there:
            assert not _reads_elsewhere(builder, stage, buffer), "the base would be copied over it"
            loops = builder.loops(0, len(stage.loops))
            index = builder.index(stage, loops)
            inner = builder.scope([], outer)
            value = inner.tracer.run(node, lowering.base, index)
            inner.block.append(ir.Store(buffer, builder.flat(node, index), value))
            extents = builder.extents(stage, stage.loops)
            note = builder.context.describe(node)
            outer.block += wrap(loops, extents, inner.block, "parallel", note)
        for part in lowering.parts:
            outer.block += _part(builder, node, part, buffer, outer)
    return outer.block


def _is_there(builder: KernelBuilder, stage: Stage, lowering: Write, buffer: str) -> bool:
    """Whether the base is in this buffer already, so that only the parts are to be written."""
    node, seen = stage.node, stage.node.args[0]
    return builder.context.begins_there(node, seen, buffer) and is_base(seen, node, lowering)


def _reads_elsewhere(builder: KernelBuilder, stage: Stage, buffer: str) -> bool:
    """Whether elements of a buffer are read for others than those that are at their places."""
    own = full_index(stage.node, builder.context.dims[stage.node])
    return any(
        builder.context.home(seen) == buffer and any(index != own for index in indexes)
        for seen, indexes in stage.reads.items()
    )


def _part(
    builder: KernelBuilder, node: Tensor, part: Written, buffer: str, outer: Scope
) -> list[ir.Stmt]:
    loops = builder.loops(0, len(part.extents))
    inner = builder.scope([], outer)
    index: Index = tuple(loops)
    target = builder.flat(node, inner.tracer.target(node, part.target, index))
    value = inner.tracer.run(node, part.value, index)
    if part.combine == "set":
        inner.block.append(ir.Store(buffer, target, value))
    elif node.dtype.is_only_stored:
        target = builder.named(inner.block, None, target)
        old = ir.Cast(ir.Load(buffer, target, node.dtype), node.dtype.wide)
        new = ir.binary(part.combine, old, convert(value, node.dtype.wide))
        inner.block.append(ir.Store(buffer, target, ir.Cast(new, node.dtype)))
    else:
        inner.block.append(ir.Accumulate(buffer, target, part.combine, value))
    extents = [builder.context.sizes(extent) for extent in part.extents]
    kind: ir.LoopKind = "parallel" if part.parallel else "serial"
    return wrap(loops, extents, inner.block, kind, builder.context.describe(node))
