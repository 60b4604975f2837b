"""turn: matrices whose rows are short and folded are read column by column.

Distances of points in three dimensions are sums of three squares. Three elements fill no vector
register, and as the loop over them is the innermost, none is filled. Where such rows are folded one
after the other for each row of something else, they are copied turned, for many rows at a time, and
the loops over them are interchanged: the folds of all rows go on side by side.

    for i in parallel(m):
      alloc row[n]
      for j in parallel(n):
        alloc acc; acc = 0
        for k in d: acc += (x[i*d + k] - y[j*d + k]) ** 2
        row[j] = acc
      ...

    for block in parallel(m / 64):
      alloc columns[d*n]
      for k in d: for j in n: columns[k*n + j] = y[j*d + k]
      for i in the block:
        alloc row[n]
        for j in parallel(n): row[j] = 0
        for k in d: for j in parallel(n): row[j] += (x[i*d + k] - columns[k*n + j]) ** 2
        ...

Where lengths are known only at run time, both are there, and an `If` chooses. Rows so short that
the loop over them will be written out are read from the copy, too, but not interchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.dtypes import BOOL, INT64, DType
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    LoopKind,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.loops.dependence import UNROLL, is_unit
from symc.codegen.passes.loops.row_folds import RowFold, folds_of, pays
from symc.codegen.passes.loops.turned_sums import by_columns, sums_at
from symc.codegen.passes.strips import mining_of
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    map_kernels,
    names_in,
    rebuild,
    statements,
    written,
)
from symc.codegen.record import replace

ROWS = 64  # of the other matrix, for which a copy is made


def turn(program: Program) -> Program:
    """The program with short rows that are folded again and again read turned."""
    return map_kernels(program, _body)


def _body(kernel: Kernel) -> Block:
    names = {size.name for size in kernel.sizes}
    taken: set[str] = set()
    done: list[Stmt] = []
    for stmt in kernel.body:
        if isinstance(stmt, Let):
            names.add(stmt.var.name)
        if isinstance(stmt, Loop) and stmt.kind == "parallel" and stmt.cut is None:
            found = folds_of(stmt, frozenset(names), _read_only(kernel))
            if found:
                taken = taken or bound(kernel)
                done += _Turned(stmt, found, _dtypes(kernel, stmt), taken).block()
                continue
        done.append(stmt)
    return tuple(done) if taken else kernel.body


def _dtypes(kernel: Kernel, loop: Loop) -> dict[str, DType]:
    """Those of the buffers that are there in each iteration of a loop."""
    own = {stmt.buffer.name: stmt.buffer.dtype for stmt in loop.body if isinstance(stmt, Alloc)}
    return {param.name: param.dtype for param in kernel.params} | own


def _read_only(kernel: Kernel) -> frozenset[str]:
    return frozenset(param.name for param in kernel.params) - written(kernel.body)


class _Turned:
    """A loop over rows, on its way to blocks of them."""

    def __init__(
        self, rows: Loop, folds: Sequence[RowFold], dtypes: dict[str, DType], taken: set[str]
    ) -> None:
        self.rows = rows
        self.dtypes = dtypes  # of buffers
        self.folds = folds
        self.taken = taken
        self.count, self.length = folds[0].lengths
        self.pays = pays(rows.extent, self.count, self.length)
        self.chosen = Var(fresh("turned", taken), BOOL)
        self.copies: dict[str, Buffer] = {}

    def block(self) -> Block:
        """The loop over blocks, after what is chosen for all of them."""
        if isinstance(self.pays, Const):
            return (self.loop(),)
        return Let(self.chosen, self.pays), self.loop()

    def loop(self) -> Loop:
        """The loop over blocks."""
        replaced = {id(one.loop): self.either(one) for one in self.folds}
        body: list[Stmt] = []
        at = 0
        while at < len(self.rows.body):
            stmt = self.rows.body[at]
            count, sums = self.columnwise(at)
            body += sums or replaced.get(id(stmt), (stmt,))
            at += count
        number = Var(fresh("rows", self.taken), self.rows.var.dtype)
        place = Var(fresh(f"{self.rows.var.name}_in_rows", self.taken), self.rows.var.dtype)
        cut = mining_of(self.rows, number, ROWS)
        inner = cut.inner(place, "parallel", (Let(self.rows.var, cut.at(place)), *body))
        copies = [self.copy(name, buffer) for name, buffer in self.copies.items()]
        made = copies if isinstance(self.pays, Const) else [If(self.chosen, tuple(copies))]
        allocated = [Alloc(buffer) for buffer in self.copies.values()]
        return cut.loop("parallel", (*allocated, *made, inner), self.rows.note)

    def either(self, one: RowFold) -> Block:
        """What runs for a loop."""
        written_out = isinstance(self.length, Const) and self.length.value <= UNROLL
        made = (_SideBySide(self, one, {}).whole(),) if written_out else self.side_by_side(one)
        return made if isinstance(self.pays, Const) else (If(self.chosen, made, (one.loop,)),)

    def columnwise(self, at: int) -> tuple[int, Block]:
        """How many statements are sums for the columns of a copy, and what runs in their place."""
        found = sums_at(self.rows.body, at)
        made = None
        if found is not None:
            lengths = self.count, self.length
            made = by_columns(
                found[0], lengths, self.taken, lambda load: self.copies.get(load.buffer)
            )
        if found is None or made is None:
            return 1, ()
        count = found[1]
        if isinstance(self.pays, Const):
            return count, made
        return count, (If(self.chosen, made, tuple(self.rows.body[at : at + count])),)

    def copy(self, name: str, buffer: Buffer) -> Loop:
        """Makes a copy of a matrix."""
        row, column = Var(fresh("j", self.taken)), Var(fresh("k", self.taken))
        value = Load(name, add(mul(row, self.length), column), buffer.dtype)
        store = Store(buffer.name, add(mul(column, self.count), row), value)
        rows = Loop(row, self.count, "parallel", (store,))
        return Loop(column, self.length, "parallel", (rows,))

    def columns(self, load: Load) -> Buffer:
        """The copy of a matrix."""
        if load.buffer not in self.copies:
            size = mul(self.count, self.length)
            if not isinstance(self.pays, Const):
                size = Select(self.pays, size, const(0), INT64)
            name = fresh(f"{load.buffer}_columns", self.taken)
            self.copies[load.buffer] = Buffer(name, load.dtype, (size,), "local")
        return self.copies[load.buffer]

    def side_by_side(self, one: RowFold) -> Block:
        """The folds of all rows."""
        column = Var(fresh(one.inner.var.name, self.taken), one.inner.var.dtype)
        result = self.result(one)
        arrays = [] if result else [self.array(scalar) for scalar in one.scalars]
        places: dict[str, tuple[str, Expr]] = {
            scalar.name: (array.name, one.loop.var)
            for scalar, array in zip(one.scalars, arrays, strict=False)
        }
        if result:
            places[one.scalars[0].name] = (result.buffer, result.index)
        along = _SideBySide(self, one, places)
        folded = along.loop(one.inner.body, {one.inner.var.name: column}, "parallel")
        block: Block = (
            *[Alloc(array) for array in arrays],
            along.loop(one.first, {}, "parallel"),
            Loop(column, one.inner.extent, "serial", (folded,), one.inner.note),
        )
        return block if result else (*block, along.loop(one.last, {}, one.loop.kind))

    def array(self, scalar: Buffer) -> Buffer:
        """What has a scalar of each row."""
        name = fresh(f"{scalar.name}_row", self.taken)
        return Buffer(name, scalar.dtype, (self.count,), "local")

    def result(self, one: RowFold) -> Store | None:
        """Where the fold of a row ends, if that is all that is done with it."""
        match one.last, one.scalars:
            case [Store(buffer, index, Load(name, _, dtype)) as store], [Buffer(name=own)]:
                named = {let.var.name for let in one.names}
                plain = named.isdisjoint(names_in(index)) and is_unit(index, one.loop.var.name)
                same = name == own and self.dtypes.get(buffer) is dtype
                return store if plain and same else None
            case _:
                return None


class _SideBySide:
    """Loops over all rows in place of a loop that folds them one by one."""

    def __init__(self, turned: _Turned, one: RowFold, places: dict[str, tuple[str, Expr]]) -> None:
        self.turned = turned
        self.one = one
        self.places = places  # of what is a scalar for each row
        self.values: dict[str, Expr] = {}  # what stands for a name
        self.column: Expr | None = None

    def whole(self) -> Loop:
        """The loop as it was, but for what it reads."""
        loop = self.one.loop
        row = Var(fresh(loop.var.name, self.turned.taken), loop.var.dtype)
        self.values = {loop.var.name: row}
        return replace(loop, var=row, body=tuple(map(self.statement, loop.body)))

    def loop(self, body: Sequence[Stmt], names: Mapping[str, Expr], kind: LoopKind) -> Loop:
        """The statements of a row for all rows; `names` may have the column."""
        rows = self.one.loop.var
        row = Var(fresh(rows.name, self.turned.taken), rows.dtype)
        self.values = {**names, rows.name: row}
        self.column = names.get(self.one.inner.var.name)
        done = [self.statement(stmt) for stmt in (*_used(self.one.names, body), *body)]
        return Loop(row, self.turned.count, kind, tuple(done))

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement for the row of the loop."""
        match stmt:
            case Let(var, value):
                value = self.expr(value)
                self.values[var.name] = new = Var(fresh(var.name, self.turned.taken), var.dtype)
                return Let(new, value)
            case Store(name, index, value):
                return Store(*self.place(name, index), self.expr(value))
            case Accumulate(name, index, op, value):
                return Accumulate(*self.place(name, index), op, self.expr(value))
            case Alloc(buffer):
                named = replace(buffer, name=fresh(buffer.name, self.turned.taken))
                self.places[buffer.name] = (named.name, const(0))
                return Alloc(named)
            case Loop(var, body=body):
                self.column = Var(fresh(var.name, self.turned.taken), var.dtype)
                self.values[var.name] = self.column
                return replace(stmt, var=self.column, body=tuple(map(self.statement, body)))
            case _:
                raise AssertionError(stmt)

    def place(self, buffer: str, index: Expr) -> tuple[str, Expr]:
        """Where the element of a buffer is for the row of the loop."""
        name, at = self.places.get(buffer, (buffer, index))
        return name, self.expr(at)

    def expr(self, old: Expr) -> Expr:
        """An expression for the row of the loop."""
        match old:
            case Var(name):
                return self.values.get(name, old)
            case Load(buffer, index, dtype) if buffer in self.places:
                return Load(*self.place(buffer, index), dtype)
            case Load(_, _, dtype) if self.column is not None and self.one.turns(old):
                index = add(
                    mul(self.column, self.turned.count), self.values[self.one.loop.var.name]
                )
                return Load(self.turned.columns(old).name, index, dtype)
            case _:
                return rebuild(old, self.expr)


def _used(lets: Sequence[Let], body: Sequence[Stmt]) -> list[Let]:
    """The names that statements use, and those that these use."""
    wanted = {
        name for stmt in statements(tuple(body)) for e in expressions(stmt) for name in names_in(e)
    }
    used: list[Let] = []
    for let in reversed(lets):
        if let.var.name in wanted:
            used.insert(0, let)
            wanted |= names_in(let.value)
    return used
