"""collapse: nested loops over one flat index become one loop.

``for i < n: for j < m: body`` becomes ``for i < n*m: body'`` where i and j only ever occur together
as ``i*m + j``, or ``(s + i)*m + j`` for loops that start at s and rows that are s further. Pairs
are tried from the outside in, so that an index ``(i*m + j)*k + l`` over any number of axes becomes
one variable.
"""

from __future__ import annotations

from symc.codegen.ir import Binary, Expr, If, Loop, Program, Stmt, Var, add, const, mul
from symc.codegen.passes.loops.row_major import row_of
from symc.codegen.passes.walk import (
    Block,
    expressions,
    map_block,
    map_kernels,
    names_in,
    parts,
    rebuild,
    rebuild_statement,
    statements,
)


def collapse(program: Program) -> Program:
    """The program with perfectly nested loops over flat indexes merged."""
    return map_kernels(program, lambda kernel: collapsed(kernel.body))


def collapsed(block: Block) -> Block:
    """The same of a block."""
    if not any(isinstance(stmt, Loop | If) for stmt in block):
        return block
    return tuple([_statement(stmt) for stmt in block])


def _statement(stmt: Stmt) -> Stmt:
    while isinstance(stmt, Loop):
        merged = _merged(stmt)
        if merged is None:
            break
        stmt = merged
    return rebuild_statement(stmt, lambda expr: expr, collapsed)


def _merged(outer: Loop) -> Loop | None:
    """The loop and the only loop in it as one, or None where that is not possible."""
    if len(outer.body) != 1:
        return None
    inner = outer.body[0]
    if not isinstance(inner, Loop) or inner.kind != outer.kind:
        return None
    if outer.kind not in ("parallel", "serial") or outer.var.name in names_in(inner.extent):
        return None
    flat = _Flat(outer.var, inner.var, inner.extent)
    if not all(flat.covers(expr) for stmt in statements(inner.body) for expr in expressions(stmt)):
        return None
    extent = mul(outer.extent, inner.extent)
    note = "\n".join(dict.fromkeys(filter(None, (outer.note, inner.note))))
    return Loop(outer.var, extent, outer.kind, map_block(inner.body, flat.replace), note)


class _Flat:
    """The expression ``(s + i)*m + j``, to be replaced by ``s*m + i``; most often s is 0."""

    def __init__(self, outer: Var, inner: Var, stride: Expr) -> None:
        self.outer = outer
        self.inner = inner
        self.stride = stride

    def start(self, expr: Expr) -> Expr | None:
        """The s of the expression, or None if this is another one."""
        match row_of(expr, self.inner.name, self.stride):
            case Var(i) if i == self.outer.name:
                return const(0)
            case Binary("add", start, Var(i)) | Binary("add", Var(i), start) if (
                i == self.outer.name
            ):
                return start if names_in(start).isdisjoint({i, self.inner.name}) else None
            case _:
                return None

    def covers(self, expr: Expr) -> bool:
        """Whether the two variables occur nowhere else."""
        if type(expr) is Var:
            return expr.name not in (self.outer.name, self.inner.name)
        return self.start(expr) is not None or all(map(self.covers, parts(expr)))

    def replace(self, expr: Expr) -> Expr:
        """The expression with every occurrence replaced."""
        match self.start(expr):
            case None:
                return rebuild(expr, self.replace)
            case Binary("mul", rows, length):  # one stride, that of the row the loops are now
                return add(mul(rows, mul(length, self.stride)), self.outer)
            case start:
                return add(mul(start, self.stride), self.outer)
