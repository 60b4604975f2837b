"""Iterations of a loop in groups of a few, and those that are left over."""

from __future__ import annotations

from symc.codegen.ir import Const, Expr, binary, const


def groups(extent: Expr, size: int, *, is_natural: bool = False) -> tuple[Expr, Expr]:
    """How many whole groups of `size` iterations a loop has, and how many iterations are left.

    Numbers, if the loop has a known length: 1 and 3 of 7 iterations in fours. Of a negative extent,
    if it is not `is_natural`, none are left.
    """
    if isinstance(extent, Const):
        length = max(int(extent.value), 0)
        return const(length // size), const(length % size)
    left = binary("mod", extent, const(size))
    left = left if is_natural else binary("min", left, extent)
    return binary("floordiv", extent, const(size)), left
