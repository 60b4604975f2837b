"""Running folds along one axis: `cumsum`, `cumprod`, `cummax`, `cummin`, and their ops.

Two helper ops make every gradient here exact, at zeros too, and differentiable again:
`Lag` (the elements one step later) and `Recurrence` (``y[i] = a[i] * y[i-1] + b[i]``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, DType
from symc.codegen.record import record
from symc.graph.formulas import Index, ReadElement, formula
from symc.graph.inputs import as_tensor
from symc.graph.lowering import At, SizeOf, Sweep
from symc.graph.node import METHODS, OPERATORS, Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType, as_dtype
from symc.tensor.broadcast import align_batch
from symc.tensor.elementwise import cast_to, conjugated, masked, project
from symc.tensor.fold import (
    accumulate_op,
    accumulator,
    accumulator_array_dtype,
    identity,
    no_order,
)
from symc.tensor.lengths import normal_axis
from symc.tensor.reduce import sum_dtype
from symc.tensor.reshape import ravel
from symc.tensor.views import broadcast_to, through

__all__ = ["cummax", "cummin", "cumprod", "cumsum"]

CumulativeKind: TypeAlias = Literal["add", "mul", "max", "min"]

_NUMPY: dict[CumulativeKind, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
_NAN = float("nan")
_NAMES = {"add": "cumsum", "mul": "cumprod", "max": "cummax", "min": "cummin"}


@record
class Cumulative(Op):
    """Element i along the axis combines the elements 0 to i of the argument."""

    kind: CumulativeKind
    axis: int

    def infer(self, *args: Tensor) -> TensorType:
        if args[0].dtype.is_complex and self.kind in ("max", "min"):
            raise no_order(self.label, args[0])
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        x, ufunc = args[0], _NUMPY[self.kind]
        with np.errstate(all="ignore"):
            if self.kind in ("add", "mul"):
                wide = accumulator_array_dtype(self.kind, x)
                x, narrow = x.astype(wide), x.dtype
                return np.asarray(ufunc.accumulate(x, axis=self.axis)).astype(narrow)
            return np.asarray(ufunc.accumulate(x, axis=self.axis))

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x, axis = node.args[0], self.axis
        match self.kind:
            case "add":
                return [flipped(cumulative("add", flipped(bar, axis), axis), axis)]
            case "mul":
                x = conjugated(x)
                # The gradient of element i: the product before it, times the sum over k >= i of
                # bar[k] times the elements after i up to k.
                later = Lag(axis, 0.0)(flipped(x, axis))
                sums = Recurrence(axis)(later, flipped(bar, axis))
                return [before(x, axis) * flipped(sums, axis)]
            case _:
                return [self._grad_of_extreme(node, bar)]

    def _grad_of_extreme(self, node: Tensor, bar: Tensor) -> Tensor | None:
        """Each gradient goes to the first position that has the extreme so far."""
        x, axis = node.args[0], self.axis
        # Element i goes on with the extreme of those before it, unless it comes first.
        compare = OPERATORS["le" if self.kind == "max" else "ge"]
        holds: Tensor = compare(x, Lag(axis, _NAN)(node))
        was_nan = Lag(axis, 0.0)(OPERATORS["isnan"](node))
        goes_on: Tensor = OPERATORS["logical_or"](holds, was_nan)
        # The sum of bar from each position up to the next one that sets the extreme anew.
        weight = Lag(axis, 0.0)(flipped(cast_to(goes_on, x.dtype), axis))
        total = Recurrence(axis)(weight, flipped(bar, axis))
        return masked(OPERATORS["logical_not"](goes_on), flipped(total, axis))

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return Cumulative(self.kind, self.axis + 1)(*args)

    def lower(self, node: Tensor, size: SizeOf) -> Sweep:
        dtype = accumulator(self.kind, node.type.dtype)

        element = formula(node, lambda read, index: _as(dtype, read(0, index)))
        op, start = accumulate_op(self.kind, dtype), identity(self.kind, dtype)
        if self.kind == "add" and dtype.is_float:
            start = ir.Const(-0.0, dtype)  # the first element stays as it is, -0.0 too
        return Sweep(self.axis, op, dtype, start, element)

    @property
    def label(self) -> str:
        return _NAMES[self.kind]


@record
class Lag(Op):
    """The argument moved one step along an axis: element i is its i - 1, and element 0 `fill`."""

    axis: int
    fill: float

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        x = np.moveaxis(args[0], self.axis, 0)
        result = np.concatenate([np.full_like(x[:1], self.fill), x[:-1]])
        return np.moveaxis(result, 0, self.axis)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        def back(part: Tensor) -> Tensor:
            return flipped(Lag(self.axis, 0.0)(flipped(part, self.axis)), self.axis)

        return [through(back, bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return Lag(self.axis + 1, self.fill)(*args)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        dtype = node.type.dtype
        fill = ir.Const(bool(self.fill) if dtype is BOOL else self.fill, dtype)

        def element(read: ReadElement, index: Index) -> ir.Expr:
            at = list(index)
            here = index[self.axis]
            at[self.axis] = ir.binary("max", ir.sub(here, ir.const(1)), ir.const(0))
            value = read(0, tuple(at))
            first = ir.Binary("eq", here, ir.const(0), BOOL)
            return ir.Select(first, fill, value, dtype)

        return At(formula(node, element))


@record
class Recurrence(Op):
    """``y[i] = a[i] * y[i - 1] + b[i]`` along an axis, from 0 on, of inexact numbers."""

    axis: int

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(args[1].type.dtype, OPERATORS["add"](*args).type.shape)

    def evaluate(self, *args: Array) -> Array:
        wide = accumulator_array_dtype("add", args[1])
        a, b = (np.moveaxis(x.astype(wide), self.axis, 0) for x in np.broadcast_arrays(*args))
        y = np.array(b)
        with np.errstate(all="ignore"):
            for i in range(1, len(y)):
                y[i] += a[i] * y[i - 1]
        return np.moveaxis(y, 0, self.axis).astype(args[1].dtype)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        a, axis = conjugated(node.args[0]), self.axis
        following = Lag(axis, 0.0)(flipped(a, axis))
        to_b = flipped(Recurrence(axis)(following, flipped(bar, axis)), axis)
        return [to_b * Lag(axis, 0.0)(conjugated(node)), to_b]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        aligned = align_batch(args, batched)
        shape = OPERATORS["add"](*aligned).type.shape  # both have the axis: gradients go along it
        return Recurrence(self.axis + 1)(*(broadcast_to(arg, shape) for arg in aligned))

    def lower(self, node: Tensor, size: SizeOf) -> Sweep:
        dtype = accumulator("add", node.type.dtype)
        shapes = [arg.type.shape for arg in node.args]

        def scale(read: ReadElement, index: Index) -> ir.Expr:
            factor = _as(dtype, read(0, project(index, shapes[0])))
            first = ir.Binary("eq", index[self.axis], ir.const(0), BOOL)
            return ir.Select(first, ir.Const(0.0, dtype), factor, dtype)

        def element(read: ReadElement, index: Index) -> ir.Expr:
            return _as(dtype, read(1, project(index, shapes[1])))

        start = identity("add", dtype)
        return Sweep(self.axis, "add", dtype, start, formula(node, element), formula(node, scale))


def _as(dtype: DType, value: ir.Expr) -> ir.Expr:
    return value if value.dtype is dtype else ir.Cast(value, dtype)


# --- building -------------------------------------------------------------------------------------


def cumulative(kind: CumulativeKind, x: Tensor, axis: int) -> Tensor:
    """The running fold; an axis known to have length 1 stays as it is."""
    return x if x.type.shape[axis] == 1 else Cumulative(kind, axis)(x)


def flipped(x: Tensor, axis: int) -> Tensor:
    """`x` with one axis backwards."""
    return OPERATORS["getitem"](x, (slice(None),) * axis + (slice(None, None, -1),))


def before(x: Tensor, axis: int) -> Tensor:
    """For each element along an axis, the product of those before it."""
    return Lag(axis, 1.0)(cumulative("mul", x, axis))


def product_of_others(x: Tensor, axis: int) -> Tensor:
    """For each element along an axis, the product of all others, without a division."""
    return before(x, axis) * flipped(before(flipped(x, axis), axis), axis)


# --- functions for users --------------------------------------------------------------------------
# ---------------------------------------------------------------------------


def _along(kind: CumulativeKind, x: TensorLike, axis: int | None, dtype: Any = None) -> Tensor:
    label, x = _NAMES[kind], as_tensor(x)
    if dtype is not None:
        x = cast_to(x, as_dtype(dtype))
    elif kind in ("add", "mul"):
        x = cast_to(x, sum_dtype(x.dtype))
    if x.dtype is BOOL and kind in ("add", "mul"):
        kind = "max" if kind == "add" else "min"
    if axis is None:
        x, axis = ravel(x), 0
    return cumulative(kind, x, normal_axis(label, axis, x.ndim, x))


def cumsum(x: TensorLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The sums of the first elements along an axis: element i is the sum of elements 0 to i.

    ``axis=None`` flattens `x` first. Dtypes are as for `sum`.

    >>> import symc.tensor as T
    >>> T.cumsum(T.constant([1, 2, 3])).eval()
    array([1, 3, 6])
    """
    return _along("add", x, axis, dtype)


