"""Pass: a local scalar is declared where it gets its first value, and with it.

It is declared where it stands if a loop or a condition comes before that.
"""

from __future__ import annotations

from operator import is_
from typing import assert_never

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Combine,
    If,
    Let,
    Loop,
    Program,
    Stmt,
    Store,
)
from symc.codegen.passes.walk import Block, map_kernels, rebuild_statement


def declare(program: Program) -> Program:
    """The program with the first values of scalars in their declarations."""
    return map_kernels(program, lambda kernel: declared(kernel.body))


def declared(block: Block) -> Block:
    """The statements of a block, and of those in it, with first values in declarations."""
    found: list[Stmt | None] = []
    waiting: dict[str, tuple[int, Alloc]] = {}
    for stmt in block:
        match stmt:
            case Alloc(buffer, None) if not buffer.shape:
                waiting[buffer.name] = len(found), stmt
                found.append(stmt)
            case Store(name, _, value) if name in waiting:
                place, alloc = waiting.pop(name)
                found[place] = None
                found.append(Alloc(alloc.buffer, value))
            case Accumulate(name) | Combine(name):
                waiting.pop(name, None)
                found.append(stmt)
            case Loop() | If():
                waiting.clear()
                found.append(rebuild_statement(stmt, lambda expr: expr, declared))
            case Let() | Store() | Alloc() | Barrier():
                found.append(stmt)
            case _:
                assert_never(stmt)
    new = tuple(stmt for stmt in found if stmt is not None)
    return block if len(new) == len(block) and all(map(is_, new, block)) else new
