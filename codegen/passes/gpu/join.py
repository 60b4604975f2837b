"""join: launches that one team does, one behind the other, become one launch.

Numbers are computed from numbers, and from the partial results of a sum, by kernels that have no
loop over independent iterations. To launch such a kernel takes longer than to run it. So what
follows on it and is of the same kind is added to it: the team does one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Buffer,
    Combine,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Param,
    Program,
    Step,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.gpu.mapping import outer_loop
from symc.codegen.passes.walk import Block, bound, fresh, rebuild, statements

MOST = 200  # statements of a joined kernel: compilers do not like long ones


def join(program: Program) -> Program:
    """The program with neighbouring launches of one team joined."""
    kernels = {kernel.name: kernel for kernel in program.kernels}
    taken = set(kernels)
    steps: list[Step] = []
    group: list[Launch] = []

    def close() -> None:
        if len(group) > 1:
            joined = _Joined(group, kernels)
            name = fresh(group[-1].kernel, taken)
            kernels[name] = joined.kernel(name)
            steps.append(Launch(name, tuple(joined.buffers), tuple(joined.values)))
        else:
            steps.extend(group)
        group.clear()

    length = 0
    for step in program.steps:
        own = _statements(step, kernels)
        if not own or length + own > MOST:
            close()
            length = 0
        length += own
        if own and isinstance(step, Launch):
            group.append(step)
        else:
            steps.append(step)
    close()
    if len(steps) == len(program.steps):
        return program
    used = {step.kernel for step in steps if isinstance(step, Launch)}
    kept = tuple(kernel for kernel in kernels.values() if kernel.name in used)
    return replace(program, kernels=kept, steps=tuple(steps))


def _statements(step: Step, kernels: Mapping[str, Kernel]) -> int:
    """How many statements a launch for one team runs; 0 for all other steps."""
    if not isinstance(step, Launch) or outer_loop(kernels[step.kernel].body) is not None:
        return 0
    return sum(1 for _ in statements(kernels[step.kernel].body))


class _Joined:
    """The kernel that does what several launches do."""

    def __init__(self, launches: Sequence[Launch], kernels: Mapping[str, Kernel]) -> None:
        self.buffers: dict[str, Param] = {}  # the program's, with the parameters for them
        self.values: dict[Expr, Var] = {}  # the launch's sizes, likewise
        self.taken: set[str] = set()
        self.notes: dict[str, None] = {}
        self.body: list[Stmt] = []
        for launch in launches:
            self.add(launch, kernels[launch.kernel])

    def kernel(self, name: str) -> Kernel:
        """The kernel."""
        params, sizes = tuple(self.buffers.values()), tuple(self.values.values())
        return Kernel(name, params, sizes, tuple(self.body), "\n".join(self.notes))

    def add(self, launch: Launch, kernel: Kernel) -> None:
        """What one more launch does."""
        names: dict[str, str] = {}
        for param, buffer in zip(kernel.params, launch.buffers, strict=True):
            known = self.buffers.get(buffer)
            name = fresh(param.name, self.taken) if known is None else known.name
            written = param.written or (known is not None and known.written)
            self.buffers[buffer] = Param(name, param.dtype, written)
            names[param.name] = name
        for size, value in zip(kernel.sizes, launch.sizes, strict=True):
            if value not in self.values:
                self.values[value] = Var(fresh(size.name, self.taken), size.dtype)
            names[size.name] = self.values[value].name
        for name in bound(kernel) - names.keys():
            names[name] = fresh(name, self.taken)
        self.body += _renamed(kernel.body, names)
        for line in kernel.note.split("\n"):
            self.notes[line] = None


def _renamed(block: Block, names: dict[str, str]) -> Block:
    """A block with other names for all that has one."""

    def expr(old: Expr) -> Expr:
        match old:
            case Var(name, dtype):
                return Var(names[name], dtype)
            case Load(buffer, index, dtype):
                return Load(names[buffer], expr(index), dtype)
            case _:
                return rebuild(old, expr)

    def statement(old: Stmt) -> Stmt:
        match old:
            case Let(var, value):
                return Let(Var(names[var.name], var.dtype), expr(value))
            case Store(buffer, index, value):
                return Store(names[buffer], expr(index), expr(value))
            case Accumulate(buffer, index, op, value, atomic):
                return Accumulate(names[buffer], expr(index), op, expr(value), atomic)
            case Loop(var, extent, kind, body, note):
                inner = Var(names[var.name], var.dtype)
                return Loop(inner, expr(extent), kind, tuple(map(statement, body)), note)
            case If(condition, then, otherwise):
                first, second = tuple(map(statement, then)), tuple(map(statement, otherwise))
                return If(expr(condition), first, second)
            case Alloc(buffer):
                shape = tuple(map(expr, buffer.shape))
                return Alloc(Buffer(names[buffer.name], buffer.dtype, shape, buffer.role))
            case Combine(buffer, op, dtype, reach):
                return Combine(names[buffer], op, dtype, reach)
            case Barrier():
                return old

    return tuple(map(statement, block))
