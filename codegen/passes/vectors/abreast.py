"""abreast: columns are folded several rows at a time.

What has been folded of each column stands in memory, in a cache: to read and write it for each row
takes longer than to fold the row. Four rows read and write it once. Each column is folded in the
same order as before, so that results are the same to the last bit.

    for j in n: for i in vector(m): sums[i] += a[j*m + i]

    for j_four in n // 4:
      for i in vector(m):
        sums[i] += a[(j_four*4)*m + i]; sums[i] += a[(j_four*4 + 1)*m + i]; ...
    for j_rest in n % 4: for i in vector(m): sums[i] += a[(n // 4*4 + j_rest)*m + i]
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Loop,
    Program,
    Stmt,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.vectors.groups import groups
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
from symc.codegen.record import replace

FEW = 128  # bytes of sums that stay in registers
ROWS = 4
SIMPLE = 3  # of a function, in operations
MOST = 8  # operations of an iteration, loads among them: more take longer than the memory


def abreast(program: Program) -> Program:
    """The program with columns folded four rows at a time."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    arrays = {
        stmt.buffer.name
        for stmt in statements(kernel.body)
        if isinstance(stmt, Alloc) and stmt.buffer.shape
    }
    if not arrays:
        return kernel.body
    taken = bound(kernel)

    def block(body: Block) -> Block:
        if not any(isinstance(stmt, Loop | If) for stmt in body):
            return body
        found: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, Loop) and _folds_columns(stmt, arrays):
                found += _by_rows(stmt, taken)
            else:
                found.append(rebuild_statement(stmt, lambda expr: expr, block))
        return tuple(found)

    return block(kernel.body)


def _folds_columns(rows: Loop, arrays: AbstractSet[str]) -> bool:
    """Whether a loop over rows folds each into the same array, and does nothing else."""
    match rows:
        case Loop(Var(row), extent, "serial", (*lets, Loop(kind="vector") as loop), cut=None):
            pass
        case _:
            return False
    if not all(isinstance(stmt, Let) for stmt in lets):
        return False
    if row in names_in(loop.extent) or (isinstance(extent, Const) and extent.value < 2 * ROWS):
        return False
    if not all(isinstance(stmt, Let | Accumulate) for stmt in loop.body):
        return False
    folds = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    if isinstance(loop.extent, Const):  # few columns: compilers keep them in registers
        width = max((fold.value.dtype.bytes for fold in folds), default=0)
        if loop.extent.value * width <= FEW:
            return False
    into = {fold.buffer for fold in folds}
    if not into or not into <= arrays or len(into) < len(folds):
        return False
    if any(fold.index != loop.var for fold in folds):
        return False
    every = (*lets, *loop.body)
    if any(load.buffer in into for stmt in every for load in loads_of(stmt)):
        return False
    exprs = [expr for stmt in loop.body for expr in expressions(stmt)]
    if dearest(every) > SIMPLE:
        return False
    return sum(map(operations, exprs)) + len(loop.body) <= MOST


def _by_rows(rows: Loop, taken: set[str]) -> list[Stmt]:
    """The loop over four rows at a time, and the one over those that are left."""
    row = rows.var
    four, rest = (Var(fresh(f"{row.name}_{part}", taken), row.dtype) for part in ("four", "rest"))
    count, left = groups(rows.extent, ROWS, is_natural=True)
    first = mul(four, const(ROWS))
    together = _columns(rows, [add(first, const(k)) for k in range(ROWS)], taken)
    whole = replace(rows, var=four, extent=count, body=together)
    if left == const(0):
        return [whole]
    *lets, alone = _columns(rows, [add(mul(count, const(ROWS)), rest)], taken)
    assert isinstance(alone, Loop)
    body = (*lets, replace(alone, note=""))
    return [whole, replace(rows, var=rest, extent=left, body=body, note="")]


def _columns(rows: Loop, numbers: list[Expr], taken: set[str]) -> Block:
    """What the rows of these numbers name, and the loop over columns that folds them."""
    *lets, loop = rows.body
    assert isinstance(loop, Loop)
    column = Var(fresh(loop.var.name, taken), loop.var.dtype)
    before: list[Stmt] = []
    body: list[Stmt] = []

    def named(let: Let, known: dict[str, Expr], into: list[Stmt]) -> None:
        new = Var(fresh(let.var.name, taken), let.var.dtype)
        into.append(Let(new, substitute(let.value, known)))
        known[let.var.name] = new

    for number in numbers:
        known: dict[str, Expr] = {loop.var.name: column, rows.var.name: number}
        for let in lets:
            assert isinstance(let, Let)
            named(let, known, before)
        for stmt in loop.body:
            if isinstance(stmt, Let):
                named(stmt, known, body)
            else:
                assert isinstance(stmt, Accumulate)
                value = substitute(stmt.value, known)
                body.append(Accumulate(stmt.buffer, column, stmt.op, value))
    return (*before, replace(loop, var=column, body=tuple(body)))
