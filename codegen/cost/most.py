"""The most that an integer expression is in any step of some loops."""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.ir import Binary, Const, Expr, Var, add, binary, const, mul, sub
from symc.codegen.passes.walk import names_in


def most(expr: Expr, counts: Mapping[str, Expr]) -> Expr | None:
    """An upper bound without counters; None where none is seen.

    `counts` has how many steps each counter has, in sizes without counters: it is one less at most.
    """
    return _end(expr, counts, upper=True)


def _end(expr: Expr, counts: Mapping[str, Expr], *, upper: bool) -> Expr | None:
    """One end of an interval that an expression is in."""
    if names_in(expr).isdisjoint(counts):
        return expr
    match expr:
        case Var(name):
            return sub(counts[name], const(1)) if upper else const(0)
        case Binary("add" | "min" | "max" as op, left, right):
            one, other = (_end(side, counts, upper=upper) for side in (left, right))
        case Binary("sub" as op, left, right):
            one, other = _end(left, counts, upper=upper), _end(right, counts, upper=not upper)
        case Binary("mul" as op, left, right):  # lengths: none is negative
            one, other = (_end(side, counts, upper=upper) for side in (left, right))
        case Binary("floordiv" as op, left, Const() as right):
            one, other = _end(left, counts, upper=upper), right
        case _:
            return None
    if one is None or other is None:
        return None
    match op:
        case "add":
            return add(one, other)
        case "sub":
            return sub(one, other)
        case "mul":
            return mul(_not_negative(one), _not_negative(other))
        case _:
            return binary(op, one, other)


def _not_negative(length: Expr) -> Expr:
    return length if isinstance(length, Const | Var) else binary("max", length, const(0))
