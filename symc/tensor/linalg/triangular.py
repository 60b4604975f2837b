"""Systems of equations with a triangular matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from symc.codegen import ir
from symc.codegen.record import record, replace
from symc.errors import LinAlgError, RankError
from symc.graph import dims
from symc.graph.inputs import as_tensor, constant_value
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.diagonals import diagonal, eye, tril, triu
from symc.tensor.elementwise import conjugated
from symc.tensor.lengths import public
from symc.tensor.linalg import reference
from symc.tensor.linalg.common import (
    OnFailure,
    adjoint,
    batch_of,
    batched_stacks,
    common_dtype,
    kind_of,
    matrices,
    nan_where_failed,
    of_one,
    raises,
    square_matrices,
    stacks,
    times,
    transposed,
)
from symc.tensor.matrix_product import agreed
from symc.tensor.reshape import reshape

__all__ = ["cho_solve", "solve_triangular"]


@record
class SolveTriangular(Op):
    """``op(a)^-1 b`` for triangles `a`, transposed first if the flag says so; or ``b op(a)^-1``.

    Of `a` nothing is read beyond the triangle, nor the diagonal where it is `unit`. One `a` may
    serve for a stack of `b`.
    """

    is_lower: bool = True
    trans: bool = False
    unit: bool = False
    right: bool = False
    checked: bool = True

    def infer(self, *args: Tensor) -> TensorType:
        return args[1].type

    def evaluate(self, *args: Array) -> Array:
        a, b = args
        triangle = reference.triangle_of(a, self.is_lower, self.unit)
        if self.trans != self.right:
            triangle = triangle.mT
        with np.errstate(all="ignore"):
            if self.right:
                return reference.solve(triangle, b.mT).mT
            return reference.solve(triangle, b)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        a, _ = node.args
        # A system with the adjoint is solved with the transpose and conjugates.
        back = replace(self, trans=not self.trans)
        to_b = conjugated(back(a, conjugated(bar)))
        pair = (adjoint(node), to_b) if self.right else (to_b, adjoint(node))
        whole = -times(*pair)
        if self.trans:
            whole = transposed(whole)
        below = -1 if self.unit else 0
        to_a = tril(whole, below) if self.is_lower else triu(whole, -below)
        return [of_one(to_a, a), to_b]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        a, b = args
        if not batched[0] and a.ndim == 2 and b.ndim == 3:
            # One matrix for all: rows, or vectors, of the whole stack are the rows of another.
            count, rows, columns = b.type.shape
            if self.right:
                tall = reshape(b, (dims.mul(count, rows), columns))
                return reshape(self(a, tall), b.type.shape)
            if columns == 1:
                turned = replace(self, trans=not self.trans, right=True)
                return reshape(turned(a, reshape(b, (count, rows))), b.type.shape)
        return self(*batched_stacks(args, batched))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        from symc.tensor.linalg.definite import Cholesky

        a = node.args[0]
        if (
            self.unit or not self.checked or isinstance(a.op, Cholesky)
        ):  # its result has no zero on the diagonal
            return
        entries = diagonal(a, 0, -2, -1)
        yield Requirement(
            OPERATORS["ne"](entries, 0),
            LinAlgError,
            lambda _: f"solve_triangular: there is a 0 on the diagonal\n  given  {describe(a)}",
        )

    def expand(self, node: Tensor) -> Tensor | None:
        """An inverse, where the right side is an identity matrix."""
        a, b = node.args
        if self.unit or a.ndim != b.ndim:
            return None
        if is_identity(b):
            below = TriangleInverse()(a if self.is_lower else transposed(a))
            return below if self.is_lower != self.trans else transposed(below)
        if self.right or not self.is_lower or not self.trans or node.dtype.is_complex:
            return None
        half = b.op == TriangleInverse() and b.args[0] is a
        return TriangleSquare()(b) if half else None

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a, b = node.args
        n, m = b.type.shape[-2:] if not self.right else b.type.shape[-2:][::-1]
        step = ir.const(0) if a.ndim < b.ndim else size(dims.mul(n, n))
        flags = (self.right, self.is_lower, self.trans, self.unit)
        return LibCall(
            "solve_triangular",
            (
                kind_of(node.dtype), size(batch_of(b)), *(ir.const(int(flag)) for flag in flags),
                size(n), size(m), Argument(0), step, Argument(1), Argument(-1),
            ),
        )  # fmt: skip


@record
class TriangleInverse(Op):
    """The inverses of lower triangles; nothing is read above the diagonal."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        triangle = reference.triangle_of(args[0], True, False)
        one = np.broadcast_to(np.eye(triangle.shape[-1], dtype=triangle.dtype), triangle.shape)
        with np.errstate(all="ignore"):
            return np.tril(reference.solve(triangle, one))

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a = node.args[0]
        args = (
            kind_of(a.dtype), size(batch_of(a)), size(a.type.shape[-1]), Argument(0), Argument(-1),
        )  # fmt: skip
        return LibCall("triangle_inverse", args)


