"""Decisions on statements before they are printed: merged declarations, unused names."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
)
from symc.codegen.passes.walk import Block, blocks, expressions, names_in, parts
from symc.codegen.record import record

Access: TypeAlias = tuple[str, Expr]
"""An element of a buffer: its name and the index as it stands in the program."""


@record
class Declare:
    """A local scalar is declared, with its first value if that follows at once."""

    buffer: Buffer
    value: Expr | None


Printed: TypeAlias = Stmt | Declare


def declared(block: Block) -> Iterator[Printed]:
    """The statements of a block with each local scalar declared where it gets its first value.

    It is declared where it stands if a loop or a condition comes before that.
    """
    found: list[Printed | None] = []
    waiting: dict[str, tuple[int, Buffer]] = {}
    for stmt in block:
        match stmt:
            case Alloc(buffer) if not buffer.shape:
                waiting[buffer.name] = len(found), buffer
                found.append(Declare(buffer, None))
            case Store(name, _, value) if name in waiting:
                place, buffer = waiting.pop(name)
                found[place] = None
                found.append(Declare(buffer, value))
            case Accumulate(name):
                waiting.pop(name, None)
                found.append(stmt)
            case Loop() | If():
                waiting.clear()
                found.append(stmt)
            case _:
                found.append(stmt)
    return (stmt for stmt in found if stmt is not None)


def live(block: Block, elsewhere: AbstractSet[Access]) -> Block:
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
