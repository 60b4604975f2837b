"""join: several launches, one after the other, become one launch of one kernel.

In a step of a loop, a kernel that computes a few numbers takes no longer than to call it. So on a
processor kernels without independent iterations are joined there: a value that one has stored,
another need not load. (`gpu/join.py` does it everywhere, and has its own idea of what is small.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from symc.codegen.blocks import every_step, map_blocks
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
    Repeat,
    Step,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.strips import map_cut
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    loads_of,
    rebuild,
    statements,
    substitute,
)
from symc.codegen.record import replace

MOST = 200  # statements of a joined kernel: compilers do not like long ones


def join(program: Program) -> Program:
    """The program with small neighbours in the steps of loops joined."""
    if not any(isinstance(step, Repeat) for step in program.steps):
        return program

    def is_small(kernel: Kernel) -> bool:
        return not any(
            isinstance(stmt, Loop) and stmt.kind == "parallel" for stmt in statements(kernel.body)
        )

    return joined(program, is_small, within=Repeat)


def length_of(kernel: Kernel) -> int:
    """How many statements a kernel has."""
    return sum(1 for _ in statements(kernel.body))


def joined(
    program: Program,
    is_small: Callable[[Kernel], bool],
    within: type[Repeat] | None = None,
    length: Callable[[Kernel], int] = length_of,
) -> Program:
    """The program with neighbouring launches of small kernels joined, everywhere or in loops.

    A kernel counts towards `MOST` by its `length`.
    """
    small = partial(_small_length, is_small, length)
    kernels = {kernel.name: kernel for kernel in program.kernels}
    taken = set(kernels)

    def change(block: Sequence[Step]) -> list[Step]:
        return _block(block, small, kernels, taken)

    if within is None:
        steps = map_blocks(program.steps, change)
    else:
        steps = tuple(
            [
                replace(step, steps=map_blocks(step.steps, change))
                if isinstance(step, within)
                else step
                for step in program.steps
            ]
        )
    if steps == program.steps:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    kept = tuple(kernel for kernel in kernels.values() if kernel.name in used)
    return replace(program, kernels=kept, steps=steps)


def _small_length(
    is_small: Callable[[Kernel], bool], length: Callable[[Kernel], int], kernel: Kernel
) -> int:
    """The length of a kernel that may be joined, and 0 of others."""
    return length(kernel) if is_small(kernel) else 0


def _block(
    block: Sequence[Step], small: Callable[[Kernel], int],
    kernels: dict[str, Kernel], taken: set[str],
) -> list[Step]:  # fmt: skip
    """A block of steps with those launches joined; adds the kernels."""
    steps: list[Step] = []
    group: list[Launch] = []

    def close() -> None:
        if len(group) > 1:
            made = Joined(group, kernels)
            name = fresh(group[-1].kernel, taken)
            kernels[name] = made.kernel(name)
            steps.append(Launch(name, tuple(made.buffers), tuple(made.values)))
        else:
            steps.extend(group)
        group.clear()

    length = 0
    for step in block:
        own = small(kernels[step.kernel]) if isinstance(step, Launch) else 0
        if not own or length + own > MOST:
            close()
            length = 0
        length += own
        if own and isinstance(step, Launch):
            group.append(step)
        else:
            steps.append(step)
    close()
    return steps


def may_swap(first: Launch, second: Launch, kernels: Mapping[str, Kernel]) -> bool:
    """Whether neither writes an element that the other touches, nor reads a size it stores."""
    reads, others = (buffers_of(launch, kernels, written=False) for launch in (first, second))
    writes, stores = (buffers_of(launch, kernels, written=True) for launch in (first, second))
    sizes = any(loads_of(Let(Var("size"), value)) for value in (*first.sizes, *second.sizes))
    return not sizes and not writes & (others | stores) and not stores & reads


def seen(extent: Expr, kernel: Kernel, launch: Launch) -> Expr:
    """An extent in the sizes of the program."""
    values = dict(zip((size.name for size in kernel.sizes), launch.sizes, strict=True))
    return substitute(extent, values)


def buffers_of(launch: Launch, kernels: Mapping[str, Kernel], *, written: bool) -> set[str]:
    """The buffers that a launch writes, or only reads."""
    params = kernels[launch.kernel].params
    pairs = zip(params, launch.buffers, strict=True)
    return {buffer for param, buffer in pairs if param.written is written}


class Joined:
    """The kernel that does the work of several launches."""

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
        """The body of one more launch, in the names of the joined kernel."""
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
        for name in sorted(bound(kernel) - names.keys()):
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
            case Loop(var, extent, kind, body, note, cut):
                inner, renamed = Var(names[var.name], var.dtype), map_cut(cut, expr)
                return Loop(inner, expr(extent), kind, tuple(map(statement, body)), note, renamed)
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
