"""ends: sums of functions end with a whole vector, which overlaps the one before.

    for j in vector(n): acc += exp(x[j] - m)

    if n >= 8:
      for j in vector(n & -8): acc += exp(x[j] - m)
      let left = n & 7
      if left > 0:
        let before = 8 - left
        for lane in vector(8):
          let j = (n & -8) + (lane - before)
          acc += lane >= before ? exp(x[j] - m) : -0.0
    else: for j in serial(min(n, 7)): acc += exp(x[j] - m)

What is left of a row is done one by one, up to seven elements, and a function of one number takes
as long as of a vector of them: in rows of 60 numbers, a third of the time. Elements that were added
before contribute the neutral value. What a loop stores is the same both times, as such loops read
nothing that they write. Rows are as long as is known before the kernel. Strips of arrays stay as
they are: next to those, the end is short.
"""

from __future__ import annotations

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Call,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    sub,
)
from symc.codegen.math import FUNCTIONS
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.vectors.reductions import identity
from symc.codegen.passes.vectors.vectorize import DEAR
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    loads_of,
    map_kernels,
    names_in,
    nodes,
    own_names,
    rebuild_statement,
    statements,
    written,
)

WIDEST = 64  # bytes of the largest registers
LONG = 100  # operations of a body that is not written three times


def ends(program: Program) -> Program:
    """The program with its sums of functions in whole vectors."""
    return map_kernels(program, _kernel)


def lanes_of(body: Block) -> int:
    """How many elements of the dear functions in these statements a register has; 0 for none."""
    sizes = [
        node.dtype.bytes
        for stmt in body
        for expr in expressions(stmt)
        for node in nodes(expr)
        if isinstance(node, Call) and FUNCTIONS[node.function].cost >= DEAR
    ]
    return WIDEST // max(sizes) if sizes else 0


def _kernel(kernel: Kernel) -> Block:
    scalars = frozenset(
        stmt.buffer.name
        for stmt in statements(kernel.body)
        if isinstance(stmt, Alloc) and not stmt.buffer.shape
    )
    if not scalars:
        return kernel.body
    taken, sizes = bound(kernel), frozenset(size.name for size in kernel.sizes)

    def block(body: Block) -> Block:
        found: list[Stmt] = []
        for stmt in body:
            if (
                isinstance(stmt, Loop)
                and names_in(stmt.extent) <= sizes
                and _ends_late(stmt, scalars)
            ):
                found += _in_whole_vectors(stmt, lanes_of(stmt.body), taken)
            else:
                found.append(rebuild_statement(stmt, lambda expr: expr, block))
        return tuple(found)

    return block(kernel.body)


def _ends_late(loop: Loop, scalars: frozenset[str]) -> bool:
    """Whether a loop adds up dear functions, and may have elements left after whole vectors."""
    if loop.kind != "vector" or loop.cut is not None or not all(map(_is_simple, loop.body)):
        return False
    sums = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    if not sums or not all(stmt.buffer in scalars for stmt in sums):
        return False
    lanes = lanes_of(loop.body)
    if not lanes or sum(map(weight, loop.body)) > LONG:
        return False
    known = int(loop.extent.value) if isinstance(loop.extent, Const) else None
    if known is not None and (known < lanes or known % lanes == 0):
        return False
    read = {load.buffer for stmt in loop.body for load in loads_of(stmt)}
    return written(loop.body).isdisjoint(read)


def _is_simple(stmt: Stmt) -> bool:
    return isinstance(stmt, Let | Store | Accumulate)


def _in_whole_vectors(loop: Loop, lanes: int, taken: set[str]) -> list[Stmt]:
    """The loop by whole vectors; as it was, but one by one, where there is room for none."""
    found: list[Stmt] = []
    extent = loop.extent
    if not isinstance(extent, Const | Var):
        count = Var(fresh(f"{loop.var.name}_count", taken), extent.dtype)
        found.append(Let(count, extent))
        extent = count
    whole, rest = _whole(extent, lanes), _rest(extent, lanes)
    main = Loop(loop.var, whole, "vector", loop.body, loop.note)
    if isinstance(extent, Const):
        return [*found, main, *_end(loop, whole, rest, lanes, taken)]
    left = Var(fresh("left", taken), extent.dtype)
    last = If(binary("gt", left, const(0)), tuple(_end(loop, whole, left, lanes, taken)))
    at_most = binary("min", extent, const(lanes - 1))  # as is known here: for cost and compiler
    few = own_names((Loop(loop.var, at_most, "serial", loop.body),), taken)
    return [*found, If(binary("ge", extent, const(lanes)), (main, Let(left, rest), last), few)]


def _end(loop: Loop, whole: Expr, left: Expr, lanes: int, taken: set[str]) -> Block:
    """The last vector of a row, of which the elements `before` were there already.

    Its place is told by those after whole vectors: of a row's length it would be, to whom looks at
    indexes, in the next row.
    """
    lane, before = Var(fresh("lane", taken)), Var(fresh("before", taken))
    is_new = binary("ge", lane, before)

    def once(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, Accumulate):
            return stmt
        neutral = identity(stmt.op, stmt.value.dtype)
        value = Select(is_new, stmt.value, neutral, stmt.value.dtype)
        return Accumulate(stmt.buffer, stmt.index, stmt.op, value)

    place = Let(loop.var, add(whole, sub(lane, before)))
    body = Loop(lane, const(lanes), "vector", (place, *map(once, loop.body)))
    return Let(before, sub(const(lanes), left)), *own_names((body,), taken)


def _whole(extent: Expr, lanes: int) -> Expr:
    """How many elements whole vectors have."""
    if isinstance(extent, Const):
        return const(int(extent.value) // lanes * lanes)
    return binary("band", extent, const(-lanes))


def _rest(extent: Expr, lanes: int) -> Expr:
    """How many are left."""
    if isinstance(extent, Const):
        return const(int(extent.value) % lanes)
    return binary("band", extent, const(lanes - 1))
