"""behind: folds in the loop of a scatter follow it in strips, in vector registers.

A loop that writes at computed places runs an element at a time, and so do sums in it: each addition
waits for the one before. What they add up waits in a row in the cache instead, for a vector loop:

    for i in serial(n): let v = y[i] - a[k[i]]; acc += v*v; out[k[i]] += v

    for strip in serial((n + 1023) // 1024):
      alloc behind: float64[1024]
      for j in serial(length of the strip): let i = ...; let v = ...; behind[j] = v; out[k[i]] += v
      for j in vector(length of the strip): acc += behind[j]*behind[j]

A row has what vector registers do no faster, as it is gathered; or what follows from an array that
the loop changes. The rest of a fold's arithmetic is done in the vector loop. Loops that have the
form of `packs` stay, as those add up in vector registers themselves.
"""

from __future__ import annotations

from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Expr,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Stmt,
    Store,
    Var,
    const,
)
from symc.codegen.passes.loops.dependence import accesses, is_unit
from symc.codegen.passes.strips import mining_of
from symc.codegen.passes.vectors.ahead import (
    MOST,
    STRIP,
    loads_within,
    moving,
    with_loops,
    without_unused,
)
from symc.codegen.passes.vectors.packs import pack_form
from symc.codegen.passes.vectors.vectorize import has_vector_form
from symc.codegen.passes.walk import (
    Block,
    map_kernels,
    names_in,
    rebuild,
    statements,
    substitute,
    written,
)
from symc.codegen.passes.walk import fresh as fresh_name

WORTH = 5  # operations and reads of all folds, from which a row costs less than they do
ROWS = 2  # the most that stay in the first cache beside what is gathered


def behind(program: Program) -> Program:
    """The program with the folds beside its scatters in loops of their own."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    every = statements(kernel.body)
    scalars = {s.buffer.name for s in every if isinstance(s, Alloc) and not s.buffer.shape}

    def change(loop: Loop, taken: set[str]) -> Loop | None:
        if not scalars or not _is_scatter(loop, scalars) or pack_form(loop, scalars) is not None:
            return None
        return _Behind(loop, taken, scalars).loop()

    return with_loops(kernel, change)


def _is_scatter(loop: Loop, scalars: set[str]) -> bool:
    """Whether iterations write at computed places, and fold."""
    if loop.kind != "serial":
        return False
    if not all(isinstance(stmt, Let | Accumulate | Store) for stmt in loop.body):
        return False
    changed = written(loop.body)
    read = {load.buffer for stmt in loop.body for e in _values(stmt) for load in loads_within(e)}
    folded = changed & scalars
    if not folded or not folded.isdisjoint(read):
        return False
    places = accesses(loop).places
    return any(None in places[buffer] for buffer in changed - scalars)


def _values(stmt: Stmt) -> tuple[Expr, ...]:
    match stmt:
        case Let(value=value):
            return (value,)
        case Accumulate(index=index, value=value) | Store(index=index, value=value):
            return index, value
        case _:
            raise AssertionError(stmt)


class _Behind:
    """One loop, on its way to two in a strip."""

    def __init__(self, loop: Loop, taken: set[str], scalars: set[str]) -> None:
        self.whole = loop
        self.taken = taken
        self.scalars = scalars
        self.changed = written(loop.body)
        self.lets: dict[str, Expr] = {}  # what names of the body stand for
        self.out: dict[str, Expr] = {}  # the same, written out
        self.rows: dict[Expr, Buffer] = {}
        self.place = Var(self.fresh(f"{loop.var.name}_in_strip"))
        self.later = Var(self.fresh(f"{loop.var.name}_behind"))

    def fresh(self, name: str) -> str:
        """A name that is not taken."""
        return fresh_name(name, self.taken)

    def loop(self) -> Loop | None:
        """The loop over strips, or None if it is not worth it."""
        body: list[Stmt] = []
        folds: list[Accumulate] = []
        for stmt in self.whole.body:
            if isinstance(stmt, Accumulate) and stmt.buffer in self.scalars:
                value = self.behind(stmt.value, body)
                folds.append(Accumulate(stmt.buffer, stmt.index, stmt.op, value, stmt.atomic))
                continue
            if isinstance(stmt, Let):
                self.lets[stmt.var.name] = stmt.value
                self.out[stmt.var.name] = substitute(stmt.value, self.out)
            body.append(stmt)
        here: dict[str, Expr] = {self.whole.var.name: self.later}
        count = sum(moving(substitute(fold.value, here), self.later.name) for fold in folds)
        if not WORTH <= count <= MOST or not has_vector_form(tuple(folds)):
            return None
        if len(self.rows) > ROWS or any(_is_unfit(row) for row in self.rows.values()):
            return None
        return self.cut(body, folds)

    def behind(self, value: Expr, body: list[Stmt]) -> Expr:
        """A value as the vector loop computes it; without a name of its own it may need a row."""
        if self.needs_row(value):
            body.append(Store(self.row(value).name, self.place, value))
            return self.element(value)
        return self.rest(value)

    def rest(self, expr: Expr) -> Expr:
        """An expression of elements of rows, and of what the vector loop reads itself."""
        if isinstance(expr, Var) and expr.name in self.lets:
            if self.needs_row(self.lets[expr.name]):
                self.row(expr)
                return self.element(expr)
            return self.rest(self.lets[expr.name])
        return rebuild(expr, self.rest)

    def needs_row(self, expr: Expr) -> bool:
        """Whether something in an expression, apart from names, is gathered or changed."""
        variable = self.whole.var.name
        for load in loads_within(expr):
            index = substitute(load.index, self.out)
            if load.buffer in self.changed:
                return True
            if variable in names_in(index) and not is_unit(index, variable):
                return True
        return False

    def row(self, value: Expr) -> Buffer:
        """The row of a value."""
        if value not in self.rows:
            shape = (const(STRIP),)
            self.rows[value] = Buffer(self.fresh("behind"), value.dtype, shape, "local")
        return self.rows[value]

    def element(self, value: Expr) -> Load:
        """What the vector loop reads of the row of a value."""
        return Load(self.rows[value].name, self.later, value.dtype)

    def cut(self, body: list[Stmt], folds: list[Accumulate]) -> Loop:
        """The loop over strips: `body` fills rows, then folds read them."""
        old = self.whole
        number, first = Var(self.fresh("strip")), Var(self.fresh("first"))
        cut = mining_of(old, number, STRIP, first)
        filled: list[Stmt] = []
        for stmt in body:
            filled.append(stmt)
            if isinstance(stmt, Let) and stmt.var in self.rows:
                filled.append(Store(self.rows[stmt.var].name, self.place, stmt.var))
        own = Var(self.fresh(old.var.name))
        here: dict[str, Expr] = {old.var.name: own}
        scatter = [Let(old.var, cut.at(self.place)), *filled]
        moved: list[Stmt] = [Let(own, cut.at(self.later))]
        for fold in folds:
            value = substitute(fold.value, here)
            moved.append(Accumulate(fold.buffer, fold.index, fold.op, value, fold.atomic))
        return cut.loop(
            "serial",
            (
                cut.let,
                *map(Alloc, self.rows.values()),
                cut.inner(self.place, "serial", without_unused(scatter)),
                cut.inner(self.later, "serial", without_unused(moved)),
            ),
            old.note,
        )


def _is_unfit(row: Buffer) -> bool:
    return row.dtype is BOOL or row.dtype.is_only_stored
