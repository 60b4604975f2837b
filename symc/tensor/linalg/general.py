"""Square matrices of any kind: systems of equations, inverses and determinants, by LU.

Users build ops on the matrix itself. They expand into one factorisation of it, which is
shared by all that ask for the same matrix or its transpose, and into cheap ops on its factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.record import record, replace
from symc.graph.bfloat16 import finfo
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import OPERATORS, PROPERTIES, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.build import arange
from symc.tensor.diagonals import diagonal, eye
from symc.tensor.elementwise import ELEMENTWISE, conjugated
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import public
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
    of_one,
    raises,
    square_matrices,
    succeeds,
    times,
    transposed,
)
from symc.tensor.linalg.definite import STATUS as DEFINITE
from symc.tensor.linalg.definite import Cholesky
from symc.tensor.linalg.triangular import (
    TriangleInverse,
    columns,
    pair_of,
    solve_with_factor,
)
from symc.tensor.reshape import reshape
from symc.tensor.views import broadcast_to, expand_dims

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
class Exchanged(Op):
    """``p^-1 b`` for ``a = l u p``, from the pivots: rows exchanged, and nothing computed."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[1].type

    def evaluate(self, *args: Array) -> Array:
        return reference.exchanged(args[1], args[0], True)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        many = args[batched.index(True)].type.shape[0]
        wide = [
            x if flag else broadcast_to(x, (many, *x.type.shape))
            for x, flag in zip(args, batched, strict=True)
        ]
        return self(*wide)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        n, m = node.type.shape[-2:]
        lengths = (size(batch_of(node)), size(n), size(m))
        args = (kind_of(node.dtype), *lengths, Argument(0), Argument(1), Argument(-1))
        return LibCall("exchanged", args)


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
    checked: bool = True

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
        to_b = conjugated(replace(self, trans=not self.trans)(a, conjugated(bar)))
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
        if not self.checked:
            return
        if self.definite:
            yield from Cholesky()(a).op.require(Cholesky()(a))
        else:
            yield _is_regular("solve", a)

    def expand(self, node: Tensor) -> Tensor:
        a, b = node.args
        if self.definite:
            return solve_with_factor(Cholesky(checked=self.checked)(a), b, self.checked)
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
            return TriangleInverse()(a)
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
                quotient = without_divisor(bar, node)
                if quotient is None:
                    return [expand_dims(bar, (-2, -1)) * Cofactors()(a)]
                scale = quotient  # the gradient of a logarithm: the determinant may overflow
            case "log":
                scale = bar
            case "sign":
                if not a.dtype.is_complex:
                    return [None]
                # It turns by the imaginary part of the logarithm's increase.
                scale = 1j * PROPERTIES["imag"](bar * conjugated(node))
        return [expand_dims(scale, (-2, -1)) * adjoint(Inverse()(a))]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def expand(self, node: Tensor) -> Tensor:
        factors, pivots = _factors(node.args[0])
        if self.of == "log":
            entries = diagonal(factors, 0, -2, -1)
            sizes = OPERATORS["log"](OPERATORS["abs"](entries))
            return reduce_over("add", sizes, (entries.ndim - 1,))
        turned = _turned_pivots(factors, pivots)
        if self.of == "sign":
            turned = OPERATORS["sign"](turned)
        return reduce_over("mul", turned, (turned.ndim - 1,))


def _turned_pivots(factors: Tensor, pivots: Tensor) -> Tensor:
    """The numbers whose product is the determinant: exchanges of columns turn its sign."""
    entries = diagonal(factors, 0, -2, -1)
    moved = OPERATORS["ne"](pivots, arange(public(pivots.type.shape[-1])))
    return OPERATORS["where"](moved, -entries, entries)


def without_divisor(product: Tensor, det: Tensor) -> Tensor | None:
    """The product times its divisor, ``x / det`` or ``x / abs(det) * sign(det)``: x."""
    divide = ELEMENTWISE["div"]
    if product.op is divide and product.args[1] is det:
        return product.args[0]
    if product.op is not ELEMENTWISE["mul"] or det.dtype.is_complex:
        return None
    size, sign = OPERATORS["abs"](det), OPERATORS["sign"](det)
    for quotient, turned in (product.args, product.args[::-1]):
        if turned is sign and quotient.op is divide and quotient.args[1] is size:
            return quotient.args[0]
    return None


