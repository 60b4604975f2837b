"""Square matrices of any kind: systems of equations, inverses and determinants, by LU.

What users build are ops on the matrix itself. They expand into one factorisation of it, which is
shared by all that ask for the same matrix or its transpose, and into cheap ops on its factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.graph import OPERATORS, PROPERTIES, Array, Op, Requirement, Tensor, TensorLike
from symc.lowering import Argument, LibCall, SizeOf
from symc.tensor.build import arange
from symc.tensor.diagonals import diagonal, eye
from symc.tensor.elementwise import conjugated
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import public
from symc.tensor.linalg import reference
from symc.tensor.linalg.common import (
    adjoint,
    batch_of,
    batched_stacks,
    folded,
    kind_of,
    mirrored,
    of_one,
    square_matrices,
    succeeds,
    times,
    transposed,
)
from symc.tensor.linalg.definite import Cholesky
from symc.tensor.linalg.triangular import (
    SolveTriangular,
    columns,
    pair_of,
    solve_with_factor,
)
from symc.tensor.reshape import reshape
from symc.tensor.views import broadcast_to, expand_dims
from symc.types import TensorType

__all__ = ["SlogdetResult", "det", "inv", "slogdet", "solve"]

# --- the factorisation ----------------------------------------------------------------------------

FACTORS, PIVOTS, STATUS = 0, 1, 2


@record
class Lu(Op):
    """``a = l u p``: both factors in one (part 0), exchanges of columns (1), and 0 if regular (2).

    u has ones on its diagonal, which is l's then; `reference.lu` says it in NumPy.
    """

    part: int

    def infer(self, *args: Tensor) -> TensorType:
        shape = args[0].type.shape
        if self.part == FACTORS:
            return args[0].type
        return TensorType(INT64, shape[:-1] if self.part == PIVOTS else shape[:-2])

    def evaluate(self, *args: Array) -> Array:
        if self.part == STATUS:
            return reference.lu_status(args[0])
        return reference.lu(args[0])[self.part]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a = node.args[0]
        args = (
            kind_of(a.dtype), size(batch_of(a)), size(a.type.shape[-1]),
            Argument(0), Argument(-1), Argument(-2), Argument(-3),
        )  # fmt: skip
        return LibCall("lu", args, (Lu(FACTORS), Lu(PIVOTS), Lu(STATUS)))


@record
class LuSolve(Op):
    """``a^-1 b`` from the factors and pivots of `a`, which is transposed if the flag says so."""

    trans: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        return args[2].type

    def evaluate(self, *args: Array) -> Array:
        factors, pivots, x = args
        upper = reference.triangle_of(factors, False, True)
        lower = reference.triangle_of(factors, True, False)
        with np.errstate(all="ignore"):
            if self.trans:
                x = reference.exchanged(x, pivots, False)
                return reference.solve(lower.mT, reference.solve(upper.mT, x))
            x = reference.solve(upper, reference.solve(lower, x))
            return reference.exchanged(x, pivots, True)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        factors, _, b = node.args
        n, m = b.type.shape[-2:]
        args = (
            kind_of(node.dtype), size(batch_of(b)), ir.const(int(self.trans)), size(n), size(m),
            Argument(0), Argument(1), ir.const(int(factors.ndim == b.ndim)), Argument(2),
            Argument(-1),
        )  # fmt: skip
        return LibCall("lu_solve", args)


@record
class LuInverse(Op):
    """The inverse, from factors and pivots."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        factors, pivots = args
        eye = np.broadcast_to(np.eye(factors.shape[-1], dtype=factors.dtype), factors.shape)
        return LuSolve().evaluate(factors, pivots, eye)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        factors = node.args[0]
        args = (
            kind_of(factors.dtype), size(batch_of(factors)), size(factors.type.shape[-1]),
            Argument(0), Argument(1), Argument(-1),
        )  # fmt: skip
        return LibCall("lu_inverse", args)


def _factors(a: Tensor) -> tuple[Tensor, Tensor]:
    return Lu(FACTORS)(a), Lu(PIVOTS)(a)


def _is_regular(label: str, a: Tensor) -> Requirement:
    return succeeds(label, a, Lu(STATUS)(a), lambda pivot: f"is singular: pivot {pivot} is 0")


# --- systems and inverses -------------------------------------------------------------------------


@record
class Solve(Op):
    """``a^-1 b``, or with the transpose of `a`. One `a` may serve for a stack of `b`.

    With `definite`, only the lower triangle of `a` is read, which is symmetric.
    """

    trans: bool = False
    definite: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        return args[1].type

    def evaluate(self, *args: Array) -> Array:
        a, b = args
        if self.definite:
            a = reference.mirrored(a)
        return reference.solve(a.mT if self.trans else a, b)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        a, _ = node.args
        if self.definite:
            to_b = self(a, bar)
            return [of_one(folded(-times(to_b, adjoint(node))), a), to_b]
        # With the adjoint: with the transpose and conjugates, by the same factors.
        to_b = conjugated(Solve(not self.trans)(a, conjugated(bar)))
        to_a = -times(to_b, adjoint(node))
        return [of_one(transposed(to_a) if self.trans else to_a, a), to_b]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        a, b = args
        if not batched[0] and a.ndim == 2 and b.ndim == 3 and b.type.shape[2] == 1:
            # Vectors that are solved for with one matrix are the columns of another.
            shape = b.type.shape
            found = self(a, transposed(reshape(b, shape[:2])))
            return reshape(transposed(found), shape)
        return self(*batched_stacks(args, batched))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        a = node.args[0]
        if self.definite:
            yield from Cholesky()(a).op.require(Cholesky()(a))
        else:
            yield _is_regular("solve", a)

    def expand(self, node: Tensor) -> Tensor:
        a, b = node.args
        if self.definite:
            return solve_with_factor(Cholesky()(a), b)
        return LuSolve(self.trans)(*_factors(a), b)


