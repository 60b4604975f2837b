"""Counting: distinct elements, how often numbers occur, histograms."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from symc.codegen.dtypes import BOOL, BY_NAME, FLOAT64, INT64, UINT64, DType
from symc.errors import DTypeError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor, constant_value
from symc.graph.node import METHODS, OPERATORS, Tensor, TensorLike
from symc.graph.types import promote
from symc.tensor.assign import inc_subtensor
from symc.tensor.broadcast import describe
from symc.tensor.build import arange, zeros
from symc.tensor.checked import Below, Checked, not_negative, rising
from symc.tensor.elementwise import Cast, cast_to
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import dim_of, length, normal_axis, public, shape_of
from symc.tensor.logic import isfinite, isnan, where
from symc.tensor.math import as_float
from symc.tensor.reduce import max as largest
from symc.tensor.reduce import min as smallest
from symc.tensor.reduce import sum as total
from symc.tensor.reshape import ravel, reshape
from symc.tensor.selection import flatnonzero, take
from symc.tensor.shape import concatenate
from symc.tensor.sorting.order import InverseOrder, RowOrder, argsort, sort, sortable, vector
from symc.tensor.sorting.search import bin_of, has_bins
from symc.tensor.specify import specify_length
from symc.tensor.sweep import cumsum
from symc.tensor.views import moveaxis

__all__ = ["bincount", "histogram", "unique"]


def unique(
    x: TensorLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
) -> Any:
    """The distinct elements of `x`, sorted; how many there are is known at run time only.

    Also, as int64: the index of each in ``x.ravel()`` where it occurs first, which of them each
    element of `x` is (in the shape of `x`), and how often each occurs. NaNs are one element unless
    `equal_nan` is False. With `axis`, the distinct parts of `x` along it, sorted by their first
    elements, then by the second and so on; parts with NaN all differ, as in NumPy.

    >>> import symc.tensor as T
    >>> values, counts = T.unique(T.constant([3, 1, 3]), return_counts=True)
    >>> values.eval(), counts.eval()
    (array([1, 3]), array([1, 2]))
    >>> T.unique(T.constant([[2, 1], [1, 5], [2, 1]]), axis=0).eval()
    array([[1, 5],
           [2, 1]])
    """
    x = sortable("unique", x)
    order: Tensor | None
    if axis is None:
        flat, shape = ravel(x), shape_of(x)
        order = argsort(flat) if return_index or return_inverse else None
        values = sort(flat) if order is None else flat[order]
        first = _is_first(values, equal_nan=equal_nan)
        results = [values[first]]
    else:
        axis = normal_axis("unique", axis, x.ndim, x)
        parts = moveaxis(x, axis, 0)
        count, rest = parts.type.shape[0], dims.product(parts.type.shape[1:])
        rows, shape = reshape(parts, (count, rest)), (public(count),)
        order = RowOrder()(rows)
        first = _is_first(rows[order], equal_nan=False)
        results = [take(x, order[first], axis)]
    if return_index and order is not None:
        results.append(order[first])
    if return_inverse and order is not None:
        rank = cumsum(cast_to(first, INT64)) - 1
        results.append(reshape(rank[InverseOrder()(order)], shape))
    if return_counts:
        starts = flatnonzero(first)
        ends = concatenate([starts[1:], reshape(length(first, 0), (1,))])
        results.append(ends[: length(starts, 0)] - starts)
    return results[0] if len(results) == 1 else tuple(results)


def _is_first(values: Tensor, *, equal_nan: bool) -> Tensor:
    """Which of sorted elements, or rows, differ from the one before."""
    places = arange(length(values, 0))
    before = values[OPERATORS["maximum"](places - 1, 0)]
    differs: Tensor = OPERATORS["ne"](values, before)
    if equal_nan and values.dtype.is_float:
        differs = differs & ~(isnan(values) & isnan(before))
    if values.ndim > 1:
        differs = METHODS["any"](differs, axis=1)
    return OPERATORS["eq"](places, 0) | differs


def bincount(
    x: TensorLike, weights: TensorLike | None = None, minlength: int | Tensor = 0
) -> Tensor:
    """How often each of 0, 1, 2 ... occurs in a vector of integers, as int64; or the sums of their
    `weights`, as float64. There are as many as the largest element needs, and `minlength` at least.

    Raises `ValueError` for negative elements, and a negative `minlength`.

    >>> import symc.tensor as T
    >>> T.bincount(T.constant([1, 3, 1])).eval()
    array([0, 2, 0, 1])
    """
    x = vector("bincount", x)
    if (not x.dtype.is_integer and x.dtype is not BOOL) or x.dtype is UINT64:
        raise DTypeError(f"bincount needs integers that fit into int64\n  given  {describe(x)}")
    if isinstance(minlength, int) and minlength < 0:
        raise ValueError(f"bincount: minlength must not be negative, and it is {minlength}")
    kind = "int64" if weights is None else "float64"
    places = cast_to(x, INT64)
    if isinstance(minlength, int) and _has_all(minlength, x.dtype):
        return _counted(places, weights, zeros((minlength,), dtype=kind), "bincount")
    least = cast_to(as_tensor(minlength), INT64)
    if not isinstance(minlength, int):
        least = not_negative(least, "bincount: minlength must not be negative")
    count = OPERATORS["maximum"](_greatest(places), least - 1) + 1
    target = zeros((count,), dtype=kind)
    return _counted(Below()(places, target), weights, target, "bincount")


def _has_all(length: int, dtype: DType) -> bool:
    """Whether each number of a dtype is a place below a length: those of a picture, below 256."""
    return dtype.kind in ("bool", "uint") and 1 << dtype.bits <= length


def _greatest(x: Tensor) -> Tensor:
    """The largest element, of which none is negative, or -1 if there are none.

    Of integers that were made longer it is sought before that: a register holds more of them.
    """
    given = x
    if isinstance(x.op, Cast) and x.args[0].dtype.is_integer and x.args[0].dtype.bits < 64:
        (given,) = x.args
    # Any negative elements are the largest as unsigned ones.
    wrapped = cast_to(given, BY_NAME[f"uint{given.dtype.bits}"])
    signed = cast_to(reduce_over("max", wrapped, (0,), allow_empty=True), given.dtype)
    most = cast_to(signed, INT64)
    if given.dtype.kind == "int":
        natural = OPERATORS["ge"](signed, 0)
        most = Checked("bincount: the elements must not be negative")(most, natural)
    return where(OPERATORS["eq"](length(x, 0), 0), -1, most)


def holds_all(length: Dim, x: Tensor) -> bool:
    """Whether a length is that of `bincount`'s result for `x`: each element has a place there."""
    most, found = dim_of(_greatest(x)), list(dims.atoms(length))
    if len(found) != 1 or not isinstance(found[0], dims.Extreme):
        return False
    atom = found[0]
    is_next = length == dims.add(dims.symbolic(atom), 1)
    return is_next and atom.kind == "max" and most in (atom.left, atom.right)


