"""Products of a matrix with orthonormal columns and a triangular one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, overload

import numpy as np

from symc.codegen.record import record
from symc.errors import GradientError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros_like
from symc.tensor.diagonals import triu
from symc.tensor.elementwise import conjugated
from symc.tensor.lengths import public
from symc.tensor.linalg.common import (
    adjoint,
    batch_of,
    kind_of,
    matrices,
    mirrored,
    times,
)
from symc.tensor.linalg.triangular import SolveTriangular
from symc.tensor.shape import concatenate

__all__ = ["QRResult", "qr"]

Q, R = 0, 1


@record
class Qr(Op):
    """``a = q r``: q with orthonormal columns (part 0), r triangular (1).

    With `complete`, q is square; else it has no more columns than `a`. Without `vectors` only r is
    computed.
    """

    part: int
    complete: bool = False
    vectors: bool = True

    def infer(self, *args: Tensor) -> TensorType:
        *batch, m, n = args[0].type.shape
        k = self._inner(args[0])
        return TensorType(args[0].dtype, (*batch, m, k) if self.part == Q else (*batch, k, n))

    def _inner(self, a: Tensor) -> Dim:
        m, n = a.type.shape[-2:]
        return m if self.complete else dims.minimum(m, n)

    def evaluate(self, *args: Array) -> Array:
        mode: Literal["complete", "reduced"] = "complete" if self.complete else "reduced"
        return np.linalg.qr(args[0], mode)[self.part]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        (a,) = node.args
        m, n = a.type.shape[-2:]
        if self.complete and not (isinstance(m, int) and isinstance(n, int) and m <= n):
            raise GradientError(
                "qr has a gradient with mode='complete' only for matrices that are known to have "
                f"no more rows than columns; else use 'reduced' or 'r'\n  given  {describe(a)}"
            )
        q, r = Qr(Q, self.complete)(a), Qr(R, self.complete)(a)
        if isinstance(m, int) and isinstance(n, int) and m >= n:
            return [_of_q(q, r, bar) if self.part == Q else _of_r(q, r, bar)]
        # Columns after the first k are q times those of r: they reach a directly, and q.
        k = public(dims.minimum(m, n))
        first = r[..., :k]
        if self.part == Q:
            return [concatenate([_of_q(q, first, bar), zeros_like(a[..., k:])], axis=-1)]
        rest = bar[..., k:]
        reaches_q = times(a[..., k:], adjoint(rest))
        whole = _of_q(q, first, reaches_q) + _of_r(q, first, bar[..., :k])
        return [concatenate([whole, times(q, rest)], axis=-1)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a = node.args[0]
        m, n = a.type.shape[-2:]
        args = (
            kind_of(a.dtype), size(batch_of(a)), size(m), size(n), size(self._inner(a)),
            Argument(0), Argument(-1),
        )  # fmt: skip
        if not self.vectors:
            return LibCall("qr_r", args)
        results = Qr(Q, self.complete), Qr(R, self.complete)
        return LibCall("qr", (*args, Argument(-2)), results)


def _of_q(q: Tensor, r: Tensor, bar: Tensor) -> Tensor:
    """The gradient of ``q r``, for a square r, from that of q (Roberts and Roberts 2020)."""
    return _divided(bar - times(q, mirrored(times(adjoint(bar), q))), r)


def _of_r(q: Tensor, r: Tensor, bar: Tensor) -> Tensor:
    """The same from the gradient of r."""
    return _divided(times(q, mirrored(times(r, adjoint(triu(bar))))), r)


def _divided(x: Tensor, r: Tensor) -> Tensor:
    """``x r^-H``"""
    divide = SolveTriangular(is_lower=False, trans=True, right=True)
    return conjugated(divide(r, conjugated(x)))


class QRResult(NamedTuple):
    """A matrix with orthonormal columns and an upper triangular one, whose product is the given.

    `symc.tensor.linalg.qr` gives it; it is a pair.

    >>> import symc.tensor as T
    >>> found = T.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> (found.Q @ found.R).eval().round(6)
    array([[3., 1.],
           [4., 2.]])
    """

    Q: Tensor
    R: Tensor


@overload
def qr(a: TensorLike, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...
@overload
def qr(a: TensorLike, mode: Literal["r"]) -> Tensor: ...
def qr(a: TensorLike, mode: Literal["reduced", "complete", "r"] = "reduced") -> QRResult | Tensor:
    """``a = q @ r`` with orthonormal columns in q and an upper triangle r.

    Leading axes are a batch. With ``mode="complete"`` q is square and r as tall as `a`; with
    ``"r"`` only r is computed. The gradient is for matrices whose first columns, as many as r has
    rows, are independent; with ``"complete"``, for no more rows than columns.

    >>> import symc.tensor as T
    >>> T.linalg.qr([[3.0, 1.0], [4.0, 2.0]], mode="r").eval().round(12)
    array([[-5. , -2.2],
           [ 0. ,  0.4]])
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode is 'reduced', 'complete' or 'r', not {mode!r}")
    a = matrices("qr", a)
    if mode == "r":
        return Qr(R, vectors=False)(a)
    complete = mode == "complete"
    return QRResult(Qr(Q, complete)(a), Qr(R, complete)(a))
