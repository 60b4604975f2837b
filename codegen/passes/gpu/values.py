"""values: an input without axes is passed to kernels by value.

The host has it in its own memory: so nothing is copied to the device, and no kernel reads it. A
kernel that is launched both with such an input and with an array gets one form for each.
"""

from __future__ import annotations

from symc.codegen.blocks import every_step, map_steps
from symc.codegen.ir import (
    Expr,
    Kernel,
    Launch,
    Load,
    Program,
    Step,
    Var,
    const,
)
from symc.codegen.passes.walk import collect, fresh, map_block, rebuild
from symc.codegen.record import replace


def values(program: Program) -> Program:
    """The program with inputs without axes as further sizes of its kernels."""
    scalars = {b.name for b in program.buffers if b.is_by_value}
    if not scalars:
        return program
    kernels = {kernel.name: kernel for kernel in program.kernels}
    taken = set(kernels)
    forms: dict[tuple[str, tuple[bool, ...]], Kernel] = {}

    def by_value_in(step: Step) -> list[Step]:
        if not isinstance(step, Launch):
            return [step]
        kernel = kernels[step.kernel]
        by_value = tuple(name in scalars for name in step.buffers)
        key = kernel.name, by_value
        if key not in forms:
            known = any(name == kernel.name for name, _ in forms)
            name = fresh(kernel.name, taken) if known else kernel.name
            forms[key] = _form(kernel, name, by_value)
        return [_launch(step, kernel, forms[key].name, by_value)]

    steps = map_steps(program.steps, by_value_in)
    return replace(program, kernels=tuple(forms.values()), steps=steps)


def elements(program: Program) -> dict[str, set[int]]:
    """By kernel, which of its sizes are elements of inputs, not lengths."""
    found = {kernel.name: set[int]() for kernel in program.kernels}
    for step in every_step(program.steps):
        if isinstance(step, Launch):
            for number, size in enumerate(step.sizes):
                loads: list[Load] = []
                collect(size, [], loads)
                if loads:
                    found[step.kernel].add(number)
    return found


def _form(kernel: Kernel, name: str, by_value: tuple[bool, ...]) -> Kernel:
    """The kernel with some parameters given by value."""
    given = {
        param.name: Var(param.name, param.dtype)
        for param, value in zip(kernel.params, by_value, strict=True)
        if value
    }

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.buffer in given:
            return given[expr.buffer]
        return rebuild(expr, visit)

    params = tuple(param for param in kernel.params if param.name not in given)
    sizes = (*kernel.sizes, *given.values())
    return Kernel(name, params, sizes, map_block(kernel.body, visit), kernel.note)


def _launch(step: Launch, kernel: Kernel, name: str, by_value: tuple[bool, ...]) -> Launch:
    buffers: list[str] = []
    sizes = list(step.sizes)
    for buffer, param, value in zip(step.buffers, kernel.params, by_value, strict=True):
        if value:
            sizes.append(Load(buffer, const(0), param.dtype))
        else:
            buffers.append(buffer)
    return Launch(name, tuple(buffers), tuple(sizes))
