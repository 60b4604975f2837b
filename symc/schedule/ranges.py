"""Indexes of kernels as lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symc.codegen import ir
from symc.graph import dims
from symc.graph.dims import Dim


def dim_of(index: ir.Expr, lengths: Mapping[str, Dim]) -> Dim | None:
    """An index as a length, given those that variables stand for; None if that is not known."""
    match index:
        case ir.Const(int() as value):
            return value
        case ir.Var(name):
            return lengths.get(name)
        case ir.Binary("add" | "sub" | "mul" as op, left, right):
            one, other = dim_of(left, lengths), dim_of(right, lengths)
            return None if one is None or other is None else _ARITHMETIC[op](one, other)
        case _:
            return None


_ARITHMETIC: dict[str, Callable[[Dim, Dim], Dim]] = {
    "add": dims.add, "sub": dims.sub, "mul": dims.mul
}  # fmt: skip
