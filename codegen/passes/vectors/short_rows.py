"""short_rows: rows too short for vector registers are computed side by side, a row in each lane.

A softmax over rows of five numbers has loops of five iterations: fewer than a register has lanes,
so that compilers compute each exponential by itself. Where rows have functions like that, and have
few elements, or may turn out to, blocks of rows are computed with the loops interchanged; what a
row kept in a register or a row of memory is then kept for each lane (scalar expansion).

    for i in parallel(m):
      alloc acc; acc = -inf
      for j in n: acc max= x[i*n + j]
      for j in n: y[i*n + j] = exp(x[i*n + j] - acc)

    for block in parallel(select(n <= 32, m // 32, 0)):
      alloc acc[32]
      for lane in parallel(32): acc[lane] = -inf
      for j in n: for lane in parallel(32): acc[lane] max= x[(block*32 + lane)*n + j]
      for j in n: for lane in parallel(32): y[(block*32 + lane)*n + j] = exp(... - acc[lane])

An element of a row may itself be folded from a row, of any kernel's coordinates from a few points:
``for j in n: acc = 0; for k in m: acc += (x[i*m + k] - p[j*m + k])**2; near[j] = exp(-acc)``. Then
both must be short.

A second kernel does the rows that are left, or all if n is larger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from symc.codegen.blocks import map_steps
from symc.codegen.dtypes import FLOAT32, FLOAT64, INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Const,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Step,
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.passes.expressions.conditions import both
from symc.codegen.passes.vectors.vectorize import dearest, has_vector_form
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    map_block,
    names_in,
    nodes,
    rebuild,
    statements,
    substitute,
)
from symc.codegen.record import replace

LONGEST = 32  # elements of a row: longer ones fill registers by themselves
FEW = 7  # of which each has a row of its own: `turn` has a register for more
INNER = 16  # of which each element of a row is folded
UNROLLED = 4  # elements of a row that is written out, where that is known
LANES = 32  # rows of a block
COSTLY = 10  # of a function, in operations, from which a lane is worth a transposition


def short_rows(program: Program) -> Program:
    """The program with short rows computed side by side, by kernels of their own."""
    kernels: list[Kernel] = []
    blocks: dict[str, Kernel] = {}
    taken = {kernel.name for kernel in program.kernels}
    for kernel in program.kernels:
        parts = _parts(kernel)
        if parts is not None:
            name = fresh(f"{kernel.name}_rows", taken)
            blocks[kernel.name] = replace(kernel, name=name, body=parts[0])
            kernels.append(blocks[kernel.name])
            kernel = replace(kernel, body=parts[1])
        kernels.append(kernel)
    if not blocks:
        return program

    def change(step: Step) -> list[Step]:
        if isinstance(step, Launch) and step.kernel in blocks:
            return [replace(step, kernel=blocks[step.kernel].name), step]
        return [step]

    return replace(program, kernels=tuple(kernels), steps=map_steps(program.steps, change))


def _parts(kernel: Kernel) -> tuple[Block, Block] | None:
    """Two bodies, for blocks of rows and for the rows that are left, if the kernel is of rows."""
    *before, loop = kernel.body or (None,)
    if not isinstance(loop, Loop) or not all(isinstance(stmt, Let) for stmt in before):
        return None
    lengths = _lengths(loop)
    sizes = {size.name for size in kernel.sizes}
    if not lengths or not all(names_in(each) <= sizes for each in (*lengths, loop.extent)):
        return None
    lets = tuple([stmt for stmt in before if isinstance(stmt, Let)])
    taken = bound(kernel)
    count: Expr = binary("floordiv", loop.extent, const(LANES))
    asked = [
        binary("le", length, const(most))
        for length, most in lengths.items()
        if not isinstance(length, Const)
    ]
    if asked:
        count = Select(both(asked), count, const(0), INT64)
    done = Var(fresh("done", taken))
    row = {loop.var.name: add(done, loop.var)}
    rest = map_block(loop.body, lambda expr: substitute(expr, row))
    left = sub(loop.extent, mul(count, const(LANES)))
    last = Loop(loop.var, left, "parallel", rest, loop.note)
    return (*lets, _Rows(loop, taken).side_by_side(count)), (
        *lets, Let(done, mul(count, const(LANES))), last,
    )  # fmt: skip


def _lengths(stmt: Stmt) -> dict[Expr, int]:
    """The lengths of a loop's rows that may be short, and cost enough, each with the longest.

    They are those of what it folds, and of what it folds for each element of them.
    """
    if not isinstance(stmt, Loop) or stmt.kind != "parallel" or stmt.cut is not None:
        return {}
    loops = [inner for inner in stmt.body if isinstance(inner, Loop)]
    inside = [inner for loop in loops for inner in loop.body if isinstance(inner, Loop)]
    if not loops or not all(map(_is_plain, inside)):
        return {}
    if not all(_is_plain(replace(loop, body=_without_folds(loop))) for loop in loops):
        return {}
    if not all(isinstance(inner, Let | Store | Alloc | Loop) for inner in stmt.body):
        return {}
    length = loops[0].extent
    most = FEW if inside else LONGEST
    if length == stmt.extent or any(loop.extent != length for loop in loops):
        return {}  # where there are as many rows as elements, these are not few
    is_short = _is_few if inside else _may_be_short
    if not is_short(length, stmt, most) or not all(
        _is_few(loop.extent, stmt, INNER) for loop in inside
    ):
        return {}
    allocated = [inner.buffer for inner in statements(stmt.body) if isinstance(inner, Alloc)]
    if not allocated or any(
        b.dtype not in (FLOAT32, FLOAT64) or b.shape not in ((), (length,)) for b in allocated
    ):
        return {}
    if isinstance(stmt.extent, Const) and stmt.extent.value < LANES:
        return {}
    if not has_vector_form(stmt.body) or max(dearest(loop.body) for loop in loops) < COSTLY:
        return {}
    return {**{loop.extent: INNER for loop in inside}, length: most}


def _without_folds(loop: Loop) -> Block:
    """The body of a loop without the loops in it, and their local scalars."""
    return tuple(
        [
            stmt
            for stmt in loop.body
            if not isinstance(stmt, Loop)
            and not (isinstance(stmt, Alloc) and stmt.buffer.shape == ())
        ]
    )


def _is_few(length: Expr, rows: Loop, most: int) -> bool:
    if isinstance(length, Const):
        return length.value <= most
    return _may_be_short(length, rows, most)


def _may_be_short(length: Expr, rows: Loop, most: int) -> bool:
    if isinstance(length, Const):
        count = int(length.value)
        # gcc reads rows of 8 or 16 as wholes and shuffles them, which takes longer than all else.
        return UNROLLED < count <= most and count & (count - 1) != 0
    inside = {stmt.var.name for stmt in statements(rows.body) if isinstance(stmt, Let | Loop)}
    names = names_in(length)
    return names.isdisjoint(inside | {rows.var.name}) and not any(
        isinstance(node, Load) for node in nodes(length)
    )


def _is_plain(loop: Loop) -> bool:
    """Whether this is a loop over the elements of a row, without others inside."""
    return (
        loop.kind in ("parallel", "serial")
        and loop.cut is None
        and all(isinstance(stmt, Let | Store | Accumulate) for stmt in loop.body)
    )


class _Rows:
    """A loop over rows, on its way to two."""

    def __init__(self, loop: Loop, taken: set[str]) -> None:
        self.whole = loop
        self.taken = taken
        self.first = Var(fresh("first", taken))
        self.lane = Var("")  # the variable of the loop under construction
        self.arrays: dict[str, Buffer] = {}  # by name, what rows have for themselves
        self.values: dict[str, Expr] = {}  # what stands for a name
        self.out: list[Stmt] = []

    def side_by_side(self, blocks: Expr) -> Loop:
        """The loop over so many blocks."""
        block = Var(fresh("block", self.taken))
        parts = self.parts()
        runs = list(_runs(parts))
        for run in runs:
            self.declare(run, runs)
        body = (Let(self.first, mul(block, const(LANES))), *self.out, *self.emitted(parts))
        return Loop(block, blocks, "parallel", body, f"{LANES} rows at a time")

    def emitted(self, parts: Sequence[Sequence[Stmt]]) -> list[Stmt]:
        """The loops over the lanes, and those around them."""
        done: list[Stmt] = []
        for part in parts:
            match part:
                case [Loop(var, extent, _, body, note)]:
                    inner = Var(fresh(var.name, self.taken))
                    self.values[var.name] = inner
                    inside = tuple(self.emitted(_split(body)))
                    done.append(Loop(inner, extent, "serial", inside, note))
                case _ if all(isinstance(stmt, Alloc) for stmt in part):
                    pass
                case _:
                    done.append(self.across(part))
        return done

    def parts(self) -> list[list[Stmt]]:
        """The statements of a row: its loops, and what is between them; initial values first."""
        every = [stmt for stmt in statements(self.whole.body) if isinstance(stmt, Store)]
        stores = Counter([stmt.buffer for stmt in every])
        own = {stmt.buffer.name for stmt in self.whole.body if isinstance(stmt, Alloc)}
        first = [
            stmt
            for stmt in self.whole.body
            if isinstance(stmt, Store)
            and isinstance(stmt.value, Const)
            and stmt.buffer in own
            and stores[stmt.buffer] == 1
        ]
        rest = _split([stmt for stmt in self.whole.body if stmt not in first])
        return [list(first), *rest] if first else rest

    def declare(self, run: Sequence[Stmt], runs: Sequence[Sequence[Stmt]]) -> None:
        """The arrays for what statements of a row leave to others."""
        elsewhere = [
            name
            for other in runs
            if other is not run
            for stmt in other
            for expr in expressions(stmt)
            for name in names_in(expr)
        ]
        for stmt in run:
            if isinstance(stmt, Alloc):
                shape = (const(LANES * LONGEST) if stmt.buffer.shape else const(LANES),)
                self.array(stmt.buffer.name, replace(stmt.buffer, shape=shape))
            elif isinstance(stmt, Let) and stmt.var.name in elsewhere:
                name, dtype = stmt.var.name, stmt.var.dtype
                self.array(name, Buffer(name, dtype, (const(LANES),), "local"))

    def array(self, name: str, buffer: Buffer) -> None:
        """An array of a block."""
        self.arrays[name] = replace(buffer, name=fresh(f"{buffer.name}_rows", self.taken))
        self.out.append(Alloc(self.arrays[name]))

    def across(self, body: Sequence[Stmt]) -> Loop:
        """Statements for all rows of a block."""
        self.lane = Var(fresh("lane", self.taken))
        self.values[self.whole.var.name] = add(self.first, self.lane)
        done: list[Stmt] = []
        for stmt in body:
            done += self.statement(stmt)
        for stmt in body:
            if isinstance(stmt, Let) and stmt.var.name in self.arrays:
                self.values.pop(stmt.var.name)  # from now on it is in its array
        return Loop(self.lane, const(LANES), "parallel", tuple(done))

    def statement(self, stmt: Stmt) -> list[Stmt]:
        """A statement of the row in a lane."""
        match stmt:
            case Alloc():
                return []
            case Let(var, value):
                value = self.expr(value)
                named = Var(fresh(var.name, self.taken), var.dtype)
                self.values[var.name] = named
                array = self.arrays.get(var.name)
                kept = [] if array is None else [Store(array.name, self.lane, named)]
                return [Let(named, value), *kept]
            case Store(buffer, index, value):
                return [Store(*self.place(buffer, index), self.expr(value))]
            case Accumulate(buffer, index, op, value, atomic):
                return [Accumulate(*self.place(buffer, index), op, self.expr(value), atomic)]
            case _:
                raise AssertionError(stmt)

    def place(self, buffer: str, index: Expr) -> tuple[str, Expr]:
        """Where the element of a buffer is for the row in a lane."""
        array = self.arrays.get(buffer)
        if array is None:
            return buffer, self.expr(index)
        if array.shape == (const(LANES),):
            return array.name, self.lane
        return array.name, add(mul(self.expr(index), const(LANES)), self.lane)

    def expr(self, old: Expr) -> Expr:
        """An expression for the row in a lane."""
        match old:
            case Var(name, dtype):
                known = self.values.get(name)
                if known is None and name in self.arrays:
                    return Load(self.arrays[name].name, self.lane, dtype)
                return old if known is None else known
            case Load(buffer, index, dtype):
                name, place = self.place(buffer, index)
                return Load(name, place, dtype)
            case _:
                return rebuild(old, self.expr)


def _split(body: Sequence[Stmt]) -> list[list[Stmt]]:
    """The loops of a block, and what is between them."""
    found: list[list[Stmt]] = [[]]
    for stmt in body:
        if isinstance(stmt, Loop):
            found.append([stmt])
            found.append([])
        else:
            found[-1].append(stmt)
    return [part for part in found if part]


def _runs(parts: Sequence[Sequence[Stmt]]) -> Iterator[Sequence[Stmt]]:
    """The statements that loops over lanes have, at any depth."""
    for part in parts:
        if isinstance(part[0], Loop):
            yield from _runs(_split(part[0].body))
        else:
            yield part
