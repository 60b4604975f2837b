"""The loops of folds, by how the folded axis lies in memory.

- `row`: the folded axis is contiguous. One element after the other, each in a register.
- `column`: the result's last axis is contiguous. A block of elements at a time, row by row.
- `chunked`: everything is folded. Chunks in parallel, then their partial results in order.
- `split`: for a device, where `column` would keep few threads busy. Each element of the result for
  itself, in chunks of the folded axis, then their partial results in order.

Chunks and blocks have fixed sizes, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symc.codegen import ir
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.strips import StripMining
from symc.graph.dims import product
from symc.graph.formulas import Index
from symc.graph.lowering import Fold
from symc.lower.builder import KernelBuilder, Scope
from symc.lower.nesting import convert, wrap
from symc.schedule.stages import Stage

CHUNK = 16384  # elements of a chunk
BLOCK = 512  # columns of a block: 4 KiB of doubles
STREAMS = 4  # parts of a chunk that are added up side by side
SHORT = 4  # operations of an element; additions after more need not wait for each other
FEWEST = 64  # steps of a chunk of `split`
MOST = 1024  # such chunks: one thread adds up their results
THREADS = 1 << 18  # as many as a large device has room for at a time


def row(
    builder: KernelBuilder, stage: Stage, fold: Fold, prefix: list[ir.Var], scope: Scope
) -> None:
    """Each element of the result by a loop of its own, over a contiguous axis."""
    own = stage.loops[len(prefix) :]
    loops = builder.loops(len(prefix), len(own))
    index = builder.index(stage, [*prefix, *loops])
    outer = scope if not own else builder.scope([], scope)
    inner, variables, extents = folded_index(builder, fold, len(prefix) + len(own))
    total = register(builder, stage, fold, index, inner, variables, extents, outer)
    value = convert(total, stage.node.dtype)
    builder.keep(stage, index, value, len(prefix), outer, scope)
    if own:
        lengths = builder.extents(stage, own)
        scope.block += wrap(loops, lengths, outer.statements(), "parallel")


def folded_index(
    builder: KernelBuilder, fold: Fold, depth: int
) -> tuple[Index, list[ir.Var], list[ir.Expr]]:
    """The folded index, and the variables and extents of its loops; length 1 needs no loop."""
    wide = [dim for dim in fold.extents if dim != 1]
    variables = builder.loops(depth, len(wide))
    remaining = iter(variables)
    index = tuple(ir.const(0) if dim == 1 else next(remaining) for dim in fold.extents)
    return index, variables, [builder.context.sizes(dim) for dim in wide]


def register(
    builder: KernelBuilder, stage: Stage, fold: Fold, index: Index, inner: Index,
    variables: Sequence[ir.Var], extents: Sequence[ir.Expr], scope: Scope,
    cut: StripMining | None = None,
) -> ir.Load:  # fmt: skip
    """Folds into a register: the running value when the loops are done.

    With a `cut`, the outermost loop is over the elements of a strip.
    """
    acc = _accumulator(builder, fold, scope)
    body = builder.scope([], scope)
    value = body.tracer.run(stage.node, fold.element, index, inner)
    body.block.append(ir.Accumulate(acc, ir.const(0), fold.op, value))
    note = builder.context.describe(stage.node)
    cuts = None if cut is None else {variables[0]: cut.within}
    scope.block += wrap(variables, extents, body.block, "serial", note, cuts)
    return ir.Load(acc, ir.const(0), fold.dtype)


def _accumulator(builder: KernelBuilder, fold: Fold, scope: Scope) -> str:
    """A local scalar with the value to begin with."""
    acc = builder.names.fresh(None, "acc")
    scope.block.append(ir.Alloc(ir.Buffer(acc, fold.dtype, (), "local")))
    scope.block.append(ir.Store(acc, ir.const(0), fold.initial))
    return acc


def _streams(
    builder: KernelBuilder, stage: Stage, fold: Fold, index: Index, inner: Index,
    variables: Sequence[ir.Var], moved: Callable[[Index, ir.Expr], Index],
    extents: Sequence[ir.Expr], scope: Scope,
) -> ir.Load | None:  # fmt: skip
    """As `register`, in parts side by side, each with an accumulator: none waits for the others.

    `moved` gives the folded index after the first so many elements. None where it does not pay.
    """
    if fold.op not in ("add", "mul") or not fold.dtype.is_float or builder.context.on_device:
        return None
    body = builder.scope([], scope)

    def fold_into(acc: str, inside: Scope, skipped: ir.Expr, inner: Index) -> ir.Accumulate:
        value = inside.tracer.run(stage.node, fold.element, index, moved(inner, skipped))
        return ir.Accumulate(acc, ir.const(0), fold.op, value)

    value = fold_into("", body, ir.const(0), inner).value
    if body.block or operations(value) > SHORT:
        return None
    part = ir.Var(builder.names.fresh(None, "part"))
    scope.block.append(ir.Let(part, ir.binary("floordiv", extents[0], ir.const(STREAMS))))
    accs = [_accumulator(builder, fold, scope) for _ in range(STREAMS)]
    for number, acc in enumerate(accs):
        skipped = ir.mul(part, ir.const(number))
        body.block.append(fold_into(acc, body, skipped, inner))
    note = builder.context.describe(stage.node)
    scope.block += wrap(variables, [part, *extents[1:]], body.block, "serial", note)
    inner, variables, _ = folded_index(builder, fold, len(stage.loops))
    rest, done = builder.scope([], scope), ir.mul(part, ir.const(STREAMS))
    rest.block.append(fold_into(accs[0], rest, done, inner))
    lengths = [ir.sub(extents[0], done), *extents[1:]]
    scope.block += wrap(variables, lengths, rest.block, "serial", "the rest")
    total, *others = [ir.Load(acc, ir.const(0), fold.dtype) for acc in accs]
    for other in others:
        scope.block.append(ir.Accumulate(accs[0], ir.const(0), fold.op, other))
    return total


def column(
    builder: KernelBuilder, stage: Stage, fold: Fold, prefix: list[ir.Var], scope: Scope
) -> None:
    """Blocks of the result's last axis, each folded row by row: memory is read in order."""
    own = stage.loops[len(prefix) :]
    depth = len(prefix) + len(own)
    loops = builder.loops(len(prefix), len(own) - 1)
    *lengths, length = builder.extents(stage, own)
    outer = builder.scope([], scope)
    short = isinstance(length, ir.Const) and length.value <= BLOCK
    cut = None if short else strip_mining(builder, "block", length, ir.const(BLOCK))
    start: ir.Expr = ir.const(0)
    width: ir.Expr = length
    if cut is not None:
        outer.block.append(cut.let)
        start, width = cut.start, cut.count
    sums = builder.names.fresh(None, "sums")
    capacity = length if short else ir.const(BLOCK)
    outer.block.append(ir.Alloc(ir.Buffer(sums, fold.dtype, (capacity,), "local")))
    (first,) = builder.loops(depth - 1, 1)
    within = None if cut is None else cut.within

    def across(var: ir.Var, body: Sequence[ir.Stmt], note: str = "") -> ir.Loop:
        return ir.Loop(var, width, "parallel", tuple(body), note, within)

    outer.block.append(across(first, [ir.Store(sums, first, fold.initial)]))
    inner, variables, extents = folded_index(builder, fold, depth)
    (var,) = builder.loops(depth - 1, 1)
    index = builder.index(stage, [*prefix, *loops, ir.add(start, var)])
    body = builder.scope([], outer)
    value = body.tracer.run(stage.node, fold.element, index, inner)
    body.block.append(ir.Accumulate(sums, var, fold.op, value))
    note = builder.context.describe(stage.node)
    outer.block += wrap(variables, extents, [across(var, body.block, note)], "serial")
    (last,) = builder.loops(depth - 1, 1)
    index = builder.index(stage, [*prefix, *loops, ir.add(start, last)])
    end = builder.scope([], outer)
    result = convert(ir.Load(sums, last, fold.dtype), stage.node.dtype)
    builder.keep(stage, index, result, len(prefix), end, scope)
    outer.block.append(across(last, end.statements()))
    block = outer.block if cut is None else [cut.loop("parallel", tuple(outer.block))]
    scope.block += wrap(loops, lengths, block, "parallel")


