"""Choosing elements: by index along an axis, by mask, by number; and where a mask is true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from symc.codegen.dtypes import BOOL, INT64
from symc.config import config
from symc.errors import DTypeError, RankError, ShapeMismatch
from symc.graph.inputs import as_tensor, scalar_constant
from symc.graph.node import METHODS, Tensor, TensorLike
from symc.graph.types import as_dtype
from symc.tensor.broadcast import broadcast_shape, describe, stretched_together
from symc.tensor.build import arange
from symc.tensor.elementwise import cast_to
from symc.tensor.gather import gather
from symc.tensor.index import getitem
from symc.tensor.lengths import index_of, length, normal_axis
from symc.tensor.logic import eq, lt, ne, where
from symc.tensor.math import maximum, minimum, mod
from symc.tensor.positions import every_position, mask_positions
from symc.tensor.reshape import ravel
from symc.tensor.shape import concatenate, stack
from symc.tensor.views import broadcast_to, expand_dims

__all__ = [
    "argwhere", "choose", "compress", "extract", "flatnonzero", "nonzero", "one_hot", "select",
    "take", "take_along_axis", "to_one_hot",
]  # fmt: skip

# The treatment of an index out of range: an error, counting on from the other end, the
# nearest index in range.
OutOfRange: TypeAlias = Literal["raise", "wrap", "clip"]


def take(
    a: TensorLike, indices: TensorLike, axis: int | None = None, mode: OutOfRange = "raise"
) -> Tensor:
    """The elements of `a` at `indices` along an axis: ``a[:, indices]`` for axis 1.

    Without an axis, of all elements in row-major order. The result has the axes of `indices` where
    `a` has that axis. Indexes out of range raise `BadIndex`, or with ``mode="wrap"`` count on from
    the other end, or with ``mode="clip"`` become the nearest in range. On an axis of length 0 there
    is none, which raises; with "clip" nothing is taken if another axis is known to be 0.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> T.take(x, [[0, 5]], mode="clip").eval({x: [1.0, 2.0, 3.0]})
    array([[1., 3.]])
    """
    a = as_tensor(a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = normal_axis("take", axis, a.ndim, a)
    if mode == "clip" and 0 in a.type.shape[:axis] + a.type.shape[axis + 1 :]:
        # NumPy minds no index where there is nothing to take: one more on the axis costs nothing.
        last = tuple(1 if at == axis else n for at, n in enumerate(a.type.shape))
        a = concatenate([a, broadcast_to(scalar_constant(0, a.dtype), last)], axis)
    index = _in_range(_integers("take", indices), length(a, axis), mode)
    return getitem(a, (slice(None),) * axis + (index,))


def _integers(label: str, indices: TensorLike) -> Tensor:
    index = as_tensor(indices)
    if index.dtype.is_float and 0 not in index.type.shape:
        raise DTypeError(f"{label}: indexes must be integers\n  given  {describe(index)}")
    return index_of(index)


def _in_range(index: Tensor, n: Tensor, mode: OutOfRange) -> Tensor:
    match mode:
        case "raise":
            return index
        case "wrap":
            # Nothing can be taken from an axis of length 0; that raises, so 1 will do there.
            return mod(index, maximum(n, 1))
        case "clip":
            return maximum(minimum(index, n - 1), 0)
    raise ValueError(f"mode must be 'raise', 'wrap' or 'clip', not {mode!r}")


def take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None = -1) -> Tensor:
    """For each place, the element of `arr` at that place but with the given index along `axis`.

    `indices` has as many axes as `arr`; the others broadcast. With ``axis=None``, `arr` is
    flattened first. Results of `argmax` with keepdims and of `argsort` fit.

    >>> import symc.tensor as T
    >>> x = T.matrix("x")
    >>> i = T.argmax(x, axis=1, keepdims=True)
    >>> T.take_along_axis(x, i, axis=1).eval({x: [[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]]})
    array([[5.],
           [7.]])
    """
    arr, index = as_tensor(arr), _integers("take_along_axis", indices)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = normal_axis("take_along_axis", axis, arr.ndim, arr)
    if index.ndim != arr.ndim:
        raise RankError(
            "take_along_axis: the indexes must have as many axes as what they index\n"
            f"  given  {describe(arr)}\n  index  {describe(index)}"
        )
    indexes = {axis: index}
    for other in range(arr.ndim):
        if other != axis:
            indexes[other] = _along(every_position(arr.type.shape[other]), other, arr.ndim)
    return gather(arr, indexes, 0)


def _along(vector: Tensor, axis: int, ndim: int) -> Tensor:
    return expand_dims(vector, tuple(other for other in range(ndim) if other != axis))


def one_hot(x: TensorLike, num_classes: int | Tensor, dtype: Any = None, axis: int = -1) -> Tensor:
    """For each number in `x`, a vector with 1 at that position and 0 elsewhere, on a new axis.

    The new axis has length `num_classes`; numbers outside it give zeros only. `dtype` is
    `config.floatX` unless given.

    >>> import symc.tensor as T
    >>> T.one_hot([0, 2], 3).eval()
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    x = _integers("one_hot", x)
    axis = normal_axis("one_hot", axis, x.ndim + 1, x)
    classes = _along(arange(num_classes), axis, x.ndim + 1)
    same = eq(expand_dims(x, axis), classes)
    return cast_to(same, as_dtype(config.floatX if dtype is None else dtype))


