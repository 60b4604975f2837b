"""read_before: a step of a loop reads of other rows before it writes its own.

The steps of ``d[i, j] = min(d[i, j], d[i, k] + d[k, j])`` with a counter j seem to depend on each
other, as nobody knows whether i is k, and d[i, k] is one of the elements that are written. But the
row k is another one, or has the very elements that a step writes itself; and d[i, k] has one value
up to the step in which j is k, and one after it. Both are known before all steps:

    if n >= 16 and ((k - i)*m == 0 or abs((k - i)*m) >= n):
      alloc row: float64[n]
      for j in parallel(n): row[j] = d[k*m + j]
      first = d[i*m + k]; second = what step k makes of it, if there is one
      for j in parallel(n): d[i*m + j] = min(d[i*m + j], select(j <= k, first, second) + row[j])
    else:
      for j in serial(n): ... as before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Const,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Select,
    Stmt,
    Store,
    Var,
    binary,
    const,
    sub,
)
from symc.codegen.passes.walk import (
    Block,
    fresh,
    index_names,
    loads_of,
    nodes,
    rebuild,
    substitute,
)
from symc.codegen.record import replace
from symc.codegen.verify.polynomials import Polynomial, added, by, polynomial

FEWEST = 16  # steps: fewer are done one by one
ROWS = 2  # other rows that are read
_ZERO = const(0)


def read_before(loop: Loop, taken: set[str]) -> Block | None:
    """The statements in place of such a loop; None for another one."""
    *named, last = loop.body
    if isinstance(last, Accumulate):
        old = Load(last.buffer, last.index, last.value.dtype)
        last = Store(last.buffer, last.index, binary(last.op, old, last.value))
        loop = replace(loop, body=(*named, last))
    if not isinstance(last, Store) or not all(isinstance(stmt, Let) for stmt in named):
        return None
    loads = [load for stmt in loop.body for load in loads_of(stmt) if load.buffer == last.buffer]
    found = _ReadBefore(loop, last, taken)
    return found.statements() if all(map(found.is_understood, loads)) and found.rows else None


class _ReadBefore:
    """What a loop reads of the buffer that it writes, `store` its only statement that does."""

    def __init__(self, loop: Loop, store: Store, taken: set[str]) -> None:
        self.loop, self.store, self.taken = loop, store, taken
        self.names = index_names(loop.body)
        self.dtype = store.value.dtype
        self.rows: dict[Expr, Expr] = {}
        """Indexes that move as the one that is written does, each with how far it is from that."""
        self.fixed: Expr | None = None
        """The index that is read in all steps."""

    def at(self, index: Expr, step: Expr) -> Expr:
        """An index in a step, names written out."""
        return substitute(substitute(index, self.names), {self.loop.var.name: step})

    def is_understood(self, load: Load) -> bool:
        """Whether an element is that which is written, or one of another row or of all steps."""
        place, own = (
            polynomial(substitute(index, self.names)) for index in (load.index, self.store.index)
        )
        if any(isinstance(n, Load) for key in (*place, *own) for part in key for n in nodes(part)):
            return False
        moved, written = by(place, self.loop.var), by(own, self.loop.var)
        if moved is None or written is None or written[0] != {(): 1}:
            return False
        far = added(place, own, -1)
        if not far:
            return True
        first = self.at(load.index, _ZERO)
        if not moved[0]:
            if self.fixed is None:
                self.fixed = first
            return self.fixed == first
        if moved[0] != {(): 1} or not self.is_rows(far) or len(self.rows) >= ROWS:
            return False
        self.rows[load.index] = sub(first, self.at(self.store.index, _ZERO))
        return True

    def is_rows(self, far: Polynomial) -> bool:
        """Whether a distance is likely a number of rows, of unknown length or of a known one."""
        extent = self.loop.extent
        longest = extent.value if isinstance(extent, Const) else None
        return all(
            len(key) > 1 or (longest is not None and key and abs(factor) >= longest)
            for key, factor in far.items()
        )

    # --- the statements ---------------------------------------------------------------------------

    def statements(self) -> Block:
        """Those of both ways, and the condition."""
        extent = self.loop.extent
        far: list[Let] = []
        apart: Expr = binary("ge", extent, const(FEWEST))
        for distance in self.rows.values():
            far.append(Let(Var(fresh("far", self.taken)), distance))
            var = far[-1].var
            above = binary("or", binary("ge", var, extent), binary("eq", var, _ZERO))
            below = binary("le", var, binary("sub", _ZERO, extent))
            apart = binary("and", apart, binary("or", above, below))
        serial = Loop(self.loop.var, extent, "serial", self.loop.body, self.loop.note)
        return (*far, If(apart, tuple(self._together()), (serial,)))

    def _together(self) -> list[Stmt]:
        """The steps side by side."""
        extent, copies = self.loop.extent, dict[Expr, str]()
        made: list[Stmt] = []
        for index in self.rows:
            copies[index] = fresh("row", self.taken)
            made.append(Alloc(Buffer(copies[index], self.dtype, (extent,), "local")))
        for index, copy in copies.items():
            step = Var(fresh(self.loop.var.name, self.taken))
            value = Load(self.store.buffer, self.at(index, step), self.dtype)
            made.append(Loop(step, extent, "parallel", (Store(copy, step, value),)))
        chosen: Callable[[Expr], Expr] | None = None
        if self.fixed is not None:
            meets, first, second = (fresh(n, self.taken) for n in ("meets", "first", "second"))
            one, other = (Load(name, _ZERO, self.dtype) for name in (first, second))
            made += [
                Let(Var(meets), sub(self.fixed, self.at(self.store.index, _ZERO))),
                *(Alloc(Buffer(name, self.dtype, (), "local")) for name in (first, second)),
                Store(first, _ZERO, Load(self.store.buffer, self.fixed, self.dtype)),
                Store(second, _ZERO, one),
            ]
            is_one = binary("and", binary("ge", Var(meets), _ZERO),
                            binary("lt", Var(meets), extent))  # fmt: skip
            *named, last = self._step(Var(meets), copies, lambda step: one)
            assert isinstance(last, Store)
            made.append(If(is_one, (*named, Store(second, _ZERO, last.value))))

            def either(step: Expr) -> Expr:
                return Select(Binary("le", step, Var(meets), BOOL), one, other, self.dtype)

            chosen = either
        step = Var(fresh(self.loop.var.name, self.taken))
        body = tuple(self._step(step, copies, chosen))
        made.append(Loop(step, extent, "parallel", body, self.loop.note))
        return made

    def _step(
        self, step: Expr, copies: Mapping[Expr, str], chosen: Callable[[Expr], Expr] | None
    ) -> list[Stmt]:
        """The statements of a step, with what was read before."""
        names: dict[str, Expr] = {self.loop.var.name: step}

        def visit(expr: Expr) -> Expr:
            if isinstance(expr, Var):
                return names.get(expr.name, expr)
            if isinstance(expr, Load) and expr.buffer == self.store.buffer:
                if expr.index in copies:
                    return Load(copies[expr.index], step, expr.dtype)
                if chosen is not None and self.at(expr.index, _ZERO) == self.fixed:
                    return chosen(step)
            return rebuild(expr, visit)

        made: list[Stmt] = []
        for stmt in self.loop.body:
            if isinstance(stmt, Let):
                new = Var(fresh(stmt.var.name, self.taken), stmt.var.dtype)
                made.append(Let(new, visit(stmt.value)))
                names[stmt.var.name] = new
            elif isinstance(stmt, Store):
                made.append(Store(stmt.buffer, visit(stmt.index), visit(stmt.value)))
        return made
