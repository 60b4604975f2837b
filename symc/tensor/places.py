"""Positions as tensors: of diagonals and triangles, of grids, of elements in row-major order.

And writing at positions, where NumPy writes into an array: the result is a new tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from symc.codegen.dtypes import BOOL, INT64
from symc.config import config
from symc.errors import DTypeError, RankError
from symc.graph import dims
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.tensor.assign import set_subtensor
from symc.tensor.broadcast import describe
from symc.tensor.build import arange, zeros
from symc.tensor.checked import Checked
from symc.tensor.diagonals import tri
from symc.tensor.lengths import as_dim, as_dims, index_of, public, tensor_of
from symc.tensor.logic import logical_and, logical_not
from symc.tensor.math import clip
from symc.tensor.reshape import ravel, reshape
from symc.tensor.selection import OutOfRange, flatnonzero, nonzero, take_along_axis
from symc.tensor.shape import stack
from symc.tensor.views import broadcast_to, expand_dims

__all__ = [
    "diag_indices", "diag_indices_from", "fill_diagonal", "fromfunction", "indices", "ix_",
    "put_along_axis", "ravel_multi_index", "tril_indices", "tril_indices_from", "triu_indices",
    "triu_indices_from", "unravel_index",
]  # fmt: skip

_T = TypeVar("_T")

# --- triangles and diagonals ----------------------------------------------------------------------


def tril_indices(n: Any, k: TensorLike = 0, m: Any = None) -> tuple[Tensor, Tensor]:
    """Rows and columns of the elements on and below diagonal `k` of an n by m matrix (m: n).

    >>> import symc.tensor as T
    >>> rows, columns = T.tril_indices(2)
    >>> rows.eval(), columns.eval()
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    rows, columns = nonzero(tri(n, m, k, BOOL))
    return rows, columns


