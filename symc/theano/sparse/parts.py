"""Sparse matrices taken apart into elements and places, and made of these."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.sparse.op import SparseOp, as_sparse_variable, vector_of
from symc.theano.sparse.type import SparseType
from symc.theano.tensor.convert import as_tensor_variable

__all__ = [
    "CSC", "CSM", "CSR", "CSMGrad", "CSMProperties", "csm_data", "csm_grad", "csm_indices",
    "csm_indptr", "csm_properties", "csm_shape",
]  # fmt: skip


class CSMProperties(SparseOp):
    """The elements of a matrix, their places, where rows or columns begin, and its lengths."""

    def __init__(self, kmap: Any = None) -> None:
        del kmap
        super().__init__("CSMProperties", self._kinds, self._parts, self._back)

    @staticmethod
    def _kinds(x: Any) -> list[Any]:
        return [vector_of(x.type.dtype), *[vector_of("int32")] * 3]

    @staticmethod
    def _parts(x: Any) -> Any:
        return x.data.copy(), x.indices.copy(), x.indptr.copy(), np.asarray(x.shape)

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        (x,) = inputs
        if isinstance(bars[0].type, DisconnectedType):
            return [None]
        return [CSM(x.type.format)(bars[0], *outputs[1:])]

    def make_node(self, *inputs: Any) -> Apply:
        return super().make_node(*(as_sparse_variable(each) for each in inputs))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Only elements have gradients."""
        return [[True, False, False, False]]


csm_properties = CSMProperties()


def csm_data(csm: Any) -> Any:
    """The elements that are there."""
    return csm_properties(csm)[0]


def csm_indices(csm: Any) -> Any:
    """Where the elements are in their rows or columns."""
    return csm_properties(csm)[1]


def csm_indptr(csm: Any) -> Any:
    """Where rows or columns begin."""
    return csm_properties(csm)[2]


def csm_shape(csm: Any) -> Any:
    """The lengths, as a vector."""
    return csm_properties(csm)[3]


class CSM(SparseOp):
    """A matrix of a format made of elements, their places, where rows begin, and lengths."""

    def __init__(self, format: str, kmap: Any = None) -> None:
        del kmap
        if format not in ("csr", "csc"):
            raise ValueError("format must be one of: 'csr', 'csc'", format)
        self.format = format
        super().__init__("CSM", self._kinds, self._made, self._back, format=format)

    def make_node(self, *inputs: Any) -> Apply:
        data, *places = (as_tensor_variable(each) for each in inputs)
        if data.type.ndim != 1:
            raise TypeError("data argument must be a vector; ", data.type, data)
        for name, each in zip(("indices", "indptr", "shape"), places, strict=True):
            if each.type.ndim != 1 or not each.type.dtype.startswith(("int", "uint")):
                raise TypeError(f"{name} must be vector of integers", each, each.type)
        whole = [each if each.dtype == "int32" else each.astype("int32") for each in places]
        return super().make_node(data, *whole)

    def _kinds(self, data: Any, *_: Any) -> list[Any]:
        return [SparseType(self.format, data.type.dtype)]

    def _made(self, data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
        lengths = tuple(int(n) for n in shape)
        if len(lengths) != 2:
            raise ValueError("Shape should be an array of length 2")
        build = SparseType.format_cls[self.format]
        return build((data.copy(), indices.copy(), indptr.copy()), lengths)

    def _back(self, inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        bar = csm_properties(as_sparse_variable(bars[0]))
        return [csm_grad()(*inputs, *bar), None, None, None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Only elements have gradients."""
        return [[True], [False], [False], [False]]

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The lengths that are given."""
        del shapes
        return [(node.inputs[3][0], node.inputs[3][1])]


class CSMGrad(SparseOp):
    """Of a gradient in parts (the last four inputs) the elements at a matrix's own places."""

    def __init__(self, kmap: Any = None) -> None:
        del kmap
        super().__init__("CSMGrad", lambda x, *_: [x.type], self._at_places)

    @staticmethod
    def _at_places(x: Any, indices: Any, indptr: Any, shape: Any, *bar: Any) -> Any:
        # Rows and columns may change places, as they do so for both matrices.
        values, bar_indices, bar_indptr, _ = bar
        minor = max(int(indices.max(initial=-1)), int(bar_indices.max(initial=-1))) + 1
        lengths = (len(indptr) - 1, minor)
        build = SparseType.format_cls["csr"]
        whole = build((values, bar_indices, bar_indptr), lengths)
        major = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        if not len(x):
            return np.zeros_like(x)
        return np.asarray(whole[major, indices]).reshape(-1)

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """As many as elements."""
        return [shapes[0]]


csm_grad = CSMGrad
CSC, CSR = CSM("csc"), CSM("csr")
