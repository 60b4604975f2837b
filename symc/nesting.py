"""Loops around statements: what all builders of kernels share."""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen import ir
from symc.codegen.dtypes import DType


def convert(value: ir.Expr, dtype: DType) -> ir.Expr:
    """The value in a dtype."""
    return value if value.dtype is dtype else ir.Cast(value, dtype)


def wrap(
    variables: Sequence[ir.Var], extents: Sequence[ir.Expr], body: Sequence[ir.Stmt],
    kind: ir.LoopKind, note: str = "",
) -> list[ir.Stmt]:  # fmt: skip
    """The body inside loops, outermost first; the note goes on the outermost."""
    statements: list[ir.Stmt] = list(body)
    for position in reversed(range(len(variables))):
        comment = note if position == 0 else ""
        loop = ir.Loop(variables[position], extents[position], kind, tuple(statements), comment)
        statements = [loop]
    return statements
