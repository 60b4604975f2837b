"""The exponential of a matrix."""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.record import record
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.build import zeros_like
from symc.tensor.lengths import public
from symc.tensor.linalg import reference
from symc.tensor.linalg.common import adjoint, batch_of, kind_of, square_matrices
from symc.tensor.shape import concatenate

__all__ = ["expm"]


@record
class Expm(Op):
    """The sum of the powers of matrices, each divided by the factorial of its number."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return reference.expm(args[0])

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        # The derivative along e is the upper right block of the exponential of (a e; 0 a); the
        # gradient is that of the adjoint along `bar` (Mathias 1996).
        a = adjoint(node.args[0])
        n = public(a.type.shape[-1])
        upper = concatenate([a, bar], axis=-1)
        lower = concatenate([zeros_like(a), a], axis=-1)
        return [Expm()(concatenate([upper, lower], axis=-2))[..., :n, n:]]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a = node.args[0]
        args = (kind_of(a.dtype), size(batch_of(a)), size(a.type.shape[-1]))
        return LibCall("expm", (*args, Argument(0), Argument(-1)))


def expm(a: TensorLike) -> Tensor:
    """The exponentials of square matrices, by scaling, Pade approximants and squaring.

    Leading axes are a batch.

    >>> import symc.tensor as T
    >>> T.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).eval()
    array([[1., 1.],
           [0., 1.]])
    """
    return Expm()(square_matrices("expm", a))
