"""The reduction op, which combines elements along axes: `sum`, `max`, `any` and others use it.

`reduce.py` has the functions users call; running folds along one axis are in `sweep.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    DType,
)
from symc.codegen.record import record
from symc.errors import DTypeError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement, term_formula
from symc.graph.lowering import Fold, SizeOf
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor
from symc.graph.types import TensorType, to_numpy
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to, conjugated, masked
from symc.tensor.lengths import tensor_of
from symc.tensor.views import broadcast_to, expand_dims, peel_whole, squeeze, through

Kind: TypeAlias = Literal["add", "mul", "max", "min", "and", "or"]

_NUMPY: dict[Kind, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.logical_and,
    "or": np.logical_or,
}
_NAMES: dict[Kind, str] = {"add": "sum", "mul": "prod", "and": "all", "or": "any"}


@record
class Reduce(Op):
    """Combines all elements along some axes, which the result does not have.

    `max` and `min` over no elements have no value and are refused, unless `allow_empty` gives them
    the least or greatest number of the dtype. `add` and `mul` are of numbers, `and` and `or` of
    bool; floats are accumulated in the next wider dtype.
    """

    kind: Kind
    axes: tuple[int, ...]
    allow_empty: bool = False

    @property
    def is_sought(self) -> bool:
        return self.kind in ("max", "min")

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0]
        if x.dtype.is_complex and self.kind in ("max", "min"):
            raise no_order(self.label, x)
        shape = x.type.shape
        kept = tuple(dim for axis, dim in enumerate(shape) if axis not in self.axes)
        folded = dims.product(shape[axis] for axis in self.axes)
        if self._refuses_empty and folded == 0:
            raise ValueError(no_elements(self.label, x))
        return TensorType(x.type.dtype, kept)

    def evaluate(self, *args: Array) -> Array:
        x, ufunc = args[0], _NUMPY[self.kind]
        with np.errstate(all="ignore"):
            if self.kind in ("add", "mul"):
                wide = accumulator_array_dtype(self.kind, x)
                return np.asarray(ufunc.reduce(x, axis=self.axes, dtype=wide)).astype(x.dtype)
            if self.allow_empty:
                return np.asarray(ufunc.reduce(x, axis=self.axes, initial=_limit(self.kind, x)))
            return np.asarray(ufunc.reduce(x, axis=self.axes))

    def row_args(self, node: Tensor) -> Sequence[int] | None:
        return (0,) if node.ndim and 0 not in self.axes else None

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x = node.args[0]
        match self.kind:
            case "add":
                return [through(lambda part: self._spread(part, x), bar)]
            case "mul":
                return [self._grad_of_product(x, bar)]
            case "max" | "min":
                return [self._grad_of_extreme(node, bar)]
            case _:
                return [None]

    def _spread(self, bar: Tensor, x: Tensor) -> Tensor:
        return broadcast_to(expand_dims(bar, self.axes), x.type.shape)

    def _grad_of_product(self, x: Tensor, bar: Tensor) -> Tensor | None:
        """`bar` times the product of all other elements, which is right whatever is zero."""
        from symc.tensor.sweep import product_of_others

        *others, axis = self.axes
        if others:  # one axis after the other
            last, rest = Reduce("mul", (axis,)), Reduce("mul", tuple(others))
            inner_bar = rest.grad(rest(last(x)), bar)[0]
            assert inner_bar is not None
            return last.grad(last(x), inner_bar)[0]
        mask, inner = peel_whole(bar)
        result = expand_dims(inner, axis) * product_of_others(conjugated(x), axis)
        return masked(None if mask is None else expand_dims(mask, axis), result)

    def _grad_of_extreme(self, node: Tensor, bar: Tensor) -> Tensor | None:
        """`bar` shared evenly by all elements that are equal to the extreme."""
        x = node.args[0]
        hits: Tensor = OPERATORS["eq"](x, expand_dims(node, self.axes))
        most = dims.product(x.type.shape[axis] for axis in self.axes)
        counter = INT32 if isinstance(most, int) and most < 2**31 else INT64  # vectors like it
        count = cast_to(Reduce("add", self.axes)(cast_to(hits, counter)), x.dtype)
        mask, inner = peel_whole(bar)
        share = expand_dims(inner / count, self.axes)
        if mask is not None:
            hits = OPERATORS["logical_and"](hits, expand_dims(mask, self.axes))
        return masked(hits, share)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return Reduce(self.kind, tuple(axis + 1 for axis in self.axes), self.allow_empty)(*args)

    def lower(self, node: Tensor, size: SizeOf) -> Fold:
        x = node.args[0]
        dtype = accumulator(self.kind, x.type.dtype)

        def element(read: ReadElement, index: Index, inner: Index) -> ir.Expr:
            kept, folded = iter(index), iter(inner)
            at = tuple(next(folded if a in self.axes else kept) for a in range(x.ndim))
            value = read(0, at)
            return value if value.dtype is dtype else ir.Cast(value, dtype)

        extents = tuple(x.type.shape[axis] for axis in self.axes)
        op, start = accumulate_op(self.kind, dtype), identity(self.kind, dtype)
        return Fold(extents, op, dtype, start, term_formula(node, extents, element))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self._refuses_empty:
            shape = node.args[0].type.shape
            folded = dims.product(shape[axis] for axis in self.axes)
            yield from require_elements(self.label, node.args[0], folded)

    @property
    def _refuses_empty(self) -> bool:
        return self.kind in ("max", "min") and not self.allow_empty

    @property
    def label(self) -> str:
        return _NAMES.get(self.kind, self.kind)


# --- kinds of running values ----------------------------------------------------------------------
# -------------------------------------------------------------------


_WIDER = {FLOAT32: FLOAT64, COMPLEX64: COMPLEX128}


def accumulator(kind: Kind, dtype: DType) -> DType:
    """The dtype in which elements are combined: wider where rounding would add up."""
    if dtype.is_only_stored:
        return dtype.wide
    if kind in ("add", "mul"):
        return _WIDER.get(dtype, dtype)
    return dtype


def accumulator_array_dtype(kind: Kind, x: Array) -> np.dtype[Any]:
    """The same for an array."""
    from symc.graph.types import as_dtype

    return to_numpy(accumulator(kind, as_dtype(x.dtype)))


def accumulate_op(kind: Kind, dtype: DType) -> ir.AccumulateOp:
    """The operation on running values; on bool, the extremes are `or` and `and`."""
    if dtype is BOOL and kind in ("max", "min"):
        return "or" if kind == "max" else "and"
    return kind


def identity(kind: Kind, dtype: DType) -> ir.Const:
    """The value that combining starts from."""
    match kind:
        case "add" | "mul":
            value = int(kind == "mul")
            return ir.Const(float(value) if dtype.is_inexact else value, dtype)
        case "and" | "or":
            return ir.Const(kind == "and", dtype)
        case _:
            limit = _limit(kind, np.empty(0, to_numpy(dtype))).item()
            return ir.Const(limit, dtype)


def _limit(kind: Kind, x: Array) -> Any:
    """The least number of an array's dtype for `max`, the greatest for `min`."""
    if x.dtype.kind == "f":
        return x.dtype.type(-np.inf if kind == "max" else np.inf)
    if x.dtype.kind == "b":
        return np.bool_(kind in ("min", "and"))
    limits = np.iinfo(x.dtype)
    return x.dtype.type(limits.min if kind == "max" else limits.max)


