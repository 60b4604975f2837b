"""Checks that a program keeps the rules of the loop IR. The rules:

Expressions (`expressions.py`)
 1. A name is bound before it is used, in a block that is still open, and used with its dtype.
 2. The operands of an operator have one dtype; a result has the dtype that follows from them.
 3. ``and or xor not`` and conditions are bool; bit operators, shifts and `invert` are not float;
    `div` is float; arithmetic is not on bool.
 4. An index is int64. A load is of a buffer in scope, with its dtype.
 5. A call names a function of `math.py`, with its number of arguments, for a dtype it has.
 6. Floats of 16 bits are loaded, stored, named, written as constants, and cast; nothing is
    computed in them.
 7. A constant fits its dtype. `Length` occurs only in `Size.value`.

Kernels (`kernels.py`)
 8. A name is bound once: parameters, sizes, loop variables, `Let`, `Alloc`. A kernel's sizes and
    loop variables are int64; a `Let` has the dtype of its value.
 9. Stores have the dtype of the buffer, and go to written parameters or local buffers.
10. `Accumulate` has an operation that suits its dtype.
11. `Alloc` declares a buffer with role local and int64 lengths.
12. The only loops inside a vector loop are `unroll` loops; an unrolled loop has a constant length,
    and only unrolled loops in it.

Iterations (`iterations.py`)
13. Whatever an iteration of a loop whose iterations are independent reads of a buffer that the loop
    writes, it lies where this iteration writes, as far as indexes tell.
14. A serial loop that writes where an array says reads no other element of the buffers it writes.

Strip-mined loops (`kernels.py`, `cuts.py`)
26. What the `cut` of a loop is about are numbers of the dtype of its extent; strips have at least
    one iteration. In a grid or lane loop over strips, a vector loop is all there is, and goes over
    the iterations of one: a pack, of known length.
27. The extent of a loop with a `cut` is the one that follows from it, whatever the sizes.

Programs (this file)
15. Names of buffers, of sizes, and of kernels are unique. No buffer of a program is local.
16. The value of a size uses sizes above it and lengths of inputs and shared variables. A size
    without a value is measured at most once, or once in each side of a branch; rule 18 forbids
    its use before.
17. A buffer's shape is in the program's sizes.
18. A step uses measured sizes, and buffers whose shape has them, only after they are measured.
19. `Launch` gives as many buffers and sizes as the kernel has parameters, with the same dtypes (a
    complex buffer is one of its components to the kernel, one of 16 bits its bits; a size may be
    int32 in the kernel, or the element of an input without axes, as it is). A parameter that is
    written is given no input and no constant, and a buffer that is given for one is given once:
    kernels assume that their buffers do not overlap.
20. A `Check` has a bool condition over sizes and element 0 of bool and int64 buffers, and a code
    above 0. A `Measure` reads an int64 buffer.
21. Steps use declared buffers; a `Pointer` has an int64 offset and writes no input or constant.
22. A `PythonCall` has a number from 0 on, which no other has, and regions with int64 lengths.
23. A row is of a buffer above it with the same dtype. It is used where its offset is known.
24. The variable of a `Repeat` and the size that it measures are sizes without a value. The
    variable, and sizes measured inside, are known inside only. Conditions of loops and branches
    are bool buffers.
25. A buffer that a step writes is given once, and overlaps no other of its arguments
    (`rows.py`): no buffer that it is a row of, no row of it, and no row of the same buffer
    that may be the same place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import BOOL, INT32, INT64, DType
from symc.codegen.errors import IRError
from symc.codegen.ir import (
    Branch,
    Buffer,
    Check,
    Expr,
    Kernel,
    Launch,
    Load,
    Measure,
    Pointer,
    Program,
    PythonCall,
    Region,
    Repeat,
    Routine,
    Size,
    Step,
    Var,
)
from symc.codegen.passes.walk import names_in
from symc.codegen.text import lines
from symc.codegen.verify.cuts import check_cuts, derived_sizes
from symc.codegen.verify.expressions import Broken, Scope, check_expr, is_used_once
from symc.codegen.verify.iterations import check_iterations
from symc.codegen.verify.kernels import check_kernel
from symc.codegen.verify.known import Sizes, sizes_of
from symc.codegen.verify.rows import check_apart

_AROUND = 30  # lines shown on either side of a wrong one


def verify(program: Program) -> None:
    """Raise `IRError` if a program breaks a rule. The message shows the program and the line."""
    try:
        _Checker(program).check()
    except Broken as broken:
        raise IRError(_listing(program, broken)) from None


def _listing(program: Program, broken: Broken) -> str:
    """The message inside the program's text, under the offending line."""
    shown: list[str] = []
    wrong = 0
    for line, part in lines(program):
        shown.append(line)
        if part is broken.part and not wrong:
            wrong = len(shown)
            indent = " " * (len(line) - len(line.lstrip()))
            shown.append(f"{indent}^ {broken.message}")
    first, last = max(0, wrong - _AROUND), wrong + _AROUND
    before, after = ["..."] * (first > 0), ["..."] * (last < len(shown))
    return "\n".join([broken.message, "", *before, *shown[first:last], *after])


