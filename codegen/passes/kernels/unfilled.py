"""unfilled: an array that is overwritten before anything reads it is not filled before.

    fill_kernel(y; n)
    repeat step in n: kernel(x, y; step): y[step] = f(x[step])      repeat step in n: ...

    copy_bytes(y, zeros, 8*(m + 1))                                 copy_bytes(y, zeros, 8)
    repeat step in m: kernel(x, y; step):                           repeat step in m: ...
        y[step + 1] = f(x[step], y[step])

Programs begin with zeros what loops then set element by element. To fill an array takes as long as
a loop of a few operations over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from symc.codegen.blocks import every_step, map_blocks, written
from symc.codegen.ir import (
    Const,
    Expr,
    Kernel,
    Launch,
    Load,
    Loop,
    Pointer,
    Program,
    Repeat,
    Routine,
    Step,
    Stmt,
    Store,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.kernels.in_program import InProgram, is_long
from symc.codegen.passes.kernels.memory import buffers_of, wholes
from symc.codegen.passes.walk import index_names, loads_of, statements, substitute
from symc.codegen.passes.walk import written as stored
from symc.codegen.record import replace
from symc.codegen.signs import is_natural, natural_names
from symc.codegen.verify.polynomials import added, by, polynomial

FILLED = ("temp", "output")  # buffers that nobody has after a call that fails


def unfilled(program: Program) -> Program:
    """The program without such fillings, or with those of the elements that are left."""
    walk = _Fillings(program)
    steps = map_blocks(program.steps, walk.block)
    if steps == program.steps:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    return replace(
        program, kernels=tuple(k for k in program.kernels if k.name in used), steps=steps
    )


class _Fillings:
    """The walk over the steps of one program."""

    def __init__(self, program: Program) -> None:
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.buffers = {buffer.name: buffer for buffer in program.buffers}
        self.whole = wholes(program)
        self.natural = natural_names(program)
        self.values: dict[str, Expr] = {}
        for size in program.sizes:
            if size.value is not None:
                value = substitute(size.value, self.values)
                self.values[size.var.name] = size.var if is_long(value) else value

    def block(self, steps: Sequence[Step]) -> list[Step]:
        """The steps of a block, those that fill arrays left out."""
        found: list[Step] = []
        for place, step in enumerate(steps):
            buffer = self._filled(step)
            kept = None if buffer is None else self._kept(buffer, steps[place + 1 :])
            if kept is None:
                found.append(step)
            elif kept:
                found.append(self._shorter(step, kept))
        return found

    def _filled(self, step: Step) -> str | None:
        """The buffer that is all a step writes."""
        match step:
            case Launch(kernel):
                found = written(step, self.kernels[kernel])
            case Routine("copy_bytes", (Pointer(buffer, Const(0)), Pointer(), _)):
                found = [buffer]
            case _:
                return None
        if len(found) != 1:
            return None
        role = self.buffers[self.whole.get(found[0], found[0])].role
        return found[0] if role in FILLED else None

    def _shorter(self, step: Step, kept: int) -> Step:
        """The step for the first elements alone; the same if there is no such step."""
        match step:
            case Routine(args=(Pointer(buffer) as to, of, count)):
                bytes_of = self.buffers[buffer].dtype.bytes
                whole = mul(self._length(buffer), const(bytes_of))
                if isinstance(count, Pointer) or not self._same(count, whole):
                    return step
                return replace(step, args=(to, of, const(kept * bytes_of)))
            case _:
                return step

    def _kept(self, buffer: str, steps: Sequence[Step]) -> int | None:
        """How many of the first elements of a buffer are needed, of which steps write all others.

        None if they may need any.
        """
        for step in steps:
            if any(self._is_near(buffer, other) for other in _touched(step)):
                match step:
                    case Launch():
                        return 0 if self._writes_all(step, buffer) else None
                    case Repeat(stop=None, done=None):
                        return self._first_written(step, buffer)
                    case _:
                        return None
        return None

    def _is_near(self, buffer: str, other: str) -> bool:
        """Whether two buffers may overlap."""
        return self.whole.get(buffer, buffer) == self.whole.get(other, other)

    # --- kernels that write all -------------------------------------------------------------------

    def _writes_all(self, launch: Launch, buffer: str) -> bool:
        """Whether a kernel stores to each element of a buffer, and reads none."""
        kernel = self.kernels[launch.kernel]
        name = self._parameter(launch, buffer)
        if name is None or any(load.buffer == name for load in _loads(kernel)):
            return False
        lets, natural = index_names(tuple(statements(kernel.body))), self.natural
        given: dict[str, Expr] = dict(
            zip((size.name for size in kernel.sizes), launch.sizes, strict=True)
        )
        for loops, store in _stores(kernel.body, name, ()):
            own = {loop.var.name: Var(f"@{loop.var.name}") for loop in loops}
            names = {**given, **own}
            index = substitute(substitute(store.index, lets), names)
            axes = [
                (own[loop.var.name], substitute(substitute(loop.extent, lets), names))
                for loop in loops
            ]
            if all(is_natural(extent, natural) for _, extent in axes) and any(
                self._is_whole(order, index, buffer) for order in permutations(axes)
            ):
                return True
        return False

    def _is_whole(self, axes: Sequence[tuple[Var, Expr]], index: Expr, buffer: str) -> bool:
        """Whether an index goes once over a buffer whose axes have these variables and lengths."""
        flat: Expr = const(0)
        many: Expr = const(1)
        for variable, length in axes:
            flat, many = add(mul(flat, length), variable), mul(many, length)
        return self._same(index, flat) and self._same(many, self._length(buffer))

    def _parameter(self, launch: Launch, buffer: str) -> str | None:
        """The name of a buffer in a kernel, if it is given nothing else near it that it writes."""
        near = [
            param
            for param, other in zip(self.kernels[launch.kernel].params, launch.buffers, strict=True)
            if self._is_near(buffer, other) and (other == buffer or param.written)
        ]
        own = launch.buffers.count(buffer) == 1
        return near[0].name if own and len(near) == 1 and near[0].written else None

    # --- loops that write an element in each step -------------------------------------------------

    def _first_written(self, repeat: Repeat, buffer: str) -> int | None:
        """The first of the elements that a loop stores one after the other, up to the last of all.

        Elements after it are only read when they have been stored.
        """
        launches = [
            step
            for step in every_step(repeat.steps)
            if any(self._is_near(buffer, other) for other in buffers_of(step))
        ]
        match launches:
            case [Launch() as launch] if launch in repeat.steps:
                pass
            case _:
                return None
        kernel, name = self.kernels[launch.kernel], self._parameter(launch, buffer)
        writes = [stmt for stmt in kernel.body if isinstance(stmt, Store) and stmt.buffer == name]
        every = [s for s in statements(kernel.body) if name in stored((s,))]
        if name is None or len(writes) != 1 or len(every) != 1:
            return None
        inside, counter = InProgram(launch, kernel), Var(repeat.var)
        first = self._offset(inside.of(writes[0].index), counter)
        reads = [self._offset(inside.of(load.index), counter) for load in _loads(kernel)
                 if load.buffer == name]  # fmt: skip
        if first is None or first < 0 or any(read is None or read >= first for read in reads):
            return None
        end = add(repeat.extent, const(first))
        is_all = self._same(end, self._length(buffer)) and is_natural(repeat.extent, self.natural)
        return first if is_all else None

    def _offset(self, index: Expr, counter: Var) -> int | None:
        """By how much an index is above the number of a step, if that is a constant."""
        found = by(polynomial(substitute(index, self.values)), counter)
        if found is None or found[0] != {(): 1} or not found[1].keys() <= {()}:
            return None
        return found[1].get((), 0)

    # --- lengths ----------------------------------------------------------------------------------

    def _length(self, buffer: str) -> Expr:
        """How many elements a buffer has."""
        length: Expr = const(1)
        for axis in self.buffers[buffer].shape:
            length = mul(length, axis)
        return length

    def _same(self, one: Expr, other: Expr) -> bool:
        """Whether two integers are equal, whatever the lengths are."""
        first, second = (polynomial(substitute(each, self.values)) for each in (one, other))
        return not added(first, second, -1)


def _touched(step: Step) -> Iterator[str]:
    """The buffers that a step uses, and those inside it."""
    for inner in every_step([step]):
        yield from buffers_of(inner)


def _loads(kernel: Kernel) -> Iterator[Load]:
    for stmt in statements(kernel.body):
        yield from loads_of(stmt)


def _stores(
    block: Sequence[Stmt], buffer: str, around: tuple[Loop, ...]
) -> Iterator[tuple[tuple[Loop, ...], Store]]:
    """The stores to a buffer that are done whatever the data are, and the loops around each."""
    for stmt in block:
        match stmt:
            case Store(name) if name == buffer:
                yield around, stmt
            case Loop():
                yield from _stores(stmt.body, buffer, (*around, stmt))
            case _:
                pass
