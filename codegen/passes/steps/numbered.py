"""The values of a program's numbers, each with a name that it keeps: numbers of values.

A buffer of one element holds a value until it is written to. What reads the same element of an
array that has not been written to meanwhile gets the same value, and so do equal computations. What
is known of a value then stays true of it, wherever it is stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from symc.codegen.blocks import every_step, written
from symc.codegen.dtypes import BOOL, INT64, DType
from symc.codegen.ir import (
    Binary,
    Const,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Measure,
    Pointer,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Select,
    Step,
    Store,
    Unary,
    Var,
    const,
)
from symc.codegen.passes.steps.states import in_rows
from symc.codegen.passes.walk import nodes, rebuild, substitute
from symc.codegen.passes.walk import written as stored

LONG = 32  # parts of a value; of a longer one only the name is known
_ZERO = const(0)


class Known:
    """What is known at one place of a program."""

    def __init__(self) -> None:
        self.values: dict[str, Expr] = {}  # of buffers of one integer, and of measured sizes
        self.versions: dict[str, int] = {}  # of other buffers
        self.facts: dict[Expr, None] = {}  # comparisons of values

    def copy(self) -> Known:
        """The same, to be changed."""
        made = Known()
        made.values, made.versions = dict(self.values), dict(self.versions)
        made.facts = dict(self.facts)
        return made


class NamedValues:
    """The names of a program's values, and what its steps do to its buffers."""

    def __init__(self, program: Program) -> None:
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        shared = in_rows(program)
        self.single = {
            buffer.name: buffer.dtype
            for buffer in program.buffers
            if buffer.dtype in (INT64, BOOL)
            and buffer.name not in shared
            and all(length == const(1) for length in buffer.shape)
        }
        self.beside = dict.fromkeys(shared, shared)  # rows may lie in each other
        self.sums = _sums(program)
        self.numbers = count(1)
        self.named: dict[Expr, Var] = {}

    def new(self, stem: str, dtype: DType = INT64) -> Var:
        """A value of which nothing is known."""
        return Var(f"{stem}:{next(self.numbers)}", dtype)

    def of_buffer(self, known: Known, buffer: str) -> Expr:
        """The value in a buffer of one element."""
        found = known.values.get(buffer)
        if found is None:
            found = known.values[buffer] = self.new(buffer, self.single.get(buffer, INT64))
        return found

    def value(self, known: Known, expr: Expr, inside: _NamesInKernel | None = None) -> Expr:
        """The value of an expression, in values that are known by name."""

        def visit(part: Expr) -> Expr:
            match part:
                case Var(name) if inside is not None:
                    found = inside.names.get(name)
                    return Var(f"?{name}", part.dtype) if found is None else found
                case Var(name) if name in self.sums:
                    return substitute(self.sums[name], known.values)
                case Var(name):
                    return known.values.get(name, part)
                case Load(local, index):
                    buffer = local if inside is None else inside.buffers.get(local)
                    if buffer is None:
                        return self.new(local, part.dtype)
                    if buffer in self.single and index == _ZERO:
                        return self.of_buffer(known, buffer)
                    version = known.versions.get(buffer, 0)
                    return self.number(Load(f"{buffer}:{version}", visit(index), part.dtype))
                case Select():
                    return self.number(rebuild(part, visit))
                case _:
                    made = rebuild(part, visit)
                    return self.number(made) if _is_long(made) else made

        return visit(expr)

    def number(self, value: Expr) -> Expr:
        """The name of a value: the same one for the same value."""
        if value not in self.named:
            self.named[value] = Var(f"value:{next(self.numbers)}", value.dtype)
        return self.named[value]

    def forget(self, known: Known, buffers: Iterable[str]) -> None:
        """Something has been written to these buffers."""
        for buffer in buffers:
            known.values.pop(buffer, None)
            for name in self.beside.get(buffer, (buffer,)):
                known.versions[name] = next(self.numbers)

    def launch(self, known: Known, step: Launch) -> None:
        """What a kernel leaves in its buffers."""
        kernel = self.kernels[step.kernel]
        inside = _NamesInKernel(step, kernel)
        inside.names = {
            size.name: self.value(known, given)
            for size, given in zip(kernel.sizes, step.sizes, strict=True)
        }
        for stmt in kernel.body:
            match stmt:
                case Let(var, value):
                    inside.names[var.name] = self.value(known, value, inside)
                case Store(buffer, index, value) if (
                    inside.buffers.get(buffer) in self.single and index == _ZERO
                ):
                    known.values[inside.buffers[buffer]] = self.value(known, value, inside)
                case _:
                    names = [inside.buffers[b] for b in stored((stmt,)) if b in inside.buffers]
                    self.forget(known, names)

    def routine(self, known: Known, step: Routine) -> None:
        """What a routine leaves: copies of single numbers are known."""
        match step:
            case Routine(
                "copy_bytes", (Pointer(target, Const(0)), Pointer(source, Const(0)), Const())
            ) if target in self.single and source in self.single:
                known.values[target] = self.of_buffer(known, source)
            case _:
                self.forget(known, written(step, None))

    def changed(self, step: Step) -> set[str]:
        """The buffers that a step, and those inside it, write to."""
        found: set[str] = set()
        for one in every_step([step]):
            if isinstance(one, Launch):
                found.update(written(one, self.kernels[one.kernel]))
            elif isinstance(one, Routine | PythonCall):
                found.update(written(one, None))
        return found

    def forget_sizes(self, known: Known, step: Step) -> None:
        """The numbers of steps, and sizes that are measured in them, are others from here on."""
        for one in every_step([step]):
            match one:
                case Repeat(var, done=done):
                    names = [var] if done is None else [var, done]
                case Measure(size):
                    names = [size]
                case _:
                    names = []
            for name in names:
                known.values[name] = self.new(name)


class _NamesInKernel:
    """The names of a kernel, while its statements are walked over."""

    def __init__(self, launch: Launch, kernel: Kernel) -> None:
        params = (param.name for param in kernel.params)
        self.buffers = dict(zip(params, launch.buffers, strict=True))
        self.names: dict[str, Expr] = {}


def _sums(program: Program) -> dict[str, Expr]:
    """The sizes that are sums, or the like, written out if they are short."""
    found: dict[str, Expr] = {}
    for size in program.sizes:
        if isinstance(size.value, Binary | Unary):
            value = substitute(size.value, found)
            if not _is_long(value):
                found[size.var.name] = value
    return found


def _is_long(value: Expr) -> bool:
    return any(number >= LONG for number, _ in enumerate(nodes(value)))
