"""bits: bfloat16 becomes its bits, before anything else looks at a program.

Lowerings may load, store, choose and cast bfloat16 as they do float16; after this pass no kernel
has it.
Buffers of the program keep their dtype, as callers know them by it; to kernels they are arrays of
uint16, and a conversion is a function of `bfloat16.h`. So no target has to know the type,
and loops vectorise as loops over integers do. Everything but float32 is converted by way of it,
as in ml_dtypes.

`halves` does the same for float16, where a language does not have it as a type (OpenCL, whose
functions are in `runtime/common/float16.h`); float64 is then rounded once, as NumPy has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symc.codegen import bfloat16, float16
from symc.codegen.blocks import map_steps
from symc.codegen.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, UINT16, DType
from symc.codegen.ir import (
    Alloc,
    Call,
    Cast,
    Const,
    Expr,
    Kernel,
    Let,
    Load,
    Pointer,
    Program,
    Routine,
    Select,
    Step,
    Stmt,
    Var,
)
from symc.codegen.passes.walk import rebuild, rebuild_statement
from symc.codegen.record import record, replace

Block = tuple[Stmt, ...]


@record
class _Stored:
    """A type that is only stored, and the functions from and to its bits."""

    dtype: DType
    to_bits: Callable[[float], int]
    from_bits: Callable[[int], float]
    loaded: str
    """The function that gives a float32."""
    rounded: Mapping[DType, str]
    """The functions that give the bits, by the dtypes that they round."""

    def program(self, program: Program) -> Program:
        """The program with kernels and routines that know the type as uint16."""
        kernels = tuple([self.kernel(kernel) for kernel in program.kernels])
        steps = map_steps(program.steps, lambda step: [self.step(step)])
        return replace(program, kernels=kernels, steps=steps)

    def kernel(self, kernel: Kernel) -> Kernel:
        """A kernel that is given the bits."""
        params = [replace(p, dtype=UINT16) if p.dtype is self.dtype else p for p in kernel.params]
        return replace(kernel, params=tuple(params), body=self.block(kernel.body))

    def step(self, step: Step) -> Step:
        """A step, of which only routines are given numbers."""
        if not isinstance(step, Routine):
            return step
        args = [arg if isinstance(arg, Pointer) else self.expr(arg) for arg in step.args]
        return replace(step, args=tuple(args))

    def block(self, block: Block) -> Block:
        """The statements of a block."""
        return tuple([self.statement(stmt) for stmt in block])

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement, and those in it."""
        match stmt:
            case Let(Var(name, dtype), value) if dtype is self.dtype:
                return Let(Var(name, UINT16), self.expr(value))
            case Alloc(buffer) if buffer.dtype is self.dtype:
                stmt = replace(stmt, buffer=replace(buffer, dtype=UINT16))
            case _:
                pass
        return rebuild_statement(stmt, self.expr, self.block)

    def expr(self, expr: Expr) -> Expr:
        """An expression without the type in it: the bits, where that is its own."""
        if isinstance(expr, Cast):
            return self.cast(expr)
        if expr.dtype is not self.dtype:
            return rebuild(expr, self.expr)
        match expr:
            case Var(name):
                return Var(name, UINT16)
            case Const(value):
                return Const(self.to_bits(value), UINT16)
            case Load(buffer, index):
                return Load(buffer, self.expr(index), UINT16)
            case Select(condition, then, otherwise):  # a choice computes nothing: bits will do
                chosen = self.expr(then), self.expr(otherwise)
                return Select(self.expr(condition), *chosen, UINT16)
            case _:
                raise AssertionError(f"computed in {self.dtype}: {expr}")

    def cast(self, cast: Cast) -> Expr:
        """A conversion: by way of float32, where there is no function for it."""
        x, source, target = self.expr(cast.x), cast.x.dtype, cast.dtype
        if source is target:
            return x
        if source is self.dtype:
            x = self.value(x)
            return x if target is FLOAT32 else Cast(x, target)
        if target is self.dtype:
            x = x if source in self.rounded else Cast(x, FLOAT32)
            return Call(self.rounded[x.dtype], (x,), UINT16)
        return cast if x is cast.x else Cast(x, target)

    def value(self, bits: Expr) -> Expr:
        """The float32 that has these bits."""
        if isinstance(bits, Const):
            return Const(self.from_bits(int(bits.value)), FLOAT32)
        return Call(self.loaded, (bits,), FLOAT32)


_BFLOAT16 = _Stored(
    BFLOAT16, bfloat16.to_bfloat16, bfloat16.from_bfloat16,
    "from_bfloat16", {FLOAT32: "to_bfloat16"},
)  # fmt: skip
_FLOAT16 = _Stored(
    FLOAT16, float16.to_float16, float16.from_float16,
    "from_float16", {FLOAT32: "to_float16", FLOAT64: "float64_to_float16"},
)  # fmt: skip


def bits(program: Program) -> Program:
    """The program with kernels and routines that know bfloat16 as uint16."""
    return _BFLOAT16.program(program)


def halves(program: Program) -> Program:
    """The program with kernels and routines that know float16 as uint16."""
    return _FLOAT16.program(program)
