"""Singular values and vectors, and their uses: pseudo-inverses, least squares, ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, overload

import numpy as np

from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.errors import GradientError, RankError
from symc.graph import dims
from symc.graph.bfloat16 import finfo
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor, scalar_constant
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import (
    METHODS,
    OPERATORS,
    PROPERTIES,
    Array,
    Op,
    Requirement,
    Tensor,
    TensorLike,
)
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.diagonals import diagonal
from symc.tensor.elementwise import cast_to
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import tensor_of
from symc.tensor.linalg.common import (
    adjoint,
    batch_of,
    common_dtype,
    kind_of,
    matrices,
    off_diagonal_reciprocal,
    succeeds,
    times,
)
from symc.tensor.linalg.triangular import columns
from symc.tensor.matrix_product import agreed
from symc.tensor.views import broadcast_to, expand_dims

__all__ = ["LstsqResult", "SVDResult", "lstsq", "matrix_rank", "pinv", "svd", "svdvals"]

U, S, VH, STATUS = 0, 1, 2, 3


@record
class Svd(Op):
    """``a = u s vh``: parts 0 to 2, and 3 for the status.

    With `full`, u and vh are square; else they have as many vectors as there are singular values.
    """

    part: int
    full: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        return _type(args[0], self.part, self.full)

    def evaluate(self, *args: Array) -> Array:
        (a,) = args
        if self.part in (S, STATUS):
            return _values(a, self.part)
        try:
            return np.asarray(np.linalg.svd(a, self.full)[self.part])
        except np.linalg.LinAlgError:
            return np.full(_shape(a.shape, self.part, self.full), np.nan, a.dtype)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        (a,) = node.args
        if self.part == STATUS:
            return [None]
        if self.part == S:
            return [of_values(a, bar)]
        if self.full:
            raise GradientError(
                "svd has no gradient of vectors with full_matrices=True; use "
                f"full_matrices=False\n  given  {describe(a)}"
            )
        u, s, vh = (Svd(part)(a) for part in (U, S, VH))
        return [of_u(u, s, vh, bar) if self.part == U else _of_vh(u, s, vh, bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self.part != STATUS:
            status = Svd(STATUS, self.full)(*node.args)
            yield succeeds("svd", node.args[0], status, lambda _: "the iteration did not converge")

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        (a,) = node.args
        m, n = a.type.shape[-2:]
        left, right = (m, n) if self.full else (dims.minimum(m, n),) * 2
        args = (
            kind_of(a.dtype), size(batch_of(a)), size(m), size(n), size(left), size(right),
            Argument(0), Argument(-1), Argument(-2), Argument(-3), Argument(-4),
        )  # fmt: skip
        return LibCall("svd", args, tuple(Svd(part, self.full) for part in range(4)))


@record
class Svdvals(Op):
    """Singular values (part 1) and status (3), without vectors."""

    part: int

    def infer(self, *args: Tensor) -> TensorType:
        return _type(args[0], self.part, False)

    def evaluate(self, *args: Array) -> Array:
        return _values(args[0], self.part)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [None if self.part == STATUS else of_values(node.args[0], bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self.part != STATUS:
            status = Svdvals(STATUS)(*node.args)
            yield succeeds("svd", node.args[0], status, lambda _: "the iteration did not converge")

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        (a,) = node.args
        args = (
            kind_of(a.dtype), size(batch_of(a)), *map(size, a.type.shape[-2:]),
            Argument(0), Argument(-1), Argument(-2),
        )  # fmt: skip
        return LibCall("svdvals", args, (Svdvals(S), Svdvals(STATUS)))


def _type(a: Tensor, part: int, full: bool) -> TensorType:
    *batch, m, n = a.type.shape
    few = dims.minimum(m, n)
    shapes: list[tuple[Dim, ...]] = [(m, m if full else few), (few,), (n if full else few, n), ()]
    dtype = INT64 if part == STATUS else a.dtype.component if part == S else a.dtype
    return TensorType(dtype, (*batch, *shapes[part]))


def _shape(shape: tuple[int, ...], part: int, full: bool) -> tuple[int, ...]:
    *batch, m, n = shape
    few = min(m, n)
    shapes: list[tuple[int, ...]] = [(m, m if full else few), (few,), (n if full else few, n), ()]
    return (*batch, *shapes[part])


def _values(a: Array, part: int) -> Array:
    """Singular values or status in NumPy; NaN where nothing converges."""
    try:
        if part == S:
            return np.asarray(np.linalg.svd(a, compute_uv=False))
        if not np.isfinite(a).all():
            np.linalg.svd(a, compute_uv=False)
    except np.linalg.LinAlgError:
        if part == S:
            return np.full(_shape(a.shape, S, False), np.nan, np.real(a).dtype)
        return np.ones(a.shape[:-2], np.int64)
    return np.zeros(a.shape[:-2], np.int64)


# --- gradients ------------------------------------------------------------------------------------


def of_values(a: Tensor, bar: Tensor) -> Tensor:
    """The gradient of a matrix from that of its singular values."""
    return times(Svd(U)(a) * expand_dims(bar, -2), Svd(VH)(a))


def of_u(u: Tensor, s: Tensor, vh: Tensor, bar: Tensor) -> Tensor:
    """The gradient of a matrix from that of its left singular vectors.

    They must differ in their singular values, which must not be 0 (Townsend 2016, "Differentiating
    the singular value decomposition"). Of complex vectors, the cost must not depend on
    the phase that a left and a right one have in common: each side then has half of the rest.
    """
    inside = times(adjoint(u), bar)
    row, column = expand_dims(s, -2), expand_dims(s, -1)
    gaps = (row - column) * (row + column)  # of squares, which keep their digits as factors
    turned = (inside - adjoint(inside)) * off_diagonal_reciprocal(gaps) * row
    outside = (bar - times(u, inside)) / expand_dims(s, -2)
    if u.dtype.is_complex:
        phases = PROPERTIES["imag"](diagonal(inside, 0, -2, -1)) / s
        outside = outside + u * expand_dims(0.5j * phases, -2)
    return times(times(u, turned) + outside, vh)


def _of_vh(u: Tensor, s: Tensor, vh: Tensor, bar: Tensor) -> Tensor:
    return adjoint(of_u(adjoint(vh), s, adjoint(u), adjoint(bar)))


# --- pseudo-inverses and least squares ------------------------------------------------------------


@record
class PseudoInverse(Op):
    """The Moore-Penrose inverse: singular values up to ``cutoff`` times the largest count as 0."""

    def infer(self, *args: Tensor) -> TensorType:
        *batch, m, n = args[0].type.shape
        return TensorType(args[0].dtype, (*batch, n, m))

    def evaluate(self, *args: Array) -> Array:
        a, cutoff = args
        try:
            return np.asarray(np.linalg.pinv(a, cutoff))
        except np.linalg.LinAlgError:
            return np.full_like(a.mT, np.nan)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        # Golub and Pereyra 1973, for matrices whose rank does not change.
        a, _ = node.args
        p, back, turned = node, adjoint(node), adjoint(bar)
        beside = times(turned - times(a, p, turned), p, back)
        below = times(back, p, turned - times(turned, p, a))
        return [beside + below - times(back, bar, back), None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        return Svd(U)(node.args[0]).op.require(Svd(U)(node.args[0]))

    def expand(self, node: Tensor) -> Tensor:
        a, cutoff = node.args
        u, s, vh = (Svd(part)(a) for part in (U, S, VH))
        return times(adjoint(vh) * expand_dims(_inverted(s, cutoff), -2), adjoint(u))


@record
class LeastSquares(Op):
    """The shortest x for which ``a x - b`` is shortest, or with the adjoint of `a`."""

    trans: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        a, b, _ = args
        length = a.type.shape[-2 if self.trans else -1]
        return TensorType(b.dtype, (*b.type.shape[:-2], length, b.type.shape[-1]))

    def evaluate(self, *args: Array) -> Array:
        a, b, cutoff = args
        inverse = PseudoInverse().evaluate(a, cutoff)
        return np.asarray((inverse.mT.conj() if self.trans else inverse) @ b)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        # That of ``pinv(a) @ b``, for matrices whose rank does not change.
        a, b, cutoff = node.args
        m = adjoint(a) if self.trans else a
        there, back = LeastSquares(self.trans), LeastSquares(not self.trans)
        to_b = back(a, bar, cutoff)
        beside = times(b - times(m, node), adjoint(there(a, to_b, cutoff)))
        below = times(back(a, node, cutoff), adjoint(bar - times(adjoint(m), to_b)))
        to_a = beside + below - times(to_b, adjoint(node))
        return [adjoint(to_a) if self.trans else to_a, to_b, None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        *pair, cutoff = args
        size = next(x.type.shape[0] for x, flag in zip(pair, batched[:2], strict=True) if flag)
        whole = [
            x if flag else broadcast_to(x, (size, *x.type.shape))
            for x, flag in zip(pair, batched[:2], strict=True)
        ]
        return self(*whole, cutoff)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        return Svd(U)(node.args[0]).op.require(Svd(U)(node.args[0]))

    def expand(self, node: Tensor) -> Tensor:
        a, b, cutoff = node.args
        u, s, vh = (Svd(part)(a) for part in (U, S, VH))
        left, right = (adjoint(vh), u) if self.trans else (u, adjoint(vh))
        inside = times(adjoint(left), b) * expand_dims(_inverted(s, cutoff), -1)
        return times(right, inside)


def _inverted(s: Tensor, cutoff: Tensor) -> Tensor:
    """Reciprocals of singular values; 0 for those that count as 0."""
    large = _counts(s, cutoff)
    return OPERATORS["where"](large, 1.0 / OPERATORS["where"](large, s, 1.0), 0.0)


def _counts(s: Tensor, cutoff: Tensor) -> Tensor:
    """Which singular values are above `cutoff` times the largest; it may have the leading axes."""
    return OPERATORS["gt"](s, _beside(cutoff) * _largest(s))


def _beside(limit: Tensor) -> Tensor:
    """One number for each matrix, beside its singular values; a number for all stays as it is."""
    return expand_dims(limit, -1) if limit.ndim else limit


def _largest(s: Tensor) -> Tensor:
    """The largest singular value of each matrix, its axis kept; 0 for none."""
    return reduce_over("max", s, (s.ndim - 1,), keepdims=True, allow_empty=True)


# --- functions for users --------------------------------------------------------------------------
# ---------------------------------------------------------------------------


class SVDResult(NamedTuple):
    """Left singular vectors (columns), singular values (descending), right ones (rows).

    `symc.tensor.linalg.svd` gives it: ``a = U * S @ Vh``.

    >>> import symc.tensor as T
    >>> u, s, vh = T.linalg.svd([[3.0, 0.0], [0.0, 2.0]])
    >>> s.eval()
    array([3., 2.])
    """

    U: Tensor
    S: Tensor
    Vh: Tensor


class LstsqResult(NamedTuple):
    """The solution, each column's sum of squared errors, the rank, the singular values.

    `symc.tensor.linalg.lstsq` gives it.

    >>> import symc.tensor as T
    >>> found = T.linalg.lstsq([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0])
    >>> found.x.eval().round(6), found.rank.eval()
    (array([1., 2.]), array(2))
    """

    x: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


@overload
def svd(
    a: TensorLike, full_matrices: bool = True, compute_uv: Literal[True] = True
) -> SVDResult: ...
@overload
def svd(a: TensorLike, full_matrices: bool, compute_uv: Literal[False]) -> Tensor: ...
@overload
def svd(a: TensorLike, full_matrices: bool = True, *, compute_uv: Literal[False]) -> Tensor: ...
def svd(a: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> SVDResult | Tensor:
    """The singular value decomposition ``a = u @ diag(s) @ vh``; leading axes are a batch.

    u and vh are square, or with ``full_matrices=False`` have only as many vectors as there are
    singular values; with ``compute_uv=False`` the result is s alone. The gradient of vectors needs
    ``full_matrices=False`` and values that differ from each other and from 0. Raises `LinAlgError`
    when it runs if the iteration does not converge.

    >>> import symc.tensor as T
    >>> T.linalg.svd([[3.0, 0.0], [0.0, -2.0]], compute_uv=False).eval()
    array([3., 2.])
    """
    a = matrices("svd", a)
    if not compute_uv:
        return Svdvals(S)(a)
    return SVDResult(*(Svd(part, bool(full_matrices))(a) for part in (U, S, VH)))


def svdvals(a: TensorLike) -> Tensor:
    """The singular values of matrices, descending: as `svd`, without vectors.

    Leading axes are a batch.

    >>> import symc.tensor as T
    >>> T.linalg.svdvals([[3.0, 0.0], [4.0, 1.0]]).eval()
    array([5.0644951 , 0.59235915])
    """
    return Svdvals(S)(matrices("svdvals", a))


def pinv(a: TensorLike, rcond: TensorLike = 1e-15) -> Tensor:
    """The Moore-Penrose inverses of matrices; leading axes are a batch.

    Singular values up to `rcond` times the largest count as 0; it may have the leading axes. The
    gradient is right where those are 0, and the rank does not change.

    >>> import symc.tensor as T
    >>> T.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).eval()
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    a = matrices("pinv", a)
    return PseudoInverse()(a, cast_to(as_tensor(rcond), a.dtype.component))


