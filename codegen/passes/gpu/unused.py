"""Names that nothing uses, once some accesses need no index: those that are made in packs."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TypeAlias

from symc.codegen.ir import Expr, Let, Load, Stmt, Store
from symc.codegen.passes.walk import Block, blocks, expressions, names_in, parts

Access: TypeAlias = tuple[str, Expr]
"""An element of a buffer: its name and the index as it stands in the program."""


def live(block: Block, elsewhere: AbstractSet[Access] = frozenset()) -> Block:
    """A block without the names that nothing in it uses.

    The index of an access that is printed in some other way uses none.
    """
    used: set[str] = set()
    kept: list[Stmt] = []
    for stmt in reversed(block):
        if not isinstance(stmt, Let) or stmt.var.name in used:
            kept.append(stmt)
            used |= names_used((stmt,), elsewhere)
    return tuple(reversed(kept))


def names_used(block: Block, elsewhere: AbstractSet[Access]) -> set[str]:
    """The names in the expressions of a block, but for the indexes of these accesses."""
    found: set[str] = set()

    def look(expr: Expr) -> None:
        if isinstance(expr, Load) and (expr.buffer, expr.index) in elsewhere:
            return
        if names := parts(expr):
            for part in names:
                look(part)
        else:
            found.update(names_in(expr))

    for stmt in block:
        if isinstance(stmt, Store) and (stmt.buffer, stmt.index) in elsewhere:
            look(stmt.value)
        else:
            for expr in expressions(stmt):
                look(expr)
        for inner in blocks(stmt):
            found |= names_used(inner, elsewhere)
    return found
