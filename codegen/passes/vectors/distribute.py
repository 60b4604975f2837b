"""distribute: a loop whose body is very long becomes several loops, one after another.

Allocating registers takes gcc time that grows with the square of a body: a loop of 4,000 operations
took it eleven times as long as one of 1,000, and it gave up vector registers altogether. Therefore
a long body is cut into parts (loop distribution), each a loop of its own over a strip of
iterations, and values that later parts need are kept in rows (scalar expansion). A strip is so
short that the rows stay in the cache, and a row that is not needed any more is used again.

    for i in vector(n): a = f(x[i]); ...; b = g(a, x[i]); y[i] = h(a, b)

    for strip in parallel((n + 15) // 16):
      let first = strip*16
      let length = min(16, n - first)
      alloc rows: float64[48]
      for k in vector(length): let i = first + k; rows[k] = x[i]
      for k in serial(16 - length): rows[length + k] = rows[0]
      for k in vector(16): let v = rows[k]; let a = f(v); rows[16 + k] = a; ...
      for k in vector(16): let b = g(rows[16 + k], rows[k]); rows[32 + k] = h(rows[16 + k], b)
      for k in vector(length): let i = first + k; y[i] = rows[32 + k]

That is the same computation wherever iterations do not depend on each other, as those of vector and
parallel loops. Loops that compute always have the iterations of a full strip, with the elements of
its first one again beyond the end: else gcc would write each of them twice, once more for the
iterations that are too few for a vector, in twice the time.
"""

from __future__ import annotations

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    Binary,
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
)
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.loops.dependence import accesses
from symc.codegen.passes.strips import mining_of
from symc.codegen.passes.vectors.rows import LoopRows, Portion
from symc.codegen.passes.walk import (
    Block,
    bound,
    collect,
    fresh,
    map_kernels,
    parts,
    rebuild,
    rebuild_statement,
    statements,
    written,
)
from symc.codegen.record import record

LONG = 1500  # operations of a body, above which it is cut
PART = 250  # operations of a part


def distribute(program: Program, longest: int = LONG, part: int = PART) -> Program:
    """The program with bodies of more than `longest` operations cut into parts of about `part`."""
    return map_kernels(program, lambda kernel: _kernel(kernel, longest, part))


def _kernel(kernel: Kernel, longest: int, part: int) -> Block:
    if sum(map(weight, statements(kernel.body))) <= longest:
        return kernel.body
    taken = bound(kernel)

    def block(body: Block) -> Block:
        return tuple([statement(stmt) for stmt in body])

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop) and _is_long(stmt, longest):
            return _Distribution(stmt, part, taken).loop()
        return rebuild_statement(stmt, _itself, block)

    return block(kernel.body)


def _itself(expr: Expr) -> Expr:
    return expr


def _is_long(loop: Loop, longest: int) -> bool:
    """Whether a loop is to be cut: its iterations are independent, its body long and plain."""
    return (
        loop.kind in ("vector", "parallel")
        and all(isinstance(stmt, Let | Store | Accumulate) for stmt in loop.body)
        and sum(map(weight, loop.body)) > longest
    )


@record(frozen=False)
class _Part:
    """Statements of an iteration, in the order of their loops."""

    reads: list[Stmt]
    """Elements that are read, and what may only be computed where they are."""
    values: list[Stmt]
    writes: list[Stmt]
    computed: set[str]
    """The names of the values."""
    stored: set[str]
    """The buffers that it writes."""
    weight: int = 0


