"""borrowed: a part of an array that routines alone read is read by them where it lies.

    kernel copy(x, part; at, n): for i in n: part[i] = x[at + i]
    copy(x, part; 3*k, n)
    routine gemv(..., part, ...)                   routine gemv(..., x + 3*k, ...)

Routines take whole arrays, so that a block of a matrix of blocks, or a slice, was copied for each
product: for small ones that takes longer than the product. The part must lie in memory as it would
in an array of its own, and the array must stay as it is until it is read. Numbers that are read to
find where the part begins become sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.blocks import every_step, map_blocks, map_steps, written
from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Measure,
    Pointer,
    Program,
    PythonCall,
    Routine,
    Size,
    Step,
    Store,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.kernels.in_program import UNKNOWN, InProgram
from symc.codegen.passes.kernels.memory import buffers_of, wholes
from symc.codegen.passes.walk import fresh, names_in, nodes, rebuild
from symc.codegen.record import replace
from symc.codegen.verify.polynomials import added, expression, polynomial


def borrowed(program: Program) -> Program:
    """The program without such copies."""
    if not any(isinstance(step, Routine) for step in every_step(program.steps)):
        return program
    copies = CopiedParts(program)
    steps = map_steps(map_blocks(program.steps, copies.block), copies.routine)
    if not copies.places:
        return program
    called = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    return replace(
        program,
        sizes=(*program.sizes, *copies.sizes),
        buffers=tuple([b for b in program.buffers if copies.base(b.name) not in copies.places]),
        kernels=tuple([kernel for kernel in program.kernels if kernel.name in called]),
        steps=steps,
    )


class CopiedParts:
    """The walk over the steps of a program. `places` has where the copied parts begin."""

    def __init__(self, program: Program) -> None:
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.buffers = {buffer.name: buffer for buffer in program.buffers}
        self.whole = wholes(program)
        self.places: dict[str, Pointer] = {}
        self.sizes: list[Size] = []
        self.taken = {size.var.name for size in program.sizes}
        self.uses: dict[str, list[Step]] = {}
        for step in every_step(program.steps):
            for name in buffers_of(step):
                self.uses.setdefault(self.base(name), []).append(step)

    def base(self, name: str) -> str:
        """The array that a buffer is a part of."""
        return self.whole.get(name, name)

    def block(self, steps: Sequence[Step]) -> list[Step]:
        """The steps of a block, without copies."""
        found: list[Step] = []
        for number, step in enumerate(steps):
            copied = self.copied(step, steps[number + 1 :]) if isinstance(step, Launch) else None
            if copied is None:
                found.append(step)
                continue
            name, place = copied
            offset, measured = self.in_sizes(place.offset)
            self.places[name] = Pointer(place.buffer, offset)
            found += measured
        return found

    def routine(self, step: Step) -> list[Step]:
        """A step that reads the parts where they lie."""
        if not isinstance(step, Routine):
            return [step]
        return [replace(step, args=tuple(map(self.argument, step.args)))]

    def argument(self, arg: Pointer | Expr) -> Pointer | Expr:
        """An argument of a routine."""
        if not isinstance(arg, Pointer) or arg.buffer not in self.places:
            return arg
        place = self.places[arg.buffer]
        return Pointer(place.buffer, add(place.offset, arg.offset))

    def in_sizes(self, offset: Expr) -> tuple[Expr, list[Measure]]:
        """An offset with numbers that are read as sizes, and what measures these."""
        measured: dict[str, Measure] = {}

        def visit(expr: Expr) -> Expr:
            if not isinstance(expr, Load):
                return rebuild(expr, visit)
            if expr.buffer not in measured:
                size = Var(fresh("place", self.taken))
                self.sizes.append(Size(size, None, "where a part begins"))
                measured[expr.buffer] = Measure(size.name, expr.buffer)
            return Var(measured[expr.buffer].size)

        return visit(offset), list(measured.values())

    # --- what may be borrowed ---------------------------------------------------------------------

    def copied(self, launch: Launch, later: Sequence[Step]) -> tuple[str, Pointer] | None:
        """What a launch copies, and from where, if later steps can read it there."""
        copied = _copied(launch, self.kernels[launch.kernel])
        if copied is None:
            return None
        name, place = copied
        part = self.buffers[name]
        if part.role != "temp" or part.dtype.is_complex or place.buffer in self.places:
            return None
        if part.shape == self.buffers[place.buffer].shape:
            return None  # a copy of the whole is there for a reason, such as where it begins
        users = [step for step in self.uses[name] if step is not launch]
        if not users or not all(isinstance(s, Routine) and self.only_reads(s, name) for s in users):
            return None
        numbers = [number for number, step in enumerate(later) if any(step is u for u in users)]
        if len(numbers) < len({id(step) for step in users}):
            return None  # some are in other blocks
        until = every_step(later[: max(numbers) + 1])
        is_changed = any(self.base(place.buffer) in self.changed(step) for step in until)
        return None if is_changed else (name, place)

    def only_reads(self, step: Routine, name: str) -> bool:
        """Whether a routine reads an array, as such and no rows of it, and does not write it."""
        own = [a for a in step.args if isinstance(a, Pointer) and self.base(a.buffer) == name]
        return bool(own) and all(a.buffer == name and not a.written for a in own)

    def changed(self, step: Step) -> set[str]:
        """The arrays that a step itself writes into."""
        if not isinstance(step, Launch | Routine | PythonCall):
            return set()
        kernel = self.kernels[step.kernel] if isinstance(step, Launch) else None
        return set(map(self.base, written(step, kernel)))


def _copied(launch: Launch, kernel: Kernel) -> tuple[str, Pointer] | None:
    """The array that a launch fills with a part of another, and where that begins in the other one.

    The place is in names of the program, and in numbers that are read.
    """
    *lets, stmt = kernel.body or (None,)
    loops: list[Loop] = []
    while isinstance(stmt, Loop) and len(stmt.body) == 1:
        loops.append(stmt)
        (stmt,) = stmt.body
    if not loops or not isinstance(stmt, Store) or not isinstance(stmt.value, Load):
        return None
    if not all(isinstance(let, Let) for let in lets):
        return None
    place: Expr = const(0)
    for loop in loops:
        place = add(mul(place, loop.extent), loop.var)
    if polynomial(stmt.index) != polynomial(place):
        return None
    first = added(polynomial(stmt.value.index), polynomial(place), -1)
    inside = InProgram(launch, kernel)
    own = {loop.var.name for loop in loops}
    offset = inside.of(expression(first))
    reads = [node for node in nodes(offset) if isinstance(node, Load)]
    if own & names_in(expression(first)) or UNKNOWN in names_in(offset):
        return None
    if any(read.index != const(0) or read.dtype is not INT64 for read in reads):
        return None
    return inside.buffers[stmt.buffer], Pointer(inside.buffers[stmt.value.buffer], offset)
