"""The loops that find where an extreme is (`Fold.finds`), by how the folded axis lies in memory.

- `row`: the folded axis is contiguous. A strip of elements at a time is computed, once; its extreme
  is found in vector registers, and only where that is the best so far, its place is. In a short row
  one element after the other is compared.
- `column`: the result's last axis is contiguous: `extreme_columns.py`.
- `chunked`: everything is folded. Chunks in parallel, then the best of them.

The first of equal elements is found, or the first NaN: only what beats the best so far takes its
place, and NaN beats all but NaN. Where nothing beats what they start from, all are equal.
"""

from __future__ import annotations

from collections.abc import Callable

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, INT64, DType
from symc.codegen.passes.strips import StripMining
from symc.codegen.record import record
from symc.graph.formulas import Index
from symc.graph.lowering import Fold
from symc.lower import extreme_columns, folds
from symc.lower.beating import NEVER, ZERO, beats, is_loaded, local
from symc.lower.builder import KernelBuilder, Scope
from symc.lower.nesting import wrap
from symc.schedule.stages import Stage

STRIP = 512  # elements of a strip: 4 KiB of doubles
SHORT = 16  # elements of a row that are not worth vectors


def find(
    builder: KernelBuilder, stage: Stage, fold: Fold, prefix: list[ir.Var], scope: Scope
) -> None:
    """Each element of the result by the loops that suit how the folded elements lie."""
    if stage.column:
        extreme_columns.column(builder, stage, fold, prefix, scope)
    elif folds.is_large(builder, stage, fold) and not prefix:
        _chunked(builder, stage, fold, scope)
    else:
        _row(builder, stage, fold, prefix, scope)


def _row(
    builder: KernelBuilder, stage: Stage, fold: Fold, prefix: list[ir.Var], scope: Scope
) -> None:
    own = stage.loops[len(prefix) :]
    loops = builder.loops(len(prefix), len(own))
    outer = scope if not own else builder.scope([], scope)
    search = _Search(builder, stage, fold, builder.index(stage, [*prefix, *loops]))
    best = _best(builder, fold, outer)
    search.along(best, len(prefix) + len(own), outer)
    builder.keep(stage, search.index, best.place, len(prefix), outer, scope)
    if own:
        scope.block += wrap(loops, builder.extents(stage, own), outer.statements(), "parallel")


def _chunked(builder: KernelBuilder, stage: Stage, fold: Fold, scope: Scope) -> None:
    number = folds.outermost(fold)
    extent = builder.context.sizes(fold.extents[number])
    step = folds.chunk_length(builder, fold, number)
    chunk, start = (ir.Var(builder.names.fresh(None, name)) for name in ("chunk", "start"))
    cut = StripMining(chunk, extent, step, start)
    count = builder.context.sizes.computed("chunks", cut.strips)
    partial = builder.context.temp("partial", fold.dtype, (count,))
    places = builder.context.temp("places", INT64, (count,))
    for buffer in (partial, places):
        builder.uses(buffer, written=True)

    inside = builder.scope([cut.let], scope)
    search = _Search(builder, stage, fold, builder.index(stage, []))
    best = _best(builder, fold, inside)
    search.along(best, 0, inside, cut)
    inside.block.append(ir.Store(partial, chunk, best.value))
    inside.block.append(ir.Store(places, chunk, best.place))
    scope.block.append(cut.loop("parallel", tuple(inside.block), "partial results", count))

    best = _best(builder, fold, scope)
    again = ir.Var(builder.names.fresh(None, "chunk"))
    value = ir.Load(partial, again, fold.dtype)
    better = best.takes(value, ir.Load(places, again, INT64))
    body = ir.If(beats(fold, value, best.value), tuple(better))
    scope.block.append(ir.Loop(again, count, "serial", (body,)))
    builder.keep(stage, search.index, best.place, 0, scope, scope)