def strip_mining(
    builder: KernelBuilder, strip: str, extent: ir.Expr, length: ir.Expr
) -> StripMining:
    """A loop in strips, which are called `strip` in the program."""
    number, start = (ir.Var(builder.names.fresh(None, name)) for name in (strip, "start"))
    return StripMining(number, extent, length, start)


def split(builder: KernelBuilder, stage: Stage, fold: Fold, scope: Scope) -> None:
    """Each element of the result in chunks of the outermost folded axis: the fewer elements there
    are, the more chunks, so that all threads of a device have something to do."""
    sizes, one = builder.context.sizes, ir.const(1)
    extent = sizes(fold.extents[outermost(fold)])
    elements: ir.Expr = one
    for length in builder.extents(stage, stage.loops):
        elements = ir.mul(elements, length)
    enough = ir.binary("floordiv", ir.const(THREADS), ir.binary("max", one, elements))
    most = ir.binary("max", one, ir.binary("min", ir.const(MOST), enough))
    rows = ir.binary("max", ir.const(FEWEST), ir.ceiling(extent, most))
    _in_chunks(builder, stage, fold, scope, sizes.computed("chunk_rows", rows))


def chunked(builder: KernelBuilder, stage: Stage, fold: Fold, scope: Scope) -> None:
    """A fold of everything in chunks of the outermost axis, of about `CHUNK` elements.

    On a device, which has a team for each chunk, of all axes as one: the outermost may be short.
    There, too, a second launch adds up the partial results. The last team to finish could, if a
    counter told it that it is; but to set one to zero before each launch is a launch of its own,
    and one that the last team sets back would be shared by calls on several streams.
    """
    if builder.context.on_device:
        _in_chunks(builder, stage, fold, scope, ir.const(CHUNK), as_one=True)
    else:
        _in_chunks(builder, stage, fold, scope, chunk_length(builder, fold, outermost(fold)))