def triu_indices(n: Any, k: TensorLike = 0, m: Any = None) -> tuple[Tensor, Tensor]:
    """Rows and columns of the elements on and above diagonal `k`, as `tril_indices`.

    >>> import symc.tensor as T
    >>> rows, columns = T.triu_indices(3, k=1)
    >>> rows.eval(), columns.eval()
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    rows, columns = nonzero(logical_not(tri(n, m, as_tensor(k) - 1, BOOL)))
    return rows, columns


def tril_indices_from(arr: TensorLike, k: TensorLike = 0) -> tuple[Tensor, Tensor]:
    """`tril_indices` for the lengths of a matrix: two int64 vectors.

    Raises RankError for tensors that are no matrices.

    >>> import symc.tensor as T
    >>> x = T.constant([[1, 2], [3, 4]])
    >>> x[T.tril_indices_from(x)].eval()
    array([1, 3, 4])
    """
    n, m = _matrix("tril_indices_from", arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr: TensorLike, k: TensorLike = 0) -> tuple[Tensor, Tensor]:
    """`triu_indices` for the lengths of a matrix: two int64 vectors.

    Raises RankError for tensors that are no matrices.

    >>> import symc.tensor as T
    >>> x = T.constant([[1, 2], [3, 4]])
    >>> x[T.triu_indices_from(x)].eval()
    array([1, 2, 4])
    """
    n, m = _matrix("triu_indices_from", arr)
    return triu_indices(n, k, m)


def _matrix(label: str, arr: TensorLike) -> tuple[int | Tensor, int | Tensor]:
    x = as_tensor(arr)
    if x.ndim != 2:
        raise RankError(f"{label}: a matrix is needed\n  given  {describe(x)}")
    n, m = map(public, x.type.shape)
    return n, m


def diag_indices(n: Any, ndim: int = 2) -> tuple[Tensor, ...]:
    """The places of the main diagonal of a tensor whose `ndim` axes all have length n.

    Each is an int64 vector; together they are an index.

    >>> import symc.tensor as T
    >>> x = T.constant([[1, 2], [3, 4]])
    >>> x[T.diag_indices(2)].eval()
    array([1, 4])
    """
    return (arange(public(as_dim(n))),) * ndim


def diag_indices_from(arr: TensorLike) -> tuple[Tensor, ...]:
    """`diag_indices` for a tensor, whose axes are as long as its first.

    Raises RankError for tensors with fewer than two axes.

    >>> import symc.tensor as T
    >>> x = T.constant([[1, 2], [3, 4]])
    >>> x[T.diag_indices_from(x)].set(0).eval()
    array([[0, 2],
           [3, 0]])
    """
    x = as_tensor(arr)
    if x.ndim < 2:
        raise RankError(f"diag_indices_from: at least 2 axes are needed\n  given  {describe(x)}")
    return diag_indices(public(x.type.shape[0]), x.ndim)


def fill_diagonal(a: TensorLike, val: TensorLike, wrap: bool = False) -> Tensor:
    """`a` with `val` on its main diagonal: a scalar, or a vector as long as the diagonal.

    `a` is a matrix, or has more axes of equal lengths. With `wrap`, the diagonal of a matrix that
    is taller than wide begins anew after each square. A new tensor: `a` stays as it is.

    >>> import symc.tensor as T
    >>> T.fill_diagonal(T.ones((2, 2)), 5.0).eval()
    array([[5., 1.],
           [1., 5.]])
    """
    x = as_tensor(a)
    if x.ndim < 2:
        raise RankError(f"fill_diagonal: at least 2 axes are needed\n  given  {describe(x)}")
    step: dims.Dim = 1
    for axis in range(1, x.ndim):
        step = dims.add(step, dims.product(x.type.shape[axis:]))
    width = x.type.shape[-1]
    end = None if wrap or x.ndim > 2 else public(dims.mul(width, width))
    diagonal = ravel(x)[slice(None, end, public(step))]
    return reshape(set_subtensor(diagonal, val), x.type.shape)


# --- grids ----------------------------------------------------------------------------------------


def indices(
    dimensions: Sequence[Any], dtype: Any = INT64, sparse: bool = False
) -> Tensor | tuple[Tensor, ...]:
    """The positions along each axis of a shape: one tensor, in which part i goes with axis i.

    With `sparse`, a tuple of tensors instead, each of length 1 along all axes but its own.

    >>> import symc.tensor as T
    >>> T.indices((2, 2))[1].eval()
    array([[0, 1],
           [0, 1]])
    """
    shape = as_dims(dimensions)
    grids = [_counted(n, axis, len(shape), dtype) for axis, n in enumerate(shape)]
    if sparse:
        return tuple(grids)
    if not grids:
        return zeros((0,), dtype)
    return stack([broadcast_to(grid, shape) for grid in grids])


def _counted(n: dims.Dim, axis: int, ndim: int, dtype: Any) -> Tensor:
    """0, 1, 2 ... along one of several axes."""
    others = tuple(other for other in range(ndim) if other != axis)
    return expand_dims(arange(public(n), dtype=dtype), others)


def fromfunction(
    function: Callable[..., TensorLike], shape: Sequence[Any], dtype: Any = None
) -> Tensor:
    """The tensor of ``function(i, j, ...)`` for the positions in a shape, given as tensors.

    Positions are of dtype `config.floatX` unless one is given.

    >>> import symc.tensor as T
    >>> T.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype="int64").eval()
    array([[ 0,  1,  2],
           [10, 11, 12]])
    """
    lengths = as_dims(shape)
    kind = config.floatX if dtype is None else dtype
    grids = [_counted(n, axis, len(lengths), kind) for axis, n in enumerate(lengths)]
    return broadcast_to(function(*grids), lengths)


def ix_(*args: TensorLike) -> tuple[Tensor, ...]:
    """Vectors as indexes that meet each other: ``x[T.ix_(i, j)]`` has the rows i of the columns j.

    A vector of bool stands for the places where it is true.

    >>> import symc.tensor as T
    >>> x = T.matrix("x")
    >>> x[T.ix_([1, 0], [0])].eval({x: [[1.0, 2.0], [3.0, 4.0]]})
    array([[3.],
           [1.]])
    """
    found: list[Tensor] = []
    for axis, arg in enumerate(args):
        x = as_tensor(arg)
        if x.ndim != 1:
            raise RankError(f"ix_ takes vectors\n  given  {describe(x)}")
        x = flatnonzero(x) if x.dtype is BOOL else x
        found.append(expand_dims(x, tuple(other for other in range(len(args)) if other != axis)))
    return tuple(found)


# --- numbers of elements --------------------------------------------------------------------------

Order = Literal["C", "F"]


def unravel_index(indices: TensorLike, shape: Any, order: Order = "C") -> tuple[Tensor, ...]:
    """The positions along each axis of a shape, of elements that are numbered in row-major order.

    With ``order="F"``, in column-major order. Raises ValueError when it runs for numbers below 0 or
    not below the size.

    >>> import symc.tensor as T
    >>> [int(i.eval()) for i in T.unravel_index(5, (2, 3))]
    [1, 2]
    """
    rest, lengths = _integers("unravel_index", indices), _ordered(as_dims(shape), order)
    size = tensor_of(dims.product(lengths))
    inside = logical_and(rest >= 0, rest < size)
    rest = Checked("unravel_index: numbers must be from 0 to below the size of the shape")(
        rest, inside
    )
    found: list[Tensor] = []
    for n in reversed(lengths[1:]):
        found.append(rest % tensor_of(n))
        rest = rest // tensor_of(n)
    found.append(rest)
    return tuple(_ordered(found[::-1], order)) if lengths else ()


def ravel_multi_index(
    multi_index: Sequence[TensorLike],
    dims: Any,
    mode: OutOfRange | Sequence[OutOfRange] = "raise",
    order: Order = "C",
) -> Tensor:
    """The numbers, in row-major order, of elements at these positions along each axis of a shape.

    Positions out of range raise ValueError when it runs, or with ``mode="wrap"`` count on from the
    other end, or with ``mode="clip"`` become the nearest in range; a sequence gives one for each
    axis. With ``order="F"``, numbers count in column-major order.

    >>> import symc.tensor as T
    >>> T.ravel_multi_index(([0, 1], [2, 0]), (2, 3)).eval()
    array([2, 3])
    """
    lengths = as_dims(dims)
    if len(multi_index) != len(lengths):
        raise ValueError(
            f"ravel_multi_index: {len(multi_index)} positions for {len(lengths)} lengths"
        )
    modes: list[Any] = [mode] * len(lengths) if isinstance(mode, str) else list(mode)
    positions = [
        _inside(_integers("ravel_multi_index", at), tensor_of(n), each)
        for at, n, each in zip(multi_index, lengths, modes, strict=True)
    ]
    number: Tensor = as_tensor(0)
    for at, n in zip(_ordered(positions, order), _ordered(lengths, order), strict=True):
        number = number * tensor_of(n) + at
    return number


def _integers(label: str, x: TensorLike) -> Tensor:
    x = as_tensor(x)
    if not x.dtype.is_integer:
        raise DTypeError(f"{label}: positions must be integers\n  given  {describe(x)}")
    return index_of(x)


def _inside(at: Tensor, n: Tensor, mode: OutOfRange) -> Tensor:
    """Positions from 0 to below n."""
    match mode:
        case "raise":
            text = "ravel_multi_index: positions must be from 0 to below the length of their axis"
            return Checked(text)(at, logical_and(at >= 0, at < n))
        case "wrap":
            return at % n
        case "clip":
            return clip(at, 0, n - 1)
    raise ValueError(f"mode must be 'raise', 'wrap' or 'clip', not {mode!r}")


def _ordered(values: Sequence[_T], order: Order) -> Sequence[_T]:
    """The entries for each axis, the slowest first."""
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', not {order!r}")
    return values if order == "C" else values[::-1]


# --- writing --------------------------------------------------------------------------------------


def put_along_axis(
    arr: TensorLike, indices: TensorLike, values: TensorLike, axis: int | None
) -> Tensor:
    """`arr` with `values` where `take_along_axis` takes elements from: a new tensor.

    `values` broadcast to the shape of the indexes. Without an axis, elements are numbered in
    row-major order.

    >>> import symc.tensor as T
    >>> x = T.matrix("x")
    >>> i = T.argmax(x, axis=1, keepdims=True)
    >>> T.put_along_axis(x, i, 0.0, axis=1).eval({x: [[1.0, 5.0], [7.0, 3.0]]})
    array([[1., 0.],
           [0., 3.]])
    """
    x = as_tensor(arr)
    if axis is None:
        flat = take_along_axis(ravel(x), indices, 0)
        return reshape(set_subtensor(flat, values), x.type.shape)
    return set_subtensor(take_along_axis(x, indices, axis), values)