@record
class _Best:
    """Local scalars: the best element so far, and its place."""

    best: str
    at: str
    dtype: DType

    @property
    def value(self) -> ir.Load:
        return ir.Load(self.best, ZERO, self.dtype)

    @property
    def place(self) -> ir.Load:
        return ir.Load(self.at, ZERO, INT64)

    def takes(self, value: ir.Expr, place: ir.Expr) -> list[ir.Stmt]:
        """Another element becomes the best."""
        return [ir.Store(self.at, ZERO, place), ir.Store(self.best, ZERO, value)]


def _best(builder: KernelBuilder, fold: Fold, scope: Scope) -> _Best:
    """What nothing loses against, at the first place."""
    value, place = (builder.names.fresh(None, name) for name in ("best", "at"))
    best = _Best(value, place, fold.dtype)
    scope.block.append(local(best.best, fold.dtype))
    scope.block.append(local(best.at, INT64))
    scope.block += best.takes(fold.initial, ZERO)
    return best


@record
class _Search:
    """One element of a result, for which a contiguous axis is searched."""

    builder: KernelBuilder
    stage: Stage
    fold: Fold
    index: Index

    def along(
        self, best: _Best, depth: int, scope: Scope, chunk: StripMining | None = None
    ) -> None:
        """Goes over all folded elements, or those of a chunk of the outermost axis.

        Few elements are compared one by one, and added up: the sum of a NaN is NaN. Then they are
        compared again as many are, so that the first NaN is found.
        """
        builder, fold = self.builder, self.fold
        _, variables, extents = folds.folded_index(builder, fold, depth)
        if not variables:
            return  # one element
        length = extents[0] if chunk is None else chunk.count
        longest = length.value if isinstance(length, ir.Const) else None
        if len(variables) > 1 or (longest is not None and longest > SHORT):
            scope.block += self._strips(best, depth, scope, chunk)
            return
        short = ir.binary("le", length, ir.const(SHORT))
        sums = builder.names.fresh(None, "sum") if fold.dtype.is_float else ""
        few = self._few(best, depth, scope, chunk, sums)
        many = self._strips(best, depth, scope, chunk) if sums or longest is None else []
        if not sums:
            scope.block += [ir.If(short, tuple(few), tuple(many))] if many else few
            return
        again = builder.names.fresh(None, "again")
        scope.block += [local(again, BOOL), ir.Store(again, ZERO, ir.Const(True, BOOL))]
        scope.block.append(local(sums, fold.dtype))
        is_nan = ir.Call("isnan", (ir.Load(sums, ZERO, fold.dtype),), BOOL)
        few.append(ir.Store(again, ZERO, is_nan))
        scope.block += few if longest is not None else [ir.If(short, tuple(few))]
        anew = (*best.takes(fold.initial, ZERO), *many)
        scope.block.append(ir.If(ir.Load(again, ZERO, BOOL), anew))

    def _few(
        self, best: _Best, depth: int, outer: Scope, chunk: StripMining | None, sums: str
    ) -> list[ir.Stmt]:
        """Scalars that follow what beats them."""
        builder, fold = self.builder, self.fold
        inner, (var,), (length,) = folds.folded_index(builder, fold, depth)
        place: ir.Expr = var if chunk is None else chunk.at(var)
        index = tuple(place if i is var else i for i in inner)
        body = builder.scope([], outer)
        value = body.tracer.run(self.stage.node, fold.element, self.index, index)
        value = builder.named(body.block, None, value)
        beaten = ir.binary("gt" if fold.op == "max" else "lt", value, best.value)
        takes = builder.named(body.block, None, beaten)
        body.block += best.takes(
            ir.Select(takes, value, best.value, fold.dtype),
            ir.Select(takes, place, best.place, INT64),
        )
        note = builder.context.describe(self.stage.node)
        if sums:
            body.block.append(ir.Accumulate(sums, ZERO, "add", value))
        if chunk is None:
            loop = ir.Loop(var, length, "serial", tuple(body.block), note)
        else:
            loop = chunk.inner(var, "serial", tuple(body.block), note)
        start = [ir.Store(sums, ZERO, ir.Const(0.0, fold.dtype))] if sums else []
        return [*start, loop]

    def _strips(
        self, best: _Best, depth: int, outer: Scope, chunk: StripMining | None
    ) -> list[ir.Stmt]:
        """Strips of the innermost axis, one after the other."""
        builder, fold = self.builder, self.fold
        inner, variables, extents = folds.folded_index(builder, fold, depth)
        whole = list(extents)
        if chunk is not None:
            extents[0] = chunk.count
        number, start = (ir.Var(builder.names.fresh(None, name)) for name in ("strip", "start"))
        cut = StripMining(number, extents[-1], ir.const(STRIP), start)
        strip = builder.scope([cut.let], outer)
        wide = [axis for axis, dim in enumerate(fold.extents) if dim != 1]

        def places(along: ir.Expr) -> list[ir.Expr]:
            found: list[ir.Expr] = [*variables[:-1], ir.add(start, along)]
            if chunk is not None:
                found[0] = ir.add(chunk.start, found[0])
            return found

        def element(along: ir.Var, inside: Scope) -> ir.Expr:
            at = dict(zip(wide, places(along), strict=True))
            index = tuple(at.get(axis, ZERO) for axis in range(len(inner)))
            return inside.tracer.run(self.stage.node, fold.element, self.index, index)

        def place(along: ir.Expr) -> ir.Expr:
            flat: ir.Expr = ZERO
            for at, extent in zip(places(along), whole, strict=True):
                flat = ir.add(ir.mul(flat, extent), at)
            return flat

        depth += len(variables) - 1
        _Strip(builder, self.stage, fold, cut, element, place, depth).search(best, strip)
        loop = cut.loop("serial", tuple(strip.block))
        note = builder.context.describe(self.stage.node)
        return wrap(variables[:-1], extents[:-1], [loop], "serial", note)


