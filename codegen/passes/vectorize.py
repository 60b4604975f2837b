"""vectorize: which loops run in vector registers, and which are written out.

- A loop of a small constant length inside another loop becomes an `unroll` loop, if there is no
  other loop in it. What is around it then counts as innermost.
- An innermost `parallel` loop becomes a `vector` loop.
- So does an innermost `serial` loop that only accumulates into local scalars from outside it, or
  writes elements that no other iteration touches.

A loop with an `If`, or with a function that has no vector form, stays as it is.
"""

from __future__ import annotations

from typing import assert_never

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Call,
    Combine,
    Const,
    Expr,
    If,
    Let,
    Loop,
    LoopKind,
    Program,
    Stmt,
    Store,
    Var,
)
from symc.codegen.math import FUNCTIONS
from symc.codegen.passes.dependence import UNROLL, accesses, is_reduction
from symc.codegen.passes.reductions import reductions
from symc.codegen.passes.walk import (
    Block,
    expressions,
    map_kernels,
    parts,
    statements,
)

COPIES = 32  # of a body, over all unrolled loops around it


def vectorize(program: Program) -> Program:
    """The program with its innermost loops marked `vector` or `unroll`."""
    return map_kernels(program, lambda kernel: _block(kernel.body, depth=0, scalars=frozenset()))


def _block(block: Block, *, depth: int, scalars: frozenset[str]) -> Block:
    """`scalars` are the local scalars declared so far."""
    if not any(isinstance(stmt, Loop | If) for stmt in block):
        return block
    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Loop():
                out.append(_loop(stmt, depth, scalars))
            case If(condition, then, otherwise):
                then = _block(then, depth=depth, scalars=scalars)
                otherwise = _block(otherwise, depth=depth, scalars=scalars)
                out.append(If(condition, then, otherwise))
            case Alloc(buffer):
                if not buffer.shape:
                    scalars |= {buffer.name}
                out.append(stmt)
            case Let() | Store() | Accumulate() | Barrier() | Combine():
                out.append(stmt)
            case _:
                assert_never(stmt)
    return tuple(out)


def _loop(loop: Loop, depth: int, scalars: frozenset[str]) -> Loop:
    body = _block(loop.body, depth=depth + 1, scalars=scalars)
    loop = Loop(loop.var, loop.extent, loop.kind, body, loop.note, loop.cut)
    return Loop(loop.var, loop.extent, _kind(loop, depth, scalars), body, loop.note, loop.cut)


def _kind(loop: Loop, depth: int, scalars: frozenset[str]) -> LoopKind:
    """The kind that the loop should have, its body being done."""
    if loop.kind not in ("parallel", "serial") or not _is_innermost(loop):
        return loop.kind
    if depth > 0 and _copies(loop) <= COPIES and _is_short(loop):
        return "unroll"
    if not has_vector_form(loop.body):
        return loop.kind
    if loop.kind == "parallel":
        return "vector"
    return "vector" if _accumulates(loop, scalars) else "serial"


def _is_innermost(loop: Loop) -> bool:
    """Whether all loops inside are unrolled."""
    return all(stmt.kind == "unroll" for stmt in statements(loop.body) if isinstance(stmt, Loop))


def _is_short(loop: Loop) -> bool:
    return isinstance(loop.extent, Const) and loop.extent.value <= UNROLL


def _copies(loop: Loop) -> int:
    """How often the innermost body is written out if this loop is unrolled."""
    inner = [_copies(stmt) for stmt in statements(loop.body) if isinstance(stmt, Loop)]
    times = int(loop.extent.value) if isinstance(loop.extent, Const) else COPIES
    return times * max(inner, default=1)


def _accumulates(loop: Loop, scalars: frozenset[str]) -> bool:
    """Whether a serial loop's iterations meet only in local scalars that they accumulate."""
    found = accesses(loop)
    into = {buffer for buffer in found.accumulates if not found.has_one_place(buffer)}
    if not into <= scalars or not is_reduction(found):
        return False
    return reductions(loop, scalars) is not None


def has_vector_form(block: Block) -> bool:
    """Whether there is no branch in a block, and no function without a vector form."""
    for stmt in statements(block):
        if isinstance(stmt, If) or not all(map(_vectorises, expressions(stmt))):
            return False
    return True


def _vectorises(expr: Expr) -> bool:
    if type(expr) is Var or type(expr) is Const:
        return True
    if type(expr) is Binary:
        if expr.op in ("mod", "floordiv") and expr.dtype.is_float:
            return False
        return _vectorises(expr.left) and _vectorises(expr.right)
    if type(expr) is Call:
        row = FUNCTIONS[expr.function]
        of_integers = expr.args[0].dtype.is_integer and not row.types
        if of_integers or not row.vectorises:
            return False
    return all(map(_vectorises, parts(expr)))
