"""Advanced indexing: arrays of indexes along some axes, the other axes whole, read and written.

The index arrays broadcast together, and their axes stand as one block in the result, after `place`
of the axes that are kept. Everything else of NumPy's index language is composed from this in
`index.py`. That indexes are in range is a requirement of the node, which formulas take for granted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, INT64, DType
from symc.codegen.record import record
from symc.errors import DTypeError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import (
    Index,
    ReadElement,
    formula,
    own_element,
    part_formula,
    target_formula,
)
from symc.graph.inputs import Constant, scalar_constant
from symc.graph.lowering import At, SizeOf, Write, Written
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import align_batch, broadcast_shape
from symc.tensor.checks import (
    BOUNDS,
    of_first_argument,
)
from symc.tensor.elementwise import Cast, masked, peel, project, sum_to
from symc.tensor.positions import (
    distinct_axes,
    every_position,
    is_whole,
    line,
    span_positions,
)
from symc.tensor.regions import (
    Region,
    check_indexes,
    gathered,
    index_requirements,
    locate,
    region_of,
)
from symc.tensor.reshape import Reshape, reshape
from symc.tensor.slices import (
    Mode,
    SliceWrite,
    batch_written,
    fit_region,
    region_requirements,
    wrapped,
    written,
    zero,
    zeros_for,
)
from symc.tensor.spans import GIVEN, Entries, Span
from symc.tensor.views import (
    BroadcastTo,
    DimShuffle,
    broadcast_to,
    expand_dims,
    moveaxis,
    shape_padright,
    through,
)

# --- reading --------------------------------------------------------------------------------------


@record
class Gather(Op):
    """Elements of the first argument at index arrays, one for each of `axes`."""

    axes: tuple[int, ...]
    place: int

    @property
    def cost(self) -> float:
        """One element at a time is loaded, even in vector registers, at an index loaded before."""
        return 4.0

    @property
    def moves(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        x, *indexes = args
        check_indexes(self.label, self.axes, x, indexes)
        return TensorType(x.type.dtype, region_of(self.axes, self.place, x, indexes).shape)

    def evaluate(self, *args: Array) -> Array:
        return gathered(args[0], self.axes, self.place, args[1:])

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x, *indexes = node.args
        write = Scatter(self.axes, self.place, "inc")
        mask, _ = peel(bar)
        total = write(zeros_for(x, bar.dtype), bar, *indexes)
        if mask is not None:
            mask = write(zeros_for(x, BOOL), mask, *indexes)
        return [masked(mask, total), *[None] * len(indexes)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        x, *indexes = args
        axes = tuple(axis + 1 for axis in self.axes)
        if not any(batched[1:]):
            return Gather(axes, self.place + 1)(*args)
        rank, rows, indexes = _batch_indexes(indexes, batched[1:])
        if not batched[0]:
            return moveaxis(Gather(self.axes, self.place)(x, *indexes), self.place, 0)
        result = Gather((0, *axes), 0)(x, rows, *indexes)
        block = range(1, 1 + rank)
        return moveaxis(result, list(block), [self.place + axis for axis in block])

    def lower(self, node: Tensor, size: SizeOf) -> At:
        x, *indexes = node.args
        region = region_of(self.axes, self.place, x, indexes)

        def element(read: ReadElement, index: Index) -> ir.Expr:
            return read(0, locate(read, region, self.axes, x, indexes, 1, index, size))

        return At(formula(node, element))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        x, *indexes = node.args
        block = broadcast_shape("getitem", indexes)
        yield from index_requirements(node, self.axes, x, indexes, block)

    @property
    def label(self) -> str:
        return "getitem"


BOUNDS[Gather] = of_first_argument


def _batch_indexes(
    indexes: Sequence[Tensor], batched: Sequence[bool]
) -> tuple[int, Tensor, list[Tensor]]:
    """The block's rank, the batch's own positions, and all arrays with the batch axis first."""
    rank = max(index.ndim - flag for index, flag in zip(indexes, batched, strict=True))
    aligned = align_batch(indexes, batched)
    length = next(i.type.shape[0] for i, flag in zip(aligned, batched, strict=True) if flag)
    rows = expand_dims(every_position(length), tuple(range(1, 1 + rank)))
    return rank, rows, aligned


def gather(x: Tensor, indexes: Mapping[int, Tensor], place: int) -> Tensor:
    """Elements of `x` at int64 index arrays, given by axis; their block stands at `place`."""
    axes = tuple(sorted(indexes))
    return Gather(axes, place)(x, *(indexes[axis] for axis in axes))


# --- writing --------------------------------------------------------------------------------------


@record
class Scatter(Op):
    """The first argument, with the second set at or added to the elements at index arrays.

    The second argument is broadcast to the region, aligned at the last axis. Where positions occur
    more than once, the last in row-major order is set, and all are added.
    """

    axes: tuple[int, ...]
    place: int
    mode: Mode

    @property
    def moves(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        x, v, *indexes = args
        check_indexes(self.label, self.axes, x, indexes)
        if v.dtype is not x.dtype:
            raise DTypeError(f"{self.label}: {v.dtype} values into {x.dtype}")
        fit_region(self.label, x, v, region_of(self.axes, self.place, x, indexes).shape)
        return x.type

    def evaluate(self, *args: Array) -> Array:
        x, v, *indexes = args
        numbers = np.arange(x.size).reshape(x.shape)
        where = gathered(numbers, self.axes, self.place, indexes)
        # One flat vector each, as NumPy promises no order for other layouts.
        values = np.broadcast_to(v, where.shape).reshape(-1)
        result = x.flatten()
        if self.mode == "set":
            result[where.reshape(-1)] = values
        else:
            np.add.at(result, where.reshape(-1), values)
        return result.reshape(x.shape)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x, v, *indexes = node.args
        read = Gather(self.axes, self.place)
        part = through(lambda part: read(part, *indexes), bar)
        stays = _stays(self.axes, x, indexes) if self.mode == "set" else None
        if stays is not None:
            stays = shape_padright(stays, x.ndim - len(self.axes) - self.place)
            part = cast("Tensor", masked(broadcast_to(stays, part.type.shape), part))
        inside = sum_to(part, v)
        kept = bar
        if self.mode == "set":
            mask, inner = peel(bar)
            write = Scatter(self.axes, self.place, "set")
            whole = bar if mask is None else broadcast_to(mask, x.type.shape)
            kept = write(whole, zero(whole.dtype), *indexes)
            if mask is not None:
                kept = cast("Tensor", masked(kept, inner))
        return [kept, inside, *[None] * len(indexes)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        x, v, *indexes = args
        axes = tuple(axis + 1 for axis in self.axes)
        rank = max(i.ndim - flag for i, flag in zip(indexes, batched[2:], strict=True))
        whole = (x.ndim - batched[0]) - len(axes) + rank
        if not any(batched[2:]):
            x, v = batch_written(x, v, batched, whole)
            return Scatter(axes, self.place + 1, self.mode)(x, v, *indexes)
        _, rows, indexes = _batch_indexes(indexes, batched[2:])
        if not batched[0]:
            x = broadcast_to(x, (rows.type.shape[0], *x.type.shape))
        if not batched[1]:
            v = expand_dims(v, 0)
        v = expand_dims(v, tuple(range(1, 1 + whole - (v.ndim - 1))))
        block = range(1, 1 + rank)
        v = moveaxis(v, [self.place + axis for axis in block], list(block))
        return Scatter((0, *axes), 0, self.mode)(x, v, rows, *indexes)

    def lower(self, node: Tensor, size: SizeOf) -> At | Write:
        x, v, *indexes = node.args
        region = region_of(self.axes, self.place, x, indexes)
        covered = self._covered(x, indexes, region.block) if is_zero(x) else None
        if covered is not None:
            element = partial(self._element, node, region, covered, size)
            return At(formula(node, element))

        def value(read: ReadElement, index: Index) -> ir.Expr:
            return read(1, project(index, v.type.shape))

        def target(read: ReadElement, index: Index) -> Index:
            return locate(read, region, self.axes, x, indexes, 2, index, size)

        part = Written(
            region.shape,
            target_formula(node, region.shape, target),
            part_formula(node, region.shape, value),
            written(self.mode, x.dtype),
            _are_distinct(region.block, indexes),
        )
        return Write(own_element(node), (part,))

    def _covered(
        self, x: Tensor, indexes: Sequence[Tensor], block: tuple[Dim, ...]
    ) -> dict[int, int] | None:
        """For each axis of the block (from the last) an axis of `x` that it runs over entirely.

        None where there is none: then the places written to are not known from the index alone.
        """
        covered: dict[int, int] = {}
        for axis, index in zip(self.axes, indexes, strict=True):
            found = line(index)
            if found is not None and is_whole(found.vector, x.type.shape[axis]):
                covered.setdefault(found.axis, axis)
        rank = len(block)
        open_axes = [axis - rank for axis, dim in enumerate(block) if dim != 1]
        return covered if all(axis in covered for axis in open_axes) else None

    def _element(
        self, node: Tensor, region: Region, covered: dict[int, int], size: SizeOf,
        read: ReadElement, index: Index,
    ) -> ir.Expr:  # fmt: skip
        """Writing into zeros, seen from the element: it is the value, if the indexes point here."""
        x, v, *indexes = node.args
        rank = len(region.block)
        inner = tuple(
            index[covered[axis - rank]] if axis - rank in covered else ir.const(0)
            for axis in range(rank)
        )
        kept = tuple(index[axis] for axis in region.kept)
        at = kept[: self.place] + inner + kept[self.place :]
        value = read(1, project(at, v.type.shape))
        here: ir.Expr | None = None
        for number, (axis, array) in enumerate(zip(self.axes, indexes, strict=True), 2):
            if axis not in covered.values():
                given = read(number, project(inner, array.type.shape))
                place = wrapped(given, array, size(x.type.shape[axis]))
                same = ir.Binary("eq", index[axis], place, BOOL)
                here = same if here is None else ir.Binary("and", here, same, BOOL)
        return value if here is None else ir.Select(here, value, _zero(x.dtype), x.dtype)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        x, v, *indexes = node.args
        region = region_of(self.axes, self.place, x, indexes)
        yield from index_requirements(node, self.axes, x, indexes, region.block)
        yield from region_requirements(self.label, x, v, region.shape)

    @property
    def label(self) -> str:
        return f"{self.mode}_subtensor"


def _stays(axes: tuple[int, ...], x: Tensor, indexes: Sequence[Tensor]) -> Tensor | None:
    """For each place of the block whether what is set there stays, as no later place is the same.

    None where all places are known to be distinct.
    """
    block = broadcast_shape("set_subtensor", indexes)
    if _are_distinct(block, indexes):
        return None
    own = tuple(range(len(axes)))
    numbers = reshape(every_position(dims.product(block)), block)
    none = broadcast_to(zero(INT64), tuple(x.type.shape[axis] for axis in axes))
    last = Scatter(own, 0, "set")(none, numbers, *indexes)
    return OPERATORS["eq"](Gather(own, 0)(last, *indexes), numbers)


def _are_distinct(block: tuple[Dim, ...], indexes: Sequence[Tensor]) -> bool:
    told, rank = distinct_axes(indexes), len(block)
    return all(dim == 1 or axis - rank in told for axis, dim in enumerate(block))


def _zero(dtype: DType) -> ir.Const:
    return ir.Const(0.0 if dtype.is_inexact else False if dtype is BOOL else 0, dtype)


def is_zero(node: Tensor) -> bool:
    """Whether a tensor is provably zero everywhere: a constant, perhaps stretched or reshaped."""
    while isinstance(node.op, BroadcastTo | DimShuffle | Reshape | Cast):
        node = node.args[0]
    return isinstance(node.op, Constant) and not np.any(cast("Any", node.op.value))


def write_region(
    entries: Entries, mode: Mode, x: Tensor, v: Tensor, given: Sequence[Tensor]
) -> Tensor:
    """`x` with `v` set into or added to the region that entries select.

    A region whose lengths are known at run time only is written at the positions that its slices
    select: those lengths must be the lengths of some tensor to be computed at all.
    """
    if all(GIVEN not in entry.bounds for entry in entries if isinstance(entry, Span)):
        return SliceWrite(entries, mode)(x, v, *given)
    rest = iter(given)
    later = sum(isinstance(entry, Span) for entry in entries)
    indexes: list[Tensor] = []
    for entry, n in zip(entries, x.type.shape, strict=True):
        if isinstance(entry, Span):
            own = [next(rest) for bound in entry.bounds if bound is GIVEN]
            later -= 1
            indexes.append(shape_padright(span_positions(entry, n, own), later))
        else:
            indexes.append(scalar_constant(entry, INT64) if isinstance(entry, int) else next(rest))
    return Scatter(tuple(range(x.ndim)), 0, mode)(x, v, *indexes)
