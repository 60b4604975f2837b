"""lanes: long vector loops compute with numbers of one width.

gcc fills vector registers with the narrowest numbers of a loop. Beside one register of bools stand
eight of doubles, so every operation is written out eight times: of sixty with some exponentials in
them it makes 250 calls, which takes it seconds and leaves no register free. Therefore bools and
other narrow numbers are widened in a short loop before a long one, and narrowed in one after it, a
strip of elements at a time.

    for i in vector(n): small[i] = f(x[i]) > 0

    for strip in parallel((n + 127) // 128):
      let first = strip*128
      let length = min(128, n - first)
      alloc small_wide: int64[128]
      for k in vector(length): let i = first + k; small_wide[k] = select(f(x[i]) > 0, 1, 0)
      for k in vector(length): let i = first + k; small[i] = small_wide[k] != 0
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.cost.loops import work
from symc.codegen.dtypes import BOOL, INT32, INT64, DType
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Cast,
    Const,
    Expr,
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
    const,
)
from symc.codegen.passes.loops.dependence import accesses
from symc.codegen.passes.strips import mining_of
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    index_names,
    loads_of,
    map_kernels,
    names_in,
    rebuild,
    rebuild_statement,
    statements,
    substitute,
)
from symc.codegen.record import record

STRIP = 128  # elements at a time: as many doubles are the longest array that stands on the stack
LONG = 256  # operations of all copies of a body, above which it is long
RATIO = 4  # copies that are too many


def lanes(program: Program) -> Program:
    """The program with long vector loops that read and write numbers of one width."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    vector = [s for s in statements(kernel.body) if isinstance(s, Loop) and s.kind == "vector"]
    if not any(_copies(loop) >= RATIO for loop in vector):
        return kernel.body
    taken = bound(kernel)

    def block(body: Block) -> Block:
        return tuple([part for stmt in body for part in statement(stmt)])

    def statement(stmt: Stmt) -> Block:
        if isinstance(stmt, Loop) and stmt.kind == "vector":
            return _in_strips(stmt, taken) if _is_long(stmt) else (stmt,)
        return (rebuild_statement(stmt, lambda expr: expr, block),)

    return block(kernel.body)


def _widths(loop: Loop) -> set[int]:
    """How many bytes the elements have that a loop reads and writes."""
    widths: set[int] = set()
    for stmt in loop.body:
        widths |= {load.dtype.bytes for load in loads_of(stmt)}
        if isinstance(stmt, Store | Accumulate):
            widths.add(stmt.value.dtype.bytes)
    return widths


def _copies(loop: Loop) -> int:
    """How often each operation on the widest numbers is written out."""
    widths = _widths(loop)
    return max(widths) // min(widths) if widths else 1


def _is_long(loop: Loop) -> bool:
    copies = _copies(loop)
    if copies < RATIO or not all(isinstance(s, Let | Store | Accumulate) for s in loop.body):
        return False
    cost = work(Loop(loop.var, const(1), loop.kind, loop.body))
    return isinstance(cost, Const) and int(cost.value) * copies > LONG


@record
class _Row:
    """Narrow elements in the width of the loop's lanes."""

    buffer: Buffer
    index: Expr  # of the narrow element
    narrow: str
    dtype: DType  # of the narrow element


