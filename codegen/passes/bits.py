"""bits: bfloat16 becomes its bits, before anything else looks at a program.

Lowerings may load, store and cast bfloat16 as they do float16; after this pass no kernel has it.
Buffers of the program keep their dtype, as callers know them by it; to kernels they are arrays of
uint16, and a conversion is a function of `runtime/bfloat16.h`. So no target has to know the type,
and loops vectorise as loops over integers do. Everything but float32 is converted by way of it,
as in ml_dtypes.
"""

from __future__ import annotations

from dataclasses import replace

from symc.codegen.bfloat16 import from_bfloat16, to_bfloat16
from symc.codegen.blocks import map_steps
from symc.codegen.dtypes import BFLOAT16, FLOAT32, UINT16
from symc.codegen.ir import (
    Alloc,
    Call,
    Cast,
    Const,
    Expr,
    Kernel,
    Let,
    Load,
    Param,
    Pointer,
    Program,
    Routine,
    Step,
    Stmt,
    Var,
)
from symc.codegen.passes.walk import rebuild, rebuild_statement

Block = tuple[Stmt, ...]


def bits(program: Program) -> Program:
    """The program with kernels and routines that know bfloat16 as uint16."""
    kernels = tuple([_kernel(kernel) for kernel in program.kernels])
    return replace(program, kernels=kernels, steps=map_steps(program.steps, lambda s: [_step(s)]))


def _kernel(kernel: Kernel) -> Kernel:
    params = [Param(p.name, UINT16, p.written) if p.dtype is BFLOAT16 else p for p in kernel.params]
    return replace(kernel, params=tuple(params), body=_block(kernel.body))


def _step(step: Step) -> Step:
    if not isinstance(step, Routine):
        return step
    return replace(
        step, args=tuple([arg if isinstance(arg, Pointer) else _expr(arg) for arg in step.args])
    )


def _block(block: Block) -> Block:
    return tuple([_statement(stmt) for stmt in block])


def _statement(stmt: Stmt) -> Stmt:
    match stmt:
        case Let(Var(name, dtype), value) if dtype is BFLOAT16:
            return Let(Var(name, UINT16), _expr(value))
        case Alloc(buffer) if buffer.dtype is BFLOAT16:
            stmt = replace(stmt, buffer=replace(buffer, dtype=UINT16))
        case _:
            pass
    return rebuild_statement(stmt, _expr, _block)


def _expr(expr: Expr) -> Expr:
    """An expression without bfloat16 in it: the bits, where that is its type."""
    if isinstance(expr, Cast):
        return _cast(expr)
    if expr.dtype is not BFLOAT16:
        return rebuild(expr, _expr)
    match expr:
        case Var(name):
            return Var(name, UINT16)
        case Const(value):
            return Const(to_bfloat16(value), UINT16)
        case Load(buffer, index):
            return Load(buffer, _expr(index), UINT16)
        case _:
            raise AssertionError(f"computed in bfloat16: {expr}")


def _value(bits: Expr) -> Expr:
    """The float32 that has these bits."""
    if isinstance(bits, Const):
        return Const(from_bfloat16(int(bits.value)), FLOAT32)
    return Call("from_bfloat16", (bits,), FLOAT32)


def _cast(cast: Cast) -> Expr:
    x, source, target = _expr(cast.x), cast.x.dtype, cast.dtype
    if source is target:
        return x
    if source is BFLOAT16:
        x = _value(x)
        return x if target is FLOAT32 else Cast(x, target)
    if target is BFLOAT16:
        x = x if source is FLOAT32 else Cast(x, FLOAT32)
        return Call("to_bfloat16", (x,), UINT16)
    return cast if x is cast.x else Cast(x, target)
