"""Reductions users call: sums, products, extremes and where they are, with NumPy's meaning.

All take ``axis=None`` (all axes), one axis or several, counted from the end where negative, and
``keepdims=True`` to keep the reduced axes with length 1. Each is composed of `Reduce`; only
`argmax` and `argmin` are ops of their own, which stand for such compositions. Means, variances and
norms are in `statistics.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from symc.codegen.record import record
from symc.graph import dims
from symc.graph.formulas import Index, ReadElement, formula, term_formula
from symc.graph.inputs import as_tensor, refuse_bool, scalar_constant
from symc.graph.lowering import Argument, At, Fold, HostCall, LibCall, SizeOf, Sweep, Write
from symc.graph.node import METHODS, OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType, as_dtype
from symc.tensor.build import arange
from symc.tensor.checks import BOUNDS, Bounds
from symc.tensor.elementwise import cast_to
from symc.tensor.fold import (
    Kind,
    accumulator,
    identity,
    no_elements,
    no_order,
    reduce_over,
    require_elements,
)
from symc.tensor.lengths import normal_axes, tensor_of
from symc.tensor.views import dimshuffle, expand_dims

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "max", "max_and_argmax",
    "min", "prod", "ptp", "sum",
]  # fmt: skip

Axis: TypeAlias = "int | Sequence[int] | None"


def axes_of(label: str, x: Tensor, axis: Axis) -> tuple[int, ...]:
    """The axes to reduce, sorted: all for None."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(sorted(normal_axes(label, axis, x.ndim, x)))


def count_along(x: Tensor, axes: Iterable[int]) -> dims.Dim:
    """How many elements there are along some axes."""
    return dims.product(x.type.shape[axis] for axis in axes)


# --- sums and products ----------------------------------------------------------------------------


def sum_dtype(dtype: DType) -> DType:
    """The dtype of a sum of elements of this dtype."""
    match dtype.kind:
        case "float" | "complex":
            return dtype
        case "uint":
            return UINT64
        case _:
            return INT64


def _accumulate(
    label: str, kind: Kind, x: TensorLike, axis: Axis, dtype: Any, keepdims: bool
) -> Tensor:
    refuse_bool(label, x)
    x = as_tensor(x)
    wanted = sum_dtype(x.dtype) if dtype is None else as_dtype(dtype)
    if wanted is BOOL:
        kind = "or" if kind == "add" else "and"
    return reduce_over(kind, cast_to(x, wanted), axes_of(label, x, axis), keepdims)


