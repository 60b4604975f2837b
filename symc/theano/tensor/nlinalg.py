"""`theano.tensor.nlinalg`: inverses, decompositions, norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.gof.op import Op
from symc.theano.tensor import math, reductions
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.creation import AllocDiag as AllocDiag
from symc.theano.tensor.creation import ExtractDiag as ExtractDiag
from symc.theano.tensor.creation import diag as diag
from symc.theano.tensor.creation import eye
from symc.theano.tensor.creation import trace as trace
from symc.theano.tensor.products import dot
from symc.theano.tensor.type import TensorType

__all__ = [
    "SVD", "AllocDiag", "Det", "Eig", "Eigh", "EighGrad", "ExtractDiag", "Lstsq", "MatrixInverse",
    "MatrixOp", "MatrixPinv", "QRFull", "QRIncomplete", "QRRaw", "TensorInv", "TensorSolve",
    "alloc_diag", "det", "diag", "eig", "eigh", "extract_diag", "lstsq", "matrix_dot",
    "matrix_inverse", "matrix_power", "norm", "pinv", "qr", "svd", "tensorinv", "tensorsolve",
    "trace",
]  # fmt: skip


class MatrixOp(Op):
    """What ops on one matrix have in common; `ranks` are those of the results.

    As NumPy's functions, which Theano calls, they compute in double precision and round results.
    """

    __props__: tuple[str, ...] = ()
    ranks: ClassVar[tuple[int, ...]] = (2,)

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        assert x.ndim == 2, "Input of an op of linear algebra must be a matrix"
        dtype = x.dtype if x.dtype.startswith(("float", "complex")) else "float64"
        kinds = [TensorType(dtype, (False,) * rank) for rank in self.ranks]
        return Apply(self, [x], [kind() for kind in kinds])

    def results(self, x: Tensor) -> Sequence[Tensor]:
        """The results as symc expressions."""
        raise NotImplementedError

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        dtype = np.result_type(node.outputs[-1].dtype, np.float64).name
        found = self.results(T.cast(inputs[0], dtype))
        return [T.cast(r, v.dtype) for r, v in zip(found, node.outputs, strict=True)]


class MatrixPinv(MatrixOp):
    """The pseudoinverse."""

    def results(self, x: Tensor) -> Sequence[Tensor]:
        return [T.linalg.pinv(x)]


class MatrixInverse(MatrixOp):
    """The inverse. Raises LinAlgError where there is none."""

    def results(self, x: Tensor) -> Sequence[Tensor]:
        return [T.linalg.inv(x)]


class Det(MatrixOp):
    """The determinant."""

    ranks = (0,)

    def results(self, x: Tensor) -> Sequence[Tensor]:
        return [T.linalg.det(x)]


class Eig(MatrixOp):
    """Eigenvalues and right eigenvectors; real ones where a matrix of floats is given."""

    ranks = (1, 2)

    def results(self, x: Tensor) -> Sequence[Tensor]:
        values, vectors = T.linalg.eig(x)
        if x.dtype.is_complex:
            return [values, vectors]
        return [T.real(values), T.real(vectors)]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        from symc.theano.gradient_types import grad_not_implemented

        del outputs, output_grads
        return [grad_not_implemented(self, 0, inputs[0])]


class Eigh(Eig):
    """Eigenvalues in order and eigenvectors of a symmetric matrix, of which one half is read."""

    __props__ = ("UPLO",)

    def __init__(self, UPLO: str = "L") -> None:
        assert UPLO in ("L", "U")
        self.UPLO: Any = UPLO

    def results(self, x: Tensor) -> Sequence[Tensor]:
        return list(T.linalg.eigh(x, UPLO=self.UPLO))

    L_op = Op.L_op


class EighGrad(Op):
    """The gradient of `Eigh` by its matrix."""

    __props__ = ("UPLO",)

    def __init__(self, UPLO: str = "L") -> None:
        self.UPLO = UPLO

    def make_node(self, x: Any, w: Any, v: Any, gw: Any, gv: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (x, w, v, gw, gv)]
        return Apply(self, given, [given[0].type()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        x, w, v, gw, gv = inputs
        apart = w[None, :] - w[:, None]
        np.fill_diagonal(apart, np.inf)
        inner = np.diag(gw) + (v.T @ gv) / apart
        full = v @ inner @ v.T
        keep, other = (np.tril, np.triu) if self.UPLO == "L" else (np.triu, np.tril)
        found = keep(full) + other(full, 1 if self.UPLO == "L" else -1).T
        output_storage[0][0] = np.asarray(found, dtype=x.dtype)


def zero_disconnected(outputs: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
    """The gradients, zeros in place of those that are disconnected."""
    gone = [isinstance(bar.type, DisconnectedType) for bar in grads]
    return [
        out.zeros_like() if none else bar
        for out, bar, none in zip(outputs, grads, gone, strict=True)
    ]


_zero_disconnected = zero_disconnected  # Theano's name


class QRFull(MatrixOp):
    """The QR decomposition; `mode` is NumPy's."""

    __props__ = ("mode",)
    ranks: ClassVar[tuple[int, ...]] = (2, 2)

    def __init__(self, mode: str) -> None:
        self.mode: Any = {"full": "reduced", "economic": "reduced"}.get(mode, mode)

    def results(self, x: Tensor) -> Sequence[Tensor]:
        found = T.linalg.qr(x, mode=self.mode)
        return [found] if self.mode == "r" else list(found)


