"""Ops of floats of 16 bits by way of float32, where routines have no such type."""

from __future__ import annotations

from symc.graph.node import Tensor
from symc.tensor.elementwise import cast_to

__all__: list[str] = []


def in_float32(node: Tensor) -> Tensor:
    """The same op of arguments in float32, and its result rounded."""
    args = [cast_to(arg, arg.dtype.wide) for arg in node.args]
    return cast_to(node.op(*args), node.dtype)
