"""The factors of LU with exchanges of rows, and Sylvester's equation, with SciPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symc.codegen.record import record
from symc.graph.node import Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.diagonals import eye, tril, triu
from symc.tensor.lengths import public
from symc.tensor.linalg import reference
from symc.tensor.linalg.building import kron
from symc.tensor.linalg.common import (
    adjoint,
    common_dtype,
    matrices,
    square_matrices,
    times,
    transposed,
)
from symc.tensor.linalg.general import FACTORS, PIVOTS, Exchanged, Lu, solve
from symc.tensor.linalg.triangular import SolveTriangular
from symc.tensor.reshape import reshape
from symc.tensor.views import broadcast_to

__all__ = ["LUFactorResult", "LUResult", "lu", "lu_factor", "solve_sylvester"]


class LUFactorResult(NamedTuple):
    """Both factors in one matrix, and with which row each row was exchanged, in order.

    `symc.tensor.linalg.lu_factor` gives it; it is a pair.

    >>> import symc.tensor as T
    >>> found = T.linalg.lu_factor([[0.0, 1.0], [2.0, 3.0]])
    >>> found.piv.eval()
    array([1, 1])
    """

    lu: Tensor
    piv: Tensor


class LUResult(NamedTuple):
    """A permutation, a lower matrix with ones on its diagonal, and an upper one.

    `symc.tensor.linalg.lu` gives it: ``a = p @ l @ u``.

    >>> import symc.tensor as T
    >>> p, l, u = T.linalg.lu([[0.0, 1.0], [2.0, 3.0]])
    >>> (p @ l @ u).eval()
    array([[0., 1.],
           [2., 3.]])
    """

    p: Tensor
    l: Tensor  # noqa: E741 -- SciPy's name
    u: Tensor


@record
class RowLu(Op):
    """Both factors of ``p a = l u`` in one matrix: those of the transposed matrix, transposed."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return reference.lu(args[0].mT)[FACTORS].mT

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        """By da = p (dl u + l du): ``a^-H u^H (tril(l^H dl) + triu(du u^H)) u^-H``."""
        (a,) = node.args
        lower = tril(node, -1) + eye(public(a.type.shape[-1]), dtype=a.dtype)
        upper = triu(node)
        middle = tril(times(adjoint(lower), tril(bar, -1)), -1)
        middle = middle + triu(times(triu(bar), adjoint(upper)))
        left = solve(adjoint(a), times(adjoint(upper), middle))
        return [adjoint(SolveTriangular(is_lower=False)(upper, adjoint(left)))]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def expand(self, node: Tensor) -> Tensor:
        return transposed(Lu(FACTORS)(transposed(node.args[0])))


def lu_factor(a: TensorLike) -> LUFactorResult:
    """The factors of a square matrix, ``l`` below and ``u`` from the diagonal on in one matrix.

    Row k was exchanged with row ``piv[k]``, for k = 0, 1 and so on. Leading axes are a batch. A
    gradient flows through the factors, where `a` is regular. Raises `RankError` and `ShapeMismatch`
    for what is no square matrix.

    >>> import symc.tensor as T
    >>> factors, piv = T.linalg.lu_factor([[1.0, 2.0], [4.0, 4.0]])
    >>> factors.eval(), piv.eval()
    (array([[4.  , 4.  ],
           [0.25, 1.  ]]), array([1, 1]))
    """
    a = square_matrices("lu_factor", a)
    return LUFactorResult(RowLu()(a), Lu(PIVOTS)(transposed(a)))


def lu(a: TensorLike) -> LUResult:
    """A permutation p, lower l with ones on its diagonal and upper u with ``a = p l u``.

    For square matrices; leading axes are a batch. A gradient flows through l and u, where `a` is
    regular. Raises `RankError` and `ShapeMismatch` for what is no square matrix.

    >>> import symc.tensor as T
    >>> p, l, u = T.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> l.eval(), u.eval()
    (array([[1.  , 0.  ],
           [0.25, 1.  ]]), array([[4., 4.],
           [0., 1.]]))
    """
    factors, pivots = lu_factor(a)
    one = broadcast_to(eye(public(factors.type.shape[-1]), dtype=factors.dtype), factors.type.shape)
    return LUResult(Exchanged()(pivots, one), tril(factors, -1) + one, triu(factors))


def solve_sylvester(a: TensorLike, b: TensorLike, q: TensorLike) -> Tensor:
    """The x with ``a x + x b = q``, for square a and b.

    It is one system of linear equations for all elements of x, which takes (n m)^3 operations: for
    small matrices. Raises `LinAlgError` when it runs if a and -b have an eigenvalue in common.

    >>> import symc.tensor as T
    >>> T.linalg.solve_sylvester([[2.0]], [[3.0]], [[10.0]]).eval()
    array([[2.]])
    """
    left, right = square_matrices("solve_sylvester", a), square_matrices("solve_sylvester", b)
    left, right, q = common_dtype(left, right, matrices("solve_sylvester", q))
    n, m = public(left.type.shape[-1]), public(right.type.shape[-1])
    whole = kron(left, eye(m, dtype=q.dtype)) + kron(eye(n, dtype=q.dtype), transposed(right))
    return reshape(solve(whole, reshape(q, (n * m,))), (n, m))
