"""Sums over the rows of a matrix that `turn` has copied, for each of its columns.

    alloc sums[d]                                     for k in parallel(d):
    for k in parallel(d): sums[k] = 0                   alloc acc; acc = 0
    for j in serial(n):                                 for j in serial(n):
      for k in parallel(d):                               acc += w[j] * columns[k*n + j]
        sums[k] += w[j] * y[j*d + k]                    out[k] = acc
    for k in parallel(d): out[k] = sums[k]

Of few columns the loop over them fills no register; in the copy a column lies in one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Expr,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Strips,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.walk import (
    Block,
    fresh,
    loads_of,
    names_in,
    rebuild,
    rebuild_statement,
    written,
)
from symc.codegen.record import record, replace

PARTS = 4  # statements of such sums


@record
class ColumnSums:
    """Sums for all columns: their array, its first values, the loop over rows, what follows."""

    sums: Buffer
    first: Expr
    rows: Loop
    row: Loop
    """The loop over the columns of a row."""
    last: Loop
    width: Expr
    """How many columns there are."""
    start: str | None
    """The name of a strip's first column, if they go in strips."""


def sums_at(block: Sequence[Stmt], at: int) -> tuple[ColumnSums, int] | None:
    """The sums that begin at a statement, and how many statements they have."""
    match block[at]:
        case Loop(cut=Strips(width), body=(Let(start), *parts)):
            found = _sums(parts, width, start.name)
            return None if found is None else (found, 1)
        case Alloc():
            found = _sums(block[at : at + PARTS], None, None)
            return None if found is None else (found, PARTS)
        case _:
            return None


def _sums(parts: Sequence[Stmt], width: Expr | None, start: str | None) -> ColumnSums | None:
    match parts:
        case [
            Alloc(sums, None),
            Loop(first, body=(Store(name, Var(at), value),)),
            Loop(body=(Loop() as row,)) as rows,
            Loop() as last,
        ] if name == sums.name and at == first.name and not names_in(value):
            pass
        case _:
            return None
    *lets, total = row.body or (None,)
    if not isinstance(total, Accumulate) or (total.buffer, total.index) != (sums.name, row.var):
        return None
    if rows.kind != "serial" or rows.cut is not None or not _are_independent(row, last):
        return None
    if not all(isinstance(stmt, Let) for stmt in lets):
        return None
    if not all(isinstance(stmt, Let | Store) for stmt in last.body):
        return None
    return ColumnSums(sums, value, rows, row, last, width or row.extent, start)


def _are_independent(row: Loop, last: Loop) -> bool:
    """Whether no sum reads what follows from another one."""
    read = {load.buffer for stmt in row.body for load in loads_of(stmt)}
    return written(last.body).isdisjoint(read)


class _ColumnwiseSums:
    """Sums on their way to a loop over columns."""

    def __init__(
        self, made: ColumnSums, lengths: tuple[Expr, Expr], taken: set[str],
        copy_of: Callable[[Load], Buffer | None],
    ) -> None:  # fmt: skip
        self.made, self.taken, self.copy_of = made, taken, copy_of
        self.count, self.length = lengths
        self.column = Var(fresh(made.row.var.name, taken), made.row.var.dtype)
        self.row = Var(fresh(made.rows.var.name, taken), made.rows.var.dtype)
        self.acc = fresh("acc", taken)
        self.values: dict[str, Expr] = {made.rows.var.name: self.row}
        self.turned = False

    def block(self) -> Block | None:
        """The loop over columns; None if that reads no copy, or the place of a column is lost."""
        made = self.made
        if (made.rows.extent, made.width) != (self.count, self.length):
            return None
        self.values |= {made.row.var.name: self.column, made.last.var.name: self.column}
        summed = tuple(map(self.statement, made.row.body))
        after = tuple(map(self.statement, made.last.body))
        rows = replace(made.rows, var=self.row, body=summed, note=made.row.note or made.rows.note)
        body = (
            Alloc(Buffer(self.acc, made.sums.dtype, (), "local")),
            Store(self.acc, const(0), made.first),
            rows,
            *after,
        )
        lost = any(made.start in names_in(e) for stmt in (*summed, *after) for e in _parts(stmt))
        if lost or not self.turned:
            return None
        return (Loop(self.column, self.length, "parallel", body, made.last.note),)

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement for one column."""
        match stmt:
            case Let(var, value):
                value = self.expr(value)
                self.values[var.name] = new = Var(fresh(var.name, self.taken), var.dtype)
                return Let(new, value)
            case Accumulate(self.made.sums.name, _, op, value):
                return Accumulate(self.acc, const(0), op, self.expr(value))
            case _:
                return rebuild_statement(stmt, self.expr, lambda block: block)

    def expr(self, old: Expr) -> Expr:
        """An expression for one column."""
        match old:
            case Var(name):
                return self.values.get(name, old)
            case Binary("add", Var(start), Var(name)) if start == self.made.start:
                return self.values.get(name, old)
            case Load(self.made.sums.name, _, dtype):
                return Load(self.acc, const(0), dtype)
            case Load(_, index, dtype):
                index = self.expr(index)
                copy = self.copy_of(old)
                if copy is not None and index == add(mul(self.row, self.length), self.column):
                    self.turned = True
                    return Load(copy.name, add(mul(self.column, self.count), self.row), dtype)
                return Load(old.buffer, index, dtype)
            case _:
                return rebuild(old, self.expr)


def _parts(stmt: Stmt) -> tuple[Expr, ...]:
    match stmt:
        case Let(_, value):
            return (value,)
        case Store(_, index, value) | Accumulate(_, index, _, value):
            return (index, value)
        case _:
            raise AssertionError(stmt)


def by_columns(
    made: ColumnSums, lengths: tuple[Expr, Expr], taken: set[str],
    copy_of: Callable[[Load], Buffer | None],
) -> Block | None:  # fmt: skip
    """The sums column by column, from copies of so many rows of such a length, if they have any."""
    return _ColumnwiseSums(made, lengths, taken, copy_of).block()