def _counted(places: Tensor, weights: TensorLike | None, target: Tensor, label: str) -> Tensor:
    """How often places occur, or the sums of their weights, added to `target`."""
    if weights is None:
        return inc_subtensor(target[places], 1)
    weights = cast_to(as_tensor(weights), target.dtype)
    lengths = weights.type.shape + places.type.shape
    if weights.ndim != 1 or (all(isinstance(n, int) for n in lengths) and len(set(lengths)) > 1):
        raise ShapeMismatch(
            f"{label}: the weights must have the shape of what is counted\n"
            f"  weights  {describe(weights)}\n  counted  {describe(places)}"
        )
    weights = specify_length(weights, 0, places.type.shape[0])  # one does not serve for all
    return inc_subtensor(target[places], weights)


def histogram(
    a: TensorLike,
    bins: int | TensorLike = 10,
    range: tuple[Any, Any] | None = None,
    density: bool = False,
    weights: TensorLike | None = None,
) -> tuple[Tensor, Tensor]:
    """How many elements are in each bin (or the sums of their `weights`), and the bins' edges.

    `bins` is a number of bins of equal width over `range` (by default from the least element to
    the greatest), or the edges, which must not decrease, nor be NaN. The last bin has its right
    edge in it. Between fewer than two edges there are no bins. `density` divides by the total and
    the widths. Raises `ValueError`, at run time if need be, for other edges, for a range that is
    not finite, and for one that has no room for so many bins of finite width.

    >>> import symc.tensor as T
    >>> counts, edges = T.histogram(T.constant([1.0, 2.0, 1.0]), bins=2)
    >>> counts.eval(), edges.eval()
    (array([2, 1]), array([1. , 1.5, 2. ]))
    """
    a = ravel(sortable("histogram", a))
    edges = edges_of(a, bins, range)
    places, inside = bin_of(a, edges, uniform=isinstance(bins, int | np.integer))
    spare = 0 if has_bins(edges) else 2  # where there are no bins, what is in none has a place
    room = length(edges, 0) - 1 + spare
    if weights is None:
        one = cast_to(inside, INT64)
        counts = inc_subtensor(zeros((room,), dtype="int64")[places], one)
    else:
        given = ravel(as_tensor(weights))
        target = zeros((room,), dtype=given.dtype)
        counts = _counted(places, where(inside, given, 0), target, "histogram")
    counts = counts[:-spare] if spare else counts
    if density:
        widths = edges[1:] - edges[:-1]
        counts = cast_to(counts, FLOAT64) / widths / total(counts)
    return counts, edges


