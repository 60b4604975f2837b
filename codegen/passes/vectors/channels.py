"""channels: loops over points, or pixels, have versions for two, three and four numbers of each.

    for i in vector(n): y[i] = x[i * c] + x[i * c + 1]

    if c == 2: for i in vector(n): y[i] = x[i * 2] + x[i * 2 + 1]
    elif ...
    else: for i in vector(n): y[i] = x[i * c] + x[i * c + 1]

Elements that lie an unknown distance apart are loaded one by one. Where the distance is known, and
small, compilers load all that lies there and shuffle it. For doubles both take the same time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from symc.codegen.ir import (
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Loop,
    Program,
    Stmt,
    Store,
    Strip,
    Var,
    binary,
    const,
)
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.walk import (
    Block,
    bound,
    index_names,
    loads_of,
    map_block,
    map_kernels,
    own_names,
    rebuild_statement,
    substitute,
    written,
)
from symc.codegen.verify.polynomials import by, polynomial

COUNTS = (2, 3, 4)  # numbers of a point or a pixel
FEW = 128  # iterations, which do not pay for the tests
NARROW = 4  # bytes of a number: wider ones are gathered as fast
LONG = 60  # operations of a body that is not written four times


def channels(program: Program) -> Program:
    """The program with its loops over pixels in versions."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    taken, sizes, changed = bound(kernel), frozenset(kernel.sizes), written(kernel.body)

    def block(body: Block) -> Block:
        return tuple([statement(stmt) for stmt in body])

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop) and stmt.kind == "vector":
            count = _count(stmt, sizes, changed)
            return stmt if count is None else _in_versions(stmt, count, taken)
        return rebuild_statement(stmt, lambda expr: expr, block)

    return block(kernel.body)


def _count(loop: Loop, sizes: frozenset[Var], changed: frozenset[str]) -> Var | None:
    """The number of narrow numbers of each pixel that a loop goes over, if it is not known.

    None for loops of few iterations, as over rows side by side, and for arrays that the kernel
    writes: that elements of those are apart is seen by the name of their distance.
    """
    if not all(isinstance(stmt, Let | Store) for stmt in loop.body):
        return None
    if _is_below(loop.extent, FEW):
        return None
    if isinstance(loop.cut, Strip) and _is_below(loop.cut.strips.length, FEW):
        return None
    loads = [load for stmt in loop.body for load in loads_of(stmt)]
    if not changed.isdisjoint(load.buffer for load in loads):
        return None
    names = index_names(loop.body)
    found = {
        stride
        for load in loads
        if load.dtype.bytes <= NARROW
        for stride in _strides(substitute(load.index, names), loop.var)
    } - {const(1), const(0)}
    if len(found) != 1 or sum(map(weight, loop.body)) > LONG:
        return None
    (count,) = found
    return count if isinstance(count, Var) and count in sizes else None


def _is_below(length: Expr, limit: int) -> bool:
    return isinstance(length, Const) and length.value < limit


def _strides(index: Expr, var: Var) -> Iterator[Expr]:
    """How far apart the elements of an index lie that neighbouring iterations read."""
    split = by(polynomial(index), var)
    if split is None:
        return
    match [*split[0].items()]:
        case []:
            yield const(0)
        case [((), int(factor))]:
            yield const(factor)
        case [((Var() as length,), 1)]:
            yield length
        case _:
            yield index  # something else


def _in_versions(loop: Loop, count: Var, taken: set[str]) -> Stmt:
    """The loop for each number of which there is a version, and as it was for all others."""
    result: Stmt = loop
    for number in reversed(COUNTS):
        known = {count.name: Const(number, count.dtype)}
        body = map_block((loop,), partial(substitute, values=known))
        result = If(binary("eq", count, const(number)), own_names(body, taken), (result,))
    return result
