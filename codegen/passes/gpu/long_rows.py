"""long_rows: reductions of a few long rows are done in pieces.

A kernel with an iteration for each row, which reduces the row and then does something with the
result, would keep as many teams busy as there are rows. Where these are few and long, two other
kernels run in its place: one that reduces pieces of rows, and one that reduces their results
and does the rest. Which, follows from the lengths: the kernels that are not wanted have no
iterations, and a launch of none costs nothing.
"""

from __future__ import annotations

from symc.codegen.blocks import map_steps
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Param,
    Program,
    Size,
    Step,
    Stmt,
    Store,
    Var,
    add,
    ceiling,
    const,
    mul,
    sub,
)
from symc.codegen.passes.gpu.flatten import flatten
from symc.codegen.passes.gpu.mapping import last_variable, outer_loop, wants_team
from symc.codegen.passes.gpu.split import launch_of, names_of, trimmed
from symc.codegen.passes.gpu.teams import shared_out
from symc.codegen.passes.strips import StripMining, mining_of
from symc.codegen.passes.vectors.reductions import Reduction, identity
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    map_block,
    names_in,
    statements,
    substitute,
    written,
)
from symc.codegen.record import record, replace

FEW = 256  # rows: as many teams are enough for any device
PIECE = 16384  # elements of a row that a team reduces: some dozens for each thread
LONG = 2 * PIECE


@record
class Row:
    """The body of each iteration: first, reduce a row, then the rest."""

    before: Block  # outside the loop over rows
    rows: Loop
    first: Block
    loop: Loop
    found: tuple[Reduction, ...]
    rest: Block


def long_rows(program: Program) -> Program:
    """The program with reductions that may run in pieces."""
    found = {kernel.name: row_of(kernel) for kernel in program.kernels}
    if not any(found.values()):
        return program
    made = _Pieces(program)
    kernels = {kernel.name: kernel for kernel in program.kernels}
    for kernel in program.kernels:
        row = found[kernel.name]
        if row is None:
            made.kernels.append(kernel)
        else:
            made.make(kernel, row)

    def launches(step: Step) -> list[Step]:
        row = found[step.kernel] if isinstance(step, Launch) else None
        if row is None or not isinstance(step, Launch):
            return [step]
        made.steps = []
        made.launch(step, kernels[step.kernel], row)
        return made.steps

    steps = map_steps(program.steps, launches)
    return replace(
        program,
        sizes=(*program.sizes, *made.sizes),
        buffers=(*program.buffers, *made.buffers),
        kernels=tuple(made.kernels),
        steps=steps,
    )


def row_of(kernel: Kernel) -> Row | None:
    """The parts of a kernel that reduces rows, which may be few and long; else None."""
    outer = outer_loop(kernel.body)
    if outer is None:
        return None
    taken = bound(kernel)
    rows = flatten(outer, taken)
    places = [n for n, stmt in enumerate(rows.body) if isinstance(stmt, Loop)]
    if len(places) != 1 or any(isinstance(stmt, If) for stmt in statements(rows.body)):
        return None
    first, inner, rest = rows.body[: places[0]], rows.body[places[0]], rows.body[places[0] + 1 :]
    assert isinstance(inner, Loop)
    scalars = {s.buffer.name for s in first if isinstance(s, Alloc) and not s.buffer.shape}
    loop = flatten(inner, taken)
    found = shared_out(loop, frozenset(scalars)) if loop.kind == "serial" else None
    if not found or not written(loop.body) <= {reduction.buffer for reduction in found}:
        return None
    if any(isinstance(stmt, Loop) for stmt in statements(loop.body)):
        return None
    if not _is_plain(first, scalars) or not wants_team(rows, last_variable(outer)):
        return None
    if not _may_be(rows.extent, 2, FEW) or not _may_be(loop.extent, LONG, None):
        return None
    if not names_in(loop.extent) | names_in(rows.extent) <= {size.name for size in kernel.sizes}:
        return None
    return Row(kernel.body[:-1], rows, first, loop, tuple(found), rest)


def _is_plain(first: Block, scalars: set[str]) -> bool:
    """Whether statements only name values, and set each of some scalars once."""
    stores = [stmt.buffer for stmt in first if isinstance(stmt, Store)]
    return sorted(stores) == sorted(scalars) and all(
        isinstance(stmt, Let | Alloc | Store) for stmt in first
    )


def _may_be(extent: Expr, low: int, high: int | None) -> bool:
    """Whether a length may lie in a range."""
    if not isinstance(extent, Const):
        return True
    return low <= extent.value and (high is None or extent.value < high)


