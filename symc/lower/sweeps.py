"""The loops of running values along an axis (`Sweep`), by how they are cut.

- `line`: each line on its own, with the running value in a register. On a device a team may run a
  line together (`codegen/passes/gpu/scans.py`).
- `columns`: where lines lie side by side, a block of them, row by row: memory is read in order.
- `chunked`: for a device, where lines may be few and long. First each chunk is reduced to its
  total, then those of all chunks before it are combined, then each chunk runs again from there on.
  Lines of one chunk need only the last, and where there are many lines they have one. Not for
  products of floats: 0 times an overflow in a later chunk would be NaN.

How long chunks are follows from lengths alone, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen import ir
from symc.codegen.passes.strips import StripMining
from symc.codegen.record import record
from symc.graph.dims import Dim, product
from symc.graph.formulas import Index
from symc.graph.lowering import Sweep
from symc.graph.node import Tensor
from symc.lower.builder import KernelBuilder, Scope
from symc.lower.folds import BLOCK, strip_mining
from symc.lower.nesting import convert, wrap
from symc.schedule.stages import Stage

CHUNK = 8192  # elements that lie side by side: a team has some rounds to do
STEPS = 256  # elements of a chunk that do not: one thread goes through them
TEAMS = 256  # lines side by side, as many teams, which are enough for a device
THREADS = 1 << 16  # that are enough for one, if each has many elements
ZERO, ONE = ir.const(0), ir.const(1)


def sweep(builder: KernelBuilder, stage: Stage, lowering: Sweep) -> list[ir.Stmt]:
    """A running value along an axis."""
    if (
        builder.context.on_device
        and lowering.scale is None
        and not (lowering.op == "mul" and lowering.dtype.is_float)
        and _may_be_cut(builder, stage, lowering)
    ):
        return chunked(builder, stage, lowering)
    if not builder.context.on_device and any(axis > lowering.axis for axis in stage.loops):
        return columns(builder, stage, lowering)
    return line(builder, stage, lowering)


def _may_be_cut(builder: KernelBuilder, stage: Stage, lowering: Sweep) -> bool:
    """Whether lines may be long, and so few that a device would be idle."""
    dims = builder.context.dims[stage.node]
    length, lines = dims[lowering.axis], product(_without(dims, lowering.axis))
    together = _lie_together(dims, lowering.axis)
    shortest, enough = (CHUNK, TEAMS) if together else (STEPS, THREADS)
    is_short = isinstance(length, int) and length <= shortest
    return not is_short and not (isinstance(lines, int) and lines >= enough)


def _lie_together(dims: Sequence[Dim], axis: int) -> bool:
    """Whether elements along an axis lie side by side in memory."""
    return all(dim == 1 for dim in dims[axis + 1 :])


def _without(dims: Sequence[Dim], axis: int) -> list[Dim]:
    """The lengths of the other axes."""
    return [dim for number, dim in enumerate(dims) if number != axis]


def line(builder: KernelBuilder, stage: Stage, lowering: Sweep) -> list[ir.Stmt]:
    """Each line along the axis on its own, with the running value in a register."""
    node = stage.node
    dims = builder.context.dims[node]
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
    _store(builder, node, index, ir.Load(acc, ZERO, lowering.dtype), inner)
    length = builder.context.sizes(dims[lowering.axis])
    statements = _running(acc, lowering, [], along, length, inner)
    extents = [builder.context.sizes(dims[axis]) for axis in others]
    return wrap(loops, extents, statements, "parallel", builder.context.describe(node))


def columns(builder: KernelBuilder, stage: Stage, lowering: Sweep) -> list[ir.Stmt]:
    """Blocks of lines that lie side by side, row by row."""
    node = stage.node
    dims = builder.context.dims[node]
    *others, last = [axis for axis in stage.loops if axis != lowering.axis]
    *loops, along, across = builder.loops(0, len(others) + 2)
    cut = strip_mining(builder, "block", builder.context.sizes(dims[last]), ir.const(BLOCK))
    outer = builder.scope([cut.let], None)
    place: dict[int, ir.Expr] = dict(zip(others, loops, strict=True))
    place |= {last: cut.at(across)}
    columns = _RunningColumns(builder, stage, lowering, cut, outer, place, along, across)
    outer.block += columns.kept() if lowering.dtype == node.dtype else columns.narrowed()
    extents = [builder.context.sizes(dims[axis]) for axis in others]
    return wrap(loops, extents, [cut.loop("parallel", tuple(outer.block))], "parallel")


@record
class _RunningColumns:
    """A block of lines that lie side by side."""

    builder: KernelBuilder
    stage: Stage
    lowering: Sweep
    cut: StripMining
    outer: Scope
    place: Mapping[int, ir.Expr]
    along: ir.Var
    across: ir.Var

    def kept(self) -> list[ir.Stmt]:
        """The running values are read from the row of the result before: kept anywhere else, they
        were written twice. The first row has none before it."""
        node, lowering, builder = self.stage.node, self.lowering, self.builder
        first, before, index = (self.index(i) for i in (ZERO, self.along, ir.add(self.along, ONE)))
        begin, inner = builder.scope([], self.outer), builder.scope([], self.outer)
        _store(builder, node, first, begin.tracer.run(node, lowering.element, first), begin)
        source = builder.context.destinations(node)[0]
        running: ir.Expr = ir.Load(source, builder.flat(node, before), node.dtype)
        if lowering.scale is not None:
            running = ir.binary("mul", running, inner.tracer.run(node, lowering.scale, index))
        value = inner.tracer.run(node, lowering.element, index)
        _store(builder, node, index, ir.binary(lowering.op, running, value), inner)
        length = self.length
        rows = ir.Loop(self.along, ir.sub(length, ONE), "serial", (self.row(inner),))
        both = (self.row(begin), rows)
        if isinstance(length, ir.Const):
            return list(both) if length.value else []
        return [ir.If(ir.binary("gt", length, ZERO), both)]

    def narrowed(self) -> list[ir.Stmt]:
        """The running values are in an array, as the result's type cannot hold them."""
        node, lowering, builder = self.stage.node, self.lowering, self.builder
        accs = builder.names.fresh(None, "accs")
        (first,) = builder.loops(len(self.stage.loops) - 2, 1)
        begin = (ir.Store(accs, first, lowering.initial),)
        inner = builder.scope([], self.outer)
        index = self.index(self.along)
        _step(builder, node, lowering, index, accs, inner, self.across)
        _store(builder, node, index, ir.Load(accs, self.across, lowering.dtype), inner)
        return [
            ir.Alloc(ir.Buffer(accs, lowering.dtype, (ir.const(BLOCK),), "local")),
            ir.Loop(first, self.cut.count, "parallel", begin, cut=self.cut.within),
            ir.Loop(self.along, self.length, "serial", (self.row(inner),)),
        ]

    @property
    def length(self) -> ir.Expr:
        """How many rows there are."""
        dims = self.builder.context.dims[self.stage.node]
        return self.builder.context.sizes(dims[self.lowering.axis])

    def index(self, row: ir.Expr) -> Index:
        """The element of a row in the line at hand."""
        place = {**self.place, self.lowering.axis: row}
        return tuple(place.get(axis, ZERO) for axis in range(self.stage.node.ndim))

    def row(self, scope: Scope) -> ir.Loop:
        """A row of the block."""
        note = self.builder.context.describe(self.stage.node)
        body = tuple(scope.block)
        return ir.Loop(self.across, self.cut.count, "parallel", body, note, self.cut.within)


