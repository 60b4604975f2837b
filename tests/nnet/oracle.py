"""Convolution and pooling written out in NumPy, window by window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

Pairs = Sequence[tuple[int, int]]


def pairs_of(
    padding: Any, lengths: Sequence[int], sizes: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int],
) -> list[tuple[int, int]]:  # fmt: skip
    """The meanings of the words for paddings, axis by axis."""
    found = []
    for axis, (n, k, s, d) in enumerate(zip(lengths, sizes, strides, dilations, strict=True)):
        reach = d * (k - 1) + 1
        if padding == "same":
            total = max((-(-n // s) - 1) * s + reach - n, 0)
            found.append((total // 2, total - total // 2))
            continue
        words = {"valid": 0, "full": reach - 1, "half": reach // 2}
        if isinstance(padding, str):
            entry = words[padding]
        else:
            entry = padding[axis] if isinstance(padding, tuple) else padding
        found.append(entry if isinstance(entry, tuple) else (entry, entry))
    return found


def spread(number: Any, rank: int) -> tuple[int, ...]:
    return number if isinstance(number, tuple) else (number,) * rank


def windows(
    x: Any, sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Each window's number and its elements."""
    lengths = x.shape[x.ndim - len(sizes) :]
    counts = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(lengths, sizes, strides, dilations, strict=True)
    ]
    for at in product(*map(range, counts)):
        yield at, x[(..., *places(at, sizes, strides, dilations))]


def places(
    at: Sequence[int], sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[slice, ...]:
    each = zip(at, sizes, strides, dilations, strict=True)
    return tuple(slice(t * s, t * s + d * (k - 1) + 1, d) for t, k, s, d in each)


def conv(
    x: Any, w: Any, padding: Any = "valid", stride: Any = 1, dilation: Any = 1, groups: int = 1,
    flip_filters: bool = True,
) -> Any:  # fmt: skip
    rank = x.ndim - 2
    sizes, strides, dilations = w.shape[2:], spread(stride, rank), spread(dilation, rank)
    pairs = pairs_of(padding, x.shape[2:], sizes, strides, dilations)
    x = np.pad(x, [(0, 0), (0, 0), *pairs])
    w = np.flip(w, tuple(range(2, 2 + rank))) if flip_filters else w
    rows: dict[tuple[int, ...], Any] = {}
    for at, seen in windows(x, sizes, strides, dilations):
        parts = zip(np.split(seen, groups, 1), np.split(w, groups, 0), strict=True)
        axes = list(range(1, 2 + rank))
        rows[at] = np.concatenate([np.tensordot(a, b, (axes, axes)) for a, b in parts], 1)
    counts = np.add(max(rows), 1)
    y = np.zeros((x.shape[0], w.shape[0], *counts), x.dtype)
    for at, row in rows.items():
        np.moveaxis(y, (0, 1), (-2, -1))[at] = row
    return y


def conv_transpose(y: Any, w: Any, shape: Sequence[int], **parameters: Any) -> Any:
    """Element by element: the inner product of `y` and the convolution of a unit vector."""
    x = np.zeros((y.shape[0], w.shape[1] * parameters.get("groups", 1), *shape), y.dtype)
    for at in np.ndindex(*x.shape[1:]):
        unit = np.zeros((1, *x.shape[1:]), y.dtype)
        unit[(0, *at)] = 1
        x[(slice(None), *at)] = np.tensordot(y, conv(unit, w, **parameters)[0], y.ndim - 1)
    return x


def pool(
    reduce: Callable[..., Any], x: Any, window: Any, stride: Any = None, padding: Any = "valid",
    ceil_mode: bool = False, fill: float = 0.0, beyond: float | None = None,
) -> Any:  # fmt: skip
    """`reduce` of each window of a padded array. Of windows that the end cuts off the rest is
    `beyond`, without that the value that fills the padding."""
    rank = x.ndim - 2
    sizes = spread(window, rank)
    strides = sizes if stride is None else spread(stride, rank)
    lengths, near = x.shape[2:], (1,) * rank
    pairs = pairs_of(padding, lengths, sizes, strides, near)
    after = []
    for n, k, s, (b, a) in zip(lengths, sizes, strides, pairs, strict=True):
        starts = [t for t in range(0, b + n, s) if t + k <= b + n + a or ceil_mode]
        if ceil_mode:  # no further than the first window that reaches the end
            starts = [t for t in starts if t - s + k < b + n + a or t == 0]
        after.append((0, max(starts[-1] + k - b - n - a, 0)))
    x = np.pad(x, [(0, 0), (0, 0), *pairs], constant_values=fill)
    rest = fill if beyond is None else beyond
    x = np.pad(x, [(0, 0), (0, 0), *after], constant_values=rest)
    found = {at: reduce(seen, axis=tuple(range(2, 2 + rank)))
             for at, seen in windows(x, sizes, strides, near)}  # fmt: skip
    result = np.zeros((*x.shape[:2], *np.add(max(found), 1)), next(iter(found.values())).dtype)
    for at, values in found.items():
        np.moveaxis(result, (0, 1), (-2, -1))[at] = values
    return result
