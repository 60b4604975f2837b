"""Reductions that leave NaN out, with NumPy's names, and numbers in place of NaN.

Each is the function without "nan" of an argument in which NaN is replaced; where nothing can be
NaN, as among integers, it is that function. All take axes as `reduce.py`'s functions do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.graph.bfloat16 import finfo
from symc.graph.inputs import as_tensor, refuse_bool
from symc.graph.node import OPERATORS, Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType, as_dtype
from symc.tensor import reduce
from symc.tensor.checked import Checked
from symc.tensor.complex_numbers import complex as complex_of
from symc.tensor.elementwise import cast_to, masked, peel
from symc.tensor.fold import no_elements, no_order, reduce_over, require_elements
from symc.tensor.logic import isnan, logical_not, where
from symc.tensor.reduce import Axis, axes_of, count_along
from symc.tensor.statistics import mean, root, squares, std, var, variance_dtype, wide
from symc.tensor.sweep import cumprod, cumsum
from symc.tensor.views import expand_dims

__all__ = [
    "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean",
    "nanmin", "nanprod", "nanstd", "nansum", "nanvar",
]  # fmt: skip


def _without_nan(a: TensorLike, value: float) -> Tensor:
    a = as_tensor(a)
    return where(isnan(a), value, a) if a.dtype.is_inexact else a


# --- sums and products ----------------------------------------------------------------------------


def nansum(a: TensorLike, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum along axes of the elements that are not NaN, as `sum`; 0 where all is NaN.

    >>> import symc.tensor as T
    >>> T.nansum([1.0, float("nan"), 2.0]).eval()
    array(3.)
    """
    refuse_bool("nansum", a)
    return reduce.sum(_without_nan(a, 0), axis, dtype, keepdims)


