"""A number that each step adds a product to waits for a sum, and not for a product and a sum.

Compilers make one instruction of ``state + x * y``. It gives its result later than an addition
alone, and where each step adds to what the step before has made, a loop takes as long as these wait
for each other. The product does not wait for that number: it is computed before, apart. A product
of the number itself, as in ``state * x + y``, stays in one instruction. A product that is added to
such a one is apart again, even of a number that the step before only passes on: a filter's second
last output.
"""

from __future__ import annotations

from typing import TypeGuard

from symc.codegen.ir import (
    Accumulate,
    Binary,
    Call,
    Expr,
    Kernel,
    Let,
    Load,
    Program,
    Stmt,
    Store,
    Unary,
    Var,
)
from symc.codegen.passes.kernels.inlined import inlined_kernels
from symc.codegen.passes.walk import (
    Block,
    map_kernels,
    nodes,
    rebuild,
    rebuild_statement,
    statements,
)


def apart(program: Program) -> Program:
    """The program, in which such products are computed apart from the sums."""
    short = inlined_kernels(program)
    if not short:
        return program
    return map_kernels(
        program, lambda kernel: _Chain(kernel).body() if kernel.name in short else kernel.body
    )


class _Chain:
    """The numbers that one step of a loop adds to: those that it loads and stores."""

    def __init__(self, kernel: Kernel) -> None:
        self._body = kernel.body
        self._stored: set[tuple[str, Expr]] = set()
        self._names: dict[str, Expr] = {}
        for stmt in statements(kernel.body):
            match stmt:
                case Store(buffer, index) | Accumulate(buffer, index):
                    self._stored.add((buffer, index))
                case Let(var, value) if var.dtype.is_float:
                    self._names[var.name] = value
                case _:
                    pass
        self._older = {
            (stmt.buffer, stmt.index)
            for stmt in statements(kernel.body)
            if isinstance(stmt, Store) and self._is_copy(stmt.value)
        }
        self._waiting: set[str] = set()
        for name, value in self._names.items():  # in their order
            if any(map(self._waits, nodes(value))):
                self._waiting.add(name)

    def _is_copy(self, value: Expr) -> bool:
        """Whether the next step is given what is there before this one: it waits for nothing."""
        while isinstance(value, Var) and value.name in self._names:
            value = self._names[value.name]
        return isinstance(value, Load)

    def body(self) -> Block:
        """The statements of the step."""
        return self._block(self._body)

    def _block(self, block: Block) -> Block:
        return tuple([self._statement(stmt) for stmt in block])

    def _statement(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Accumulate(buffer, index, "add", value) if value.dtype.is_float:
                return Accumulate(buffer, index, "add", self._terms(value), stmt.atomic)
            case _:
                return rebuild_statement(stmt, self._visit, self._block)

    def _visit(self, expr: Expr) -> Expr:
        match expr:
            case Binary("add" | "sub" as op, left, right, dtype) if dtype.is_float:
                if any(map(self._is_number, _terms(expr))):
                    return self._terms(expr)
                if self._is_product(right) and self._waits_for_some(left):
                    return Binary(op, self._visit(left), Call("apart", (right,), dtype), dtype)
            case _:
                pass
        return rebuild(expr, self._visit)

    def _waits_for_some(self, expr: Expr) -> bool:
        """Whether an expression waits for a number that the step before has computed."""
        return any(map(self._waits, nodes(expr)))

    def _terms(self, expr: Expr) -> Expr:
        """A sum with its products apart."""
        match expr:
            case Binary("add" | "sub" as op, left, right, dtype):
                return Binary(op, self._terms(left), self._terms(right), dtype)
            case Unary("neg", x, dtype):
                return Unary("neg", self._terms(x), dtype)
            case _:
                return Call("apart", (expr,), expr.dtype) if self._is_product(expr) else expr

    def _is_product(self, expr: Expr) -> bool:
        """Whether an expression is a product that waits for no number of the step before."""
        value = self._written_out(expr)
        if not isinstance(value, Binary) or value.op != "mul":
            return False
        return not any(self._waits(node) for node in nodes(value))

    def _waits(self, node: Expr) -> bool:
        if isinstance(node, Var):
            return node.name in self._waiting
        if not self._is_number(node):
            return False
        return (node.buffer, node.index) not in self._older

    def _is_number(self, expr: Expr) -> TypeGuard[Load]:
        return isinstance(expr, Load) and (expr.buffer, expr.index) in self._stored

    def _written_out(self, expr: Expr) -> Expr:
        return self._names.get(expr.name, expr) if isinstance(expr, Var) else expr


def _terms(expr: Expr) -> list[Expr]:
    """The terms of a sum."""
    match expr:
        case Binary("add" | "sub", left, right):
            return [*_terms(left), *_terms(right)]
        case Unary("neg", x):
            return _terms(x)
        case _:
            return [expr]
