"""Nested loops as one loop: a grid and the lanes of a team have one dimension here.

``for i < n: for j < m: body`` becomes ``for t < n*m``, with ``i*m + j`` replaced by t, and i and j
computed from t where they are still wanted. Unlike `collapse`, which only merges loops over flat
indexes and so never adds a division, this always works; a device has arithmetic to spare.
"""

from __future__ import annotations

from symc.codegen.ir import Binary, Expr, Let, Loop, Stmt, Var, add, mul
from symc.codegen.passes.loops.row_major import row_of
from symc.codegen.passes.walk import (
    Block,
    expressions,
    fresh,
    map_block,
    names_in,
    rebuild,
    statements,
)


def flatten(loop: Loop, taken: set[str]) -> Loop:
    """The loop merged with the loops of the same kind that are all there is in it.

    `taken` are the names of the kernel, to which new ones are added. Values named between two loops
    are computed inside both.
    """
    while True:
        merged = _merged(loop, taken)
        if merged is None:
            return loop
        loop = merged


def _merged(outer: Loop, taken: set[str]) -> Loop | None:
    if not outer.body:
        return None
    *between, inner = outer.body
    if not isinstance(inner, Loop) or inner.kind != outer.kind:
        return None
    if not all(isinstance(stmt, Let) for stmt in between):
        return None
    named = {stmt.var.name for stmt in between if isinstance(stmt, Let)} | {outer.var.name}
    if not named.isdisjoint(names_in(inner.extent)):
        return None
    flat = Var(fresh("t", taken))
    body = _replaced((*between, *inner.body), outer.var, inner.var, inner.extent, flat)
    used = _variables(body)
    before: list[Stmt] = []
    if inner.var.name in used:
        before.append(Let(inner.var, Binary("mod", flat, inner.extent, flat.dtype)))
    if outer.var.name in used:
        before.insert(0, Let(outer.var, Binary("floordiv", flat, inner.extent, flat.dtype)))
    note = "\n".join(dict.fromkeys(filter(None, (outer.note, inner.note))))
    return Loop(flat, mul(outer.extent, inner.extent), outer.kind, (*before, *body), note)


def _replaced(body: Block, outer: Var, inner: Var, stride: Expr, flat: Var) -> Block:
    """The body with ``i*m + j`` replaced, also where something is added to i."""

    def visit(expr: Expr) -> Expr:
        match row_of(expr, inner.name, stride):
            case Var(i) if i == outer.name:
                return flat
            case Binary("add", start, Var(i)) if i == outer.name:
                return add(mul(visit(start), stride), flat)
            case Binary("add", Var(i), start) if i == outer.name:
                return add(mul(visit(start), stride), flat)
            case _:
                return rebuild(expr, visit)

    return map_block(body, visit)


def _variables(body: Block) -> set[str]:
    """The names that occur in expressions of a block."""
    found: set[str] = set()
    for stmt in statements(body):
        for expr in expressions(stmt):
            found |= names_in(expr)
    return found
