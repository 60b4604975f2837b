"""Kernels as Python closures: the engine of `interpret.py`.

The registers of a run are a list with one entry for every name and every buffer. An expression
becomes a function of the registers that returns its value, a statement one that changes them. A
buffer is a list, in which None marks an element that has not been written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, assert_never

from symc.codegen.errors import IRError
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Call,
    Cast,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Length,
    Let,
    Load,
    Loop,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from symc.codegen.meaning import arithmetic
from symc.codegen.passes.strips import extent_of
from symc.codegen.text import expression

Number = arithmetic.Number
Registers = list[Any]  # a number or a buffer in each
Value = Callable[[Registers], Any]
Action = Callable[[Registers], None]
Functions = Mapping[str, Callable[..., Number]]


class ClosureCompiler:
    """Makes closures over one numbering of registers."""

    def __init__(
        self, where: str, functions: Functions, *, backwards: bool = False,
        shapes: Mapping[str, tuple[int, ...]] | None = None, exact: bool = False,
    ) -> None:  # fmt: skip
        self.where = where  # for messages
        self.functions = functions
        self.backwards = backwards
        self.shapes = shapes or {}  # by buffer, for `Length`
        self.exact = exact  # whether OverflowError is raised where integers would wrap
        self.registers: dict[str, int] = {}

    def register(self, name: str) -> int:
        """The register of a name."""
        return self.registers.setdefault(name, len(self.registers))

    # --- expressions ------------------------------------------------------------------------------

    def expr(self, expr: Expr) -> Value:
        """The function that computes an expression."""
        match expr:
            case Var(name):
                place = self.register(name)
                return lambda registers: registers[place]
            case Const(value, dtype):
                constant = arithmetic.fit(dtype)(value)
                return lambda registers: constant
            case Load(buffer, index):
                return self.load(buffer, index)
            case Binary(op, left, right):
                combine = arithmetic.exact(op) if self.exact else arithmetic.binary(op, left.dtype)
                a, b = self.expr(left), self.expr(right)
                return lambda registers: combine(a(registers), b(registers))
            case Unary(op, x, dtype):
                return _after(arithmetic.unary(op, dtype), self.expr(x))
            case Cast(x, dtype):
                return _after(arithmetic.cast(x.dtype, dtype), self.expr(x))
            case Call(function, args):
                given = self.functions.get(function)
                meaning = arithmetic.call(function, args[0].dtype, given)
                values = [self.expr(arg) for arg in args]
                return lambda registers: meaning(*[value(registers) for value in values])
            case Select(condition, then, otherwise):
                return self.select(condition, then, otherwise)
            case Length(buffer, axis):
                length = self.shapes[buffer][axis]
                return lambda registers: length
            case _:
                assert_never(expr)

    def select(self, condition: Expr, then: Expr, otherwise: Expr) -> Value:
        """Both sides are evaluated, whatever the condition; if exact, the one that is taken."""
        test, a, b = self.expr(condition), self.expr(then), self.expr(otherwise)
        if self.exact:
            return lambda registers: a(registers) if test(registers) else b(registers)

        def select(registers: Registers) -> Number:
            first, second = a(registers), b(registers)
            return first if test(registers) else second  # type: ignore[no-any-return]

        return select

    def load(self, buffer: str, index: Expr) -> Value:
        """A load that checks the index, and that the element has been written."""
        place, at = self.register(buffer), self.expr(index)

        def load(registers: Registers) -> Any:
            values, i = registers[place], at(registers)
            if not 0 <= i < len(values):
                self.fail(f"reads {buffer}[{i}] of {len(values)} elements", buffer, index)
            value = values[i]
            if value is None:
                self.fail(f"reads {buffer}[{i}], which has not been written", buffer, index)
            return value

        return load

    def fail(self, what: str, buffer: str, index: Expr) -> NoReturn:
        """Report a bad access."""
        raise IRError(f"{self.where} {what}: {buffer}[{expression(index)}]")

    # --- statements -------------------------------------------------------------------------------

    def block(self, block: tuple[Stmt, ...]) -> Action:
        """The function that runs a block."""
        actions = [self.statement(stmt) for stmt in block]

        def run(registers: Registers) -> None:
            for action in actions:
                action(registers)

        return actions[0] if len(actions) == 1 else run

    def statement(self, stmt: Stmt) -> Action:
        """The function that runs a statement."""
        match stmt:
            case Let(var, value):
                place, compute = self.register(var.name), self.expr(value)

                def let(registers: Registers) -> None:
                    registers[place] = compute(registers)

                return let
            case Store() | Accumulate():
                return self.write(stmt)
            case Loop():
                return self.loop(stmt)
            case If(condition, then, otherwise):
                test, first, second = self.expr(condition), self.block(then), self.block(otherwise)
                return lambda registers: first(registers) if test(registers) else second(registers)
            case Alloc(buffer, value) if value is not None:
                place, first = self.register(buffer.name), self.expr(value)

                def begin(registers: Registers) -> None:
                    registers[place] = [first(registers)]

                return begin
            case Alloc(buffer):
                place, length = self.register(buffer.name), self.count(buffer.shape)

                def alloc(registers: Registers) -> None:
                    registers[place] = [None] * length(registers)

                return alloc
            case Barrier() | Combine():  # of a team of one thread
                return lambda registers: None
            case _:
                assert_never(stmt)

    def count(self, shape: tuple[Expr, ...]) -> Value:
        """The function that computes how many elements a shape has."""
        lengths = [self.expr(length) for length in shape]

        def count(registers: Registers) -> int:
            total = 1
            for length in lengths:
                total *= length(registers)
            return total

        return count

    def write(self, stmt: Store | Accumulate) -> Action:
        """A store or an update, with the checks of a load."""
        buffer, index = stmt.buffer, stmt.index
        place, at, compute = self.register(buffer), self.expr(index), self.expr(stmt.value)
        combine: arithmetic.Binary | None = None
        if isinstance(stmt, Accumulate):
            combine = arithmetic.binary(stmt.op, stmt.value.dtype)

        def write(registers: Registers) -> None:
            values, i, value = registers[place], at(registers), compute(registers)
            if not 0 <= i < len(values):
                self.fail(f"writes {buffer}[{i}] of {len(values)} elements", buffer, index)
            if combine is not None:
                old = values[i]
                if old is None:
                    self.fail(f"updates {buffer}[{i}], which has not been written", buffer, index)
                value = combine(old, value)
            values[i] = value

        return write

    def loop(self, loop: Loop) -> Action:
        """A loop; the parallel ones may be asked to run backwards."""
        place, check = self.register(loop.var.name), self.cut(loop)
        extent, body = self.expr(loop.extent), self.block(loop.body)
        backwards = self.backwards and loop.kind in ("parallel", "grid", "team", "lane")

        def run(registers: Registers) -> None:
            values = range(extent(registers))
            check(registers)
            for i in reversed(values) if backwards else values:
                registers[place] = i
                body(registers)

        return run

    def cut(self, loop: Loop) -> Action:
        """The function that checks that a loop has the extent that its cut gives it."""
        if loop.cut is None:
            return lambda registers: None
        given, wanted = self.expr(loop.extent), self.expr(extent_of(loop.cut))

        def check(registers: Registers) -> None:
            has, needs = given(registers), wanted(registers)
            if has != needs:
                what = f"{loop.var.name} has {has} iterations, by its cut {needs}"
                raise IRError(f"{self.where}: {what}")

        return check


def _after(outer: arithmetic.Unary, inner: Value) -> Value:
    return lambda registers: outer(inner(registers))


def compile_kernel(
    kernel: Kernel, functions: Functions, *, backwards: bool
) -> Callable[[list[list[Any]], list[int]], None]:
    """The function that runs a kernel on buffers and sizes."""
    compiler = ClosureCompiler(f"kernel {kernel.name}", functions, backwards=backwards)
    names = [param.name for param in kernel.params] + [size.name for size in kernel.sizes]
    for name in names:
        compiler.register(name)
    run = compiler.block(kernel.body)

    def launch(buffers: list[list[Any]], sizes: list[int]) -> None:
        registers: Registers = [None] * len(compiler.registers)
        registers[: len(names)] = [*buffers, *sizes]
        run(registers)

    return launch
