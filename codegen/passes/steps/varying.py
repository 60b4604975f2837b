"""What differs from step to step of a loop: sizes, and the buffers that it writes."""

from __future__ import annotations

from symc.codegen.blocks import every_step, written
from symc.codegen.ir import Buffer, Expr, Launch, Program, PythonCall, Repeat, Routine
from symc.codegen.passes.kernels.following import varying_sizes
from symc.codegen.passes.kernels.memory import wholes
from symc.codegen.passes.walk import names_in, substitute


def varying_values(program: Program, repeat: Repeat) -> dict[str, Expr]:
    """The sizes that follow from others and vary from step to step, in sizes that do not follow."""
    varying = varying_sizes(program, repeat)
    values: dict[str, Expr] = {}
    for size in program.sizes:
        if size.value is not None and size.var.name in varying:
            values[size.var.name] = substitute(size.value, values)
    return values


def moving_buffers(program: Program, repeat: Repeat) -> set[str]:
    """The buffers whose place or length differs from step to step, and rows of such."""
    varying = varying_sizes(program, repeat)
    moving: set[str] = set()
    for buffer in program.buffers:
        lengths = [*buffer.shape, *([] if buffer.of is None else [buffer.of.offset])]
        if any(varying & names_in(length) for length in lengths) or (
            buffer.of is not None and buffer.of.buffer in moving
        ):
            moving.add(buffer.name)
    return moving


def has_varying_lengths(program: Program, repeat: Repeat) -> bool:
    """Whether steps need lengths that are known there only, or memory of such lengths."""
    steps = [repeat, *every_step(repeat.steps)]
    counters = {step.var for step in steps if isinstance(step, Repeat)}
    lengths = [length for buffer in program.buffers for length in buffer.shape]
    return not varying_sizes(program, repeat) <= counters or any(
        counters & names_in(length) for length in lengths
    )


def changed_buffers(program: Program, repeat: Repeat) -> list[str]:
    """The buffers that steps write into, no rows among them."""
    kernels, whole = {kernel.name: kernel for kernel in program.kernels}, wholes(program)
    changed: dict[str, None] = {}
    for step in every_step(repeat.steps):
        if isinstance(step, Launch | Routine | PythonCall):
            kernel = kernels[step.kernel] if isinstance(step, Launch) else None
            changed.update(dict.fromkeys(whole.get(name, name) for name in written(step, kernel)))
    return list(changed)


def changed_variables(program: Program, repeat: Repeat) -> list[Buffer]:
    """Those among them that have values before the program: shared variables, and arguments."""
    begun = {buffer.name: buffer for buffer in program.buffers if buffer.is_variable}
    if not begun:
        return []
    return [begun[name] for name in changed_buffers(program, repeat) if name in begun]


def fixed_buffers(program: Program, repeat: Repeat) -> set[str]:
    """The buffers, and rows of them, that are the same elements in the same places in all steps."""
    changed, whole = changed_buffers(program, repeat), wholes(program)
    moving = moving_buffers(program, repeat)
    return {
        buffer.name
        for buffer in program.buffers
        if buffer.name not in moving and whole.get(buffer.name, buffer.name) not in changed
    }