def lstsq(a: TensorLike, b: TensorLike, rcond: TensorLike | None = None) -> LstsqResult:
    """The x for which ``a @ x`` comes nearest to `b`, a vector or a matrix.

    Of several, it is the shortest. Singular values up to `rcond` times the largest count as 0
    (None: the rounding error of the dtype times the greater length). Residuals are given whatever
    the rank is. The gradient of x is right where the rank does not change.

    >>> import symc.tensor as T
    >>> T.linalg.lstsq([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0]).x.eval().round(12)
    array([1., 2.])
    """
    a, right = matrices("lstsq", a), as_tensor(b)
    vector = right.ndim == 1
    a, right = common_dtype(a, matrices("lstsq", expand_dims(right, 1) if vector else right))
    for x in (a, right):
        if x.ndim != 2:
            raise RankError(f"lstsq needs one matrix\n  given  {describe(x)}")
    a, right = agreed("lstsq", a, 0, right, 0)
    cutoff = _relative(a) if rcond is None else cast_to(as_tensor(rcond), a.dtype.component)
    x, s = LeastSquares()(a, right, cutoff), Svd(S)(a)
    errors = reduce_over("add", OPERATORS["sqr"](OPERATORS["abs"](right - times(a, x))), (0,))
    rank = _count(_counts(s, cutoff))
    return LstsqResult(columns(x, vector), errors, rank, s)


