"""What a step computes of a number that the step before hands on waits for it as briefly as may be.

``min(number, other) + 1`` is three operations after the number is there: a comparison, a choice, a
sum. ``number < other ? number + 1 : other + 1`` is two, as processors add while they compare. A
loop whose steps only wait for each other takes as long as these. Integers have the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.dtypes import BOOL
from symc.codegen.ir import Binary, Const, Expr, Let, Load, Select, Stmt, Store, Var
from symc.codegen.passes.walk import Block, fresh, nodes, rebuild


def waiting_briefly(body: Sequence[Stmt], number: Load, taken: set[str]) -> Block:
    """The statements, in which a sum of an extreme of the number is one of two sums."""
    found: list[Stmt] = []

    def visit(expr: Expr) -> Expr:
        new = rebuild(expr, visit)
        match new:
            case Binary("add", Binary("min" | "max" as op, one, other), Const() as more):
                rest = _rest(one, other, number)
                if rest is not None and new.dtype.is_integer:
                    return choice(op, rest, more)
            case _:
                pass
        return new

    def choice(op: str, rest: Expr, more: Const) -> Expr:
        name = Var(fresh("other", taken), rest.dtype)
        found.append(Let(name, rest))
        wins = Binary("lt" if op == "min" else "gt", number, name, BOOL)
        one, other = (Binary("add", each, more, each.dtype) for each in (number, name))
        return Select(wins, one, other, number.dtype)

    for stmt in body:
        match stmt:
            case Let(var, value):
                new = visit(value)
                found.append(stmt if new is value else Let(var, new))
            case Store(buffer, index, value):
                new = visit(value)
                found.append(stmt if new is value else Store(buffer, index, new))
            case _:
                found.append(stmt)
    return tuple(found)


def _rest(one: Expr, other: Expr, number: Load) -> Expr | None:
    """The operand that is not the number, if the other one is, and that does not wait for it."""
    for mine, rest in ((one, other), (other, one)):
        if mine == number and number not in nodes(rest):
            return rest
    return None
