"""Means, variances and norms: compositions of `Reduce`, with NumPy's names and meaning.

All take ``axis=None`` (all axes), one axis or several, and ``keepdims=True``, as `reduce.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from symc.codegen.dtypes import BOOL, FLOAT64, INT64, DType
from symc.errors import DTypeError, ShapeMismatch
from symc.graph import dims
from symc.graph.inputs import as_tensor, refuse_bool, scalar_constant
from symc.graph.node import METHODS, OPERATORS, Tensor, TensorLike
from symc.graph.types import as_dtype, promote
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import tensor_of
from symc.tensor.reduce import Axis, axes_of, count_along
from symc.tensor.views import broadcast_to, dimshuffle

__all__ = ["average", "mean", "norm", "std", "var"]

# --- means and spreads ----------------------------------------------------------------------------


def _divisor(count: dims.Dim, dtype: DType, ddof: float = 0) -> Tensor:
    """``max(count - ddof, 0)`` as a scalar of a float dtype."""
    if isinstance(count, int):
        return scalar_constant(float(max(count - ddof, 0)), dtype)
    total = cast_to(tensor_of(count), dtype)
    return OPERATORS["maximum"](total - ddof, 0.0) if ddof else total


def wide(x: Tensor) -> Tensor:
    """`x` in the float dtype in which its mean is computed."""
    return cast_to(x, x.dtype.wide if x.dtype.is_inexact else FLOAT64)


def _mean(x: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    return reduce_over("add", x, axes, keepdims) / _divisor(count_along(x, axes), x.dtype)


def mean(x: TensorLike, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The mean along axes; NaN for no elements.

    Floats keep their dtype, bool and integers give float64. With `dtype`, elements are converted
    to it first.

    >>> import symc.tensor as T
    >>> T.mean(T.matrix("x", dtype="int32"), axis=1).dtype
    float64
    """
    refuse_bool("mean", x)
    x = as_tensor(x)
    axes = axes_of("mean", x, axis)
    if dtype is not None:
        x = cast_to(x, as_dtype(dtype))
    keep = x.dtype if x.dtype.is_inexact or dtype is not None else FLOAT64
    return cast_to(_mean(wide(x), axes, keepdims), keep)


def _variance(
    label: str, x: TensorLike, axis: Axis, dtype: Any, ddof: float, keepdims: bool
) -> tuple[Tensor, DType]:
    x = as_tensor(x)
    axes = axes_of(label, x, axis)
    if dtype is not None:
        x = cast_to(x, variance_dtype(label, dtype))
    keep = x.dtype.component if x.dtype.is_inexact else FLOAT64
    x = wide(x)
    distances = squares(x - _mean(x, axes, keepdims=True))
    total = reduce_over("add", distances, axes, keepdims)
    return total / _divisor(count_along(x, axes), distances.dtype, ddof), keep


def variance_dtype(label: str, dtype: Any) -> DType:
    """The dtype that was asked for. Raises `DTypeError` if it is no float dtype."""
    wanted = as_dtype(dtype)
    if not wanted.is_float:
        raise DTypeError(f"{label} needs a float dtype, not {wanted}")
    return wanted


def squares(x: Tensor) -> Tensor:
    """The squares of the absolute values."""
    sqr: Callable[..., Tensor] = OPERATORS["sqr"]
    return sqr(x.real) + sqr(x.imag) if x.dtype.is_complex else sqr(x)


