"""The Schur form: a matrix as a triangular one between a unitary matrix and its adjoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import OPERATORS, PROPERTIES, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType, complex_for
from symc.tensor.build import zeros_like
from symc.tensor.diagonals import diagonal, tril, triu
from symc.tensor.elementwise import cast_to, conjugated
from symc.tensor.linalg import schur_meaning
from symc.tensor.linalg.common import (
    adjoint,
    batch_of,
    differences,
    kind_of,
    off_diagonal_reciprocal,
    square_matrices,
    succeeds,
    times,
)
from symc.tensor.linalg.eigen import VECTORS, Eig
from symc.tensor.linalg.triangular import SolveTriangular
from symc.tensor.reduce import any as any_of
from symc.tensor.views import expand_dims

__all__ = ["SchurResult", "schur"]

FORM, BASIS, STATUS = 0, 1, 2


@record
class Schur(Op):
    """The form t (part 0), the unitary z (1) with ``a = z t z^H``, and status (2).

    Of a real matrix t is real, with blocks of 2 by 2 on its diagonal for pairs of complex
    eigenvalues.
    """

    part: int

    @property
    def label(self) -> str:
        return "schur"

    def infer(self, *args: Tensor) -> TensorType:
        (a,) = args
        return TensorType(INT64, a.type.shape[:-2]) if self.part == STATUS else a.type

    def evaluate(self, *args: Array) -> Array:
        (a,) = args
        batch = a.shape[:-2]
        of_status = self.part == STATUS
        result = np.zeros(batch, np.int64) if of_status else np.empty_like(a)
        for at in np.ndindex(batch):
            result[at] = schur_meaning.schur(a[at])[self.part]
        return result

    def in_common(self, args: Sequence[Array], result: Array) -> Array:
        if self.part == STATUS or not np.isfinite(result).all():
            return result
        return (_of_forms if self.part == FORM else _of_bases)(args[0], result)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        """By ``z^H da z = dt + w t - t w`` with a skew w, whose diagonal (phases of z) is 0.

        Its lower part comes from that of the left side: in the basis of t's eigenvectors, an upper
        matrix, elements are divided by differences of eigenvalues. Upper parts stay upper there.
        """
        if self.part == STATUS:
            return [None]
        (a,) = node.args
        wide = complex_for(a.dtype)
        form, basis = Schur(FORM)(a), Schur(BASIS)(a)
        t, z = cast_to(form, wide), cast_to(basis, wide)
        if self.part == FORM:
            upper = triu(cast_to(bar, wide))
            inner = times(adjoint(t), upper) - times(upper, adjoint(t))
        else:
            upper = zeros_like(t)
            inner = times(adjoint(z), cast_to(bar, wide))
        lower = tril(inner - adjoint(inner), -1)
        vectors = triu(Eig(VECTORS)(t))
        turned = adjoint(SolveTriangular(is_lower=False)(vectors, times(adjoint(lower), vectors)))
        gaps = conjugated(differences(diagonal(t, 0, -2, -1)))
        divided = tril(turned, -1) * off_diagonal_reciprocal(gaps)
        back = SolveTriangular(is_lower=False, trans=True)
        middle = conjugated(back(vectors, conjugated(times(divided, adjoint(vectors)))))
        whole = times(z, middle + upper, adjoint(z))
        if a.dtype.is_complex:
            return [whole]
        pairs = any_of(OPERATORS["ne"](diagonal(form, -1, -2, -1), 0), axis=-1)
        factor = OPERATORS["where"](pairs, np.nan, 1.0)
        factor = expand_dims(expand_dims(cast_to(factor, a.dtype), -1), -1)
        return [PROPERTIES["real"](whole) * factor]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self.part != STATUS:
            yield succeeds("schur", node.args[0], Schur(STATUS)(*node.args), _reason)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a = node.args[0]
        args = (
            kind_of(a.dtype), size(batch_of(a)), size(a.type.shape[-1]),
            Argument(0), Argument(-1), Argument(-2), Argument(-3),
        )  # fmt: skip
        return LibCall("schur", args, (Schur(FORM), Schur(BASIS), Schur(STATUS)))


def _reason(number: int) -> str:
    return f"has no Schur form: the iteration did not converge (at {number})"


def _of_forms(a: Array, t: Array) -> Array:
    """What the forms of a matrix have in common: its norm, the traces of powers, and zeros."""
    del a
    size = np.linalg.norm(t, axis=(-2, -1))
    unit = t / np.where(size > 0, size, 1)[..., None, None]
    powers = [unit, unit @ unit, unit @ unit @ unit]
    traces = [np.trace(power, axis1=-2, axis2=-1) for power in powers]
    return np.concatenate([np.stack([size, *traces], -1), _below(t)], -1)


def _of_bases(a: Array, z: Array) -> Array:
    """What the bases of a matrix's forms have in common: products of columns, and the zeros."""
    back = np.conj(np.swapaxes(z, -1, -2))
    products = np.reshape(back @ z, (*z.shape[:-2], -1))
    return np.concatenate([products, _below(back @ a @ z)], -1)


def _below(t: Array) -> Array:
    """Zeros of a form: all below the blocks, and of neighbours beside its diagonal one at least."""
    n = t.shape[-1]
    beside = np.diagonal(t, -1, -2, -1)
    low = np.reshape(np.tril(t, -2), (*t.shape[:-2], n * n))
    return np.concatenate([low, beside[..., 1:] * beside[..., :-1]], -1)


class SchurResult(NamedTuple):
    """A triangular matrix, or nearly so, and the unitary one it stands in.

    `symc.tensor.linalg.schur` gives it: ``a = z @ t @ z.T``.

    >>> import symc.tensor as T
    >>> t, z = T.linalg.schur([[1.0, 2.0], [2.0, 1.0]])
    >>> (z @ t @ z.mT).eval().round(6)
    array([[1., 2.],
           [2., 1.]])
    """

    t: Tensor
    z: Tensor


def schur(a: TensorLike, output: Literal["real", "complex"] = "real") -> SchurResult:
    """The Schur form of square matrices: ``a = z t z^H`` with unitary z and upper triangular t.

    The eigenvalues are on t's diagonal. Of a real matrix both are real, and each pair of complex
    eigenvalues has a block of 2 by 2 on t's diagonal; with ``output="complex"`` both are complex
    and t is triangular. Leading axes are a batch. By LAPACK's ``gees``; columns of z are determined
    up to a sign or phase.

    A gradient flows where all eigenvalues differ, for costs that do not depend on phases; of the
    real form they have to be real, and the gradient is NaN where they are not.

    Raises `RankError` and `ShapeMismatch` for what is no square matrix, `ValueError` for another
    `output`, and `LinAlgError` when it runs if the iteration does not converge.

    >>> import symc.tensor as T
    >>> t, z = T.linalg.schur([[2.0, 1.0], [0.0, 3.0]])
    >>> t.eval().diagonal()
    array([2., 3.])
    """
    if output not in ("real", "complex"):
        raise ValueError(f"schur: output is 'real' or 'complex', not {output!r}")
    a = square_matrices("schur", a)
    if output == "complex":
        a = cast_to(a, complex_for(a.dtype))
    return SchurResult(Schur(FORM)(a), Schur(BASIS)(a))
