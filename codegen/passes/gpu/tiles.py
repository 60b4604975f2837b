"""tiles: arrays that are read across the direction in which the result is written.

``for i < n: for j < m: out[i*m + j] = x[j*n + i]`` would let neighbouring threads read elements of
x that are far apart, and use one element of each 32 bytes that memory delivers. So the loops go
over tiles of 32 x 32 instead: a tile of x is copied into an array of the team's own, along i, and
from there into the result, along j. Rows of that array are 33 long, so that a column of it lies in
32 different banks of shared memory. A thread does several rows of a column at a time, so that it
asks memory for all of them before it waits for the first.
"""

from __future__ import annotations

from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Alloc,
    Binary,
    Buffer,
    Const,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Program,
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
)
from symc.codegen.passes.loops.dependence import is_unit
from symc.codegen.passes.strips import StripMining, mining_of
from symc.codegen.passes.walk import (
    Block,
    bound,
    collect,
    fresh,
    index_names,
    loads_of,
    map_block,
    map_kernels,
    names_in,
    rebuild,
    substitute,
)

SIDE = 32
ROW = SIDE + 1
AT_A_TIME = 4  # rows: 16 bytes for each thread, as in a loop over packs
ENOUGH = 16  # the shortest constant length of an axis worth a tile


def tiles(program: Program) -> Program:
    """The program with loops over tiles where arrays are transposed."""
    return map_kernels(program, lambda kernel: _block(kernel.body, bound(kernel)))


def _block(block: Block, taken: set[str]) -> Block:
    if not block or not isinstance(block[-1], Loop) or block[-1].kind != "parallel":
        return block
    outer = block[-1]
    inner = outer.body[-1] if outer.body else None
    if not isinstance(inner, Loop) or inner.kind != "parallel":
        return block
    if inner.body and isinstance(inner.body[-1], Loop):  # only the innermost two loops count
        body = _block(outer.body, taken)
    elif len(outer.body) == 1 and _is_worth_it(outer, inner):
        return (*block[:-1], *_tiled(outer, inner, taken))
    else:
        return block
    return (*block[:-1], Loop(outer.var, outer.extent, outer.kind, body, outer.note, outer.cut))


def _is_worth_it(outer: Loop, inner: Loop) -> bool:
    """Whether both axes are long, and all that is done is simple."""
    if outer.var.name in names_in(inner.extent):
        return False
    lengths = (outer.extent, inner.extent)
    if any(isinstance(length, Const) and length.value < ENOUGH for length in lengths):
        return False
    return all(isinstance(stmt, Let | Store) for stmt in inner.body)


def _tiled(outer: Loop, inner: Loop, taken: set[str]) -> list[Stmt]:
    """The loops over tiles, or the loop as it is if no array is transposed."""
    found = _transposed(outer.var.name, inner)
    if not found:
        return [outer]
    rows, columns = (
        mining_of(loop, Var(fresh(f"{loop.var.name}_tile", taken)), SIDE) for loop in (outer, inner)
    )
    body: list[Stmt] = []
    names: dict[Load, str] = {}
    for load in found:
        names[load] = fresh(f"{load.buffer}_tile", taken)
        body.append(Alloc(Buffer(names[load], load.dtype, (const(SIDE * ROW),), "local")))

    # A copy of each tile: along i, which is where its elements are next to each other.
    row, column = (Var(fresh(name, taken)) for name in ("row", "column"))
    i, j = (Var(fresh(v.name, taken)) for v in (outer.var, inner.var))
    lets = index_names(inner.body)
    copies = tuple(
        Store(
            names[load],
            add(mul(row, const(ROW)), column),
            Load(load.buffer, _moved(load.index, lets, outer.var, i, inner.var, j), load.dtype),
        )
        for load in found
    )
    body.append(_over_tile(taken, (row, column), (j, columns), (i, rows), copies))

    # The loop itself, along j.
    row, column = (Var(fresh(name, taken)) for name in ("row", "column"))

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr in names:
            return Load(names[expr], add(mul(column, const(ROW)), row), expr.dtype)
        return rebuild(expr, visit)

    work = map_block(inner.body, visit)
    i, j = outer.var, inner.var
    body.append(_over_tile(taken, (row, column), (i, rows), (j, columns), work))
    loops = columns.loop("parallel", tuple(body))
    note = "\n".join(dict.fromkeys(filter(None, (outer.note, inner.note))))
    return [rows.loop("parallel", (loops,), note)]


def _over_tile(
    taken: set[str], place: tuple[Var, Var], slow: tuple[Var, StripMining],
    fast: tuple[Var, StripMining], work: Block,
) -> Loop:  # fmt: skip
    """A loop over the elements of a tile that lie in the array."""
    t, turn, first = (Var(fresh(name, taken)) for name in ("t", "turn", "first"))
    row, column = place
    apart = SIDE // AT_A_TIME
    inside: list[Expr] = []
    names: list[Stmt] = []
    for (var, cut), position in ((slow, row), (fast, column)):
        names.append(Let(var, cut.at(position)))
        inside.append(binary("lt", var, cut.extent))
    condition = Binary("and", inside[0], inside[1], BOOL)
    rows = (Let(row, add(mul(turn, const(apart)), first)), *names, If(condition, work))
    body: Block = (
        Let(first, binary("floordiv", t, const(SIDE))),
        Let(column, binary("mod", t, const(SIDE))),
        Loop(turn, const(AT_A_TIME), "unroll", rows),
    )
    return Loop(t, const(SIDE * apart), "parallel", body)


def _transposed(outer: str, inner: Loop) -> list[Load]:
    """The loads along the outer loop of arrays that the loop does not write."""
    lets = index_names(inner.body)
    stored = {stmt.buffer for stmt in inner.body if isinstance(stmt, Store)}
    found: dict[Load, None] = {}
    for stmt in inner.body:
        for load in loads_of(stmt):
            index = substitute(load.index, lets)
            if load.buffer not in stored and is_unit(index, outer) and _is_across(index, inner.var):
                found[load] = None
    return list(found)


def _is_across(index: Expr, inner: Var) -> bool:
    """Whether an index goes in large steps with a variable, and is arithmetic on names alone."""
    loads: list[Load] = []
    names: list[str] = []
    collect(index, names, loads)
    return inner.name in names and not loads and not is_unit(index, inner.name)


def _moved(index: Expr, lets: dict[str, Expr], old_i: Var, i: Var, old_j: Var, j: Var) -> Expr:
    return substitute(substitute(index, lets), {old_i.name: i, old_j.name: j})
