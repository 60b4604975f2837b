"""Eigenvalues and eigenvectors of symmetric matrices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.linalg import reference
from symc.tensor.linalg.common import (
    adjoint,
    batch_of,
    differences,
    folded,
    kind_of,
    off_diagonal_reciprocal,
    square_matrices,
    succeeds,
    times,
)
from symc.tensor.views import expand_dims

__all__ = ["EighResult", "eigh", "eigvalsh"]

VALUES, VECTORS, STATUS = 0, 1, 2


@record
class Eigh(Op):
    """Eigenvalues (part 0), eigenvectors (1) and status (2) of symmetric matrices.

    Of them only the lower triangle is read.
    """

    part: int

    @property
    def label(self) -> str:
        return "eigh"

    def infer(self, *args: Tensor) -> TensorType:
        return _type(args[0], self.part)

    def evaluate(self, *args: Array) -> Array:
        return _evaluate(args[0], self.part)

    def in_common(self, args: Sequence[Array], result: Array) -> Array:
        if self.part != VECTORS or not np.isfinite(result).all():
            return result
        products = np.conj(np.swapaxes(result, -1, -2)) @ result
        common = reference.of_eigenvectors(reference.mirrored(args[0]), result)
        return np.concatenate([np.reshape(products, (*result.shape[:-2], -1)), common], -1)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        (a,) = node.args
        v = Eigh(VECTORS)(a)
        if self.part == VALUES:
            whole = times(v * expand_dims(bar, -2), adjoint(v))
        elif self.part == VECTORS:
            gaps = off_diagonal_reciprocal(differences(Eigh(VALUES)(a)))
            whole = times(v, times(adjoint(v), bar) * gaps, adjoint(v))
        else:
            return [None]
        return [folded((whole + adjoint(whole)) * 0.5)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self.part != STATUS:
            yield succeeds("eigh", node.args[0], Eigh(STATUS)(*node.args), _reason)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a = node.args[0]
        args = (
            kind_of(a.dtype), size(batch_of(a)), size(a.type.shape[-1]),
            Argument(0), Argument(-1), Argument(-2), Argument(-3),
        )  # fmt: skip
        return LibCall("eigh", args, (Eigh(VALUES), Eigh(VECTORS), Eigh(STATUS)))


@record
class Eigvalsh(Op):
    """Eigenvalues (part 0) and status (2) of symmetric matrices, without eigenvectors."""

    part: int

    def infer(self, *args: Tensor) -> TensorType:
        return _type(args[0], self.part)

    def evaluate(self, *args: Array) -> Array:
        return _evaluate(args[0], self.part)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        if self.part == STATUS:
            return [None]
        return Eigh(VALUES).grad(Eigh(VALUES)(*node.args), bar)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self.part != STATUS:
            yield succeeds("eigvalsh", node.args[0], Eigvalsh(STATUS)(*node.args), _reason)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a = node.args[0]
        args = (
            kind_of(a.dtype), size(batch_of(a)), size(a.type.shape[-1]),
            Argument(0), Argument(-1), Argument(-2),
        )  # fmt: skip
        return LibCall("eigvalsh", args, (Eigvalsh(VALUES), Eigvalsh(STATUS)))


def _type(a: Tensor, part: int) -> TensorType:
    shape = a.type.shape
    if part == STATUS:
        return TensorType(INT64, shape[:-2])
    return a.type if part == VECTORS else TensorType(a.dtype.component, shape[:-1])


def _evaluate(a: Array, part: int) -> Array:
    """Both ops in NumPy. NaN where nothing converges."""
    status = np.zeros(a.shape[:-2], np.int64)
    try:
        if part == VALUES:
            return np.asarray(np.linalg.eigvalsh(a))
        if part == VECTORS:
            return np.asarray(np.linalg.eigh(a).eigenvectors)
        if not np.isfinite(a).all():
            np.linalg.eigvalsh(a)
    except np.linalg.LinAlgError:
        if part == STATUS:
            return status + 1
        if part == VALUES:
            return np.full(a.shape[:-1], np.nan, np.real(a).dtype)
        return np.full_like(a, np.nan)
    return status


def _reason(number: int) -> str:
    return f"has no eigenvalues: the iteration did not converge ({number} of them)"


class EighResult(NamedTuple):
    """Eigenvalues, ascending, and eigenvectors, which are the columns of a matrix.

    `symc.tensor.linalg.eigh` gives it; it is a pair.

    >>> import symc.tensor as T
    >>> found = T.linalg.eigh([[2.0, 1.0], [1.0, 2.0]])
    >>> found.eigenvalues.eval().round(6)
    array([1., 3.])
    """

    eigenvalues: Tensor
    eigenvectors: Tensor


def eigh(a: TensorLike, UPLO: Literal["L", "U"] = "L") -> EighResult:  # noqa: N803 -- NumPy's name
    """Eigenvalues, ascending, and eigenvectors of symmetric (Hermitian) matrices.

    Only the lower triangle is read, or with ``UPLO="U"`` the upper one. Leading axes are a batch.
    The gradient of eigenvectors exists where all eigenvalues differ. Raises `LinAlgError` when it
    runs if the iteration does not converge.

    >>> import symc.tensor as T
    >>> T.linalg.eigh([[2.0, 1.0], [1.0, 2.0]]).eigenvalues.eval()
    array([1., 3.])
    """
    a = _triangle("eigh", a, UPLO)
    return EighResult(Eigh(VALUES)(a), Eigh(VECTORS)(a))


def eigvalsh(a: TensorLike, UPLO: Literal["L", "U"] = "L") -> Tensor:  # noqa: N803
    """The eigenvalues of symmetric matrices, ascending; as `eigh`, without eigenvectors.

    Of Hermitian ones, too; only the triangle `UPLO` is read. Leading axes are a batch.

    >>> import symc.tensor as T
    >>> T.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]).eval().round(6)
    array([1., 3.])
    """
    return Eigvalsh(VALUES)(_triangle("eigvalsh", a, UPLO))


def _triangle(label: str, a: TensorLike, which: str) -> Tensor:
    if which not in ("L", "U", "l", "u"):
        raise ValueError(f"{label}: UPLO is 'L' or 'U', not {which!r}")
    a = square_matrices(label, a)
    return a if which.upper() == "L" else adjoint(a)
