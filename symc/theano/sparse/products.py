"""Products of sparse matrices with others."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply
from symc.theano.sparse.arithmetic import mul
from symc.theano.sparse.conversions import dense_from_sparse, sp_ones_like, transpose
from symc.theano.sparse.op import (
    SparseOp,
    as_sparse_or_tensor_variable,
    as_sparse_variable,
    is_dense_variable,
    is_sparse_variable,
    joined,
    matrix_of,
    sparse_of,
    vector_of,
)
from symc.theano.sparse.scipy import is_sparse, sparse
from symc.theano.sparse.type import SparseType
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

__all__ = [
    "Dot", "SamplingDot", "StructuredDot", "StructuredDotGradCSC", "StructuredDotGradCSR",
    "TrueDot", "Usmm", "dot", "sampling_dot", "sdg_csc", "sdg_csr", "structured_dot", "true_dot",
    "usmm",
]  # fmt: skip


def _pair(x: Any, y: Any, name: str) -> tuple[Any, Any]:
    """Two factors as variables, at least one of them sparse."""
    x = x if hasattr(x, "type") else as_sparse_or_tensor_variable(x)
    y = y if hasattr(y, "type") else as_sparse_or_tensor_variable(y)
    if not is_sparse_variable(x) and not is_sparse_variable(y):
        raise TypeError(f"{name}: one of the matrices must be sparse")
    return x, y


def _outer_lengths(shapes: Any) -> tuple[Any, ...]:
    left, right = shapes
    return (*left[:-1], *right[1:])


def _dense_dot(x: Any, y: Any) -> Any:
    from symc.theano.tensor.products import dot as product

    return product(x, y)


class Dot(SparseOp):
    """The product of two matrices or of one and a vector, one of them sparse: a tensor."""

    def __init__(self) -> None:
        super().__init__("Dot", self._kinds, self.product, self._back)

    def make_node(self, *inputs: Any) -> Apply:
        x, y = _pair(inputs[0], inputs[1], "dot")
        if x.ndim not in (1, 2) or y.ndim not in (1, 2):
            raise TypeError(f"theano.sparse.Dot: vectors and matrices only, not {x.ndim}, {y.ndim}")
        return super().make_node(x, y)

    @staticmethod
    def _kinds(x: Any, y: Any) -> list[Any]:
        flags = (*x.type.broadcastable[:-1], *y.type.broadcastable[1:])
        return [TensorType(joined(x, y), flags)]

    @staticmethod
    def product(x: Any, y: Any) -> Any:
        found = x @ y
        return found.toarray() if is_sparse(found) else found

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        (x, y), (bar,) = inputs, bars
        if x.ndim == 1 or y.ndim == 1:  # as matrices of one row or column
            left = x.dimshuffle("x", 0) if x.ndim == 1 else x
            right = y.dimshuffle(0, "x") if y.ndim == 1 else y
            bar = bar.dimshuffle(*(("x", 0) if x.ndim == 1 else (0, "x")))
            of_x, of_y = _either(bar, right.T), _either(left.T, bar)
            return [of_x[0] if x.ndim == 1 else of_x, of_y[:, 0] if y.ndim == 1 else of_y]
        return [_either(bar, y.T), _either(x.T, bar)]

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The lengths of the axes that are left."""
        return [_outer_lengths(shapes)]


def _either(x: Any, y: Any) -> Any:
    if is_dense_variable(x) and is_dense_variable(y):
        return _dense_dot(x, y)
    return dot(x, y)


