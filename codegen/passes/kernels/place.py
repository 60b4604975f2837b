"""place: a row of scratch memory that becomes a row of an output stands there from the start.

Softmax keeps the exponentials of a row until it knows their sum, and then divides them into the
output: they can wait in the output itself, which is written to memory anyway. So a local array
disappears if the last loop that touches it goes over all of it and stores, for each of its
elements, one of a written buffer that the kernel touches nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import DType
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Buffer,
    Combine,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Program,
    Stmt,
    Store,
    Var,
    add,
    const,
)
from symc.codegen.passes.kernels.memory import is_on_stack
from symc.codegen.passes.walk import (
    Block,
    collect,
    expressions,
    map_kernels,
    names_in,
    rebuild,
    rebuild_statement,
    statements,
)
from symc.codegen.record import record


def place(program: Program) -> Program:
    """The program with fewer local arrays."""
    aliased = {
        step.kernel
        for step in every_step(program.steps)
        if isinstance(step, Launch) and len(set(step.buffers)) < len(step.buffers)
    }
    return map_kernels(program, lambda k: k.body if k.name in aliased else _kernel(k))


def _kernel(kernel: Kernel) -> Block:
    if not any(isinstance(stmt, Alloc) and stmt.buffer.shape for stmt in statements(kernel.body)):
        return kernel.body
    uses: list[str] = []
    for stmt in statements(kernel.body):
        uses += _touched(stmt)
    free = {p.name: p.dtype for p in kernel.params if p.written and uses.count(p.name) == 1}
    return _block(kernel.body, frozenset(size.name for size in kernel.sizes), free)


def _block(block: Block, known: frozenset[str], free: dict[str, DType]) -> Block:
    """`known` are the names visible here; `free` are buffers, written but by one statement."""
    names = known
    for position, stmt in enumerate(block):
        match stmt:
            case Let(var):
                names |= {var.name}
            case Alloc(buffer):
                home = _home(buffer, block[position + 1 :], names, free)
                if home is not None:
                    del free[home.buffer]
                    rest = tuple([_moved(later, home) for later in block[position + 1 :]])
                    return _block((*block[:position], *rest), known, free)
            case Store() | Accumulate() | Loop() | If() | Barrier() | Combine():
                pass
            case _:
                assert_never(stmt)
    return tuple([_inside(stmt, names, free) for stmt in block])


def _inside(stmt: Stmt, names: frozenset[str], free: dict[str, DType]) -> Stmt:
    inner = names | {stmt.var.name} if isinstance(stmt, Loop) else names
    return rebuild_statement(stmt, lambda expr: expr, lambda body: _block(body, inner, free))


@record
class _Home:
    """Where element 0 of a local array goes."""

    row: str
    buffer: str
    base: Expr


def _home(
    row: Buffer, rest: Block, names: frozenset[str], free: Mapping[str, DType]
) -> _Home | None:
    """The place for a local array that is declared in front of these statements."""
    if len(row.shape) != 1 or is_on_stack(row):
        return None
    users = [stmt for stmt in rest if any(row.name in _touched(s) for s in statements((stmt,)))]
    last = users[-1] if users else None
    if not isinstance(last, Loop) or last.extent != row.shape[0]:
        return None
    home: _Home | None = None
    for stmt in last.body:
        if isinstance(stmt, Loop | If) or not _only_loads(stmt, row.name, last.var):
            return None
        if home is not None and row.name in _touched(stmt):
            return None  # the output has taken the element's place
        if home is None and isinstance(stmt, Store) and free.get(stmt.buffer) is row.dtype:
            base = _base(stmt.index, last.var)
            if base is not None and names_in(base) <= names:
                home = _Home(row.name, stmt.buffer, base)
    return home


def _only_loads(stmt: Stmt, row: str, var: Var) -> bool:
    """Whether a statement does no more with a local array than to load this element."""
    if isinstance(stmt, Store | Accumulate) and stmt.buffer == row:
        return False
    return all(load.index == var for load in _loads(stmt) if load.buffer == row)


def _base(index: Expr, var: Var) -> Expr | None:
    """The offset from the loop variable in an index."""
    match index:
        case Binary("add", base, last) if last == var:
            return base
        case _:
            return const(0) if index == var else None


def _loads(stmt: Stmt) -> list[Load]:
    loads: list[Load] = []
    for expr in expressions(stmt):
        collect(expr, [], loads)
    return loads


def _touched(stmt: Stmt) -> list[str]:
    """The buffers that a statement itself loads or writes, once for each time."""
    touched = [load.buffer for load in _loads(stmt)]
    if isinstance(stmt, Store | Accumulate):
        touched.append(stmt.buffer)
    return touched


def _moved(stmt: Stmt, home: _Home) -> Stmt:
    """The statement with a local array's elements at home."""

    def visit(expr: Expr) -> Expr:
        new = rebuild(expr, visit)
        if isinstance(new, Load) and new.buffer == home.row:
            return Load(home.buffer, add(home.base, new.index), new.dtype)
        return new

    stmt = rebuild_statement(
        stmt, visit, lambda body: tuple([_moved(inner, home) for inner in body])
    )
    match stmt:
        case Store(home.row, index, value):
            return Store(home.buffer, add(home.base, index), value)
        case Accumulate(home.row, index, op, value):
            return Accumulate(home.buffer, add(home.base, index), op, value)
        case _:
            return stmt
