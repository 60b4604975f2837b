"""Rules of linear algebra: no inverse where a system is solved, and structure that is known.

They are imported with `T.linalg`: without it no graph has such ops. Canonical: a system of
equations is a `Solve` of the matrix itself, not of its transpose; a triangular one is a
`SolveTriangular` with the factor as it was computed.
"""

from __future__ import annotations

from symc.codegen.dtypes import INT64
from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.rewrite.products import is_transpose
from symc.rewrite.rule import EXACT, ROUNDS, Rules
from symc.tensor.build import zeros
from symc.tensor.diagonals import diagonal
from symc.tensor.elementwise import ELEMENTWISE, cast_to, conjugated
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import public
from symc.tensor.linalg.common import Square, transposed
from symc.tensor.linalg.definite import FACTOR, Cholesky
from symc.tensor.linalg.general import STATUS, Determinant, Inverse, Lu, Solve, without_divisor
from symc.tensor.linalg.orthogonal import Qr, R
from symc.tensor.linalg.triangular import SolveTriangular
from symc.tensor.logic import eq
from symc.tensor.matrix_product import MatMul, MatVec
from symc.tensor.reshape import reshape
from symc.tensor.views import DimShuffle

LINALG = Rules("linalg")
LINALG_DIGITS = Rules("stability")
structural = LINALG.structural

_log, _abs, _sign = ELEMENTWISE["log"], ELEMENTWISE["abs"], ELEMENTWISE["sign"]
_conj = ELEMENTWISE["conj"]
_mul, _div = ELEMENTWISE["mul"], ELEMENTWISE["div"]


def _is_factor(node: Tensor) -> bool:
    return isinstance(node.op, Cholesky) and node.op.part == FACTOR


def _factor_of_product(node: Tensor) -> Tensor | None:
    """The Cholesky factor l of which a matrix is the product ``l @ l.T``."""
    twice = node.op == MatMul(False, True) and node.args[0] is node.args[1]
    if not twice or node.dtype.is_complex or not _is_factor(node.args[0]):
        return None
    return node.args[0]


@structural("a transpose that is square", Square, valid=EXACT, inner=[DimShuffle])
def _square_transpose(node: Tensor) -> Tensor | None:
    inner = node.args[0]
    return transposed(node.op(inner.args[0])) if is_transpose(inner) else None


# --- inverses -------------------------------------------------------------------------------------


@structural("an inverse times a matrix", MatMul, valid=ROUNDS, inner=[Inverse])
def _inverse_in_product(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, MatMul)
    a, b = node.args
    if isinstance(a.op, Inverse):
        right = transposed(b) if node.op.trans_b else b
        return Solve(node.op.trans_a)(a.args[0], right)
    if isinstance(b.op, Inverse):
        left = a if node.op.trans_a else transposed(a)
        return transposed(Solve(not node.op.trans_b)(b.args[0], left))
    return None


@structural("an inverse times a vector", MatVec, valid=ROUNDS, inner=[Inverse])
def _inverse_times_vector(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, MatVec)
    a, x = node.args
    if not isinstance(a.op, Inverse):
        return None
    column = reshape(x, (*x.type.shape, 1))
    return reshape(Solve(node.op.trans)(a.args[0], column), x.type.shape)


@structural("an inverse of an inverse", Inverse, valid=ROUNDS, inner=[Inverse])
def _inverse_of_inverse(node: Tensor) -> Tensor | None:
    inner = node.args[0]
    return inner.args[0] if isinstance(inner.op, Inverse) else None


@structural("an inverse of a transpose", Inverse, valid=ROUNDS, inner=[DimShuffle])
def _inverse_of_transpose(node: Tensor) -> Tensor | None:
    inner = node.args[0]
    return transposed(Inverse()(inner.args[0])) if is_transpose(inner) else None


# --- systems --------------------------------------------------------------------------------------


@structural("a system with a transpose", Solve, valid=ROUNDS, inner=[DimShuffle])
def _solve_transpose(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, Solve)
    a, b = node.args
    if node.op.definite or not is_transpose(a):
        return None
    return replace(node.op, trans=not node.op.trans)(a.args[0], b)


@structural(
    "a triangular system with a transpose", SolveTriangular, valid=ROUNDS, inner=[DimShuffle]
)
def _solve_transposed_triangle(node: Tensor) -> Tensor | None:
    op = node.op
    assert isinstance(op, SolveTriangular)
    a, b = node.args
    if not is_transpose(a):
        return None
    return replace(op, is_lower=not op.is_lower, trans=not op.trans)(a.args[0], b)