def sum(x: TensorLike, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum along axes; 0 for no elements.

    Floats keep their dtype and are added in a wider one; bool and integers give int64 (unsigned:
    uint64) as in NumPy. With `dtype`, elements are converted to it first.

    >>> import symc.tensor as T
    >>> T.sum(T.tensor("int8", (2, 3)), axis=0)
    <sum(?, axis=0) int64[3]>
    """
    return _accumulate("sum", "add", x, axis, dtype, keepdims)


def prod(x: TensorLike, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The product along axes; 1 for no elements. Dtypes are as for `sum`.

    Its gradient is right also where elements are 0.

    >>> import symc.tensor as T
    >>> T.prod([[1, 2], [3, 4]], axis=0).eval()
    array([3, 8])
    """
    return _accumulate("prod", "mul", x, axis, dtype, keepdims)


def count_nonzero(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many elements along axes are not zero, as int64. NaN is not zero.

    >>> import symc.tensor as T
    >>> T.count_nonzero([[1, 0], [2, 3]], axis=0).eval()
    array([2, 1])
    """
    return sum(cast_to(x, BOOL), axis, None, keepdims)


def any(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether some element along axes is true (not zero); False for no elements.

    bool. Raises BadIndex for an axis that is not there.

    >>> import symc.tensor as T
    >>> T.any([[1, 0], [0, 0]], axis=1).eval()
    array([ True, False])
    """
    refuse_bool("any", x)
    x = cast_to(x, BOOL)
    return reduce_over("or", x, axes_of("any", x, axis), keepdims)


def all(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether every element along axes is true (not zero); True for no elements.

    bool. Raises BadIndex for an axis that is not there.

    >>> import symc.tensor as T
    >>> T.all([[1, 0], [2, 3]], axis=1).eval()
    array([False,  True])
    """
    refuse_bool("all", x)
    x = cast_to(x, BOOL)
    return reduce_over("and", x, axes_of("all", x, axis), keepdims)


# --- extremes -------------------------------------------------------------------------------------


def max(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The greatest element along axes; NaN where there is one.

    Raises ValueError for no elements, at run time if need be. Equal elements share the gradient
    evenly.

    >>> import symc.tensor as T
    >>> T.max([[1.0, 5.0], [7.0, 2.0]], axis=0).eval()
    array([7., 5.])
    """
    x = as_tensor(x)
    return reduce_over("max", x, axes_of("max", x, axis), keepdims)


def min(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The least element along axes; NaN where there is one.

    Raises ValueError for no elements, at run time if need be. Equal elements share the gradient
    evenly.

    >>> import symc.tensor as T
    >>> T.min([[1.0, 5.0], [7.0, 2.0]], axis=0).eval()
    array([1., 2.])
    """
    x = as_tensor(x)
    return reduce_over("min", x, axes_of("min", x, axis), keepdims)


amax, amin = max, min


def ptp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The range of the elements along axes ("peak to peak"): `max` - `min`.

    Raises ValueError for no elements, at run time if need be.

    >>> import symc.tensor as T
    >>> T.ptp([[1, 9], [4, 2]], axis=1).eval()
    array([8, 2])
    """
    return max(x, axis, keepdims) - min(x, axis, keepdims)


@record
class ArgExtreme(Op):
    """The first position of the extreme among the elements along axes, in row-major order."""

    kind: Literal["max", "min"]
    axes: tuple[int, ...]

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0]
        if x.dtype.is_complex:
            raise no_order(self.label, x)
        if count_along(x, self.axes) == 0:
            raise ValueError(no_elements(self.label, x))
        kept = tuple(dim for axis, dim in enumerate(x.type.shape) if axis not in self.axes)
        return TensorType(INT64, kept)

    def evaluate(self, *args: Array) -> Array:
        x = args[0]
        kept = [axis for axis in range(x.ndim) if axis not in self.axes]
        rows = x.transpose([*kept, *self.axes])
        count = int(np.prod([x.shape[axis] for axis in self.axes], dtype=np.int64))
        rows = rows.reshape((*rows.shape[: len(kept)], count))
        find = np.argmax if self.kind == "max" else np.argmin
        return np.asarray(find(rows, axis=-1), dtype=np.int64)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return ArgExtreme(self.kind, tuple(axis + 1 for axis in self.axes))(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        x = node.args[0]
        return require_elements(self.label, x, count_along(x, self.axes))

    def expand(self, node: Tensor) -> Tensor | None:
        x = node.args[0]
        extreme = reduce_over(self.kind, x, self.axes, keepdims=True, allow_empty=True)
        hits: Tensor = OPERATORS["eq"](x, extreme)
        if x.dtype.is_float:  # where the extreme is NaN, only NaN elements count
            hits = OPERATORS["logical_or"](hits, OPERATORS["isnan"](x))
        never = scalar_constant(2**63 - 1, INT64)
        positions: Tensor = OPERATORS["where"](hits, position_along(x, self.axes), never)
        composed = reduce_over("min", positions, self.axes, allow_empty=True)
        if not self.axes:
            return composed
        return FoundExtreme(self.kind, self.axes)(x, composed)

    @property
    def label(self) -> str:
        return f"arg{self.kind}"


_ROUTINES = {
    FLOAT32: "f32", FLOAT64: "f64", BOOL: "bool",
    INT8: "i8", INT16: "i16", INT32: "i32", INT64: "i64",
    UINT8: "u8", UINT16: "u16", UINT32: "u32", UINT64: "u64",
}  # fmt: skip


@record
class FoundExtreme(Op):
    """The first position of the extreme along axes, by loops or a routine made for that.

    The second argument is the same position as an expression, for targets without them; where there
    are, it is not computed.
    """

    kind: Literal["max", "min"]
    axes: tuple[int, ...]

    def infer(self, *args: Tensor) -> TensorType:
        return args[1].type

    def evaluate(self, *args: Array) -> Array:
        return args[1]

    def lower(self, node: Tensor, size: SizeOf) -> Fold | LibCall:
        x, _ = node.args
        otherwise = At(formula(node, lambda read, index: read(1, index)))
        in_order = self.axes == tuple(range(x.ndim))[-len(self.axes) :]
        if x.dtype not in _ROUTINES or not in_order or not _is_in_memory(x, size):
            return self._fold(node, otherwise)
        kept = node.ndim
        rows, n = dims.product(x.type.shape[:kept]), dims.product(x.type.shape[kept:])
        return LibCall(
            f"arg{self.kind}_{_ROUTINES[x.dtype]}",
            (size(rows), size(n), Argument(0), Argument(-1)),
            otherwise=otherwise,
        )

    def _fold(self, node: Tensor, otherwise: At) -> Fold:
        x = node.args[0]
        dtype = UINT8 if x.dtype is BOOL else accumulator(self.kind, x.dtype)

        def element(read: ReadElement, index: Index, inner: Index) -> ir.Expr:
            kept, folded = iter(index), iter(inner)
            at = tuple(next(folded if a in self.axes else kept) for a in range(x.ndim))
            value = read(0, at)
            return value if value.dtype is dtype else ir.Cast(value, dtype)

        extents = tuple(x.type.shape[axis] for axis in self.axes)
        term, start = term_formula(node, extents, element), identity(self.kind, dtype)
        return Fold(extents, self.kind, dtype, start, term, finds=True, otherwise=otherwise)

    @property
    def label(self) -> str:
        return f"arg{self.kind}"


def _is_in_memory(x: Tensor, size: SizeOf) -> bool:
    """Whether a tensor is in memory as it is, whoever reads it."""
    if not x.args:
        return True
    return isinstance(x.op.lower(x, size), LibCall | HostCall | Write | Sweep)


def _bounds(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    op, x = node.op, node.args[0]
    assert isinstance(op, ArgExtreme | FoundExtreme)
    axes = op.axes
    return 0, dims.sub(count_along(x, axes), 1)


def position_along(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Each element's number, in row-major order, among those along axes; broadcasts with `x`."""
    position: Tensor = scalar_constant(0, INT64)
    for number, axis in enumerate(axes):
        length = x.type.shape[axis]
        if length == 1:
            continue
        order: list[Any] = ["x"] * x.ndim
        order[axis] = 0
        here = dimshuffle(arange(tensor_of(length)), order)
        stride = count_along(x, axes[number + 1 :])
        position = position + (here if stride == 1 else here * tensor_of(stride))
    return position


def _arg_extreme(kind: Literal["max", "min"], x: TensorLike, axis: Axis, keepdims: bool) -> Tensor:
    x = as_tensor(x)
    axes = axes_of(f"arg{kind}", x, axis)
    result = ArgExtreme(kind, axes)(x)
    return expand_dims(result, axes) if keepdims else result


def argmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The position of the greatest element along axes: of the first one, or of the first NaN.

    int64. Over several axes (or all, ``axis=None``), it counts their elements in row-major order.
    Raises ValueError for no elements, at run time if need be.

    >>> import symc.tensor as T
    >>> T.argmax([[1, 9, 3], [7, 2, 7]], axis=1).eval()
    array([1, 0])
    """
    return _arg_extreme("max", x, axis, keepdims)


def argmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The position of the least element along axes, as for `argmax`.

    int64. Raises ValueError for no elements, at run time if need be.

    >>> import symc.tensor as T
    >>> T.argmin([[1, 9, 3], [7, 2, 2]], axis=1).eval()
    array([0, 1])
    """
    return _arg_extreme("min", x, axis, keepdims)


def max_and_argmax(
    x: TensorLike, axis: Axis = None, keepdims: bool = False
) -> tuple[Tensor, Tensor]:
    """The pair ``(max(x, axis), argmax(x, axis))``, which one pass over the elements finds.

    >>> import symc.tensor as T
    >>> greatest, place = T.max_and_argmax([3, 9, 4])
    >>> greatest.eval(), place.eval()
    (array(9), array(1))
    """
    return max(x, axis, keepdims), argmax(x, axis, keepdims)


for _function in (sum, prod, any, all, max, min, ptp, argmax, argmin, count_nonzero):
    METHODS[_function.__name__] = _function
BOUNDS.update({ArgExtreme: _bounds, FoundExtreme: _bounds})
