"""Loops that gcc must not put into vector registers: elements at places that truth values make.

gcc 12 gathers from tables of narrow elements one by one, by indexes that it takes as they were
before their last conversion. A truth value, or a product of some, is a mask of bits then, and true
is -1: ``w[cast(a & b, int64)]`` reads before the table.
"""

from __future__ import annotations

from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Const,
    Expr,
    Let,
    Load,
    Loop,
    Select,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.walk import expressions, nodes, parts, statements


def reads_by_truths(loop: Loop) -> bool:
    """Whether the index of something that a loop loads or stores is made of truth values."""
    inside = list(statements(loop.body))
    indexes = [load.index for stmt in inside for load in _loads(stmt)]
    indexes += [stmt.index for stmt in inside if isinstance(stmt, Store | Accumulate)]
    made = set[str]()  # names and local scalars that are
    while not any(_is_made(index, made) for index in indexes):
        before = len(made)
        for stmt in inside:
            match stmt:
                case Let(var, value) if _is_made(value, made):
                    made.add(var.name)
                case Alloc(buffer, value) if value is not None and _is_made(value, made):
                    made.add(buffer.name)
                case Store(name, _, value) | Accumulate(name, value=value):
                    made |= {name} if _is_made(value, made) else set()
                case _:
                    pass
        if len(made) == before:
            return False
    return True


def _loads(stmt: Stmt) -> list[Load]:
    """All loads of a statement, those of indexes too."""
    return [node for expr in expressions(stmt) for node in nodes(expr) if isinstance(node, Load)]


def _is_made(value: Expr, made: set[str]) -> bool:
    """Whether a number is made of truth values; one that they select among others is not."""
    pending = [value]
    while pending:
        part = pending.pop()
        match part:
            case Const():
                continue
            case Load(name) | Var(name) if part.dtype is not BOOL:
                if name in made:
                    return True
            case Select(_, then, otherwise):
                if isinstance(then, Const) and isinstance(otherwise, Const):
                    return True
                pending += (then, otherwise)
            case _:
                if part.dtype is BOOL:
                    return True
                pending += parts(part)
    return False
