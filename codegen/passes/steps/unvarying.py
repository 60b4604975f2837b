"""unvarying: what all steps of a loop ask of arrays that it does not change is asked once.

    repeat step in n:                         whether(places, fine; m)
        whether(places, fine; m)              check n <= 0 or fine[0]
        check fine[0]                         repeat step in n:
        kernel(x, places)                         kernel(x, places)

Only what is stored as a bool is moved: numbers that do not vary are computed before loops in any
case, but whether places lie within an array is asked where it is read. A check moves only if
nothing that stays in the loop may end the call before it: errors come in the order of the steps.
What is asked needs no check before it, as it reads no element at a place that another one gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.blocks import every_step, map_blocks, written
from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Buffer,
    Check,
    Const,
    Expr,
    Kernel,
    Launch,
    Load,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    binary,
    const,
)
from symc.codegen.passes.kernels.following import varying_sizes
from symc.codegen.passes.walk import (
    index_names,
    loads_of,
    names_in,
    nodes,
    statements,
    substitute,
)
from symc.codegen.record import replace


def unvarying(program: Program) -> Program:
    """The program with such questions before the loops."""
    repeats = [step for step in every_step(program.steps) if isinstance(step, Repeat)]
    if not any(isinstance(step, Check) for step in every_step(repeats)):
        return program
    walk = _MovingOut(program)
    steps = map_blocks(program.steps, walk.block)
    return program if steps == program.steps else replace(program, steps=steps)


class _MovingOut:
    """The walk over the steps of one program, inner loops first."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.buffers = {buffer.name: buffer for buffer in program.buffers}

    def block(self, steps: Sequence[Step]) -> list[Step]:
        """The steps of a block, with questions of its loops before them."""
        found: list[Step] = []
        for step in steps:
            found += self.repeat(step) if isinstance(step, Repeat) else [step]
        return found

    def repeat(self, repeat: Repeat) -> list[Step]:
        """What moves out of a loop, and the loop."""
        loop = _Changes(self, repeat)
        before: list[Step] = []
        inside: list[Step] = []
        in_order = True  # whether nothing that stays may end the call so far
        for step in repeat.steps:
            match step:
                case Launch() if loop.is_steady(step):
                    before.append(step)
                    loop.asked.update(loop.writes(step))
                case Check(condition) if in_order and loop.is_known(condition):
                    before.append(replace(step, condition=_if_any(repeat.extent, condition)))
                case _:
                    inside.append(step)
                    in_order = in_order and isinstance(step, Launch)
        return [*before, replace(repeat, steps=tuple(inside))] if before else [repeat]


def _if_any(extent: Expr, condition: Expr) -> Expr:
    """The condition, unless a loop has no steps."""
    if isinstance(extent, Const) and extent.value > 0:
        return condition
    return binary("or", binary("le", extent, const(0)), condition)


class _Changes:
    """What one loop changes, and what has been asked before it."""

    def __init__(self, walk: _MovingOut, repeat: Repeat) -> None:
        self.kernels: Mapping[str, Kernel] = walk.kernels
        self.buffers: Mapping[str, Buffer] = walk.buffers
        self.sizes = varying_sizes(walk.program, repeat)
        self.changed: list[str] = [] if repeat.stop is None else [repeat.stop]
        for step in every_step(repeat.steps):
            if isinstance(step, Launch | Routine | PythonCall):
                self.changed += self.writes(step)
        self.asked: set[str] = set()

    def writes(self, step: Launch | Routine | PythonCall) -> list[str]:
        """The arrays that a step writes to, or to rows of them."""
        kernel = self.kernels[step.kernel] if isinstance(step, Launch) else None
        buffers = [self.buffers[name] for name in written(step, kernel)]
        return [buffer.name if buffer.of is None else buffer.of.buffer for buffer in buffers]

    def is_steady(self, launch: Launch) -> bool:
        """Whether a step stores truth values that are the same in all steps."""
        kernel, buffers = self.kernels[launch.kernel], [self.buffers[b] for b in launch.buffers]
        if any(buffer.of is not None for buffer in buffers):  # a row of each step
            return False
        for param, buffer in zip(kernel.params, buffers, strict=True):
            times = self.changed.count(buffer.name)
            is_flag = buffer.dtype is BOOL and not buffer.shape and buffer.role == "temp"
            if not (is_flag and times == 1 if param.written else times == 0):
                return False
        if any(self.sizes & names_in(size) for size in launch.sizes):
            return False
        return not _reads_at_places(kernel)

    def is_known(self, condition: Expr) -> bool:
        """Whether a condition is the same before all steps."""
        loads = [node for node in nodes(condition) if isinstance(node, Load)]
        if self.sizes & names_in(condition):
            return False
        return all(load.buffer in self.asked or self._stays(load.buffer) for load in loads)

    def _stays(self, name: str) -> bool:
        buffer = self.buffers[name]
        return buffer.of is None and buffer.role == "temp" and name not in self.changed


def _reads_at_places(kernel: Kernel) -> bool:
    """Whether a kernel reads an element at a place that it reads, too."""
    block = tuple(statements(kernel.body))
    names = index_names(block)
    indexes = [substitute(load.index, names) for stmt in block for load in loads_of(stmt)]
    return any(isinstance(node, Load) for index in indexes for node in nodes(index))