def chunked(builder: KernelBuilder, stage: Stage, lowering: Sweep) -> list[ir.Stmt]:
    """Lines in chunks."""
    node, sizes, names = stage.node, builder.context.sizes, builder.names
    dims = builder.context.dims[node]
    length, step = sizes(dims[lowering.axis]), _chunk_length(builder, dims, lowering.axis)
    chunks = sizes.computed("chunks", ir.ceiling(length, step))
    whole = sizes.computed("chunks_before", ir.binary("max", ir.sub(chunks, ONE), ZERO))
    others = [axis for axis in stage.loops if axis != lowering.axis]
    lines = [sizes(dims[axis]) for axis in others]
    sums, before = (
        builder.context.temp(name, lowering.dtype, (*lines, whole))
        for name in ("partial", "before")
    )
    for buffer in (sums, before):
        builder.uses(buffer, written=True)
    together = _lie_together(dims, lowering.axis)

    # The total of each chunk but the last. Only lines of one chunk have it longer than `CHUNK`.
    full = ir.const(CHUNK) if together else step
    chunk = _a_chunk(builder, node, lowering, others, full)
    acc, outer = names.fresh(None, "acc"), builder.scope([chunk.cut.let], None)
    inner = builder.scope([], outer)
    _step(builder, node, lowering, chunk.index, acc, inner)
    outer.block += _running(acc, lowering, [], chunk.along, full, inner)
    place = _place(chunk, lines, whole, chunk.cut.number)
    outer.block.append(ir.Store(sums, place, ir.Load(acc, ZERO, lowering.dtype)))
    out = chunk.nest(lines, whole, outer.block, "what chunks amount to", together=together)

    # The totals up to each of them.
    chunk = _a_chunk(builder, node, lowering, others, step)
    once = ir.Var(names.fresh(None, "once"))
    acc, inner = names.fresh(None, "acc"), builder.scope([], None)
    place = _place(chunk, lines, whole, chunk.cut.number)
    inner.block.append(ir.Accumulate(acc, ZERO, lowering.op, ir.Load(sums, place, lowering.dtype)))
    inner.block.append(ir.Store(before, place, ir.Load(acc, ZERO, lowering.dtype)))
    statements = _running(acc, lowering, [], chunk.cut.number, whole, inner)
    out += wrap(
        [once, *chunk.lines], [ir.binary("min", whole, ONE), *lines], statements, "parallel"
    )

    # Every chunk, from there on.
    chunk = _a_chunk(builder, node, lowering, others, step)
    acc, outer = names.fresh(None, "acc"), builder.scope([chunk.cut.let], None)
    inner = builder.scope([], outer)
    _step(builder, node, lowering, chunk.index, acc, inner)
    _store(builder, node, chunk.index, ir.Load(acc, ZERO, lowering.dtype), inner)
    place = _place(chunk, lines, whole, ir.sub(chunk.cut.number, ONE))
    earlier = ir.Store(acc, ZERO, ir.Load(before, place, lowering.dtype))
    begin = ir.If(ir.binary("gt", chunk.cut.number, ZERO), (earlier,))
    outer.block += _running(
        acc, lowering, [begin], chunk.along, chunk.cut.count, inner, chunk.cut.within
    )
    note = builder.context.describe(node)
    cuts = {chunk.cut.number: chunk.cut.over}
    return out + chunk.nest(lines, chunks, outer.block, note, cuts, together=together)


