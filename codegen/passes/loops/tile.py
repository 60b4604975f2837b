"""tile: loops that read along one axis and write along another go in small squares.

``for i: for j: out[i*m + j] = x[j*n + i]`` reads a cache line for each element, and finds it gone
when its next element is wanted. In squares of 16 a line stays until all of it has been used:
``for i_block: for j_block: for i in the block: for j in the block``.

So do those that read an axis from its end, in rotations. Only nests of parallel loops are tiled:
their elements may be computed in any order.
"""

from __future__ import annotations

from symc.codegen.ir import (
    Const,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Store,
    Var,
)
from symc.codegen.passes.loops.dependence import is_unit, step_of
from symc.codegen.passes.loops.nest import LoopNest, map_nests
from symc.codegen.passes.strips import mining_of
from symc.codegen.passes.walk import (
    Block,
    bound,
    collect,
    expressions,
    fresh,
    map_kernels,
    names_in,
)
from symc.codegen.record import replace

SIDE = 16  # a cache line of float32


def tile(program: Program) -> Program:
    """The program with its loops that transpose cut into squares."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    if not any(isinstance(stmt, Loop | If) for stmt in kernel.body):
        return kernel.body
    taken = bound(kernel)

    def squares(nest: LoopNest) -> Loop | None:
        last = nest.loops[-1]
        for position, loop in enumerate(nest.loops[:-1]):
            if _is_read_along(loop, last, nest.body):
                return _tiled(nest, position, taken)
        return None

    return map_nests(kernel.body, squares)


def _is_read_along(loop: Loop, last: Loop, body: Block) -> bool:
    """Whether something is read along an outer loop, while all is written along the last."""
    if _is_short(loop) or _is_short(last) or last.cut is not None or not writes_along(last, body):
        return False
    loads: list[Load] = []
    for stmt in body:
        for expr in expressions(stmt):
            collect(expr, [], loads)
    return any(
        (is_unit(load.index, loop.var.name) or step_of(load.index, loop.var) == -1)
        and last.var.name in names_in(load.index)
        and not is_unit(load.index, last.var.name)
        for load in loads
    )


def writes_along(last: Loop, body: Block) -> bool:
    """Whether all that a block stores lies side by side along a loop."""
    stores = [stmt for stmt in body if isinstance(stmt, Store)]
    return all(is_unit(store.index, last.var.name) for store in stores)


def _is_short(loop: Loop) -> bool:
    return isinstance(loop.extent, Const) and loop.extent.value <= SIDE


def _tiled(nest: LoopNest, position: int, taken: set[str]) -> Loop:
    """The nest in squares of the loop at `position` and the last one."""
    loops, before = nest.loops, nest.before
    first, last = loops[position], loops[-1]
    blocks: list[Loop] = []
    inside: list[Loop] = []
    for loop in (first, last):
        number = Var(fresh(f"{loop.var.name}_block", taken))
        inner = Var(fresh(f"{loop.var.name}_in_block", taken))
        cut = mining_of(loop, number, SIDE)
        blocks.append(cut.loop("parallel", (), loop.note))
        inside.append(cut.inner(inner, "parallel", (Let(loop.var, cut.at(inner)),)))
    names = [let for lets in before[position + 1 :] for let in lets]
    innermost = replace(inside[1], body=(*inside[1].body, *nest.body))
    square = replace(inside[0], body=(*inside[0].body, *names, innermost))
    around = [*loops[:position], blocks[0], *loops[position + 1 : -1], blocks[1]]
    block: Block = (square,)
    for depth, loop in reversed(list(enumerate(around))):
        lets = before[depth] if depth <= position else ()
        block = (*lets, replace(loop, body=block))
    outermost = block[0]
    assert isinstance(outermost, Loop)
    return outermost
