"""Products of vectors and matrices that users call: `dot`, `matmul` and their kin.

`contraction.py` has the products over any axes, `cross_products.py` that of vectors in space; the
ops are in `matrix_product.py`.
"""

from __future__ import annotations

from symc.errors import RankError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.node import METHODS, OPERATORS, Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import common, conjugated
from symc.tensor.matrix_product import (
    MatMul,
    MatVec,
    agreed,
    check_lengths,
    known,
    summed_products,
    unstacked,
)
from symc.tensor.reshape import ravel, reshape
from symc.tensor.views import broadcast_to, expand_dims, moveaxis, swapaxes

__all__ = [
    "batched_dot", "dot", "matmul", "matvec", "outer", "vdot", "vecdot", "vecmat",
]  # fmt: skip


def matmul(a: TensorLike, b: TensorLike) -> Tensor:
    """The matrix product ``a @ b``: sums over the last axis of `a` and the one but last of `b`.

    A vector counts as a row on the left and as a column on the right. Further leading axes are a
    batch, and broadcast where their length is known to be 1. The dtype is NumPy's; floats are
    multiplied by BLAS. Raises `RankError` for scalars and `ShapeMismatch`, at run time if need be,
    when lengths do not fit.

    >>> import symc.tensor as T
    >>> T.matmul(T.tensor("float32", (2, 3)), T.tensor("float32", (3,)))
    <? @ ? float32[2]>
    """
    a, b = common((a, b), "same", "matmul")
    for x in (a, b):
        if x.ndim == 0:
            raise RankError(f"matmul: a scalar is no matrix; use *\n  given  {describe(x)}")
    check_lengths("matmul", a, a.ndim - 1, b, max(b.ndim - 2, 0))
    if a.ndim == 1 or b.ndim == 1:
        return _with_vector(a, b)
    if b.ndim == 2 and a.ndim > 2:
        *batch, columns = a.type.shape
        tall = reshape(a, (dims.product(batch), columns))
        return unstacked(MatMul()(tall, b), tuple(batch))
    shape = batch_shape(a, b)
    a, b = (broadcast_to(x, (*shape, *x.type.shape[-2:])) for x in (a, b))
    return MatMul()(a, b)


def _with_vector(a: Tensor, b: Tensor) -> Tensor:
    if a.ndim == 1 and b.ndim == 1:
        return _products(a, b)
    if b.ndim == 1:
        *batch, columns = a.type.shape
        tall = reshape(a, (dims.product(batch), columns))
        return unstacked(MatVec()(tall, b), tuple(batch))
    if b.ndim == 2:
        return MatVec(True)(b, a)
    return _products(a, moveaxis(b, -2, -1))


def batch_shape(a: Tensor, b: Tensor) -> tuple[Dim, ...]:
    """The leading axes of two stacks of matrices, broadcast against each other."""
    shape: list[Dim] = []
    for axis in range(-max(a.ndim, b.ndim), -2):
        left, right = (x.type.shape[axis] if -axis <= x.ndim else 1 for x in (a, b))
        if 1 not in (left, right):
            check_lengths("matmul", a, axis + a.ndim, b, axis + b.ndim)
        shape.append(right if left == 1 else left if right == 1 else known(left, right))
    return tuple(shape)


def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """NumPy's ``dot``: the inner product of vectors, the product of matrices, or with a scalar.

    With more axes, the sum over the last axis of `a` and the one but last of `b`. Raises
    `ShapeMismatch`, at run time if need be, when those lengths differ.

    >>> import symc.tensor as T
    >>> T.dot(T.tensor("float64", (2, 3)), T.tensor("float64", (3, 4)))
    <? @ ? float64[2, 4]>
    """
    a, b = common((a, b), "same", "dot")
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    check_lengths("dot", a, a.ndim - 1, b, max(b.ndim - 2, 0))
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b)
    from symc.tensor.contraction import tensordot  # late: most products are of matrices

    return tensordot(a, b, ([-1], [max(b.ndim - 2, 0)]))