def edges_of(a: Tensor, bins: int | TensorLike, range: tuple[Any, Any] | None) -> Tensor:
    """The edges of so many bins of equal width, or those given."""
    if not isinstance(bins, int | np.integer):
        edges = vector("histogram", bins)
        return rising(edges, "histogram: the edges must not decrease, nor be NaN")
    if bins < 1:
        raise ValueError(f"histogram: there must be at least one bin, not {bins}")
    count = int(cast("int", bins))
    dtype = a.dtype if a.dtype.is_float else promote(a.dtype, FLOAT64)
    if range is None:
        low, high = _ends(cast_to(a, dtype))
    else:
        low, high = _given_ends(range)
        dtype = promote(dtype, *(as_tensor(end).dtype for end in range if not _is_plain(end)))
    same = OPERATORS["eq"](low, high)
    low, high = where(same, low - 0.5, low), where(same, high + 0.5, high)
    # As NumPy's linspace rounds them, in the dtype of the ends: steps from the low end, and the
    # high end itself.
    own = promote(low.dtype, high.dtype)
    steps = arange(count, dtype=own.name) * cast_to((high - low) / count, own)
    inner = steps + cast_to(low, own)
    edges = concatenate([cast_to(inner, dtype), reshape(cast_to(high, dtype), (1,))])
    few = f"histogram: the range is too small or too large for {count} bins of finite width"
    return rising(edges, few, strictly=True)


def _is_plain(number: Any) -> bool:
    """Whether this is a number of Python's own, which has no dtype."""
    return isinstance(number, int | float) and not isinstance(number, np.generic)


def _given_ends(range: tuple[Any, Any]) -> tuple[Tensor, Tensor]:
    """The ends of a range, as floats; numbers are float64, whatever they are ends for."""
    low, high = (as_float(as_tensor(end)) for end in range)
    text = "histogram: the range must not decrease, and be finite"
    first, last = constant_value(low), constant_value(high)
    if first is None or last is None:
        finite = isfinite(low) & isfinite(high)
        return Checked(text)(low, finite & OPERATORS["le"](low, high)), high
    if not (np.isfinite([first, last]).all() and first <= last):
        raise ValueError(f"{text}: {range}")
    return low, high


def _ends(a: Tensor) -> tuple[Tensor, Tensor]:
    """The least and the greatest element; 0 and 1 if there is none."""
    low = smallest(concatenate([a, cast_to(as_tensor([np.inf]), a.dtype)]))
    high = largest(concatenate([a, cast_to(as_tensor([-np.inf]), a.dtype)]))
    empty = OPERATORS["eq"](length(a, 0), 0)
    low, high = where(empty, 0.0, low), where(empty, 1.0, high)
    low, high = cast_to(low, a.dtype), cast_to(high, a.dtype)
    fine = isfinite(low) & isfinite(high)
    checked = Checked("histogram: the range of the elements is not finite; give range=")
    return checked(low, fine), checked(high, fine)
