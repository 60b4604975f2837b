"""interleave: tables that one loop adds to at the same places lie side by side while it does.

In a loop of `packs` the elements of one place in two tables are in one register at a time if they
are neighbours in memory: half as many loads, additions and stores, which are most of such a loop.

    for i in n: let v = y[i] - a[k[i]]; one[k[i]] += v; other[k[i]] += v*x[i]

    alloc pairs: float64[2*length]
    for j in length: pairs[2*j] = one[j]; pairs[2*j + 1] = other[j]
    for i in n: let v = y[i] - a[k[i]]; pairs[2*k[i]] += v; pairs[2*k[i] + 1] += v*x[i]
    for j in length: one[j] = pairs[2*j]; other[j] = pairs[2*j + 1]

That pays where the loop has many times as many iterations as the tables have elements. Where only
a call knows how many iterations there are, short tables are moved, which takes little in any case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from symc.codegen.blocks import every_step
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Const,
    Expr,
    Kernel,
    Launch,
    Load,
    Loop,
    Program,
    Stmt,
    Store,
    Strips,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.vectors.packs import PackForm, local_scalars, possible_form
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    loads_of,
    rebuild_statement,
    statements,
    with_body,
)
from symc.codegen.record import record, replace

TIMES = 4  # iterations for each element of a table, from which moving it pays
SHORT = 256  # elements of a table that is moved whatever the iterations: a tenth of a microsecond


def interleave(program: Program) -> Program:
    """The program with the tables of each loop of scatters in pairs."""
    lengths: dict[str, Mapping[str, int]] | None = None
    kernels: list[Kernel] = []
    for kernel in program.kernels:
        if not _may_gain(kernel):
            kernels.append(kernel)
            continue
        lengths = _lengths(program) if lengths is None else lengths
        body = _Interleaving(kernel, lengths.get(kernel.name, {})).body()
        kernels.append(kernel if body == kernel.body else with_body(kernel, body))
    return replace(program, kernels=tuple(kernels))


def _may_gain(kernel: Kernel) -> bool:
    """Whether a kernel adds at one place twice."""
    added = [stmt.index for stmt in statements(kernel.body) if isinstance(stmt, Accumulate)]
    return any(count > 1 and not isinstance(i, Const) for i, count in Counter(added).items())


def _lengths(program: Program) -> dict[str, Mapping[str, int]]:
    """The lengths of what each kernel is given, where all launches agree on a number."""
    whole = {buffer.name: _product(buffer) for buffer in program.buffers}
    params = {kernel.name: [param.name for param in kernel.params] for kernel in program.kernels}
    found: dict[str, dict[str, int | None]] = {}
    for step in every_step(program.steps):
        if not isinstance(step, Launch):
            continue
        known = found.setdefault(step.kernel, {})
        for param, buffer in zip(params[step.kernel], step.buffers, strict=True):
            length = whole[buffer]
            if known.setdefault(param, length) != length:
                known[param] = None
    return {
        kernel: {name: length for name, length in known.items() if length is not None}
        for kernel, known in found.items()
    }


def _product(buffer: Buffer) -> int | None:
    """How many elements a buffer has, if that is a number."""
    count = 1
    for length in buffer.shape:
        if not isinstance(length, Const):
            return None
        count *= int(length.value)
    return count


@record
class _TablePair:
    """Two tables that are one, with the name of that."""

    one: str
    other: str
    table: Buffer


class _Interleaving:
    """One kernel on the way to its pairs."""

    def __init__(self, kernel: Kernel, lengths: Mapping[str, int]) -> None:
        self.kernel = kernel
        self.lengths = lengths
        self.scalars = local_scalars(kernel)
        self.taken = bound(kernel)

    def body(self) -> Block:
        """The statements, each loop with the tables that it adds to moved before and after it."""
        return tuple([part for stmt in self.kernel.body for part in self.around(stmt)])

    def around(self, stmt: Stmt) -> Block:
        """A statement of a kernel, with what pairs need before and after it."""
        if not isinstance(stmt, Loop):
            return (stmt,)
        found = [loop for loop in _loops(stmt) if not _has_loops(loop)]
        pairs = [pair for loop in found for pair in self.pairs(stmt, loop)]
        if not pairs:
            return (stmt,)
        moved = _moved(stmt, pairs)
        before = [part for pair in pairs for part in self.filled(pair)]
        return (*before, moved, *[self.emptied(pair) for pair in pairs])

    def pairs(self, whole: Loop, loop: Loop) -> list[_TablePair]:
        """The pairs of tables of a loop inside a statement of the kernel."""
        form, count = possible_form(loop, self.scalars), _iterations(whole, loop)
        if form is None:
            return []
        longest = SHORT if count is None else count // TIMES
        touched = _touched(whole)
        made: list[_TablePair] = []
        waiting: dict[tuple[Expr, int], str] = {}
        for scatter in form.scatters:
            length = self.lengths.get(scatter.buffer)
            alone = touched[scatter.buffer] == 1 and len(scatter.values) == 1
            if length is None or not alone or length > longest:
                continue
            key = scatter.index, length
            one = waiting.pop(key, None)
            if one is None:
                waiting[key] = scatter.buffer
            else:
                made.append(self.pair(one, scatter.buffer, form, length))
        return made

    def pair(self, one: str, other: str, form: PackForm, length: int) -> _TablePair:
        """A new table for two."""
        name = fresh("pairs", self.taken)
        return _TablePair(one, other, Buffer(name, form.dtype, (const(2 * length),), "local"))

    def filled(self, pair: _TablePair) -> Block:
        """What declares a table of pairs, and copies the two into it."""
        var, first, second = self.places(pair)
        table, dtype = pair.table.name, pair.table.dtype
        body = (
            Store(table, first, Load(pair.one, var, dtype)),
            Store(table, second, Load(pair.other, var, dtype)),
        )
        return Alloc(pair.table), self.copying(pair, var, body)

    def emptied(self, pair: _TablePair) -> Loop:
        """What copies the two out of a table of pairs."""
        var, first, second = self.places(pair)
        table, dtype = pair.table.name, pair.table.dtype
        body = (
            Store(pair.one, var, Load(table, first, dtype)),
            Store(pair.other, var, Load(table, second, dtype)),
        )
        return self.copying(pair, var, body)

    def places(self, pair: _TablePair) -> tuple[Var, Expr, Expr]:
        """A new variable over places, and where the elements of a place are in a table of pairs."""
        var = Var(fresh(f"{pair.table.name}_place", self.taken))
        return var, mul(var, const(2)), add(mul(var, const(2)), const(1))

    def copying(self, pair: _TablePair, var: Var, body: tuple[Stmt, ...]) -> Loop:
        return Loop(var, const(self.lengths[pair.one]), "parallel", body)


def _loops(loop: Loop) -> list[Loop]:
    return [loop, *[stmt for stmt in statements(loop.body) if isinstance(stmt, Loop)]]


def _has_loops(loop: Loop) -> bool:
    return any(isinstance(stmt, Loop) for stmt in statements(loop.body))


def _iterations(whole: Loop, loop: Loop) -> int | None:
    """How often the body of a loop runs in a statement of a kernel, if that is a number."""
    if whole is loop:
        extent = whole.extent
    elif isinstance(whole.cut, Strips):
        extent = whole.cut.whole
    else:
        return None
    return int(extent.value) if isinstance(extent, Const) else None


def _touched(loop: Loop) -> Counter[str]:
    """How many statements read or write each buffer."""
    found: Counter[str] = Counter()
    for stmt in statements(loop.body):
        names = {load.buffer for load in loads_of(stmt)}
        if isinstance(stmt, Store | Accumulate):
            names.add(stmt.buffer)
        found.update(names)
    return found


def _moved(loop: Loop, pairs: Sequence[_TablePair]) -> Stmt:
    """A loop that adds to tables of pairs in place of the two."""
    places = {pair.one: (pair, 0) for pair in pairs} | {pair.other: (pair, 1) for pair in pairs}

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Accumulate) and stmt.buffer in places:
            pair, second = places[stmt.buffer]
            index = add(mul(stmt.index, const(2)), const(second))
            return Accumulate(pair.table.name, index, stmt.op, stmt.value, stmt.atomic)
        return rebuild_statement(stmt, lambda expr: expr, block)

    def block(body: Block) -> Block:
        return tuple([statement(stmt) for stmt in body])

    return statement(loop)
