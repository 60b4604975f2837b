"""Sums of segments, tables of confusions, and scans by a function that is associative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from symc.errors import DTypeError, LoopError, RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.tensor.along import flip
from symc.tensor.assign import inc_subtensor
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros
from symc.tensor.checked import Below
from symc.tensor.elementwise import Elementwise, cast_to
from symc.tensor.lengths import dim_of, normal_axis
from symc.tensor.logic import eq, ge, logical_and, lt, where
from symc.tensor.products import dot
from symc.tensor.reshape import reshape
from symc.tensor.shape import concatenate, stack
from symc.tensor.sorting.counting import unique
from symc.tensor.sorting.order import topk
from symc.tensor.views import expand_dims, moveaxis

__all__ = ["associative_scan", "confusion_matrix", "segment_sum", "stacklists", "top_k"]

Elements = TypeVar("Elements", Tensor, tuple[Tensor, ...])


def top_k(operand: TensorLike, k: int | Tensor, *, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The `k` largest elements along an axis, largest first, and their indexes: JAX's `topk`.

    >>> import symc.tensor as T
    >>> values, places = T.top_k([3.0, 1.0, 7.0], 2)
    >>> values.eval(), places.eval()
    (array([7., 3.]), array([2, 0]))
    """
    return topk(operand, k, axis)


def segment_sum(data: TensorLike, segment_ids: TensorLike, num_segments: int | Tensor) -> Tensor:
    """Sums of the rows of `data` that have the same number in `segment_ids`, in any order.

    The result has `num_segments` rows; rows with a number outside count nowhere. Raises
    `DTypeError` when the numbers are no integers and `RankError` when they are no vector.

    >>> import symc.tensor as T
    >>> T.segment_sum([1.0, 2.0, 4.0], [0, 1, 0], 3).eval()
    array([5., 2., 0.])
    """
    data, ids = as_tensor(data), as_tensor(segment_ids)
    if ids.dtype.is_inexact or ids.dtype.kind == "bool":
        raise DTypeError(f"segment_sum: numbers of segments are integers\n  given  {describe(ids)}")
    if ids.ndim != 1 or data.ndim == 0:
        raise RankError(
            "segment_sum: each row of the data has one number\n"
            f"  data  {describe(data)}\n  segment_ids  {describe(ids)}"
        )
    # Rows that count nowhere are added up in one row more, which is left out.
    row = (1, *data.shape[1:])
    padded = concatenate([zeros((num_segments, *row[1:]), data.dtype), zeros(row, data.dtype)])
    every = zeros((padded.shape[0],), data.dtype)
    places = Below()(_places(cast_to(ids, "int64"), as_tensor(num_segments)), every)
    return inc_subtensor(padded[places], data)[:-1]


def _places(ids: Tensor, count: Tensor) -> Tensor:
    """The rows of some numbers of segments: that after all others for numbers outside."""
    return where(logical_and(ge(ids, 0), lt(ids, count)), ids, count)


def holds_segments(length: Dim, x: Tensor) -> bool:
    """Whether a length is that of rows for `x`, numbers of segments, and one more."""
    if not isinstance(x.op, Elementwise) or x.op.name != "where" or x.args[2].ndim:
        return False
    _, ids, count = x.args
    return x is _places(ids, count) and length == dims.add(dim_of(count), 1)


