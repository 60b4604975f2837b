"""Linear algebra. Matrices without a result give NaN where PyTensor's Ops do so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pytensor.tensor.linalg.constructors import BlockDiagonal
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.decomposition.eigen import Eig, Eigh, Eigvalsh
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
from symc.pytensor.conversion import OnHost, register

# Ops whose conversions take leading axes as a batch.
BATCHED = (
    Cholesky, MatrixInverse, MatrixPinv, Det, SLogDet, Eigh, Eigvalsh, Eig, QR, SVD, Expm,
    Solve, SolveTriangular, CholeskySolve,
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
    if op.hermitian:
        raise OnHost("symc has no pseudo-inverse that reads one triangle")
    return lambda a: T.linalg.pinv(a)


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