@record
class TriangleSquare(Op):
    """``l.T @ l`` of real lower triangles that have zeros above: the other half of an inverse."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0].mT @ args[0]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        l = node.args[0]  # noqa: E741 -- its name in the literature
        args = (
            kind_of(l.dtype), size(batch_of(l)), size(l.type.shape[-1]), Argument(0), Argument(-1),
        )  # fmt: skip
        return LibCall("triangle_square", args)


def is_identity(x: Tensor) -> bool:
    """Whether a node is known to be one identity matrix."""
    value = constant_value(x)
    if value is not None:
        return value.ndim == 2 and np.array_equal(value, np.eye(*value.shape))
    n, m = x.type.shape[-2:]
    return x.ndim == 2 and n == m and x is eye(public(n), dtype=x.dtype)


def pair_of(label: str, a: TensorLike, b: TensorLike) -> tuple[Tensor, Tensor, bool]:
    """Square matrices and right sides with one dtype, and whether those are a vector.

    A vector is made a column. Raises `RankError` and `ShapeMismatch` where they do not fit.
    """
    b = as_tensor(b)
    if b.ndim == 0:
        raise RankError(f"{label} needs a vector or matrices on the right\n  given  {describe(b)}")
    vector = b.ndim == 1
    a = square_matrices(label, a)
    a, b = agreed(label, a, a.ndim - 1, b, 0 if vector else b.ndim - 2)
    b = matrices(label, reshape(b, (*b.type.shape, 1)) if vector else b)
    return (*stacks(*common_dtype(a, b)), vector)


def columns(x: Tensor, vector: bool) -> Tensor:
    """A solution, without its last axis if it is that of a vector."""
    return reshape(x, x.type.shape[:-1]) if vector else x


def solve_triangular(
    a: TensorLike,
    b: TensorLike,
    lower: bool = False,
    trans: Literal[0, 1, 2, "N", "T", "C"] = 0,
    unit_diagonal: bool = False,
    *,
    on_failure: OnFailure = "raise",
) -> Tensor:
    """The solution x of ``a x = b`` for a triangular matrix, or of ``a.T x = b`` with ``trans=1``.

    With ``trans=2`` it is that of ``a.conj().T x = b``. Only the upper triangle of `a` is read, or
    the lower one with `lower`; with `unit_diagonal` its diagonal is taken to be 1. `b` is a vector
    or a matrix; leading axes are a batch, and broadcast where their length is known to be 1. Raises
    `LinAlgError` when it runs if the diagonal has a 0; with ``on_failure="nan"`` that solution is
    all NaN instead.

    >>> import symc.tensor as T
    >>> T.linalg.solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0], lower=True).eval()
    array([1., 2.])
    """
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"solve_triangular: trans is 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    a, b, vector = pair_of("solve_triangular", a, b)
    checked = raises("solve_triangular", on_failure)
    op = SolveTriangular(bool(lower), trans not in (0, "N"), bool(unit_diagonal), checked=checked)
    found = conjugated(op(a, conjugated(b))) if trans in (2, "C") else op(a, b)
    if not checked and not unit_diagonal:
        found = nan_where_failed(found, _zeros_on_diagonal(a))
    return columns(found, vector)


def _zeros_on_diagonal(a: Tensor) -> Tensor:
    found: Tensor = OPERATORS["eq"](diagonal(a, 0, -2, -1), 0).any(axis=-1)
    return found


def cho_solve(
    c_and_lower: tuple[TensorLike, bool], b: TensorLike, *, on_failure: OnFailure = "raise"
) -> Tensor:
    """The solution x of ``a x = b``, given a Cholesky factor of `a`, and whether that is the lower.

    Raises `LinAlgError` when it runs if the factor has a 0 on its diagonal; with
    ``on_failure="nan"`` that solution is all NaN instead.

    >>> import numpy as np, symc.tensor as T
    >>> a = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> T.linalg.cho_solve((T.linalg.cholesky(a), True), [8.0, 12.0]).eval()
    array([1., 2.])
    """
    factor, lower = c_and_lower
    c, b, vector = pair_of("cho_solve", factor, b)
    checked = raises("cho_solve", on_failure)
    solve = solve_with_factor if lower else _solve_with_upper
    found = solve(c, b, checked)
    if not checked:
        found = nan_where_failed(found, _zeros_on_diagonal(c))
    return columns(found, vector)


def solve_with_factor(factor: Tensor, b: Tensor, checked: bool = True) -> Tensor:
    """The solution of a system, given the lower Cholesky factor of its matrix."""
    lower = SolveTriangular(checked=checked)
    half = lower(factor, b)
    return conjugated(replace(lower, trans=True)(factor, conjugated(half)))


def _solve_with_upper(factor: Tensor, b: Tensor, checked: bool = True) -> Tensor:
    upper = SolveTriangular(is_lower=False, checked=checked)
    half = conjugated(replace(upper, trans=True)(factor, conjugated(b)))
    return upper(factor, half)
