"""Arrays joined, split, repeated and laid out along diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.tensor.basic as tb
import pytensor.tensor.extra_ops as te

from symc import tensor as T
from symc.graph.node import Tensor
from symc.pytensor.conversion import OnHost, items, known, register
from symc.pytensor.convert.checks import RaisingCheck, RaisingCheckWithValue


@register(tb.Join)
def _join(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    dtype = node.outputs[0].type.dtype
    return lambda *args: T.concatenate([T.cast(a, dtype) for a in args], axis=op.axis)


@register(tb.Split)
def _split(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    count = len(node.outputs)
    before = (slice(None),) * op.axis

    def compute(x: Tensor, sizes: Tensor) -> list[Tensor]:
        value = known(sizes)
        if value is not None and (len(value) != count or (value < 0).any()):
            raise OnHost(f"it cannot be split so ({value}): the error is PyTensor's")
        x = _of_these_sizes(x, sizes, count, op.axis)
        given = T.shape(sizes)[0]
        lengths = items(sizes, given if isinstance(given, int) else count)
        made: list[Tensor] = []
        at: Any = 0
        for size in [*lengths, *[0] * count][:count]:
            made.append(x[(*before, slice(at, at + size))])
            at = at + size
        return made

    return compute


def _of_these_sizes(x: Tensor, sizes: Tensor, count: int, axis: int) -> Tensor:
    """The tensor, if it can be split so; with the words of PyTensor's own check."""
    length = T.as_tensor(T.shape(x)[axis])
    enough = T.eq(T.as_tensor(T.shape(sizes)[0]), count)
    x = RaisingCheck("Length of splits is not equal to n_splits", ValueError)(x, enough)
    x = RaisingCheck("Split sizes cannot be negative", ValueError)(x, T.ge(sizes, 0))
    total = T.eq(T.sum(sizes), length)
    words = "Split sizes do not sum up to input length along axis"
    return RaisingCheckWithValue(words, ValueError)(x, total, length)


@register(te.Repeat)
def _repeat(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x, repeats: T.repeat(x, repeats, axis=op.axis)


@register(tb.ExtractDiag)
def _extract_diagonal(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x: T.diagonal(x, op.offset, op.axis1, op.axis2)


@register(te.FillDiagonal)
def _fill_diagonal(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    def compute(a: Tensor, value: Tensor) -> Tensor:
        if a.ndim != 2:
            return T.fill_diagonal(a, T.cast(value, a.dtype))
        # NumPy fills a tall matrix once unless wrap is asked for, and so does this.
        return _filled(a, value, 0)

    return compute


@register(te.FillDiagonalOffset)
def _fill_diagonal_offset(op: Any, **_: Any) -> Callable[..., Any]:
    return _filled


def _filled(a: Tensor, value: Tensor, offset: Any) -> Tensor:
    rows = T.arange(T.shape(a)[0])[:, None]
    columns = T.arange(T.shape(a)[1])[None, :]
    return T.where(T.eq(columns - rows, offset), T.cast(value, a.dtype), a)


@register(tb.Choose)
def _choose(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    if op.mode != "raise" or node.inputs[1].type.ndim != node.inputs[0].type.ndim + 1:
        raise OnHost(
            f"symc chooses only in mode 'raise' among arrays of one shape, not {op.mode!r}"
        )

    def compute(at: Tensor, choices: Tensor) -> Tensor:
        return T.take_along_axis(choices, at[None], axis=0)[0]

    return compute
