"""collapse: nested loops over one flat index become one loop.

``for i < n: for j < m: body`` becomes ``for i < n*m: body'`` where i and j only ever occur together
as ``i*m + j``, or ``(s + i)*m + j`` for loops that start at s and rows that are s further: of a cut
or shifted picture, ``(row*width + (x + 1))*channels + channel``. Pairs are tried from the outside
in, so that an index ``(i*m + j)*k + l`` over any number of axes becomes one variable.
"""

from __future__ import annotations

from symc.codegen.ir import Binary, Const, Expr, If, Loop, Program, Stmt, Var, add, const, mul, sub
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
    """The expression ``i*m + j`` in sums with others, to be replaced by the variable of one loop.

    Most often nothing else is in the sum. Both variables may be taken away instead of added.
    """

    def __init__(self, outer: Var, inner: Var, stride: Expr) -> None:
        self.outer = outer
        self.inner = inner
        self.stride = stride

    def terms(self, expr: Expr) -> tuple[Expr, Expr, int] | None:
        """The row and the column that ``i*m + j`` is added to, and 1 or -1; None of others."""
        match expr:
            case Binary("add", Binary("mul", rows, stride), columns) if stride == self.stride:
                row, column = _besides(rows, self.outer.name), _besides(columns, self.inner.name)
            case _:
                return None
        if row is None or column is None or row[1] != column[1]:
            return None
        both = {self.outer.name, self.inner.name}
        if any(not names_in(rest).isdisjoint(both) for rest, _ in (row, column)):
            return None
        return row[0], column[0], row[1]

    def covers(self, expr: Expr) -> bool:
        """Whether the two variables occur nowhere else."""
        if type(expr) is Var:
            return expr.name not in (self.outer.name, self.inner.name)
        return self.terms(expr) is not None or all(map(self.covers, parts(expr)))

    def replace(self, expr: Expr) -> Expr:
        """The expression with every occurrence replaced."""
        match self.terms(expr):
            case None:
                return rebuild(expr, self.replace)
            case Binary("mul", rows, length), column, sign:  # the row that the loops are now
                start = mul(rows, mul(length, self.stride))
            case row, column, sign:
                start = mul(row, self.stride)
        start = add(start, column)
        return add(start, self.outer) if sign > 0 else sub(start, self.outer)


def _besides(expr: Expr, variable: str) -> tuple[Expr, int] | None:
    """What a variable is added to, or taken from, in a sum, and 1 or -1; None if it is no term."""
    match expr:
        case Var(name):
            return (const(0), 1) if name == variable else None
        case Binary("mul", Var(name), Const(-1)):
            return (const(0), -1) if name == variable else None
        case Binary("add", left, right):
            first, last = _besides(left, variable), _besides(right, variable)
            if first is not None:
                return add(first[0], right), first[1]
            return None if last is None else (add(left, last[0]), last[1])
        case _:
            return None
