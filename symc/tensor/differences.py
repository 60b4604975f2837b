"""Differences, integrals and interpolation of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from symc.codegen.dtypes import COMPLEX128, FLOAT64
from symc.errors import RankError, ShapeMismatch
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.graph.types import promote
from symc.tensor.along import diff
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import length, normal_axes, normal_axis, public
from symc.tensor.logic import eq, gt, isnan, logical_and, lt, where
from symc.tensor.math import abs as absolute
from symc.tensor.math import as_float, clip, mod
from symc.tensor.reduce import sum as total
from symc.tensor.reshape import ravel
from symc.tensor.shape import concatenate
from symc.tensor.sorting.order import argsort
from symc.tensor.sorting.search import searchsorted
from symc.tensor.specify import specify_length
from symc.tensor.sweep import cumprod, cumsum
from symc.tensor.views import expand_dims, moveaxis

__all__ = [
    "cumulative_prod", "cumulative_sum", "ediff1d", "gradient", "interp", "trapezoid", "unwrap",
]  # fmt: skip

# --- differences ----------------------------------------------------------------------------------


def ediff1d(
    ary: TensorLike, to_end: TensorLike | None = None, to_begin: TensorLike | None = None
) -> Tensor:
    """The differences of neighbours among all elements, with numbers before and after them.

    >>> import symc.tensor as T
    >>> T.ediff1d([1, 2, 4], to_begin=0).eval()
    array([0, 1, 2])
    """
    x = ravel(as_tensor(ary))
    parts = [None if to_begin is None else to_begin, diff(x), None if to_end is None else to_end]
    return concatenate([ravel(cast_to(part, x.dtype)) for part in parts if part is not None])


def gradient(
    f: TensorLike,
    *varargs: TensorLike,
    axis: int | Sequence[int] | None = None,
    edge_order: Literal[1, 2] = 1,
) -> Tensor | tuple[Tensor, ...]:
    """The slopes of samples along axes: central differences, one-sided ones at both ends.

    `varargs` are the distances of the samples: one for all axes, or one for each: a number, or a
    vector of positions. One axis gives one tensor, several (by default all) a tuple. Axes need
    ``edge_order + 1`` elements; ends are exact to that order. Raises ValueError where an axis is
    too short, when it runs if need be. (For derivatives of expressions see `symc.grad`.)

    >>> import symc.tensor as T
    >>> T.gradient([1.0, 2.0, 4.0, 7.0]).eval()
    array([1. , 1.5, 2.5, 3. ])
    """
    x = as_tensor(f)
    if not x.dtype.is_inexact:
        x = cast_to(x, FLOAT64)
    given = tuple(range(x.ndim)) if axis is None else axis
    axes = normal_axes("gradient", given, x.ndim, x)
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is 1 or 2, not {edge_order!r}")
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(f"gradient: {len(varargs)} distances for {len(axes)} axes")
    spacings = list(varargs) if varargs else [1.0]
    spacings = spacings * len(axes) if len(spacings) == 1 else spacings
    slopes = tuple(
        _slope(x, axis, spacing, edge_order) for axis, spacing in zip(axes, spacings, strict=True)
    )
    return slopes[0] if isinstance(given, int) or len(slopes) == 1 else slopes


def _slope(x: Tensor, axis: int, spacing: TensorLike, edge_order: int) -> Tensor:
    n = x.type.shape[axis]
    if isinstance(n, int) and n < edge_order + 1:
        raise ValueError(
            f"gradient: edge_order={edge_order} needs {edge_order + 1} elements along axis {axis}\n"
            f"  given  {describe(x)}"
        )
    y = moveaxis(x, axis, 0)
    at = as_tensor(spacing, x.dtype)
    if at.ndim > 1:
        raise RankError(f"gradient: positions must be a vector\n  given  {describe(at)}")
    if at.ndim == 0:
        inner = (y[2:] - y[:-2]) / (2 * at)
        first, last = (y[1] - y[0]) / at, (y[-1] - y[-2]) / at
        if edge_order == 2:
            first = (-1.5 * y[0] + 2 * y[1] - 0.5 * y[2]) / at
            last = (1.5 * y[-1] - 2 * y[-2] + 0.5 * y[-3]) / at
    else:
        inner, first, last = _uneven(y, diff(specify_length(at, 0, n)), edge_order)
    slopes = concatenate([expand_dims(first, 0), inner, expand_dims(last, 0)])
    return cast_to(moveaxis(slopes, 0, axis), x.dtype)


def _uneven(y: Tensor, steps: Tensor, edge_order: int) -> tuple[Tensor, Tensor, Tensor]:
    """Slopes inside and at both ends, for samples at these distances along the first axis."""
    shape = tuple(range(1, y.ndim))
    before, after = expand_dims(steps[:-1], shape), expand_dims(steps[1:], shape)
    # The derivative of the parabola through three neighbours.
    inner = (
        -after / (before * (before + after)) * y[:-2]
        + (after - before) / (before * after) * y[1:-1]
        + before / (after * (before + after)) * y[2:]
    )
    if edge_order == 1:
        return inner, (y[1] - y[0]) / steps[0], (y[-1] - y[-2]) / steps[-1]
    a, b = steps[0], steps[1]
    first = (
        -(2 * a + b) / (a * (a + b)) * y[0] + (a + b) / (a * b) * y[1] - a / (b * (a + b)) * y[2]
    )
    a, b = steps[-2], steps[-1]
    last = (
        b / (a * (a + b)) * y[-3] - (b + a) / (a * b) * y[-2] + (2 * b + a) / (b * (a + b)) * y[-1]
    )
    return inner, first, last


# --- sums -----------------------------------------------------------------------------------------


def trapezoid(
    y: TensorLike, x: TensorLike | None = None, dx: TensorLike = 1.0, axis: int = -1
) -> Tensor:
    """The integral of samples along an axis, by the trapezoidal rule.

    `x` has the positions of the samples: a vector, or a tensor that broadcasts with `y`. Without
    it, they are at distance `dx`.

    >>> import symc.tensor as T
    >>> T.trapezoid([1.0, 2.0, 3.0], x=[4.0, 6.0, 8.0]).eval()
    array(8.)
    """
    y = as_tensor(y)
    axis = normal_axis("trapezoid", axis, y.ndim, y)
    later, earlier = (slice(None),) * axis + (slice(1, None),), (slice(None),) * axis + (slice(-1),)
    if x is None:
        steps = as_tensor(dx, y.dtype)
    else:
        at = as_tensor(x)
        steps = diff(at, axis=axis if at.ndim == y.ndim else -1)
        if at.ndim == 1:
            others = tuple(other for other in range(y.ndim) if other != axis)
            steps = expand_dims(steps, others)
    return total(steps * (y[later] + y[earlier]) / 2.0, axis)


def cumulative_sum(
    x: TensorLike, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """`cumsum`, of vectors also without an axis; with `include_initial`, a 0 comes before it.

    >>> import symc.tensor as T
    >>> T.cumulative_sum([2, 3], include_initial=True).eval()
    array([0, 2, 5])
    """
    return _cumulative("cumulative_sum", cumsum, x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(
    x: TensorLike, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """`cumprod`, of vectors also without an axis; with `include_initial`, a 1 comes before it.

    >>> import symc.tensor as T
    >>> T.cumulative_prod([2, 3], include_initial=True).eval()
    array([1, 2, 6])
    """
    return _cumulative("cumulative_prod", cumprod, x, axis, dtype, 1 if include_initial else None)


def _cumulative(
    label: str, run: Any, x: TensorLike, axis: int | None, dtype: Any, initial: int | None
) -> Tensor:
    x = as_tensor(x)
    if axis is None:
        if x.ndim != 1:
            raise RankError(f"{label} needs an axis\n  given  {describe(x)}")
        axis = 0
    axis = normal_axis(label, axis, x.ndim, x)
    result: Tensor = run(x, axis, dtype)
    if initial is None:
        return result
    shape = [public(n) for n in result.type.shape]
    shape[axis] = 1
    return concatenate([zeros(tuple(shape), result.dtype) + initial, result], axis)


# --- angles ---------------------------------------------------------------------------------------


def unwrap(
    p: TensorLike, discont: TensorLike | None = None, axis: int = -1, *,
    period: TensorLike = 2 * math.pi,
) -> Tensor:  # fmt: skip
    """Angles along an axis without jumps: multiples of `period` are added after each jump.

    A jump is a difference of more than half the period, and not less than `discont`.

    >>> import symc.tensor as T
    >>> T.unwrap([1, 2, 0, 1], period=3).eval()
    array([1, 2, 3, 4])
    """
    x = as_tensor(p)
    axis = normal_axis("unwrap", axis, x.ndim, x)
    steps = diff(x, axis=axis)
    dtype = promote(steps.dtype, as_tensor(period, steps.dtype).dtype)
    whole = as_tensor(period, dtype)
    if dtype.is_integer:
        half = whole // 2
        ambiguous = eq(whole % 2, 0)
    else:
        half, ambiguous = whole / 2, as_tensor(True)
    wrapped = mod(steps + half, whole) - half
    turned = logical_and(logical_and(eq(wrapped, -half), gt(steps, 0)), ambiguous)
    wrapped = where(turned, half, wrapped)
    limit = half if discont is None else discont
    correction = where(lt(absolute(steps), limit), 0, wrapped - steps)
    before = (slice(None),) * axis
    start = cast_to(x[(*before, slice(0, 1))], dtype)
    rest = cast_to(x[(*before, slice(1, None))], dtype) + cumsum(correction, axis)
    return concatenate([start, cast_to(rest, dtype)], axis)


# --- interpolation --------------------------------------------------------------------------------


def interp(
    x: TensorLike,
    xp: TensorLike,
    fp: TensorLike,
    left: TensorLike | None = None,
    right: TensorLike | None = None,
    period: TensorLike | None = None,
) -> Tensor:
    """The values at `x` of the line through the points (`xp`, `fp`), of which `xp` must increase.

    Before the first point they are `left` (by default the first value), after the last `right`
    (the last one), and the gradient with respect to `x` is 0. At a point it is the slope of the
    piece that follows. With a `period`, points need not increase, and the line goes on around. As
    in NumPy, the result is float64, or complex128 if `fp` is complex.

    >>> import symc.tensor as T
    >>> T.interp([1.5, 9.0], [1.0, 2.0, 3.0], [3.0, 2.0, 0.0]).eval()
    array([2.5, 0. ])
    """
    at, points, values = as_tensor(x), as_tensor(xp), as_tensor(fp)
    for given in (points, values):
        if given.ndim != 1:
            raise RankError(f"interp: points must be vectors\n  given  {describe(given)}")
    lengths = (points.type.shape[0], values.type.shape[0])
    if all(isinstance(n, int) for n in lengths) and len(set(lengths)) == 2:
        raise ShapeMismatch(
            f"interp: {lengths[0]} points for {lengths[1]} values\n"
            f"  xp  {describe(points)}\n  fp  {describe(values)}"
        )
    if lengths[0] == 0:
        raise ValueError("interp: there are no points")
    at, points = cast_to(at, FLOAT64), cast_to(points, FLOAT64)
    values = specify_length(values, 0, lengths[0])
    values = cast_to(values, COMPLEX128 if values.dtype.is_complex else FLOAT64)
    if period is not None:
        at, points, values = _around(at, points, values, period)
        left = right = None
    return _on_line(at, points, values, left, right)


def _around(
    at: Tensor, points: Tensor, values: Tensor, period: TensorLike
) -> tuple[Tensor, Tensor, Tensor]:
    """Positions within one period, and the points in order, with one more on each side."""
    span = absolute(as_float(period))
    at, points = mod(at, span), mod(points, span)
    order = argsort(points)
    points, values = points[order], values[order]
    points = concatenate([points[-1:] - span, points, points[:1] + span])
    return at, points, concatenate([values[-1:], values, values[:1]])


def _on_line(
    at: Tensor, points: Tensor, values: Tensor, left: TensorLike | None, right: TensorLike | None
) -> Tensor:
    n = length(points, 0)
    last = OPERATORS["maximum"](n - 2, 0)
    piece = clip(searchsorted(points, at, "right") - 1, 0, last)
    following = OPERATORS["minimum"](piece + 1, n - 1)
    start, low = points[piece], values[piece]
    width, rise = points[following] - start, values[following] - low
    slope = rise / where(eq(width, 0), 1, width)
    inside = low + slope * (at - start)
    if not values.dtype.is_complex:
        high = values[following]
        # As NumPy has it beside values that are not finite: from the other end of the piece, unless
        # that is no number either, and at a point its own value.
        other = high + slope * (at - points[following])
        own = eq(at, start) | (isnan(other) & eq(low, high))
        inside = where(isnan(inside), where(own, low, other), inside)
    before = values[0] if left is None else cast_to(left, values.dtype)
    after = values[-1] if right is None else cast_to(right, values.dtype)
    result = where(lt(at, points[0]), before, where(gt(at, points[-1]), after, inside))
    # As NumPy has it, exact at the last point.
    result = where(eq(at, points[-1]), values[-1], result)
    return where(isnan(at), cast_to(at, values.dtype), result)
