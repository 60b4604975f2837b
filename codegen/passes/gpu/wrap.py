"""wrap: the user's signed integers are added, subtracted and multiplied as unsigned ones.

Integers wrap in the loop IR. In C they do by an option of the compiler; NVRTC has none, and may
assume that signed arithmetic does not overflow. Indexes do not, so they stay as they are: those of
loads, stores and loops, and names used for nothing else; and in conditions all that
is computed from lengths and loop variables alone.
"""

from __future__ import annotations

from collections.abc import Callable

from symc.codegen.dtypes import INT32, INT64, UINT16, UINT32, UINT64, DType
from symc.codegen.ir import (
    Accumulate,
    Binary,
    Cast,
    Const,
    Expr,
    If,
    Kernel,
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
from symc.codegen.passes.gpu.values import elements
from symc.codegen.passes.walk import Block, map_kernels, parts, rebuild, statements

MODULAR = frozenset({"add", "sub", "mul"})
UNSIGNED = {INT32: UINT32, INT64: UINT64, UINT16: UINT32}  # C multiplies uint16 as int


def wrap(program: Program) -> Program:
    """The program with arithmetic on data that C does not leave undefined."""
    data = elements(program)
    return map_kernels(program, lambda kernel: _Wrap(kernel, data[kernel.name]).block(kernel.body))


class _Wrap:
    """The pass over one kernel."""

    def __init__(self, kernel: Kernel, elements: set[int]) -> None:
        self.positions = {
            size.name for number, size in enumerate(kernel.sizes) if number not in elements
        }
        for stmt in statements(kernel.body):
            if isinstance(stmt, Loop) or (isinstance(stmt, Let) and self.is_position(stmt.value)):
                self.positions.add(stmt.var.name)
        self.data = _data(kernel.body, self.is_position)

    def block(self, block: Block) -> Block:
        """A block that wraps."""
        return tuple(map(self.statement, block))

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement that wraps."""
        match stmt:
            case Let(var, value) if var.name in self.data:
                return Let(var, self.value(value))
            case Store(buffer, index, value):
                return Store(buffer, index, self.value(value))
            case Accumulate(buffer, index, op, value, False) if op in MODULAR and _overflows(
                op, value
            ):
                here = Load(buffer, index, value.dtype)
                return Store(buffer, index, self.value(Binary(op, here, value, value.dtype)))
            case Accumulate(buffer, index, op, value, atomic):
                return Accumulate(buffer, index, op, self.value(value), atomic)
            case If(condition, then, otherwise):
                return If(self.value(condition), self.block(then), self.block(otherwise))
            case Loop(var, extent, kind, body, note, cut):
                return Loop(var, extent, kind, self.block(body), note, cut)
            case _:
                return stmt

    def value(self, expr: Expr) -> Expr:
        """An expression whose value is data."""
        match expr:
            case Load():
                return expr
            case Binary(op, left, right, dtype) if op in MODULAR and _overflows(op, expr):
                return Cast(self.unsigned(expr, UNSIGNED[dtype]), dtype)
            case Unary("neg", _, dtype) if dtype in (INT32, INT64):
                return Cast(self.unsigned(expr, UNSIGNED[dtype]), dtype)
            case Binary(op, left, right, dtype) if left.dtype is not dtype:
                left, right = (x if self.is_position(x) else self.value(x) for x in (left, right))
                return Binary(op, left, right, dtype)
            case Select(condition, then, otherwise, dtype):
                return Select(self.value(condition), self.value(then), self.value(otherwise), dtype)
            case _:
                return rebuild(expr, self.value)

    def unsigned(self, expr: Expr, dtype: DType) -> Expr:
        """The same bits as an unsigned integer."""
        match expr:
            case Binary(op, left, right) if op in MODULAR:
                return Binary(op, self.unsigned(left, dtype), self.unsigned(right, dtype), dtype)
            case Unary("neg", x):
                return Binary("sub", Const(0, dtype), self.unsigned(x, dtype), dtype)
            case Const(value):
                return Const(int(value) % (1 << dtype.bits), dtype)
            case _:
                return Cast(self.value(expr), dtype)

    def is_position(self, expr: Expr) -> bool:
        """Whether an expression is made of lengths and positions, and surely small."""
        match expr:
            case Var(name):
                return name in self.positions
            case Const(value, dtype):
                return dtype in (INT32, INT64) and abs(value) < 1 << 31
            case Binary() | Cast():
                return expr.dtype in (INT32, INT64) and all(map(self.is_position, parts(expr)))
            case _:
                return False


def _overflows(op: str, expr: Expr) -> bool:
    """Whether C computes an operation in a signed type whose range it may leave."""
    return expr.dtype in (INT32, INT64) or (op == "mul" and expr.dtype is UINT16)


def _data(block: Block, is_position: Callable[[Expr], bool]) -> set[str]:
    """The names that are used as more than indexes, or than positions that are compared."""
    lets: dict[str, Expr] = {}
    found: set[str] = set()
    pending: list[Expr] = []
    for stmt in statements(block):
        match stmt:
            case Let(var, value):
                lets[var.name] = value
                if not var.dtype.is_integer:
                    pending.append(value)
            case Store(_, _, value) | Accumulate(_, _, _, value):
                pending.append(value)
            case If(condition):
                pending.append(condition)
            case _:
                pass
    while pending:
        names: list[str] = []
        _collect(pending.pop(), names, is_position)
        for name in names:
            if name not in found:
                found.add(name)
                if name in lets:
                    pending.append(lets[name])
    return found


def _collect(expr: Expr, names: list[str], is_position: Callable[[Expr], bool]) -> None:
    """The names in an expression outside of indexes and of positions that are compared."""
    match expr:
        case Var(name):
            names.append(name)
        case Load():
            return
        case Binary(_, left, right, dtype) if left.dtype is not dtype:
            for part in (left, right):
                if not is_position(part):
                    _collect(part, names, is_position)
        case _:
            for part in parts(expr):
                _collect(part, names, is_position)
