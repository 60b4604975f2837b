"""overlapped: rows of bytes end with a whole vector, which overlaps the one before.

    for j in vector(n): y[j] = max(x[j], x[j + 1])

    if n >= 64:
      for block in serial(ceil(n / 64)):
        let first = min(block * 64, n - 64)
        for place in vector(64): let j = first + place; y[j] = max(x[j], x[j + 1])
    elif n >= 16: the same with 16
    else: for j in vector(n): y[j] = max(x[j], x[j + 1])

Compilers take as many elements at a time as a register has bytes, if something in a loop is one.
What is left of a row is done one by one: up to 63 elements, for most pictures half of the time. So
it is for wider elements if each takes many operations.
Elements that are computed twice are the same both times, as such loops read nothing that they
write.
"""

from __future__ import annotations

from symc.codegen.ir import (
    Const,
    Expr,
    If,
    Kernel,
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
    sub,
)
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.strips import StripMining
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    loads_of,
    map_kernels,
    names_in,
    nodes,
    own_names,
    rebuild_statement,
    written,
)

WIDTHS = (64, 16)  # bytes of a vector: of the largest registers, and of the smallest
NARROW = 2  # bytes of an element; others have less left of a row
MUCH = 8  # operations from which that is worth it, too
LONG = 100  # operations of a body that is not written three times


def overlapped(program: Program) -> Program:
    """The program with its loops over rows of bytes in whole vectors."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    taken = bound(kernel)

    def block(body: Block) -> Block:
        return tuple([statement(stmt) for stmt in body])

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop) and stmt.kind == "vector":
            return _in_whole_vectors(stmt, taken)
        return rebuild_statement(stmt, lambda expr: expr, block)

    return block(kernel.body)


def _in_whole_vectors(loop: Loop, taken: set[str]) -> Stmt:
    """The loop by vectors of the widest kind that a row has room for; as it was for none."""
    result: Stmt = loop
    for width in _widths(loop):
        (blocks,) = own_names((_blocks(loop, width, taken),), taken)
        if isinstance(loop.extent, Const):
            result = blocks if loop.extent.value >= width else result
        else:
            result = If(binary("ge", loop.extent, const(width)), (blocks,), (result,))
    return result


def _widths(loop: Loop) -> list[int]:
    """How many elements vectors of a row have, the smallest first; none for loops that stay."""
    if loop.cut is not None or not all(isinstance(stmt, Let | Store) for stmt in loop.body):
        return []
    loads = [load for stmt in loop.body for load in loads_of(stmt)]
    if not written(loop.body).isdisjoint(load.buffer for load in loads):
        return []
    if any(isinstance(node, Load) for node in nodes(loop.extent)):
        return []
    size, work = _narrowest(loop, loads), sum(map(weight, loop.body))
    if work > LONG or not (size <= NARROW or (size == 4 and work >= MUCH)):
        return []
    widths = [width // size for width in reversed(WIDTHS)]
    whole = loop.extent.value if isinstance(loop.extent, Const) else 1
    if whole % widths[-1] == 0 or whole in widths:
        return []
    return widths if size == 1 else widths[-1:]


def _narrowest(loop: Loop, loads: list[Load]) -> int:
    """The bytes of the narrowest elements along the row, which are loaded or stored."""
    along = {loop.var.name}
    for stmt in loop.body:
        if isinstance(stmt, Let) and not along.isdisjoint(names_in(stmt.value)):
            along.add(stmt.var.name)
    stored = [stmt.value.dtype.bytes for stmt in loop.body if isinstance(stmt, Store)]
    loaded = [load.dtype.bytes for load in loads if not along.isdisjoint(names_in(load.index))]
    return min([*stored, *loaded], default=8)


def _blocks(loop: Loop, width: int, taken: set[str]) -> Loop:
    """The loop over blocks of one vector each."""
    block, first, place = (Var(fresh(name, taken)) for name in ("block", "first", "place"))
    last: Expr = sub(loop.extent, const(width))
    begin = Let(first, binary("min", mul(block, const(width)), last))
    body = (Let(loop.var, add(first, place)), *loop.body)
    vector = Loop(place, const(width), "vector", body)
    count = StripMining(block, loop.extent, const(width)).strips
    return Loop(block, count, "serial", (begin, vector), loop.note)