def to_one_hot(y: TensorLike, nb_class: int | Tensor, dtype: Any = None) -> Tensor:
    """Theano's name for `one_hot`: for each class a row with a 1, by default of `config.floatX`.

    Raises DTypeError unless `y` has integers.

    >>> import symc.tensor as T
    >>> T.to_one_hot([0, 2], 3).eval()
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    return one_hot(y, nb_class, dtype)


# --- masks ----------------------------------------------------------------------------------------


def _truth(x: TensorLike) -> Tensor:
    x = as_tensor(x)
    return x if x.dtype is BOOL else ne(x, 0)


def nonzero(a: TensorLike) -> tuple[Tensor, ...]:
    """Where `a` is not zero: one int64 vector of positions for each axis, in row-major order.

    How many there are is known at run time only. ``x[T.nonzero(m)]`` is ``x[m]`` for a mask.

    >>> import symc.tensor as T
    >>> x = T.matrix("x")
    >>> T.nonzero(x)[1].eval({x: [[0.0, 2.0], [3.0, 0.0]]})
    array([1, 0])
    """
    mask = _truth(a)
    if not mask.ndim:
        raise RankError(f"nonzero needs at least one axis\n  given  {describe(mask)}")
    return tuple(mask_positions(mask))


def flatnonzero(a: TensorLike) -> Tensor:
    """Where the elements of `a` in row-major order are not zero, as an int64 vector.

    >>> import symc.tensor as T
    >>> T.flatnonzero([0, 5, 0, 6]).eval()
    array([1, 3])
    """
    return nonzero(ravel(as_tensor(a)))[0]


def argwhere(a: TensorLike) -> Tensor:
    """Where `a` is not zero: a matrix with one row of positions for each such element.

    int64, and as many rows as there are such elements, which is known when it runs.

    >>> import symc.tensor as T
    >>> T.argwhere([[0, 5], [6, 0]]).eval()
    array([[0, 1],
           [1, 0]])
    """
    return stack(nonzero(a), axis=1)


def compress(condition: TensorLike, a: TensorLike, axis: int | None = None) -> Tensor:
    """The elements of `a` along an axis where the vector `condition` is true.

    Without an axis, of all elements in row-major order. `condition` may be shorter than the axis.

    >>> import symc.tensor as T
    >>> T.compress([True, False, True], [1, 2, 3]).eval()
    array([1, 3])
    """
    condition = as_tensor(condition)
    if condition.ndim != 1:
        raise RankError(f"compress: the condition must be a vector\n  given  {describe(condition)}")
    return take(a, flatnonzero(condition), axis)


def extract(condition: TensorLike, arr: TensorLike) -> Tensor:
    """The elements of `arr`, in row-major order, where the condition is true.

    Both are flattened. How many elements it gives is known when it runs.

    >>> import symc.tensor as T
    >>> T.extract([[True, False], [False, True]], [[1, 2], [3, 4]]).eval()
    array([1, 4])
    """
    return compress(ravel(as_tensor(condition)), arr)


# --- choices --------------------------------------------------------------------------------------


def choose(a: TensorLike, choices: Any, mode: OutOfRange = "raise") -> Tensor:
    """At each place, the element of the choice that `a` has the number of.

    `choices` is a sequence of tensors that broadcast together and with `a`, or one tensor whose
    first axis counts them. Numbers out of range, negative ones too, raise `BadIndex`; or see `take`
    for `mode`.

    >>> import symc.tensor as T
    >>> T.choose([0, 1, 0], [T.constant([1, 2, 3]), 10]).eval()
    array([ 1, 10,  3])
    """
    index = _integers("choose", a)
    if isinstance(choices, Tensor):
        if not choices.ndim:
            raise RankError(f"choose: the choices need an axis\n  given  {describe(choices)}")
        table, shape = choices, (1, *choices.type.shape[1:])
    else:
        given = [as_tensor(choice) for choice in choices]
        if not given:
            raise ValueError("choose: there are no choices")
        index, *given = stretched_together("choose", [index, *given])
        shape = (1, *broadcast_shape("choose", given))
        table = stack([broadcast_to(choice, shape[1:]) for choice in given])
    count = length(table, 0)
    index = _in_range(index, count, mode)
    if mode == "raise":  # a negative number is no choice, so it must not count from the end
        index = where(lt(index, 0), index - count, index)
    return _choose(table, index)


def _choose(table: Tensor, index: Tensor) -> Tensor:
    rank = max(table.ndim - 1, index.ndim)
    if table.ndim - 1 < rank:
        table = expand_dims(table, tuple(range(1, 1 + rank - (table.ndim - 1))))
    if index.ndim < rank:
        index = expand_dims(index, tuple(range(rank - index.ndim)))
    indexes = {0: index}
    for axis, n in enumerate(table.type.shape[1:], 1):
        zero = scalar_constant(0, INT64)
        indexes[axis] = zero if n == 1 else _along(every_position(n), axis - 1, rank)
    return gather(table, indexes, 0)


def select(
    condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0
) -> Tensor:
    """At each place, the element of the first choice whose condition is true, or `default`.

    Conditions, choices and the default broadcast; the dtype is NumPy's for the choices. Raises
    ValueError unless there is one choice for each condition.

    >>> import symc.tensor as T
    >>> x = T.constant([-2, 0, 5])
    >>> T.select([x < 0, x > 3], [-x, x * 10], default=1).eval()
    array([ 2,  1, 50])
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ShapeMismatch(
            f"select: {len(condlist)} conditions for {len(choicelist)} choices; "
            "both need the same number, at least one"
        )
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = where(condition, choice, result)
    return as_tensor(result)


def _compress_method(a: TensorLike, condition: TensorLike, axis: int | None = None) -> Tensor:
    return compress(condition, a, axis)


for _method in (choose, nonzero, take):
    METHODS[_method.__name__] = _method
METHODS["compress"] = _compress_method
