"""Products of sparse matrices with others."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.sparse.basic import mul, sp_ones_like, transpose
from symc.theano.sparse.op import (
    SparseOp,
    as_sparse_or_tensor_variable,
    as_sparse_variable,
    is_sparse_variable,
    joined,
    matrix_of,
    sparse_of,
    vector_of,
)
from symc.theano.sparse.scipy import sparse
from symc.theano.tensor.convert import as_tensor_variable

__all__ = ["dot", "sampling_dot", "structured_dot", "true_dot", "usmm"]


def _kinds(x: Any, y: Any) -> list[Any]:
    if is_sparse_variable(x) and is_sparse_variable(y):
        return [sparse_of(x, joined(x, y))]
    axes = x.ndim + y.ndim - 2
    return [matrix_of(joined(x, y)) if axes == 2 else vector_of(joined(x, y))]


def _turned(x: Any) -> Any:
    return transpose(x) if is_sparse_variable(x) else x.T


def _back(structured: bool) -> Any:
    def back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        x, y = inputs
        (bar,) = bars
        vector = y.ndim == 1
        if vector and not is_sparse_variable(bar):
            bar, y = bar.dimshuffle(0, "x"), y.dimshuffle(0, "x")
        of_x, of_y = _product(bar, _turned(y)), _product(_turned(x), bar)
        found: list[Any] = []
        for own, part in ((x, of_x), (inputs[1], of_y)):
            if is_sparse_variable(own) and (structured or not is_sparse_variable(part)):
                part = mul(sp_ones_like(own), part)
            found.append(part)
        if vector:
            found[1] = found[1].dimshuffle(0)
        return found

    return back


def _product(x: Any, y: Any) -> Any:
    if not is_sparse_variable(x) and not is_sparse_variable(y):
        from symc.theano.tensor.products import dot as dense_dot

        return dense_dot(x, y)
    return _true_dot(x, y)


_structured_dot = SparseOp("StructuredDot", _kinds, lambda x, y: x @ y, _back(True))
_true_dot = SparseOp("TrueDot", _kinds, lambda x, y: x @ y, _back(False))
_dot = SparseOp("Dot", _kinds, lambda x, y: x @ y, _back(False))


def structured_dot(x: Any, y: Any) -> Any:
    """The product, whose gradient by a sparse matrix has its elements only where that has."""
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not is_sparse_variable(x) and not is_sparse_variable(y):
        raise TypeError("structured_dot requires at least one sparse argument")
    if is_sparse_variable(x):
        return _structured_dot(x, y)
    assert is_sparse_variable(y)
    return _structured_dot(transpose(y), x.T).T


def true_dot(x: Any, y: Any, grad_preserves_dense: bool = True) -> Any:
    """The product of two matrices, one of them at least sparse."""
    del grad_preserves_dense
    return dot(x, y)


def dot(x: Any, y: Any) -> Any:
    """The product of two matrices, one of them at least sparse."""
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not is_sparse_variable(x) and not is_sparse_variable(y):
        raise TypeError("dot: one of the matrices must be sparse")
    return _dot(x, y)


def usmm(alpha: Any, x: Any, y: Any, z: Any) -> Any:
    """``alpha * dot(x, y) + z``."""
    return alpha * dot(x, y) + z


def _sampled(x: Any, y: Any, p: Any) -> Any:
    places = sparse.coo_matrix(p)
    values = np.sum(x[places.row] * y[places.col], axis=1)
    return sparse.csr_matrix((values * places.data, (places.row, places.col)), p.shape)


def _sampled_back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
    del outputs
    x, y, p = inputs
    weighed = mul(bars[0], p)
    return [dot(weighed, y), dot(transpose(weighed), x), None]


_sampling_dot = SparseOp(
    "SamplingDot", lambda x, y, p: [sparse_of(p, joined(x, y, p))], _sampled, _sampled_back
)


def sampling_dot(x: Any, y: Any, p: Any) -> Any:
    """The product ``dot(x, y.T)`` where `p` has elements, times those."""
    return _sampling_dot(as_tensor_variable(x), as_tensor_variable(y), as_sparse_variable(p))
