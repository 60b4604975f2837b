"""owners: loops whose iterations may write to the same elements, for many threads.

Integers that are added up, or of which the least is wanted, need no order: such updates are made
atomic, and iterations independent. For all else the order counts: of floats that are added up, and
of values of which the last one stays. In ``for r in serial(n): w[rows[r]] += y[r]`` each thread
then goes through all iterations, but does only those that write to elements of its own: those whose
place leaves its number as a remainder. Every element is written in the order of iterations, and
gets the same bits as from a single thread. Where the loop stands inside one over columns (see
`interchange`), rows are shared out so for each column.

    for owner in parallel(512): for r in serial(n): if rows[r] & 511 == owner: w[rows[r]] += y[r]
"""

from __future__ import annotations

from symc.codegen.dtypes import BOOL, INT32, INT64, UINT32, UINT64
from symc.codegen.ir import (
    Accumulate,
    Binary,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Loop,
    Program,
    Stmt,
    Store,
    Var,
    const,
)
from symc.codegen.passes.gpu.flatten import flatten
from symc.codegen.passes.gpu.teams import is_short
from symc.codegen.passes.loops.dependence import accesses
from symc.codegen.passes.loops.row_major import row_of
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    index_names,
    loads_of,
    map_kernels,
    names_in,
    substitute,
)
from symc.codegen.record import replace

ALONE = 512  # owners of elements: with more, going through all iterations would dominate
BESIDE = 16  # owners of rows, for each column
COMMUTING = frozenset({"add", "min", "max", "band", "bor", "bxor"})
WORDS = (INT32, INT64, UINT32, UINT64)  # the dtypes of a device's atomic operations


def owners(program: Program) -> Program:
    """The program with loops that write in order shared out by the elements they write."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    if not kernel.body or not isinstance(kernel.body[-1], Loop):
        return kernel.body
    *before, last = kernel.body
    if not all(isinstance(stmt, Let) for stmt in before):
        return kernel.body
    taken = bound(kernel)
    shared = None
    match last:
        case Loop(kind="serial"):
            flat = flatten(last, taken)
            shared = _atomic(flat) or _shared(flat, None, taken)
        case Loop(column, extent, "parallel", (Loop(kind="serial") as inner,), note):
            flat = flatten(inner, taken)
            found = _atomic(flat)
            if found is None:  # only where an element belongs to a column
                found = _shared(flat, Loop(column, extent, "parallel", ()), taken)
            if found is not None and column.name not in names_in(found.extent):
                body = (Loop(column, extent, "parallel", found.body, note),)
                shared = Loop(found.var, found.extent, "parallel", body, note)
        case _:
            pass
    return kernel.body if shared is None else (*before, shared)


def _atomic(loop: Loop) -> Loop | None:
    """The loop with independent iterations, if it only updates integers that it does not read."""
    updates = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    if is_short(loop) or not all(isinstance(stmt, Let | Accumulate) for stmt in loop.body):
        return None
    stored = {stmt.buffer for stmt in updates}
    if any(load.buffer in stored for stmt in loop.body for load in loads_of(stmt)):
        return None
    if not all(stmt.op in COMMUTING and stmt.value.dtype in WORDS for stmt in updates):
        return None
    found = accesses(loop)
    if any(map(found.has_one_place, stored)) or not updates:
        return None
    body = tuple(replace(s, atomic=True) if isinstance(s, Accumulate) else s for s in loop.body)
    return Loop(loop.var, loop.extent, "parallel", body, loop.note, loop.cut)


def _shared(loop: Loop, columns: Loop | None, taken: set[str]) -> Loop | None:
    """A loop over owners around a loop that must run in order, or None if it is another one."""
    if is_short(loop) or not all(isinstance(stmt, Let | Store | Accumulate) for stmt in loop.body):
        return None
    names = index_names(loop.body)
    places = {
        substitute(stmt.index, names) for stmt in loop.body if isinstance(stmt, Store | Accumulate)
    }
    stored = {stmt.buffer for stmt in loop.body if isinstance(stmt, Store | Accumulate)}
    if len(places) != 1:
        return None
    (place,) = places
    for stmt in loop.body:
        for load in loads_of(stmt):
            if load.buffer in stored and substitute(load.index, names) != place:
                return None
    row = _row(place, columns)
    found = accesses(loop)
    if row is None or isinstance(row, Const) or all(map(found.has_one_place, stored)):
        return None
    count = ALONE if columns is None else BESIDE
    owner = Var(fresh("owner", taken))
    mine = Binary("eq", Binary("band", row, const(count - 1), row.dtype), owner, BOOL)
    body = _guarded(loop.body, mine)
    inner = Loop(loop.var, loop.extent, "serial", body, loop.note, loop.cut)
    return Loop(owner, const(count), "parallel", (inner,), loop.note)


def _row(place: Expr, columns: Loop | None) -> Expr | None:
    """The key to share elements out by: their place, or their row; None if columns share rows."""
    if columns is None:
        return place
    row = row_of(place, columns.var.name, columns.extent)
    return None if row is None or columns.var.name in names_in(row) else row


def _guarded(block: Block, mine: Expr) -> Block:
    """The statements of an iteration, those that the condition does not need inside it."""
    needed = set(names_in(mine))
    outside: list[Stmt] = []
    for stmt in reversed(block):
        if isinstance(stmt, Let) and stmt.var.name in needed:
            needed |= names_in(stmt.value)
            outside.insert(0, stmt)
    inside = tuple(stmt for stmt in block if stmt not in outside)
    return (*outside, If(mine, inside))
