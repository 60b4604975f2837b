"""A loop of launches as statements of one kernel: what `independent` and `columns` both begin with.

The steps' counter is a loop variable of the kernel, and sizes that follow from it are named inside
the loop. A size that may leave 64 bits in a step is none that a kernel computes: then there is no
such kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symc.codegen.blocks import every_step, map_blocks
from symc.codegen.ir import (
    Accumulate,
    Const,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Program,
    Repeat,
    Step,
    Store,
    Var,
    binary,
    const,
)
from symc.codegen.passes.kernels.following import varying_sizes
from symc.codegen.passes.kernels.join import MOST, Joined, length_of
from symc.codegen.passes.kernels.memory import buffers_of, wholes
from symc.codegen.passes.steps.varying import moving_buffers, varying_values
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
from symc.codegen.record import record, replace
from symc.codegen.signs import is_natural, natural_names
from symc.codegen.verify.polynomials import polynomial

_ZERO = const(0)
STEEP, FAR = 8, 1 << 32  # times the number of a step, and beside it: none leaves 64 bits

Change = Callable[[Program, Repeat, dict[str, Kernel], set[str]], Step]


def change_loops(program: Program, change: Change) -> Program:
    """The program with something else in place of loops, where `change` has it.

    That adds its kernels to those that there are, under names that are not taken yet.
    """
    kernels = {kernel.name: kernel for kernel in program.kernels}
    taken = set(kernels)

    def changed(block: Sequence[Step]) -> list[Step]:
        return [
            change(program, step, kernels, taken) if isinstance(step, Repeat) else step
            for step in block
        ]

    steps = map_blocks(program.steps, changed)
    if steps == program.steps:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    kept = tuple(kernel for kernel in kernels.values() if kernel.name in used)
    return replace(program, kernels=kept, steps=steps)


@record
class LaunchesInKernel:
    """The launches of a loop's step as statements of a kernel."""

    last: Launch
    made: Joined
    counter: Var
    """The number of a step."""
    extent: Expr
    inside: tuple[Let, ...]
    """Names in a step for sizes that vary from step to step."""
    given: dict[Var, Expr]
    """The kernel's sizes, with the program's for them."""

    def launch(self, name: str, body: Block, local: set[str]) -> tuple[Kernel, Launch]:
        """The kernel with such a body, and its launch; `local` buffers are the body's own."""
        used = {load.buffer for stmt in statements(body) for load in loads_of(stmt)}
        used |= stored(body)
        pairs = [
            (buffer, param)
            for buffer, param in self.made.buffers.items()
            if param.name in used and param.name not in local
        ]
        params, sizes = tuple(param for _, param in pairs), tuple(self.given)
        kernel = Kernel(name, params, sizes, body, "\n".join(self.made.notes))
        return kernel, Launch(name, tuple(b for b, _ in pairs), tuple(self.given.values()))


def launches_in_kernel(
    program: Program, step: Repeat, kernels: dict[str, Kernel]
) -> LaunchesInKernel | None:
    """A loop that does nothing but launch a few kernels, as statements; None for another loop."""
    if step.stop is not None or step.done is not None:
        return None
    launches = [inner for inner in step.steps if isinstance(inner, Launch)]
    if not launches or len(launches) < len(step.steps):
        return None
    if sum(length_of(kernels[launch.kernel]) for launch in launches) > MOST:
        return None
    moving = moving_buffers(program, step)
    if any(name in moving for launch in launches for name in launch.buffers):
        return None
    made = Joined(launches, kernels)
    if sizes_change(made) or not are_apart(program, made):
        return None
    return _sized(program, step, launches[-1], made)


def sizes_change(made: Joined) -> bool:
    """Whether launches write into a buffer that a size of them is read from."""
    loads = [load for size in made.values for load in nodes(size) if isinstance(load, Load)]
    return any(load.buffer in made.buffers and made.buffers[load.buffer].written for load in loads)


def are_apart(program: Program, made: Joined) -> bool:
    """Whether no buffer that is written is a part of another one, or has one in it."""
    whole = wholes(program)
    names = [whole.get(buffer, buffer) for buffer in made.buffers]
    return not any(
        param.written and names.count(whole.get(buffer, buffer)) > 1
        for buffer, param in made.buffers.items()
    )


def _sized(program: Program, repeat: Repeat, last: Launch, made: Joined) -> LaunchesInKernel | None:
    """The statements with the loop's variable and extent, and the sizes of the launch.

    None if a size follows from the number of a step in a way that may leave 64 bits.
    """
    values, varying = varying_values(program, repeat), varying_sizes(program, repeat)
    counter = Var(fresh(repeat.var, made.taken))
    inside: list[Let] = []
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
    return LaunchesInKernel(last, made, counter, extent, tuple(inside), given)


def _is_small(value: Expr, counter: Var) -> bool:
    """Whether an integer is a small multiple of the number of a step, and a constant."""
    found = polynomial(value)
    one, rest = found.pop((counter,), 0), found.pop((), 0)
    return not found and abs(one) <= STEEP and abs(rest) <= FAR


def only_here(program: Program, repeat: Repeat) -> set[str]:
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


def never_read(program: Program) -> set[str]:
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


def without_unread(made: Joined, body: Block, temporary: set[str]) -> Block:
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
