"""end_to_end: short rows that lie one after the other in memory are computed as one.

Loops of ten iterations leave most of a vector register empty, or some numbers to be computed one by
one, which takes long where they need an exponential. What all rows share, a bias or the largest of
each column, is repeated for as many rows as fill registers:

    for i in parallel(n):                      for block in parallel(n // 32):
      for j in parallel(m):                      alloc repeated: b[0 ... m - 1], eight times
        y[i*m + j] = tanh(x[i*m + j] + b[j])     for part in serial(4):
                                                   first = (block*32 + part*8)*m
                                                   for k in parallel(8*m):
                                                     y[first + k] = tanh(x[first + k] + repeated[k])

Rows that are long are taken one by one; then what they share is copied once for a block of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Alloc,
    Buffer,
    Const,
    Expr,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.passes.loops.nest import LoopNest, nest_of
from symc.codegen.passes.strips import StripMining
from symc.codegen.passes.vectors.vectorize import dearest, has_vector_form
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    index_names,
    loads_of,
    map_kernels,
    names_in,
    nodes,
    parts,
    rebuild,
    substitute,
    written,
)
from symc.codegen.record import record
from symc.codegen.verify.polynomials import polynomial

ROWS = 32  # of a block
AT_ONCE = 8  # of short rows: whole registers
SHORT = 256  # numbers of a row
COSTLY = 10  # of a function, in operations, from which it pays to fill registers
_ZERO = const(0)


def end_to_end(program: Program) -> Program:
    """The program with such rows computed several at a time."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    if not any(isinstance(stmt, Loop) for stmt in kernel.body):
        return kernel.body
    taken: set[str] = set()
    sizes = {size.name for size in kernel.sizes}
    done: list[Stmt] = []
    for stmt in kernel.body:
        nest = nest_of(stmt) if isinstance(stmt, Loop) and stmt.kind == "parallel" else None
        rows = None if nest is None else _rows(nest, sizes)
        if rows is None:
            done.append(stmt)
        else:
            taken = taken or bound(kernel)
            done += rows.several(taken)
    return tuple(done) if taken else kernel.body


def _rows(nest: LoopNest, sizes: set[str]) -> _SharingRows | None:
    """The rows of a nest that are computed element by element; None for another nest."""
    if len(nest.loops) != 2 or any(loop.cut is not None for loop in nest.loops):
        return None
    row, column = nest.loops
    length = column.extent
    if not names_in(length) | names_in(row.extent) <= sizes:
        return None
    if isinstance(length, Const) and (length.value > SHORT or length.value % 8 == 0):
        return None
    if not all(isinstance(stmt, Let | Store) for stmt in nest.body):
        return None
    body = (*nest.lets, *nest.body)
    if not has_vector_form(body) or dearest(body) < COSTLY:
        return None
    rows = _SharingRows(row, column, body)
    return rows if rows.is_understood() else None