def var(
    x: TensorLike,
    axis: Axis = None,
    dtype: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> Tensor:
    """The variance along axes: the mean of the squared distances from the mean.

    The sum of squares is divided by the number of elements minus `ddof`. Dtypes are as for `mean`,
    except that `dtype` must be a float dtype.

    >>> import symc.tensor as T
    >>> T.var([1.0, 2.0, 3.0, 4.0]).eval(), T.var([1.0, 2.0, 3.0, 4.0], ddof=1).eval()
    (array(1.25), array(1.66666667))
    """
    variance, keep = _variance("var", x, axis, dtype, ddof, keepdims)
    return cast_to(variance, keep)


def std(
    x: TensorLike,
    axis: Axis = None,
    dtype: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> Tensor:
    """The standard deviation along axes: the square root of `var`.

    Where all elements are equal it has a kink, like a norm at 0; the gradient there is taken as 0.

    >>> import symc.tensor as T
    >>> T.std([[1.0, 3.0], [2.0, 2.0]], axis=1).eval()
    array([1., 0.])
    """
    variance, keep = _variance("std", x, axis, dtype, ddof, keepdims)
    return cast_to(root(variance), keep)


def root(x: Tensor, power: float = 0.5) -> Tensor:
    """``x ** power`` of x >= 0 with derivative 0 at 0: the end of a norm."""
    root: Tensor = OPERATORS["sqrt"](x) if power == 0.5 else OPERATORS["pow"](x, power)
    return OPERATORS["where"](OPERATORS["ne"](x, 0), root, 0 if power > 0 else np.inf)


@overload
def average(
    x: TensorLike,
    axis: Axis = None,
    weights: TensorLike | None = None,
    keepdims: bool = False,
    *,
    returned: Literal[False] = False,
) -> Tensor: ...


@overload
def average(
    x: TensorLike,
    axis: Axis = None,
    weights: TensorLike | None = None,
    keepdims: bool = False,
    *,
    returned: Literal[True],
) -> tuple[Tensor, Tensor]: ...


def average(
    x: TensorLike,
    axis: Axis = None,
    weights: TensorLike | None = None,
    keepdims: bool = False,
    *,
    returned: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The mean along axes with weights: ``sum(x * weights) / sum(weights)``.

    `weights` has the shape of x, or (for one axis) is a vector with that axis' length; None means
    equal weights. `returned` asks for the mean and the sum of the weights (for equal weights, their
    number), of the same shape and dtype. Where the weights sum to 0 the result is NaN or infinite
    (NumPy raises). Raises `ShapeMismatch` when the weights do not fit.

    >>> import symc.tensor as T
    >>> T.average([1.0, 2.0, 6.0], weights=[1, 1, 2]).eval()
    array(3.75)
    >>> value, total = T.average([1.0, 2.0, 6.0], weights=[1, 1, 2], returned=True)
    >>> total.eval()
    array(4.)
    """
    if weights is None:
        x = as_tensor(x)
        value = mean(x, axis, None, keepdims)
        if not returned:
            return value
        count = _divisor(count_along(x, axes_of("average", x, axis)), value.dtype)
        return value, broadcast_to(count, value.type.shape)
    x, w = as_tensor(x), as_tensor(weights)
    axes = axes_of("average", x, axis)
    dtype = promote(x.dtype, w.dtype) if x.dtype.is_inexact else promote(x.dtype, w.dtype, FLOAT64)
    if w.ndim == 1 and x.ndim != 1 and len(axes) == 1:
        order: list[Any] = ["x"] * x.ndim
        order[axes[0]] = 0
        w = dimshuffle(w, order)
    if w.ndim != x.ndim or not all(_fits(w.type.shape[axis], x.type.shape[axis]) for axis in axes):
        raise ShapeMismatch(
            "average: the weights need the shape of x, or be a vector along one axis\n"
            f"  x        {describe(x)}\n  weights  {describe(as_tensor(weights))}"
        )
    x, w = cast_to(x, dtype), cast_to(w, dtype)
    total = reduce_over("add", w, axes, keepdims)
    value = reduce_over("add", x * w, axes, keepdims) / total
    return (value, broadcast_to(total, value.type.shape)) if returned else value


def _fits(left: dims.Dim, right: dims.Dim) -> bool:
    return left == right or not (isinstance(left, int) and isinstance(right, int))


# --- norms ----------------------------------------------------------------------------------------


def norm(
    x: TensorLike,
    ord: float | None = None,
    axis: Axis = None,
    keepdims: bool = False,
) -> Tensor:
    """The length of the vector of all elements along axes: NumPy's ``linalg.vector_norm``.

    `ord` is 2 (or None) for the root of the sum of squares, 1 for the sum of absolute values, inf
    and -inf for the greatest and least absolute value, 0 for the number of elements that are not
    zero, or any other p: ``sum(abs(x) ** p) ** (1 / p)``. Where the norm is 0 its gradient is taken
    as 0.

    >>> import symc.tensor as T
    >>> T.norm(T.constant([3.0, 4.0])).eval()
    array(5.)
    """
    x = as_tensor(x)
    if isinstance(ord, str):
        raise ValueError(f"norm: {ord!r} is a norm of matrices; it is in T.linalg.norm")
    axes = axes_of("norm", x, axis)
    keep = x.dtype.component if x.dtype.is_inexact else FLOAT64
    x = wide(x)
    return cast_to(_norm(x, 2.0 if ord is None else float(ord), axes, keepdims), keep)


def _norm(x: Tensor, ord: float, axes: Sequence[int], keepdims: bool) -> Tensor:
    size: Tensor = OPERATORS["abs"](x)
    if ord == np.inf:
        size = reduce_over("max", size, axes, keepdims, allow_empty=True)
        count = count_along(x, axes)
        return size if isinstance(count, int) and count else OPERATORS["maximum"](size, 0.0)
    if ord == -np.inf:
        return reduce_over("min", size, axes, keepdims)
    if ord == 0:
        nonzero = cast_to(cast_to(x, BOOL), INT64)
        return cast_to(reduce_over("add", nonzero, axes, keepdims), size.dtype)
    if ord == 1:
        return reduce_over("add", size, axes, keepdims)
    powers: Tensor = squares(x) if ord == 2 else OPERATORS["pow"](size, ord)
    return root(reduce_over("add", powers, axes, keepdims), 1 / ord)


for _function in (mean, var, std, norm):
    METHODS[_function.__name__] = _function
