"""Numbers that a loop carries from step to step, and what a step makes of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from symc.codegen.blocks import every_step, written
from symc.codegen.dtypes import INT64, DType
from symc.codegen.ir import (
    Accumulate,
    Check,
    Expr,
    Kernel,
    Launch,
    Load,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    Store,
    const,
)
from symc.codegen.passes.kernels.in_program import InProgram, is_long
from symc.codegen.passes.walk import loads_of, statements

_ZERO = const(0)


def integer_states(
    program: Program, repeat: Repeat, numbers: Collection[str], in_program: Callable[[Expr], Expr]
) -> dict[Expr, Expr]:
    """The integers that a single statement of a step changes, after its last check.

    What it makes of them is over sizes and elements of the program, which `in_program` writes out.
    None that share memory with other buffers.
    """
    kernels = {kernel.name: kernel for kernel in program.kernels}
    alone = set(numbers) - in_rows(program)
    inside = list(every_step(repeat.steps))
    found: dict[Expr, Expr] = {}
    for step in _behind_checks(repeat):
        if not isinstance(step, Launch):
            continue
        for name, value in _stored(step, kernels[step.kernel]).items():
            writers = [one for one in inside if writes(one, name, kernels)]
            new = in_program(value)
            if name in alone and len(writers) == 1 and not is_long(new):
                found[Load(name, _ZERO, INT64)] = new
    return found


def in_rows(program: Program) -> set[str]:
    """The buffers that share memory with others: rows, and what they are rows of."""
    rows = [buffer for buffer in program.buffers if buffer.of is not None]
    return {buffer.name for buffer in rows} | {b.of.buffer for b in rows if b.of is not None}


def writes(step: Step, buffer: str, kernels: Mapping[str, Kernel]) -> bool:
    """Whether a step itself writes to a buffer."""
    match step:
        case Launch(kernel):
            return buffer in written(step, kernels[kernel])
        case Routine() | PythonCall():
            return buffer in written(step, None)
        case _:
            return False


def _behind_checks(repeat: Repeat) -> tuple[Step, ...]:
    """The steps of a loop after the last one that checks something."""
    checking = [
        place
        for place, step in enumerate(repeat.steps)
        if any(isinstance(one, Check) for one in every_step([step]))
    ]
    return repeat.steps[checking[-1] + 1 :] if checking else repeat.steps


def _stored(launch: Launch, kernel: Kernel) -> dict[str, Expr]:
    """The integers that a kernel stores once, whatever happens."""
    inside = InProgram(launch, kernel)
    stores = [s.buffer for s in statements(kernel.body) if isinstance(s, Store | Accumulate)]
    return {
        inside.buffers[stmt.buffer]: inside.of(stmt.value)
        for stmt in kernel.body
        if isinstance(stmt, Store)
        and stmt.value.dtype is INT64
        and stmt.index == _ZERO
        and stores.count(stmt.buffer) == 1
        and stmt.buffer in inside.buffers
    }


def stored_once(launch: Launch, kernel: Kernel, dtype: DType) -> dict[str, Expr]:
    """The numbers that a kernel stores once, whatever happens, and reads nowhere."""
    inside = InProgram(launch, kernel)
    stored = [s.buffer for s in statements(kernel.body) if isinstance(s, Store | Accumulate)]
    loaded = {load.buffer for stmt in statements(kernel.body) for load in loads_of(stmt)}
    return {
        inside.buffers[stmt.buffer]: inside.of(stmt.value)
        for stmt in kernel.body
        if isinstance(stmt, Store)
        and stmt.value.dtype is dtype
        and stmt.index == _ZERO
        and stored.count(stmt.buffer) == 1
        and stmt.buffer in inside.buffers
        and stmt.buffer not in loaded
    }
