"""The values of a program's numbers, each with a name that it keeps: numbers of values.

A buffer of one element holds a value until it is written to. What reads the same element of an
array that has not been written to meanwhile gets the same value, and so do equal computations. What
is known of a value then stays true of it, wherever it is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
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
    Loop,
    Measure,
    Pointer,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Select,
    Step,
    Stmt,
    Store,
    Unary,
    Var,
    binary,
    const,
    mul,
)
from symc.codegen.passes.kernels.inlined import is_short
from symc.codegen.passes.steps.asked import from_the_end
from symc.codegen.passes.steps.facts import Consequences, Known
from symc.codegen.passes.steps.states import in_rows
from symc.codegen.passes.walk import Block, fresh, map_block, nodes, rebuild, substitute
from symc.codegen.passes.walk import written as stored
from symc.codegen.record import replace
from symc.codegen.verify.polynomials import added, polynomial

LONG = 32  # parts of a value; of a longer one only the name is known
_ZERO = const(0)


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
        self.shapes = {
            buffer.name: buffer.shape
            for buffer in program.buffers
            if buffer.dtype is INT64 and buffer.name not in shared
        }
        self.sums = _sums(program)
        self.follows = Consequences(program)
        self.made: dict[tuple[str, Block], str] = {}  # further kernels
        self.taken = set(self.kernels)
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

    def elements(self, known: Known, buffer: str) -> Var:
        """What stands for all elements of an array."""
        return Var(f"{buffer}:{known.versions.get(buffer, 0)}[]", INT64)

    def tracked(self, buffers: Iterable[str]) -> list[str]:
        """Those of which something may be known."""
        return sorted(name for name in buffers if name in self.single or name in self.shapes)

    def state(self, known: Known, buffer: str) -> Expr:
        """The value in a buffer, or what stands for all that are in it."""
        if buffer in self.single:
            return self.of_buffer(known, buffer)
        return self.elements(known, buffer)

    def value(self, known: Known, expr: Expr, inside: _NamesInKernel | None = None) -> Expr:
        """The value of an expression, in values that are known by name."""

        def visit(part: Expr) -> Expr:
            match part:
                case Var(name) if inside is not None:
                    found = inside.names.get(name)
                    return self.new(name, part.dtype) if found is None else found
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
                    element = Load(f"{buffer}:{version}", visit(index), part.dtype)
                    made = self.number(element)
                    self.follows.all_of[made] = self.elements(known, buffer)
                    return made
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

    def launch(self, known: Known, step: Launch) -> Launch:
        """What a kernel leaves in its buffers.

        And the launch of one whose indexes do not count from the end, where that is known.
        """
        kernel = self.kernels[step.kernel]
        inside = _NamesInKernel(step, kernel)
        inside.names = {
            size.name: self.value(known, given)
            for size, given in zip(kernel.sizes, step.sizes, strict=True)
        }
        body: list[Stmt] = []
        for stmt in kernel.body:
            if isinstance(stmt, Let | Store):
                body += map_block((stmt,), lambda expr: self.from_start(known, expr, inside))
            else:
                body.append(stmt)
            self.statement(known, stmt, inside)
        if tuple(body) == kernel.body or not is_short(kernel):
            return step
        return replace(step, kernel=self.changed_kernel(kernel, tuple(body)))

    def statement(self, known: Known, stmt: Stmt, inside: _NamesInKernel) -> None:
        """What a statement of a kernel leaves."""
        match stmt:
            case Let(var, value):
                inside.names[var.name] = self.value(known, value, inside)
            case Store(buffer, index, value) if (
                inside.buffers.get(buffer) in self.single and index == _ZERO
            ):
                known.values[inside.buffers[buffer]] = self.value(known, value, inside)
            case Store(buffer, _, value) if inside.buffers.get(buffer) in self.shapes:
                self.store(known, inside.buffers[buffer], self.value(known, value, inside))
            case _:
                names = [inside.buffers[b] for b in stored((stmt,)) if b in inside.buffers]
                self.forget(known, names)
                self.fill(known, stmt, inside)

    def from_start(self, known: Known, expr: Expr, inside: _NamesInKernel) -> Expr:
        """An expression of a kernel in which indexes that are natural are not asked about it."""

        def visit(part: Expr) -> Expr:
            place = from_the_end(part)
            if place is not None:
                value = self.value(known, place, inside)
                if self.follows.holds(known, binary("ge", value, _ZERO)):
                    return visit(place)
            return rebuild(part, visit)

        return visit(expr)

    def changed_kernel(self, kernel: Kernel, body: Block) -> str:
        """The name of the kernel with another body."""
        name = self.made.get((kernel.name, body))
        if name is None:
            name = self.made[kernel.name, body] = fresh(kernel.name, self.taken)
            self.kernels[name] = replace(kernel, name=name, body=body)
        return name

    def store(self, known: Known, buffer: str, value: Expr) -> None:
        """An element is written: what holds for the others, and for it, holds for all."""
        kept = [
            fact
            for fact in known.about(self.elements(known, buffer))
            if self.follows.holds(known, binary(fact.op, value, fact.right))
        ]
        self.forget(known, [buffer])
        self.add_facts(known, buffer, kept)

    def add_facts(self, known: Known, buffer: str, facts: Iterable[Binary]) -> None:
        """All elements of an array compare so: what is left in these comparisons is any value."""
        elements = self.elements(known, buffer)
        for fact in facts:
            known.learn(binary(fact.op, elements, fact.right))

    def fill(self, known: Known, stmt: Stmt, inside: _NamesInKernel) -> None:
        """A loop that writes each element of an array: the same number, or counted up."""
        match stmt:
            case Loop(var, extent, body=(Store(local, index, value),)) if index == var:
                pass
            case _:
                return
        buffer = inside.buffers.get(local)
        length = self.value(known, extent, inside)
        shape = None if buffer is None else self.shapes.get(buffer)
        if buffer is None or shape is None or not self.is_product(known, length, shape):
            return
        match value:
            case Const(int() as number):
                self.add_facts(known, buffer, _between(value, const(number + 1)))
            case Binary("mod", _, right) if right == extent:
                self.add_facts(known, buffer, _between(_ZERO, length))
            case Var() if value == var:
                self.add_facts(known, buffer, _between(_ZERO, length))
            case _:
                pass

    def is_product(self, known: Known, length: Expr, shape: Sequence[Expr]) -> bool:
        """Whether so many elements are all that an array of this shape has."""
        one: Expr = const(1)
        whole = self.value(known, reduce(mul, shape, one))
        return not added(polynomial(length), polynomial(whole), -1)

    def routine(self, known: Known, step: Routine) -> None:
        """What a routine leaves: copies are known, of numbers and of whole arrays."""
        match step:
            case Routine(
                "copy_bytes", (Pointer(target, Const(0)), Pointer(source, Const(0)), size)
            ) if not isinstance(size, Pointer):
                pass
            case _:
                self.forget(known, written(step, None))
                return
        if target in self.single and source in self.single:
            known.values[target] = self.of_buffer(known, source)
            return
        facts = known.about(self.elements(known, source)) if source in self.shapes else []
        self.forget(known, [target])
        shape = self.shapes.get(target)
        if shape is not None and self.is_product(
            known, self.value(known, size), (const(8), *shape)
        ):
            self.add_facts(known, target, facts)

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


def _between(low: Expr, below: Expr) -> list[Binary]:
    """That something is no less than one number, and less than another one."""
    return [Binary("ge", _ZERO, low, BOOL), Binary("lt", _ZERO, below, BOOL)]


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
