"""Rearranging along an axis: turning round, rotating, repeating; and differences.

`Roll`, `Tile` and `Repeat` are index arithmetic in whoever reads them. A slice with step -1 flips.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.record import record
from symc.errors import DTypeError, RankError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement, formula
from symc.graph.inputs import as_tensor, constant, constant_value
from symc.graph.lowering import At, SizeOf
from symc.graph.node import METHODS, OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros
from symc.tensor.checks import BOUNDS, Bounds, never_negative, of_first_argument
from symc.tensor.elementwise import cast_to, masked, peel
from symc.tensor.lengths import as_dim, dim_of, normal_axes, normal_axis, tensor_of, unbatched
from symc.tensor.reshape import ravel, reshape
from symc.tensor.specify import specify_length
from symc.tensor.views import broadcast_to, expand_dims, not_negative, refuse_negative, through

__all__ = ["diff", "flip", "fliplr", "flipud", "repeat", "roll", "tile"]


@record
class _Along(Op):
    """Element i of an axis is some other element of the argument's; the second is an int64."""

    axis: int

    @property
    def moves(self) -> bool:
        return True

    @abstractmethod
    def position(self, i: ir.Expr, amount: ir.Expr, n: ir.Expr) -> ir.Expr:
        """Where element i stands in the argument, whose axis has length n."""

    @abstractmethod
    def length(self, n: Dim, amount: Dim) -> Dim:
        """The length of the result's axis."""

    def infer(self, *args: Tensor) -> TensorType:
        x, amount = args
        shape = list(x.type.shape)
        shape[self.axis] = self.length(shape[self.axis], dim_of(amount))
        refuse_negative(self.label, x, shape)
        return TensorType(x.type.dtype, tuple(shape))

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched(self.label, batched[1:])
        return type(self)(self.axis + 1)(*args)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        n = size(node.args[0].type.shape[self.axis])

        def element(read: ReadElement, index: Index) -> ir.Expr:
            amount = self.amount(read, node, size)
            at = list(index)
            at[self.axis] = self.position(at[self.axis], amount, n)
            return read(0, tuple(at))

        return At(formula(node, element))

    def amount(self, read: ReadElement, node: Tensor, size: SizeOf) -> ir.Expr:
        """The second argument as `position` wants it."""
        del node, size
        return read(1, ())


@record
class _Copies(_Along):
    """As many copies of the argument's elements as the second argument says."""

    def length(self, n: Dim, amount: Dim) -> Dim:
        return dims.mul(n, amount)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        yield from not_negative(self.label, node.args[0], [dim_of(node.args[1])])


@record
class Roll(_Along):
    """The argument rotated along an axis, towards its end where the shift is positive."""

    @property
    def cost(self) -> float:
        return 2.0  # where a row begins anew is asked, or is a loop of its own

    def length(self, n: Dim, amount: Dim) -> Dim:
        return n

    def evaluate(self, *args: Array) -> Array:
        return np.roll(args[0], int(args[1]), self.axis)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        back = tensor_of(dims.mul(dim_of(node.args[1]), -1))
        return [through(lambda part: roll(part, back, self.axis), bar), None]

    def amount(self, read: ReadElement, node: Tensor, size: SizeOf) -> ir.Expr:
        """The shift, between 0 and the axis' length; one made of lengths is known before loops are.

        A remainder for each element would take longer than all else in most loops.
        """
        n, shift = node.args[0].type.shape[self.axis], dim_of(node.args[1])
        if all(length.axis is not None for length in dims.sizes(shift)):
            return size(dims.sub(shift, dims.mul(dims.floordiv(shift, n), n)))
        return ir.Binary("mod", read(1, ()), size(n), INT64)

    def position(self, i: ir.Expr, amount: ir.Expr, n: ir.Expr) -> ir.Expr:
        start = ir.sub(i, amount)
        return ir.Select(ir.binary("lt", start, ir.const(0)), ir.add(start, n), start, INT64)


@record
class Tile(_Copies):
    """The whole argument several times along an axis."""

    def evaluate(self, *args: Array) -> Array:
        x, times = args[0], int(args[1]) if args[0].shape[self.axis] else 0
        return np.concatenate([x[_none(self.axis)], *[x] * times], self.axis)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [_sum_copies(node, bar, self.axis, self.axis), None]

    def position(self, i: ir.Expr, amount: ir.Expr, n: ir.Expr) -> ir.Expr:
        return ir.Binary("mod", i, n, INT64)


_COPIES = 64  # of an element: beside more, a loop with a division in it is as quick


