"""Sums of sparse matrices, rows and columns scaled, and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply
from symc.theano.scalar.dtypes import continuous_dtypes
from symc.theano.sparse.conversions import (
    SparseFromDense,
    dense_from_sparse,
    sp_ones_like,
    sp_zeros_like,
)
from symc.theano.sparse.op import (
    SparseOp,
    as_sparse_variable,
    is_sparse_variable,
    joined,
    sparse_of,
    vector_of,
)
from symc.theano.sparse.scipy import sparse
from symc.theano.sparse.type import SparseType
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

__all__ = [
    "ColScaleCSC", "Diag", "RowScaleCSC", "SpSum", "SquareDiagonal", "col_scale", "diag",
    "row_scale", "sp_sum", "square_diagonal",
]  # fmt: skip


class SpSum(SparseOp):
    """The sum of all elements, or along an axis; with `sparse_grad` of those that are there."""

    def __init__(self, axis: int | None = None, sparse_grad: bool = True) -> None:
        if axis not in (None, 0, 1):
            raise ValueError("Illegal value for self.axis.")
        self.axis, self.structured = axis, sparse_grad
        super().__init__("SpSum", self._kinds, self._summed, self._back, axis=axis,
                         sparse_grad=sparse_grad)  # fmt: skip

    def _kinds(self, x: Any) -> list[Any]:
        return [TensorType(x.type.dtype, () if self.axis is None else (False,))]

    def _summed(self, x: Any) -> Any:
        return np.asarray(x.sum(axis=self.axis)).reshape(() if self.axis is None else -1)

    def _back(self, inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        from symc.theano.sparse.arithmetic import mul

        (x,), (bar,) = inputs, bars
        if x.dtype not in continuous_dtypes:
            return [sp_zeros_like(x)]
        if self.structured:
            ones = sp_ones_like(x)
            if self.axis is None:
                return [mul(ones, bar)]
            return [col_scale(ones, bar) if self.axis == 0 else row_scale(ones, bar)]
        order = {None: ("x", "x"), 0: ("x", 0), 1: (0, "x")}[self.axis]
        whole = dense_from_sparse(sp_zeros_like(x))
        spread = bar.dimshuffle(*order) + whole.astype(bar.dtype)
        return [SparseFromDense(x.type.format)(spread)]

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The lengths of the axes that are left."""
        return [() if self.axis is None else (shapes[0][1 - self.axis],)]


def sp_sum(x: Any, axis: int | None = None, sparse_grad: bool = False) -> Any:
    """The sum of all elements, or along an axis; with `sparse_grad` of those that are there."""
    return SpSum(axis, sparse_grad)(as_sparse_variable(x))


class _Scale(SparseOp):
    """A matrix whose rows, or columns, are multiplied by numbers."""

    rows = False

    def __init__(self) -> None:
        kinds = lambda x, s: [sparse_of(x, joined(x, s))]  # noqa: E731
        super().__init__(type(self).__name__, kinds, self._scaled, self._back)

    def _scaled(self, x: Any, s: Any) -> Any:
        return sparse.diags(s) @ x if self.rows else x @ sparse.diags(s)

    def _back(self, inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        from symc.theano.sparse.arithmetic import mul

        x, s = inputs
        return [type(self)()(bars[0], s), sp_sum(mul(x, bars[0]), axis=1 if self.rows else 0)]

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The shape of the matrix."""
        return [shapes[0]]


class ColScaleCSC(_Scale):
    """Each column multiplied by a number of its own; SciPy does it in any format."""


class RowScaleCSC(_Scale):
    """Each row multiplied by a number of its own; SciPy does it in any format."""

    rows = True


def _scaled(x: Any, s: Any, by_rows: bool) -> Any:
    x, s = as_sparse_variable(x), as_tensor_variable(s)
    if x.format == "csc":
        return RowScaleCSC()(x, s) if by_rows else ColScaleCSC()(x, s)
    if x.format == "csr":  # its transpose is csc
        return (ColScaleCSC()(x.T, s) if by_rows else RowScaleCSC()(x.T, s)).T
    raise NotImplementedError(f"a matrix of format {x.format} cannot be scaled")


def col_scale(x: Any, s: Any) -> Any:
    """A matrix whose columns are multiplied by the numbers of a vector."""
    return _scaled(x, s, False)


def row_scale(x: Any, s: Any) -> Any:
    """A matrix whose rows are multiplied by the numbers of a vector."""
    return _scaled(x, s, True)


class Diag(SparseOp):
    """The diagonal of a square matrix."""

    def __init__(self) -> None:
        super().__init__("Diag", lambda x: [vector_of(x.type.dtype)], self._taken,
                         lambda inputs, outputs, bars: [square_diagonal(bars[0])])  # fmt: skip

    @staticmethod
    def _taken(x: Any) -> Any:
        if x.shape[0] != x.shape[1]:
            raise ValueError("Diag only apply on square matrix")
        return x.diagonal()

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """As long as the matrix."""
        return [(shapes[0][0],)]


class SquareDiagonal(SparseOp):
    """A square matrix with a vector on its diagonal."""

    def __init__(self) -> None:
        super().__init__(
            "SquareDiagonal", lambda d: [SparseType("csc", d.type.dtype)],
            lambda d: sparse.diags(d, format="csc"), self._back,
        )  # fmt: skip

    def make_node(self, *inputs: Any) -> Apply:
        (d,) = map(as_tensor_variable, inputs)
        if d.ndim != 1:
            raise TypeError("data argument must be a vector", d.type)
        return super().make_node(d)

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs, inputs
        (bar,) = bars
        if is_sparse_variable(bar):
            return [diag(bar)]
        from symc.theano.tensor.nlinalg import extract_diag

        return [extract_diag(bar)]

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """Twice the length of the vector."""
        return [(shapes[0][0], shapes[0][0])]


diag, square_diagonal = Diag(), SquareDiagonal()
