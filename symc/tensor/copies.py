"""A tensor in memory of its own: what the compiler adds where a view would not do."""

from __future__ import annotations

from symc.codegen.record import record
from symc.graph.formulas import own_element
from symc.graph.lowering import At, SizeOf
from symc.graph.node import Array, Op, Tensor
from symc.graph.types import TensorType

__all__: list[str] = []


@record
class Copy(Op):
    """The argument in memory of its own: number tells copies of one node apart."""

    number: int

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0].copy()

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(own_element(node))