@structural("a system with a triangle", Solve, valid=ROUNDS, inner=[Cholesky, Qr])
def _solve_triangle(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, Solve)
    a, b = node.args
    if node.op.definite:
        return None
    if _is_factor(a):
        return SolveTriangular(trans=node.op.trans, checked=node.op.checked)(a, b)
    if isinstance(a.op, Qr) and a.op.part == R:
        upper = SolveTriangular(is_lower=False, trans=node.op.trans, checked=node.op.checked)
        return upper(a, b)
    return None


@structural("a system with a Cholesky product", Solve, valid=ROUNDS, inner=[MatMul])
def _solve_product(node: Tensor) -> Tensor | None:
    a, b = node.args
    factor = _factor_of_product(a)
    if factor is None:
        return None
    assert isinstance(node.op, Solve)
    lower = SolveTriangular(checked=node.op.checked)
    return replace(lower, trans=True)(factor, lower(factor, b))


@structural(
    "whether a matrix is regular, known of another", Lu, valid=ROUNDS,
    inner=[DimShuffle, Inverse, Cholesky, MatMul, Qr],
)  # fmt: skip
def _known_status(node: Tensor) -> Tensor | None:
    """Only whether it is 0 is asked: so that nothing is factorised to find out."""
    (a,) = node.args
    if node.op != Lu(STATUS):
        return None
    if is_transpose(a) or isinstance(a.op, Inverse):
        return Lu(STATUS)(a.args[0])
    if _is_factor(a) or _factor_of_product(a) is not None:
        return zeros(tuple(map(public, node.type.shape)), dtype=INT64)
    if isinstance(a.op, Qr) and a.op.part == R:
        entries = diagonal(a, 0, -2, -1)
        return reduce_over("add", cast_to(eq(entries, 0), INT64), (entries.ndim - 1,))
    return None


# --- determinants ---------------------------------------------------------------------------------


@LINALG_DIGITS.structural(
    "a logarithm of a determinant", _log, valid=ROUNDS, inner=[Determinant, _abs]
)
def _log_of_det(node: Tensor) -> Tensor | None:
    inner = node.args[0]
    if _is_det(inner):
        a = inner.args[0]
        return Determinant("log")(a) + _log(Determinant("sign")(a))
    if inner.op is _abs and _is_det(inner.args[0]):
        return Determinant("log")(inner.args[0].args[0])
    return None


@LINALG_DIGITS.structural("a sign of a determinant", _sign, valid=ROUNDS, inner=[Determinant])
def _sign_of_det(node: Tensor) -> Tensor | None:
    inner = node.args[0]
    return Determinant("sign")(inner.args[0]) if _is_det(inner) else None


@LINALG_DIGITS.structural(
    "a determinant times what is divided by it", _mul, valid=ROUNDS, inner=[Determinant, _conj]
)
def _cancelled_det(node: Tensor) -> Tensor | None:
    """As derivatives of logarithms of determinants have it: a determinant may overflow."""
    for det, other in (node.args, node.args[::-1]):
        if _is_det(det.args[0] if det.op is _conj else det):
            quotient = without_divisor(other, det)
            if quotient is not None:
                return quotient
    return None


def _is_det(node: Tensor) -> bool:
    return node.op == Determinant("value")


@structural("a determinant of a triangle", Determinant, valid=ROUNDS, inner=[Cholesky, MatMul])
def _det_of_triangle(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, Determinant)
    (a,) = node.args
    product = _factor_of_product(a)
    factor = a if _is_factor(a) else product
    if factor is None:
        return None
    entries = diagonal(factor, 0, -2, -1)
    last = (entries.ndim - 1,)
    match node.op.of:
        case "value":
            value = reduce_over("mul", entries, last)
            return value if product is None else value * value
        case "log":
            total = reduce_over("add", _log(entries), last)
            return total if product is None else total + total
        case "sign":
            return reduce_over("mul", _sign(entries), last)


@structural("a determinant of a transpose", Determinant, valid=ROUNDS, inner=[DimShuffle])
def _det_of_transpose(node: Tensor) -> Tensor | None:
    (a,) = node.args
    return node.op(a.args[0]) if is_transpose(a) else None


@structural("a determinant of an inverse", Determinant, valid=ROUNDS, inner=[Inverse])
def _det_of_inverse(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, Determinant)
    (a,) = node.args
    if not isinstance(a.op, Inverse):
        return None
    inner = node.op(a.args[0])
    match node.op.of:
        case "value":
            return 1.0 / inner
        case "log":
            return -inner
        case "sign":  # one over it
            return conjugated(inner)


@structural("a determinant of a product", Determinant, valid=ROUNDS, inner=[MatMul])
def _det_of_product(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, Determinant)
    (a,) = node.args
    if not isinstance(a.op, MatMul) or any(
        factor.type.shape[-1] != factor.type.shape[-2] for factor in a.args
    ):
        return None
    left, right = (node.op(factor) for factor in a.args)
    return left + right if node.op.of == "log" else left * right