def nanprod(a: TensorLike, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The product along axes of the elements that are not NaN, as `prod`; 1 where all is NaN.

    >>> import symc.tensor as T
    >>> T.nanprod([3.0, float("nan"), 2.0]).eval()
    array(6.)
    """
    refuse_bool("nanprod", a)
    return reduce.prod(_without_nan(a, 1), axis, dtype, keepdims)


def nancumsum(a: TensorLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The sums of the first elements along an axis, as `cumsum`, in which NaN counts as 0.

    >>> import symc.tensor as T
    >>> T.nancumsum([2.0, float("nan"), 3.0]).eval()
    array([2., 2., 5.])
    """
    return cumsum(_without_nan(a, 0), axis, dtype)


def nancumprod(a: TensorLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The products of the first elements along an axis, as `cumprod`, in which NaN counts as 1.

    >>> import symc.tensor as T
    >>> T.nancumprod([2.0, float("nan"), 3.0]).eval()
    array([2., 2., 6.])
    """
    return cumprod(_without_nan(a, 1), axis, dtype)


# --- means and spreads ----------------------------------------------------------------------------


def nanmean(a: TensorLike, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The mean along axes of the elements that are not NaN, as `mean`; NaN where all is NaN.

    >>> import symc.tensor as T
    >>> T.nanmean([[1.0, float("nan")], [3.0, 4.0]], axis=1).eval()
    array([1. , 3.5])
    """
    refuse_bool("nanmean", a)
    a = as_tensor(a)
    if not a.dtype.is_inexact:
        return mean(a, axis, dtype, keepdims)
    axes = axes_of("nanmean", a, axis)
    a = a if dtype is None else cast_to(a, as_dtype(dtype))
    return cast_to(_mean(wide(a), axes, keepdims), a.dtype)


def _mean(a: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    total = reduce_over("add", _without_nan(a, 0), axes, keepdims)
    return total / cast_to(_present(a, axes, keepdims), a.dtype.component)


def _present(a: Tensor, axes: Sequence[int], keepdims: bool = False) -> Tensor:
    """How many elements along axes are not NaN."""
    return reduce_over("add", cast_to(logical_not(isnan(a)), INT64), axes, keepdims)


def nanvar(
    a: TensorLike, axis: Axis = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False
) -> Tensor:
    """The variance along axes of the elements that are not NaN, as `var`; NaN where all is NaN.

    It is also NaN where no more than `ddof` elements are not NaN.

    >>> import symc.tensor as T
    >>> T.nanvar([1.0, float("nan"), 3.0]).eval(), T.nanvar([1.0, float("nan"), 3.0], ddof=1).eval()
    (array(1.), array(2.))
    """
    a = as_tensor(a)
    if not a.dtype.is_inexact:
        return var(a, axis, dtype, ddof, keepdims)
    keep = a.dtype.component if dtype is None else variance_dtype("nanvar", dtype)
    return cast_to(_variance("nanvar", a, axis, dtype, ddof, keepdims), keep)


def nanstd(
    a: TensorLike, axis: Axis = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False
) -> Tensor:
    """The standard deviation along axes, NaN left out: the square root of `nanvar`.

    Where all elements are equal, the gradient is taken as 0, as for `std`.

    >>> import symc.tensor as T
    >>> T.nanstd([1.0, float("nan"), 3.0]).eval()
    array(1.)
    """
    a = as_tensor(a)
    if not a.dtype.is_inexact:
        return std(a, axis, dtype, ddof, keepdims)
    keep = a.dtype.component if dtype is None else variance_dtype("nanstd", dtype)
    return cast_to(root(_variance("nanstd", a, axis, dtype, ddof, keepdims)), keep)


def _variance(label: str, a: Tensor, axis: Axis, dtype: Any, ddof: float, keepdims: bool) -> Tensor:
    axes = axes_of(label, a, axis)
    if dtype is not None:
        a = cast_to(a, variance_dtype(label, dtype))
    a = wide(a)
    distances = where(isnan(a), 0, a - _mean(a, axes, keepdims=True))
    total = reduce_over("add", squares(distances), axes, keepdims)
    freedom = cast_to(_present(a, axes, keepdims), total.dtype) - ddof
    return where(OPERATORS["gt"](freedom, 0), total / freedom, np.nan)


# --- extremes -------------------------------------------------------------------------------------


@record
class NanExtreme(Op):
    """Extreme of the elements that are not NaN; NaN if all are; raises for an empty axis."""

    kind: Literal["max", "min"]
    axes: tuple[int, ...]

    @property
    def is_sought(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        (a,) = args
        if a.dtype.is_complex:
            raise no_order(self.label, a)
        if count_along(a, self.axes) == 0:
            raise ValueError(no_elements(self.label, a))
        kept = tuple(dim for axis, dim in enumerate(a.type.shape) if axis not in self.axes)
        return TensorType(a.dtype, kept)

    def evaluate(self, *args: Array) -> Array:
        choose = np.fmax if self.kind == "max" else np.fmin
        return np.asarray(choose.reduce(args[0], axis=self.axes))

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        """`bar` shared evenly by all elements that are the extreme, of which NaN is none."""
        (a,) = node.args
        hits: Tensor = OPERATORS["eq"](a, expand_dims(node, self.axes))
        count = cast_to(reduce_over("add", cast_to(hits, INT64), self.axes), a.dtype)
        mask, inner = peel(bar)
        if mask is not None:
            hits = OPERATORS["logical_and"](hits, expand_dims(mask, self.axes))
        return [masked(hits, expand_dims(inner / count, self.axes))]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return NanExtreme(self.kind, tuple(axis + 1 for axis in self.axes))(*args)

    def require(self, node: Tensor) -> Any:
        return require_elements(self.label, node.args[0], count_along(node.args[0], self.axes))

    def expand(self, node: Tensor) -> Tensor | None:
        (a,) = node.args
        known = _without_nan(a, -np.inf if self.kind == "max" else np.inf)
        extreme = reduce_over(self.kind, known, self.axes, allow_empty=True)
        # Counting goes along with the extreme in vectors, which `all` does not.
        return where(OPERATORS["eq"](_present(a, self.axes), 0), np.nan, extreme)

    @property
    def label(self) -> str:
        return f"nan{self.kind}"


def nanmax(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The greatest element along axes, leaving NaN out; NaN where all is NaN.

    Raises ValueError for no elements, at run time if need be. Equal elements share the gradient
    evenly.

    >>> import symc.tensor as T
    >>> T.nanmax([1.0, float("nan"), 2.0]).eval()
    array(2.)
    """
    return _extreme("max", a, axis, keepdims)


def nanmin(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The least element along axes, leaving NaN out, as for `nanmax`.

    Raises ValueError for no elements, at run time if need be.

    >>> import symc.tensor as T
    >>> T.nanmin([1.0, float("nan"), 2.0]).eval()
    array(1.)
    """
    return _extreme("min", a, axis, keepdims)


def _extreme(kind: Literal["max", "min"], a: TensorLike, axis: Axis, keepdims: bool) -> Tensor:
    a = as_tensor(a)
    axes = axes_of(f"nan{kind}", a, axis)
    if not a.dtype.is_float or not axes:
        return (reduce.max if kind == "max" else reduce.min)(a, axes, keepdims)
    result = NanExtreme(kind, axes)(a)
    return expand_dims(result, axes) if keepdims else result


def nanargmax(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The position of the greatest element along axes, leaving NaN out, as `argmax`.

    Raises ValueError when it runs where all is NaN.

    >>> import symc.tensor as T
    >>> T.nanargmax([1.0, float("nan"), 2.0]).eval()
    array(2)
    """
    return _position("max", a, axis, keepdims)


def nanargmin(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The position of the least element along axes, leaving NaN out, as `nanargmax`.

    int64. Raises ValueError when it runs where all is NaN.

    >>> import symc.tensor as T
    >>> T.nanargmin([3.0, float("nan"), 2.0]).eval()
    array(2)
    """
    return _position("min", a, axis, keepdims)


def _position(kind: Literal["max", "min"], a: TensorLike, axis: Axis, keepdims: bool) -> Tensor:
    a = as_tensor(a)
    find = reduce.argmax if kind == "max" else reduce.argmin
    found = find(_without_nan(a, -np.inf if kind == "max" else np.inf), axis, keepdims)
    if not a.dtype.is_float:
        return found
    known = logical_not(reduce.all(isnan(a), axis, keepdims))
    return Checked(f"nanarg{kind}: all that there is to choose from is NaN")(found, known)


# --- replacing ------------------------------------------------------------------------------------


def nan_to_num(
    x: TensorLike,
    copy: bool = True,
    nan: TensorLike = 0.0,
    posinf: TensorLike | None = None,
    neginf: TensorLike | None = None,
) -> Tensor:
    """`x` with numbers where it is NaN or infinite: by default 0, and the dtype's extremes.

    Of complex numbers, each part. Replaced elements have the gradient 0. `copy` changes nothing, as
    tensors do not change.

    >>> import symc.tensor as T
    >>> T.nan_to_num([1.0, float("nan"), float("-inf")], neginf=-9.0).eval()
    array([ 1.,  0., -9.])
    """
    x = as_tensor(x)
    if not x.dtype.is_inexact:
        return x
    if x.dtype.is_complex:
        parts = (nan_to_num(part, copy, nan, posinf, neginf) for part in (x.real, x.imag))
        return complex_of(*parts)
    limits = finfo(x.dtype)
    high = cast_to(float(limits.max) if posinf is None else posinf, x.dtype)
    low = cast_to(float(limits.min) if neginf is None else neginf, x.dtype)
    finite = where(OPERATORS["eq"](x, np.inf), high, where(OPERATORS["eq"](x, -np.inf), low, x))
    return where(isnan(x), cast_to(nan, x.dtype), finite)
