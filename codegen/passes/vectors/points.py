"""points: loops over rows that are folded, chosen, or pixels, have a version for three numbers.

    for i in parallel(n):
      alloc acc; acc = 0
      for k in c: acc += x[i*c + k]**2
      for k in parallel(c): y[i*c + k] = x[i*c + k] / sqrt(acc)

    for i in parallel(select(c == 3, n, 0)):        for i in parallel(select(c == 3, 0, n)):
      acc = 0                                         ... as before
      for k in 3: acc += x[i*3 + k]**2
      for k in parallel(3): ...

Loops over the coordinates of a point cost more than what they do: three numbers fill no vector
register, and each loop asks how many there are. Written out, they leave the loop over the points as
the innermost, and vectors have a coordinate of several. Points that are added to others, in order,
have both versions in one kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.blocks import every_step, map_steps
from symc.codegen.blocks import written as written_by
from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Step,
    Stmt,
    Store,
    Var,
    binary,
    const,
)
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.vectors.short_rows import COSTLY
from symc.codegen.passes.vectors.vectorize import dearest
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    loads_of,
    map_block,
    names_in,
    nodes,
    own_names,
    statements,
    substitute,
)
from symc.codegen.record import replace

NUMBERS = 3  # of a point, or a pixel
PICTURE = 2  # axes of its pixels
LOOPS = 2  # over a point: a sum, and what follows from it; normalised layers have more
LONG = 60  # operations of an iteration of all loops inside: longer ones are not written twice


def points(program: Program) -> Program:
    """The program with its loops over points in versions, parallel ones in kernels of their own."""
    kernels: list[Kernel] = []
    versions: dict[str, Kernel] = {}
    taken = {kernel.name for kernel in program.kernels}
    pictures = _of_pictures(program)
    for kernel in program.kernels:
        found = _versions(kernel, of_pictures=kernel.name in pictures)
        if found is None:
            kernels.append(_with_both(kernel, of_pictures=kernel.name in pictures))
            continue
        name = fresh(f"{kernel.name}_points", taken)
        versions[kernel.name] = replace(kernel, name=name, body=found[0])
        kernels += [versions[kernel.name], replace(kernel, body=found[1])]

    def change(step: Step) -> list[Step]:
        if isinstance(step, Launch) and step.kernel in versions:
            return [replace(step, kernel=versions[step.kernel].name), step]
        return [step]

    return replace(program, kernels=tuple(kernels), steps=map_steps(program.steps, change))


def _versions(kernel: Kernel, *, of_pictures: bool) -> tuple[Block, Block] | None:
    """Two bodies, for rows of three numbers and for others, if a kernel is a loop over rows."""
    *before, loop = kernel.body or (None,)
    length = _length(loop, kernel, of_pictures=of_pictures)
    if not isinstance(loop, Loop) or length is None or loop.kind != "parallel":
        return None
    if not all(isinstance(stmt, Let) for stmt in before):
        return None
    is_point = binary("eq", length, const(NUMBERS))
    few = Select(is_point, loop.extent, const(0), INT64)
    many = Select(is_point, const(0), loop.extent, INT64)
    named = replace(loop, body=_of_points(loop.body, length), extent=few)
    return (*before, named), (*before, replace(loop, extent=many))


def _with_both(kernel: Kernel, *, of_pictures: bool) -> Kernel:
    """The kernel with both versions of its loops over points in order, one beside the other."""
    taken = bound(kernel)

    def versions(stmt: Stmt) -> Stmt:
        length = _length(stmt, kernel, of_pictures=of_pictures)
        if length is None or not isinstance(stmt, Loop) or stmt.kind != "serial":
            return stmt
        short = own_names(_of_points((stmt,), length), taken)
        return If(binary("eq", length, const(NUMBERS)), short, (stmt,))

    body = tuple(map(versions, kernel.body))
    return kernel if body == kernel.body else replace(kernel, body=body)


def _of_points(block: Block, length: Var) -> Block:
    known: dict[str, Expr] = {length.name: const(NUMBERS)}
    return map_block(block, lambda expr: substitute(expr, known))


def _length(stmt: Stmt | None, kernel: Kernel, *, of_pictures: bool) -> Var | None:
    """The unknown length of the rows of a loop, if these may be points; None for other loops."""
    if not isinstance(stmt, Loop) or stmt.cut is not None:
        return None
    every = list(statements(stmt.body))
    inner = [each for each in every if isinstance(each, Loop)]
    lengths = {loop.extent for loop in inner}
    if len(lengths) != 1 or len(inner) > LOOPS or any(isinstance(each, If) for each in every):
        return None
    (length,) = lengths
    if not isinstance(length, Var) or length not in kernel.sizes or length == stmt.extent:
        return None
    if any(isinstance(each, Loop) for loop in inner for each in statements(loop.body)):
        return None
    if sum(map(weight, every)) > LONG or max(dearest(loop.body) for loop in inner) >= COSTLY:
        return None  # dear functions have versions of their own
    own = {each.buffer.name for each in every if isinstance(each, Alloc) and not each.buffer.shape}
    folds = [each for each in every if isinstance(each, Accumulate) and each.buffer in own]
    scalars = {fold.buffer for fold in folds}
    if any(
        load.buffer in scalars for loop in inner for each in loop.body for load in loads_of(each)
    ):
        return None  # running sums, say
    loaded = {load.buffer for each in every for load in loads_of(each)}
    stored = {each.buffer for each in every if isinstance(each, Store | Accumulate)} - own
    if not loaded.isdisjoint(stored):
        return None  # rows that are exchanged, which all are read before they are written
    is_elementwise = len(inner) == 1 and all(isinstance(s, Let | Store) for s in inner[0].body)
    is_worth_it = bool(folds) or _is_chosen(every) or (of_pictures and is_elementwise)
    return length if is_worth_it else None


def _of_pictures(program: Program) -> set[str]:
    """The kernels that compute pictures: arrays with two axes or more beside that of the numbers.

    Of matrices, whose rows are rarely that short, versions of elementwise functions would take
    longer to compile than they ever save.
    """
    pictures = {buffer.name for buffer in program.buffers if len(buffer.shape) > PICTURE}
    kernels = {kernel.name: kernel for kernel in program.kernels}
    launches = [step for step in every_step(program.steps) if isinstance(step, Launch)]
    return {
        launch.kernel
        for launch in launches
        if not pictures.isdisjoint(written_by(launch, kernels[launch.kernel]))
    }


def _is_chosen(body: Sequence[Stmt]) -> bool:
    """Whether rows are those at indexes that are read."""
    read = {
        s.var.name for s in body if isinstance(s, Let) and s.var.dtype.is_integer and loads_of(s)
    }
    indexes = [load.index for stmt in body for load in loads_of(stmt)]
    indexes += [stmt.index for stmt in body if isinstance(stmt, Store | Accumulate)]
    return any(
        read & names_in(index) or any(isinstance(node, Load) for node in nodes(index))
        for index in indexes
    )
