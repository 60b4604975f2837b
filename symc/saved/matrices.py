"""Whether matrices of a file have the lengths that routines of linear algebra take for granted.

The functions of `T.linalg` see to that before they make an op: routines are told one length, and
would write beyond results of another. A file may have the op without the checks. They are made
anew, and cost nothing where the lengths agree, as in all files of symc's.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.errors import BadFile
from symc.graph.dims import Dim
from symc.graph.node import Op, Tensor
from symc.tensor.broadcast import describe
from symc.tensor.specify import specify_length


def fitting(op: Op, args: list[Tensor]) -> list[Tensor]:
    """The arguments of an op on matrices, whose lengths are checked when it runs if need be."""
    from symc.tensor.linalg.common import NotEmpty, Square  # late: most files have no matrices
    from symc.tensor.linalg.definite import CholeskyPullback
    from symc.tensor.linalg.general import LuInverse, LuSolve, Solve
    from symc.tensor.linalg.orthogonal import Qr
    from symc.tensor.linalg.singular import LeastSquares, PseudoInverse, Svd, Svdvals
    from symc.tensor.linalg.triangular import SolveTriangular

    if any(arg.ndim < 2 for arg in args[:1]):
        raise BadFile(f"{op.label} takes matrices, not {list(args)!r:.80}")
    if isinstance(op, Square | NotEmpty | Qr | Svd | Svdvals | PseudoInverse | LeastSquares):
        return args  # of any lengths, or made of products, which are checked
    first = _square(args[0])
    match op:
        case CholeskyPullback():
            return [first, _of_shape(op, args[1], first.type.shape)]
        case LuInverse():
            return [first, _of_shape(op, args[1], first.type.shape[:-1])]
        case LuSolve():
            pivots = _of_shape(op, args[1], first.type.shape[:-1])
            return [first, pivots, _fitting_side(op, first, args[2], -2)]
        case SolveTriangular():
            return [first, _fitting_side(op, first, args[1], -1 if op.right else -2)]
        case Solve():
            return [first, _fitting_side(op, first, args[1], -2)]
        case _:
            return [first, *args[1:]]


def _square(x: Tensor) -> Tensor:
    return specify_length(x, x.ndim - 1, x.type.shape[-2])


def _of_shape(op: Op, x: Tensor, shape: Sequence[Dim]) -> Tensor:
    if x.ndim != len(shape):
        raise BadFile(f"{op.label} takes no argument of {x.ndim} axes there: {describe(x)}")
    for axis, length in enumerate(shape):
        x = specify_length(x, axis, length)
    return x


def _fitting_side(op: Op, a: Tensor, b: Tensor, axis: int) -> Tensor:
    """The other side of equations: the length of an axis is that of `a`, and so is the batch.

    One matrix may serve for a batch.
    """
    if b.ndim < 2 or a.ndim not in (2, b.ndim):
        raise BadFile(f"{op.label} takes no argument of {b.ndim} axes there: {describe(b)}")
    shape = list(b.type.shape)
    shape[axis] = a.type.shape[-1]
    if a.ndim > 2:
        shape[:-2] = a.type.shape[:-2]
    return _of_shape(op, b, shape)