@record
class Cofactors(Op):
    """The gradient of the determinants: ``conj(det(a)) * adjoint(inv(a))``, also if a is singular.

    They are polynomials in the elements, so pivots that are 0 may be replaced by a rounding error.
    """

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        try:
            u, s, vh = np.linalg.svd(args[0])
        except np.linalg.LinAlgError:
            return np.full_like(args[0], np.nan)
        others = np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
        sign = np.conj(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
        return np.asarray(sign * (u * others[..., None, :]) @ vh, dtype=args[0].dtype)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        (a,) = node.args
        turned = adjoint(Inverse()(a))
        along = reduce_over("add", conjugated(bar) * turned, (a.ndim - 2, a.ndim - 1), True)
        det = expand_dims(conjugated(Determinant()(a)), (-2, -1))
        return [along * node - det * times(turned, adjoint(bar), turned)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def expand(self, node: Tensor) -> Tensor:
        factors, pivots = _factors(node.args[0])
        sizes: Tensor = OPERATORS["abs"](factors)
        last = (factors.ndim - 2, factors.ndim - 1)
        scale = reduce_over("max", sizes, last, keepdims=True, allow_empty=True)
        scale = OPERATORS["where"](OPERATORS["gt"](scale, 0), scale, 1)
        tiny = scale * float(finfo(factors.dtype).eps)
        on_diagonal = eye(public(factors.type.shape[-1]), dtype=BOOL)
        lost = OPERATORS["logical_and"](on_diagonal, OPERATORS["le"](sizes, tiny * tiny / scale))
        factors = OPERATORS["where"](lost, tiny, factors)
        turned = _turned_pivots(factors, pivots)
        det = reduce_over("mul", turned, (turned.ndim - 1,))
        return expand_dims(conjugated(det), (-2, -1)) * adjoint(LuInverse()(factors, pivots))

    @property
    def label(self) -> str:
        return "cofactors"


class SlogdetResult(NamedTuple):
    """The sign of a determinant and the logarithm of its absolute value.

    `symc.tensor.linalg.slogdet` gives it; it is a pair.

    >>> import symc.tensor as T
    >>> found = T.linalg.slogdet([[2.0, 0.0], [0.0, 3.0]])
    >>> found.sign.eval(), found.logabsdet.eval()
    (array(1.), array(1.79175947))
    """

    sign: Tensor
    logabsdet: Tensor


# --- functions for users --------------------------------------------------------------------------
# ---------------------------------------------------------------------------


def solve(
    a: TensorLike,
    b: TensorLike,
    assume_a: Literal["gen", "sym", "pos"] = "gen",
    *,
    on_failure: OnFailure = "raise",
) -> Tensor:
    """The solution x of ``a x = b`` for square matrices; `b` is a vector or a matrix.

    Leading axes are a batch, and broadcast where their length is known to be 1. With
    ``assume_a="sym"`` or ``"pos"``, `a` is symmetric (Hermitian), or also positive definite, and
    only its lower triangle is read. Raises `LinAlgError` when it runs if a matrix is singular, or
    not definite as assumed; with ``on_failure="nan"`` that solution is all NaN instead.

    >>> import symc.tensor as T
    >>> T.linalg.solve([[3.0, 1.0], [1.0, 2.0]], [9.0, 8.0]).eval()
    array([2., 3.])
    """
    if assume_a not in ("gen", "sym", "pos"):
        raise ValueError(f"solve: assume_a is 'gen', 'sym' or 'pos', not {assume_a!r}")
    a, b, vector = pair_of("solve", a, b)
    if assume_a == "sym":
        a = mirrored(a)
    definite, checked = assume_a == "pos", raises("solve", on_failure)
    found = Solve(definite=definite, checked=checked)(a, b)
    if not checked:
        info = Cholesky(DEFINITE, checked=False)(a) if definite else Lu(STATUS)(a)
        found = nan_where_failed(found, info)
    return columns(found, vector)


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
    """The determinants of square matrices; leading axes are a batch.

    The gradient is the matrix of cofactors, also of a singular matrix; the derivative of the
    gradient needs an inverse.

    >>> import symc.tensor as T
    >>> T.linalg.det([[1.0, 2.0], [3.0, 4.0]]).eval().round(12)
    np.float64(-2.0)
    """
    return Determinant()(square_matrices("det", a))


def slogdet(a: TensorLike) -> SlogdetResult:
    """The signs of determinants, and the logarithms of their absolute values.

    Of square matrices on the last two axes; other axes are a batch. Of a singular one the sign is 0
    and the logarithm -inf. Raises ShapeMismatch unless they are square.

    >>> import symc.tensor as T
    >>> sign, logabsdet = T.linalg.slogdet(T.constant([[0.0, 1.0], [1.0, 0.0]]))
    >>> sign.eval(), logabsdet.eval()
    (array(-1.), array(0.))
    """
    a = square_matrices("slogdet", a)
    return SlogdetResult(Determinant("sign")(a), Determinant("log")(a))
