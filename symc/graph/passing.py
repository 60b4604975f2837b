"""Ops whose value is their first argument, and that stand for something else beside it.

A condition that is checked, another gradient, a message: what they add is taken from the node
before it is expanded to the argument.
"""

from __future__ import annotations

from symc.codegen.record import record
from symc.graph.node import Array, Op, Tensor
from symc.graph.types import TensorType


@record
class Passing(Op):
    """The first argument as it is."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def expand(self, node: Tensor) -> Tensor | None:
        return node.args[0]
