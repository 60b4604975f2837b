"""interchange: independent iterations go outside.

``for r in serial(n): for q in parallel(m): w[rows[r]*m + q] += y[r*m + q]`` adds rows to rows, in
order. Each column is for itself, so a thread of a device may take one and go through the rows; as
it stands all threads would have to wait for each other after each row. Loops are exchanged where
an iteration of the inner one only touches, of all that is written, elements of its own column:
those at ``q``, or at ``...*m + q`` with q < m. The inner loop may be serial too: then it was so
only because rows come again.
"""

from __future__ import annotations

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Const,
    Expr,
    If,
    Let,
    Loop,
    Program,
    Stmt,
    Store,
)
from symc.codegen.passes.loops.row_major import row_of
from symc.codegen.passes.walk import (
    Block,
    loads_of,
    map_kernels,
    names_in,
    statements,
    substitute,
    written,
)


def interchange(program: Program) -> Program:
    """The program with outermost serial loops inside the independent ones that they are around."""
    return map_kernels(program, lambda kernel: tuple(map(_statement, kernel.body)))


def _statement(stmt: Stmt) -> Stmt:
    if not isinstance(stmt, Loop) or stmt.kind != "serial" or not stmt.body:
        return stmt
    *before, inner = stmt.body
    if not isinstance(inner, Loop) or inner.kind not in ("parallel", "serial"):
        return stmt
    if not all(isinstance(let, Let) for let in before) or not _is_independent(stmt, inner):
        return stmt
    body: Block = (*before, *inner.body)
    note = "\n".join(dict.fromkeys(filter(None, (stmt.note, inner.note))))
    rows = Loop(stmt.var, stmt.extent, "serial", body, "", stmt.cut)
    return Loop(inner.var, inner.extent, "parallel", (rows,), note, inner.cut)


def _is_independent(outer: Loop, inner: Loop) -> bool:
    """Whether no two iterations of the inner loop meet, whatever those of the outer one are."""
    named = [stmt for stmt in outer.body if isinstance(stmt, Let)]
    if not {outer.var.name, *(let.var.name for let in named)}.isdisjoint(names_in(inner.extent)):
        return False
    stores = written(outer.body)
    for let in named:  # named once for all columns, but may change from row to row
        if any(load.buffer in stores for load in loads_of(let)):
            return False
    if any(isinstance(stmt, Loop | If) for stmt in inner.body):
        return False
    own = {stmt.buffer.name for stmt in statements(inner.body) if isinstance(stmt, Alloc)}
    places: dict[str, set[Expr | None]] = {}
    known: dict[str, Expr] = {}
    for stmt in inner.body:
        accessed: list[tuple[str, Expr]] = []
        accessed += [(load.buffer, load.index) for load in loads_of(stmt)]
        if isinstance(stmt, Store | Accumulate):
            accessed.append((stmt.buffer, stmt.index))
        for buffer, index in accessed:
            if buffer in stores - own:
                place = _column(substitute(index, known), inner)
                places.setdefault(buffer, set()).add(place)
        if isinstance(stmt, Let):
            known[stmt.var.name] = substitute(stmt.value, known)
    return all(len(found) == 1 and None not in found for found in places.values())


def _column(index: Expr, inner: Loop) -> Expr | None:
    """The form of an index that tells columns apart: equal forms never meet in two columns."""
    if index == inner.var:
        return Const(0)
    row = row_of(index, inner.var.name, inner.extent)
    return None if row is None or inner.var.name in names_in(row) else inner.extent