def matvec(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The products of matrices and vectors, along the last axes; others are a batch and broadcast.

    Raises `RankError` for scalars and vectors as `x1`, and `ShapeMismatch` as `matmul`.

    >>> import symc.tensor as T
    >>> T.matvec([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]]).eval()
    array([[1., 3.],
           [2., 4.]])
    """
    a, b = common((x1, x2), "same", "matvec")
    _is_matrix("matvec", a, b)
    return matmul(a, expand_dims(b, b.ndim))[..., 0]


def vecmat(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The products of vectors and matrices, along the last axes; others are a batch and broadcast.

    Complex numbers of `x1` are conjugated, as by NumPy. Raises `RankError` for scalars and vectors
    as `x2`, and `ShapeMismatch` as `matmul`.

    >>> import symc.tensor as T
    >>> T.vecmat([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]]).eval()
    array([1., 2.])
    """
    a, b = common((x1, x2), "same", "vecmat")
    _is_matrix("vecmat", b, a)
    return matmul(expand_dims(conjugated(a), a.ndim - 1), b)[..., 0, :]


def _is_matrix(label: str, matrix: Tensor, vector: Tensor) -> None:
    if matrix.ndim < 2 or vector.ndim < 1:
        raise RankError(
            f"{label}: this needs a matrix and a vector\n"
            f"  matrix  {describe(matrix)}\n  vector  {describe(vector)}"
        )


def vecdot(a: TensorLike, b: TensorLike, axis: int = -1) -> Tensor:
    """The inner products of the vectors along one axis; other axes broadcast.

    Complex numbers of `a` are conjugated, as by NumPy. Raises `ShapeMismatch`, at run time if need
    be, when the vectors differ in length.

    >>> import symc.tensor as T
    >>> T.vecdot([[1, 2], [3, 4]], [10, 1]).eval()
    array([12, 34])
    """
    a, b = common((a, b), "same", "vecdot")
    return _products(conjugated(moveaxis(a, axis, -1)), moveaxis(b, axis, -1))


def _products(a: Tensor, b: Tensor) -> Tensor:
    """The sums of products along the last axis."""
    a, b = agreed("vecdot", a, a.ndim - 1, b, b.ndim - 1)
    return summed_products(a, b, (max(a.ndim, b.ndim) - 1,))


def vdot(a: TensorLike, b: TensorLike) -> Tensor:
    """The inner product of all elements of both, in row-major order; `a` is conjugated.

    A scalar. Raises ShapeMismatch, at run time if need be, when they differ in length.

    >>> import symc.tensor as T
    >>> T.vdot([1j, 2], [1j, 3]).eval()
    array(7.+0.j)
    """
    return vecdot(ravel(as_tensor(a)), ravel(as_tensor(b)))


def outer(a: TensorLike, b: TensorLike) -> Tensor:
    """The product of every element of `a` with every element of `b`, both flattened: a matrix.

    >>> import symc.tensor as T
    >>> T.outer([1, 2], [10, 20, 30]).eval()
    array([[10, 20, 30],
           [20, 40, 60]])
    """
    a, b = common((a, b), "same", "outer")
    return expand_dims(ravel(a), 1) * expand_dims(ravel(b), 0)


def batched_dot(a: TensorLike, b: TensorLike) -> Tensor:
    """The product of each matrix (or vector) of `a` with the one of `b`; axis 0 is the batch.

    Raises `RankError` unless both have 2 or 3 axes.

    >>> import symc.tensor as T
    >>> T.batched_dot([[[1, 2]], [[3, 4]]], [[[1], [1]], [[2], [2]]]).eval()
    array([[[ 3]],
    <BLANKLINE>
           [[14]]])
    """
    a, b = common((a, b), "same", "batched_dot")
    for x in (a, b):
        if x.ndim not in (2, 3):
            raise RankError(f"batched_dot needs 2 or 3 axes\n  given  {describe(x)}")
    if a.ndim == 3 and b.ndim == 3:
        return matmul(a, b)
    vectors = b if b.ndim == 2 else swapaxes(b, 1, 2)
    if a.ndim == 3:
        return _products(a, expand_dims(vectors, 1))
    return _products(a if b.ndim == 2 else expand_dims(a, 1), vectors)


OPERATORS["matmul"] = matmul
METHODS["dot"] = dot
