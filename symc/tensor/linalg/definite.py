"""Cholesky's factorisation, which is for positive definite matrices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.diagonals import tril
from symc.tensor.elementwise import conjugated
from symc.tensor.linalg import reference
from symc.tensor.linalg.common import (
    OnFailure,
    adjoint,
    batch_of,
    batched_stacks,
    folded,
    kind_of,
    mirrored,
    nan_where_failed,
    raises,
    square_matrices,
    succeeds,
    times,
)
from symc.tensor.linalg.triangular import SolveTriangular

__all__ = ["cholesky"]

FACTOR, STATUS = 0, 1


@record
class Cholesky(Op):
    """The lower triangles l with ``a = l l.T`` (part 0); of `a` only the lower triangle is read.

    Part 1 is 0 for each matrix that is positive definite. Where it is not `checked`, the factor of
    another matrix is anything.
    """

    part: int = FACTOR
    checked: bool = True

    def infer(self, *args: Tensor) -> TensorType:
        if self.part == STATUS:
            return TensorType(INT64, args[0].type.shape[:-2])
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        if self.part == STATUS:
            return reference.cholesky_status(args[0])
        return reference.one_by_one(np.linalg.cholesky, args[0])

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [None if self.part == STATUS else CholeskyPullback()(node, bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self.part == FACTOR and self.checked:
            yield succeeds("cholesky", node.args[0], Cholesky(STATUS)(*node.args), _reason)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a = node.args[0]
        args = (
            kind_of(a.dtype), size(batch_of(a)), size(a.type.shape[-1]),
            Argument(0), Argument(-1), Argument(-2),
        )  # fmt: skip
        parts = (Cholesky(FACTOR, self.checked), Cholesky(STATUS, self.checked))
        return LibCall("cholesky", args, parts)


def _reason(order: int) -> str:
    return f"is not positive definite: its leading minor of order {order} is not positive"


@record
class CholeskyPullback(Op):
    """The gradient of a matrix' lower triangle, given its factor and the gradient of that.

    It is ``s + s.T`` below the diagonal and that of s on it, where ``s = l^-T half(l.T bar) l^-1``
    and `half` keeps a lower triangle with half the diagonal; for complex numbers, with adjoints for
    transposes and the real part of the diagonal.
    """

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        l, bar = args  # noqa: E741 -- its name in the literature
        inner = np.tril(l.mT.conj() @ np.tril(bar))
        n = range(l.shape[-1])
        inner[..., n, n] /= 2
        right = reference.solve(l.mT.conj(), inner)
        s = reference.solve(l.mT, right.mT).mT
        result = np.tril(s + s.mT.conj())
        result[..., n, n] /= 2
        return result

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        l, given = node.args  # noqa: E741
        turned = SolveTriangular(trans=True, right=True)(l, conjugated(mirrored(bar)))
        middle = conjugated(turned)
        inner = half(SolveTriangular()(l, middle))
        to_given = tril(times(l, inner))
        to_l = times(tril(given), adjoint(inner)) - times(node + adjoint(node), middle)
        return [tril(to_l), to_given]

    def expand(self, node: Tensor) -> Tensor | None:
        if not node.dtype.is_complex:
            return None
        l, bar = node.args  # noqa: E741
        inner = half(times(adjoint(l), tril(bar)))
        left = conjugated(SolveTriangular(trans=True)(l, conjugated(inner)))
        return folded(SolveTriangular(right=True)(l, left))

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        l, bar = batched_stacks(args, batched)  # noqa: E741
        if l.ndim < bar.ndim:
            from symc.tensor.views import broadcast_to

            l = broadcast_to(l, bar.type.shape)  # noqa: E741
        return self(l, bar)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        l = node.args[0]  # noqa: E741
        args = (
            kind_of(l.dtype), size(batch_of(l)), size(l.type.shape[-1]),
            Argument(0), Argument(1), Argument(-1),
        )  # fmt: skip
        return LibCall("cholesky_pullback", args)


def half(x: Tensor) -> Tensor:
    """Lower triangles with half the diagonal."""
    return (tril(x) + tril(x, -1)) * 0.5


def cholesky(a: TensorLike, /, *, upper: bool = False, on_failure: OnFailure = "raise") -> Tensor:
    """The lower triangular matrices l with ``a = l @ l.T``, of positive definite matrices `a`.

    Complex matrices are Hermitian: ``a = l @ l.conj().T``.

    Only the lower triangle of `a` is read, and its gradient is one of that triangle. With `upper`
    it is the upper triangles u with ``a = u.T @ u``, from the upper triangle. Leading axes are a
    batch. Raises `LinAlgError` when it runs if a matrix is not positive definite; with
    ``on_failure="nan"`` the factor of such a matrix is all NaN instead, and so is its gradient.

    >>> import symc.tensor as T
    >>> T.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).eval()
    array([[2., 0.],
           [1., 2.]])
    >>> T.linalg.cholesky([[1.0, 2.0], [2.0, 1.0]], on_failure="nan").eval()
    array([[nan, nan],
           [nan, nan]])
    """
    a = square_matrices("cholesky", a)
    checked = raises("cholesky", on_failure)
    given = adjoint(a) if upper else a
    factor = Cholesky(checked=checked)(given)
    if not checked:
        factor = nan_where_failed(factor, Cholesky(STATUS, checked=False)(given))
    return adjoint(factor) if upper else factor