class _Checker:
    """The walk over one program. `Broken` says which part is wrong."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers: dict[str, Buffer] = {}
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.known: dict[str, DType] = {}  # sizes that have a value so far
        self.measured: set[str] = set()

    def check(self) -> None:
        """Check everything, in the order of the text."""
        program = self.program
        for names in (
            [(size.var.name, size) for size in program.sizes],
            [(buffer.name, buffer) for buffer in program.buffers],
            [(kernel.name, kernel) for kernel in program.kernels],
        ):
            is_used_once(names)
        given = {b.name: b for b in program.buffers if b.role in ("input", "shared")}
        self.buffers = {buffer.name: buffer for buffer in program.buffers}
        sizes: dict[str, DType] = {}
        for size in program.sizes:
            self.size(size, sizes, given)
        for buffer in program.buffers:
            if buffer.role == "local":
                raise Broken(buffer, f"buffer {buffer.name} of the program is local")
            for length in buffer.shape:
                self.int64(buffer, length, sizes, "a length")
            self.row(buffer, sizes)
        kernel_sizes, derived = sizes_of(program), derived_sizes(program)
        for kernel in program.kernels:
            check_kernel(kernel)
            known = kernel_sizes.get(kernel.name, Sizes())
            check_cuts(kernel, known, derived)
            check_iterations(kernel, known)
        self.learn()
        self.steps(program.steps)

    def size(self, size: Size, sizes: dict[str, DType], given: dict[str, Buffer]) -> None:
        """Rule 16."""
        if size.var.dtype is not INT64:
            raise Broken(size, f"size {size.var.name} is {size.var.dtype}, not int64")
        if size.value is not None:
            scope = Scope(sizes, {}, {name: len(b.shape) for name, b in given.items()})
            self.is_int64(size, size.value, scope, f"size {size.var.name}")
        else:
            count = times_set(self.program.steps, size.var.name)
            if count > 1:
                raise Broken(size, f"size {size.var.name} is measured {count} times")
        sizes[size.var.name] = INT64

    def row(self, buffer: Buffer, sizes: dict[str, DType]) -> None:
        """Rule 23."""
        if (buffer.role == "row") != (buffer.of is not None):
            raise Broken(buffer, f"{buffer.name} is a {buffer.role}, but has no or another place")
        if buffer.of is not None:
            names = [other.name for other in self.program.buffers]
            whole = self.buffers.get(buffer.of.buffer)
            if whole is None or names.index(whole.name) >= names.index(buffer.name):
                raise Broken(buffer, f"there is no buffer {buffer.of.buffer} above {buffer.name}")
            if whole.dtype is not buffer.dtype:
                raise Broken(buffer, f"{whole.name} is {whole.dtype}, not {buffer.dtype}")
            self.int64(buffer, buffer.of.offset, sizes, "an offset")

    def learn(self) -> None:
        """Note which sizes follow from those that have been measured."""
        for size in self.program.sizes:
            name, value = size.var.name, size.value
            follows = value is not None and names_in(value) <= self.known.keys()
            if follows or name in self.measured:
                self.known[name] = INT64

    def steps(self, steps: Sequence[Step]) -> None:
        """A block of steps."""
        for step in steps:
            self.step(step)

    def block(self, steps: Sequence[Step], *known: str) -> None:
        """A block of steps in which these sizes are known. Others stay known only inside."""
        before = dict(self.known), set(self.measured)
        self.measured.update(known)
        self.learn()
        self.steps(steps)
        self.known, self.measured = before

    def repeat(self, step: Repeat) -> None:
        """Rule 24."""
        self.int64(step, step.extent, self.known, "how often a loop runs")
        for name in sets(step):
            if not any(s.var.name == name and s.value is None for s in self.program.sizes):
                raise Broken(step, f"{name} is no size without a value")
        self.block(step.steps, step.var)
        if step.stop is not None:
            self.condition(step, step.stop)
        if step.done is not None:
            self.measured.add(step.done)
            self.learn()

    def condition(self, step: Step, name: str) -> None:
        """A bool buffer that decides on a loop or branch."""
        self.use(step, name)
        if self.buffers[name].dtype is not BOOL:
            raise Broken(step, f"the condition {name} is {self.buffers[name].dtype}, not bool")

    def step(self, step: Step) -> None:
        """Rules 18 to 25."""
        match step:
            case Launch():
                self.launch(step)
            case Routine(name, args):
                for arg in args:
                    if isinstance(arg, Pointer):
                        self.pointer(step, arg)
                    else:
                        self.number(step, arg)
                self.apart(step, [arg for arg in args if isinstance(arg, Pointer)])
            case PythonCall():
                self.python_call(step)
                self.apart(step, [arg.pointer for arg in step.args if isinstance(arg, Region)])
            case Check(condition, code):
                buffers = self.buffers.values()
                dtypes = {b.name: b.dtype for b in buffers if b.dtype in (BOOL, INT64)}
                if check_expr(condition, Scope(self.known, dtypes, {}), step) is not BOOL:
                    raise Broken(step, "the condition of a Check is not bool")
                if code <= 0:
                    raise Broken(step, f"the code of a Check is {code}, not above 0")
            case Measure(name, buffer):
                self.use(step, buffer)
                if self.buffers[buffer].dtype is not INT64:
                    raise Broken(step, f"Measure reads {buffer}, which is not int64")
                if not any(s.var.name == name and s.value is None for s in self.program.sizes):
                    raise Broken(step, f"Measure sets {name}, which is no size without a value")
                self.measured.add(name)
                self.learn()
            case Repeat():
                self.repeat(step)
            case Branch(condition, then, otherwise):
                self.condition(step, condition)
                self.block(then)
                self.block(otherwise)
            case _:
                assert_never(step)

    def launch(self, step: Launch) -> None:
        """Rule 19."""
        kernel = self.kernels.get(step.kernel)
        if kernel is None:
            raise Broken(step, f"there is no kernel {step.kernel}")
        if len(step.buffers) != len(kernel.params):
            raise Broken(step, _count(kernel, "buffers", len(kernel.params), len(step.buffers)))
        if len(step.sizes) != len(kernel.sizes):
            raise Broken(step, _count(kernel, "sizes", len(kernel.sizes), len(step.sizes)))
        for param, name in zip(kernel.params, step.buffers, strict=True):
            self.use(step, name)
            buffer = self.buffers[name]
            if not buffer.dtype.is_seen_as(param.dtype):
                what = f"{name} is {buffer.dtype}, parameter {param.name} is {param.dtype}"
                raise Broken(step, what)
            if param.written:
                self.writable(step, buffer)
                if step.buffers.count(name) > 1:
                    raise Broken(step, f"{name} is written, and given more than once")
        pairs = zip(kernel.params, step.buffers, strict=True)
        written = [name for param, name in pairs if param.written]
        check_apart(step, written, step.buffers, self.buffers)
        for size, value in zip(kernel.sizes, step.sizes, strict=True):
            if isinstance(value, Load):
                self.scalar(step, size, value)
            elif size.dtype not in (INT32, INT64):
                raise Broken(step, f"size {size.name} is {size.dtype}, not int64")
            else:
                self.int64(step, value, self.known, "a size")

    def scalar(self, step: Launch, size: Var, value: Load) -> None:
        """Rule 19: the value of an input that is passed as it is."""
        buffer = self.buffers.get(value.buffer)
        if buffer is None or buffer.role != "input" or buffer.shape:
            raise Broken(step, f"{value.buffer} is no input without axes")
        if not (buffer.dtype.is_seen_as(size.dtype) and value.dtype is size.dtype):
            raise Broken(step, f"{buffer.name} is {buffer.dtype}, {size.name} is {size.dtype}")

    def number(self, step: Routine, arg: Expr) -> None:
        """Rule 18: a number over sizes, or element 0 of a buffer."""
        if isinstance(arg, Load):
            self.use(step, arg.buffer)
        dtypes = {b.name: b.dtype for b in self.buffers.values()}
        check_expr(arg, Scope(self.known, dtypes if isinstance(arg, Load) else {}, {}), step)

    def python_call(self, step: PythonCall) -> None:
        """Rule 22."""
        numbers = [s.number for s in every_step(self.program.steps) if isinstance(s, PythonCall)]
        if step.number < 0 or numbers.count(step.number) > 1:
            raise Broken(step, f"{step.number} is not a number of its own for a PythonCall")
        for arg in step.args:
            if isinstance(arg, Region):
                self.pointer(step, arg.pointer)
                for length in arg.shape:
                    self.int64(step, length, self.known, "a length")
            else:
                check_expr(arg, Scope(self.known, {}, {}), step)

    def pointer(self, step: Routine | PythonCall, pointer: Pointer) -> None:
        """Rule 21."""
        self.use(step, pointer.buffer)
        self.int64(step, pointer.offset, self.known, "an offset")
        if pointer.written:
            self.writable(step, self.buffers[pointer.buffer])

    def apart(self, step: Step, given: Sequence[Pointer]) -> None:
        """Rule 25."""
        names = [pointer.buffer for pointer in given]
        written = [pointer.buffer for pointer in given if pointer.written]
        for name in written:
            if names.count(name) > 1:
                raise Broken(step, f"{name} is written, and given more than once")
        check_apart(step, written, names, self.buffers)

    def use(self, step: Step, name: str) -> None:
        """A step may only use a declared buffer whose shape is known."""
        buffer = self.buffers.get(name)
        if buffer is None:
            raise Broken(step, f"there is no buffer {name}")
        offsets = () if buffer.of is None else (buffer.of.offset,)
        for expr in (*buffer.shape, *offsets):
            unknown = names_in(expr) - self.known.keys()
            if unknown:
                raise Broken(step, f"{name} is used before {min(unknown)} is measured")
        if buffer.of is not None:
            self.use(step, buffer.of.buffer)

    def writable(self, step: Step, buffer: Buffer) -> None:
        """Inputs and constants are only read."""
        while buffer.of is not None:
            buffer = self.buffers[buffer.of.buffer]
        if buffer.role in ("input", "constant"):
            raise Broken(step, f"{buffer.role} {buffer.name} is written")

    def int64(self, part: object, expr: Expr, sizes: dict[str, DType], what: str) -> None:
        """An int64 expression in sizes."""
        self.is_int64(part, expr, Scope(sizes, {}, {}), what)

    def is_int64(self, part: object, expr: Expr, scope: Scope, what: str) -> None:
        """An int64 expression."""
        dtype = check_expr(expr, scope, part)
        if dtype is not INT64:
            raise Broken(part, f"{what} is {dtype}, not int64")


def sets(step: Step) -> list[str]:
    """The sizes without a value that a step gives one."""
    match step:
        case Measure(size):
            return [size]
        case Repeat(var, done=done):
            return [var] if done is None else [var, done]
        case _:
            return []


def times_set(steps: Sequence[Step], name: str) -> int:
    """How often steps give a size a value, of a branch the side that does it more often."""
    count = 0
    for step in steps:
        count += name in sets(step)
        match step:
            case Repeat(steps=inside):
                count += times_set(inside, name)
            case Branch(_, then, otherwise):
                count += max(times_set(then, name), times_set(otherwise, name))
            case _:
                pass
    return count


def _count(kernel: Kernel, what: str, wanted: int, found: int) -> str:
    return f"kernel {kernel.name} has {wanted} {what}, {found} are given"
