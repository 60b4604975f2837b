"""Pooling where the lengths of windows, their distances or the padding are variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc
import symc.tensor as T
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.theano.tensor.shaping import element


def pooled(
    x: Tensor, lengths: Sequence[Tensor], ndim: int, mode: str, ignore_border: bool
) -> Tensor:
    """The windows of the last `ndim` axes, each put together by the mode."""
    x, inside, counted = _gathered(x, lengths, ndim, ignore_border)
    first = x.ndim - 2 * ndim
    last = tuple(first + 2 * axis + 1 for axis in range(ndim))
    if mode == "max":
        return T.max(T.where(inside, x, _lowest(x)), axis=last)
    total = T.sum(T.where(inside, x, T.zeros((), dtype=x.dtype)), axis=last, dtype=x.dtype.name)
    if mode == "sum":
        return total
    counts = inside if mode == "average_exc_pad" else counted
    windows = tuple(2 * axis + 1 for axis in range(ndim))
    return total / T.cast(T.sum(T.cast(counts, "int64"), axis=windows), x.dtype)


def gathered_windows(
    x: Tensor, lengths: Sequence[Tensor], ndim: int, ignore_border: bool
) -> Tensor:
    """The windows of the last `ndim` axes, whose own axes are the last; least values outside."""
    x, inside, _ = _gathered(x, lengths, ndim, ignore_border)
    first = x.ndim - 2 * ndim
    counts = [first + 2 * axis for axis in range(ndim)]
    order = (*range(first), *counts, *(position + 1 for position in counts))
    return T.transpose(T.where(inside, x, _lowest(x)), order)


def _lowest(x: Tensor) -> Any:
    return float("-inf") if x.dtype.is_float else 0


def _gathered(
    x: Tensor, lengths: Sequence[Tensor], ndim: int, ignore_border: bool
) -> tuple[Tensor, Any, Any]:
    """For each axis its windows and their elements; which are inside, and inside the padding."""
    first = x.ndim - ndim
    inside: Any = None
    counted: Any = None
    for axis in range(ndim):
        size, step, pad = (T.cast(element(each, axis), "int64") for each in lengths)
        if not ignore_border and constant_value(pad) is None:
            x = symc.Assert("padding works only with ignore_border=True")(x, T.eq(pad, 0))
        own = T.cast(T.as_tensor(T.shape(x)[first + 2 * axis]), "int64")
        places = _places(own, size, step, pad, ignore_border)
        real = (places >= 0) & (places < own)
        whole = (places >= -pad) & (places < own + pad)
        at: tuple[Any, ...] = (*(slice(None) for _ in range(first + 2 * axis)),
                               T.clip(places, 0, T.maximum(own - 1, 0)))  # fmt: skip
        x = x[at]
        rest = (1,) * (2 * (ndim - 1 - axis))
        shape = T.shape(places)
        inside = _both(inside, T.reshape(real, [*shape, *rest]))
        counted = _both(counted, T.reshape(whole, [*shape, *rest]))
    return x, inside, counted


def _places(own: Tensor, size: Tensor, step: Tensor, pad: Tensor, ignore_border: bool) -> Tensor:
    """For each window along an axis, where its elements are."""
    if ignore_border:
        count = T.maximum((own + 2 * pad - size) // step + 1, 0)
    else:
        apart = (own - 1) // step + 1
        overlapping = T.maximum((own - 1 - size + step) // step, 0) + 1
        count = T.where(step >= size, apart, overlapping)
    starts = T.expand_dims(T.arange(count) * step - pad, 1)
    return starts + T.expand_dims(T.arange(size), 0)


def _both(before: Any, now: Tensor) -> Tensor:
    """Where the windows of all axes so far hold."""
    return now if before is None else before & now
