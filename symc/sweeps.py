"""The loops of running values along an axis (`Sweep`), by how they are cut.

- `line`: each line on its own, with the running value in a register. On a device a team may run a
  line together (`codegen/passes/gpu/scans.py`).
- `chunked`: for a device, where there is one line only, and it may be long. First what each chunk
  of it amounts to, then what all chunks before it do, then each chunk again from there on. A line
  of one chunk needs only the last.

Chunks have a fixed size, so results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen import ir
from symc.graph import Tensor
from symc.lowering import Index, Sweep
from symc.nesting import convert, wrap

if TYPE_CHECKING:
    from symc.kernels import KernelBuilder, Scope
    from symc.stages import Stage

CHUNK = 8192  # elements: a team has some rounds to do, and a long line many teams
ZERO, ONE = ir.const(0), ir.const(1)


def sweep(builder: KernelBuilder, stage: Stage, lowering: Sweep) -> list[ir.Stmt]:
    """A running value along an axis."""
    dims = builder.memory.dims_of(stage.node)
    length = dims[lowering.axis]
    alone = all(dim == 1 for axis, dim in enumerate(dims) if axis != lowering.axis)
    is_long = not (isinstance(length, int) and length <= CHUNK)
    if builder.memory.on_device and alone and is_long and lowering.scale is None:
        return chunked(builder, stage, lowering)
    return line(builder, stage, lowering)


def line(builder: KernelBuilder, stage: Stage, lowering: Sweep) -> list[ir.Stmt]:
    """Each line along the axis on its own, with the running value in a register."""
    node = stage.node
    dims = builder.memory.dims_of(node)
    outer = builder.scope([], None)
    others = [axis for axis in stage.loops if axis != lowering.axis]
    loops = builder.loops(0, len(others))
    (along,) = builder.loops(len(others), 1)
    place: dict[int, ir.Expr] = dict(zip(others, loops, strict=True))
    place[lowering.axis] = along
    index: Index = tuple(place.get(axis, ZERO) for axis in range(len(dims)))
    acc = builder.names.fresh(None, "acc")
    inner = builder.scope([], outer)
    _step(builder, node, lowering, index, acc, inner)
    _store(builder, node, lowering, index, acc, inner)
    length = builder.memory.sizes(dims[lowering.axis])
    statements = _running(acc, lowering, [], along, length, inner)
    extents = [builder.memory.sizes(dims[axis]) for axis in others]
    return wrap(loops, extents, statements, "parallel", builder.memory.describe(node))


def chunked(builder: KernelBuilder, stage: Stage, lowering: Sweep) -> list[ir.Stmt]:
    """A single line in chunks."""
    node, sizes, names = stage.node, builder.memory.sizes, builder.names
    length = sizes(builder.memory.dims_of(node)[lowering.axis])
    chunks = sizes.computed("chunks", ir.ceiling(length, CHUNK))
    whole = sizes.computed("chunks_before", ir.binary("max", ir.sub(chunks, ONE), ZERO))
    sums, before = (
        builder.memory.temp(name, lowering.dtype, (whole,)) for name in ("partial", "before")
    )
    for buffer in (sums, before):
        builder.uses(buffer, written=True)

    # What each chunk but the last amounts to.
    chunk, index, start, along = _places(builder, node, lowering)
    acc, outer = names.fresh(None, "acc"), builder.scope([start], None)
    inner = builder.scope([], outer)
    _step(builder, node, lowering, index, acc, inner)
    outer.block += _running(acc, lowering, [], along, ir.const(CHUNK), inner)
    outer.block.append(ir.Store(sums, chunk, ir.Load(acc, ZERO, lowering.dtype)))
    out = wrap([chunk], [whole], outer.block, "parallel", "what chunks amount to")

    # What each of them and those before it do.
    once, number = (ir.Var(names.fresh(None, name)) for name in ("once", "chunk"))
    acc, inner = names.fresh(None, "acc"), builder.scope([], None)
    amount = ir.Load(sums, number, lowering.dtype)
    inner.block.append(ir.Accumulate(acc, ZERO, lowering.op, amount))
    inner.block.append(ir.Store(before, number, ir.Load(acc, ZERO, lowering.dtype)))
    statements = _running(acc, lowering, [], number, whole, inner)
    out += wrap([once], [ir.binary("min", whole, ONE)], statements, "parallel")

    # Every chunk, from there on.
    chunk, index, start, along = _places(builder, node, lowering)
    acc, outer = names.fresh(None, "acc"), builder.scope([start], None)
    inner = builder.scope([], outer)
    _step(builder, node, lowering, index, acc, inner)
    _store(builder, node, lowering, index, acc, inner)
    earlier = ir.Load(before, ir.sub(chunk, ONE), lowering.dtype)
    begin = ir.If(ir.binary("gt", chunk, ZERO), (ir.Store(acc, ZERO, earlier),))
    steps = ir.binary("min", ir.const(CHUNK), ir.sub(length, start.var))
    outer.block += _running(acc, lowering, [begin], along, steps, inner)
    return out + wrap([chunk], [chunks], outer.block, "parallel", builder.memory.describe(node))


def _places(
    builder: KernelBuilder, node: Tensor, lowering: Sweep
) -> tuple[ir.Var, Index, ir.Let, ir.Var]:
    """A chunk, the index of its elements, where it starts, and the variable along it."""
    chunk, start = (ir.Var(builder.names.fresh(None, name)) for name in ("chunk", "start"))
    (along,) = builder.loops(0, 1)
    here = ir.add(start, along)
    index = tuple(here if axis == lowering.axis else ZERO for axis in range(node.ndim))
    return chunk, index, ir.Let(start, ir.mul(chunk, ir.const(CHUNK))), along


def _step(
    builder: KernelBuilder, node: Tensor, lowering: Sweep, index: Index, acc: str, inner: Scope
) -> None:
    """The running value goes on by one element."""
    value = inner.tracer.run(node, lowering.element(index))
    if lowering.scale is not None:
        factor = inner.tracer.run(node, lowering.scale(index))
        scaled = ir.binary("mul", ir.Load(acc, ZERO, lowering.dtype), factor)
        inner.block.append(ir.Store(acc, ZERO, scaled))
    inner.block.append(ir.Accumulate(acc, ZERO, lowering.op, value))


def _store(
    builder: KernelBuilder, node: Tensor, lowering: Sweep, index: Index, acc: str, inner: Scope
) -> None:
    """The running value is an element of the result."""
    running = convert(ir.Load(acc, ZERO, lowering.dtype), node.dtype)
    running = builder.named(inner.block, node.name, running)
    for buffer in builder.memory.destinations(node):
        builder.uses(buffer, written=True)
        inner.block.append(ir.Store(buffer, builder.flat(node, index), running))


def _running(
    acc: str, lowering: Sweep, begin: list[ir.Stmt], along: ir.Var, steps: ir.Expr, inner: Scope
) -> list[ir.Stmt]:
    """The loop over the elements, with the running value declared before it."""
    return [
        ir.Alloc(ir.Buffer(acc, lowering.dtype, (), "local")),
        ir.Store(acc, ZERO, lowering.initial),
        *begin,
        ir.Loop(along, steps, "serial", tuple(inner.block)),
    ]
