"""planes: few numbers that lie side by side go to rows of their own in long strips.

    for i in parallel(3): for j in parallel(n): red_green_blue[i*n + j] = pixels[j*3 + i]

    for strip in parallel(ceil(n / 2048)):
      for i in parallel(3): for j in the strip: red_green_blue[i*n + j] = pixels[j*3 + i]

What a strip reads stays in the first cache for all of its rows, and each row of it is long enough
for vector registers. Squares, as `tile` makes them, are for many rows: they have a loop of sixteen
iterations for each. Where their number is not known, it is looked at before the loops:

    if c == 1: the strips for 1
    elif ...: those for 2, 3 and 4
    else: for i in parallel(c): for j in parallel(n): planes[i*n + j] = pixels[j*c + i]

Numbers that are an unknown distance apart are loaded one by one, which takes as long as squares do.
For doubles it takes no longer than if the distance is known: those have one version for up to 8.
Only pictures, whose points lie along several axes, have the other versions: of most matrices that
are transposed the rows are many, and compilers take twice as long for all of them.
"""

from __future__ import annotations

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
    Var,
    binary,
    const,
)
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.loops.nest import LoopNest, map_nests
from symc.codegen.passes.loops.tile import SIDE, writes_along
from symc.codegen.passes.strips import mining_of
from symc.codegen.passes.vectors.channels import LONG, NARROW
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    index_names,
    loads_of,
    map_block,
    map_kernels,
    own_names,
    substitute,
)
from symc.codegen.record import replace
from symc.codegen.verify.polynomials import by, polynomial

COUNTS = (1, 2, 3, 4)  # rows for which there are versions
FEW = 8  # rows of wider numbers
BYTES = 2048  # of each number in a strip: all of those that it reads stay in the first cache
LEAST = 256  # iterations of a row of a strip


def planes(program: Program) -> Program:
    """The program with loops over few numbers side by side in strips."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    taken: set[str] = set()

    def in_strips(nest: LoopNest) -> Stmt | None:
        if not taken:
            taken.update(bound(kernel))
        return _in_strips(nest, taken)

    return map_nests(kernel.body, in_strips)


def _in_strips(nest: LoopNest, taken: set[str]) -> Stmt | None:
    """The nest in strips, if that is better than rows or squares for some number of rows."""
    last = nest.loops[-1]
    if last.cut is not None or not writes_along(last, nest.body):
        return None
    for position, loop in enumerate(nest.loops[:-1]):
        size = _bytes_side_by_side(nest, loop)
        if size is None or loop.cut is not None:
            continue
        length = max(LEAST, BYTES // size)
        if isinstance(last.extent, Const) and last.extent.value <= length:
            return None
        strips = _strips(nest, position, length, taken)
        match loop.extent:
            case Const(int() as rows):
                return strips if rows <= SIDE else None
            case Var() as rows if size <= NARROW and sum(map(weight, nest.body)) <= LONG:
                if isinstance(last.extent, Var):
                    return None
                return _in_versions(nest.loops[0], strips, rows, taken)
            case rows:
                few = own_names((strips,), taken)
                return If(binary("le", rows, const(FEW)), few, (nest.loops[0],))
    return None


def _in_versions(whole: Loop, strips: Loop, rows: Var, taken: set[str]) -> Stmt:
    """The strips for each number of rows of which there is a version, else the loop as it was."""
    result: Stmt = whole
    for number in reversed(COUNTS):
        known = {rows.name: Const(number, rows.dtype)}
        body = map_block((strips,), partial(substitute, values=known))
        result = If(binary("eq", rows, const(number)), own_names(body, taken), (result,))
    return result


def _bytes_side_by_side(nest: LoopNest, loop: Loop) -> int | None:
    """How wide numbers are that lie side by side along a loop, and its extent apart in the last.

    None where none do.
    """
    names = index_names((*nest.lets, *nest.body))
    var, extent = nest.loops[-1].var, polynomial(loop.extent)
    sizes: list[int] = []
    for load in [load for stmt in nest.body for load in loads_of(stmt)]:
        index = substitute(load.index, names)
        split = by(polynomial(index), var)
        if split is not None and split[0] == extent and _moves_by_one(index, loop.var):
            sizes.append(load.dtype.bytes)
    return max(sizes, default=None)


def _moves_by_one(index: Expr, var: Var) -> bool:
    split = by(polynomial(index), var)
    return split is not None and split[0] == polynomial(const(1))


def _strips(nest: LoopNest, position: int, length: int, taken: set[str]) -> Loop:
    """The nest as a loop over strips of the last one, around the one at `position`."""
    loops, before = nest.loops, nest.before
    last = loops[-1]
    number = Var(fresh(f"{last.var.name}_strip", taken))
    inner = Var(fresh(f"{last.var.name}_in_strip", taken))
    cut = mining_of(last, number, length)
    row = cut.inner(inner, "parallel", (Let(last.var, cut.at(inner)), *nest.body))
    names = [let for lets in before[position + 1 :] for let in lets]
    block: Block = (replace(loops[position], body=(*names, row)),)
    around = [*loops[:position], *loops[position + 1 : -1], cut.loop("parallel", (), last.note)]
    for depth, loop in reversed(list(enumerate(around))):
        lets = before[depth] if depth <= position else ()
        block = (*lets, replace(loop, body=block))
    outermost = block[0]
    assert isinstance(outermost, Loop)
    return outermost
