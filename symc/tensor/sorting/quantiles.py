"""Medians, quantiles and percentiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.codegen.dtypes import FLOAT16, FLOAT32, FLOAT64, INT64
from symc.graph import OPERATORS, Tensor, TensorLike
from symc.inputs import as_tensor, constant_value
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import length
from symc.tensor.logic import isnan, where
from symc.tensor.reduce import Axis, axes_of
from symc.tensor.reshape import reshape
from symc.tensor.sorting.order import sort, sortable
from symc.tensor.views import expand_dims, moveaxis

# Methods of R. Hyndman and Y. Fan, "Sample quantiles in statistical packages" (1996), that
# interpolate: alpha and beta in ``n*q + alpha + q*(1 - alpha - beta) - 1``.
_CONTINUOUS = {
    "linear": (1.0, 1.0), "interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0), "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip
_BETWEEN = ("lower", "higher", "midpoint", "nearest")


def median(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The middle of the sorted elements along axes (all for None), or the mean of the middle two.

    Integers give float64. Where there is a NaN, the median is NaN.

    >>> import symc.tensor as T
    >>> T.median(T.constant([3, 1, 2, 9])).eval()
    array(2.5)
    """
    rows, axes = _rows("median", a, axis)
    n = length(rows, -1 % rows.ndim)
    low, high = _at(rows, (n - 1) // 2), _at(rows, n // 2)
    middle = where(OPERATORS["eq"](low, high), low, low * 0.5 + high * 0.5)
    return _kept(_nan_of(rows, middle), axes if keepdims else (), 0)


def quantile(
    a: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
) -> Tensor:
    """The quantiles `q` (from 0 to 1) of the elements along axes (all for None).

    The axes of `q` come first in the result. Integers give float64. `method` is one of NumPy's
    that interpolate: ``linear``, ``lower``, ``higher``, ``midpoint``, ``nearest``, ``hazen``,
    ``weibull``, ``median_unbiased``, ``normal_unbiased``, ``interpolated_inverted_cdf``. Where
    there is a NaN, the quantile is NaN.

    >>> import symc.tensor as T
    >>> T.quantile(T.constant([1.0, 2.0, 4.0]), [0.5, 0.75]).eval()
    array([2., 3.])
    """
    return _quantile("quantile", a, as_tensor(q), 1.0, axis, method, keepdims)


def percentile(
    a: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
) -> Tensor:
    """As `quantile`, with `q` from 0 to 100.

    >>> import symc.tensor as T
    >>> T.percentile(T.constant([1.0, 2.0, 4.0]), 50).eval()
    array(2.)
    """
    return _quantile("percentile", a, as_tensor(q), 100.0, axis, method, keepdims)


def _quantile(
    label: str, a: TensorLike, q: Tensor, whole: float, axis: Axis, method: str, keepdims: bool
) -> Tensor:
    if method not in (*_CONTINUOUS, *_BETWEEN):
        known = ", ".join((*_CONTINUOUS, *_BETWEEN))
        raise ValueError(f"{label}: there is no method {method!r}; there are {known}")
    value = constant_value(q)
    if value is not None and not bool(np.all((value >= 0) & (value <= whole))):
        raise ValueError(f"{label}: q must be from 0 to {whole:g}")
    rows, axes = _rows(label, a, axis)
    at = cast_to(q, FLOAT64) / whole
    n = cast_to(length(rows, rows.ndim - 1), FLOAT64)
    last = n - 1
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        at = n * at + (alpha + at * (1 - alpha - beta)) - 1 if method != "linear" else last * at
    else:
        at = last * at
    floor, ceil = OPERATORS["floor"](at), OPERATORS["ceil"](at)
    match method:
        case "lower":
            at = floor
        case "higher":
            at = ceil
        case "midpoint":
            at = (floor + ceil) * 0.5
        case "nearest":  # halves go to the even place, as NumPy has it
            at = OPERATORS["round"](at)
        case _:
            pass
    at = OPERATORS["maximum"](OPERATORS["minimum"](at, last), 0.0)
    start = OPERATORS["floor"](at)
    low = _at(rows, cast_to(start, INT64))
    high = _at(rows, cast_to(OPERATORS["minimum"](start + 1, last), INT64))
    result = _nan_of(rows, _between(low, high, at - start), q.ndim)
    if q.ndim:
        result = moveaxis(result, tuple(range(-q.ndim, 0)), tuple(range(q.ndim)))
    return _kept(result, axes if keepdims else (), q.ndim)


def _between(low: Tensor, high: Tensor, share: Tensor) -> Tensor:
    """The number that is a share of the way from low to high, as NumPy rounds it."""
    dtype = low.dtype
    wide = FLOAT32 if dtype is FLOAT16 else dtype
    low, high, share = (cast_to(x, wide) for x in (low, high, share))
    step = high - low
    found = where(share >= 0.5, high - step * (1 - share), low + step * share)
    return cast_to(where(OPERATORS["eq"](low, high), low, found), dtype)


def _rows(label: str, a: TensorLike, axis: Axis) -> tuple[Tensor, tuple[int, ...]]:
    """The elements along axes, sorted on one last axis, as floats; and the axes."""
    a = sortable(label, a)
    axes = axes_of(label, a, axis)
    kept = [number for number in range(a.ndim) if number not in axes]
    a = a if a.dtype.is_float else cast_to(a, FLOAT64)
    moved = moveaxis(a, axes, tuple(range(len(kept), a.ndim)))
    shape: list[Any] = [moved.shape[number] for number in range(len(kept))]
    total: Any = 1
    for number in range(len(kept), a.ndim):
        total = total * moved.shape[number]
    return sort(reshape(moved, (*shape, total))), axes


def _at(rows: Tensor, place: Tensor | int) -> Tensor:
    """The elements at a place of the last axis; for several places, on axes behind the others."""
    return rows[(..., place)]


def _nan_of(rows: Tensor, value: Tensor, extra: int = 0) -> Tensor:
    """The value; NaN where the row has one, which then is its last element."""
    last = rows[..., -1]
    return where(
        isnan(expand_dims(last, tuple(range(last.ndim, last.ndim + extra)))), np.nan, value
    )


def _kept(x: Tensor, axes: tuple[int, ...], before: int) -> Tensor:
    """With axes of length 1 where some were reduced, behind the first axes."""
    return expand_dims(x, tuple(axis + before for axis in axes)) if axes else x