class _Staging:
    """The rows of one loop. `k` counts the elements of a strip."""

    def __init__(self, loop: Loop, k: Var, taken: set[str]) -> None:
        self.loop = loop
        self.k = k
        self.width = max(_widths(loop))
        self.taken = taken
        self.names: Mapping[str, Expr] = index_names(loop.body)
        self.computed = {stmt.var.name for stmt in loop.body if isinstance(stmt, Let)}
        self.found = accesses(loop)
        self.read: dict[Expr, _Row] = {}
        self.written: list[_Row] = []

    def body(self) -> Block:
        """The loop's statements, over rows instead of narrow elements."""
        return tuple([self.statement(stmt) for stmt in self.loop.body])

    def statement(self, stmt: Stmt) -> Stmt:
        if isinstance(stmt, Store) and self.is_narrow(stmt.value.dtype):
            value = self.wide(stmt.value)
            index = self.place(stmt.index)
            if value is not None and index is not None and stmt.buffer not in self.found.reads:
                row = self.row(value.dtype, index, stmt.buffer, stmt.value.dtype)
                self.written.append(row)
                return Store(row.buffer.name, self.k, self.visit(value))
        return rebuild_statement(stmt, self.visit, lambda inner: inner)

    def visit(self, expr: Expr) -> Expr:
        """The expression with rows in the place of narrow elements."""
        match expr:
            case Load(dtype=dtype) if dtype is BOOL and self.is_narrow(dtype):
                row = self.staged(expr, expr)
                return expr if row is None else Binary("ne", self.element(row), _zero(row), BOOL)
            case Cast(Load() as load, dtype) if (
                self.is_narrow(load.dtype) and dtype.bytes == self.width
            ):
                row = self.staged(expr, load)
                return expr if row is None else self.element(row)
            case _:
                return rebuild(expr, self.visit)

    def is_narrow(self, dtype: DType) -> bool:
        return dtype.bytes * RATIO <= self.width

    def place(self, index: Expr) -> Expr | None:
        """An index in the loop's variable alone, or None if memory or a computed number says it."""
        index = substitute(index, self.names)
        if names_in(index) & self.computed or loads_of(Let(Var("index"), index)):
            return None
        return index

    def staged(self, expr: Expr, load: Load) -> _Row | None:
        """The row for a narrow element that is read, or None if it has none."""
        known = self.read.get(expr)
        if known is not None:
            return known
        index = self.place(load.index)
        if index is None or load.buffer in self.found.writes:
            return None
        dtype = self.mask if expr.dtype is BOOL else expr.dtype
        row = self.read[expr] = self.row(dtype, index, load.buffer, load.dtype)
        return row

    def wide(self, value: Expr) -> Expr | None:
        """A narrow value that is written, in the width of the lanes."""
        match value:
            case Cast(x) if x.dtype.bytes == self.width:
                return x
            case _ if value.dtype is BOOL:
                one, zero = (Const(n, self.mask) for n in (1, 0))
                return Select(value, one, zero, self.mask)
            case _:
                return None

    @property
    def mask(self) -> DType:
        """The dtype of bools in the lanes."""
        return INT64 if self.width == INT64.bytes else INT32

    def row(self, dtype: DType, index: Expr, narrow: str, of: DType) -> _Row:
        buffer = Buffer(fresh(f"{narrow}_wide", self.taken), dtype, (const(STRIP),), "local")
        return _Row(buffer, index, narrow, of)

    def element(self, row: _Row) -> Load:
        return Load(row.buffer.name, self.k, row.buffer.dtype)

    def before(self) -> Block:
        """The statements that fill the rows that are read."""
        return tuple(
            [
                Store(
                    row.buffer.name, self.k, _widened(Load(row.narrow, row.index, row.dtype), row)
                )
                for row in self.read.values()
            ]
        )

    def after(self) -> Block:
        """The statements that store the values of the rows."""
        return tuple(
            [
                Store(row.narrow, row.index, _narrowed(self.element(row), row))
                for row in self.written
            ]
        )


def _widened(load: Load, row: _Row) -> Expr:
    dtype = row.buffer.dtype
    if row.dtype is BOOL:
        return Select(load, Const(1, dtype), _zero(row), dtype)
    return Cast(load, dtype)


def _narrowed(element: Load, row: _Row) -> Expr:
    if row.dtype is BOOL:
        return Binary("ne", element, _zero(row), BOOL)
    return Cast(element, row.dtype)


def _zero(row: _Row) -> Const:
    return Const(0, row.buffer.dtype)


def _in_strips(loop: Loop, taken: set[str]) -> Block:
    """The loop over strips of it, or itself if it has nothing to widen."""
    number, first, length, k = (
        Var(fresh(name, taken))
        for name in ("strip", "first", "length", f"{loop.var.name}_in_strip")
    )
    cut = mining_of(loop, number, STRIP, first)
    staging = _Staging(loop, k, taken)
    body = staging.body()
    rows = [*staging.read.values(), *staging.written]
    if not rows:
        return (loop,)

    def over(statements: Block) -> Block:
        if not statements:
            return ()
        is_own = statements is body
        var = loop.var if is_own else Var(fresh(loop.var.name, taken))
        place = k if is_own else Var(fresh(k.name, taken))
        names = {loop.var.name: var, k.name: place}
        moved = [rebuild_statement(s, lambda e: substitute(e, names), _same) for s in statements]
        name = Let(var, cut.at(place))
        return (Loop(place, length, "vector", (name, *moved), cut=cut.within),)

    found = staging.found
    meet = any(not found.has_one_place(buffer) for buffer in found.accumulates)
    inside: Block = (
        cut.let,
        Let(length, cut.count),
        *[Alloc(row.buffer) for row in rows],
        *over(staging.before()),
        *over(body),
        *over(staging.after()),
    )
    kind: LoopKind = "serial" if meet else "parallel"
    return (cut.loop(kind, inside, loop.note),)


def _same(block: Block) -> Block:
    return block