@record
class _Strip:
    """A strip of elements; `place` is that of one of them among all folded elements."""

    builder: KernelBuilder
    stage: Stage
    fold: Fold
    cut: StripMining
    element: Callable[[ir.Var, Scope], ir.Expr]
    place: Callable[[ir.Expr], ir.Expr]
    depth: int

    def search(self, best: _Best, scope: Scope) -> None:
        """Its extreme by vectors, and the first place that has it if it beats the best so far."""
        builder, fold = self.builder, self.fold
        (var,) = builder.loops(self.depth, 1)
        body = builder.scope([], scope)
        value = self.element(var, body)
        row = ""
        if not is_loaded(value, body.block):  # it is computed: once
            row = builder.names.fresh(None, "row")
            scope.block.append(local(row, fold.dtype, ir.const(STRIP)))
            body.block.append(ir.Store(row, var, value))
            note = builder.context.describe(self.stage.node)
            scope.block.append(self.cut.inner(var, "parallel", tuple(body.block), note))

        def reading(inside: Scope) -> tuple[ir.Var, ir.Expr]:
            (var,) = builder.loops(self.depth, 1)
            return var, ir.Load(row, var, fold.dtype) if row else self.element(var, inside)

        most, found = (builder.names.fresh(None, name) for name in ("most", "found"))
        extreme = ir.Load(most, ZERO, fold.dtype)
        fold_all, look = builder.scope([], scope), builder.scope([], scope)
        var, value = reading(fold_all)
        fold_all.block.append(ir.Accumulate(most, ZERO, fold.op, value))
        again, value = reading(look)
        hit: ir.Expr = ir.binary("eq", value, extreme)
        if fold.dtype.is_float:
            hit = ir.binary("or", hit, ir.Call("isnan", (value,), BOOL))
        here = ir.Select(hit, again, NEVER, INT64)
        look.block.append(ir.Accumulate(found, ZERO, "min", here))
        better = [
            local(found, INT64),
            ir.Store(found, ZERO, NEVER),
            self.cut.inner(again, "serial", tuple(look.block)),
            *best.takes(extreme, self.place(ir.Load(found, ZERO, INT64))),
        ]
        scope.block += [
            local(most, fold.dtype),
            ir.Store(most, ZERO, fold.initial),
            self.cut.inner(var, "serial", tuple(fold_all.block)),
            ir.If(beats(fold, extreme, best.value), tuple(better)),
        ]
