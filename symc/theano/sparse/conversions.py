"""Sparse matrices from dense ones and back, with other dtypes, turned, and cleaned."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply
from symc.theano.sparse.op import (
    SparseOp,
    as_sparse_variable,
    is_sparse_variable,
    matrix_of,
    sparse_of,
)
from symc.theano.sparse.type import SparseType
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

__all__ = [
    "Cast", "ConstructSparseFromList", "DenseFromSparse", "EnsureSortedIndices", "Neg", "Remove0",
    "SparseFromDense", "Transpose", "bcast", "cast", "ccast", "clean",
    "construct_sparse_from_list", "csc_from_dense", "csr_from_dense", "dcast",
    "dense_from_sparse", "ensure_sorted_indices", "fcast", "icast", "lcast", "neg", "remove0",
    "sp_ones_like", "sp_zeros_like", "sparse_shape", "transpose", "wcast", "zcast",
]  # fmt: skip


class _SameShape(SparseOp):
    """An op whose result has the shape of its first input."""

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The shape of the first input."""
        return [shapes[0]]


class SparseShape(SparseOp):
    """The lengths of a sparse matrix, as a vector."""

    gives_shape = True

    def __init__(self) -> None:
        super().__init__("Shape", lambda x: [TensorType("int64", (False,))],
                         lambda x: np.asarray(x.shape), lambda *_: [None])  # fmt: skip


sparse_shape = SparseShape()


