"""Functions that NumPy has under another name or not at all, in NumPy, as documented for `T`."""

from __future__ import annotations

from typing import Any

import numpy as np


def sigmoid(x: Any) -> Any:
    return np.where(x < 0, np.exp(-abs(x)), x.dtype.type(1)) / (1 + np.exp(-abs(x)))


def softplus(x: Any) -> Any:
    return np.logaddexp(x, x.dtype.type(0))


def log_sigmoid(x: Any) -> Any:
    return -np.logaddexp(-x, x.dtype.type(0))


def relu(x: Any) -> Any:
    return np.maximum(x, x.dtype.type(0))


def silu(x: Any) -> Any:
    return x * sigmoid(x)


def elu(x: Any) -> Any:
    return np.where(x > 0, x, np.expm1(np.minimum(x, x.dtype.type(0))))


def cummax(x: Any, axis: int) -> Any:
    return np.maximum.accumulate(x, axis=axis)


def cummin(x: Any, axis: int) -> Any:
    return np.minimum.accumulate(x, axis=axis)


def quantile(x: Any, q: float, axis: Any) -> Any:
    return _between(np.quantile, x, q, axis)


def percentile(x: Any, q: float, axis: Any) -> Any:
    return _between(np.percentile, x, q, axis)


def nanquantile(x: Any, q: float, axis: Any) -> Any:
    return _between(np.nanquantile, x, q, axis)


def _between(function: Any, x: Any, q: float, axis: Any) -> Any:
    """Between two infinities of one sign lies that infinity; NumPy has NaN, their difference."""
    low, high = (function(x, q, axis=axis, method=way) for way in ("lower", "higher"))
    return np.where((low == high) & np.isinf(low), low, function(x, q, axis=axis))


def logsumexp(x: Any, axis: Any, keepdims: bool = False) -> Any:
    top = np.max(x, axis=axis, keepdims=True)
    base = np.where(np.isfinite(top), top, top.dtype.type(0))
    result = np.log(np.sum(np.exp(x - base), axis=axis, keepdims=True)) + base
    return result if keepdims else np.squeeze(result, axis)


def log_softmax(x: Any, axis: int) -> Any:
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def softmax(x: Any, axis: int) -> Any:
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def set_subtensor(x: Any, index: Any, values: Any) -> Any:
    result = np.array(x, order="C")
    result[index] = values
    return result


def inc_subtensor(x: Any, index: Any, values: Any) -> Any:
    """Places that come twice get both."""
    result = np.array(x, order="C")
    np.add.at(result, index, values)
    return result


def fill_diagonal(x: Any, value: Any) -> Any:
    result = np.array(x, order="C")
    np.fill_diagonal(result, value)
    return result


def put_along_axis(x: Any, index: Any, values: Any, axis: int) -> Any:
    result = np.array(x, order="C")
    np.put_along_axis(result, index, values, axis)
    return result


def added(x: Any, places: Any, values: Any) -> Any:
    result = x.copy()
    np.add.at(result, places, values)
    return result
