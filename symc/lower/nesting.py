"""Loops around statements, shared by all builders of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from symc.codegen import ir
from symc.codegen.dtypes import DType


def convert(value: ir.Expr, dtype: DType) -> ir.Expr:
    """The value in a dtype."""
    return value if value.dtype is dtype else ir.Cast(value, dtype)


def wrap(
    variables: Sequence[ir.Var], extents: Sequence[ir.Expr], body: Sequence[ir.Stmt],
    kind: ir.LoopKind, note: str = "", cuts: Mapping[ir.Var, ir.Cut] | None = None,
) -> list[ir.Stmt]:  # fmt: skip
    """The body inside loops, outermost first; the note goes on the outermost.

    `cuts` has, by variable, the parts of loops in strip-mining.
    """
    statements: list[ir.Stmt] = list(body)
    for position in reversed(range(len(variables))):
        comment = note if position == 0 else ""
        var, extent = variables[position], extents[position]
        cut = None if cuts is None else cuts.get(var)
        statements = [ir.Loop(var, extent, kind, tuple(statements), comment, cut)]
    return statements


_ZERO = ir.const(0)


def volume(shape: Iterable[ir.Expr]) -> ir.Expr:
    """How many elements a shape has."""
    count: ir.Expr = ir.const(1)
    for extent in shape:
        count = ir.mul(count, extent)
    return count


def copy(
    dtype: DType, source: str, target: str, count: ir.Expr,
    begin: ir.Expr = _ZERO, to: ir.Expr = _ZERO,
) -> ir.Routine:  # fmt: skip
    """Copies `count` elements from one buffer to another."""
    written = ir.Pointer(target, to, written=True)
    bytes_ = ir.mul(ir.const(dtype.bytes), count)
    return ir.Routine("copy_bytes", (written, ir.Pointer(source, begin), bytes_))