class DenseFromSparse(_SameShape):
    """The matrix as a tensor. Its gradient is `structured`: only where there are elements."""

    def __init__(self, structured: bool = True) -> None:
        self.sparse_grad = structured
        super().__init__(
            "DenseFromSparse", self._kinds, lambda x: x.toarray() if hasattr(x, "toarray") else x,
            self._back, structured=structured,
        )  # fmt: skip

    @staticmethod
    def _kinds(x: Any) -> list[Any]:
        return [matrix_of(x.type.dtype) if is_sparse_variable(x) else x.type]

    def _back(self, inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        (x,), (bar,) = inputs, bars
        if is_sparse_variable(bar):
            return [bar]
        if self.sparse_grad:
            from symc.theano.sparse.arithmetic import mul

            return [mul(sp_ones_like(x), bar)]
        return [SparseFromDense(x.type.format)(bar)]


dense_from_sparse = DenseFromSparse()


class SparseFromDense(SparseOp):
    """A number, vector (as a row) or matrix as a sparse matrix of a format."""

    def __init__(self, format: str) -> None:
        self.format = format
        super().__init__(
            "SparseFromDense", lambda x: [SparseType(format, x.type.dtype)],
            lambda x: SparseType.format_cls[format](np.atleast_2d(x)), self._back, format=format,
        )  # fmt: skip

    def make_node(self, *inputs: Any) -> Apply:
        (x,) = map(as_tensor_variable, inputs)
        if x.ndim > 2:
            raise TypeError(
                "Theano does not have sparse tensor types with more than 2 dimensions, but "
                f"{x}.ndim = {x.ndim}"
            )
        return super().make_node(x)

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        (x,), (bar,) = inputs, bars
        whole = dense_from_sparse(bar) if is_sparse_variable(bar) else bar
        if x.ndim == 2:
            return [whole]
        return [whole[0] if x.ndim == 1 else whole[0, 0]]

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The lengths, those before the first one are 1."""
        (given,) = shapes
        return [(1,) * (2 - len(given)) + tuple(given)]


csr_from_dense, csc_from_dense = SparseFromDense("csr"), SparseFromDense("csc")


class Cast(_SameShape):
    """A matrix with another dtype."""

    def __init__(self, out_type: Any) -> None:
        self.out_type = np.dtype(out_type).name
        super().__init__(
            "Cast", lambda x: [sparse_of(x, self.out_type)], lambda x: x.astype(self.out_type),
            self._back, out_type=self.out_type,
        )  # fmt: skip

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        (x,), (out,) = inputs, outputs
        from symc.theano.gradient_types import zeros_of
        from symc.theano.scalar.dtypes import continuous_dtypes

        if out.dtype not in continuous_dtypes or x.dtype not in continuous_dtypes:
            return [zeros_of(x)] if not is_sparse_variable(x) else [sp_zeros_like(x)]
        return [cast(bars[0], x.dtype)]


bcast, wcast, icast, lcast = Cast("int8"), Cast("int16"), Cast("int32"), Cast("int64")
fcast, dcast, ccast, zcast = Cast("float32"), Cast("float64"), Cast("complex64"), Cast("complex128")


def cast(variable: Any, dtype: str) -> Any:
    """A sparse matrix with another dtype."""
    return Cast(dtype)(as_sparse_variable(variable))


_TURNED = {"csc": "csr", "csr": "csc", "bsr": "bsr"}


class Transpose(SparseOp):
    """The transpose, which has the other format."""

    def __init__(self) -> None:
        super().__init__(
            "Transpose", lambda x: [SparseType(_TURNED[x.type.format], x.type.dtype)],
            lambda x: x.transpose(), lambda inputs, outputs, bars: [transpose(bars[0])],
        )  # fmt: skip

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The lengths, turned."""
        return [tuple(reversed(shapes[0]))]


class Neg(_SameShape):
    """The negative."""

    def __init__(self) -> None:
        super().__init__("Neg", lambda x: [x.type], lambda x: -x,
                         lambda inputs, outputs, bars: [-bars[0]])  # fmt: skip


class EnsureSortedIndices(_SameShape):
    """The matrix with the places of each row or column in order."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
        super().__init__("EnsureSortedIndices", lambda x: [x.type], lambda x: x.sorted_indices(),
                         lambda inputs, outputs, bars: [bars[0]])  # fmt: skip


class Remove0(_SameShape):
    """The matrix without the elements that are 0."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
        super().__init__("Remove0", lambda x: [x.type], self._removed,
                         lambda inputs, outputs, bars: [bars[0]])  # fmt: skip

    @staticmethod
    def _removed(x: Any) -> Any:
        made = x.copy()
        made.eliminate_zeros()
        return made


transpose, neg, remove0 = Transpose(), Neg(), Remove0()
ensure_sorted_indices = EnsureSortedIndices()


def clean(x: Any) -> Any:
    """The matrix in order, and without zeros that are there."""
    return ensure_sorted_indices(remove0(x))


def _ones(x: Any) -> Any:
    made = x.copy()
    made.data = np.ones_like(made.data)
    return made


sp_ones_like: SparseOp = _SameShape(
    "sp_ones_like", lambda x: [x.type], _ones,
    lambda inputs, outputs, bars: [sp_zeros_like(inputs[0])],
)  # fmt: skip
sp_zeros_like: SparseOp = _SameShape(
    "sp_zeros_like", lambda x: [x.type], lambda x: type(x)(x.shape, dtype=x.dtype),
    lambda inputs, outputs, bars: [sp_zeros_like(inputs[0])],
)  # fmt: skip


class ConstructSparseFromList(SparseOp):
    """A sparse matrix in the shape of `x` with rows at given places; rows at one place add up."""

    def __init__(self) -> None:
        super().__init__(
            "ConstructSparseFromList", lambda x, *_: [SparseType("csc", x.type.dtype)], self._made,
            self._back,
        )  # fmt: skip

    def make_node(self, *inputs: Any) -> Apply:
        x, values, rows = (as_tensor_variable(each) for each in inputs)
        if rows.type.dtype[:3] not in ("int", "uin") or rows.ndim != 1:
            raise TypeError("index must be vector of integers")
        if x.ndim != 2 or values.ndim != 2:
            raise TypeError("cannot create a sparse matrix with other than 2 dimensions")
        return super().make_node(x, values, rows)

    @staticmethod
    def _made(x: Any, values: Any, rows: Any) -> Any:
        count, width = values.shape
        places = np.repeat(rows % x.shape[0], width), np.tile(np.arange(width), count)
        return SparseType.format_cls["csc"]((values.ravel(), places), shape=x.shape, dtype=x.dtype)

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        x, _values, rows = inputs
        whole = dense_from_sparse(bars[0]) if is_sparse_variable(bars[0]) else bars[0]
        return [x.zeros_like(), whole[rows], None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Places have no gradient."""
        return [[True], [True], [False]]

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The shape of the first input."""
        return [shapes[0]]


construct_sparse_from_list = ConstructSparseFromList()
