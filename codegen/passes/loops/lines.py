"""lines: elements far apart that each row reads again are copied side by side, for many rows.

    for i in parallel(n):
      for j in parallel(n): out[i*n + j] = x[j*3] - x[i*3]

    for rows in parallel(n / 64):
      alloc line[n]
      for j in parallel(n): line[j] = x[j*3]
      for i in the rows:
        for j in parallel(n): out[i*n + j] = line[j] - x[i*3]

A column of a matrix has a line of the cache for each of its elements, and elements apart are loaded
one by one. What a loop reads of an array that it writes is never what it writes: its iterations are
independent. Only what every iteration reads is copied, whatever it goes on to choose.
"""

from __future__ import annotations

from symc.codegen.ir import (
    Alloc,
    Buffer,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.strips import mining_of
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    index_names,
    map_kernels,
    names_in,
    rebuild,
    rebuild_statement,
    statements,
    substitute,
)
from symc.codegen.record import replace
from symc.codegen.verify.polynomials import by, polynomial

ROWS = 64  # for which a line is copied once
FEWEST = 8  # rows, or elements, that a copy is worth making for
NEAR = 2  # elements from one to the next that are loaded as fast


def lines(program: Program) -> Program:
    """The program with lines that are far apart copied before the rows that read them."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    *before, rows = kernel.body or (None,)
    if not isinstance(rows, Loop) or rows.kind != "parallel" or rows.cut is not None:
        return kernel.body
    if _is_short(rows.extent) or not all(isinstance(stmt, Let) for stmt in before):
        return kernel.body
    found = _Lines(rows, bound(kernel))
    body = found.block(rows.body, None)
    return (*before, found.in_strips(body)) if found.copies else kernel.body


def _is_short(extent: Expr) -> bool:
    return isinstance(extent, Const) and extent.value < FEWEST


class _Lines:
    """A loop over rows, and the lines that all of them read."""

    def __init__(self, rows: Loop, taken: set[str]) -> None:
        inside = list(statements(rows.body))
        self.rows = rows
        self.taken = taken
        self.names = index_names(tuple(inside))
        self.own = {stmt.buffer.name for stmt in inside if isinstance(stmt, Alloc)}
        bound_here = {s.var.name for s in inside if isinstance(s, Let | Loop)}
        self.varying = bound_here | {rows.var.name}
        self.copies: dict[tuple[Load, Expr], tuple[Buffer, Loop]] = {}

    def in_strips(self, body: Block) -> Loop:
        """The loop over strips of rows, each with copies of the lines."""
        number = Var(fresh("rows", self.taken), self.rows.var.dtype)
        place = Var(fresh(f"{self.rows.var.name}_in_rows", self.taken), self.rows.var.dtype)
        cut = mining_of(self.rows, number, ROWS)
        inner = cut.inner(place, "parallel", (Let(self.rows.var, cut.at(place)), *body))
        allocated = [Alloc(buffer) for buffer, _ in self.copies.values()]
        made = [loop for _, loop in self.copies.values()]
        return cut.loop("parallel", (*allocated, *made, inner), self.rows.note)

    def block(self, body: Block, around: Loop | None) -> Block:
        """The statements with lines read from copies; `around` is the loop that they are in."""
        return tuple([self.statement(stmt, around) for stmt in body])

    def statement(self, stmt: Stmt, around: Loop | None) -> Stmt:
        """A statement of a row."""
        if isinstance(stmt, Loop):
            inner = any(isinstance(each, Loop | If) for each in stmt.body)
            here = None if inner or not self.is_line(stmt) else stmt
            return replace(stmt, body=self.block(stmt.body, here))
        if around is None:
            return rebuild_statement(stmt, lambda expr: expr, lambda body: self.block(body, None))
        return rebuild_statement(stmt, lambda expr: self.expr(expr, around), lambda body: body)

    def is_line(self, loop: Loop) -> bool:
        """Whether a loop goes along a line: the same elements for all rows."""
        if loop.cut is not None or loop.kind not in ("parallel", "serial"):
            return False
        return not _is_short(loop.extent) and names_in(loop.extent).isdisjoint(self.varying)

    def expr(self, old: Expr, loop: Loop) -> Expr:
        """An expression in a loop along a line. Sides of a choice may read what is not there."""
        match old:
            case Select(condition, then, otherwise, dtype):
                return Select(self.expr(condition, loop), then, otherwise, dtype)
            case Load() if (copy := self.copy(old, loop)) is not None:
                return Load(copy.name, loop.var, old.dtype)
            case _:
                return rebuild(old, lambda part: self.expr(part, loop))

    def copy(self, load: Load, loop: Loop) -> Buffer | None:
        """The copy of the line that a load reads an element of."""
        index = substitute(load.index, self.names)
        if load.buffer in self.own or self.varying & names_in(index) != {loop.var.name}:
            return None
        if not _is_far(index, loop.var):
            return None
        place = Var("@", loop.var.dtype)
        key = Load(load.buffer, substitute(index, {loop.var.name: place}), load.dtype), loop.extent
        if key not in self.copies:
            buffer = Buffer(
                fresh(f"{load.buffer}_line", self.taken), load.dtype, (loop.extent,), "local"
            )
            var = Var(fresh(loop.var.name, self.taken), loop.var.dtype)
            value = substitute(key[0], {place.name: var})
            store = Store(buffer.name, var, value)
            self.copies[key] = buffer, Loop(var, loop.extent, "parallel", (store,))
        return self.copies[key][0]


def _is_far(index: Expr, var: Var) -> bool:
    """Whether neighbours of a line lie apart by a length, or by more than a few elements."""
    split = by(polynomial(index), var)
    if split is None:
        return False
    match [*split[0].items()]:
        case [((), factor)]:
            return abs(factor) > NEAR
        case _:
            return True
