"""few_terms: rows of a few numbers are folded one after the other, without vector registers.

The largest number of a row is that of the lanes of a register in the end, which compilers bring
through memory, and what is left over beside whole registers is folded one by one. Of a row that
fills one register at most not much else remains, after tests of how long it is.

    for i in vector(n): acc max= a[i]

    if n < 24:
      for i in serial(n): acc max= a[i]
    else:
      for i in vector(n): acc max= a[i]

Sums have such a loop by `registers.py`, unless their numbers are gathered or converted.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import partial
from operator import is_

from symc.codegen.blocks import repeated_kernels
from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Loop,
    Program,
    Stmt,
    Var,
    const,
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.vectors.vectorize import dearest
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    loads_of,
    map_kernels,
    names_in,
    rebuild_statement,
    statements,
    substitute,
)

BYTES = 96  # rows with fewer fill the widest register, of 64, once: what is left over takes longer
SIMPLE = 3  # of a function, in operations: such as a magnitude or a sign
MOST = 16  # operations of an iteration, loads among them: more are worth filling registers for


def few_terms(program: Program) -> Program:
    """The program with such loops beside those in vector registers."""
    repeated = repeated_kernels(program)
    return map_kernels(program, lambda kernel: _kernel(kernel, kernel.name in repeated))


def _kernel(kernel: Kernel, is_repeated: bool) -> Block:
    every = list(statements(kernel.body))
    if not any(isinstance(stmt, Loop) and stmt.kind == "vector" for stmt in every):
        return kernel.body
    scalars = frozenset(
        stmt.buffer.name for stmt in every if isinstance(stmt, Alloc) and not stmt.buffer.shape
    )
    taken = bound(kernel)
    sizes = {size.name for size in kernel.sizes}

    def block(body: Block, *, is_inside: bool) -> Block:
        found: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, Loop) and is_inside and names_in(stmt.extent) <= sizes:
                both = not isinstance(stmt.extent, Const) and folds_numbers_at_hand(stmt, scalars)
                found.append(_both(stmt, taken) if both else stmt)
            elif not _is_told(stmt):
                deeper = partial(block, is_inside=is_inside or isinstance(stmt, Loop))
                found.append(rebuild_statement(stmt, lambda expr: expr, deeper))
            else:
                found.append(stmt)
        same = len(found) == len(body) and all(map(is_, found, body))
        return body if same else tuple(found)

    return block(kernel.body, is_inside=is_repeated)


def _is_told(stmt: Stmt) -> bool:
    """Whether short loops have been told from long ones already (`side_by_side`)."""
    match stmt:
        case If(Binary("lt", Var() as extent, Const()), _, (Loop(extent=same),)):
            return extent == same
        case _:
            return False


def folds_numbers_at_hand(loop: Loop, scalars: AbstractSet[str]) -> bool:
    """Whether a vector loop does nothing but folding numbers at hand into a few scalars."""
    if loop.kind != "vector" or not all(isinstance(stmt, Let | Accumulate) for stmt in loop.body):
        return False
    folds = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    if not folds or not all(fold.buffer in scalars for fold in folds):
        return False
    if any(load.buffer in scalars for stmt in loop.body for load in loads_of(stmt)):
        return False
    exprs = [expr for stmt in loop.body for expr in expressions(stmt)]
    if dearest(loop.body) > SIMPLE:
        return False
    return sum(map(operations, exprs)) + len(loop.body) <= MOST


def _both(loop: Loop, taken: set[str]) -> If:
    """The loop, and one without vector registers for a few iterations."""
    i = Var(fresh(loop.var.name, taken), loop.var.dtype)
    known: dict[str, Expr] = {loop.var.name: i}
    body: list[Stmt] = []
    for stmt in loop.body:
        if isinstance(stmt, Let):
            new = Var(fresh(stmt.var.name, taken), stmt.var.dtype)
            body.append(Let(new, substitute(stmt.value, known)))
            known[stmt.var.name] = new
        else:
            assert isinstance(stmt, Accumulate)
            index, value = substitute(stmt.index, known), substitute(stmt.value, known)
            body.append(Accumulate(stmt.buffer, index, stmt.op, value))
    width = max(stmt.value.dtype.bytes for stmt in loop.body if isinstance(stmt, Accumulate))
    few = Binary("lt", loop.extent, const(BYTES // width), BOOL)
    return If(few, (Loop(i, loop.extent, "serial", tuple(body)),), (loop,))