class QRRaw(QRFull):
    """What LAPACK gives: the factors in one matrix, and the factors of the reflections."""

    ranks = (2, 1)

    def __init__(self) -> None:
        super().__init__("raw")

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        from symc.theano.perform import called_back

        return called_back(self, node)(*inputs)

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        for cell, value in zip(output_storage, np.linalg.qr(inputs[0], "raw"), strict=True):
            cell[0] = value


class QRIncomplete(QRFull):
    """The triangular factor alone."""

    ranks: ClassVar[tuple[int, ...]] = (2,)

    def __init__(self, mode: str = "r") -> None:
        super().__init__(mode)


class SVD(MatrixOp):
    """Singular values, and the vectors if `compute_uv`."""

    __props__ = ("full_matrices", "compute_uv")

    def __init__(self, full_matrices: bool = True, compute_uv: bool = True) -> None:
        self.full_matrices, self.compute_uv = full_matrices, compute_uv

    @property
    def ranks(self) -> tuple[int, ...]:  # type: ignore[override]
        """One matrix, the vector of values and another matrix, or the vector alone."""
        return (2, 1, 2) if self.compute_uv else (1,)

    def results(self, x: Tensor) -> Sequence[Tensor]:
        svd: Any = T.linalg.svd
        found = svd(x, full_matrices=self.full_matrices, compute_uv=self.compute_uv)
        return list(found) if self.compute_uv else [found]


class Lstsq(Op):
    """The least squares solution, the residuals, the rank and the singular values."""

    __props__ = ()

    def make_node(self, x: Any, y: Any, rcond: Any = -1) -> Apply:
        given = [as_tensor_variable(each) for each in (x, y, rcond)]
        y = given[1]
        wide = TensorType("float64", (False,) * y.ndim)
        residuals = TensorType("float64", (False,) * max(1, y.ndim - 1))
        kinds = [wide, residuals, TensorType("int64", ()), TensorType("float64", (False,))]
        return Apply(self, given, [kind() for kind in kinds])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        x, y, rcond = inputs
        found = np.linalg.lstsq(x, y, rcond=None if np.all(rcond < 0) else rcond)
        for cell, value, output in zip(output_storage, found, node.outputs, strict=True):
            cell[0] = np.asarray(value, dtype=output.type.dtype)


