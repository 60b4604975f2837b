"""Products, powers, norms and block matrices: compositions of other ops."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any, Literal

import numpy as np

from symc.errors import RankError
from symc.graph import dims
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor import statistics
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros
from symc.tensor.diagonals import eye
from symc.tensor.diagonals import trace as trace_over
from symc.tensor.elementwise import common
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import normal_axes, public
from symc.tensor.linalg.common import common_dtype, matrices, square_matrices
from symc.tensor.linalg.general import inv
from symc.tensor.linalg.singular import svdvals
from symc.tensor.products import batch_shape, dot, matmul
from symc.tensor.reduce import Axis
from symc.tensor.reshape import reshape
from symc.tensor.shape import concatenate
from symc.tensor.views import broadcast_to, expand_dims, moveaxis

__all__ = ["block_diag", "kron", "matrix_norm", "matrix_power", "multi_dot", "norm", "trace"]

MatrixOrder = Literal["fro", "nuc"] | float


def norm(
    x: TensorLike,
    ord: MatrixOrder | None = None,
    axis: Axis = None,
    keepdims: bool = False,
) -> Tensor:
    """The norm of vectors or matrices, as NumPy's ``linalg.norm``.

    With one axis (or a vector) `ord` is as for `T.norm`; with two (or a matrix) it is ``"fro"``
    for the root of the sum of squares, ``"nuc"`` for the sum of singular values, 2 and -2 for the
    largest and least of them, 1 and -1 for the largest and least sum of absolute values in a
    column, inf and -inf for those in a row. Without `ord` and `axis` it is the root of the sum of
    the squares of all elements.

    >>> import symc.tensor as T
    >>> T.linalg.norm([[3.0, 4.0], [0.0, 0.0]], 2).eval()
    array(5.)
    """
    x = as_tensor(x)
    if ord is None:
        return statistics.norm(x, None, axis, keepdims)
    axes = tuple(range(x.ndim)) if axis is None else normal_axes("norm", axis, x.ndim, x)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"norm: {ord!r} is a norm of matrices, not of vectors")
        return statistics.norm(x, ord, axes, keepdims)
    if len(axes) != 2:
        raise RankError(
            f"norm: an order needs one axis or two, not {len(axes)}\n  given  {describe(x)}"
        )
    result = matrix_norm(moveaxis(x, axes, (-2, -1)), ord=ord)
    return expand_dims(result, tuple(sorted(axes))) if keepdims else result


def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: MatrixOrder = "fro") -> Tensor:
    """The norms of the matrices on the last two axes; `ord` is as for `norm`.

    Other axes are a batch. Raises RankError for tensors with fewer than two axes.

    >>> import symc.tensor as T
    >>> T.linalg.matrix_norm([[3.0, 0.0], [0.0, 4.0]]).eval()
    array(5.)
    """
    x = matrices("norm", x)
    if ord == "fro":
        result = statistics.norm(x, None, (-2, -1))
    elif ord == "nuc":
        result = reduce_over("add", svdvals(x), (x.ndim - 2,))
    elif ord in (1, -1, 2, -2, np.inf, -np.inf):
        size = abs(ord)
        if size == 2:
            sums = svdvals(x)
        else:  # along columns, or along rows
            sums = reduce_over("add", OPERATORS["abs"](x), (x.ndim - (2 if size == 1 else 1),))
        result = _greatest(sums) if ord > 0 else reduce_over("min", sums, (x.ndim - 2,))
    else:
        raise ValueError(
            f"norm: {ord!r} is no order of a matrix norm; there are 'fro', 'nuc', 1, -1, 2, -2, "
            "inf and -inf"
        )
    return expand_dims(result, (-2, -1)) if keepdims else result


def _greatest(sums: Tensor) -> Tensor:
    """The greatest of numbers from 0 on, along the last axis; 0 if there is none."""
    count = sums.type.shape[-1]
    found = reduce_over("max", sums, (sums.ndim - 1,), allow_empty=True)
    return found if isinstance(count, int) and count else OPERATORS["maximum"](found, 0)


def trace(x: TensorLike, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sums of diagonal `offset` of the matrices on the last two axes.

    Other axes are a batch; the dtypes are those of `sum`.

    >>> import symc.tensor as T
    >>> T.linalg.trace([[1, 2], [3, 4]]).eval()
    array(5)
    """
    return trace_over(x, offset, -2, -1, dtype)


def matrix_power(a: TensorLike, n: int) -> Tensor:
    """The product of n copies of square matrices; of their inverses where n is negative.

    >>> import symc.tensor as T
    >>> T.linalg.matrix_power([[1, 1], [0, 1]], 5).eval()
    array([[1, 5],
           [0, 1]])
    """
    power = operator.index(n)
    a = as_tensor(a)
    if a.ndim < 2:
        raise RankError(f"matrix_power needs a matrix, or a stack of them\n  given  {describe(a)}")
    whole = _square_of_any("matrix_power", a)
    if power == 0:  # of the lengths alone, which have to be checked all the same
        rows, columns = map(public, a.type.shape[-2:])
        ones = broadcast_to(eye(rows, columns, dtype=whole.dtype), a.type.shape)
        return _square_of_any("matrix_power", ones)
    square = inv(whole) if power < 0 else whole
    left, result = abs(power), None
    while True:
        if left & 1:
            result = square if result is None else matmul(result, square)
        left >>= 1
        if not left:
            assert result is not None
            return result
        square = matmul(square, square)


