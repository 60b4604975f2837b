"""Eigenvalues and eigenvectors of matrices that need not be symmetric: complex numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import PROPERTIES, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType, as_dtype, complex_for, to_numpy
from symc.tensor.diagonals import diagonal
from symc.tensor.elementwise import conjugated
from symc.tensor.linalg import reference
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
from symc.tensor.linalg.general import Solve
from symc.tensor.views import expand_dims

__all__ = ["EigResult", "eig", "eigvals"]

VALUES, VECTORS, STATUS = 0, 1, 2


@record
class Eig(Op):
    """Eigenvalues (part 0), eigenvectors (1) and status (2); without `vectors` no eigenvectors."""

    part: int
    vectors: bool = True

    @property
    def label(self) -> str:
        return "eig" if self.vectors else "eigvals"

    def infer(self, *args: Tensor) -> TensorType:
        (a,) = args
        if self.part == STATUS:
            return TensorType(INT64, a.type.shape[:-2])
        shape = a.type.shape
        return TensorType(complex_for(a.dtype), shape if self.part == VECTORS else shape[:-1])

    def evaluate(self, *args: Array) -> Array:
        (a,) = args
        dtype = to_numpy(complex_for(as_dtype(a.dtype)))
        try:
            if self.part == VALUES:
                return np.linalg.eigvals(a).astype(dtype)
            if self.part == VECTORS:
                return np.linalg.eig(a).eigenvectors.astype(dtype)
            if not np.isfinite(a).all():
                np.linalg.eigvals(a)
        except np.linalg.LinAlgError:
            if self.part == STATUS:
                return np.ones(a.shape[:-2], np.int64)
            return np.full(a.shape if self.part == VECTORS else a.shape[:-1], np.nan, dtype)
        return np.zeros(a.shape[:-2], np.int64)

    def in_common(self, args: Sequence[Array], result: Array) -> Array:
        if self.part != VECTORS or not np.isfinite(result).all():
            return result
        return reference.of_eigenvectors(args[0], result)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        (a,) = node.args
        if self.part == STATUS:
            return [None]
        v = Eig(VECTORS)(a)
        back = adjoint(v)
        if self.part == VALUES:
            inside = expand_dims(bar, -1) * back
        else:  # vectors keep their length (Boeddeker et al. 2017)
            along = times(back, bar)
            lengths = PROPERTIES["real"](diagonal(along, 0, -2, -1))
            turned = along - times(back, v) * expand_dims(lengths, -2)
            gaps = conjugated(differences(Eig(VALUES)(a)))
            inside = times(turned * off_diagonal_reciprocal(gaps), back)
        # Solved with the adjoint of v: with its transpose and conjugates.
        whole = conjugated(Solve(True)(v, conjugated(inside)))
        return [whole if a.dtype.is_complex else PROPERTIES["real"](whole)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self.part != STATUS:
            status = Eig(STATUS, self.vectors)(*node.args)
            yield succeeds(self.label, node.args[0], status, _reason)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        (a,) = node.args
        args = (
            kind_of(a.dtype), size(batch_of(a)), size(a.type.shape[-1]),
            Argument(0), Argument(-1), Argument(-2),
        )  # fmt: skip
        if self.vectors:
            results = Eig(VALUES), Eig(VECTORS), Eig(STATUS)
            return LibCall("eig", (*args, Argument(-3)), results)
        return LibCall("eigvals", args, (Eig(VALUES, False), Eig(STATUS, False)))


def _reason(number: int) -> str:
    return f"has no eigenvalues: the iteration did not converge (at {number})"


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors, which are the columns of a matrix.

    `symc.tensor.linalg.eig` gives it; it is a pair.

    >>> import symc.tensor as T
    >>> found = T.linalg.eig([[2.0, 0.0], [0.0, 3.0]])
    >>> found._fields, found.eigenvalues.eval()
    (('eigenvalues', 'eigenvectors'), array([2.+0.j, 3.+0.j]))
    """

    eigenvalues: Tensor
    eigenvectors: Tensor


def eig(a: TensorLike) -> EigResult:
    """Eigenvalues and eigenvectors of length 1 of square matrices: complex, whatever they are.

    Leading axes are a batch. The gradient exists where all eigenvalues differ, for costs that do
    not depend on the phases of eigenvectors. Raises `LinAlgError` when it runs if the iteration
    does not converge.

    >>> import symc.tensor as T
    >>> T.linalg.eig([[0.0, -1.0], [1.0, 0.0]]).eigenvalues.eval()
    array([0.+1.j, 0.-1.j])
    """
    a = square_matrices("eig", a)
    return EigResult(Eig(VALUES)(a), Eig(VECTORS)(a))


def eigvals(a: TensorLike) -> Tensor:
    """The eigenvalues of square matrices: complex, whatever they are; as `eig`, without vectors.

    Leading axes are a batch. Raises LinAlgError if the iteration fails.

    >>> import symc.tensor as T
    >>> T.linalg.eigvals([[0.0, 1.0], [-1.0, 0.0]]).eval()
    array([0.+1.j, 0.-1.j])
    """
    return Eig(VALUES, vectors=False)(square_matrices("eigvals", a))