class TensorInv(Op):
    """The inverse of a tensor under the product along its last axes."""

    __props__ = ("ind",)

    def __init__(self, ind: int = 2) -> None:
        self.ind = ind

    def make_node(self, a: Any) -> Apply:
        a = as_tensor_variable(a)
        flags = a.broadcastable[self.ind :] + a.broadcastable[: self.ind]
        return Apply(self, [a], [TensorType(a.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.linalg.tensorinv(inputs[0], ind=self.ind)]


class TensorSolve(Op):
    """``x`` where ``tensordot(a, x, x.ndim) == b``."""

    __props__ = ("axes",)

    def __init__(self, axes: Any = None) -> None:
        self.axes = None if axes is None else tuple(axes)

    def make_node(self, a: Any, b: Any) -> Apply:
        a, b = as_tensor_variable(a), as_tensor_variable(b)
        dtype = (np.dtype(a.dtype).type(1) / np.dtype(b.dtype).type(1)).dtype.name
        return Apply(self, [a, b], [TensorType(dtype, (False,) * (a.ndim - b.ndim))()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, b = inputs
        return [T.linalg.tensorsolve(a, b, axes=self.axes)]


pinv = MatrixPinv()
matrix_inverse = MatrixInverse()
det = Det()
eig = Eig()
alloc_diag, extract_diag = AllocDiag(), ExtractDiag()


def eigh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues in order and eigenvectors of a symmetric matrix."""
    return Eigh(UPLO)(a)


def qr(a: Any, mode: str = "reduced") -> Any:
    """The QR decomposition, or for mode "r" its triangular factor."""
    if mode in ("full", "economic", "reduced", "complete"):
        return QRFull(mode)(a)
    if mode == "r":
        return QRIncomplete("r")(a)
    if mode == "raw":
        return QRRaw()(a)
    raise NotImplementedError(f"QR with mode {mode!r}: take 'reduced', 'complete', 'r' or 'raw'")


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """The singular value decomposition."""
    return SVD(full_matrices, compute_uv)(a)


lstsq = Lstsq  # Theano's name of the class


def matrix_dot(*args: Any) -> Any:
    """The product of several matrices."""
    result = args[0]
    for each in args[1:]:
        result = dot(result, each)
    return result


def matrix_power(M: Any, n: int) -> Any:
    """A square matrix to a whole power, not below zero."""
    result: Any = 1
    for _ in range(n):
        result = dot(result, M)
    return eye(M.shape[0], M.shape[1], dtype=M.dtype) if n == 0 else result


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of a tensor under the product along its last axes."""
    return TensorInv(ind)(a)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """``x`` where ``tensordot(a, x, x.ndim) == b``."""
    return TensorSolve(axes)(a, b)


_VECTOR: dict[Any, Callable[[Any], Any]] = {
    None: lambda x: math.sqrt((abs(x) ** 2).sum()),
    "inf": lambda x: reductions.max(abs(x)),
    "-inf": lambda x: reductions.min(abs(x)),
    0: lambda x: math.neq(x, 0).sum(),
}
_MATRIX: dict[Any, Callable[[Any], Any]] = {
    None: lambda x: math.sqrt((abs(x) ** 2).sum()),
    "fro": lambda x: math.sqrt((abs(x) ** 2).sum()),
    "inf": lambda x: reductions.max(abs(x).sum(axis=1)),
    "-inf": lambda x: reductions.min(abs(x).sum(axis=1)),
    1: lambda x: reductions.max(abs(x).sum(axis=0)),
    -1: lambda x: reductions.min(abs(x).sum(axis=0)),
}


def norm(x: Any, ord: Any) -> Any:
    """A norm of a vector or a matrix; `ord` as NumPy names it, or "inf" and "-inf"."""
    x = as_tensor_variable(x)
    if x.ndim == 0:
        raise ValueError("'axis' entry is out of bounds.")
    if x.ndim > 2:
        raise NotImplementedError("norm: it is there for vectors and matrices")
    key = {np.inf: "inf", -np.inf: "-inf"}.get(ord, ord) if isinstance(ord, float) else ord
    table = _VECTOR if x.ndim == 1 else _MATRIX
    if key in table:
        return table[key](x)
    if x.ndim == 1 and not isinstance(key, str):
        return (abs(x) ** key).sum() ** (1.0 / key)
    raise ValueError(f"{ord!r} is no norm of {x.ndim} axes")
