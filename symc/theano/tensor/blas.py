"""`theano.tensor.blas`: products with an op of their own in Theano.

symc chooses the routine itself, so these are the products that they stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.in_place import OverwritesFirst
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.products import BatchedDot as BatchedDot
from symc.theano.tensor.products import batched_dot as batched_dot
from symc.theano.tensor.type import TensorType

__all__ = [
    "BatchedDot", "Dot22", "Dot22Scalar", "Gemm", "GemmRelated", "Gemv", "Ger", "batched_dot",
    "gemm", "gemm_inplace", "gemm_no_inplace", "gemv", "gemv_inplace", "gemv_no_inplace", "ger",
    "ger_destructive",
]  # fmt: skip


class GemmRelated(OverwritesFirst):
    """What the ops have in common: results of a matrix or vector that is added to."""

    __props__: Any = ()


class Gemm(GemmRelated):
    """``b * z + a * dot(x, y)``."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def make_node(self, *inputs: Any) -> Apply:
        z, a, x, y, b = (as_tensor_variable(each) for each in inputs)
        if (z.ndim, a.ndim, x.ndim, y.ndim, b.ndim) != (2, 0, 2, 2, 0):
            raise TypeError("Gemm requires matrices z, x, y and scalars a, b")
        if len({each.dtype for each in (z, a, x, y, b)}) != 1:
            raise TypeError("Gemm requires inputs of one dtype")
        return Apply(self, [z, a, x, y, b], [z.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        z, a, x, y, b = inputs
        return [b * z + a * T.dot(x, y)]


class Gemv(GemmRelated):
    """``beta * y + alpha * dot(A, x)``."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def make_node(self, y: Any, alpha: Any, A: Any, x: Any, beta: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (y, alpha, A, x, beta)]
        return Apply(self, given, [given[0].type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        y, alpha, matrix, x, beta = inputs
        return [beta * y + alpha * T.dot(matrix, x)]


class Ger(GemmRelated):
    """``A + alpha * outer(x, y)``."""

    __props__ = ("destructive",)

    def __init__(self, destructive: bool = False) -> None:
        self.destructive = self.inplace = destructive

    def make_node(self, A: Any, alpha: Any, x: Any, y: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (A, alpha, x, y)]
        return Apply(self, given, [given[0].type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        matrix, alpha, x, y = inputs
        return [matrix + alpha * T.outer(x, y)]


class Dot22(GemmRelated):
    """The product of two matrices."""

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        if x.dtype != y.dtype:
            raise TypeError("Dot22 requires operands of one dtype")
        flags = (x.type.broadcastable[0], y.type.broadcastable[1])
        return Apply(self, [x, y], [TensorType(x.type.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.dot(inputs[0], inputs[1])]


class Dot22Scalar(GemmRelated):
    """``a * dot(x, y)``."""

    def make_node(self, x: Any, y: Any, a: Any) -> Apply:
        x, y, a = (as_tensor_variable(each) for each in (x, y, a))
        flags = (x.type.broadcastable[0], y.type.broadcastable[1])
        return Apply(self, [x, y, a], [TensorType(x.type.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [inputs[2] * T.dot(inputs[0], inputs[1])]


gemm_no_inplace, gemm_inplace, gemm = Gemm(False), Gemm(True), Gemm(False)
gemv_no_inplace, gemv_inplace, gemv = Gemv(False), Gemv(True), Gemv(False)
ger, ger_destructive = Ger(False), Ger(True)
_dot22, _dot22scalar = Dot22(), Dot22Scalar()
