"""Building one kernel: stages inside loops, with every value named once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from symc.codegen import ir
from symc.codegen.dtypes import DType
from symc.dims import Dim, product
from symc.graph import Tensor
from symc.lowering import Alias, At, Fold, Index, LibCall, Lowering, Part, Sweep, Write
from symc.sizes import Names, SizeTable
from symc.stages import Stage
from symc.trace import Tracer
from symc.units import Lone, Nest

LOOP_VARIABLES = ("i", "j", "k", "l", "ii", "jj", "kk", "ll")
# A fold over everything is cut into chunks of about this many elements, whatever the threads: each
# chunk gives a partial result, and those are combined in order, so results are reproducible.
CHUNK = 16384
MOST_CHUNKS = 64


@dataclass(frozen=True, slots=True)
class Memory:
    """What a kernel needs to know of the program around it."""

    sizes: SizeTable
    dims_of: Callable[[Tensor], tuple[Dim, ...]]
    lowering_of: Callable[[Tensor], Lowering]
    is_stored: Callable[[Tensor], bool]
    home: Callable[[Tensor], str]
    destinations: Callable[[Tensor], Sequence[str]]
    outside: Callable[[Tensor], bool]
    temp: Callable[[str, DType, tuple[ir.Expr, ...]], str]
    dtype_of: Callable[[str], DType]
    overwrites: Callable[[Tensor, Tensor], bool]
    describe: Callable[[Tensor], str]


@dataclass(slots=True)
class Scope:
    """A block being written, and the elements already named in it or around it."""

    block: list[ir.Stmt]
    tracer: Tracer
    stores: list[ir.Stmt] = field(default_factory=list)


class KernelBuilder:
    """Writes one kernel's body and remembers which buffers and sizes it uses."""

    def __init__(self, memory: Memory, names: Names) -> None:
        self._memory = memory
        self._names = names.copy()
        self._params: dict[str, bool] = {}
        self._values: dict[Tensor, ir.Expr] = {}
        self._rows: dict[Tensor, tuple[str, int]] = {}

    def params(self) -> list[ir.Param]:
        """The buffers used so far, in order of first use."""
        return [
            ir.Param(name, self._memory.dtype_of(name), written)
            for name, written in self._params.items()
        ]

    # --- units ------------------------------------------------------------------------------------

    def nest(self, nest: Nest) -> list[ir.Stmt]:
        """The body of a kernel for stages that share their outer loops."""
        first = nest.stages[0]
        depth = nest.depth
        prefix = [ir.Var(LOOP_VARIABLES[position]) for position in range(depth)]
        body: list[ir.Stmt] = []
        scope = self._scope(body, None)
        for stage in nest.stages:
            self._stage(stage, prefix, scope, alone=len(nest.stages) == 1)
        body += scope.stores
        dims = self._memory.dims_of(first.node)
        extents = [self._memory.sizes(dims[axis]) for axis in first.loops[:depth]]
        note = "; ".join(self._memory.describe(stage.node) for stage in nest.stages[-3:])
        return wrap(prefix, extents, body, "parallel", note)

    def _stage(self, stage: Stage, prefix: list[ir.Var], scope: Scope, alone: bool) -> None:
        lowering = stage.lowering
        match lowering:
            case At():
                self._map(stage, lowering, prefix, scope)
            case Fold() if not prefix and len(stage.loops) == int(stage.column) and self._large(
                stage, lowering
            ):
                assert alone
                self._chunked(stage, lowering, scope)
            case Fold() if stage.column:
                self._column(stage, lowering, prefix, scope)
            case Fold():
                self._row(stage, lowering, prefix, scope)
            case Write() | Sweep() | LibCall() | Alias():
                raise AssertionError(f"{stage.node!r} cannot share loops")
            case _:
                assert_never(lowering)

    def _map(self, stage: Stage, lowering: At, prefix: list[ir.Var], scope: Scope) -> None:
        own = stage.loops[len(prefix) :]
        loops = [ir.Var(LOOP_VARIABLES[len(prefix) + number]) for number in range(len(own))]
        index = self._index(stage, [*prefix, *loops])
        inner = scope if not own else self._scope([], scope)
        value = inner.tracer.run(stage.node, lowering.element(index))
        self._keep(stage, index, value, len(prefix), inner, scope)
        if own:
            body = [*inner.block, *inner.stores]
            note = self._memory.describe(stage.node)
            scope.block += wrap(loops, self._extents(stage, own), body, "parallel", note)

    def _row(self, stage: Stage, fold: Fold, prefix: list[ir.Var], scope: Scope) -> None:
        own = stage.loops[len(prefix) :]
        loops = [ir.Var(LOOP_VARIABLES[len(prefix) + number]) for number in range(len(own))]
        index = self._index(stage, [*prefix, *loops])
        outer = scope if not own else self._scope([], scope)
        total = self._folded(stage, fold, index, len(prefix) + len(own), outer)
        self._keep(stage, index, total, len(prefix), outer, scope)
        if own:
            body = [*outer.block, *outer.stores]
            scope.block += wrap(loops, self._extents(stage, own), body, "parallel")

    def _folded(
        self, stage: Stage, fold: Fold, index: Index, depth: int, scope: Scope
    ) -> ir.Expr:
        """Folds into a register; gives the result, converted to the node's dtype."""
        acc = self._names.fresh(None, "acc")
        scope.block.append(ir.Alloc(ir.Buffer(acc, fold.dtype, (), "local")))
        scope.block.append(ir.Store(acc, ir.const(0), fold.initial))
        inner, extents = self._inner(fold, depth)
        body = self._scope([], scope)
        value = body.tracer.run(stage.node, fold.element(index, inner))
        body.block.append(ir.Accumulate(acc, ir.const(0), fold.op, value))
        loops = [var for var in inner if isinstance(var, ir.Var)]
        note = self._memory.describe(stage.node)
        scope.block += wrap(loops, extents, body.block, "serial", note)
        return convert(ir.Load(acc, ir.const(0), fold.dtype), stage.node.dtype)

    def _inner(self, fold: Fold, depth: int) -> tuple[Index, list[ir.Expr]]:
        """The folded index and the extents of its loops; extents of 1 need no loop."""
        index: list[ir.Expr] = []
        extents: list[ir.Expr] = []
        for dim in fold.extents:
            if dim == 1:
                index.append(ir.const(0))
            else:
                index.append(ir.Var(LOOP_VARIABLES[depth + len(extents)]))
                extents.append(self._memory.sizes(dim))
        return tuple(index), extents

    def _column(self, stage: Stage, fold: Fold, prefix: list[ir.Var], scope: Scope) -> None:
        """Folds whole rows at once: the result's last axis is contiguous in what is read."""
        own = stage.loops[len(prefix) :]
        depth = len(prefix) + len(own)
        loops = [ir.Var(LOOP_VARIABLES[len(prefix) + number]) for number in range(len(own) - 1)]
        last = ir.Var(LOOP_VARIABLES[depth - 1])
        extents = self._extents(stage, own)
        index = self._index(stage, [*prefix, *loops, last])
        outer = scope if not loops else self._scope([], scope)
        inner, folded = self._inner(fold, depth)
        serial = [var for var in inner if isinstance(var, ir.Var)]
        row = self._row_sums(stage, fold, index, inner, outer, last, extents[-1], serial, folded)
        end = self._scope([], outer)
        value = convert(ir.Load(row, last, fold.dtype), stage.node.dtype)
        self._keep(stage, index, value, len(prefix), end, scope)
        outer.block += wrap([last], extents[-1:], [*end.block, *end.stores], "parallel")
        if loops:
            scope.block += wrap(loops, extents[:-1], outer.block, "parallel")

    def _row_sums(
        self, stage: Stage, fold: Fold, index: Index, inner: Index, scope: Scope, last: ir.Var,
        extent: ir.Expr, serial: list[ir.Var], folded: list[ir.Expr],
    ) -> str:  # fmt: skip
        row = self._names.fresh(None, "row")
        scope.block.append(ir.Alloc(ir.Buffer(row, fold.dtype, (extent,), "local")))
        start = ir.Store(row, last, fold.initial)
        scope.block.append(ir.Loop(last, extent, "parallel", (start,)))
        body = self._scope([], scope)
        value = body.tracer.run(stage.node, fold.element(index, inner))
        body.block.append(ir.Accumulate(row, last, fold.op, value))
        inside = wrap([last], [extent], body.block, "parallel", self._memory.describe(stage.node))
        scope.block += wrap(serial, folded, inside, "serial")
        return row

    # --- folds over everything, in chunks ---------------------------------------------------------

    def _large(self, stage: Stage, fold: Fold) -> bool:
        count = product(fold.extents)
        return not (isinstance(count, int) and count <= 2 * CHUNK)

    def _chunked(self, stage: Stage, fold: Fold, scope: Scope) -> None:
        """A fold without parallel outer loops: chunks of the outermost folded axis in parallel."""
        sizes = self._memory.sizes
        split = next(n for n, dim in enumerate(fold.extents) if dim != 1)
        extent = sizes(fold.extents[split])
        step = self._chunk_rows(stage, fold, split, extent)
        count = sizes.computed(
            "chunks",
            ir.binary("floordiv", ir.add(extent, ir.sub(step, ir.const(1))), step),
        )
        columns = self._extents(stage, stage.loops)
        partial = self._memory.temp("partial", fold.dtype, (count, *columns))
        self._params[partial] = True
        b = ir.Var(self._names.fresh(None, "chunk"))
        start = ir.Var(self._names.fresh(None, "start"))
        length = ir.binary("min", step, ir.sub(extent, start))
        chunk = self._scope([ir.Let(start, ir.mul(b, step))], scope)
        shifted = _ChunkOf(fold, split, start)
        depth = len(stage.loops)
        inner, folded = self._inner(fold, depth)
        serial = [var for var in inner if isinstance(var, ir.Var)]
        folded[0] = length
        if stage.column:
            last = ir.Var(LOOP_VARIABLES[0])
            index = self._index(stage, [last])
            row = self._row_sums(
                stage, shifted.fold(), index, inner, chunk, last, columns[0], serial, folded
            )
            store = ir.Store(
                partial, ir.add(ir.mul(b, columns[0]), last), ir.Load(row, last, fold.dtype)
            )
            chunk.block.append(ir.Loop(last, columns[0], "parallel", (store,)))
        else:
            index = self._index(stage, [])
            acc = self._names.fresh(None, "acc")
            chunk.block.append(ir.Alloc(ir.Buffer(acc, fold.dtype, (), "local")))
            chunk.block.append(ir.Store(acc, ir.const(0), fold.initial))
            body = self._scope([], chunk)
            value = body.tracer.run(stage.node, shifted.fold().element(index, inner))
            body.block.append(ir.Accumulate(acc, ir.const(0), fold.op, value))
            note = self._memory.describe(stage.node)
            chunk.block += wrap(serial, folded, body.block, "serial", note)
            chunk.block.append(ir.Store(partial, b, ir.Load(acc, ir.const(0), fold.dtype)))
        scope.block.append(ir.Loop(b, count, "parallel", tuple(chunk.block), "partial results"))
        self._combine(stage, fold, partial, b, count, columns, scope)

    def _chunk_rows(self, stage: Stage, fold: Fold, split: int, extent: ir.Expr) -> ir.Expr:
        """How many steps of the split axis make a chunk: independent of the number of threads."""
        sizes = self._memory.sizes
        if stage.column:
            most = ir.const(MOST_CHUNKS)
            share = ir.binary("floordiv", ir.add(extent, ir.const(MOST_CHUNKS - 1)), most)
            return sizes.computed("chunk_rows", ir.binary("max", ir.const(256), share))
        width = product(fold.extents[split + 1 :])
        if width == 1:
            return ir.const(CHUNK)
        wide = ir.binary("max", ir.const(1), sizes(width))
        rows = ir.binary("floordiv", ir.const(CHUNK), wide)
        return sizes.computed("chunk_rows", ir.binary("max", ir.const(1), rows))

    def _combine(
        self, stage: Stage, fold: Fold, partial: str, b: ir.Var, count: ir.Expr,
        columns: list[ir.Expr], scope: Scope,
    ) -> None:  # fmt: skip
        if not stage.column:
            acc = self._names.fresh(None, "acc")
            scope.block.append(ir.Alloc(ir.Buffer(acc, fold.dtype, (), "local")))
            scope.block.append(ir.Store(acc, ir.const(0), fold.initial))
            step = ir.Accumulate(acc, ir.const(0), fold.op, ir.Load(partial, b, fold.dtype))
            scope.block.append(ir.Loop(b, count, "serial", (step,)))
            value = convert(ir.Load(acc, ir.const(0), fold.dtype), stage.node.dtype)
            self._keep(stage, self._index(stage, []), value, 0, scope, scope)
            return
        last = ir.Var(LOOP_VARIABLES[0])
        row = self._names.fresh(None, "row")
        scope.block.append(ir.Alloc(ir.Buffer(row, fold.dtype, (columns[0],), "local")))
        start = ir.Store(row, last, fold.initial)
        scope.block.append(ir.Loop(last, columns[0], "parallel", (start,)))
        part = ir.Load(partial, ir.add(ir.mul(b, columns[0]), last), fold.dtype)
        add = ir.Loop(last, columns[0], "parallel", (ir.Accumulate(row, last, fold.op, part),))
        scope.block.append(ir.Loop(b, count, "serial", (add,)))
        end = self._scope([], scope)
        value = convert(ir.Load(row, last, fold.dtype), stage.node.dtype)
        self._keep(stage, self._index(stage, [last]), value, 0, end, scope)
        scope.block.append(
            ir.Loop(last, columns[0], "parallel", (*end.block, *end.stores))
        )

    # --- writes and sweeps ------------------------------------------------------------------------

    def lone(self, lone: Lone) -> list[ir.Stmt]:
        """The body of a kernel for one stage that shares no loops."""
        stage = lone.stage
        if isinstance(stage.lowering, Write):
            return self._write(stage, stage.lowering)
        assert isinstance(stage.lowering, Sweep)
        return self._sweep(stage, stage.lowering)

    def _write(self, stage: Stage, write: Write) -> list[ir.Stmt]:
        node = stage.node
        body: list[ir.Stmt] = []
        outer = self._scope(body, None)
        for buffer in self._memory.destinations(node):
            self._params[buffer] = True
            if write.base is not None and not self._updates_in_place(node, buffer):
                loops = [ir.Var(LOOP_VARIABLES[n]) for n in range(len(stage.loops))]
                index = self._index(stage, loops)
                inner = self._scope([], outer)
                value = inner.tracer.run(node, write.base(index))
                inner.block.append(ir.Store(buffer, self._flat(node, index), value))
                extents = self._extents(stage, stage.loops)
                note = self._memory.describe(node)
                body += wrap(loops, extents, inner.block, "parallel", note)
            for part in write.parts:
                body += self._part(node, part, buffer, outer)
        return body

    def _updates_in_place(self, node: Tensor, buffer: str) -> bool:
        return self._memory.overwrites(node, node.args[0]) and buffer == self._memory.home(
            node.args[0]
        )

    def _part(self, node: Tensor, part: Part, buffer: str, outer: Scope) -> list[ir.Stmt]:
        loops = [ir.Var(LOOP_VARIABLES[n]) for n in range(len(part.extents))]
        inner = self._scope([], outer)
        index: Index = tuple(loops)
        target = self._flat(node, inner.tracer.run(node, part.target(index)))
        value = inner.tracer.run(node, part.value(index))
        if part.combine == "set":
            inner.block.append(ir.Store(buffer, target, value))
        else:
            inner.block.append(ir.Accumulate(buffer, target, part.combine, value))
        extents = [self._memory.sizes(extent) for extent in part.extents]
        kind: ir.LoopKind = "parallel" if part.parallel else "serial"
        return wrap(loops, extents, inner.block, kind, self._memory.describe(node))

    def _sweep(self, stage: Stage, sweep: Sweep) -> list[ir.Stmt]:
        """Each line along the axis on its own, with the running value in a register."""
        node = stage.node
        dims = self._memory.dims_of(node)
        body: list[ir.Stmt] = []
        outer = self._scope(body, None)
        others = [axis for axis in stage.loops if axis != sweep.axis]
        loops = [ir.Var(LOOP_VARIABLES[n]) for n in range(len(others))]
        along = ir.Var(LOOP_VARIABLES[len(others)])
        place = {axis: var for axis, var in zip(others, loops, strict=True)}
        place[sweep.axis] = along
        index: Index = tuple(place.get(axis, ir.const(0)) for axis in range(len(dims)))
        acc = self._names.fresh(None, "acc")
        inner = self._scope([], outer)
        value = inner.tracer.run(node, sweep.element(index))
        inner.block.append(ir.Accumulate(acc, ir.const(0), sweep.op, value))
        total = convert(ir.Load(acc, ir.const(0), sweep.dtype), node.dtype)
        for buffer in self._memory.destinations(node):
            self._params[buffer] = True
            inner.block.append(ir.Store(buffer, self._flat(node, index), total))
        line: list[ir.Stmt] = [
            ir.Alloc(ir.Buffer(acc, sweep.dtype, (), "local")),
            ir.Store(acc, ir.const(0), sweep.initial),
            ir.Loop(along, self._memory.sizes(dims[sweep.axis]), "serial", tuple(inner.block)),
        ]
        extents = [self._memory.sizes(dims[axis]) for axis in others]
        return [*body, *wrap(loops, extents, line, "parallel", self._memory.describe(node))]

    # --- reading and keeping elements -------------------------------------------------------------

    def _scope(self, block: list[ir.Stmt], outer: Scope | None) -> Scope:
        """A block inside another: it sees the elements named there."""

        def stored(node: Tensor, index: Index) -> ir.Expr | None:
            if outer is not None:
                found = outer.tracer.memo.get((node, index))
                if found is not None:
                    return found
            return self._load(node, index)

        def name(node: Tensor, index: Index, value: ir.Expr) -> ir.Expr:
            if isinstance(value, ir.Const | ir.Var):
                return value
            var = ir.Var(self._names.fresh(node.name, "t"), value.dtype)
            block.append(ir.Let(var, value))
            return var

        return Scope(block, Tracer(self._memory.lowering_of, stored, name))

    def _load(self, node: Tensor, index: Index) -> ir.Expr | None:
        if node in self._values:
            return self._values[node]
        if node in self._rows:
            row, depth = self._rows[node]
            return ir.Load(row, self._flat(node, index, depth), node.dtype)
        if not self._memory.is_stored(node):
            return None
        buffer = self._memory.home(node)
        self._params.setdefault(buffer, False)
        return ir.Load(buffer, self._flat(node, index), node.dtype)

    def _keep(
        self, stage: Stage, index: Index, value: ir.Expr, depth: int, scope: Scope, outer: Scope
    ) -> None:
        """Stores a stage's element wherever it is wanted, for this kernel and for others."""
        node = stage.node
        if not isinstance(value, ir.Const | ir.Var):
            var = ir.Var(self._names.fresh(node.name, "t"), value.dtype)
            scope.block.append(ir.Let(var, value))
            value = var
        whole = len(stage.loops) == depth
        if whole:
            self._values[node] = value
        if self._memory.outside(node):
            for buffer in self._memory.destinations(node):
                self._params[buffer] = True
                target = ir.Store(buffer, self._flat(node, index), value)
                (scope.stores if whole else scope.block).append(target)
        elif not whole:
            row = self._names.fresh(node.name, "row")
            extents = tuple(self._extents(stage, stage.loops[depth:]))
            outer.block.append(ir.Alloc(ir.Buffer(row, node.dtype, extents, "local")))
            self._rows[node] = (row, depth)
            scope.block.append(ir.Store(row, self._flat(node, index, depth), value))

    def _index(self, stage: Stage, variables: Sequence[ir.Var]) -> Index:
        place = dict(zip(stage.loops, variables, strict=True))
        return tuple(place.get(axis, ir.const(0)) for axis in range(stage.node.ndim))

    def _extents(self, stage: Stage, axes: Sequence[int]) -> list[ir.Expr]:
        dims = self._memory.dims_of(stage.node)
        return [self._memory.sizes(dims[axis]) for axis in axes]

    def _flat(self, node: Tensor, index: Index, skip: int = 0) -> ir.Expr:
        """The position of an element, by Horner's rule; `skip` outer loops are left out."""
        dims = self._memory.dims_of(node)
        pairs = [(i, dim) for i, dim in zip(index, dims, strict=True) if dim != 1][skip:]
        flat: ir.Expr = ir.const(0)
        for i, dim in pairs:
            flat = ir.add(ir.mul(flat, self._memory.sizes(dim)), i)
        return flat


@dataclass(frozen=True, slots=True)
class _ChunkOf:
    """A fold whose axis `split` starts at `start`."""

    whole: Fold
    split: int
    start: ir.Var

    def fold(self) -> Fold:
        """The fold over the chunk."""

        def element(index: Index, inner: Index):  # type: ignore[no-untyped-def]
            moved = list(inner)
            moved[self.split] = ir.add(self.start, inner[self.split])
            return self.whole.element(index, tuple(moved))

        w = self.whole
        return Fold(w.extents, w.op, w.dtype, w.initial, element)


def convert(value: ir.Expr, dtype: DType) -> ir.Expr:
    """The value in a dtype."""
    return value if value.dtype is dtype else ir.Cast(value, dtype)


def wrap(
    variables: Sequence[ir.Var], extents: Sequence[ir.Expr], body: Sequence[ir.Stmt],
    kind: ir.LoopKind, note: str = "",
) -> list[ir.Stmt]:  # fmt: skip
    """The body inside loops, outermost first; the note goes on the outermost."""
    statements = list(body)
    for position in reversed(range(len(variables))):
        comment = note if position == 0 else ""
        loop = ir.Loop(variables[position], extents[position], kind, tuple(statements), comment)
        statements = [loop]
    return statements