class _Distribution:
    """One loop, on its way to several."""

    def __init__(self, loop: Loop, part: int, taken: set[str]) -> None:
        self.whole = loop
        self.most = part
        self.taken = taken
        self.stored = written(loop.body)
        self.bound = {stmt.var.name for stmt in loop.body if isinstance(stmt, Let)}
        self.bound.add(loop.var.name)
        self.indices: dict[str, Let] = {}  # integers that follow from the loop's variable
        self.elements: dict[Load, Var] = {}  # those that no statement changes
        self.parts = [_empty()]

    def loop(self) -> Loop:
        """The loop over strips."""
        for stmt in self.whole.body:
            if self.parts[-1].weight >= self.most:
                self.parts.append(_empty())
            self.parts[-1].weight += weight(stmt)
            self.statement(stmt)
        portions: list[Portion] = []
        for part in self.parts:
            portions += [
                Portion(tuple(part.reads), is_full=False),
                Portion(tuple(part.values), is_full=True),
                Portion(tuple(part.writes), is_full=False),
            ]
        number, first, length = (
            Var(fresh(name, self.taken)) for name in ("strip", "first", "length")
        )
        used = [portion for portion in portions if portion.block]
        rows = LoopRows(self.whole, used, self.indices, self.taken)
        cut = mining_of(self.whole, number, rows.strip, first)
        inner = [cut.let, Let(length, cut.count), *rows.loops(cut, length)]
        found = accesses(self.whole)
        meet = any(not found.has_one_place(buffer) for buffer in found.accumulates)
        return cut.loop("serial" if meet else "parallel", tuple(inner), self.whole.note)

    def statement(self, stmt: Stmt) -> None:
        """Put a statement into the present part, or begin another."""
        match stmt:
            case Let(var, value):
                if var.dtype is INT64 and self.is_index(value):
                    self.indices[var.name] = stmt
                else:
                    self.let(var, value)
            case Store(buffer, index, value):
                self.write(buffer, Store(buffer, index, self.named(value)))
            case Accumulate(buffer, index, op, value, atomic):
                self.write(buffer, Accumulate(buffer, index, op, self.named(value), atomic))
            case _:
                raise AssertionError(stmt)

    def is_index(self, value: Expr) -> bool:
        """Whether this follows from the loop's variable and names from outside it."""
        names: list[str] = []
        loads: list[Load] = []
        collect(value, names, loads)
        known = self.indices.keys() | {self.whole.var.name}
        return not loads and all(name in known or name not in self.bound for name in names)

    def write(self, buffer: str, stmt: Stmt) -> None:
        """What is written, after the values of its part."""
        self.parts[-1].writes.append(stmt)
        self.parts[-1].stored.add(buffer)

    def named(self, value: Expr) -> Expr:
        """A value that is written: a name, or a constant."""
        if isinstance(value, Var | Const):
            return value
        var = Var(fresh("value", self.taken), value.dtype)
        self.let(var, value)
        return var

    def let(self, var: Var, value: Expr) -> None:
        """A value, with the elements in it read before."""
        self.bound.add(var.name)
        if self.guards(value, guarded=False):
            self.read(var, value)
            return
        if isinstance(value, Load) and self.varies(value):
            if value.buffer not in self.stored:
                self.elements[value] = var
            self.read(var, value)
            return
        value = self.without_loads(value)
        part = self.parts[-1]
        part.values.append(Let(var, value))
        part.computed.add(var.name)

    def varies(self, load: Load) -> bool:
        """Whether this is an element of an iteration, or of a buffer that the loop changes."""
        return load.buffer in self.stored or not self.bound.isdisjoint(_names_with_loads(load))

    def guards(self, expr: Expr, *, guarded: bool) -> bool:
        """Whether an element is read on a condition: it may not be there otherwise."""
        match expr:
            case Load() if self.varies(expr):
                return guarded or self.guards(expr.index, guarded=guarded)
            case Select(condition, then, otherwise):
                return self.guards(condition, guarded=guarded) or any(
                    self.guards(side, guarded=True) for side in (then, otherwise)
                )
            case Binary("and" | "or", left, right):
                return self.guards(left, guarded=guarded) or self.guards(right, guarded=True)
            case _:
                return any(self.guards(part, guarded=guarded) for part in parts(expr))

    def without_loads(self, expr: Expr) -> Expr:
        """The expression with names for the elements in it."""
        if not isinstance(expr, Load) or not self.varies(expr):
            return rebuild(expr, self.without_loads)
        known = self.elements.get(expr)
        if known is not None:
            return known
        var = Var(fresh("element", self.taken), expr.dtype)
        self.bound.add(var.name)
        if expr.buffer not in self.stored:
            self.elements[expr] = var
        self.read(var, expr)
        return var

    def read(self, var: Var, value: Expr) -> None:
        """A value that is computed before the others of its part, so it may need none of them."""
        part = self.parts[-1]
        names: list[str] = []
        loads: list[Load] = []
        collect(value, names, loads)
        if not part.computed.isdisjoint(names) or any(load.buffer in part.stored for load in loads):
            part = _empty()
            self.parts.append(part)
        part.reads.append(Let(var, value))


def _empty() -> _Part:
    return _Part([], [], [], set(), set())


def _names_with_loads(load: Load) -> list[str]:
    names: list[str] = []
    collect(load, names, [])
    return names
