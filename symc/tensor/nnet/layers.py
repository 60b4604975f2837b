"""Small parts of networks: embeddings and dropout."""

from __future__ import annotations

from typing import Any, Protocol

from symc.errors import BadIndex, DTypeError, RankError
from symc.graph import dims
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import shape_of, tensor_of
from symc.tensor.logic import where
from symc.tensor.math import as_float
from symc.tensor.views import expand_dims

__all__ = ["dropout", "embedding"]


class RandomSource(Protocol):
    """Where random numbers come from, such as a `T.random.RandomStream`."""

    def bernoulli(self, p: Any = ..., size: Any = ..., dtype: Any = ...) -> Tensor:
        """True with probability `p`."""
        ...


def dropout(x: TensorLike, rate: float, stream: RandomSource, *, shape: Any = None) -> Tensor:
    """`x` with elements set to 0 with probability `rate`, and the others divided by ``1 - rate``.

    So the mean stays the same, and a network is used without. `stream` says which are dropped;
    with `shape`, whole parts are: lengths of 1 there, such as ``(n, c, 1, 1)`` for whole channels.
    Raises `ValueError` for a rate that is not from 0 to below 1, `TypeError` for another `stream`.

    >>> import symc.tensor as T
    >>> T.nnet.dropout(T.ones(6), 0.5, T.random.RandomStream(3)).eval()
    array([2., 2., 2., 0., 0., 0.])
    """
    x = as_float(as_tensor(x))
    if not 0 <= rate < 1:
        raise ValueError(f"dropout: rate must be from 0 to below 1, not {rate!r}")
    if not hasattr(stream, "bernoulli"):
        raise TypeError(f"dropout: stream must be a T.random.RandomStream(seed), not {stream!r}")
    if rate == 0:
        return x
    kept = stream.bernoulli(1 - rate, size=shape_of(x) if shape is None else shape, dtype="bool")
    return where(kept, x / cast_to(1 - rate, x.dtype), 0)


def embedding(
    weights: TensorLike, indexes: TensorLike, *, padding_index: int | None = None
) -> Tensor:
    """The rows of a matrix with these numbers; the result has the axes of `indexes` and one more.

    The row `padding_index` counts as zeros: padding of short sequences, which is not learned.
    Negative numbers, of padding as well, count from the end. Raises `IndexError` for numbers that
    are out of range, when it runs if need be.

    >>> import symc.tensor as T
    >>> w = T.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> T.nnet.embedding(w, [1, 0], padding_index=0).eval()
    array([[3., 4.],
           [0., 0.]])
    """
    w, i = as_tensor(weights), as_tensor(indexes)
    if w.ndim != 2:
        raise RankError(f"embedding: weights must be a matrix\n  given  {describe(w)}")
    if not i.dtype.is_integer:
        raise DTypeError(f"embedding: indexes must be integers\n  given  {describe(i)}")
    rows = w[i]
    if padding_index is None:
        return rows
    is_padding = OPERATORS["eq"](_from_start(i, w), _from_start(padding_index, w))
    return where(expand_dims(is_padding, i.ndim), 0, rows)


def _from_start(given: Tensor | int, w: Tensor) -> Tensor | int:
    """The numbers of rows, of which those below 0 count from the end."""
    count = w.type.shape[0]
    if isinstance(given, Tensor):
        if given.dtype.kind == "uint":
            return given
        return where(OPERATORS["lt"](given, 0), given + tensor_of(count), given)
    if isinstance(count, int) and not -count <= given < count:
        raise BadIndex(
            f"embedding: padding_index is {given}, but there are {count} rows\n"
            f"  weights  {describe(w)}"
        )
    return given if given >= 0 else tensor_of(dims.add(count, given))