def stacklists(arg: Any) -> Tensor:
    """One tensor of nested lists of tensors, which become its first axes.

    >>> import symc.tensor as T
    >>> T.stacklists([[1.0, 2.0], [3.0, 4.0]]).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    if isinstance(arg, list | tuple):
        return stack([stacklists(each) for each in cast("Sequence[Any]", arg)])
    return as_tensor(arg)


def confusion_matrix(actual: TensorLike, pred: TensorLike) -> tuple[Tensor, Tensor]:
    """How often each value of `actual` met each of `pred`, and the values in order.

    Rows are those of `actual`. Both are vectors of one length; raises `RankError` otherwise.

    >>> import symc.tensor as T
    >>> table, order = T.confusion_matrix([0, 1, 1], [0, 0, 1])
    >>> table.eval(), order.eval()
    (array([[1, 0],
           [1, 1]]), array([0, 1]))
    """
    actual, pred = as_tensor(actual), as_tensor(pred)
    if actual.ndim != 1 or pred.ndim != 1:
        raise RankError(
            "confusion_matrix: both are vectors\n"
            f"  actual  {describe(actual)}\n  pred  {describe(pred)}"
        )
    order = unique(concatenate([actual, pred]))
    rows, columns = (cast_to(eq(expand_dims(x, 1), order), "int64") for x in (actual, pred))
    return dot(rows.T, columns), order


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Elements, reverse: bool = False, axis: int = 0
) -> Elements:
    """All partial results of an associative function along an axis, in log(n) steps.

    `fn` combines two tensors, or two tuples of tensors if `elems` is one, elementwise along the
    axis: ``fn(fn(a, b), c) == fn(a, fn(b, c))``. The length of the axis has to be known. With
    `reverse` it starts at the end. After Blelloch, "Prefix sums and their applications" (1990).
    Raises `LoopError` when the length is not known and `ShapeMismatch` when lengths differ.

    >>> import symc.tensor as T
    >>> T.associative_scan(lambda a, b: a * b, T.constant([1.0, 2.0, 3.0, 4.0])).eval()
    array([ 1.,  2.,  6., 24.])
    """
    single = isinstance(elems, Tensor)
    given = [elems] if isinstance(elems, Tensor) else [as_tensor(each) for each in elems]
    rows = [moveaxis(x, normal_axis("associative_scan", axis, x.ndim, x), 0) for x in given]
    lengths = {x.type.shape[0] for x in rows}
    if not all(isinstance(n, int) for n in lengths):
        raise LoopError(
            "associative_scan: the length has to be known when the graph is built; use symc.scan\n"
            f"  given  {describe(given[0])}"
        )
    if len(lengths) > 1:
        raise ShapeMismatch(f"associative_scan: lengths differ: {sorted(map(str, lengths))}")

    def combined(a: Sequence[Tensor], b: Sequence[Tensor]) -> list[Tensor]:
        result: Any = fn(a[0], b[0]) if single else fn(tuple(a), tuple(b))
        return [as_tensor(result)] if single else [as_tensor(each) for each in result]

    rows = [flip(x, 0) for x in rows] if reverse else rows
    rows = _scanned(combined, rows)
    rows = [flip(x, 0) for x in rows] if reverse else rows
    found = [moveaxis(x, 0, axis) for x in rows]
    return cast("Elements", found[0] if single else tuple(found))


def _scanned(
    combined: Callable[[Sequence[Tensor], Sequence[Tensor]], list[Tensor]], rows: list[Tensor]
) -> list[Tensor]:
    """Pairs are combined, scanned, and give the odd rows; one step more gives the even ones."""
    length = rows[0].type.shape[0]
    if not isinstance(length, int) or length < 2:
        return rows
    pairs = combined([x[: length - 1 : 2] for x in rows], [x[1::2] for x in rows])
    odd = _scanned(combined, pairs)
    count = length // 2
    if length > 2:
        before = [x[: (length - 1) // 2] for x in odd]
        later = combined(before, [x[2::2] for x in rows])
        even = [concatenate([x[:1], y]) for x, y in zip(rows, later, strict=True)]
    else:
        even = [x[:1] for x in rows]
    return [_woven(e, o, count, length) for e, o in zip(even, odd, strict=True)]


def _woven(even: Tensor, odd: Tensor, count: int, length: int) -> Tensor:
    """Rows in turn of one and of the other, which may have one less."""
    mixed = reshape(stack([even[:count], odd], 1), (2 * count, *even.shape[1:]))
    return mixed if length == 2 * count else concatenate([mixed, even[count:]])
