"""Rows: where the values of one loop wait for another, when a body is cut into several loops.

Scalar expansion: a name of one iteration becomes a row of a local array, with an element for each
iteration of a strip. Rows are given by a linear scan: each from the loop that computes the value to
the last that needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.dtypes import BOOL, INT64, DType
from symc.codegen.ir import (
    Alloc,
    Binary,
    Buffer,
    Const,
    Expr,
    Let,
    Load,
    Loop,
    LoopKind,
    Select,
    Stmt,
    Store,
    Var,
    add,
    const,
    mul,
    sub,
)
from symc.codegen.passes.strips import StripMining
from symc.codegen.passes.vectors.vectorize import has_vector_form
from symc.codegen.passes.walk import (
    Block,
    collect,
    expressions,
    fresh,
    rebuild_statement,
    substitute,
)
from symc.codegen.record import record

STRIP = 16  # iterations: some thousands of rows stay in the cache, and short loops waste little


@record
class Portion:
    """Statements that get a loop of their own: over a full strip, or the iterations there are."""

    block: Block
    is_full: bool

    @property
    def lets(self) -> list[Let]:
        """The values it computes."""
        return [stmt for stmt in self.block if isinstance(stmt, Let)]


@record
class _ValueRow:
    """Where a value waits for later loops."""

    buffer: str
    number: int
    value: Var
    dtype: DType  # of the row: bools are as wide as numbers, which gcc's vectors go by


class LoopRows:
    """The rows of one loop that becomes several: `portions`, in order.

    `indices` are the values that each loop computes for itself.
    """

    def __init__(
        self, loop: Loop, portions: Sequence[Portion], indices: Mapping[str, Let], taken: set[str]
    ) -> None:
        self.variable = loop.var
        self.portions = portions
        self.indices = indices
        self.taken = taken
        self.rows: dict[str, _ValueRow] = {}
        counts = self._scan(self._last_uses())
        known = int(loop.extent.value) if isinstance(loop.extent, Const) else 0
        self.strip = known if 0 < known < STRIP else STRIP
        self.is_even = known > 0 and known % self.strip == 0
        self.buffers = [
            Buffer(name, dtype, (const(count * self.strip),), "local")
            for (dtype, name), count in counts.items()
        ]

    def _last_uses(self) -> dict[str, int]:
        """For each value that another loop than its own needs, the last of these."""
        home = {let.var.name: n for n, portion in enumerate(self.portions) for let in portion.lets}
        last: dict[str, int] = {}
        for number, portion in enumerate(self.portions):
            for stmt in portion.block:
                for name in self._needs(stmt):
                    if home.get(name, number) < number:
                        last[name] = number
        return last

    def _needs(self, stmt: Stmt) -> set[str]:
        """The names a statement needs, through indices, too."""
        found: set[str] = set()
        pending = _names(stmt)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                if name in self.indices:
                    pending += _names(self.indices[name])
        return found

    def _scan(self, last: Mapping[str, int]) -> dict[tuple[DType, str], int]:
        """Give out the rows; how many there are of each dtype, with the name of their buffer."""
        names: dict[DType, str] = {}
        counts: dict[tuple[DType, str], int] = {}
        free: dict[DType, list[int]] = {}
        ending: dict[int, list[_ValueRow]] = {}
        for number, portion in enumerate(self.portions):
            for let in portion.lets:
                if let.var.name not in last:
                    continue
                dtype = INT64 if let.var.dtype is BOOL else let.var.dtype
                if dtype not in names:
                    names[dtype] = fresh("rows", self.taken)
                    free[dtype] = []
                key = (dtype, names[dtype])
                if not free[dtype]:
                    free[dtype].append(counts.get(key, 0))
                    counts[key] = counts.get(key, 0) + 1
                row = _ValueRow(names[dtype], free[dtype].pop(), let.var, dtype)
                self.rows[let.var.name] = row
                ending.setdefault(last[let.var.name], []).append(row)
            for row in ending.get(number, ()):
                free[row.dtype].append(row.number)
        return counts

    def loops(self, cut: StripMining, length: Var) -> list[Stmt]:
        """The loops of a strip of `length` iterations, with the rows that they need."""
        found: list[Stmt] = [Alloc(buffer) for buffer in self.buffers]
        for portion in self.portions:
            k = Var(fresh(f"{self.variable.name}_in_strip", self.taken))
            iteration = cut.at(k)
            if portion.is_full and not self.is_even:  # beyond the end, a divisor may be zero
                last = sub(cut.extent, Const(1, cut.extent.dtype))
                iteration = Binary("min", iteration, last, last.dtype)
            body = self._body(portion, iteration, k)
            kind: LoopKind = "vector" if has_vector_form(body) else "serial"
            if portion.is_full:
                found.append(Loop(k, const(self.strip), kind, body))
                continue
            found.append(Loop(k, length, kind, body, cut=cut.within))
            kept = [let.var.name for let in portion.lets if let.var.name in self.rows]
            if kept and not self.is_even:
                found.append(self._padding([self.rows[name] for name in kept], length))
        return found

    def _padding(self, rows: Sequence[_ValueRow], length: Var) -> Loop:
        """The first elements once more, for the iterations that a full strip would have."""
        k = Var(fresh(f"{self.variable.name}_beyond", self.taken))
        stores = [
            Store(
                row.buffer,
                self._index(row, add(length, k)),
                Load(row.buffer, self._index(row, const(0)), row.dtype),
            )
            for row in rows
        ]
        return Loop(k, sub(const(self.strip), length), "serial", tuple(stores))

    def _body(self, portion: Portion, iteration: Expr, k: Var) -> Block:
        """The statements of a loop, between rows."""
        body: list[Stmt] = []
        names: dict[str, Expr] = {}
        here = {let.var.name for let in portion.lets}

        def need(name: str) -> None:
            """Declare a name of an earlier loop, or of the whole body."""
            if name in names or name in here:
                return
            if name == self.variable.name:
                self._define(name, iteration, self.variable.dtype, names, body)
            elif name in self.indices:
                let = self.indices[name]
                for inner in _names(let):
                    need(inner)
                self._define(name, substitute(let.value, names), let.var.dtype, names, body)
            elif name in self.rows:
                row = self.rows[name]
                self._define(name, self._read(row, k), row.value.dtype, names, body)

        for stmt in portion.block:
            for name in _names(stmt):
                need(name)
            body.append(rebuild_statement(stmt, lambda expr: substitute(expr, names), _same))
            if isinstance(stmt, Let) and stmt.var.name in self.rows:
                row = self.rows[stmt.var.name]
                body.append(Store(row.buffer, self._index(row, k), _stored(row)))
        return tuple(body)

    def _define(
        self, name: str, value: Expr, dtype: DType, names: dict[str, Expr], body: list[Stmt]
    ) -> None:
        """A name of one loop for a value that others have by other names."""
        var = Var(fresh(name, self.taken), dtype)
        body.append(Let(var, value))
        names[name] = var

    def _index(self, row: _ValueRow, place: Expr) -> Expr:
        return add(mul(const(row.number), const(self.strip)), place)

    def _read(self, row: _ValueRow, k: Var) -> Expr:
        load = Load(row.buffer, self._index(row, k), row.dtype)
        if row.value.dtype is BOOL:
            return Binary("ne", load, Const(0, row.dtype), BOOL)
        return load


def _stored(row: _ValueRow) -> Expr:
    if row.value.dtype is BOOL:
        return Select(row.value, Const(1, row.dtype), Const(0, row.dtype), row.dtype)
    return row.value


def _names(stmt: Stmt) -> list[str]:
    """The names that a statement uses."""
    names: list[str] = []
    for expr in expressions(stmt):
        collect(expr, names, [])
    return names


def _same(block: Block) -> Block:
    return block
