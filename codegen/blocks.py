"""Steps with steps inside: looking at them all, and changing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias, assert_never

from symc.codegen.ir import (
    Binary,
    Branch,
    Check,
    Expr,
    Kernel,
    Launch,
    Measure,
    Pointer,
    Program,
    PythonCall,
    Region,
    Repeat,
    Routine,
    Step,
    Var,
    const,
)
from symc.codegen.record import replace

Working: TypeAlias = Launch | Routine | PythonCall


def every_step(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps and those inside them, in the order of the text."""
    for step in steps:
        yield step
        if isinstance(step, Repeat):
            yield from every_step(step.steps)
        elif isinstance(step, Branch):
            yield from every_step((*step.then, *step.otherwise))


def sizes_needed(step: Step) -> Iterator[Expr]:
    """The sizes that a step needs, those inside it included."""
    for inner in every_step([step]):
        match inner:
            case Launch(_, _, sizes):
                yield from sizes
            case Routine(_, args):
                yield from (arg.offset if isinstance(arg, Pointer) else arg for arg in args)
            case Check(condition):
                yield condition
            case Repeat(_, extent):
                yield extent
            case PythonCall() | Measure() | Branch():
                pass
            case _:
                assert_never(inner)


def all_sizes_needed(program: Program) -> list[Expr]:
    """The sizes that a program's steps and buffers need, but those that other sizes follow from."""
    exprs = [expr for step in program.steps for expr in sizes_needed(step)]
    exprs += [length for buffer in program.buffers for length in buffer.shape]
    return exprs + [buffer.of.offset for buffer in program.buffers if buffer.of is not None]


def is_branch(program: Program, loop: Repeat) -> bool:
    """Whether a loop has one step at most, as its extent says."""
    extent = loop.extent
    if isinstance(extent, Var):
        values = (size.value for size in program.sizes if size.var == extent)
        extent = next(values, None) or extent
    return isinstance(extent, Binary) and extent.op == "min" and extent.right == const(1)


def working_steps(program: Program) -> Iterator[tuple[Working, Kernel | None]]:
    """The steps that compute something, each with its kernel if it runs one."""
    kernels = {kernel.name: kernel for kernel in program.kernels}
    for step in every_step(program.steps):
        if isinstance(step, Launch):
            yield step, kernels[step.kernel]
        elif isinstance(step, Routine | PythonCall):
            yield step, None


def repeated_kernels(program: Program) -> frozenset[str]:
    """The kernels that loops of the program run."""
    return frozenset(
        step.kernel
        for repeat in every_step(program.steps)
        if isinstance(repeat, Repeat)
        for step in every_step(repeat.steps)
        if isinstance(step, Launch)
    )


def brief_kernels(program: Program) -> frozenset[str]:
    """The kernels that steps launch for a few iterations, beside others for many."""
    found: set[str] = set()
    for step in every_step(program.steps):
        match step:
            case Branch(_, (Launch() as few,), (Launch() as many,)):
                if {*few.buffers, *few.sizes} <= {*many.buffers, *many.sizes}:
                    found.add(few.kernel)
            case _:
                pass
    return frozenset(found)


def steady_params(program: Program) -> dict[str, frozenset[str]]:
    """For kernels that loops run: the parameters that no step of their innermost loop writes to."""
    kernels = {kernel.name: kernel for kernel in program.kernels}
    found: dict[str, frozenset[str]] = {}
    for repeat in every_step(program.steps):
        if not isinstance(repeat, Repeat):
            continue
        inside = list(every_step(repeat.steps))
        launches = [step for step in inside if isinstance(step, Launch)]
        others = [step for step in inside if isinstance(step, Routine | PythonCall)]
        writes = {b for launch in launches for b in written(launch, kernels[launch.kernel])}
        writes |= {buffer for step in others for buffer in written(step, None)}
        for launch in launches:  # of loops in loops the innermost comes last
            pairs = zip(kernels[launch.kernel].params, launch.buffers, strict=True)
            found[launch.kernel] = frozenset(p.name for p, b in pairs if b not in writes)
    return found


def written(step: Working, kernel: Kernel | None) -> list[str]:
    """The buffers that a step writes to."""
    match step:
        case Launch(_, buffers):
            params = kernel.params if kernel is not None else ()
            return [b for b, param in zip(buffers, params, strict=True) if param.written]
        case Routine(_, args):
            return [arg.buffer for arg in args if isinstance(arg, Pointer) and arg.written]
        case PythonCall(_, _, args):
            regions = [arg.pointer for arg in args if isinstance(arg, Region)]
            return [pointer.buffer for pointer in regions if pointer.written]
        case _:
            assert_never(step)


def map_blocks(
    steps: Iterable[Step], change: Callable[[Sequence[Step]], Sequence[Step]]
) -> tuple[Step, ...]:
    """The steps after `change`, applied to them and to each block inside, inner ones first."""
    found: list[Step] = []
    for step in steps:
        match step:
            case Repeat(steps=body):
                found.append(replace(step, steps=map_blocks(body, change)))
            case Branch(_, then, otherwise):
                inside = map_blocks(then, change), map_blocks(otherwise, change)
                found.append(replace(step, then=inside[0], otherwise=inside[1]))
            case _:
                found.append(step)
    return tuple(change(found))


def map_steps(steps: Iterable[Step], change: Callable[[Step], Sequence[Step]]) -> tuple[Step, ...]:
    """The steps with each that holds no others replaced by its `change`."""

    def block(inside: Sequence[Step]) -> list[Step]:
        nested = (Repeat, Branch)
        return [new for s in inside for new in ([s] if isinstance(s, nested) else change(s))]

    return map_blocks(steps, block)
