"""Modes of `pad` whose elements are computed: statistics of an axis, ramps, odd reflections.

Axes grow one after the other, as in NumPy: those that come later see what earlier ones have added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.codegen.dtypes import BOOL, FLOAT64
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.node import METHODS, OPERATORS, Tensor
from symc.graph.types import promote
from symc.tensor.build import arange
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import dim_of, public, tensor_of
from symc.tensor.shape import concatenate
from symc.tensor.views import broadcast_to, expand_dims

Pair = tuple[Dim, Dim]

STATISTICS = ("maximum", "mean", "median", "minimum")


def with_statistics(
    x: Tensor, pairs: Sequence[Pair], mode: str, lengths: Sequence[tuple[Any, Any]] | None
) -> Tensor:
    """A statistic of all elements along an axis, or of so many at either end, at its ends."""
    for axis, pair in enumerate(pairs):
        if pair == (0, 0):
            continue
        n = x.type.shape[axis]
        own: tuple[Any, Any] = (None, None) if lengths is None else lengths[axis]
        values: list[Tensor] = []
        for end, count in enumerate(own):
            if mode in ("maximum", "minimum") and isinstance(count, int) and count == 0:
                raise ValueError(f"pad: of no elements there is no {mode}: stat_length is 0")
            part = x if count is None else _end(x, axis, n, count, last=bool(end))
            values.append(_rounded(_statistic(mode, part, axis), x))
        x = _grown(x, axis, pair, *values)
    return x


def _end(x: Tensor, axis: int, n: Dim, count: Any, last: bool) -> Tensor:
    """The first or last elements along an axis, all of them if there are fewer."""
    most = OPERATORS["minimum"](as_tensor(count), tensor_of(n))
    place = slice(public(dims.sub(n, dim_of(most))), None) if last else slice(most)
    part: Tensor = x[(*[slice(None)] * axis, place)]
    return part


def _statistic(mode: str, x: Tensor, axis: int) -> Tensor:
    from symc.tensor.sorting.quantiles import median

    if mode == "median":
        return median(x, axis, keepdims=True)
    name = {"maximum": "max", "minimum": "min"}.get(mode, mode)
    found: Tensor = METHODS[name](x, axis, keepdims=True)
    return found


def _rounded(value: Tensor, x: Tensor) -> Tensor:
    """A statistic in the dtype of the array: that of integers is rounded, that of bools whether it
    is not 0."""
    rounds = value.dtype.is_float and _is_whole(x)
    return cast_to(OPERATORS["round"](value) if rounds else value, x.dtype)


def _is_whole(x: Tensor) -> bool:
    return not (x.dtype.is_float or x.dtype.is_complex or x.dtype is BOOL)


def _grown(x: Tensor, axis: int, pair: Pair, first: Tensor, last: Tensor) -> Tensor:
    """`x` between values along an axis, each of which has length 1 there, or as many as needed."""
    parts = [x]
    for count, value, place in zip(pair, (first, last), (0, 2), strict=True):
        if count != 0:
            shape = (*x.type.shape[:axis], count, *x.type.shape[axis + 1 :])
            parts.insert(place, broadcast_to(value, tuple(map(public, shape))))
    return concatenate(parts, axis)


def with_ramps(x: Tensor, pairs: Sequence[Pair], ends: Sequence[tuple[Any, Any]]) -> Tensor:
    """Numbers at equal distances from the outermost elements to values at the ends."""
    for axis, (pair, own) in enumerate(zip(pairs, ends, strict=True)):
        if pair == (0, 0):
            continue
        before = (slice(None),) * axis
        edges = (x[(*before, slice(0, 1))], x[(*before, slice(-1, None))])
        first, last = (
            _ramp(end, edge, count, axis) for end, edge, count in zip(own, edges, pair, strict=True)
        )
        x = _grown(x, axis, pair, first, last[(*before, slice(None, None, -1))])
    return x


def _ramp(end: Any, edge: Tensor, count: Dim, axis: int) -> Tensor:
    """As `linspace` from a value to the edge, which does not count; integers are rounded down, and
    bools say what is not 0."""
    dtype = promote(edge.dtype, FLOAT64)
    start, stop = cast_to(as_tensor(end), dtype), cast_to(edge, dtype)
    after = tuple(range(1, edge.ndim - axis))
    numbers = expand_dims(cast_to(arange(tensor_of(count)), FLOAT64), after)
    step = (stop - start) / cast_to(tensor_of(count), FLOAT64)
    found = numbers * step + start
    return cast_to(OPERATORS["floor"](found) if _is_whole(edge) else found, edge.dtype)


def odd(x: Tensor, i: Tensor, axis: int, gap: int) -> Tensor:
    """The elements at positions of an axis that goes on beyond its ends as an odd function there.

    With a `gap` of 1 about points half a step outside, and with the outermost elements twice. From
    one period to the next all grows by twice what the axis does: ``x[i + p] - x[i]`` is the same.
    """
    n, before = x.type.shape[axis], (slice(None),) * axis
    period = dims.maximum(dims.sub(dims.mul(n, 2), 2 - 2 * gap), 1)
    there = i % tensor_of(period)
    turns = (i - there) // tensor_of(period)
    back = tensor_of(dims.sub(period, gap)) - there
    is_back = OPERATORS["gt"](there, back)
    place = OPERATORS["minimum"](OPERATORS["minimum"](there, back), tensor_of(dims.sub(n, 1)))
    first, last = x[(*before, slice(0, 1))], x[(*before, slice(-1, None))]
    is_first = OPERATORS["lt"](i, 0)  # a reflection at the first element is one less at the last
    turns = OPERATORS["where"](is_back & is_first, turns + 1, turns)

    def along(values: Tensor) -> Tensor:
        return expand_dims(values, tuple(range(1, x.ndim - axis)))

    two = cast_to(2, x.dtype)
    mirror = OPERATORS["where"](along(is_first), first * two, last * two)
    taken: Tensor = x[(*before, place)]
    found = OPERATORS["where"](along(is_back), mirror - taken, taken)
    drift = (last - first) * two * cast_to(along(turns), x.dtype)
    return OPERATORS["where"](along(OPERATORS["eq"](turns, 0)), found, found + drift)
