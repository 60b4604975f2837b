"""ahead: what a scatter needs of arithmetic is computed ahead of it, in vector registers.

A loop that writes at computed places runs an element at a time, and so does the arithmetic in it,
though none of it depends on what is written. In strips, that arithmetic is a vector loop of its own
whose results wait in a row in the cache:

    for i in serial(n): counts[bins[i]] += (x[i] >= a) and (x[i] <= b)

    for strip in serial((n + 1023) // 1024):
      alloc ahead: int64[1024]
      for k in vector(length of the strip): let i = ...; ahead[k] = (x[i] >= a) and (x[i] <= b)
      for k in serial(length of the strip): let i = ...; counts[bins[i]] += ahead[k]

Values of few operations stay, as writing and reading a row costs some, too; and so do those that
gather, which vector registers do no faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Call,
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
from symc.codegen.passes.vectors.vectorize import has_vector_form
from symc.codegen.passes.walk import (
    Block,
    bound,
    collect,
    expressions,
    fresh,
    map_kernels,
    names_in,
    nodes,
    parts,
    rebuild_statement,
    substitute,
)

STRIP = 1024  # elements of a row: some rows stay in the first cache
WORTH = 4  # operations, from which a row costs less than they do
MOST = 64  # operations of a value with all names in it written out


def ahead(program: Program) -> Program:
    """The program with the arithmetic of its scatters in loops of its own."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    return with_loops(
        kernel, lambda loop, taken: _Ahead(loop, taken).loop() if _is_scatter(loop) else None
    )


def with_loops(kernel: Kernel, change: Callable[[Loop, set[str]], Loop | None]) -> Block:
    """The body of a kernel with each loop that `change` gives another for, outermost first.

    It is given the loop and the names that are taken; None leaves the loop, and looks inside.
    """
    taken: set[str] = set()

    def block(body: Block) -> Block:
        if not any(isinstance(stmt, Loop) for stmt in body):
            return body
        return tuple([statement(stmt) for stmt in body])

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop):
            if not taken:
                taken.update(bound(kernel))
            if (changed := change(stmt, taken)) is not None:
                return changed
        return rebuild_statement(stmt, _itself, block)

    return block(kernel.body)


def _itself(expr: Expr) -> Expr:
    return expr


def _is_scatter(loop: Loop) -> bool:
    """Whether iterations only write at computed places, and read nothing that they write."""
    if loop.kind != "serial" or loop.cut is not None:
        return False
    if not all(isinstance(stmt, Let | Accumulate | Store) for stmt in loop.body):
        return False
    names: dict[str, Expr] = {}
    for stmt in loop.body:
        if isinstance(stmt, Let):
            names[stmt.var.name] = substitute(stmt.value, names)
        elif isinstance(stmt, Accumulate | Store):
            index, variable = substitute(stmt.index, names), loop.var.name
            if variable not in names_in(index) or is_unit(index, variable):
                return False  # a fold, or a row
    found = accesses(loop)
    computed = all(found.places[buffer] == {None} for buffer in found.writes)
    return bool(found.writes) and computed and found.reads.isdisjoint(found.writes)


class _Ahead:
    """One loop, on its way to two in a strip."""

    def __init__(self, loop: Loop, taken: set[str]) -> None:
        self.whole = loop
        self.taken = taken
        self.values: dict[str, Expr] = {}  # what names of the body stand for, written out
        self.rows: dict[Expr, Buffer] = {}
        self.place = Var(self.fresh(f"{loop.var.name}_in_strip"))

    def fresh(self, name: str) -> str:
        """A name that is not taken."""
        return fresh(name, self.taken)

    def loop(self) -> Loop:
        """The loop over strips, or the loop as it is if nothing is worth a row."""
        body: list[Stmt] = []
        for stmt in self.whole.body:
            match stmt:
                case Let(var, value):
                    self.values[var.name] = substitute(value, self.values)
                    body.append(stmt)
                case Accumulate(buffer, index, op, value, atomic):
                    index, value = self.place_of(index), self.row_of(value)
                    body.append(Accumulate(buffer, index, op, value, atomic))
                case Store(buffer, index, value):
                    body.append(Store(buffer, self.place_of(index), self.row_of(value)))
                case _:
                    raise AssertionError(stmt)
        return self.cut(without_unused(body)) if self.rows else self.whole

    def place_of(self, index: Expr) -> Expr:
        """An index as it is, unless it follows from numbers: integers take no longer as it is."""
        floats = (node.dtype.is_float for node in nodes(substitute(index, self.values)))
        return self.row_of(index) if any(floats) else index

    def row_of(self, expr: Expr) -> Expr:
        """The element of a row for an expression that is worth one; any other as it is."""
        value = substitute(expr, self.values)
        if not self.is_worth(value):
            return expr
        if value not in self.rows:
            shape = (const(STRIP),)
            self.rows[value] = Buffer(self.fresh("ahead"), value.dtype, shape, "local")
        return Load(self.rows[value].name, self.place, value.dtype)

    def is_worth(self, value: Expr) -> bool:
        """Whether a value is faster computed in vector registers."""
        if value.dtype is BOOL or value.dtype.is_only_stored:
            return False
        variable, count = self.whole.var.name, moving(value, self.whole.var.name)
        calls = any(isinstance(node, Call) for node in nodes(value))
        if count > MOST or (count < WORTH + len(loads_within(value)) and not calls):
            return False
        if variable not in names_in(value) or not has_vector_form((Let(Var("value"), value),)):
            return False
        return all(
            is_unit(load.index, variable) or variable not in names_in(load.index)
            for load in loads_within(value)
        )

    def cut(self, body: Block) -> Loop:
        """The loop over strips: rows are computed, then `body` reads them."""
        old = self.whole
        number, first = Var(self.fresh("strip")), Var(self.fresh("first"))
        cut = mining_of(old, number, STRIP, first)
        before, k = Var(self.fresh(old.var.name)), Var(self.fresh(f"{old.var.name}_ahead"))
        here: Mapping[str, Expr] = {old.var.name: before}
        stores = [Store(row.name, k, substitute(value, here)) for value, row in self.rows.items()]
        return cut.loop(
            "serial",
            (
                cut.let,
                *map(Alloc, self.rows.values()),
                cut.inner(k, "parallel", (Let(before, cut.at(k)), *stores)),
                cut.inner(self.place, "serial", (Let(old.var, cut.at(self.place)), *body)),
            ),
            old.note,
        )  # fmt: skip


def moving(expr: Expr, variable: str) -> int:
    """The operations of each iteration: those without the variable are done before the loop."""
    if variable not in names_in(expr) or isinstance(expr, Var):
        return 0
    return 1 if isinstance(expr, Load) else 1 + sum(moving(p, variable) for p in parts(expr))


def loads_within(expr: Expr) -> list[Load]:
    """Everything that an expression loads."""
    loads: list[Load] = []
    collect(expr, [], loads)
    return loads


def without_unused(body: list[Stmt]) -> Block:
    """The statements without names that no later one uses."""
    kept: list[Stmt] = []
    used: set[str] = set()
    for stmt in reversed(body):
        if isinstance(stmt, Let) and stmt.var.name not in used:
            continue
        kept.append(stmt)
        for expr in expressions(stmt):
            used |= names_in(expr)
    return tuple(reversed(kept))
