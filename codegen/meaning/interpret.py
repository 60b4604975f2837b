"""Run a program in plain Python: a second opinion on generated code.

It checks more than C does: an access outside a buffer, or of an element that nothing has written,
raises `IRError`. Integers wrap and floats round by their dtypes; functions of `math.py` are right
to about 1e-13, not to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any, assert_never

from symc.codegen.errors import IRError
from symc.codegen.ir import (
    TOO_LARGE,
    Branch,
    Check,
    Const,
    Expr,
    Launch,
    Measure,
    Pointer,
    Program,
    PythonCall,
    Region,
    Repeat,
    Routine,
    Step,
)
from symc.codegen.meaning.closures import ClosureCompiler, Functions, Registers, compile_kernel
from symc.codegen.passes.kernels.memory import used_buffers
from symc.codegen.record import record

HUGE = 1 << 60  # bytes: `SYMC_HUGE` of `runtime/host/host.h`


@record
class Array:
    """A flat sequence of Python numbers (list, array.array, memoryview ...) and a shape.

    Of complex numbers, the values are real and imaginary parts in turn.
    """

    values: Sequence[Any]
    shape: tuple[int, ...]


class Window(list[Any]):
    """A row: elements of another buffer, in their place."""

    def __init__(self, values: list[Any], offset: int, length: int) -> None:
        super().__init__()
        if offset < 0 or offset + length > len(values):
            raise IRError(f"a row of {length} from {offset} is not in {len(values)} elements")
        self.values, self.offset, self.length = values, offset, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: Any) -> Any:
        return self.values[self.offset + index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[self.offset + index] = value

    def overlaps(self, other: Window) -> bool:
        """Whether an element is in both."""
        first, second = sorted((self, other), key=lambda row: row.offset)
        return self.values is other.values and first.offset + first.length > second.offset


@record
class View:
    """A routine's view of a `Pointer`: a buffer, None where unwritten, and an offset.

    For a `Region`, which a function in Python gets, it has lengths too.
    """

    values: list[Any]
    offset: int
    shape: tuple[int, ...] = ()


@record
class Result:
    """The state after a call: its status, and the contents of all buffers.

    `status` is 0, or the code of the Check that ended the call, or `TOO_LARGE`. `arrays` has the
    outputs and the shared variables by name, those that the call got to; an element that was never
    written is None.
    """

    status: int
    arrays: dict[str, Array]
    sizes: dict[str, int]


Routines = Mapping[str, Callable[..., None]]
Hosts = Sequence[Callable[..., None]]


def interpret(
    program: Program,
    arrays: Mapping[str, Array],
    functions: Functions | None = None,
    routines: Routines | None = None,
    hosts: Hosts = (),
    *,
    backwards: bool = False,
) -> Result:
    """Run a (verified) program on arrays for its inputs, shared variables and constants.

    The arrays are not changed. `functions` replace the Python meanings of `math.py`. `routines` are
    called with a `View` for each pointer and a number for each expression, `hosts`, by their
    numbers, with a `View` for each region. With `backwards`, parallel loops run from the last
    iteration to the first: the result must be the same.
    """
    return _Run(program, arrays, functions or {}, routines or {}, hosts, backwards).run()


class _Run:
    """One call."""

    def __init__(
        self, program: Program, arrays: Mapping[str, Array], functions: Functions,
        routines: Routines, hosts: Hosts, backwards: bool,
    ) -> None:  # fmt: skip
        self.program = program
        self.routines = routines
        self.hosts = hosts
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.memory: dict[str, list[Any]] = {}
        for buffer in program.buffers:
            if buffer.role in ("input", "shared", "constant"):
                given = arrays[buffer.name]
                self.shapes[buffer.name] = given.shape
                self.memory[buffer.name] = list(given.values)
        self.rows = {buffer.name for buffer in program.buffers if buffer.role == "row"}
        self.kept = {b.name for b in program.buffers if b.role not in ("temp", "row")}
        self.uses = Counter(used_buffers(program, program.steps))
        self.functions = functions
        self.sizes: dict[str, int] = {}
        self.kernels = {
            kernel.name: compile_kernel(kernel, functions, backwards=backwards)
            for kernel in program.kernels
        }

    def run(self) -> Result:
        """All steps, until a Check fails."""
        try:
            self.learn()
            status = self.steps(self.program.steps)
            self.untouched_outputs(status)
        except OverflowError:
            status = TOO_LARGE
        kept = {b.name for b in self.program.buffers if b.role in ("output", "shared")}
        arrays = {
            name: Array(values, self.shapes[name])
            for name, values in self.memory.items()
            if name in kept
        }
        return Result(status, arrays, self.sizes)

    def untouched_outputs(self, status: int) -> None:
        """Outputs that no step needs, having no elements, are there in the end, too."""
        for buffer in self.program.buffers:
            if buffer.role == "output" and not status:
                self.buffer(buffer.name)

    def learn(self) -> None:
        """Compute the sizes that are known by now."""
        for size in self.program.sizes:
            if size.var.name not in self.sizes and size.value is not None:
                try:
                    self.sizes[size.var.name] = int(self.value(size.value, exact=True))
                except KeyError:
                    continue  # it depends on one that is still to be measured
        self.refuse_huge()

    def refuse_huge(self) -> None:
        """MemoryError for outputs that no memory could hold: no step runs for them."""
        for buffer in self.program.buffers:
            if buffer.role == "output":
                try:
                    shape = [max(int(self.value(length)), 0) for length in buffer.shape]
                except KeyError:
                    continue  # it is known later
                if prod(shape) * buffer.dtype.bytes >= HUGE:
                    raise MemoryError(f"an output of shape {shape}")

    def value(self, expr: Expr, *, exact: bool = False) -> Any:
        """An expression of the host program. KeyError if it needs a size that is not known.

        OverflowError, if it is to be exact, where a part of it does not fit into 64 bits.
        """
        where = f"program {self.program.name}"
        host = ClosureCompiler(where, self.functions, shapes=self.shapes, exact=exact)
        compute = host.expr(expr)
        registers: Registers = [
            self.sizes[name] if name in self.sizes else self.existing(name)
            for name in host.registers
        ]
        return compute(registers)

    def existing(self, name: str) -> list[Any]:
        """A buffer that something has been written to, or a row of one."""
        return self.buffer(name) if name in self.rows else self.memory[name]

    def buffer(self, name: str) -> list[Any]:
        """A buffer's elements; outputs and temporaries begin to exist when first used."""
        if name not in self.memory:
            declared = next(buffer for buffer in self.program.buffers if buffer.name == name)
            shape = tuple(int(self.value(length)) for length in declared.shape)
            self.shapes[name] = shape
            count = prod(shape) * (1 + declared.dtype.is_complex)
            if declared.of is not None:
                return self.row(declared.of, count)
            self.memory[name] = [None] * count
        return self.memory[name]

    def row(self, of: Pointer, length: int) -> Window:
        """Where a row is now."""
        values, offset = self.buffer(of.buffer), int(self.value(of.offset))
        if isinstance(values, Window):
            return Window(values.values, values.offset + offset, length)
        return Window(values, offset, length)

    def steps(self, steps: Sequence[Step]) -> int:
        """Run a block of steps, until one fails."""
        for step in steps:
            status = self.step(step)
            if status:
                return status
        return 0

    def block(self, steps: Sequence[Step], **known: int) -> int:
        """Run a block that knows these sizes; those it learns, and its temporaries, are its own."""
        before = set(self.sizes)
        self.sizes.update(known)
        self.learn()
        status = self.steps(steps)
        for name in self.sizes.keys() - before:
            del self.sizes[name]
        if not status:
            own = Counter(used_buffers(self.program, steps))
            for name in own:
                if own[name] == self.uses[name] and name not in self.kept:
                    self.memory.pop(name, None)
        return status

    def repeat(self, step: Repeat) -> int:
        """Run a loop."""
        done, extent = 0, self.value(step.extent)
        for name in self.kept.intersection(used_buffers(self.program, step.steps)):
            self.buffer(name)  # outputs are there, even if no round writes any of their rows
        while done < extent:
            status = self.block(step.steps, **{step.var: done})
            if status:
                return status
            done += 1
            if step.stop is not None and self.buffer(step.stop)[0]:
                break
        if step.done is not None:
            self.sizes[step.done] = done
            self.learn()
        return 0

    def disjoint(self, kernel: str, given: Sequence[list[Any]]) -> None:
        """Kernels assume that written buffers overlap no other; names are compared by `verify`."""
        params = next(k for k in self.program.kernels if k.name == kernel).params
        windows = [
            (buffer, param) for buffer, param in zip(given, params, strict=True)
            if isinstance(buffer, Window)
        ]  # fmt: skip
        for (first, a), (second, b) in combinations(windows, 2):
            if (a.written or b.written) and first.overlaps(second):
                raise IRError(f"kernel {kernel} is given rows that overlap: {a.name}, {b.name}")

    def step(self, step: Step) -> int:
        """Run one step; the code of a Check that does not hold, else 0."""
        match step:
            case Launch(kernel, buffers, sizes):
                values = [self.value(size) for size in sizes]
                given = [self.buffer(name) for name in buffers]
                self.disjoint(kernel, given)
                self.kernels[kernel](given, values)
            case Routine(name, args):
                self.routines[name](*map(self.argument, args))
            case PythonCall(number, _, args):
                self.hosts[number](*map(self.region, args))
            case Check(condition, code):
                return 0 if self.value(condition) else code
            case Measure(size, buffer):
                value = self.buffer(buffer)[0]
                if value is None:
                    raise IRError(f"size {size} is measured, but {buffer}[0] has not been written")
                self.sizes[size] = value
                self.learn()
            case Repeat():
                return self.repeat(step)
            case Branch(condition, then, otherwise):
                return self.block(then if self.buffer(condition)[0] else otherwise)
            case _:
                assert_never(step)
        return 0

    def region(self, arg: Region | Const) -> Any:
        """An argument as a function in Python gets it."""
        if isinstance(arg, Region):
            shape = tuple(int(self.value(length)) for length in arg.shape)
            place = arg.pointer
            return View(self.buffer(place.buffer), self.value(place.offset), shape)
        return self.value(arg)

    def argument(self, arg: Pointer | Expr) -> Any:
        """An argument as a routine gets it."""
        if isinstance(arg, Pointer):
            return View(self.buffer(arg.buffer), self.value(arg.offset))
        return self.value(arg)
