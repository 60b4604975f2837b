"""Medians, quantiles and percentiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.codegen.dtypes import FLOAT64, INT64, DType
from symc.graph import dims
from symc.graph.inputs import as_tensor, constant_value, is_number, scalar_constant
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.graph.types import promote
from symc.tensor.checked import Checked
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import length
from symc.tensor.logic import isinf, isnan, where
from symc.tensor.math import ceil, floor, maximum, minimum
from symc.tensor.math import round as rounded
from symc.tensor.padding import surround
from symc.tensor.reduce import Axis, axes_of
from symc.tensor.reshape import reshape
from symc.tensor.sorting.order import sort, sortable
from symc.tensor.views import expand_dims, moveaxis

__all__ = ["median", "percentile", "quantile"]

# Methods of R. Hyndman and Y. Fan, "Sample quantiles in statistical packages" (1996), that
# interpolate: alpha and beta in ``n*q + alpha + q*(1 - alpha - beta) - 1``.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip
PICKING = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
_METHODS = ("linear", "midpoint", "averaged_inverted_cdf", *_CONTINUOUS, *PICKING)


def median(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The middle of the sorted elements along axes (all for None), or the mean of the middle two.

    Integers give float64. Where there is a NaN, or there are no elements, the median is NaN.

    >>> import symc.tensor as T
    >>> T.median(T.constant([3, 1, 2, 9])).eval()
    array(2.5)
    """
    rows, axes = sorted_rows("median", a, axis, floats=True, of_none=True)
    n = length(rows, rows.ndim - 1)
    low, high = _at(rows, (n - 1) // 2), _at(rows, n // 2)
    # As in NumPy a mean, even of one element: 0.0 for -0.0.
    middle = where(OPERATORS["eq"](n % 2, 1), low, low * 0.5 + high * 0.5) + 0.0
    return kept(_nan_of(rows, middle), axes if keepdims else (), 0)


def quantile(
    a: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
) -> Tensor:
    """The quantiles `q` (from 0 to 1) of the elements along axes (all for None).

    The axes of `q` come first in the result. `method` is one of NumPy's: ``linear``, ``midpoint``,
    ``hazen``, ``weibull``, ``median_unbiased``, ``normal_unbiased``, ``averaged_inverted_cdf`` and
    ``interpolated_inverted_cdf``, which give float64 for integers; and ``lower``, ``higher``,
    ``nearest``, ``inverted_cdf`` and ``closest_observation``, which give one of the elements as it
    is. Those that are computed are as precise as `a` or, if that is more, as floats of `q` that are
    no Python number: float32 and ``[0.3, 0.5]`` give float64. Where there is a NaN, the quantile is
    NaN; between two infinities of one sign it is that infinity, where NumPy has NaN. Raises
    `ValueError`, at run time if need be, for `q` beyond 0 and 1, and `IndexError` when it runs if
    there are no elements.

    >>> import symc.tensor as T
    >>> T.quantile(T.constant([1.0, 2.0, 4.0]), [0.5, 0.75]).eval()
    array([2., 3.])
    """
    return quantile_of("quantile", a, q, 1.0, axis, method, keepdims)


def percentile(
    a: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
) -> Tensor:
    """As `quantile`, with `q` from 0 to 100; the axis of a vector `q` comes first in the result.

    >>> import symc.tensor as T
    >>> T.percentile(T.constant([1.0, 2.0, 4.0]), 50).eval()
    array(2.)
    """
    return quantile_of("percentile", a, q, 100.0, axis, method, keepdims)


def quantile_of(
    label: str,
    a: TensorLike,
    at: TensorLike,
    whole: float,
    axis: Axis,
    method: str,
    keepdims: bool,
    *,
    of_none: bool = False,
) -> Tensor:
    """As `quantile`, with `at` from 0 to the whole; with `of_none` no floats have NaN."""
    check_method(label, method)
    precision, q = precision_of(at, whole), as_tensor(at)
    q = cast_to(inside(label, q, whole), FLOAT64) / whole
    rows, axes = sorted_rows(label, a, axis, floats=method not in PICKING, of_none=of_none)
    n = cast_to(length(rows, rows.ndim - 1), FLOAT64)
    unlimited = place(method, q, n)
    where_it_is = maximum(minimum(unlimited, n - 1), 0.0)
    start = floor(where_it_is)
    result = _at(rows, cast_to(start, INT64))
    if method not in PICKING:
        following = minimum(start + 1, n - 1)
        # One that is at an element, or before the first, is that one, though the next be infinite.
        if method in _CONTINUOUS:
            following = where(unlimited < 0, start, following)
        elif method == "averaged_inverted_cdf":
            following = where(where_it_is > start, following, start)
        after = _at(rows, cast_to(following, INT64))
        result = between(result, after, where_it_is - start, precision)
    result = _nan_of(rows, result, q.ndim)
    if q.ndim:
        result = moveaxis(result, tuple(range(-q.ndim, 0)), tuple(range(q.ndim)))
    return kept(result, axes if keepdims else (), q.ndim)


def check_method(label: str, method: str) -> None:
    """Raises ValueError for a method that there is not."""
    if method not in _METHODS:
        known = ", ".join(_METHODS)
        raise ValueError(f"{label}: there is no method {method!r}; there are {known}")


def inside(label: str, q: Tensor, whole: float) -> Tensor:
    """`q`, which is from 0 to the whole; where it is not known yet, that is checked."""
    text, value = f"{label}: q must be from 0 to {whole:g}", constant_value(q)
    if value is None:
        low, high = OPERATORS["ge"](q, 0), OPERATORS["le"](q, whole)
        return Checked(text)(q, OPERATORS["logical_and"](low, high))
    if not np.all((value >= 0) & (value <= whole)):
        raise ValueError(text)
    return q


def place(method: str, q: Tensor, n: Tensor) -> Tensor:
    """Where a quantile is among n sorted elements: at one, or between two."""
    at: Tensor = (n - 1) * q
    match method:
        case "linear":
            return at
        case "lower":
            return floor(at)
        case "higher":
            return ceil(at)
        case "midpoint":
            return (floor(at) + ceil(at)) * 0.5
        case "nearest":  # halves go to the even place, as NumPy has it
            return rounded(at)
        case "inverted_cdf":
            return ceil(n * q - 1)
        case "averaged_inverted_cdf":  # where it jumps, the mean of both
            at = n * q - 1
            return where(OPERATORS["eq"](at, floor(at)), at + 0.5, ceil(at))
        case "closest_observation":  # halves go to the even place, counted from 1
            return rounded(n * q) - 1
        case _:
            alpha, beta = _CONTINUOUS[method]
            return n * q + (alpha + q * (1 - alpha - beta)) - 1


def precision_of(q: TensorLike, whole: float) -> DType | None:
    """The dtype that `q` asks of a result: none if it is weak, or integers that are not divided."""
    if is_number(q):
        return None
    dtype = as_tensor(q).dtype
    if dtype.is_float:
        return dtype
    return None if whole == 1 else FLOAT64


def between(low: Tensor, high: Tensor, share: Tensor, precision: DType | None) -> Tensor:
    """The number that is a share of the way from low to high, as NumPy rounds it."""
    dtype = low.dtype if precision is None else promote(low.dtype, precision)
    wide = dtype.wide
    step = cast_to(high - low, wide) if wide is not low.dtype.wide else None
    low, high, share = (cast_to(x, wide) for x in (low, high, share))
    step = high - low if step is None else step
    found = where(share >= 0.5, high - step * (1 - share), low + step * share)
    # Of equal numbers each has its share of the gradient; infinite ones have no difference.
    endless = OPERATORS["logical_and"](OPERATORS["eq"](low, high), isinf(low))
    return cast_to(where(endless, low, found), dtype)


def sorted_rows(
    label: str, a: TensorLike, axis: Axis, *, floats: bool, of_none: bool = False
) -> tuple[Tensor, tuple[int, ...]]:
    """The elements along axes, sorted on one last axis, perhaps as floats; and the axes.

    With `of_none`, no floats are as one NaN.
    """
    a = sortable(label, a)
    axes = axes_of(label, a, axis)
    kept = [number for number in range(a.ndim) if number not in axes]
    a = cast_to(a, FLOAT64) if floats and not a.dtype.is_float else a
    moved = moveaxis(a, axes, tuple(range(len(kept), a.ndim)))
    shape: list[Any] = [moved.shape[number] for number in range(len(kept))]
    total: Any = 1
    for number in range(len(kept), a.ndim):
        total = total * moved.shape[number]
    rows = sort(reshape(moved, (*shape, total)))
    missing = dims.maximum(0, dims.sub(1, rows.type.shape[-1]))
    if of_none and rows.dtype.is_float:
        nan = scalar_constant(np.nan, rows.dtype)
        rows = surround(rows, nan, (*[(0, 0)] * len(kept), (0, missing)))
    return rows, axes


def _at(rows: Tensor, place: Tensor | int) -> Tensor:
    """The elements at a place of the last axis; for several places, on axes after the others."""
    return rows[(..., place)]


def _nan_of(rows: Tensor, value: Tensor, extra: int = 0) -> Tensor:
    """The value; NaN where the row has one, which then is its last element."""
    if not rows.dtype.is_float:
        return value
    last = rows[..., -1]
    return where(
        isnan(expand_dims(last, tuple(range(last.ndim, last.ndim + extra)))), np.nan, value
    )


def kept(x: Tensor, axes: tuple[int, ...], before: int) -> Tensor:
    """With axes of length 1 where some were reduced, after the first axes."""
    return expand_dims(x, tuple(axis + before for axis in axes)) if axes else x