# --- reductions that need an element --------------------------------------------------------------


def no_elements(label: str, x: Tensor) -> str:
    """The message for an extreme of nothing."""
    return f"{label}: there are no elements to choose from\n  given  {describe(x)}"


def no_order(label: str, x: Tensor) -> DTypeError:
    """The error for an extreme of complex numbers."""
    return DTypeError(
        f"{label}: complex numbers have no order; take abs, .real or .imag first\n"
        f"  given  {describe(x)}"
    )


def require_elements(label: str, x: Tensor, folded: Dim) -> Iterable[Requirement]:
    """The requirement that at least one element is folded."""
    if not dims.nonnegative(dims.sub(folded, 1)):
        holds: Tensor = OPERATORS["gt"](tensor_of(folded), 0)
        yield Requirement(holds, ValueError, lambda value: no_elements(label, x))


# --- building -------------------------------------------------------------------------------------


def reduce_over(
    kind: Kind, x: Tensor, axes: Sequence[int], keepdims: bool = False, allow_empty: bool = False
) -> Tensor:
    """`x` combined along axes (sorted, from 0). Axes known to have length 1 are only dropped.

    As in NumPy a sum that is zero is 0.0, even that of a single -0.0.
    """
    single = [axis for axis in axes if x.type.shape[axis] == 1]
    folded = tuple(axis for axis in axes if x.type.shape[axis] != 1)
    if single and not folded and kind == "add" and x.dtype.is_inexact:
        x = OPERATORS["add"](x, 0)
    result = Reduce(kind, folded, allow_empty)(x) if folded else x
    if keepdims:
        return expand_dims(result, folded) if folded else result
    gone = [axis - len([f for f in folded if f < axis]) for axis in single]
    return squeeze(result, gone) if gone else result