class TrueDot(SparseOp):
    """The product of two matrices, one of them sparse, which is sparse."""

    def __init__(self, grad_preserves_dense: bool = True) -> None:
        self.grad_preserves_dense = grad_preserves_dense
        super().__init__("TrueDot", self._kinds, self.product, self._back,
                         grad_preserves_dense=grad_preserves_dense)  # fmt: skip

    def make_node(self, *inputs: Any) -> Apply:
        x, y = _pair(inputs[0], inputs[1], "true_dot")
        return super().make_node(x, y)

    @staticmethod
    def _kinds(x: Any, y: Any) -> list[Any]:
        return [sparse_of(x if is_sparse_variable(x) else y, joined(x, y))]

    @staticmethod
    def product(x: Any, y: Any) -> Any:
        found = x @ y
        return found if is_sparse(found) else np.atleast_2d(found)

    def _back(self, inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        (x, y), (bar,) = inputs, bars
        found = [true_dot(bar, y.T), true_dot(x.T, bar)]
        if self.grad_preserves_dense:
            found = [
                part if is_sparse_variable(own) else dense_from_sparse(part)
                for own, part in zip(inputs, found, strict=True)
            ]
        return found

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The lengths of the axes that are left."""
        return [_outer_lengths(shapes)]


class StructuredDot(SparseOp):
    """A product whose gradient by a sparse matrix has its elements only where that has."""

    def __init__(self) -> None:
        super().__init__("StructuredDot", self._kinds, lambda x, y: x @ y, self._back)

    def make_node(self, *inputs: Any) -> Apply:
        x, y = _pair(inputs[0], inputs[1], "structured_dot")
        if y.ndim != 2:
            raise NotImplementedError("non-matrix b")
        return super().make_node(as_sparse_variable(x), y)

    @staticmethod
    def _kinds(x: Any, y: Any) -> list[Any]:
        if is_sparse_variable(y):
            return [sparse_of(x, joined(x, y))]
        return [TensorType(joined(x, y), (False, y.type.broadcastable[1]))]

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        (x, y), (bar,) = inputs, bars
        if is_sparse_variable(y):
            whole = [true_dot(bar, y.T), true_dot(x.T, bar)]
            return [mul(sp_ones_like(own), p) for own, p in zip(inputs, whole, strict=True)]
        dense = dense_from_sparse(bar) if is_sparse_variable(bar) else bar
        return [mul(sp_ones_like(x), _dense_dot(dense, y.T)), structured_dot(x.T, dense)]

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The lengths of the axes that are left."""
        return [_outer_lengths(shapes)]


class _StructuredGrad(SparseOp):
    """Of a dense product ``bar @ b.T`` the elements at places; of these the first two inputs."""

    by_rows = True

    def __init__(self) -> None:
        kinds = lambda indices, indptr, b, bar: [vector_of(joined(b, bar))]  # noqa: E731
        super().__init__(type(self).__name__, kinds, self._at_places)

    def _at_places(self, indices: Any, indptr: Any, b: Any, bar: Any) -> Any:
        major = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        rows, columns = (major, indices) if self.by_rows else (indices, major)
        if is_sparse(bar):
            bar = bar.toarray()
        if is_sparse(b):
            b = b.toarray()
        return np.einsum("ij,ij->i", bar[rows], b[columns])

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """As many as places."""
        return [shapes[0]]


class StructuredDotGradCSR(_StructuredGrad):
    """The gradient's elements at the places of a matrix whose rows are together."""


class StructuredDotGradCSC(_StructuredGrad):
    """The gradient's elements at the places of a matrix whose columns are together."""

    by_rows = False


class Usmm(SparseOp):
    """``alpha * dot(x, y) + z``, a tensor."""

    def __init__(self) -> None:
        super().__init__("Usmm", self._kinds, self._run)

    def make_node(self, *inputs: Any) -> Apply:
        alpha, x, y, z = inputs
        x, y = _pair(x, y, "Usmm")
        return super().make_node(as_tensor_variable(alpha), x, y, as_tensor_variable(z))

    @staticmethod
    def _kinds(*inputs: Any) -> list[Any]:
        return [matrix_of(joined(*inputs))]

    @staticmethod
    def _run(alpha: Any, x: Any, y: Any, z: Any) -> Any:
        return alpha * Dot.product(x, y) + z


class SamplingDot(SparseOp):
    """The product ``dot(x, y.T)`` where `p` has elements, times those."""

    def __init__(self) -> None:
        super().__init__("SamplingDot", self._kinds, self._sampled, self._back)

    def make_node(self, *inputs: Any) -> Apply:
        x, y, p = inputs
        x, y, p = as_tensor_variable(x), as_tensor_variable(y), as_sparse_variable(p)
        return super().make_node(x, y, p)

    @staticmethod
    def _kinds(x: Any, y: Any, p: Any) -> list[Any]:
        return [sparse_of(p, joined(x, y, p))]

    @staticmethod
    def _sampled(x: Any, y: Any, p: Any) -> Any:
        places = sparse.coo_matrix(p)
        values = np.sum(x[places.row] * y[places.col], axis=1)
        found = values * places.data
        return SparseType.format_cls[p.format]((found, (places.row, places.col)), p.shape)

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        x, y, p = inputs
        weighed = mul(bars[0], p)
        return [dot(weighed, y), dot(transpose(weighed), x), None]

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """That of the places."""
        return [shapes[2]]


_dot, _structured_dot = Dot(), StructuredDot()
sdg_csc, sdg_csr = StructuredDotGradCSC(), StructuredDotGradCSR()
usmm, sampling_dot = Usmm(), SamplingDot()


def dot(x: Any, y: Any) -> Any:
    """The product of two matrices or of one and a vector, one of them sparse: a tensor."""
    return _dot(*_pair(x, y, "dot"))


def true_dot(x: Any, y: Any, grad_preserves_dense: bool = True) -> Any:
    """The product of two matrices, one of them at least sparse, which is sparse."""
    x, y = _pair(x, y, "true_dot")
    if is_sparse_variable(x):
        return TrueDot(grad_preserves_dense)(x, y)
    return transpose(TrueDot(grad_preserves_dense)(y.T, x.T))


def structured_dot(x: Any, y: Any) -> Any:
    """The product, whose gradient by a sparse matrix has its elements only where that has."""
    x, y = _pair(x, y, "structured_dot")
    if is_sparse_variable(x):
        return _structured_dot(x, y)
    return _structured_dot(transpose(y), x.T).T
