"""independent: a loop whose steps do not depend on each other becomes a loop of a kernel.

    repeat step in n:                        kernel(x, y; n)
        kernel(x, y; step)                     for step in parallel(n):
          let t = x[2*step] + 1                  let t = x[2*step] + 1
          y[step] = t*t                          y[step] = t*t

There it is as good as any other: vectors compute several steps at a time, and threads share them.
What steps of several kernels hand on to each other in numbers becomes a value of one step. Numbers
to which each step adds something are sums of the loop: see `totals.py`, and `elements.py` for
elements of arrays. Steps that read what only later ones write are a loop for one thread: see
`vectors/later.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.ir import (
    Alloc,
    Binary,
    Buffer,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Loop,
    Program,
    Repeat,
    Select,
    Step,
    Store,
    Var,
    binary,
    const,
)
from symc.codegen.passes.kernels.join import Joined
from symc.codegen.passes.loops.collapse import collapsed
from symc.codegen.passes.loops.dependence import accesses
from symc.codegen.passes.loops.fuse import fused
from symc.codegen.passes.loops.interchange import interchanged
from symc.codegen.passes.steps.elements import sums_of_elements
from symc.codegen.passes.steps.in_kernel import (
    LaunchesInKernel,
    change_loops,
    launches_in_kernel,
    never_read,
    only_here,
    without_unread,
)
from symc.codegen.passes.steps.read_before import read_before
from symc.codegen.passes.steps.totals import totals
from symc.codegen.passes.vectors.later import read_later
from symc.codegen.passes.walk import (
    Block,
    fresh,
    loads_of,
    names_in,
    nodes,
    statements,
    substitute,
)
from symc.codegen.passes.walk import written as stored
from symc.codegen.record import replace

_ZERO = const(0)


def independent(program: Program) -> Program:
    """The program with such loops as kernels."""
    return change_loops(program, _changed)


def _changed(program: Program, step: Repeat, kernels: dict[str, Kernel], taken: set[str]) -> Step:
    """The launch of a kernel in place of a loop, or the step as it is."""
    found = launches_in_kernel(program, step, kernels)
    if found is None:
        return step
    made, given = found.made, found.given
    whole = Kernel("", tuple(made.buffers.values()), tuple(given), tuple(made.body))
    body = without_unread(made, fused(whole), only_here(program, step) | never_read(program))
    own = _locals(made, only_here(program, step) & _numbers(program), body)
    statements_of = _as_loop(found, program, step.note, own, body)
    if statements_of is None:
        return step
    statements_of = _asked_before(statements_of, given, made.taken)
    name = fresh(found.last.kernel, taken)
    kernel, launch = found.launch(name, statements_of, {alloc.buffer.name for alloc in own})
    kernels[name] = replace(kernel, body=collapsed(interchanged(fused(kernel))))
    return launch


def _as_loop(
    steps: LaunchesInKernel, program: Program, note: str, own: Sequence[Alloc], body: Block
) -> Block | None:
    """The steps as a loop of a kernel, if they do not depend on each other."""
    made, counter, extent, inside = steps.made, steps.counter, steps.extent, steps.inside
    loop = Loop(counter, extent, "parallel", (*inside, *own, *body), note)
    found = accesses(loop)
    if all(map(found.has_one_place, found.writes)):
        return (loop,)
    numbers = [param for name, param in made.buffers.items() if name in _numbers(program)]
    sums = totals(counter, inside, body, numbers, made.taken)
    if sums is not None:
        adding = Loop(counter, extent, "serial", (*inside, *own, *sums.body), note)
        found = accesses(adding)
        if all(map(found.has_one_place, found.writes - sums.names)):
            return (*sums.before, adding, *sums.after)
    for change in (sums_of_elements, read_before, read_later):
        changed = change(loop, made.taken)
        if changed is not None:
            return changed
    return None


def _asked_before(block: Block, given: dict[Var, Expr], taken: set[str]) -> Block:
    """The loop, of no steps where each step would do nothing on the same condition of sizes."""
    if len(block) != 1 or not isinstance(loop := block[0], Loop) or loop.kind != "parallel":
        return block
    if not loop.body:  # states without elements
        return block
    *named, last = loop.body
    if not isinstance(last, If) or last.otherwise or not all(isinstance(s, Let) for s in named):
        return block
    sizes = {size.name: value for size, value in given.items()}
    if not all(isinstance(n, Const | Var | Binary) for n in nodes(last.condition)):
        return block
    if not names_in(last.condition) <= sizes.keys():
        return block
    extent = loop.extent
    if last.condition != binary("ge", extent, const(1)):
        whole = substitute(extent, sizes)
        extent = Var(fresh("steps", taken))
        given[extent] = Select(substitute(last.condition, sizes), whole, _ZERO, whole.dtype)
    return (Loop(loop.var, extent, loop.kind, (*named, *last.then), loop.note),)


def _numbers(program: Program) -> set[str]:
    """The buffers of one real element."""
    return {
        buffer.name
        for buffer in program.buffers
        if not buffer.dtype.is_complex and all(length == const(1) for length in buffer.shape)
    }


def _locals(made: Joined, numbers: set[str], body: Block) -> list[Alloc]:
    """Local scalars in place of numbers that a step stores before it reads them."""
    return [
        Alloc(Buffer(param.name, param.dtype, (), "local"))
        for name, param in made.buffers.items()
        if name in numbers and _is_stored_first(body, param.name)
    ]


def _is_stored_first(body: Block, buffer: str) -> bool:
    """Whether statements store a buffer's only element, whatever happens, before they read it."""
    for stmt in body:
        if any(load.buffer == buffer for inner in statements((stmt,)) for load in loads_of(inner)):
            return False
        if isinstance(stmt, Store) and stmt.buffer == buffer:
            return stmt.index == _ZERO
        if buffer in stored((stmt,)):
            return False
    return False
