"""Sorting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply, Constant
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType


def _place(axis: Any) -> int:
    if isinstance(axis, Constant):
        axis = axis.data
    try:
        return int(axis)
    except TypeError:
        raise NotImplementedError("symc.theano sorts along an axis that is a constant") from None


class SortOp(Op):
    """The elements in order along an axis."""

    __props__ = ("axis", "kind", "order")

    def __init__(self, kind: str = "quicksort", order: Any = None, axis: int = -1) -> None:
        self.kind, self.order, self.axis = kind, order, axis

    def make_node(self, input: Any) -> Apply:
        x = as_tensor_variable(input)
        return Apply(self, [x], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.sort(inputs[0], axis=self.axis)]


class ArgSortOp(SortOp):
    """The positions of the elements in order."""

    def make_node(self, input: Any) -> Apply:
        x = as_tensor_variable(input)
        return Apply(self, [x], [TensorType("int64", x.type.broadcastable)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.cast(T.argsort(inputs[0], axis=self.axis), "int64")]


def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The elements in order along an axis; None: all elements."""
    a = as_tensor_variable(a)
    if axis is None:
        return SortOp(kind, order, 0)(a.flatten())
    return SortOp(kind, order, _place(axis))(a)


def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The positions of the elements in order; None: of all elements."""
    a = as_tensor_variable(a)
    if axis is None:
        return ArgSortOp(kind, order, 0)(a.flatten())
    return ArgSortOp(kind, order, _place(axis))(a)