def outermost(fold: Fold) -> int:
    """The outermost folded axis that is no length 1."""
    return next(number for number, dim in enumerate(fold.extents) if dim != 1)


def _as_one(builder: KernelBuilder, fold: Fold, flat: ir.Expr) -> Index:
    """The folded index at a place among all folded elements."""
    index: list[ir.Expr] = [ir.const(0)] * len(fold.extents)
    first, *others = (axis for axis, dim in enumerate(fold.extents) if dim != 1)
    for axis in reversed(others):
        length = builder.context.sizes(fold.extents[axis])
        index[axis] = ir.binary("mod", flat, length)
        flat = ir.binary("floordiv", flat, length)
    index[first] = flat
    return tuple(index)


def _in_chunks(
    builder: KernelBuilder, stage: Stage, fold: Fold, scope: Scope, step: ir.Expr, *,
    as_one: bool = False,
) -> None:  # fmt: skip
    """Partial results of chunks of `step` for each element of the result, then their fold."""
    sizes, own, number = builder.context.sizes, stage.loops, outermost(fold)
    extent = sizes(product(fold.extents) if as_one else fold.extents[number])
    cut = strip_mining(builder, "chunk", extent, step)
    count = sizes.computed("chunks", cut.strips)
    lengths = builder.extents(stage, own)
    partial = builder.context.temp("partial", fold.dtype, (count, *lengths))
    builder.uses(partial, written=True)

    def place(chunk: ir.Var, loops: Sequence[ir.Var]) -> ir.Expr:
        flat: ir.Expr = chunk
        for variable, length in zip(loops, lengths, strict=True):
            flat = ir.add(ir.mul(flat, length), variable)
        return flat

    chunk = cut.number
    loops = builder.loops(0, len(own))
    inside = builder.scope([cut.let], scope)
    index = builder.index(stage, loops)
    total: ir.Load | None = None
    if as_one:
        variables, extents = builder.loops(len(own), 1), list[ir.Expr]([cut.count])
        inner = _as_one(builder, fold, cut.at(variables[0]))
    else:
        inner, variables, extents = folded_index(builder, fold, len(own))
        extents[0] = cut.count

        def moved(inner: Index, skipped: ir.Expr) -> Index:
            place = ir.add(ir.add(cut.start, skipped), inner[number])
            return (*inner[:number], place, *inner[number + 1 :])

        total = _streams(builder, stage, fold, index, inner, variables, moved, extents, inside)
        inner = moved(inner, ir.const(0))
    if total is None:
        total = register(builder, stage, fold, index, inner, variables, extents, inside, cut)
    inside.block.append(ir.Store(partial, place(chunk, loops), total))
    nest = [chunk, *loops], [count, *lengths]
    cuts = {chunk: cut.over}
    scope.block += wrap(*nest, inside.block, "parallel", "partial results", cuts)

    loops = builder.loops(0, len(own))
    index = builder.index(stage, loops)
    end = builder.scope([], scope) if own else scope
    acc = builder.names.fresh(None, "acc")
    end.block.append(ir.Alloc(ir.Buffer(acc, fold.dtype, (), "local")))
    end.block.append(ir.Store(acc, ir.const(0), fold.initial))
    again = ir.Var(builder.names.fresh(None, "chunk"))
    part = ir.Load(partial, place(again, loops), fold.dtype)
    adding = ir.Accumulate(acc, ir.const(0), fold.op, part)
    end.block.append(ir.Loop(again, count, "serial", (adding,)))
    value = convert(ir.Load(acc, ir.const(0), fold.dtype), stage.node.dtype)
    builder.keep(stage, index, value, 0, end, scope)
    if own:
        note = builder.context.describe(stage.node)
        scope.block += wrap(loops, lengths, end.statements(), "parallel", note)


def is_long(fold: Fold) -> bool:
    """Whether a fold may be worth more than one thread for each element."""
    count = product(fold.extents)
    return not (isinstance(count, int) and count <= 2 * FEWEST)


def is_large(builder: KernelBuilder, stage: Stage, fold: Fold) -> bool:
    """Whether a fold should be cut into chunks: it has no other loops, and may be long.

    Slices that have another length in each step of a loop are short, mostly, and memory for partial
    results would be asked for in each step; those of graphics cards are long as it is.
    """
    count = product(fold.extents)
    quick = fold.op in ("and", "or")  # conditions, mostly of short index arrays
    short = isinstance(count, int) and count <= 2 * CHUNK
    if builder.context.sizes.varies(count) and not builder.context.on_device:
        return False
    return not (stage.loops or quick or short)


def chunk_length(builder: KernelBuilder, fold: Fold, split: int) -> ir.Expr:
    """How many steps of the split axis make a chunk of about `CHUNK` elements."""
    sizes = builder.context.sizes
    width = product(fold.extents[split + 1 :])
    if width == 1:
        return ir.const(CHUNK)
    wide = ir.binary("max", ir.const(1), sizes(width))
    rows = ir.binary("floordiv", ir.const(CHUNK), wide)
    return sizes.computed("chunk_rows", ir.binary("max", ir.const(1), rows))