def matrix_rank(
    a: TensorLike, tol: TensorLike | None = None, *, rtol: TensorLike | None = None
) -> Tensor:
    """How many singular values are above `tol`, or above `rtol` times the largest: int64.

    Either may be one for each matrix of a batch. The default is the rounding error of the dtype
    times the greater length, as `rtol`. With fewer than 2 axes it is 1 unless all elements
    are 0. Leading axes are a batch.

    >>> import symc.tensor as T
    >>> T.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).eval()
    array(1)
    """
    if tol is not None and rtol is not None:
        raise ValueError("matrix_rank: tol and rtol cannot both be given")
    a = as_tensor(a)
    if a.ndim < 2:
        return cast_to(METHODS["any"](OPERATORS["ne"](a, 0)), INT64)
    a = matrices("matrix_rank", a)
    s = Svdvals(S)(a)
    if tol is not None:
        return _count(OPERATORS["gt"](s, _beside(as_tensor(tol))))
    return _count(_counts(s, _relative(a) if rtol is None else as_tensor(rtol)))


def _relative(a: Tensor) -> Tensor:
    """The rounding error of a dtype times the greater of a matrix' lengths."""
    dtype = a.dtype.component
    epsilon = scalar_constant(float(finfo(dtype).eps), dtype)
    return epsilon * cast_to(tensor_of(dims.maximum(*a.type.shape[-2:])), dtype)


def _count(flags: Tensor) -> Tensor:
    return reduce_over("add", cast_to(flags, INT64), (flags.ndim - 1,))
