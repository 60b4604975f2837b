"""Printing for devices without double precision: float64 is a sum of two floats.

Sums of float32 are added up in float64; there, by the functions of `twofold.clh`. Whatever
else kernels would compute in float64 is refused, by name.
"""

from __future__ import annotations

from math import inf, isfinite
from struct import pack, unpack
from typing import TYPE_CHECKING

from symc.codegen import math
from symc.codegen.dtypes import FLOAT32, FLOAT64, DType
from symc.codegen.emit.expressions import LEAF, Piece, Printer, literal
from symc.codegen.errors import DoublesMissing
from symc.codegen.ir import (
    Accumulate,
    Binary,
    Call,
    Const,
    Expr,
    Load,
    Program,
    Stmt,
    Store,
)
from symc.codegen.passes.walk import Block, map_kernels, rebuild_statement
from symc.codegen.runtime import load

if TYPE_CHECKING:
    from typing import NoReturn

OPERATORS = frozenset({"add", "sub", "mul"})


def spelled_out(program: Program) -> Program:
    """The program with each ``a += b`` of float64 as ``a = a + b``, as functions compute it."""
    return map_kernels(program, lambda kernel: _block(kernel.body))


def _block(block: Block) -> Block:
    return tuple([_statement(stmt) for stmt in block])


def _statement(stmt: Stmt) -> Stmt:
    match stmt:
        case Accumulate(buffer, index, op, value) if value.dtype is FLOAT64:
            if op not in OPERATORS:
                refuse(op)
            old = Load(buffer, index, FLOAT64)
            return Store(
                buffer, index, Binary("mul" if op == "mul" else "add", old, value, FLOAT64)
            )
        case _:
            return rebuild_statement(stmt, lambda expr: expr, _block)


class TwofoldPrinter(Printer):
    """A `Printer` whose float64 are sums of two floats."""

    def pieces(self, expr: Expr) -> tuple[int, tuple[Piece, ...]]:
        """As `Printer.pieces`."""
        match expr:
            case Const(value, dtype) if dtype is FLOAT64:
                return LEAF, (self.constant(float(value)),)
            case Call(function, _, dtype) if dtype is FLOAT64 or math.widens(function, dtype):
                refuse(function)
            case _:
                pass
        return super().pieces(expr)

    def constant(self, value: float) -> str:
        """A constant, with what the nearest float leaves of it."""
        high = float32(value)
        rest = float32(value - high) if isfinite(high) else 0.0
        if rest == 0.0:
            self.used["symc_twofold_f32"] = None
            return f"symc_twofold_f32({literal(high, FLOAT32, self.lang)})"
        self.used["symc_twofold_of"] = None
        parts = (literal(part, FLOAT32, self.lang) for part in (high, rest))
        return f"symc_twofold_of({', '.join(parts)})"

    def binary(self, expr: Binary) -> tuple[int, tuple[Piece, ...]]:
        """As `Printer.binary`."""
        if expr.left.dtype is not FLOAT64:
            return super().binary(expr)
        if expr.op not in OPERATORS:
            refuse(expr.op)
        return LEAF, self.call(f"symc_twofold_{expr.op}", (expr.left, expr.right))

    def cast(self, x: Expr, dtype: DType) -> tuple[int, tuple[Piece, ...]]:
        """As `Printer.cast`."""
        if x.dtype is not dtype and FLOAT64 in (x.dtype, dtype):
            if FLOAT32 not in (x.dtype, dtype):
                refuse(f"{x.dtype} to {dtype}")
            function = "symc_twofold_f32" if dtype is FLOAT64 else "symc_f32_twofold"
            return LEAF, self.call(function, (x,))
        return super().cast(x, dtype)

    def call(self, name: str, args: tuple[Expr, ...]) -> tuple[Piece, ...]:
        """As `Printer.call`."""
        if load.has_doubles(name):
            refuse(name.removeprefix("symc_"))
        return super().call(name, args)


def float32(value: float) -> float:
    """The nearest float of single precision; infinite where there is none."""
    try:
        found: float = unpack("f", pack("f", value))[0]
    except OverflowError:
        return inf if value > 0 else -inf
    return found


def refuse(what: str) -> NoReturn:
    """Raise `DoublesMissing`."""
    raise DoublesMissing(f"{what} is computed in double precision, which the device does not have")
