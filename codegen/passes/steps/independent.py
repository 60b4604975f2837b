"""independent: a loop whose steps do not depend on each other becomes a loop of a kernel.

    repeat step in n:                        kernel(x, y; n)
        kernel(x, y; step)                     for step in parallel(n):
          let t = x[2*step] + 1                  let t = x[2*step] + 1
          y[step] = t*t                          y[step] = t*t

There it is as good as any other: vectors compute several steps at a time, and threads share them.
What steps of several kernels hand on to each other in numbers becomes a value of one step. Numbers
to which each step adds something are sums of the loop: see `totals.py`, and `elements.py` for
elements of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.blocks import every_step, map_blocks
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Program,
    Repeat,
    Select,
    Step,
    Stmt,
    Store,
    Var,
    binary,
    const,
)
from symc.codegen.passes.kernels.join import MOST, Joined, length_of
from symc.codegen.passes.kernels.memory import buffers_of, wholes
from symc.codegen.passes.loops.collapse import collapsed
from symc.codegen.passes.loops.dependence import accesses
from symc.codegen.passes.loops.fuse import fused
from symc.codegen.passes.loops.interchange import interchanged
from symc.codegen.passes.steps.elements import sums_of_elements
from symc.codegen.passes.steps.read_before import read_before
from symc.codegen.passes.steps.totals import totals
from symc.codegen.passes.steps.varying import moving_buffers, varying_sizes, varying_values
from symc.codegen.passes.walk import (
    Block,
    fresh,
    loads_of,
    names_in,
    nodes,
    rebuild_statement,
    statements,
    substitute,
)
from symc.codegen.passes.walk import written as stored
from symc.codegen.record import replace
from symc.codegen.signs import is_natural, natural_names
from symc.codegen.verify.polynomials import polynomial

_ZERO = const(0)
STEEP, FAR = 8, 1 << 32  # times the number of a step, and beside it: none leaves 64 bits


def independent(program: Program) -> Program:
    """The program with such loops as kernels."""
    if not any(isinstance(step, Repeat) for step in every_step(program.steps)):
        return program
    kernels = {kernel.name: kernel for kernel in program.kernels}
    taken = set(kernels)

    def change(block: Sequence[Step]) -> list[Step]:
        return [_changed(step, program, kernels, taken) for step in block]

    steps = map_blocks(program.steps, change)
    if steps == program.steps:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    return replace(
        program, kernels=tuple(k for k in kernels.values() if k.name in used), steps=steps
    )


def _changed(step: Step, program: Program, kernels: dict[str, Kernel], taken: set[str]) -> Step:
    """The launch of a kernel in place of a loop, or the step as it is."""
    if not isinstance(step, Repeat) or step.stop is not None or step.done is not None:
        return step
    launches = [inner for inner in step.steps if isinstance(inner, Launch)]
    if not launches or len(launches) < len(step.steps):
        return step
    if sum(length_of(kernels[launch.kernel]) for launch in launches) > MOST:
        return step
    moving = moving_buffers(program, step)
    if any(name in moving for launch in launches for name in launch.buffers):
        return step
    made = Joined(launches, kernels)
    if not _are_apart(program, made):
        return step
    sizes = _sizes(program, step, made)
    if sizes is None:
        return step
    counter, extent, inside, given = sizes
    whole = Kernel("", tuple(made.buffers.values()), tuple(given), tuple(made.body))
    body = _without_unread(made, fused(whole), _only_here(program, step) | _unread(program))
    own = _locals(made, _only_here(program, step) & _numbers(program), body)
    local = {alloc.buffer.name for alloc in own}
    statements_of = _as_loop(made, program, step, (counter, extent, inside), own, body)
    if statements_of is None:
        return step
    statements_of = _asked_before(statements_of, given, made.taken)
    used = {load.buffer for stmt in statements(statements_of) for load in loads_of(stmt)}
    used |= stored(statements_of)
    pairs = [
        (buffer, param)
        for buffer, param in made.buffers.items()
        if param.name in used and param.name not in local
    ]
    name = fresh(launches[-1].kernel, taken)
    kernel = Kernel(
        name, tuple(param for _, param in pairs), tuple(given), statements_of, "\n".join(made.notes)
    )
    kernels[name] = replace(kernel, body=collapsed(interchanged(fused(kernel))))
    return Launch(name, tuple(b for b, _ in pairs), tuple(given.values()))


def _as_loop(
    made: Joined, program: Program, step: Repeat, head: tuple[Var, Expr, list[Stmt]],
    own: Sequence[Alloc], body: Block,
) -> Block | None:  # fmt: skip
    """The steps as a loop of a kernel, if they do not depend on each other."""
    counter, extent, inside = head
    loop = Loop(counter, extent, "parallel", (*inside, *own, *body), step.note)
    found = accesses(loop)
    if all(map(found.has_one_place, found.writes)):
        return (loop,)
    numbers = [param for name, param in made.buffers.items() if name in _numbers(program)]
    sums = totals(counter, inside, body, numbers, made.taken)
    if sums is not None:
        adding = Loop(counter, extent, "serial", (*inside, *own, *sums.body), step.note)
        found = accesses(adding)
        if all(map(found.has_one_place, found.writes - sums.names)):
            return (*sums.before, adding, *sums.after)
    elements = sums_of_elements(loop, made.taken)
    return read_before(loop, made.taken) if elements is None else elements


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


def _are_apart(program: Program, made: Joined) -> bool:
    """Whether no buffer that is written is a part of another one, or has one in it."""
    whole = wholes(program)
    names = [whole.get(buffer, buffer) for buffer in made.buffers]
    return not any(
        param.written and names.count(whole.get(buffer, buffer)) > 1
        for buffer, param in made.buffers.items()
    )


def _sizes(
    program: Program, repeat: Repeat, made: Joined
) -> tuple[Var, Expr, list[Stmt], dict[Var, Expr]] | None:
    """The loop's variable and extent, what follows from the variable, and the sizes of the launch.

    None if a size follows from the number of a step in a way that may leave 64 bits.
    """
    values, varying = varying_values(program, repeat), varying_sizes(program, repeat)
    counter = Var(fresh(repeat.var, made.taken))
    inside: list[Stmt] = []
    given: dict[Var, Expr] = {}
    for value, name in made.values.items():
        moved = substitute(value, values)
        if varying & names_in(moved):
            if not _is_small(moved, Var(repeat.var)):
                return None
            inside.append(Let(name, substitute(moved, {repeat.var: counter})))
        else:
            given[name] = value
    extent: Expr = repeat.extent
    if extent in made.values and is_natural(extent, natural_names(program)):
        extent = made.values[extent]
    elif not isinstance(extent, Const):
        if not is_natural(extent, natural_names(program)):
            extent = binary("max", extent, _ZERO)
        length = Var(fresh("steps", made.taken))
        given[length], extent = extent, length
    return counter, extent, inside, given


def _is_small(value: Expr, counter: Var) -> bool:
    """Whether an integer is a small multiple of the number of a step, and a constant."""
    found = polynomial(value)
    one, rest = found.pop((counter,), 0), found.pop((), 0)
    return not found and abs(one) <= STEEP and abs(rest) <= FAR


def _only_here(program: Program, repeat: Repeat) -> set[str]:
    """The temporaries that nothing but the steps of a loop use."""
    inside = list(every_step([repeat]))
    others = {
        name
        for step in every_step(program.steps)
        if not any(step is inner for inner in inside)
        for name in buffers_of(step)
    }
    rows = {buffer.of.buffer for buffer in program.buffers if buffer.of is not None}
    return {buffer.name for buffer in program.buffers if buffer.role == "temp"} - others - rows


def _unread(program: Program) -> set[str]:
    """The temporaries that nothing reads."""
    kernels = {kernel.name: kernel for kernel in program.kernels}
    read: set[str] = set()
    for step in every_step(program.steps):
        if isinstance(step, Launch):
            kernel = kernels[step.kernel]
            loaded = {load.buffer for stmt in statements(kernel.body) for load in loads_of(stmt)}
            pairs = zip(kernel.params, step.buffers, strict=True)
            read |= {buffer for param, buffer in pairs if param.name in loaded}
            read |= {load.buffer for size in step.sizes for load in nodes(size)
                     if isinstance(load, Load)}  # fmt: skip
        else:
            read.update(buffers_of(step))
    rows = {buffer.of.buffer for buffer in program.buffers if buffer.of is not None}
    return {buffer.name for buffer in program.buffers if buffer.role == "temp"} - read - rows


def _numbers(program: Program) -> set[str]:
    """The buffers of one real element."""
    return {
        buffer.name
        for buffer in program.buffers
        if not buffer.dtype.is_complex and all(length == const(1) for length in buffer.shape)
    }


def _without_unread(made: Joined, body: Block, temporary: set[str]) -> Block:
    """The statements without stores to temporaries that nothing reads any more."""
    read = {load.buffer for stmt in statements(body) for load in loads_of(stmt)}
    read |= {stmt.buffer for stmt in statements(body) if isinstance(stmt, Accumulate)}
    unread = {
        param.name
        for name, param in made.buffers.items()
        if name in temporary and param.name not in read
    }

    def without(block: Block) -> Block:
        kept = [s for s in block if not (isinstance(s, Store) and s.buffer in unread)]
        return tuple([rebuild_statement(stmt, lambda expr: expr, without) for stmt in kept])

    return without(body) if unread else body


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