def _square_of_any(label: str, a: Tensor) -> Tensor:
    """Square matrices of any dtype: integers stay integers, and floats of 16 bits as they are."""
    if a.dtype.is_inexact and not a.dtype.is_only_stored:
        return square_matrices(label, a)
    from symc.tensor.linalg.common import Square

    rows, columns = a.type.shape[-2:]
    return a if rows == columns else Square(label)(a)


def multi_dot(arrays: Sequence[TensorLike]) -> Tensor:
    """The product of several matrices, multiplied in the order that takes least work.

    The first and the last may be vectors. Where a length is known only when it runs, the products
    are taken from the left.

    >>> import symc.tensor as T
    >>> T.linalg.multi_dot([T.dmatrix("a"), T.dmatrix("b"), T.dvector("c")])
    <a @ (b @ c) float64[a.shape[0]]>
    """
    factors = [as_tensor(array) for array in arrays]
    if len(factors) < 2:
        raise ValueError("multi_dot needs at least 2 arrays")
    for number, x in enumerate(factors):
        ends = number in (0, len(factors) - 1)
        if x.ndim != 2 and not (ends and x.ndim == 1):
            raise RankError(
                f"multi_dot needs matrices, vectors at the ends\n  given  {describe(x)}"
            )
    lengths = [_sides(x, first=not number)[0] for number, x in enumerate(factors)]
    lengths.append(_sides(factors[-1], first=False)[1])
    known = [length for length in lengths if isinstance(length, int)]
    if len(known) < len(lengths):
        if factors[-1].ndim == 1:
            return reduce(lambda right, left: dot(left, right), factors[::-1])
        return reduce(dot, factors)
    return _in_best_order(factors, known)


def _sides(x: Tensor, *, first: bool) -> tuple[dims.Dim, dims.Dim]:
    """Rows and columns; a vector is a row as the left operand and a column as the right one."""
    if x.ndim == 2:
        return x.type.shape[0], x.type.shape[1]
    return (1, x.type.shape[0]) if first else (x.type.shape[0], 1)


def _in_best_order(factors: Sequence[Tensor], lengths: Sequence[int]) -> Tensor:
    """Dynamic programming over where the last product splits."""
    best: dict[tuple[int, int], tuple[int, Tensor]] = {
        (i, i): (0, factor) for i, factor in enumerate(factors)
    }
    for count in range(1, len(factors)):
        for i in range(len(factors) - count):
            j = i + count
            costs = {
                k: best[i, k][0] + best[k + 1, j][0] + lengths[i] * lengths[k + 1] * lengths[j + 1]
                for k in range(i, j)
            }
            k = min(costs, key=costs.__getitem__)
            best[i, j] = costs[k], dot(best[i, k][1], best[k + 1, j][1])
    return best[0, len(factors) - 1][1]


def kron(a: TensorLike, b: TensorLike) -> Tensor:
    """The Kronecker product: every element of `a` times all of `b`, along each axis.

    >>> import symc.tensor as T
    >>> T.linalg.kron([1, 10], [1, 2, 3]).eval()
    array([ 1,  2,  3, 10, 20, 30])
    """
    a, b = common((a, b), "same", "kron")
    rank = max(a.ndim, b.ndim)
    a, b = (reshape(x, (*(1,) * (rank - x.ndim), *x.type.shape)) for x in (a, b))
    wide = expand_dims(a, tuple(range(1, 2 * rank, 2))) * expand_dims(
        b, tuple(range(0, 2 * rank, 2))
    )
    pairs = zip(a.type.shape, b.type.shape, strict=True)
    return reshape(wide, tuple(dims.mul(m, n) for m, n in pairs))


def block_diag(*arrays: TensorLike) -> Tensor:
    """Matrices along the diagonal of a large one, with zeros elsewhere.

    Vectors count as rows. Leading axes are a batch, and broadcast where their length is known to be
    1.

    >>> import symc.tensor as T
    >>> T.linalg.block_diag([[1, 2]], [[3], [4]]).eval()
    array([[1, 2, 0],
           [0, 0, 3],
           [0, 0, 4]])
    """
    if not arrays:
        return zeros((1, 0))
    blocks = common_dtype(*map(as_tensor, arrays))
    blocks = [
        reshape(x, (*(1,) * (2 - x.ndim), *x.type.shape)) if x.ndim < 2 else x for x in blocks
    ]
    batch = reduce(_batch_of_both, blocks)
    shape = batch.type.shape[:-2]
    widths = [x.type.shape[-1] for x in blocks]
    rows: list[Tensor] = []
    for number, x in enumerate(blocks):
        before, after = _total(widths[:number]), _total(widths[number + 1 :])
        parts = [
            zeros(tuple(map(public, (*shape, x.type.shape[-2], before))), dtype=x.dtype),
            broadcast_to(x, (*shape, *x.type.shape[-2:])),
            zeros(tuple(map(public, (*shape, x.type.shape[-2], after))), dtype=x.dtype),
        ]
        kept = [part for part in parts if part.type.shape[-1] != 0]
        rows.append(concatenate(kept or parts[1:2], axis=-1))
    return concatenate(rows, axis=-2)


def _total(lengths: Sequence[dims.Dim]) -> dims.Dim:
    result: dims.Dim = 0
    for length in lengths:
        result = dims.add(result, length)
    return result


def _batch_of_both(a: Tensor, b: Tensor) -> Tensor:
    """Either, with the leading axes of both."""
    return broadcast_to(a, (*batch_shape(a, b), *a.type.shape[-2:]))
