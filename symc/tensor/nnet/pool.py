"""Pooling in one, two and three dimensions: maximum, sum and mean of windows.

All of it is `Windows` and an ordinary reduction, and so are the derivatives: an element's gradient
is the sum of its windows' gradients. Elements that share a window's maximum share
its gradient evenly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from symc.codegen.dtypes import INT64
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.graph.types import float_for
from symc.tensor.build import ones
from symc.tensor.elementwise import cast_to, refuse_complex
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import public
from symc.tensor.nnet.geometry import (
    Numbers,
    Padding,
    Pair,
    check_rank,
    numbers,
    padded,
    paddings,
    reach,
)
from symc.tensor.nnet.windows import windows
from symc.tensor.statistics import wide

__all__ = [
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
    "sum_pool1d", "sum_pool2d", "sum_pool3d",
]  # fmt: skip

Kind: TypeAlias = Literal["max", "sum", "avg"]


def _pool(
    kind: Kind, rank: int, x: TensorLike, window: Numbers, stride: Numbers | None,
    padding: Padding, ceil_mode: bool, include_padding: bool = True,
) -> Tensor:  # fmt: skip
    label, x = f"{kind}_pool{rank}d", as_tensor(x)
    check_rank(label, x, rank, "the first argument")
    sizes = numbers(label, "window", window, rank)
    strides = numbers(label, "stride", sizes if stride is None else stride, rank)
    lengths, near = x.type.shape[2:], (1,) * rank
    asked = pairs = paddings(label, padding, lengths, sizes, strides, near)
    if ceil_mode:
        pairs = tuple(map(_with_last, lengths, asked, sizes, strides))
    if kind == "max":
        seen = max_windows(rank, x, window, stride, padding, ceil_mode)
        return reduce_over("max", seen, tuple(range(x.ndim, seen.ndim)), allow_empty=True)
    if kind == "sum":
        return _sums(padded(x, pairs), sizes, strides)
    keep = float_for(x.dtype)
    x = wide(cast_to(x, keep))  # sums of 16 bits overflow where their means do not
    total = _sums(padded(x, pairs), sizes, strides)
    counted = asked if include_padding else ((0, 0),) * rank
    if counted == pairs:
        return cast_to(total / math.prod(sizes), keep)
    whole = [
        dims.add(length, dims.add(*pair)) for length, pair in zip(lengths, counted, strict=True)
    ]
    around = [
        (dims.sub(before, own), dims.sub(after, other))
        for (before, after), (own, other) in zip(pairs, counted, strict=True)
    ]
    inside = padded(ones(list(map(public, whole)), INT64), around)
    return cast_to(total / cast_to(_sums(inside, sizes, strides), x.dtype), keep)


def max_windows(
    rank: int, x: Tensor, window: Numbers, stride: Numbers | None, padding: Padding,
    ceil_mode: bool,
) -> Tensor:  # fmt: skip
    """The elements of each window of a pooling by the maximum, on new axes at the end."""
    label = f"max_pool{rank}d"
    refuse_complex(label, x.dtype)
    sizes = numbers(label, "window", window, rank)
    strides = numbers(label, "stride", sizes if stride is None else stride, rank)
    lengths = x.type.shape[2:]
    pairs = paddings(label, padding, lengths, sizes, strides, (1,) * rank)
    if ceil_mode:
        pairs = tuple(map(_with_last, lengths, pairs, sizes, strides))
    return windows(padded(x, pairs, _least(x)), sizes, strides, (1,) * rank)


def _sums(x: Tensor, sizes: Sequence[int], strides: Sequence[int]) -> Tensor:
    seen = windows(x, sizes, strides, (1,) * len(sizes))
    axes = range(seen.ndim - len(sizes), seen.ndim)
    return reduce_over("add", seen, tuple(axes), allow_empty=True)


def _least(x: Tensor) -> float:
    """The least value of a dtype: the identity of the maximum."""
    if x.dtype.is_float:
        return -math.inf
    return 0 if x.dtype.kind in ("bool", "uint") else -(2 ** (x.dtype.bits - 1))


def _with_last(length: Dim, pair: Pair, size: int, stride: int) -> Pair:
    """The padding with which a last window that is only partly filled counts as well.

    Windows start in the tensor or before it: one that would see padding alone does not count.
    """
    before, after = pair
    whole = dims.add(dims.add(before, length), after)
    count = dims.add(dims.ceildiv(dims.sub(whole, reach(size, 1)), stride), 1)
    starts = dims.add(dims.floordiv(dims.sub(dims.add(before, length), 1), stride), 1)
    count = dims.minimum(count, starts)
    end = dims.add(dims.mul(dims.sub(count, 1), stride), size)
    return before, dims.maximum(dims.sub(end, dims.add(before, length)), after)


def max_pool1d(
    x: TensorLike,
    window: Numbers,
    *,
    stride: Numbers | None = None,
    padding: Padding = "valid",
    ceil_mode: bool = False,
) -> Tensor:
    """The greatest element of each window along the last axis; see `max_pool2d`.

    >>> import symc.tensor as T
    >>> T.nnet.max_pool1d([[[1.0, 3.0, 7.0, 5.0]]], 2).eval()
    array([[[3., 7.]]])
    """
    return _pool("max", 1, x, window, stride, padding, ceil_mode)


def max_pool2d(
    x: TensorLike,
    window: Numbers,
    *,
    stride: Numbers | None = None,
    padding: Padding = "valid",
    ceil_mode: bool = False,
) -> Tensor:
    """The greatest element of each window of `x`, (images, channels, height, width).

    `window` is one length for both axes or a pair; windows start `stride` apart (default: as far as
    they are long). `padding` is as for `conv2d`, and never the greatest. With ``ceil_mode=True`` a
    window that the end of `x` cuts off counts as well (Theano's ``ignore_border=False``). NaN is
    passed on.

    >>> import symc.tensor as T
    >>> x = T.arange(16.0).reshape((1, 1, 4, 4))
    >>> T.nnet.max_pool2d(x, 2).eval()
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """
    return _pool("max", 2, x, window, stride, padding, ceil_mode)


def max_pool3d(
    x: TensorLike,
    window: Numbers,
    *,
    stride: Numbers | None = None,
    padding: Padding = "valid",
    ceil_mode: bool = False,
) -> Tensor:
    """The greatest element of each window along the last three axes; see `max_pool2d`.

    >>> import symc.tensor as T
    >>> T.nnet.max_pool3d(T.ones((1, 1, 2, 2, 2)), 2).eval().shape
    (1, 1, 1, 1, 1)
    """
    return _pool("max", 3, x, window, stride, padding, ceil_mode)


def sum_pool1d(
    x: TensorLike,
    window: Numbers,
    *,
    stride: Numbers | None = None,
    padding: Padding = "valid",
    ceil_mode: bool = False,
) -> Tensor:
    """The sum of each window along the last axis; see `sum_pool2d`.

    >>> import symc.tensor as T
    >>> T.nnet.sum_pool1d([[[1.0, 3.0, 5.0, 7.0]]], 2).eval()
    array([[[ 4., 12.]]])
    """
    return _pool("sum", 1, x, window, stride, padding, ceil_mode)


def sum_pool2d(
    x: TensorLike,
    window: Numbers,
    *,
    stride: Numbers | None = None,
    padding: Padding = "valid",
    ceil_mode: bool = False,
) -> Tensor:
    """The sum of each window of `x`; parameters as for `max_pool2d`, padding is zeros.

    `x` has images and channels on its first two axes. The dtype stays.

    >>> import symc.tensor as T
    >>> T.nnet.sum_pool2d([[[[1.0, 3.0], [5.0, 7.0]]]], 2).eval()
    array([[[[16.]]]])
    """
    return _pool("sum", 2, x, window, stride, padding, ceil_mode)


def sum_pool3d(
    x: TensorLike,
    window: Numbers,
    *,
    stride: Numbers | None = None,
    padding: Padding = "valid",
    ceil_mode: bool = False,
) -> Tensor:
    """The sum of each window along the last three axes; see `sum_pool2d`.

    >>> import symc.tensor as T
    >>> T.nnet.sum_pool3d(T.ones((1, 1, 2, 2, 2)), 2).eval().item()
    8.0
    """
    return _pool("sum", 3, x, window, stride, padding, ceil_mode)


def avg_pool1d(
    x: TensorLike,
    window: Numbers,
    *,
    stride: Numbers | None = None,
    padding: Padding = "valid",
    ceil_mode: bool = False,
    include_padding: bool = True,
) -> Tensor:
    """The mean of each window along the last axis; see `avg_pool2d`.

    >>> import symc.tensor as T
    >>> T.nnet.avg_pool1d([[[1.0, 3.0, 5.0, 7.0]]], 2).eval()
    array([[[2., 6.]]])
    """
    return _pool("avg", 1, x, window, stride, padding, ceil_mode, include_padding)


def avg_pool2d(
    x: TensorLike,
    window: Numbers,
    *,
    stride: Numbers | None = None,
    padding: Padding = "valid",
    ceil_mode: bool = False,
    include_padding: bool = True,
) -> Tensor:
    """The mean of each window of `x`; parameters as for `max_pool2d`, integers become floats.

    Padding counts as zeros, or with ``include_padding=False`` not at all. The part of a window
    after the end with ``ceil_mode=True`` never counts.

    >>> import symc.tensor as T
    >>> T.nnet.avg_pool2d([[[[1.0, 3.0], [5.0, 7.0]]]], 2).eval()
    array([[[[4.]]]])
    """
    return _pool("avg", 2, x, window, stride, padding, ceil_mode, include_padding)


def avg_pool3d(
    x: TensorLike,
    window: Numbers,
    *,
    stride: Numbers | None = None,
    padding: Padding = "valid",
    ceil_mode: bool = False,
    include_padding: bool = True,
) -> Tensor:
    """The mean of each window along the last three axes; see `avg_pool2d`.

    >>> import symc.tensor as T
    >>> T.nnet.avg_pool3d(T.ones((1, 1, 2, 2, 2)), 2).eval().item()
    1.0
    """
    return _pool("avg", 3, x, window, stride, padding, ceil_mode, include_padding)
