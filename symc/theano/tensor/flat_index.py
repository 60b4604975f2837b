"""Positions as one number and as one number for each axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import int_dtypes
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.shaping import element, vector_length
from symc.theano.tensor.type import TensorType


class UnravelIndex(Op):
    """The index along each axis for positions in the flattened tensor."""

    __props__ = ("order",)

    def __init__(self, order: str = "C", ndim: int | None = None) -> None:
        assert order in ("C", "F")
        self.order: Any = order
        self.ndim = ndim

    def make_node(self, indices: Any, dims: Any) -> Apply:
        indices, dims = as_tensor_variable(indices), as_tensor_variable(dims)
        if indices.dtype not in int_dtypes:
            raise TypeError(f"'{indices.dtype}' object cannot be interpreted as an index")
        if dims.dtype not in int_dtypes:
            raise TypeError(f"'{dims.dtype}' object cannot be interpreted as an index")
        if dims.ndim != 1:
            raise TypeError("dims must be a 1D array")
        kinds = [TensorType("int64", indices.broadcastable)] * (
            vector_length(dims) if self.ndim is None else self.ndim
        )
        return Apply(self, [indices, dims], [kind() for kind in kinds])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        flat, dims = inputs
        lengths = [element(dims, position) for position in range(node.nout)]
        return list(T.unravel_index(flat, lengths, order=self.order))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indexes have no gradient."""
        return [[False] * node.nout] * node.nin


def unravel_index(indices: Any, dims: Any, order: str = "C", ndim: int | None = None) -> Any:
    """The index along each axis for positions in the flattened tensor."""
    found = UnravelIndex(order, ndim)(indices, dims, return_list=True)
    return tuple(found)


class RavelMultiIndex(Op):
    """The positions in the flattened tensor for an index along each axis."""

    __props__ = ("mode", "order")

    def __init__(self, mode: str = "raise", order: str = "C") -> None:
        assert mode in ("raise", "wrap", "clip")
        assert order in ("C", "F")
        self.mode: Any = mode
        self.order: Any = order

    def make_node(self, *inp: Any) -> Apply:
        given = [as_tensor_variable(each) for each in inp]
        for each in given:
            if each.dtype not in int_dtypes:
                raise TypeError(f"'{each.dtype}' object cannot be interpreted as an index")
        if given[-1].ndim != 1:
            raise TypeError("dims must be a 1D array")
        most = max(each.ndim for each in given[:-1])
        return Apply(self, given, [TensorType("int64", (False,) * most)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        *parts, dims = inputs
        lengths = [element(dims, position) for position in range(len(parts))]
        return [T.ravel_multi_index(parts, lengths, mode=self.mode, order=self.order)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indexes have no gradient."""
        return [[False]] * node.nin


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Any:
    """The positions in the flattened tensor for an index along each axis."""
    if not isinstance(multi_index, list | tuple):
        raise TypeError("multi_index must be a tuple or a list.")
    return RavelMultiIndex(mode=mode, order=order)(*multi_index, dims)