def cumprod(x: TensorLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The products of the first elements along an axis: element i is the product of 0 to i.

    ``axis=None`` flattens `x` first. Dtypes are as for `sum`. The gradient is right also where
    elements are 0.

    >>> import symc.tensor as T
    >>> T.cumprod([1, 2, 3, 4]).eval()
    array([ 1,  2,  6, 24])
    """
    return _along("mul", x, axis, dtype)


def cummax(x: TensorLike, axis: int | None = None) -> Tensor:
    """The greatest of the first elements along an axis; NaN from the first NaN on.

    ``axis=None`` flattens `x` first. The gradient goes to the first element that has the maximum.

    >>> import symc.tensor as T
    >>> T.cummax([1, 3, 2, 5]).eval()
    array([1, 3, 3, 5])
    """
    return _along("max", x, axis)


def cummin(x: TensorLike, axis: int | None = None) -> Tensor:
    """The least of the first elements along an axis; NaN from the first NaN on.

    ``axis=None`` flattens `x` first. The gradient goes to the first element that has the minimum.

    >>> import symc.tensor as T
    >>> T.cummin([5, 3, 4, 1]).eval()
    array([5, 3, 3, 1])
    """
    return _along("min", x, axis)


for _function in (cumsum, cumprod, cummax, cummin):
    METHODS[_function.__name__] = _function
