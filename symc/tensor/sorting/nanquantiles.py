"""Medians, quantiles and percentiles of the elements that are not NaN."""

from __future__ import annotations

from symc.codegen.dtypes import FLOAT64, INT64
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import normal_axis
from symc.tensor.logic import isnan, logical_not
from symc.tensor.math import floor, maximum, minimum
from symc.tensor.reduce import Axis
from symc.tensor.reduce import sum as total
from symc.tensor.reshape import ravel, reshape
from symc.tensor.selection import take_along_axis
from symc.tensor.sorting.quantiles import (
    PICKING,
    between,
    check_method,
    inside,
    kept,
    median,
    place,
    precision_of,
    quantile_of,
    sorted_rows,
)
from symc.tensor.views import moveaxis

__all__ = ["nanmedian", "nanpercentile", "nanquantile"]


def nanmedian(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The median along axes of the elements that are not NaN, as `median`; NaN of none.

    >>> import symc.tensor as T
    >>> T.nanmedian([3.0, float("nan"), 1.0, 8.0]).eval()
    array(3.)
    """
    a = as_tensor(a)
    if not a.dtype.is_float:
        return median(a, axis, keepdims)
    rows, axes = sorted_rows("nanmedian", a, axis, floats=True, of_none=True)
    n = _present(rows)
    low = _at(rows, maximum((n - 1) // 2, 0))
    high = _at(rows, n // 2)
    middle = OPERATORS["where"](OPERATORS["eq"](n % 2, 1), low, low * 0.5 + high * 0.5) + 0.0
    return kept(middle[..., 0], axes if keepdims else (), 0)


def nanquantile(
    a: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """The quantiles `q` (from 0 to 1) of the elements that are not NaN, as `quantile`; NaN of none.

    Methods that give one of the elements as it is have none of no integers: `IndexError` then.

    >>> import symc.tensor as T
    >>> T.nanquantile([1.0, 2.0, float("nan"), 4.0], 0.75).eval()
    array(3.)
    """
    a = as_tensor(a)
    if not a.dtype.is_float:
        return quantile_of("nanquantile", a, q, 1.0, axis, method, keepdims, of_none=True)
    return _quantile("nanquantile", a, q, 1.0, axis, method, keepdims)


def nanpercentile(
    a: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """As `nanquantile`, with `q` from 0 to 100: NaN along the axes are left out.

    >>> import symc.tensor as T
    >>> T.nanpercentile([1.0, float("nan"), 3.0], 50).eval()
    array(2.)
    """
    a = as_tensor(a)
    if not a.dtype.is_float:
        return quantile_of("nanpercentile", a, q, 100.0, axis, method, keepdims, of_none=True)
    return _quantile("nanpercentile", a, q, 100.0, axis, method, keepdims)


def _quantile(
    label: str, a: Tensor, at: TensorLike, whole: float, axis: Axis, method: str, keepdims: bool
) -> Tensor:
    check_method(label, method)
    precision, q = precision_of(at, whole), as_tensor(at)
    shape, share = q.type.shape, cast_to(inside(label, q, whole), FLOAT64) / whole
    rows, axes = sorted_rows(label, a, axis, floats=True, of_none=True)
    count = _present(rows)
    n = cast_to(count, FLOAT64)
    where_it_is = maximum(minimum(place(method, ravel(share), n), n - 1), 0.0)
    start = floor(where_it_is)
    result = _at(rows, cast_to(start, INT64))
    if method not in PICKING:
        after = _at(rows, cast_to(maximum(minimum(start + 1, n - 1), 0.0), INT64))
        result = between(result, after, where_it_is - start, precision)
    leading = result.type.shape[:-1]
    result = moveaxis(result, -1, 0)
    return kept(reshape(result, (*shape, *leading)), axes if keepdims else (), q.ndim)


def _present(rows: Tensor) -> Tensor:
    """How many elements of each row are not NaN: they come first."""
    return total(logical_not(isnan(rows)), axis=-1, keepdims=True)


def _at(rows: Tensor, places: Tensor) -> Tensor:
    """The elements of each row at its own places. Of no elements there is none, hence not NaN."""
    return take_along_axis(rows, places, normal_axis("nanquantile", -1, rows.ndim))
