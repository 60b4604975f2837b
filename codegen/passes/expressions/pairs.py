"""pairs: complex numbers become pairs of floats, before anything else looks at a program.

Lowerings may use complex dtypes in kernels as they use any other; after this pass no kernel has
them. Buffers of the program keep their complex dtype, as callers know them by it; to kernels and
routines they are arrays of floats, twice as many, real and imaginary parts in turn. A local scalar
becomes two, so that sums of complex numbers are sums of floats to all other passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from symc.codegen.blocks import map_steps
from symc.codegen.complex import FUNCTIONS, OPERATORS, Complex, Real, multiply, negative
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Branch,
    Buffer,
    Call,
    Cast,
    Check,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Length,
    Let,
    Load,
    Loop,
    Measure,
    Param,
    Pointer,
    Program,
    PythonCall,
    Region,
    Repeat,
    Routine,
    Select,
    Step,
    Stmt,
    Store,
    Unary,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.walk import bound, fresh, rebuild
from symc.codegen.record import replace

Block = tuple[Stmt, ...]
TWO = const(2)


def pairs(program: Program) -> Program:
    """The program with kernels and steps that know floats only."""
    kernels = tuple([_Splitter(kernel).kernel() for kernel in program.kernels])
    buffers = {b.name for b in program.buffers if b.dtype.is_complex}
    steps = map_steps(program.steps, lambda step: [_step(step, buffers)])
    rows = tuple([_row(buffer) for buffer in program.buffers])
    return replace(program, buffers=rows, kernels=kernels, steps=steps)


def _row(buffer: Buffer) -> Buffer:
    if buffer.of is None or not buffer.dtype.is_complex:
        return buffer
    return replace(buffer, of=replace(buffer.of, offset=mul(buffer.of.offset, TWO)))


def _step(step: Step, buffers: set[str]) -> Step:
    match step:
        case Routine():
            return replace(step, args=tuple([_argument(arg, buffers) for arg in step.args]))
        case PythonCall():
            return replace(step, args=tuple([_region(arg, buffers) for arg in step.args]))
        case Launch() | Check() | Measure() | Repeat() | Branch():
            return step
        case _:
            assert_never(step)


def _region(arg: Region | Const, buffers: set[str]) -> Region | Const:
    if isinstance(arg, Const) or arg.pointer.buffer not in buffers:
        return arg
    return replace(arg, pointer=replace(arg.pointer, offset=mul(arg.pointer.offset, TWO)))


def _argument(arg: Pointer | Expr, buffers: set[str]) -> Pointer | Expr:
    match arg:
        case Pointer(buffer, offset) if buffer in buffers:
            return replace(arg, offset=mul(offset, TWO))
        case Const(value, dtype) if dtype.is_complex:
            return Const(value, dtype.component)
        case _:
            return arg


class _Splitter:
    """The walk over one kernel. `out` is the block that is being written."""

    def __init__(self, kernel: Kernel) -> None:
        self.source = kernel
        self.taken = bound(kernel)
        self.values: dict[str, tuple[Expr, Expr]] = {}  # of complex names
        self.scalars: dict[str, tuple[str, str]] = {}  # of complex local scalars
        self.out: list[Stmt] = []

    def kernel(self) -> Kernel:
        """The kernel without complex numbers."""
        params = tuple([Param(p.name, p.dtype.component, p.written) for p in self.source.params])
        return replace(self.source, params=params, body=self.block(self.source.body))

    # --- statements -------------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        """A block; names bound in it are visible in it alone."""
        outer, self.out = self.out, []
        for stmt in block:
            self.statement(stmt)
        done, self.out = tuple(self.out), outer
        return done

    def statement(self, stmt: Stmt) -> None:
        """Appends the statements that a statement becomes."""
        match stmt:
            case Let(var, value) if var.dtype.is_complex:
                z = self.pair(value)
                parts = (
                    self.let(f"{var.name}_re", z.re.expr),
                    self.let(f"{var.name}_im", z.im.expr),
                )
                self.values[var.name] = parts
            case Let(var, value):
                self.out.append(Let(var, self.real(value)))
            case Store(buffer, index, value) if value.dtype.is_complex:
                self.store(buffer, self.real(index), self.pair(value))
            case Store(buffer, index, value):
                self.out.append(Store(buffer, self.real(index), self.real(value)))
            case Accumulate(buffer, index, op, value) if value.dtype.is_complex:
                self.accumulate(stmt)
            case Accumulate(buffer, index, op, value):
                self.out.append(Accumulate(buffer, self.real(index), op, self.real(value)))
            case Loop():
                extent = self.real(stmt.extent)
                self.out.append(replace(stmt, extent=extent, body=self.block(stmt.body)))
            case If(condition, then, otherwise):
                test = self.real(condition)
                self.out.append(If(test, self.block(then), self.block(otherwise)))
            case Alloc(buffer) if buffer.dtype.is_complex:
                self.alloc(buffer)
            case Alloc() | Barrier() | Combine():
                self.out.append(stmt)
            case _:
                assert_never(stmt)

    def alloc(self, buffer: Buffer) -> None:
        """Two scalars, or one array with room for both parts."""
        dtype = buffer.dtype.component
        if buffer.shape:
            self.out.append(Alloc(replace(buffer, dtype=dtype, shape=(*buffer.shape, TWO))))
            return
        names = fresh(f"{buffer.name}_re", self.taken), fresh(f"{buffer.name}_im", self.taken)
        self.scalars[buffer.name] = names
        self.out += [Alloc(Buffer(name, dtype, (), "local")) for name in names]

    def places(self, buffer: str, index: Expr) -> Sequence[tuple[str, Expr]]:
        """Where the two parts of an element are."""
        if buffer in self.scalars:
            return [(name, index) for name in self.scalars[buffer]]
        first = mul(index, TWO)
        return [(buffer, first), (buffer, add(first, const(1)))]

    def store(self, buffer: str, index: Expr, z: Complex) -> None:
        """Stores both parts, which are computed before the first is written."""
        values = self.named(z.re.expr), self.named(z.im.expr)
        for (name, at), value in zip(self.places(buffer, index), values, strict=True):
            self.out.append(Store(name, at, value))

    def accumulate(self, stmt: Accumulate) -> None:
        """Sums are sums of the parts; a product is read, multiplied and stored."""
        index, z = self.real(stmt.index), self.pair(stmt.value)
        if stmt.op == "mul":
            before = self.load(Load(stmt.buffer, index, stmt.value.dtype))
            self.store(stmt.buffer, index, multiply(before, z))
            return
        assert stmt.op == "add", f"complex numbers are not combined by {stmt.op}"
        values = self.named(z.re.expr), self.named(z.im.expr)
        for (name, at), value in zip(self.places(stmt.buffer, index), values, strict=True):
            self.out.append(Accumulate(name, at, "add", value))

    # --- expressions ------------------------------------------------------------------------------

    def let(self, wanted: str, value: Expr) -> Var:
        """Names a value."""
        var = Var(fresh(wanted, self.taken), value.dtype)
        self.out.append(Let(var, value))
        return var

    def named(self, value: Expr) -> Expr:
        """The value under a name, unless it is one, or a constant."""
        return value if isinstance(value, Var | Const) else self.let("part", value)

    def of(self, re: Expr, im: Expr) -> Complex:
        """A complex value in formulas."""
        return Complex(Real(re, self.named), Real(im, self.named))

    def real(self, expr: Expr) -> Expr:
        """An expression that is not complex itself, without complex numbers in it."""
        match expr:
            case Binary(op, left, right) if left.dtype.is_complex:
                result: Real = OPERATORS[op](self.pair(left), self.pair(right))
                return result.expr
            case Call(function, args) if args[0].dtype.is_complex:
                result = FUNCTIONS[function](*map(self.pair, args))
                return result.expr
            case Cast(x) if x.dtype.is_complex:  # to bool: any other cast is refused
                z = self.pair(x)
                return (z.re.differs(0.0) | z.im.differs(0.0)).expr
            case _:
                return rebuild(expr, self.real)

    def load(self, load: Load) -> Complex:
        """Both parts of an element; the index is final already."""
        dtype = load.dtype.component
        (first, at_first), (second, at_second) = self.places(load.buffer, load.index)
        re = self.let(f"{load.buffer}_re", Load(first, at_first, dtype))
        im = self.let(f"{load.buffer}_im", Load(second, at_second, dtype))
        return self.of(re, im)

    def pair(self, expr: Expr) -> Complex:
        """The two parts of a complex expression."""
        dtype = expr.dtype.component
        match expr:
            case Var(name):
                return self.of(*self.values[name])
            case Const(number):
                return self.of(Const(float(number), dtype), Const(0.0, dtype))
            case Load(buffer, index):
                return self.load(Load(buffer, self.real(index), expr.dtype))
            case Unary(_, x):
                return negative(self.pair(x))
            case Binary(op, left, right):
                combined: Complex = OPERATORS[op](self.pair(left), self.pair(right))
                return combined
            case Call("complex", (re, im)):
                return self.of(self.named(self.real(re)), self.named(self.real(im)))
            case Call(function, args):
                value: Complex = FUNCTIONS[function](*map(self.pair, args))
                return value
            case Cast(x):
                return self.cast(x, expr)
            case Select(condition, then, otherwise):
                test, a, b = self.named(self.real(condition)), self.pair(then), self.pair(otherwise)
                real = Real(test, self.named)
                return Complex(real.choose(a.re, b.re), real.choose(a.im, b.im))
            case Length():
                raise AssertionError("a length is an integer")
            case _:
                assert_never(expr)

    def cast(self, x: Expr, expr: Cast) -> Complex:
        """A number of any dtype as a complex number of another."""
        dtype = expr.dtype.component
        if not x.dtype.is_complex:
            value = self.real(x)
            re = value if value.dtype is dtype else Cast(value, dtype)
            return self.of(self.named(re), Const(0.0, dtype))
        z = self.pair(x)
        return self.of(self.named(Cast(z.re.expr, dtype)), self.named(Cast(z.im.expr, dtype)))
