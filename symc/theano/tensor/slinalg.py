"""`theano.tensor.slinalg`: Cholesky factors, solutions, exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.nlinalg import MatrixOp
from symc.theano.tensor.type import TensorType

__all__ = [
    "MATRIX_STRUCTURES", "Cholesky", "CholeskyGrad", "CholeskySolve", "Eigvalsh", "EigvalshGrad",
    "Expm", "ExpmGrad", "Kron", "Solve", "cho_solve", "cholesky", "eigvalsh", "expm", "kron",
    "solve", "solve_lower_triangular", "solve_symmetric", "solve_upper_triangular",
]  # fmt: skip

MATRIX_STRUCTURES = (
    "general", "symmetric", "lower_triangular", "upper_triangular", "hermitian", "banded",
    "diagonal", "toeplitz",
)  # fmt: skip


class Cholesky(MatrixOp):
    """The triangular factor of a positive definite matrix.

    Where there is none: LinAlgError, or with `on_error` "nan" a matrix of NaN.
    """

    __props__ = ("lower", "destructive", "on_error")

    def __init__(self, lower: bool = True, on_error: str = "raise") -> None:
        if on_error not in ("raise", "nan"):
            raise ValueError('on_error must be one of "raise" or ""nan"')
        self.lower, self.destructive, self.on_error = lower, False, on_error

    def results(self, x: Tensor) -> Sequence[Tensor]:
        return [T.linalg.cholesky(x, upper=not self.lower)]

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        if self.on_error == "raise":
            return super().meaning(node, *inputs)
        from symc.theano.perform import called_back

        return called_back(self, node)(*inputs)

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        (x,) = inputs
        try:
            factor = np.linalg.cholesky(x if self.lower else x.T.conj())
        except np.linalg.LinAlgError:
            if self.on_error == "raise":
                raise
            factor = np.full(x.shape, np.nan)
        found = factor if self.lower else factor.T.conj()
        output_storage[0][0] = np.asarray(found, dtype=node.outputs[0].type.dtype)

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        if self.on_error == "raise":
            return super().L_op(inputs, outputs, output_grads)
        found = CholeskyGrad(self.lower)(inputs[0], outputs[0], output_grads[0])
        return [found + 0 * outputs[0].sum()]  # all of it NaN where there is no factor


cholesky = Cholesky()


class CholeskyGrad(Op):
    """The gradient of `Cholesky`, from the matrix, its factor and the gradient by that."""

    __props__ = ("lower", "destructive")

    def __init__(self, lower: bool = True) -> None:
        self.lower, self.destructive = lower, False

    def make_node(self, x: Any, l: Any, dz: Any) -> Apply:  # noqa: E741 -- Theano's name
        given = [as_tensor_variable(each) for each in (x, l, dz)]
        assert all(each.ndim == 2 for each in given)
        assert given[1].owner is None or given[1].type.dtype == given[2].type.dtype
        return Apply(self, given, [given[0].type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        _, factor, bar = inputs
        low = factor if self.lower else T.transpose(factor)
        bar = T.tril(bar if self.lower else T.transpose(bar))
        inner = T.tril(T.transpose(low) @ bar)
        inner = inner - T.diag(T.diagonal(inner)) / 2
        left = T.linalg.solve_triangular(low, inner, lower=True, trans=1)
        whole = T.transpose(T.linalg.solve_triangular(low, T.transpose(left), lower=True, trans=1))
        found = T.tril(whole + T.transpose(whole)) - T.diag(T.diagonal(whole))
        return [found if self.lower else T.transpose(found)]


class CholeskySolve(Op):
    """The solution, given the Cholesky factor of the matrix."""

    __props__ = ("lower", "check_finite")

    def __init__(self, lower: bool = True, check_finite: bool = True) -> None:
        self.lower, self.check_finite = lower, check_finite

    def make_node(self, C: Any, b: Any) -> Apply:
        c, b = as_tensor_variable(C), as_tensor_variable(b)
        assert c.ndim == 2
        assert b.ndim in (1, 2)
        return Apply(self, [c, b], [TensorType(b.dtype, b.broadcastable)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        factor, b = inputs
        ways: tuple[Literal[0, 1], Literal[0, 1]] = (0, 1) if self.lower else (1, 0)
        first, second = ways
        half = T.linalg.solve_triangular(factor, b, lower=self.lower, trans=first)
        return [T.linalg.solve_triangular(factor, half, lower=self.lower, trans=second)]


cho_solve = CholeskySolve()


class Solve(Op):
    """``x`` where ``A x = b``; `A_structure` says which half or kind of matrix is read."""

    __props__ = ("A_structure", "lower", "overwrite_A", "overwrite_b")

    def __init__(
        self, A_structure: str = "general", lower: bool = False, overwrite_A: bool = False,
        overwrite_b: bool = False,
    ) -> None:  # fmt: skip
        if A_structure not in MATRIX_STRUCTURES:
            raise ValueError("Invalid matrix structure argument", A_structure)
        self.A_structure, self.lower = A_structure, lower
        self.overwrite_A, self.overwrite_b = overwrite_A, overwrite_b

    def make_node(self, A: Any, b: Any) -> Apply:
        a, b = as_tensor_variable(A), as_tensor_variable(b)
        assert a.ndim == 2
        assert b.ndim in (1, 2)
        dtype = np.result_type(a.dtype, b.dtype, "float32").name
        return Apply(self, [a, b], [TensorType(dtype, b.broadcastable)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, b = (T.cast(each, node.outputs[0].dtype) for each in inputs)
        if self.A_structure == "lower_triangular":
            return [T.linalg.solve_triangular(a, b, lower=True)]
        if self.A_structure == "upper_triangular":
            return [T.linalg.solve_triangular(a, b, lower=False)]
        if self.A_structure in ("symmetric", "hermitian"):
            return [T.linalg.solve(a, b, assume_a="gen")]
        return [T.linalg.solve(a, b)]


solve = Solve()
solve_lower_triangular = Solve(A_structure="lower_triangular", lower=True)
solve_upper_triangular = Solve(A_structure="upper_triangular", lower=False)
solve_symmetric = Solve(A_structure="symmetric")


class Eigvalsh(Op):
    """The eigenvalues of a symmetric matrix, or with `b` of a pair of them."""

    __props__ = ("lower",)

    def __init__(self, lower: bool = True) -> None:
        assert lower in (True, False)
        self.lower = lower

    def make_node(self, a: Any, b: Any = None) -> Apply:
        a = as_tensor_variable(a)
        assert a.ndim == 2
        if b is None or _is_none(b):
            return Apply(self, [a], [TensorType(_float64_of(a.dtype), (False,))()])
        b = as_tensor_variable(b)
        assert b.ndim == 2
        return Apply(self, [a, b], [TensorType(_float64_of(a.dtype), (False,))()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, *others = (T.cast(each, node.outputs[0].dtype) for each in inputs)
        if not others:
            return [T.linalg.eigvalsh(a, UPLO="L" if self.lower else "U")]
        # With b = L L^T the pair has the eigenvalues of L^-1 a L^-T.
        factor = T.linalg.cholesky(others[0])
        a = _whole(a, self.lower)
        half = T.linalg.solve_triangular(factor, a, lower=True)
        both = T.linalg.solve_triangular(factor, T.transpose(half), lower=True)
        return [T.linalg.eigvalsh(both)]


def _whole(a: Tensor, lower: bool) -> Tensor:
    """A symmetric matrix, of which one half is read."""
    half = T.tril(a) if lower else T.triu(a)
    return half + T.transpose(half) - T.diag(T.diagonal(a))


def _is_none(x: Any) -> bool:
    return getattr(x, "data", 0) is None


def _float64_of(dtype: str) -> str:
    return dtype if dtype.startswith(("float", "complex")) else "float64"


def eigvalsh(a: Any, b: Any, lower: bool = True) -> Any:
    """The eigenvalues of a symmetric matrix, or of a pair of them."""
    return Eigvalsh(lower)(a, b)


class EigvalshGrad(Op):
    """The gradients of `Eigvalsh` by both matrices."""

    __props__ = ("lower",)

    def __init__(self, lower: bool = True) -> None:
        assert lower in (True, False)
        self.lower = lower

    def make_node(self, a: Any, b: Any, gw: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (a, b, gw)]
        kinds = [TensorType("float64", each.broadcastable) for each in given[:2]]
        return Apply(self, given, [kind() for kind in kinds])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        eigh = import_module("scipy.linalg").eigh
        a, b, gw = inputs
        w, v = eigh(a, b, lower=self.lower)
        keep = np.tril if self.lower else np.triu
        found = [v @ np.diag(gw) @ v.T, -v @ np.diag(gw * w) @ v.T]
        for cell, each in zip(output_storage, found, strict=True):
            cell[0] = keep(each) + keep(each.T, -1 if self.lower else 1)

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        del output_grads
        return [DisconnectedType()() for _ in inputs]


class Kron(Op):
    """The Kronecker product."""

    __props__ = ()

    def make_node(self, a: Any, b: Any) -> Apply:
        a, b = as_tensor_variable(a), as_tensor_variable(b)
        if a.ndim + b.ndim <= 2:
            raise TypeError(
                f"kron: inputs dimensions must sum to 3 or more. You passed {a.ndim} and {b.ndim}."
            )
        from symc.theano.scalar.dtypes import upcast

        flags = (False,) * max(a.ndim, b.ndim)
        return Apply(self, [a, b], [TensorType(upcast(a.dtype, b.dtype), flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.kron(inputs[0], inputs[1])]


kron = Kron()


class Expm(MatrixOp):
    """The exponential of a square matrix."""

    def results(self, x: Tensor) -> Sequence[Tensor]:
        return [T.linalg.expm(x)]


expm = Expm()


class ExpmGrad(Op):
    """The gradient of `Expm`."""

    __props__ = ()

    def make_node(self, A: Any, gw: Any) -> Apply:
        a, gw = as_tensor_variable(A), as_tensor_variable(gw)
        return Apply(self, [a, gw], [a.type()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        expm_frechet = import_module("scipy.linalg").expm_frechet
        a, gw = inputs
        output_storage[0][0] = expm_frechet(a.T, gw, compute_expm=False).astype(a.dtype)
