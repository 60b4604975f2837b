"""Kernels that are compiled into the loop which runs them: a few operations, a step at a time.

And those that give such a loop a number to begin with.

A call takes as long as some ten operations, and a compiler that sees both keeps in registers what
one step stores and the next one reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from symc.codegen.blocks import brief_kernels, every_step, written
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Call,
    Const,
    If,
    Kernel,
    Launch,
    Let,
    Loop,
    Program,
    Repeat,
    Stmt,
    Store,
)
from symc.codegen.passes.expressions.inline import operations, weight
from symc.codegen.passes.walk import Block, expressions, nodes

FEW = 64  # operations
LONG = 256  # operations of a kernel that only one step runs
SHORT = 16  # iterations of a loop of known length, which take less than a call
TINY = 12  # operations of a step, beside which counting the steps takes long
AT_ONCE = 4  # of such steps are written out, one after the other


def inlined_kernels(program: Program) -> frozenset[str]:
    """The kernels that are launched in a loop or for one, and are short, with all their copies."""
    launches = [step for step in every_step(program.steps) if isinstance(step, Launch)]
    count = _launches(program)
    inside = {
        step.kernel
        for repeat in every_step(program.steps)
        if isinstance(repeat, Repeat)
        for step in every_step(repeat.steps)
        if isinstance(step, Launch)
    }
    numbers = {b.name for b in program.buffers if b.role == "temp" and not b.shape}
    used = {name for launch in launches if launch.kernel in inside for name in launch.buffers}
    kernels = {kernel.name: kernel for kernel in program.kernels}
    for launch in launches if inside else ():
        if used & numbers >= set(written(launch, kernels[launch.kernel])):
            inside.add(launch.kernel)
    brief = _brief_kernels(program)
    return frozenset(
        kernel.name
        for kernel in program.kernels
        if kernel.name in brief
        or (kernel.name in inside and is_short(kernel, copies=count[kernel.name]))
    )


def _brief_kernels(program: Program) -> frozenset[str]:
    """The kernels for a few iterations of which a loop is no longer than a call (`brief.py`)."""
    kernels = {kernel.name: kernel for kernel in program.kernels}
    return frozenset(n for n in brief_kernels(program) if is_short(kernels[n], loops=True))


def launched_once(program: Program) -> frozenset[str]:
    """The kernels that one step launches: what is changed for that step is changed for no other."""
    return frozenset(name for name, times in _launches(program).items() if times == 1)


def _launches(program: Program) -> Counter[str]:
    """How many steps launch each kernel."""
    return Counter(step.kernel for step in every_step(program.steps) if isinstance(step, Launch))


def is_short(kernel: Kernel, copies: int = 1, *, loops: bool = False) -> bool:
    """Whether a kernel has no loops but written out, and few operations, in all its copies.

    With `loops` it may have serial ones of a few operations.
    """
    most = FEW // copies if copies > 1 else LONG
    return _length(kernel.body, most, loops=loops) <= most


def _length(body: Block, most: int, *, loops: bool) -> int:
    """The operations of statements, with all copies of what is written out; else more than most."""
    length = 0
    for stmt in body:
        match stmt:
            case Let() | Store() | Accumulate():
                length += weight(stmt)
            case If(_, then, otherwise):
                length += weight(stmt) + _length((*then, *otherwise), most, loops=loops)
            case Alloc(buffer, value) if not buffer.shape:
                length += 0 if value is None else 1 + operations(value)
            case Loop(extent=Const(count), kind="unroll", body=inside):
                length += int(count) * _length(inside, most, loops=loops)
            case Loop(extent=Const(count), kind="serial", body=inside) if int(count) <= SHORT:
                length += _length(inside, most, loops=loops)
            case Loop(kind="serial", body=inside) if loops:
                length += _length(inside, most, loops=loops)
            case _:
                return most + 1
        if length > most:
            break
    return length


def is_tiny(body: Sequence[Stmt]) -> bool:
    """Whether the steps of a loop are so short that several are written out."""
    left = TINY
    for stmt in body:
        match stmt:
            case Let() | Store() | Accumulate():
                left -= weight(stmt)
            case _:
                return False
        called = {n.function for e in expressions(stmt) for n in nodes(e) if isinstance(n, Call)}
        if called - {"apart", "below_or", "unless"}:
            return False
    return left >= 0