@record
class _SharingRows:
    """Rows that are computed element by element: `body` is that of an element."""

    row: Loop
    column: Loop
    body: Block

    def is_understood(self) -> bool:
        """Whether all is about elements of rows, and of what all rows share, which there is."""
        names, changed = index_names(self.body), written(self.body)
        shared = False
        for stmt in self.body:
            if isinstance(stmt, Store) and not self.is_own(stmt.index, names):
                return False
            for load in loads_of(stmt):
                if self.is_own(load.index, names):
                    continue
                if load.buffer in changed or not self.is_for_all(load.index, names):
                    return False
                shared |= self.column.var.name in names_in(substitute(load.index, names))
        places = self.places(names)
        return shared and not any(
            isinstance(part, Var) and part.name in places
            for stmt in self.body
            if isinstance(stmt, Store) or (isinstance(stmt, Let) and stmt.var.name not in places)
            for part in _outside_indexes(stmt.value)
        )

    def places(self, names: Mapping[str, Expr]) -> set[str]:
        """The numbers of the row and the column, and names that follow from them."""
        inside = {self.row.var.name, self.column.var.name}
        return inside | {name for name, value in names.items() if inside & names_in(value)}

    def is_own(self, index: Expr, names: Mapping[str, Expr]) -> bool:
        """Whether an index is that of the element."""
        own = add(mul(self.row.var, self.column.extent), self.column.var)
        return polynomial(substitute(index, names)) == polynomial(own)

    def is_for_all(self, index: Expr, names: Mapping[str, Expr]) -> bool:
        """Whether an index is the number of the column, or the same everywhere."""
        place = substitute(index, names)
        if any(isinstance(node, Load) for node in nodes(place)):
            return False
        inside = {self.row.var.name, self.column.var.name}
        return place == self.column.var or not inside & names_in(place)

    def several(self, taken: set[str]) -> Block:
        """The statements in place of the nest."""
        length, whole = self.column.extent, self.row.extent
        at_once, row, first, place = (
            Var(fresh(name, taken)) for name in ("rows_at_once", "row", "first", "place")
        )
        block, part = (Var(fresh(f"{self.row.var.name}_{n}", taken)) for n in ("block", "part"))
        repeated, filled = self.repeated(binary("min", at_once, whole), taken)
        count = mul(binary("min", at_once, sub(whole, row)), length)  # below 0 beyond the last row
        columns = Loop(place, count, "parallel", self.elements(first, place, repeated))
        blocks = StripMining(block, whole, const(ROWS))
        start = Let(row, add(blocks.start, mul(part, at_once)))
        parts_of = Loop(
            part, _by_length(length, ROWS // AT_ONCE, ROWS), "serial",
            (start, Let(first, mul(row, length)), columns),
        )  # fmt: skip
        note = self.row.note or self.column.note
        loop = blocks.loop("parallel", (*filled, parts_of), note)
        return Let(at_once, _by_length(length, AT_ONCE, 1)), loop

    def repeated(self, times: Expr, taken: set[str]) -> tuple[dict[str, str], Block]:
        """The arrays of what all rows share, by buffers, and what fills them."""
        names, length = index_names(self.body), self.column.extent
        enough = binary("max", length, const(AT_ONCE * SHORT))
        arrays: dict[str, str] = {}
        filled: list[Stmt] = []
        for load in [load for stmt in self.body for load in loads_of(stmt)]:
            if load.buffer in arrays or substitute(load.index, names) != self.column.var:
                continue
            arrays[load.buffer] = fresh(f"{load.buffer}_repeated", taken)
            copy, column = (Var(fresh(name, taken)) for name in ("copy", self.column.var.name))
            array = Buffer(arrays[load.buffer], load.dtype, (enough,), "local")
            place = add(mul(copy, length), column)
            store = Store(array.name, place, Load(load.buffer, column, load.dtype))
            row = Loop(column, length, "parallel", (store,))
            filled += [Alloc(array), Loop(copy, times, "serial", (row,))]
        return arrays, tuple(filled)

    def elements(self, first: Expr, place: Expr, repeated: Mapping[str, str]) -> Block:
        """The statements of an element, by its place in several rows."""
        names = index_names(self.body)
        places = self.places(names)

        def visit(expr: Expr) -> Expr:
            if isinstance(expr, Load):
                if self.is_own(expr.index, names):
                    return Load(expr.buffer, add(first, place), expr.dtype)
                if substitute(expr.index, names) == self.column.var:
                    return Load(repeated[expr.buffer], place, expr.dtype)
            return rebuild(expr, visit)

        made: list[Stmt] = []
        for stmt in self.body:
            match stmt:
                case Store(buffer, _, value):
                    made.append(Store(buffer, add(first, place), visit(value)))
                case Let(var, value) if var.name not in places:
                    made.append(Let(var, visit(value)))
                case _:
                    pass
        return tuple(made)


def _by_length(length: Expr, short: int, other: int) -> Expr:
    """A number for short rows, and one for others."""
    if isinstance(length, Const):
        return const(short if length.value <= SHORT else other)
    return Select(binary("le", length, const(SHORT)), const(short), const(other), INT64)


def _outside_indexes(expr: Expr) -> Iterator[Expr]:
    """The parts of an expression, but for those of indexes."""
    yield expr
    if not isinstance(expr, Load):
        for part in parts(expr):
            yield from _outside_indexes(part)
