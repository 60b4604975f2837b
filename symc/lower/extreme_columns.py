"""The loops that find extremes where the result's last axis, not the folded one, is contiguous.

A block of elements of the result at a time, row by row: each has the best element so far and its
row, which is a number as wide as the elements. So that it fits, rows are gone through in strips.

Of few columns several rows are one: each lane follows the rows that are so many apart, and in the
end the best of the lanes of each column is found. That is where elements are read as they lie in
memory, so that lanes are neighbours there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, INT8, INT16, INT32, INT64, DType
from symc.codegen.passes.strips import StripMining
from symc.codegen.passes.walk import nodes
from symc.codegen.record import record
from symc.graph.dims import product
from symc.graph.formulas import Index
from symc.graph.lowering import Fold
from symc.lower import folds
from symc.lower.beating import NEVER, ZERO, beats, local
from symc.lower.builder import KernelBuilder, Scope
from symc.lower.nesting import wrap
from symc.schedule.stages import Stage

TOGETHER = 4  # rows that are compared before the best are stored
FEW = 32  # columns, at most, of which several rows are one
_LANES: dict[int, tuple[DType, int]] = {1: (INT8, 7), 2: (INT16, 15), 4: (INT32, 30)}


def column(
    builder: KernelBuilder, stage: Stage, fold: Fold, prefix: list[ir.Var], scope: Scope
) -> None:
    """Each element of the result by its lane of a block."""
    own = stage.loops[len(prefix) :]
    depth = len(prefix) + len(own)
    loops = builder.loops(len(prefix), len(own) - 1)
    *lengths, length = builder.extents(stage, own)
    outer = builder.scope([], scope)
    short = isinstance(length, ir.Const) and length.value <= folds.BLOCK
    cut = None if short else folds.strip_mining(builder, "block", length, ir.const(folds.BLOCK))
    if cut is not None:
        outer.block.append(cut.let)
    block = _Block(builder, stage, fold, cut, length, depth)

    def index(var: ir.Var) -> Index:
        at = var if cut is None else cut.at(var)
        return builder.index(stage, [*prefix, *loops, at])

    wide = builder.scope([], outer)
    places = block.search(index, wide)
    (last,) = builder.loops(depth - 1, 1)
    end = builder.scope([], wide)
    result = ir.Load(places, last, INT64)
    builder.keep(stage, index(last), result, len(prefix), end, scope)
    wide.block.append(block.across(last, end.statements()))
    few = _FewColumns(builder, stage, fold, length).search(outer) if depth == 1 else None
    if few is None or (isinstance(length, ir.Const) and length.value > FEW):
        outer.block += wide.block
    else:
        narrow = ir.binary("le", length, ir.const(FEW))
        if fold.dtype.bytes < 8:  # the numbers of rows that are one fit into lanes of 32 bits
            rows = builder.context.sizes(product(fold.extents))
            narrow = ir.binary("and", narrow, ir.binary("lt", rows, ir.const(1 << 31)))
        outer.block.append(ir.If(narrow, tuple(few), tuple(wide.block)))
    done = outer.block if cut is None else [cut.loop("parallel", tuple(outer.block))]
    scope.block += wrap(loops, lengths, done, "parallel")


@record
class _Block:
    """A block of neighbouring elements of a result."""

    builder: KernelBuilder
    stage: Stage
    fold: Fold
    cut: StripMining | None
    length: ir.Expr
    depth: int

    def across(self, var: ir.Var, body: Sequence[ir.Stmt], note: str = "") -> ir.Loop:
        """A loop over its elements."""
        if self.cut is None:
            return ir.Loop(var, self.length, "parallel", tuple(body), note)
        return self.cut.inner(var, "parallel", tuple(body), note)

    def var(self) -> ir.Var:
        """A fresh variable for such a loop."""
        return self.builder.loops(self.depth - 1, 1)[0]

    def array(self, name: str, dtype: DType, scope: Scope) -> str:
        """Local memory for a number for each element."""
        found = self.builder.names.fresh(None, name)
        capacity = self.length if self.cut is None else ir.const(folds.BLOCK)
        scope.block.append(local(found, dtype, capacity))
        return found

    def search(self, index: Callable[[ir.Var], Index], scope: Scope) -> str:
        """Finds the place of each element; gives the array that has them."""
        builder, fold = self.builder, self.fold
        inner, variables, extents = folds.folded_index(builder, fold, self.depth)
        best, places = self.array("best", fold.dtype, scope), self.array("places", INT64, scope)
        var = self.var()
        start = [ir.Store(best, var, fold.initial), ir.Store(places, var, ZERO)]
        scope.block.append(self.across(var, start))
        *before, last = variables
        narrow = _LANES.get(fold.dtype.bytes)
        if narrow is None or before:
            number: ir.Expr = ZERO
            for variable, extent in zip(before, extents, strict=False):
                number = ir.add(ir.mul(number, extent), variable)

            def row(at: ir.Expr) -> _NumberedRow:
                moved = tuple(at if i is last else i for i in inner)
                return _NumberedRow(ir.add(ir.mul(number, extents[-1]), at), moved)

            steps = self.rows(best, places, extents[-1], row, index, scope)
            scope.block += wrap(before, extents[:-1], steps, "serial")
            return places
        lane, bits = narrow
        most = ir.binary("min", extents[0], ir.const(1 << bits))
        strips = folds.strip_mining(builder, "rows", extents[0], most)
        at = self.array("at", lane, scope)
        strip = builder.scope([strips.let], scope)
        var = self.var()
        strip.block.append(self.across(var, [ir.Store(at, var, ir.Const(-1, lane))]))

        def row_of_strip(at: ir.Expr) -> _NumberedRow:
            place = ir.add(strips.start, at)
            return _NumberedRow(ir.Cast(at, lane), tuple(place if i is last else i for i in inner))

        strip.block += self.rows(best, at, strips.count, row_of_strip, index, strip)
        var = self.var()
        found = ir.Load(at, var, lane)
        place = ir.add(strips.start, ir.Cast(found, INT64))
        is_new = ir.binary("ge", found, ir.Const(0, lane))
        kept = ir.Select(is_new, place, ir.Load(places, var, INT64), INT64)
        strip.block.append(self.across(var, [ir.Store(places, var, kept)]))
        scope.block.append(strips.loop("serial", tuple(strip.block)))
        return places

    def rows(
        self, best: str, at: str, count: ir.Expr, row: Callable[[ir.Expr], _NumberedRow],
        index: Callable[[ir.Var], Index], scope: Scope,
    ) -> list[ir.Stmt]:  # fmt: skip
        """Goes through so many rows, some at a time: so the best are seldom loaded and stored."""
        names = (self.builder.names.fresh(None, name) for name in ("four", "rest"))
        four, rest = (ir.Var(name) for name in names)
        times = ir.binary("floordiv", count, ir.const(TOGETHER))
        some = [row(ir.add(ir.mul(four, ir.const(TOGETHER)), ir.const(n))) for n in range(TOGETHER)]
        done = ir.mul(times, ir.const(TOGETHER))
        one = row(ir.add(done, rest))
        most, least = (self.step(best, at, found, index, scope) for found in (some, [one]))
        return [
            ir.Loop(four, times, "serial", (most,)),
            ir.Loop(rest, ir.sub(count, done), "serial", (least,)),
        ]

    def step(
        self, best: str, at: str, rows: Sequence[_NumberedRow], index: Callable[[ir.Var], Index],
        scope: Scope,
    ) -> ir.Loop:  # fmt: skip
        """The elements of some rows, which take the places of those that they beat."""
        builder, fold = self.builder, self.fold
        var = self.var()
        body = builder.scope([], scope)
        most: ir.Expr = ir.Load(best, var, fold.dtype)
        place: ir.Expr = ir.Load(at, var, rows[0].number.dtype)
        for row in rows:
            value = body.tracer.run(self.stage.node, fold.element, index(var), row.index)
            value = builder.named(body.block, None, value)
            most = builder.named(body.block, None, most)
            takes = builder.named(body.block, None, beats(fold, value, most))
            most = ir.Select(takes, value, most, fold.dtype)
            place = builder.named(body.block, None, place)
            place = ir.Select(takes, row.number, place, place.dtype)
        body.block += [ir.Store(best, var, most), ir.Store(at, var, place)]
        return self.across(var, body.block, builder.context.describe(self.stage.node))


@record
class _NumberedRow:
    """A row: the number that lanes keep of it, and its folded index."""

    number: ir.Expr
    index: Index


@record
class _FewColumns:
    """A matrix of which so many rows as fit into a block are taken as one."""

    builder: KernelBuilder
    stage: Stage
    fold: Fold
    length: ir.Expr

    def search(self, outer: Scope) -> list[ir.Stmt] | None:
        """Finds the places of all elements; None where elements are not read as they lie."""
        builder, fold = self.builder, self.fold
        inner, variables, extents = folds.folded_index(builder, fold, 1)
        if len(variables) != 1:
            return None
        scope = builder.scope([], outer)
        most = ir.binary("max", ir.const(1), self.length)
        together = ir.binary("floordiv", ir.const(folds.BLOCK), most)
        rows = builder.named(scope.block, "rows", together)
        lanes = builder.named(scope.block, "lanes", ir.mul(rows, most))
        whole = ir.mul(extents[0], self.length)
        names = (ir.Var(builder.names.fresh(None, name)) for name in ("group", "start"))
        number, start_of = names
        cut = StripMining(number, whole, lanes, start_of)
        lane = INT64 if fold.dtype.bytes == 8 else INT32
        best, at = (builder.names.fresh(None, name) for name in ("best", "at"))
        for name, dtype in ((best, fold.dtype), (at, lane)):
            scope.block.append(local(name, dtype, ir.const(folds.BLOCK)))
        (var,) = builder.loops(0, 1)
        start = ir.Store(best, var, fold.initial), ir.Store(at, var, ir.Const(-1, lane))
        scope.block.append(ir.Loop(var, lanes, "parallel", start))

        (var,) = builder.loops(0, 1)
        body = builder.scope([], builder.scope([], scope))
        place = cut.at(var)
        row = ir.binary("floordiv", place, self.length)
        moved = tuple(row if i is variables[0] else i for i in inner)
        index = builder.index(self.stage, [ir.binary("mod", place, self.length)])
        value = body.tracer.run(self.stage.node, fold.element, index, moved)
        if not all(map(_is_as_it_lies, [value, *_named_in(body.block)])):
            return None
        value = builder.named(body.block, None, value)
        before = builder.named(body.block, None, ir.Load(best, var, fold.dtype))
        takes = builder.named(body.block, None, beats(fold, value, before))
        body.block.append(ir.Store(best, var, ir.Select(takes, value, before, fold.dtype)))
        group, kept = ir.Cast(cut.number, lane), ir.Load(at, var, lane)
        body.block.append(ir.Store(at, var, ir.Select(takes, group, kept, lane)))
        note = builder.context.describe(self.stage.node)
        across = cut.inner(var, "parallel", tuple(body.block), note)
        scope.block.append(cut.loop("serial", (cut.let, across)))
        scope.block.append(self._first_of_all(best, at, lane, rows, scope))
        return scope.block

    def _first_of_all(
        self, best: str, at: str, lane: DType, rows: ir.Expr, outer: Scope
    ) -> ir.Loop:
        """For each column the best of its lanes, and of equal ones that of the first row."""
        builder, fold = self.builder, self.fold
        column, row = builder.loops(0, 2)
        most, first = (builder.names.fresh(None, name) for name in ("most", "first"))
        value_so_far = ir.Load(most, ZERO, fold.dtype)
        place_so_far = ir.Load(first, ZERO, INT64)
        inside = builder.scope([], outer)
        inside.block += [local(most, fold.dtype), local(first, INT64)]
        inside.block += [ir.Store(most, ZERO, fold.initial), ir.Store(first, ZERO, NEVER)]
        body = builder.scope([], inside)
        here = ir.add(ir.mul(row, self.length), column)
        value = builder.named(body.block, None, ir.Load(best, here, fold.dtype))
        group = builder.named(body.block, None, ir.Load(at, here, lane))
        place = ir.add(ir.mul(ir.Cast(group, INT64), rows), row)
        place = builder.named(body.block, None, place)
        same: ir.Expr = ir.binary("eq", value, value_so_far)
        if fold.dtype.is_float:
            both = [ir.Call("isnan", (x,), BOOL) for x in (value, value_so_far)]
            same = ir.binary("or", same, ir.binary("and", *both))
        sooner = ir.binary("and", same, ir.binary("lt", place, place_so_far))
        better = ir.binary("or", beats(fold, value, value_so_far), sooner)
        is_any = ir.binary("ge", group, ir.Const(0, lane))
        takes = [ir.Store(first, ZERO, place), ir.Store(most, ZERO, value)]
        body.block.append(ir.If(ir.binary("and", is_any, better), tuple(takes)))
        inside.block.append(ir.Loop(row, rows, "serial", tuple(body.block)))
        found = ir.Select(ir.binary("eq", place_so_far, NEVER), ZERO, place_so_far, INT64)
        index = builder.index(self.stage, [column])
        builder.keep(self.stage, index, found, 0, inside, outer)
        return ir.Loop(column, self.length, "serial", tuple(inside.statements()))


def _named_in(block: Sequence[ir.Stmt]) -> list[ir.Expr]:
    """The values that a block names."""
    return [stmt.value for stmt in block if isinstance(stmt, ir.Let)]


def _is_as_it_lies(value: ir.Expr) -> bool:
    """Whether no place that is read has to be computed from others by division."""
    divides = ("floordiv", "mod")
    return not any(isinstance(node, ir.Binary) and node.op in divides for node in nodes(value))
