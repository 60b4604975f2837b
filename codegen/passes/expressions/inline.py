"""The second half of `simplify`: drop unused names, and write small values where they are used.

A value that is used once moves to its use, if that is in the same iteration of the same loops, if
no buffer that it loads is written on the way, and if the expression stays small enough to read.
A first walk, backwards, counts uses and finds the values that may move; a second one moves them.
"""

from __future__ import annotations

from typing import assert_never

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Combine,
    Const,
    Expr,
    If,
    Length,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.walk import (
    Block,
    collect,
    expressions,
    parts,
    rebuild,
    rebuild_statement,
)

LIMIT = 8  # operations in one expression, a load counting as one


def inline(body: Block) -> Block:
    """The body of a kernel without names that are unused or not worth having."""
    uses = _Uses()
    kept = uses.block(body, 0)
    if not uses.movable:
        return kept
    return _Moving(uses.movable).block(kept)


class _Uses:
    """The walk backwards. Positions count down; loops have numbers, 0 is the kernel's body."""

    def __init__(self) -> None:
        self.position = 0
        self.loops = 0
        self.count: dict[str, int] = {}
        self.use: dict[str, tuple[int, int]] = {}  # the loop and position where a value ends up
        self.stores: dict[str, int] = {}  # the next write of each buffer
        self.used: set[str] = set()  # buffers
        self.movable: set[str] = set()

    def block(self, block: Block, loop: int) -> Block:
        """The block without names that nobody uses."""
        kept = [new for stmt in reversed(block) if (new := self.statement(stmt, loop)) is not None]
        kept.reverse()
        return tuple(kept)

    def statement(self, stmt: Stmt, loop: int) -> Stmt | None:
        """The statement, or None if it has no use."""
        match stmt:
            case Let():
                return self.let(stmt, loop)
            case Store(buffer) | Accumulate(buffer):
                self.position -= 1
                self.stores[buffer] = self.position
                self.used.add(buffer)
                for expr in expressions(stmt):
                    self.note(expr, loop)
                return stmt
            case Loop(var, extent, kind, body, note, cut):
                self.loops += 1
                body = self.block(body, self.loops)
                if not body:
                    return None
                self.position -= 1
                for expr in expressions(stmt):  # evaluated once here, but in C perhaps many times
                    self.note(expr, -1)
                return Loop(var, extent, kind, body, note, cut)
            case If(condition, then, otherwise):
                otherwise = self.block(otherwise, loop)
                then = self.block(then, loop)
                if not then and not otherwise:
                    return None
                self.position -= 1
                self.note(condition, loop)
                return If(condition, then, otherwise)
            case Alloc(buffer):
                if buffer.name not in self.used:
                    return None
                for length in buffer.shape:
                    self.note(length, -1)
                return stmt
            case Barrier() | Combine():
                return stmt
            case _:
                assert_never(stmt)

    def let(self, stmt: Let, loop: int) -> Let | None:
        """Decide whether a value is needed, and whether it may move to its use."""
        name = stmt.var.name
        count = self.count.get(name)
        if count is None:
            return None
        self.position -= 1
        landing = (loop, self.position)
        names: list[str] = []
        loads: list[Load] = []
        collect(stmt.value, names, loads)
        if count == 1:
            used_in, use = self.use[name]
            if used_in == loop and all(self.stores.get(load.buffer, 0) >= use for load in loads):
                self.movable.add(name)
                landing = (loop, use)
        self.record(names, loads, landing)
        return stmt

    def note(self, expr: Expr, loop: int) -> None:
        """Count the uses in an expression of the present statement."""
        names: list[str] = []
        loads: list[Load] = []
        collect(expr, names, loads)
        self.record(names, loads, (loop, self.position))

    def record(self, names: list[str], loads: list[Load], place: tuple[int, int]) -> None:
        """Count uses."""
        count = self.count
        for name in names:
            count[name] = count.get(name, 0) + 1
            self.use[name] = place
        for load in loads:
            self.used.add(load.buffer)


class _Moving:
    """The walk forwards. `waiting` has the values on their way to their use, and their sizes."""

    def __init__(self, movable: set[str]) -> None:
        self.movable = movable
        self.waiting: dict[str, tuple[Let, int]] = {}
        self.out: list[Stmt] = []
        self.budget = 0

    def block(self, block: Block) -> Block:
        """The block with values moved to their uses."""
        outer, self.out = self.out, []
        for stmt in block:
            if isinstance(stmt, Let) and stmt.var.name in self.movable:
                value = self.expr(stmt.value)
                self.waiting[stmt.var.name] = (Let(stmt.var, value), LIMIT - self.budget)
            else:
                new = rebuild_statement(stmt, self.expr, self.block)
                self.out.append(new)
        new_block, self.out = tuple(self.out), outer
        return new_block

    def expr(self, expr: Expr) -> Expr:
        """A whole expression of a statement; takes its operations from `budget`."""
        self.budget = LIMIT - operations(expr)
        return self.part(expr)

    def part(self, expr: Expr) -> Expr:
        """A part of an expression. One that does not fit stays a name, defined before it."""
        if type(expr) is Binary:
            left, right = self.part(expr.left), self.part(expr.right)
            same = left is expr.left and right is expr.right
            return expr if same else Binary(expr.op, left, right, expr.dtype)
        if type(expr) is not Var:
            return rebuild(expr, self.part)
        waiting = self.waiting.pop(expr.name, None)
        if waiting is None:
            return expr
        let, size = waiting
        if size > self.budget:
            self.out.append(let)
            return expr
        self.budget -= size
        return let.value


def operations(expr: Expr) -> int:
    """How many operations an expression shows; a load is one, whatever its index."""
    if type(expr) is Binary:
        return operations(expr.left) + operations(expr.right) + 1
    match expr:
        case Var() | Const() | Length():
            return 0
        case Load():
            return 1
        case _:
            return 1 + sum(map(operations, parts(expr)))


def weight(stmt: Stmt) -> int:
    """The operations of a statement itself, and one for what it does with them."""
    return 1 + sum(map(operations, expressions(stmt)))