def _chunk_length(builder: KernelBuilder, dims: Sequence[Dim], axis: int) -> ir.Expr:
    """How many elements of a line a chunk has: all, where there are enough lines."""
    sizes = builder.context.sizes
    length, lines = sizes(dims[axis]), sizes(product(_without(dims, axis)))
    if lines == ONE:
        return ir.const(CHUNK)
    if _lie_together(dims, axis):
        are_many = ir.binary("min", ONE, ir.binary("floordiv", lines, ir.const(TEAMS)))
        steps = ir.binary("max", ir.const(CHUNK), ir.mul(are_many, length))
    else:
        enough = ir.binary("floordiv", ir.const(THREADS), ir.binary("max", ONE, lines))
        most = ir.binary("max", ONE, enough)
        steps = ir.binary("max", ir.const(STEPS), ir.ceiling(length, most))
    return sizes.computed("chunk_steps", steps)


@record
class _Chunk:
    """The variables of one chunk of one line."""

    cut: StripMining
    lines: tuple[ir.Var, ...]
    along: ir.Var
    index: Index

    def nest(
        self, lines: Sequence[ir.Expr], count: ir.Expr, body: Sequence[ir.Stmt], note: str,
        cuts: Mapping[ir.Var, ir.Cut] | None = None, *, together: bool,
    ) -> list[ir.Stmt]:  # fmt: skip
        """The body for each of some chunks of each line; neighbours are last."""
        number = self.cut.number
        if together:
            return wrap([*self.lines, number], [*lines, count], body, "parallel", note, cuts)
        return wrap([number, *self.lines], [count, *lines], body, "parallel", note, cuts)


def _a_chunk(
    builder: KernelBuilder, node: Tensor, lowering: Sweep, others: Sequence[int], step: ir.Expr
) -> _Chunk:
    """Fresh variables for a chunk."""
    number, start = (ir.Var(builder.names.fresh(None, name)) for name in ("chunk", "start"))
    *lines, along = builder.loops(0, len(others) + 1)
    place: dict[int, ir.Expr] = dict(zip(others, lines, strict=True))
    length = builder.context.sizes(builder.context.dims[node][lowering.axis])
    cut = StripMining(number, length, step, start)
    place[lowering.axis] = cut.at(along)
    index = tuple(place.get(axis, ZERO) for axis in range(node.ndim))
    return _Chunk(cut, tuple(lines), along, index)


def _place(chunk: _Chunk, lines: Sequence[ir.Expr], whole: ir.Expr, number: ir.Expr) -> ir.Expr:
    """The index of a chunk's total among those of all lines and chunks."""
    flat: ir.Expr = ZERO
    for variable, length in zip(chunk.lines, lines, strict=True):
        flat = ir.add(ir.mul(flat, length), variable)
    return ir.add(ir.mul(flat, whole), number)


def _step(
    builder: KernelBuilder, node: Tensor, lowering: Sweep, index: Index, acc: str, inner: Scope,
    at: ir.Expr = ZERO,
) -> None:  # fmt: skip
    """The running value goes on by one element."""
    value = inner.tracer.run(node, lowering.element, index)
    if lowering.scale is not None:
        factor = inner.tracer.run(node, lowering.scale, index)
        scaled = ir.binary("mul", ir.Load(acc, at, lowering.dtype), factor)
        inner.block.append(ir.Store(acc, at, scaled))
    inner.block.append(ir.Accumulate(acc, at, lowering.op, value))


def _store(
    builder: KernelBuilder, node: Tensor, index: Index, running: ir.Expr, inner: Scope
) -> None:
    """The running value is an element of the result."""
    running = builder.named(inner.block, node.name, convert(running, node.dtype))
    for buffer in builder.context.destinations(node):
        builder.uses(buffer, written=True)
        inner.block.append(ir.Store(buffer, builder.flat(node, index), running))


def _running(
    acc: str, lowering: Sweep, begin: list[ir.Stmt], along: ir.Var, steps: ir.Expr, inner: Scope,
    cut: ir.Cut | None = None,
) -> list[ir.Stmt]:  # fmt: skip
    """The loop over the elements, with the running value declared before it."""
    return [
        ir.Alloc(ir.Buffer(acc, lowering.dtype, (), "local")),
        ir.Store(acc, ZERO, lowering.initial),
        *begin,
        ir.Loop(along, steps, "serial", tuple(inner.block), cut=cut),
    ]