class _Pieces:
    """The kernels and buffers that are added to a program."""

    def __init__(self, program: Program) -> None:
        self.names = {kernel.name for kernel in program.kernels}
        self.names |= {buffer.name for buffer in program.buffers}
        self.names |= {size.var.name for size in program.sizes}
        self.sizes: list[Size] = []
        self.buffers: list[Buffer] = []
        self.kernels: list[Kernel] = []
        self.steps: list[Step] = []
        self.made: dict[str, tuple[Kernel, ...]] = {}

    def make(self, kernel: Kernel, row: Row) -> None:
        """Add the kernel for whole rows, the one for pieces, and the one for their results."""
        taken = bound(kernel)
        many, few, pieces = (Var(fresh(name, taken)) for name in ("many", "few", "pieces"))
        piece, start = (Var(fresh(name, taken)) for name in ("piece", "start"))
        cut = mining_of(row.loop, piece, PIECE, start)
        parts = [fresh("partial", taken) for _ in row.found]
        params = [Param(name, r.dtype, True) for name, r in zip(parts, row.found, strict=True)]
        place = add(mul(row.rows.var, pieces), piece)

        def made(name: str, extent: Var, body: Block, note: str) -> Kernel:
            loop = Loop(row.rows.var, extent, "parallel", body, note)
            sizes = (*kernel.sizes, many, few, pieces)
            whole = (*_wanted(row.before, (loop,)), loop)
            return Kernel(name, (*kernel.params, *params), sizes, whole, kernel.note)

        amounts = tuple(
            Accumulate(r.buffer, const(0), r.op, Load(name, place, r.dtype))
            for name, r in zip(parts, row.found, strict=True)
        )
        together = (Loop(piece, pieces, "serial", amounts), *row.rest)
        note = row.rows.note
        self.made[kernel.name] = (
            made(kernel.name, many, row.rows.body, note),
            made(
                fresh(f"{kernel.name}_pieces", self.names), few,
                (cut.loop("parallel", _piece(row, cut, place, parts), count=pieces),),
                "pieces of rows",
            ),
            made(
                fresh(f"{kernel.name}_rows", self.names), few,
                (*_wanted(row.first, together), *together), note,
            ),
        )  # fmt: skip
        self.kernels += map(trimmed, self.made[kernel.name])

    def launch(self, step: Launch, kernel: Kernel, row: Row) -> None:
        """Add the launches of all three; those of no iterations do nothing."""
        given = dict(zip((size.name for size in kernel.sizes), step.sizes, strict=True))
        rows, length = (substitute(loop.extent, given) for loop in (row.rows, row.loop))
        is_few = least(const(1), most(const(0), sub(const(FEW), rows)))
        is_long = least(const(1), Binary("floordiv", length, const(LONG), length.dtype))
        few = self.size("few", mul(mul(is_few, is_long), rows))
        many = self.size("many", sub(rows, few))
        pieces = self.size("pieces", ceiling(length, PIECE))
        partial: list[str] = []
        for reduction in row.found:
            name = fresh("partial", self.names)
            self.buffers.append(Buffer(name, reduction.dtype, (few, pieces), "temp"))
            partial.append(name)
        buffers, sizes = (*step.buffers, *partial), (*step.sizes, many, few, pieces)
        for made in self.made[step.kernel]:
            self.steps.append(launch_of(Launch(step.kernel, buffers, sizes), made))

    def size(self, name: str, value: Expr) -> Var:
        """A size of the program."""
        var = Var(fresh(name, self.names))
        self.sizes.append(Size(var, value))
        return var


def least(left: Expr, right: Expr) -> Expr:
    """The smaller of two lengths."""
    return Binary("min", left, right, left.dtype)


def most(left: Expr, right: Expr) -> Expr:
    """The larger of two lengths."""
    return Binary("max", left, right, left.dtype)


def _piece(row: Row, cut: StripMining, place: Expr, parts: list[str]) -> Block:
    """The reduction of a piece of a row, from the neutral value on."""
    neutral = {r.buffer: identity(r.op, r.dtype) for r in row.found}
    begin: list[Stmt] = [
        Store(stmt.buffer, stmt.index, neutral[stmt.buffer])
        if isinstance(stmt, Store) and stmt.buffer in neutral
        else stmt
        for stmt in row.first
    ]
    loop = row.loop
    moved = map_block(loop.body, lambda expr: substitute(expr, {loop.var.name: cut.at(loop.var)}))
    rest: Block = (
        cut.inner(loop.var, "serial", moved, loop.note),
        *(
            Store(name, place, Load(r.buffer, const(0), r.dtype))
            for name, r in zip(parts, row.found, strict=True)
        ),
    )
    begin.append(cut.let)
    return (*_wanted(tuple(begin), rest), *rest)


def _wanted(first: Block, rest: Block) -> Block:
    """Those of some declarations that later statements use."""
    used = {name for stmt in rest for name in names_of(stmt)}
    out: list[Stmt] = []
    for stmt in reversed(first):
        match stmt:
            case Let(var):
                wanted = var.name in used
            case Alloc(buffer):
                wanted = buffer.name in used
            case Store(buffer):
                wanted = buffer in used
            case _:
                wanted = True
        if wanted:
            out.append(stmt)
            used |= names_of(stmt)
    return tuple(reversed(out))
