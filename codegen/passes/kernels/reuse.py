"""Kernels that differ in names only become one: thirty equal layers compile as one."""

from __future__ import annotations

from collections import Counter
from typing import Any, assert_never

from symc.codegen.blocks import every_step, map_steps
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Call,
    Cast,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Length,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from symc.codegen.passes.strips import expressions_of
from symc.codegen.passes.walk import statements
from symc.codegen.record import replace


def reuse(program: Program) -> Program:
    """Keep the first of several kernels that are equal up to names, and launch it for all."""
    first: dict[Any, Kernel] = {}
    instead: dict[str, str] = {}
    alike = Counter(map(_outline, program.kernels))
    for kernel in program.kernels:
        outline = _outline(kernel)
        form = _Form(kernel).key() if alike[outline] > 1 else None
        kept = first.setdefault((outline, form), kernel)
        instead[kernel.name] = kept.name
    if len(first) == len(program.kernels):
        return program
    steps = map_steps(
        program.steps,
        lambda step: (
            [replace(step, kernel=instead[step.kernel])] if isinstance(step, Launch) else [step]
        ),
    )
    uses: dict[str, int] = {}
    for step in every_step(steps):
        if isinstance(step, Launch):
            uses[step.kernel] = uses.get(step.kernel, 0) + 1
    kernels = tuple(
        replace(k, note=f"{k.note}\nand {uses[k.name] - 1} more like it") if uses[k.name] > 1 else k
        for k in first.values()
    )
    return replace(program, kernels=kernels, steps=steps)


def _outline(kernel: Kernel) -> Any:
    """A cheap signature: equal for equal kernels, for few others."""
    params = tuple([(param.dtype, param.written) for param in kernel.params])
    return params, len(kernel.sizes), tuple(map(type, statements(kernel.body)))


class _Form:
    """A kernel as nested tuples, each name replaced by the order of its first appearance."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._numbers: dict[str, int] = {}

    def key(self) -> Any:
        """A key that is equal exactly for kernels that are equal up to names."""
        kernel = self._kernel
        params = tuple((self._name(p.name), p.dtype, p.written) for p in kernel.params)
        sizes = tuple(self._name(size.name) for size in kernel.sizes)
        return params, sizes, self._block(kernel.body)

    def _name(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def _block(self, block: tuple[Stmt, ...]) -> Any:
        return tuple(self._stmt(stmt) for stmt in block)

    def _stmt(self, stmt: Stmt) -> Any:
        match stmt:
            case Loop(var, extent, kind, body, _, cut):
                head = self._expr(extent), self._name(var.name), kind
                known = type(cut), *map(self._expr, expressions_of(cut))
                return "loop", head, known, self._block(body)
            case If(condition, then, otherwise):
                return "if", self._expr(condition), self._block(then), self._block(otherwise)
            case Let(var, value):
                return "let", self._expr(value), self._name(var.name), var.dtype
            case Store(buffer, index, value):
                return "store", self._name(buffer), self._expr(index), self._expr(value)
            case Accumulate(buffer, index, op, value):
                return op, self._name(buffer), self._expr(index), self._expr(value)
            case Alloc(buffer):
                shape = tuple(map(self._expr, buffer.shape))
                return "alloc", self._name(buffer.name), buffer.dtype, shape
            case Barrier():
                return "barrier"
            case Combine(buffer, op, dtype):
                return "combine", self._name(buffer), op, dtype
            case _:
                assert_never(stmt)

    def _expr(self, expr: Expr) -> Any:
        match expr:
            case Const(value, dtype):
                return "const", repr(value), dtype
            case Var(name, dtype):
                return self._name(name), dtype
            case Length(buffer, axis):
                return "length", self._name(buffer), axis
            case Load(buffer, index, dtype):
                return "load", self._name(buffer), self._expr(index), dtype
            case Unary(op, x, dtype):
                return op, self._expr(x), dtype
            case Binary(op, left, right, dtype):
                return op, self._expr(left), self._expr(right), dtype
            case Call(function, args, dtype):
                return function, tuple(map(self._expr, args)), dtype
            case Cast(x, dtype):
                return "cast", self._expr(x), dtype
            case Select(condition, then, otherwise, dtype):
                parts = (condition, then, otherwise)
                return "select", tuple(map(self._expr, parts)), dtype
            case _:
                assert_never(expr)
