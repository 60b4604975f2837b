"""The loops of stages that fill a buffer part by part."""

from __future__ import annotations

from collections.abc import Callable

from symc.codegen import ir
from symc.codegen.dtypes import FLOAT16, FLOAT32
from symc.graph.lowering import Index, Read, Reader, Write, Written
from symc.graph.node import Tensor
from symc.lower.builder import KernelBuilder, Scope
from symc.lower.nesting import convert, wrap
from symc.schedule.stages import Stage, variable


def write(builder: KernelBuilder, stage: Stage, lowering: Write) -> list[ir.Stmt]:
    """The base, unless it is there already, and then each part."""
    node = stage.node
    outer = builder.scope([], None)
    for buffer in builder.memory.destinations(node):
        builder.uses(buffer, written=True)
        if lowering.base is not None and not _is_there(builder, stage, lowering.base, buffer):
            loops = builder.loops(0, len(stage.loops))
            index = builder.index(stage, loops)
            inner = builder.scope([], outer)
            value = inner.tracer.run(node, lowering.base(index))
            inner.block.append(ir.Store(buffer, builder.flat(node, index), value))
            extents = builder.extents(stage, stage.loops)
            note = builder.memory.describe(node)
            outer.block += wrap(loops, extents, inner.block, "parallel", note)
        for part in lowering.parts:
            outer.block += _part(builder, node, part, buffer, outer)
    return outer.block


def _is_there(
    builder: KernelBuilder, stage: Stage, base: Callable[[Index], Reader], buffer: str
) -> bool:
    """Whether the buffer is a shared variable that the parts are written into, and that is all."""
    seen = stage.node.args[0]
    if not builder.memory.overwrites(stage.node, seen) or buffer != builder.memory.home(seen):
        return False
    index = tuple(map(variable, range(stage.node.ndim)))
    return _is_argument(base(index), index)


def _is_argument(reader: Reader, index: Index) -> bool:
    """Whether an element is that of argument 0 at an index, as it is."""
    element = ir.Var("element")
    try:
        if next(reader) != Read(0, index):
            return False
        reader.send(element)
    except StopIteration as stop:
        return stop.value is element
    return False


def _part(
    builder: KernelBuilder, node: Tensor, part: Written, buffer: str, outer: Scope
) -> list[ir.Stmt]:
    loops = builder.loops(0, len(part.extents))
    inner = builder.scope([], outer)
    index: Index = tuple(loops)
    target = builder.flat(node, inner.tracer.run(node, part.target(index)))
    value = inner.tracer.run(node, part.value(index))
    if part.combine == "set":
        inner.block.append(ir.Store(buffer, target, value))
    elif node.dtype is FLOAT16:  # only stored: arithmetic is wider
        target = builder.named(inner.block, None, target)
        old = ir.Cast(ir.Load(buffer, target, FLOAT16), FLOAT32)
        new = ir.binary(part.combine, old, convert(value, FLOAT32))
        inner.block.append(ir.Store(buffer, target, ir.Cast(new, FLOAT16)))
    else:
        inner.block.append(ir.Accumulate(buffer, target, part.combine, value))
    extents = [builder.memory.sizes(extent) for extent in part.extents]
    kind: ir.LoopKind = "parallel" if part.parallel else "serial"
    return wrap(loops, extents, inner.block, kind, builder.memory.describe(node))
