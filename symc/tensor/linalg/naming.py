"""NumPy's further functions of vectors and matrices, made of those of `symc.tensor`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from symc.graph import dims
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor import statistics
from symc.tensor.broadcast import describe
from symc.tensor.contraction import tensordot
from symc.tensor.cross_products import cross
from symc.tensor.diagonals import diagonal as _diagonal
from symc.tensor.elementwise import common
from symc.tensor.linalg.building import MatrixOrder, matrix_norm
from symc.tensor.linalg.common import not_empty, square_matrices
from symc.tensor.linalg.general import inv, solve
from symc.tensor.linalg.singular import svdvals
from symc.tensor.logic import where
from symc.tensor.products import matmul, outer, vecdot
from symc.tensor.reduce import Axis
from symc.tensor.reshape import ravel, reshape
from symc.tensor.views import moveaxis, swapaxes

__all__ = [
    "cond", "cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "tensorinv",
    "tensorsolve", "vecdot", "vector_norm",
]  # fmt: skip

# --- vectors --------------------------------------------------------------------------------------


def vector_norm(x: TensorLike, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """The length of the vector of all elements along axes: `symc.tensor.norm`.

    `ord` may be any number, or infinite; the result is a float.

    >>> import symc.tensor as T
    >>> T.linalg.vector_norm([3.0, 4.0]).eval(), T.linalg.vector_norm([3.0, 4.0], ord=1).eval()
    (array(5.), array(7.))
    """
    return statistics.norm(x, ord, axis, keepdims)


# --- matrices -------------------------------------------------------------------------------------


def matrix_transpose(x: TensorLike) -> Tensor:
    """The transposes of the matrices on the last two axes: ``x.mT``.

    Raises BadIndex for tensors with fewer than two axes.

    >>> import symc.tensor as T
    >>> T.linalg.matrix_transpose([[1, 2], [3, 4]]).eval()
    array([[1, 3],
           [2, 4]])
    """
    return swapaxes(as_tensor(x), -1, -2)


def diagonal(x: TensorLike, offset: int = 0) -> Tensor:
    """Diagonal `offset` of the matrices on the last two axes; it becomes the last axis.

    Other axes are a batch. (`T.diagonal` takes the first two axes.)

    >>> import symc.tensor as T
    >>> T.linalg.diagonal([[1, 2], [3, 4]]).eval()
    array([1, 4])
    """
    return _diagonal(x, offset, -2, -1)


def cond(x: TensorLike, p: MatrixOrder | None = None) -> Tensor:
    """The condition numbers of matrices: the norm `p` of each times that of its inverse.

    For 2 (or None) and -2 that is the largest by the smallest singular value, or the reverse, also
    of matrices that are not square; it is infinite where all elements are 0. Other norms are as for
    `matrix_norm`; a singular matrix then raises `LinAlgError` when it runs, and a matrix without
    elements always does.

    >>> import symc.tensor as T
    >>> T.linalg.cond([[2.0, 0.0], [0.0, 0.5]]).eval().round(12)
    np.float64(4.0)
    """
    x = not_empty("cond", x)
    if p is None or p in (2, -2):
        values = svdvals(x)
        large, small = values[..., 0], values[..., -1]
        ratio = small / large if p == -2 else large / small
        return where(OPERATORS["eq"](large, 0), math.inf, ratio)
    a = square_matrices("cond", x)
    if isinstance(p, int | float) and abs(p) not in (1, math.inf):
        raise ValueError(f"cond: {p!r} is no norm of matrices")
    return matrix_norm(a, ord=p) * matrix_norm(inv(a), ord=p)


# --- tensors as matrices --------------------------------------------------------------------------


def tensorsolve(a: TensorLike, b: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """The x for which ``tensordot(a, x, x.ndim)`` is `b`: its axes are the last ones of `a`.

    `axes` of `a` are moved to the end first. Raises `LinAlgError` when it runs if there is no one
    solution.

    >>> import symc.tensor as T
    >>> T.linalg.tensorsolve(2 * T.eye(4).reshape((2, 2, 4)), T.ones((2, 2))).eval()
    array([0.5, 0.5, 0.5, 0.5])
    """
    a, b = common((a, b), "float", "tensorsolve")
    if axes is not None:
        a = moveaxis(a, list(axes), list(range(a.ndim - len(axes), a.ndim)))
    shape = a.type.shape[b.ndim :]
    n = dims.product(shape)
    return reshape(solve(reshape(a, (dims.product(b.type.shape), n)), ravel(b)), shape)


def tensorinv(a: TensorLike, ind: int = 2) -> Tensor:
    """The inverse of `a` as a linear function from its last axes to its first `ind` axes.

    >>> import symc.tensor as T
    >>> T.linalg.tensorinv(2 * T.eye(4).reshape((2, 2, 4)))
    <reshape(inverse(reshape(...))) float64[4, 2, 2]>
    """
    a = as_tensor(a)
    if not 0 < ind <= a.ndim:
        raise ValueError(f"tensorinv: ind={ind} must be from 1 to {a.ndim}\n  given  {describe(a)}")
    first, last = a.type.shape[:ind], a.type.shape[ind:]
    inverse = inv(reshape(a, (dims.product(first), dims.product(last))))
    return reshape(inverse, (*last, *first))