@record
class Repeat(_Copies):
    """Each element of an axis several times in a row."""

    def evaluate(self, *args: Array) -> Array:
        return np.repeat(args[0], int(args[1]), self.axis)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [_sum_copies(node, bar, self.axis, self.axis + 1), None]

    def expand(self, node: Tensor) -> Tensor | None:
        """A known number of copies is an axis of its own: a loop over it divides nothing."""
        x, amount = node.args[0], dim_of(node.args[1])
        if not isinstance(amount, int) or amount > _COPIES:
            return None
        shape, after = list(x.type.shape), self.axis + 1
        shape.insert(after, amount)
        return reshape(broadcast_to(expand_dims(x, after), tuple(shape)), node.type.shape)

    def position(self, i: ir.Expr, amount: ir.Expr, n: ir.Expr) -> ir.Expr:
        return ir.Binary("floordiv", i, amount, INT64)


BOUNDS.update(dict.fromkeys((Roll, Tile, Repeat), of_first_argument))


def _none(axis: int) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(0, 0))


def _sum_copies(node: Tensor, bar: Tensor, axis: int, copies: int) -> Tensor:
    """The sum over all copies of each element: over axis `copies` of the axis split in two."""
    x, amount = node.args
    shape = list(x.type.shape)
    shape.insert(copies, dim_of(amount))

    def fold(name: str, part: Tensor) -> Tensor:
        return cast("Tensor", METHODS[name](reshape(part, tuple(shape)), axis=copies))

    mask, _ = peel(bar)
    total = fold("sum", bar)
    if mask is None:
        return total
    result = masked(fold("any", broadcast_to(mask, bar.type.shape)), total)
    assert result is not None
    return result


# --- turning and rotating -------------------------------------------------------------------------


