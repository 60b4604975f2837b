"""laps: a loop that takes the remainder of its variable becomes loops without one.

    for i in n: y[i] = x[i % m]
    for lap in ceil(n/m): for j in min(m, n - lap*m): y[lap*m + j] = x[j]

A division of 64 bits for each element takes longer than all else in most loops, and keeps gcc from
making vectors of them. Where m may be 0, of which remainders are 0, a lap has one iteration.
Divisions by constants are multiplications, and stay. A loop around others takes the remainder of
its variable once for each iteration: gcc would take it in theirs, as a division may fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from symc.codegen.ir import Binary, Expr, Kernel, Let, Loop, Program, Stmt, Var, const
from symc.codegen.passes.strips import StripMining
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    map_block,
    map_kernels,
    nodes,
    rebuild,
    rebuild_statement,
    statements,
)
from symc.codegen.record import replace
from symc.codegen.signs import natural_sizes


def laps(program: Program) -> Program:
    """The program with its innermost loops in laps where they take remainders by sizes."""
    if not any(
        isinstance(node, Binary) and node.op == "mod"
        for kernel in program.kernels
        for node in _nodes(kernel.body)
    ):
        return program
    natural = natural_sizes(program)[1]
    return map_kernels(program, lambda kernel: _kernel(kernel, natural.get(kernel.name, set())))


def _kernel(kernel: Kernel, natural: AbstractSet[str]) -> Block:
    taken, sizes = bound(kernel), {size.name for size in kernel.sizes}

    def visit(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop) and (lap := _lap_of(stmt, sizes)) is not None:
            if any(isinstance(inner, Loop) for inner in statements(stmt.body)):
                stmt = _once(stmt, lap, taken)
            elif lap.name in natural:
                return _in_laps(stmt, lap, taken)
        return rebuild_statement(stmt, lambda expr: expr, block)

    def block(body: Block) -> Block:
        return tuple([visit(stmt) for stmt in body])

    return block(kernel.body)


def _lap_of(loop: Loop, sizes: AbstractSet[str]) -> Var | None:
    """The size by which a loop divides its variable, if it takes the remainder."""
    if loop.kind not in ("parallel", "serial", "vector") or loop.cut is not None:
        return None
    for node in _nodes(loop.body):
        match node:
            case Binary("mod", Var(name), Var(lap) as found):
                if name == loop.var.name and lap in sizes:
                    return found
            case _:
                pass
    return None


def _once(loop: Loop, lap: Var, taken: set[str]) -> Loop:
    """A loop around others that names the remainder of its variable."""
    named = Var(fresh(f"{loop.var.name}_in_lap", taken))
    remainder = Binary("mod", loop.var, lap, lap.dtype)

    def visit(expr: Expr) -> Expr:
        return named if expr == remainder else rebuild(expr, visit)

    return replace(loop, body=(Let(named, remainder), *map_block(loop.body, visit)))


def _in_laps(loop: Loop, lap: Var, taken: set[str]) -> Loop:
    """The loop over laps, with one over the iterations of each in it."""
    number, place = (Var(fresh(f"{loop.var.name}_{part}", taken)) for part in ("lap", "in_lap"))
    strips = StripMining(number, loop.extent, Binary("max", lap, const(1), lap.dtype))
    remainder = Binary("mod", loop.var, lap, lap.dtype)

    def visit(expr: Expr) -> Expr:
        if expr == remainder:
            return place
        return strips.at(place) if expr == loop.var else rebuild(expr, visit)

    inner = strips.inner(place, loop.kind, map_block(loop.body, visit))
    return strips.loop(loop.kind, (inner,), loop.note)


def _nodes(block: Block) -> Iterator[Expr]:
    for stmt in statements(block):
        for expr in expressions(stmt):
            yield from nodes(expr)
