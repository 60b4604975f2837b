"""Linear algebra. Matrices without a result give NaN where PyTensor's Ops do so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from pytensor.tensor.linalg.constructors import BlockDiagonal
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.decomposition.eigen import Eig, Eigh, Eigvalsh
from pytensor.tensor.linalg.decomposition.lu import LU, LUFactor, PivotToPermutations
from pytensor.tensor.linalg.decomposition.qr import QR
from pytensor.tensor.linalg.decomposition.svd import SVD
from pytensor.tensor.linalg.inverse import MatrixInverse, MatrixPinv, TensorInv
from pytensor.tensor.linalg.products import Expm, KroneckerProduct
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.solvers.psd import CholeskySolve
from pytensor.tensor.linalg.solvers.triangular import SolveTriangular
from pytensor.tensor.linalg.summary import Det, SLogDet

from symc import tensor as T
from symc.graph.node import Tensor
from symc.loops.api import scan as symc_scan
from symc.pytensor.conversion import OnHost, register

# Ops whose conversions take leading axes as a batch.
BATCHED = (
    Cholesky, MatrixInverse, MatrixPinv, Det, SLogDet, Eigh, Eigvalsh, Eig, QR, SVD, Expm,
    Solve, SolveTriangular, CholeskySolve, LU, LUFactor,
)  # fmt: skip


@register(Cholesky)
def _cholesky(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda a: T.linalg.cholesky(a, upper=not op.lower, on_failure="nan")


def _columns(op: Any, solve: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A solver of matrices, on vectors too where the Op has those on the right, also in batches."""

    def compute(a: Tensor, b: Tensor) -> Tensor:
        return solve(a, b[..., None])[..., 0] if op.b_ndim == 1 else solve(a, b)

    return compute


@register(SolveTriangular)
def _solve_triangular(op: Any, **_: Any) -> Callable[..., Any]:
    options = {"lower": op.lower, "unit_diagonal": op.unit_diagonal}
    return _columns(op, lambda a, b: T.linalg.solve_triangular(a, b, **options, on_failure="nan"))


@register(CholeskySolve)
def _cholesky_solve(op: Any, **_: Any) -> Callable[..., Any]:
    return _columns(op, lambda c, b: T.linalg.cho_solve((c, op.lower), b, on_failure="nan"))


@register(Solve)
def _solve(op: Any, **_: Any) -> Callable[..., Any]:
    is_triangle = op.assume_a in ("pos", "sym", "her")

    def solve(a: Tensor, b: Tensor) -> Tensor:
        if is_triangle and not op.lower:
            a = T.conj(T.swapaxes(a, -1, -2)) if a.dtype.is_complex else T.swapaxes(a, -1, -2)
        kind: Literal["gen", "sym", "pos"] = (
            "pos" if op.assume_a == "pos" else "sym" if is_triangle else "gen"
        )
        return T.linalg.solve(a, b, assume_a=kind, on_failure="nan")

    return _columns(op, solve)


@register(MatrixInverse)
def _inverse(op: Any, **_: Any) -> Callable[..., Any]:
    return T.linalg.inv


@register(MatrixPinv)
def _pseudo_inverse(op: Any, **_: Any) -> Callable[..., Any]:
    return _hermitian_pseudo_inverse if op.hermitian else lambda a: T.linalg.pinv(a)


def _hermitian_pseudo_inverse(a: Tensor) -> Tensor:
    """As NumPy's with ``hermitian=True``: it reads the lower triangle, and cuts off at 1e-15."""
    values, vectors = T.linalg.eigh(a)
    cutoff = 1e-15 * T.max(T.abs(values), axis=-1, keepdims=True)
    kept = T.gt(T.abs(values), cutoff)
    inverse = T.where(kept, 1 / T.where(kept, values, 1.0), 0.0)
    adjoint = T.swapaxes(vectors, -1, -2)
    if vectors.dtype.is_complex:
        adjoint = T.conj(adjoint)
    result: Tensor = T.matmul(vectors * inverse[..., None, :], adjoint)
    return result


@register(TensorInv)
def _tensor_inverse(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda a: T.linalg.tensorinv(a, op.ind)


@register(Det)
def _det(op: Any, **_: Any) -> Callable[..., Any]:
    return T.linalg.det


@register(SLogDet)
def _slogdet(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda a: list(T.linalg.slogdet(a))


@register(Eig)
def _eig(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda a: list(T.linalg.eig(a))


def _alone(op: Any, node: Any) -> None:
    if len(node.inputs) == 2:
        raise OnHost("symc has no generalised eigenvalues")


@register(Eigh)
def _eigh(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    _alone(op, node)
    return lambda a: list(T.linalg.eigh(a, UPLO="L" if op.lower else "U"))


@register(Eigvalsh)
def _eigvalsh(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    _alone(op, node)
    return lambda a: T.linalg.eigvalsh(a, UPLO="L" if op.lower else "U")


@register(QR)
def _qr(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    if op.pivoting or op.mode not in ("economic", "full", "r"):
        raise OnHost(f"symc has no QR with pivots, nor in mode {op.mode!r}")
    if op.mode == "r":
        return lambda a: T.linalg.qr(a, mode="r")
    mode: Literal["reduced", "complete"] = "reduced" if op.mode == "economic" else "complete"
    return lambda a: list(T.linalg.qr(a, mode=mode))


# --- LU: the matrix is `p l u`; rows are exchanged as pivots say ----------------------------------


@register(LU)
def _lu(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    dtype = node.outputs[-1].type.dtype

    def compute(a: Tensor) -> list[Tensor]:
        p, lower, upper = T.linalg.lu(T.cast(a, dtype))
        if op.permute_l:
            return [T.matmul(p, lower), upper]
        p = T.real(p) if p.dtype.is_complex else p
        return [T.argmax(p, axis=-1) if op.p_indices else p, lower, upper]

    return compute


@register(LUFactor)
def _lu_factor(op: Any, **_: Any) -> Callable[..., Any]:
    def compute(a: Tensor) -> list[Tensor]:
        factors, pivots = T.linalg.lu_factor(a)
        is_singular = T.any(T.eq(T.diagonal(factors, 0, -2, -1), 0), axis=-1)
        return [T.where(is_singular[..., None, None], np.nan, factors), pivots]

    return compute


@register(PivotToPermutations)
def _permutation(op: Any, **_: Any) -> Callable[..., Any]:
    def compute(pivots: Tensor) -> Tensor:
        order = T.arange(T.shape(pivots)[-1])

        def exchanged(k: Tensor, at: Tensor, rows: Tensor) -> Tensor:
            return T.where(T.eq(order, k), rows[at], T.where(T.eq(order, at), rows[k], rows))

        rows, _ = symc_scan(exchanged, [order, T.cast(pivots, "int64")], order)
        last = T.concatenate([order[None], rows])[-1]
        return last if op.inverse else T.argsort(last)

    return compute


@register(SVD)
def _svd(op: Any, **_: Any) -> Callable[..., Any]:
    if not op.compute_uv:
        return T.linalg.svdvals
    return lambda a: list(T.linalg.svd(a, full_matrices=op.full_matrices))


@register(Expm)
def _expm(op: Any, **_: Any) -> Callable[..., Any]:
    return T.linalg.expm


@register(KroneckerProduct)
def _kron(op: Any, **_: Any) -> Callable[..., Any]:
    return T.kron


@register(BlockDiagonal)
def _block_diagonal(op: Any, **_: Any) -> Callable[..., Any]:
    return T.linalg.block_diag