def flip(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """`x` with the order of the elements reversed along axes (None: all).

    A view: nothing is copied where it is read. Raises BadIndex for an axis that is not there.

    >>> import symc.tensor as T
    >>> T.flip([[1, 2], [3, 4]], axis=1).eval()
    array([[2, 1],
           [4, 3]])
    """
    x = as_tensor(x)
    axes = range(x.ndim) if axis is None else normal_axes("flip", axis, x.ndim, x)
    if not x.ndim:
        return x
    steps = [slice(None, None, -1 if a in axes else None) for a in range(x.ndim)]
    return OPERATORS["getitem"](x, tuple(steps))


def flipud(x: TensorLike) -> Tensor:
    """`x`, of one axis or more, with its first axis reversed: ``x[::-1]``.

    >>> import symc.tensor as T
    >>> T.flipud([[1, 2], [3, 4]]).eval()
    array([[3, 4],
           [1, 2]])
    """
    return flip(x, 0)


def fliplr(x: TensorLike) -> Tensor:
    """`x`, of two axes or more, with its second axis reversed: ``x[:, ::-1]``.

    >>> import symc.tensor as T
    >>> T.fliplr([[1, 2], [3, 4]]).eval()
    array([[2, 1],
           [4, 3]])
    """
    return flip(x, 1)


def roll(
    x: TensorLike,
    shift: int | Tensor | Sequence[int | Tensor],
    axis: int | Sequence[int] | None = None,
) -> Tensor:
    """`x` rotated along an axis: elements shifted beyond the end return at the beginning.

    Several axes take one shift each, or all the same. Without `axis`, the flattened tensor is
    rotated.

    >>> import symc.tensor as T
    >>> T.roll(T.arange(5), 2).eval()
    array([3, 4, 0, 1, 2])
    """
    x = as_tensor(x)
    if axis is None:
        if isinstance(shift, list | tuple):
            shift = cast("int | Tensor", sum(cast("Sequence[Any]", shift)))
        return reshape(roll(ravel(x), shift, 0), x.type.shape)
    axes = [normal_axis("roll", a, x.ndim, x) for a in _listed(axis)]
    shifts = _listed(shift)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    for each, at in zip(shifts, axes, strict=True):
        x = _roll(x, as_dim(each), at)
    return x


FAR = 1 << 62  # the multiple of the length that is below a shift beyond, and minus it, may not fit


def _roll(x: Tensor, shift: Dim, axis: int) -> Tensor:
    n = x.type.shape[axis]
    if isinstance(shift, int) and isinstance(n, int):
        shift = shift % n if n else 0
    elif isinstance(shift, int) and abs(shift) > FAR and dims.fits(shift):
        return _roll(_roll(x, shift // 2, axis), shift - shift // 2, axis)
    return x if shift == 0 or n == 1 else Roll(axis)(x, tensor_of(shift))


def _listed(value: Any) -> list[Any]:
    return list(cast("Sequence[Any]", value)) if isinstance(value, list | tuple) else [value]


# --- repeating ------------------------------------------------------------------------------------


def tile(x: TensorLike, reps: Any) -> Tensor:
    """`x` as a block that is repeated `reps` times: along the last axis, or one number an axis.

    Where `reps` has more numbers than `x` has axes, new axes come in front. Numbers are integers or
    integer scalar tensors.

    >>> import symc.tensor as T
    >>> T.tile(T.arange(3), (2, 2)).eval()
    array([[0, 1, 2, 0, 1, 2],
           [0, 1, 2, 0, 1, 2]])
    """
    x = as_tensor(x)
    counts = [as_dim(each) for each in _listed(reps)]
    x = expand_dims(x, tuple(range(max(0, len(counts) - x.ndim))))
    for axis, count in enumerate(counts, x.ndim - len(counts)):
        x = _copies(Tile(axis), x, count)
    return x


def repeat(x: TensorLike, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element of `x` repeated along an axis (None: of the flattened tensor).

    `repeats` is one number for all elements or an integer vector with one for each; then the
    length of the result follows from its values. Raises ValueError, at run time if need be, for
    negative numbers.

    >>> import symc.tensor as T
    >>> T.repeat(T.arange(3), 2).eval()
    array([0, 0, 1, 1, 2, 2])
    """
    x = as_tensor(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normal_axis("repeat", axis, x.ndim, x)
    counts = as_tensor(repeats)
    if not counts.dtype.is_integer:
        raise DTypeError(f"repeat: counts must be integers\n  given  {describe(counts)}")
    if counts.ndim > 1:
        raise RankError(f"repeat: counts must be a scalar or a vector\n  given  {describe(counts)}")
    if counts.ndim == 1 and counts.type.shape[0] != 1:
        return _repeat_each(x, counts, axis)
    count = as_dim(reshape(counts, ()))
    return _copies(Repeat(axis), x, count)


def _copies(op: _Copies, x: Tensor, count: Dim) -> Tensor:
    shape = list(x.type.shape)
    if shape[op.axis] == 1:  # both kinds only stretch it
        shape[op.axis] = count
        return broadcast_to(x, tuple(shape))
    return x if count == 1 else op(x, tensor_of(count))


def _repeat_each(x: Tensor, counts: Tensor, axis: int) -> Tensor:
    n = x.type.shape[axis]
    counts = specify_length(cast_to(counts, INT64), 0, n)
    known = constant_value(counts)
    if known is not None:
        if (known < 0).any():
            raise ValueError(f"repeat: a count is negative\n  given  {describe(counts)}")
        where = constant(np.repeat(np.arange(known.size), known))
    else:
        where = RepeatedPositions()(counts, METHODS["sum"](counts))
    return OPERATORS["getitem"](x, (*[slice(None)] * axis, where))


@record
class RepeatedPositions(Op):
    """Each position of the argument as often as its element says; the second is their sum."""

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, (dim_of(args[1]),))

    def evaluate(self, *args: Array) -> Array:
        return np.repeat(np.arange(args[0].size), np.maximum(args[0], 0))

    def expand(self, node: Tensor) -> Tensor | None:
        # Position p of the result belongs to as many elements as end at or before p.
        counts, total = node.args
        ends = METHODS["cumsum"](counts)
        marks = METHODS["inc"](zeros((dims.add(dim_of(total), 1),), INT64)[ends], 1)
        return specify_length(METHODS["cumsum"](marks)[:total], 0, dim_of(total))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        counts = node.args[0]
        if not never_negative(counts):
            yield Requirement(
                OPERATORS["ge"](counts, 0),
                ValueError,
                lambda value: f"repeat: a count is negative\n  given  {describe(counts)}",
            )


def _bounds(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    return 0, dims.sub(node.args[0].type.shape[0], 1)


BOUNDS[RepeatedPositions] = _bounds

# --- differences ----------------------------------------------------------------------------------


def diff(
    x: TensorLike, n: int = 1, axis: int = -1, prepend: TensorLike | None = None,
    append: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """The differences of neighbours along an axis, `n` times; for bool, whether they differ.

    The axis is shorter by `n`; numbers or arrays to `prepend` and `append` are joined to it first,
    in the dtype of all three. Raises ValueError for a negative `n`, BadIndex for an axis that is
    not there.

    >>> import symc.tensor as T
    >>> T.diff([1, 4, 9, 16]).eval(), T.diff([1, 4, 9, 16], n=2).eval()
    (array([3, 5, 7]), array([2, 2]))
    >>> T.diff([1, 4, 9], prepend=0).eval()
    array([1, 3, 5])
    """
    x = as_tensor(x)
    if n < 0:
        raise ValueError(f"diff: n={n} is negative")
    axis = normal_axis("diff", axis, x.ndim, x)
    if n and (prepend is not None or append is not None):
        x = _between(x, prepend, append, axis)
    before = [slice(None)] * axis
    for _ in range(n):
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = OPERATORS["ne"](later, earlier) if x.dtype is BOOL else later - earlier
    return x


def _between(x: Tensor, first: TensorLike | None, last: TensorLike | None, axis: int) -> Tensor:
    """Tensors joined along an axis, in which a number is one entry."""
    from symc.tensor.shape import concatenate

    shape = tuple(1 if at == axis else n for at, n in enumerate(x.shape))
    given = [None if each is None else as_tensor(each) for each in (first, last)]
    ends = [each if each is None or each.ndim else broadcast_to(each, shape) for each in given]
    return concatenate([each for each in (ends[0], x, ends[1]) if each is not None], axis)


for _method in (flip, repeat, roll):
    METHODS[_method.__name__] = _method
