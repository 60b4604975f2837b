"""Vectors of positions along an axis, and the facts known of them when graphs are built.

`Positions` are those of a slice, `FlatNonzero` those where a mask is true; `Coordinate` turns
positions in row-major order into those along one axis. Knowing that indexes are distinct, or that
they are all of an axis, lets writes through them run in parallel, or need no write at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.errors import BadIndex
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import (
    Formula,
    Index,
    ReadElement,
    formula,
    own_element,
    part_formula,
    target_formula,
)
from symc.graph.inputs import constant, constant_value, scalar_constant
from symc.graph.lowering import Argument, At, LibCall, SizeOf, Write, Written
from symc.graph.node import METHODS, Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.build import ARange
from symc.tensor.checks import BOUNDS, Bounds, never_negative, step_requirement
from symc.tensor.elementwise import Cast, cast_to
from symc.tensor.lengths import (
    Template,
    dim_of,
    fill_dims,
    fill_values,
    split_template,
    tensor_of,
    unbatched,
)
from symc.tensor.reshape import ravel
from symc.tensor.spans import WHOLE, Given, Range, Span, layout_range
from symc.tensor.views import DimShuffle, expand_dims


@record
class Positions(Op):
    """The positions that a slice selects from an axis, whose length is the first argument."""

    span: Span

    def range(self, args: Sequence[Tensor]) -> Range:
        """The same as lengths."""
        return layout_range(self.span, dim_of(args[0]), args[1:])

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, (self.range(args).length,))

    def evaluate(self, *args: Array) -> Array:
        given = iter(args[1:])
        bounds = [int(next(given)) if isinstance(b, Given) else b for b in self.span.bounds]
        return np.arange(int(args[0]), dtype=np.int64)[slice(*bounds)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("getitem", batched)
        raise AssertionError("one of the arguments is batched")

    def lower(self, node: Tensor, size: SizeOf) -> At:
        positions = self.range(node.args)
        factor, first = size(positions.step), size(positions.start)
        return At(formula(node, lambda _, i: ir.add(ir.mul(i[0], factor), first)))

    def require(self, node: Tensor) -> list[Requirement]:
        given = iter(node.args[1:])
        bounds = [next(given) if isinstance(bound, Given) else None for bound in self.span.bounds]
        return [] if bounds[2] is None else list(step_requirement(node, bounds[2]))


@record
class Fitted(Op):
    """A mask over axes of a tensor, whose lengths are the template's: they must be the mask's.

    Rules also give the lengths of a mask to another tensor that it indexes.
    """

    template: Template

    def infer(self, *args: Tensor) -> TensorType:
        mask, wanted = args[0], fill_dims(self.template, args[1:])
        for axis, (dim, n) in enumerate(zip(mask.type.shape, wanted, strict=True)):
            if isinstance(dim, int) and isinstance(n, int) and dim != n:
                raise BadIndex(_misfit(mask, axis, dim, n))
        return TensorType(mask.dtype, wanted)

    def evaluate(self, *args: Array) -> Array:
        if args[0].shape != fill_values(self.template, args[1:]):
            raise BadIndex(f"a mask of shape {args[0].shape} does not fit what it indexes")
        return args[0]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        """That of the tensor itself: it may be no mask, but what a loop computes in its steps."""
        x = node.args[0]
        pairs = zip(x.type.shape, node.type.shape, strict=True)
        shape = tuple(n if isinstance(n, int) else dim for dim, n in pairs)
        return [fitted(bar, shape), *[None] * (len(node.args) - 1)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("getitem", batched[1:])
        wanted = fill_dims(self.template, args[1:])
        return fitted(args[0], (args[0].type.shape[0], *wanted))

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(own_element(node))

    def require(self, node: Tensor) -> list[Requirement]:
        mask = node.args[0]
        return [
            _equal_axis(mask, axis, dim, n)
            for axis, (dim, n) in enumerate(zip(mask.type.shape, node.type.shape, strict=True))
            if dim != n
        ]


def _equal_axis(mask: Tensor, axis: int, dim: Dim, n: Dim) -> Requirement:
    return Requirement((n, dim), BadIndex, lambda value: _misfit(mask, axis, value(dim), value(n)))


def _misfit(mask: Tensor, axis: int, dim: object, wanted: object) -> str:
    return (
        f"a mask's axis {axis} has length {dim}, and the axis it indexes {wanted}\n"
        f"  mask   {describe(mask)}"
    )


def fitted(mask: Tensor, shape: tuple[Dim, ...]) -> Tensor:
    """The mask, known to have the lengths of the axes that it indexes; or the other way round."""
    if mask.type.shape == shape:
        return mask
    template, holes = split_template(shape)
    return Fitted(template)(mask, *holes)


@record
class FlatNonzero(Op):
    """Where a mask is true, as positions in row-major order.

    The other arguments are how many elements are true up to each position, and in all.
    """

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, (dim_of(args[2]),))

    def evaluate(self, *args: Array) -> Array:
        return np.flatnonzero(args[0]).astype(np.int64)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        mask, _, count = node.args
        total = size(dims.product(mask.type.shape))
        args = (Argument(0), total, size(dim_of(count)), Argument(-1))
        return LibCall("flat_nonzero", args, otherwise=self._by_ranks(node, size))

    def _by_ranks(self, node: Tensor, size: SizeOf) -> Write:
        # Element k becomes the least position that has k + 1 true elements up to it: every position
        # writes its own number there, or where the mask is false a number that is too large.
        mask, _, count = node.args
        shape = mask.type.shape
        some = dims.minimum(dim_of(count), 1)  # nothing may be written if nothing is true
        total = size(dims.product(shape))

        def target(read: ReadElement, index: Index) -> Index:
            rank = read(1, (_row_major(index, shape, size),))
            return (ir.Binary("max", ir.sub(rank, ir.const(1)), ir.const(0), INT64),)

        def value(read: ReadElement, index: Index) -> ir.Expr:
            return ir.Select(read(0, index), _row_major(index, shape, size), total, INT64)

        extents = (dims.mul(shape[0], some), *shape[1:])
        part = Written(
            extents,
            target_formula(node, extents, target),
            part_formula(node, extents, value),
            "min",
            parallel=False,
        )
        return Write(Formula((), total), (part,))


def _row_major(index: Index, shape: tuple[Dim, ...], size: SizeOf) -> ir.Expr:
    flat: ir.Expr = ir.const(0)
    for i, dim in zip(index, shape, strict=True):
        flat = ir.add(ir.mul(flat, size(dim)), i)
    return flat


def flat_nonzero(mask: Tensor) -> Tensor:
    """Where a mask of rank 1 or more is true, as positions in row-major order."""
    ones = cast_to(ravel(mask), INT64)
    ranks: Tensor = METHODS["cumsum"](ones, axis=0)
    value = constant_value(mask.args[0] if isinstance(mask.op, Fitted) else mask)
    if value is not None:
        return FlatNonzero()(mask, ranks, scalar_constant(int(value.sum()), INT64))
    return FlatNonzero()(mask, ranks, METHODS["sum"](ones))


@record
class Coordinate(Op):
    """The position along one axis of a position in row-major order, for lengths of the template."""

    axis: int
    template: Template

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        shape = fill_values(self.template, args[1:])
        stride = max(int(np.prod(shape[self.axis + 1 :])), 1)
        return args[0] // stride % max(shape[self.axis], 1)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("getitem", batched[1:])
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        shape = fill_dims(self.template, node.args[1:])
        stride = size(dims.product(shape[self.axis + 1 :]))
        length = size(shape[self.axis]) if self.axis else None

        def element(read: ReadElement, index: Index) -> ir.Expr:
            value = read(0, index)
            if stride != ir.const(1):
                value = ir.binary("floordiv", value, stride)
            return value if length is None else ir.binary("mod", value, length)

        return At(formula(node, element))


def coordinates(flat: Tensor, shape: tuple[Dim, ...]) -> list[Tensor]:
    """Positions in row-major order as positions along each axis. They must be in range."""
    if len(shape) == 1:
        return [flat]
    template, holes = split_template(shape)
    return [Coordinate(axis, template)(flat, *holes) for axis in range(len(shape))]


def mask_positions(mask: Tensor) -> list[Tensor]:
    """Where a mask of rank 1 or more is true: one vector of positions for each axis."""
    value = constant_value(mask)
    if value is not None:
        return [constant(where.astype(np.int64)) for where in np.nonzero(value)]
    return coordinates(flat_nonzero(mask), mask.type.shape)


def single(mask: Tensor) -> Tensor:
    """Where a scalar mask is true along an axis of length 1 made for it: ``[0]`` or ``[]``."""
    value = constant_value(mask)
    if value is not None:
        return Coordinate(0, (1,))(constant(np.zeros(int(value), np.int64)))
    return Coordinate(0, (1,))(flat_nonzero(expand_dims(mask, 0)))


def span_positions(span: Span, n: Dim, given: Sequence[Tensor]) -> Tensor:
    """The positions that a slice selects from an axis of length `n`."""
    return Positions(span)(tensor_of(n), *given)


def every_position(n: Dim) -> Tensor:
    """All positions along an axis of length `n`."""
    return span_positions(WHOLE, n, ())


def _below_length(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    return 0, dims.sub(dim_of(node.args[0]), 1)


def _below_size(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    return 0, dims.sub(dims.product(node.args[0].type.shape), 1)


def _below_axis(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    assert isinstance(node.op, Coordinate)
    return 0, dims.sub(fill_dims(node.op.template, node.args[1:])[node.op.axis], 1)


def _range_of_positions(node: Tensor) -> Range:
    assert isinstance(node.op, Positions)
    return node.op.range(node.args)


def _range_of_arange(node: Tensor) -> Range:
    return Range(dim_of(node.args[0]), dim_of(node.args[1]), node.type.shape[0])


BOUNDS.update({Positions: _below_length, FlatNonzero: _below_size, Coordinate: _below_axis})
# The ops whose result is a vector of equal steps, and the range it is.
RANGES: dict[type[Op], Callable[[Tensor], Range]] = {
    Positions: _range_of_positions,
    ARange: _range_of_arange,
}

# --- facts on index arrays ------------------------------------------------------------------------


@record
class Line:
    """An index array that varies along one axis only (counted from the last, -1), as a vector."""

    axis: int
    vector: Tensor


def line(index: Tensor) -> Line | None:
    """The array as a vector along one axis, if it is one. Length 1 counts as not varying."""
    long = [axis for axis, dim in enumerate(index.type.shape) if dim != 1]
    if len(long) != 1:
        return None
    vector = index
    while isinstance(vector.op, DimShuffle | Cast) and vector.args[0].dtype.is_integer:
        vector = vector.args[0]
    return Line(long[0] - index.ndim, vector) if vector.ndim == 1 else None


def is_whole(vector: Tensor, n: Dim) -> bool:
    """Whether a vector is 0, 1, ... n - 1, all positions of an axis in order."""
    value = constant_value(vector)
    if value is not None:
        return value.shape == (n,) and bool(np.array_equal(value, np.arange(len(value))))
    known = RANGES.get(type(vector.op)) if vector.dtype.is_integer else None
    return known is not None and known(vector) == Range(0, 1, n)


def is_distinct(vector: Tensor) -> bool:
    """Whether no two elements of a vector of indexes are provably the same position."""
    value = constant_value(vector)
    if value is not None:
        one_sign = bool((value >= 0).all() or (value < 0).all())
        return one_sign and len(np.unique(value)) == len(value)
    known = type(vector.op) in RANGES or isinstance(vector.op, FlatNonzero)
    return known and never_negative(vector)


def distinct_axes(indexes: Sequence[Tensor]) -> set[int]:
    """The axes (from the last, -1) along which some array alone tells all positions apart.

    All coordinates of the places where one mask is true tell those places apart together.
    """
    lines = [found for found in map(line, indexes) if found is not None]
    told = {found.axis for found in lines if is_distinct(found.vector)}
    together: dict[tuple[int, Tensor], set[int]] = {}
    for found in lines:
        axis, vector = found.axis, found.vector
        if isinstance(vector.op, Coordinate) and is_distinct(vector.args[0]):
            parts = together.setdefault((axis, vector.args[0]), set())
            parts.add(vector.op.axis)
            if len(parts) == len(vector.op.template):
                told.add(axis)
    return told
