"""Folds of whole arrays, which are cut into pieces for threads, of arrays that fit into one piece.

for chunk in parallel(chunks):                acc = 0
    start = 16384*chunk                       for i in n: acc += x[i]
    acc = 0                                   acc_2 = 0
    for i in min(16384, n - start):           acc_2 += acc
        acc += x[start + i]
    partial[chunk] = acc
acc_2 = 0
for chunk in chunks: acc_2 += partial[chunk]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Const,
    Expr,
    Kernel,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Strip,
    Strips,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.walk import (
    Block,
    expressions,
    loads_of,
    map_block,
    names_in,
    rebuild,
    statements,
)
from symc.codegen.passes.walk import written as stored
from symc.codegen.record import replace

_ZERO = const(0)


def in_one_piece(kernel: Kernel) -> Kernel:
    """The kernel of an array that fits into one piece; itself unless it is such a fold."""
    match kernel.body:
        case (
            Loop(
                chunk, extent, "parallel", (*inside, Store(partial, place, value)), cut=Strips()
            ) as pieces,
            Alloc() as alloc,
            Store() as begun,
            Loop(again, other, _, (Accumulate(into, at, op, Load(read, where)),)),
            *rest,
        ) if place == chunk and where == again and other == extent and partial == read:  # fmt: skip
            pass
        case _:
            return kernel
    assert isinstance(pieces.cut, Strips)
    names: dict[str, Expr] = {chunk.name: _ZERO}
    found = _first_piece(inside, pieces.cut, names)
    first = _with(value, names)
    if (
        isinstance(first, Load)
        and Store(first.buffer, at, begun.value) in found
        and into not in stored(tuple(rest))
    ):

        def of_first(expr: Expr) -> Expr:
            is_last = isinstance(expr, Load) and expr.buffer == into
            return first if is_last else rebuild(expr, of_first)

        return _with_what_is_used(kernel, (*found, *map_block(tuple(rest), of_first)))
    last = Accumulate(into, at, op, first)
    return _with_what_is_used(kernel, (*found, alloc, begun, last, *rest))


def _first_piece(block: Sequence[Stmt], strips: Strips, names: dict[str, Expr]) -> Block:
    """The statements for the first strip, which is all there is."""
    found: list[Stmt] = []
    for stmt in block:
        (new,) = map_block((stmt,), lambda expr: _with(expr, names))
        if isinstance(new, Let) and isinstance(new.value, Const):
            names[new.var.name] = new.value
            continue
        if isinstance(stmt, Loop) and isinstance(new, Loop) and isinstance(stmt.cut, Strip):
            new = replace(new, extent=strips.whole, cut=None)
        found.append(new)
    return tuple(found)


def _with(expr: Expr, names: Mapping[str, Expr]) -> Expr:
    """An expression with names replaced; sums and products with constants are folded."""
    if isinstance(expr, Var):
        return names.get(expr.name, expr)
    new = rebuild(expr, lambda part: _with(part, names))
    match new:
        case Binary("add", left, right) if _ZERO in (left, right):
            return add(left, right)
        case Binary("mul", left, right) if _ZERO in (left, right):
            return mul(left, right)
        case _:
            return new


def _with_what_is_used(kernel: Kernel, body: Block) -> Kernel:
    """The kernel with another body, its parameters and sizes those that this uses."""
    inside = list(statements(body))
    used = {load.buffer for stmt in inside for load in loads_of(stmt)} | stored(body)
    names = {name for stmt in inside for expr in expressions(stmt) for name in names_in(expr)}
    return replace(
        kernel,
        params=tuple(param for param in kernel.params if param.name in used),
        sizes=tuple(size for size in kernel.sizes if size.name in names),
        body=body,
    )