@record
class Inverse(Op):
    """The inverses of matrices."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return reference.one_by_one(np.linalg.inv, args[0])

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        turned = adjoint(node)
        return [-times(turned, bar, turned)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        yield _is_regular("inv", node.args[0])

    def expand(self, node: Tensor) -> Tensor:
        (a,) = node.args
        if isinstance(a.op, Cholesky):
            one = eye(public(a.type.shape[-1]), dtype=a.dtype)
            return SolveTriangular()(a, broadcast_to(one, a.type.shape))
        return LuInverse()(*_factors(a))


# --- determinants ---------------------------------------------------------------------------------


@record
class Determinant(Op):
    """The determinant (of "value"), its sign, or the logarithm of its absolute value."""

    of: Literal["value", "sign", "log"] = "value"

    @property
    def label(self) -> str:
        return "det" if self.of == "value" else "slogdet"

    def infer(self, *args: Tensor) -> TensorType:
        dtype = args[0].dtype
        return TensorType(dtype.component if self.of == "log" else dtype, args[0].type.shape[:-2])

    def evaluate(self, *args: Array) -> Array:
        with np.errstate(all="ignore"):
            if self.of == "value":
                return np.asarray(np.linalg.det(args[0]))
            return np.asarray(np.linalg.slogdet(args[0])[self.of == "log"])

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        (a,) = node.args
        match self.of:
            case "value":
                scale = bar * conjugated(node)
            case "log":
                scale = bar
            case "sign":
                if not a.dtype.is_complex:
                    return [None]
                # It turns by the imaginary part of what the logarithm grows by.
                scale = 1j * PROPERTIES["imag"](bar * conjugated(node))
        return [expand_dims(scale, (-2, -1)) * adjoint(Inverse()(a))]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def expand(self, node: Tensor) -> Tensor:
        factors, pivots = _factors(node.args[0])
        entries = diagonal(factors, 0, -2, -1)
        last = entries.ndim - 1
        if self.of == "log":
            return reduce_over("add", OPERATORS["log"](OPERATORS["abs"](entries)), (last,))
        moved = OPERATORS["ne"](pivots, arange(public(pivots.type.shape[-1])))
        turned = OPERATORS["where"](moved, -entries, entries)
        if self.of == "sign":
            turned = OPERATORS["sign"](turned)
        return reduce_over("mul", turned, (last,))


class SlogdetResult(NamedTuple):
    """The sign of a determinant and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


# --- what users call ------------------------------------------------------------------------------


def solve(a: TensorLike, b: TensorLike, assume_a: Literal["gen", "sym", "pos"] = "gen") -> Tensor:
    """The solution x of ``a x = b`` for square matrices; `b` is a vector or a matrix.

    Leading axes are a batch, and broadcast where their length is known to be 1. With
    ``assume_a="sym"`` or ``"pos"``, `a` is symmetric (Hermitian), or also positive definite, and
    only its lower triangle is read. Raises `LinAlgError` when it runs if a matrix is singular, or
    not definite as assumed.

    >>> import symc.tensor as T
    >>> T.linalg.solve([[3.0, 1.0], [1.0, 2.0]], [9.0, 8.0]).eval()
    array([2., 3.])
    """
    if assume_a not in ("gen", "sym", "pos"):
        raise ValueError(f"solve: assume_a is 'gen', 'sym' or 'pos', not {assume_a!r}")
    a, b, vector = pair_of("solve", a, b)
    if assume_a == "sym":
        a = mirrored(a)
    return columns(Solve(definite=assume_a == "pos")(a, b), vector)


def inv(a: TensorLike) -> Tensor:
    """The inverses of square matrices; leading axes are a batch.

    ``inv(a) @ b`` is computed as ``solve(a, b)``. Raises `LinAlgError` when it runs if a matrix is
    singular.

    >>> import symc.tensor as T
    >>> T.linalg.inv([[1.0, 2.0], [3.0, 5.0]]).eval().round(12)
    array([[-5.,  2.],
           [ 3., -1.]])
    """
    return Inverse()(square_matrices("inv", a))


def det(a: TensorLike) -> Tensor:
    """The determinants of square matrices; leading axes are a batch. Its gradient needs an inverse.

    >>> import symc.tensor as T
    >>> T.linalg.det([[1.0, 2.0], [3.0, 4.0]]).eval().round(12)
    np.float64(-2.0)
    """
    return Determinant()(square_matrices("det", a))


def slogdet(a: TensorLike) -> SlogdetResult:
    """The signs of determinants, and the logarithms of their absolute values.

    >>> import symc.tensor as T
    >>> sign, logabsdet = T.linalg.slogdet(T.constant([[0.0, 1.0], [1.0, 0.0]]))
    >>> sign.eval(), logabsdet.eval()
    (array(-1.), array(0.))
    """
    a = square_matrices("slogdet", a)
    return SlogdetResult(Determinant("sign")(a), Determinant("log")(a))
