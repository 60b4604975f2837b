"""Loop IR: a program as loops over flat buffers. The grammar, which `text.py` prints:

    program = Program(name, sizes, buffers, kernels, steps)
    size    = Size(var, value, where)                    value = expr over earlier sizes and Lengths
    buffer  = Buffer(name, dtype, shape, role)           role = input | output | shared | constant
                                                              | temp | row | local
    step    = Launch(kernel, buffers, sizes)             run a kernel once
            | Routine(name, args)                        call a function of codegen/runtime or BLAS
            | PythonCall(number, name, args)             call back into Python
            | Check(condition, code)                     stop and return `code` unless it holds
            | Measure(size, buffer)                      a length becomes known: read it
            | Repeat(var, extent, steps, stop, done)     a loop around steps
            | Branch(condition, then, otherwise)         one of two blocks of steps
    kernel  = Kernel(name, params, sizes, body, note)
    stmt    = Loop(var, extent, kind, body, note, cut) | If(condition, then, otherwise)
            | Let(var, value) | Store(buffer, index, value)
            | Accumulate(buffer, index, op, value) | Alloc(buffer, value)
            | Barrier() | Combine(buffer, op, reach)     in teams
    cut     = Strips(whole, length)                      it goes over the strips of another loop
            | Strip(number, strips)                      it goes over the iterations of a strip
    kind    = parallel | serial | vector | unroll        `parallel`: iterations are independent
            | packs                                      serial, some iterations side by side
            | grid | team | lane | round                 on a device, see below
    expr    = Const(value, dtype) | Var(name, dtype) | Length(buffer, axis) | Load(buffer, index)
            | Unary(op, x) | Binary(op, left, right) | Call(function, args) | Cast(x, dtype)
            | Select(condition, then, otherwise)

Meaning:

- Every buffer is C-contiguous, and an index is one int64 expression (int32 in the kernels of a
  device, where that suffices) into its flat elements.
- A name is bound once in a kernel (loop variables, `Let`), and is visible to the end of the block
  that binds it. Expressions are trees; whatever is shared is named with `Let`.
- Expressions have no effects and are strict: `Select` evaluates both sides, so each Load in it must
  be in range whatever the condition. Statements that must not run stand under `If`.
- A kernel names its buffers and sizes by its own parameters; `Launch` gives the program's buffers
  and size expressions for them, in order. So two layers of a network can share one kernel.
- `Alloc` declares a local buffer, visible to the end of its block: a scalar (shape ``()``) lives in
  a register, anything longer in scratch memory that belongs to one thread. It is uninitialised, but
  that the last pass, `declare`, gives a scalar the value that is stored to it first.
- `Accumulate` is ``buffer[index] = op(buffer[index], value)``. The order of iterations of a serial
  or vector loop that only accumulates may be changed by up to reassociation.
- The iterations of a `packs` loop compute nothing from what they write. So some of them at a time
  may do everything side by side but for what they add at computed places, and that in order.
- The value of a size is exact: where 64 bits cannot hold it, or a part of it, the call ends with
  the status `TOO_LARGE`; the side that a `Select` does not take is no part of it. Other integer
  arithmetic wraps.
- `floordiv` and `mod` have Python's signs, and give 0 for a zero divisor. `max`/`min` propagate
  NaN. Comparisons and `and or xor not` give bool; `band bor bxor invert` are bitwise; `shl shr`
  follow NumPy for counts that are negative or too large.
- On a device a kernel is one `grid` loop, an iteration for each thread, or one `team` loop, an
  iteration for each team of threads. The threads of a team all run the same statements, each with
  local scalars of its own, but for the iterations of a `lane` loop, which they share out. What a
  thread writes to memory the others see after the next `Barrier`. `Combine` gives each thread of
  the team the scalars of all of them, or of those up to itself, combined by `op`. The iterations of
  a `round` loop are shared out in order, one for each thread at a time; as all threads run its body
  equally often, its variable may lie beyond the extent. A team of one thread, for which all of this
  is ordinary loops, gives the same result up to reassociation.
- Strip-mining makes a loop over strips, and in its body loops over the iterations of one. The `cut`
  of these loops says so, and with it what their extents are: with `Strips`, how many strips of a
  length there are in the whole; with a `Strip`, how many iterations the strip of that number has,
  fewer in the last. `passes/strips.py` makes both. Where threads of a device share out strips, a
  vector loop over one is a pack: neighbouring elements that one thread reads and writes at a time.
- A `row` is a piece of another buffer that moves: its offset depends on the variable of a `Repeat`.
  To kernels it is a buffer like any other. So whatever a kernel writes, no other row or buffer that
  it is given overlaps it.
- The variable of a `Repeat` is a size inside it, and so is all that follows from it.
- Complex numbers occur in lowered programs; `passes/pairs.py` makes pairs of floats of them.
  After it, kernels have none; buffers of the program may, and are arrays of their components.
- float16 and bfloat16 only occur in buffers, `Load`, `Store`, `Let`, `Const` and `Cast`: arithmetic
  is wider. Of bfloat16 `passes/bits.py` makes uint16; after it, kernels have none, and buffers of
  the program may.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from symc.codegen.dtypes import DType
from symc.codegen.record import field, record
from symc.codegen.status import Status
from symc.codegen.values import (
    COMPARISONS as COMPARISONS,
    Binary as Binary,
    BinaryOp as BinaryOp,
    Call as Call,
    Cast as Cast,
    Const as Const,
    Expr as Expr,
    Length as Length,
    Load as Load,
    Select as Select,
    Unary as Unary,
    UnaryOp as UnaryOp,
    Var as Var,
    add as add,
    binary as binary,
    ceiling as ceiling,
    const as const,
    mul as mul,
    number as number,
    sub as sub,
)

TOO_LARGE = Status.TOO_LARGE.value  # of a call of which a length does not fit into 64 bits

# --- statements -----------------------------------------------------------------------------------

LoopKind = Literal[
    "parallel", "serial", "vector", "unroll", "packs", "grid", "team", "lane", "round"
]
AccumulateOp = Literal["add", "mul", "min", "max", "and", "or", "bor", "band", "bxor"]


@record
class Strips:
    """Of a loop: it goes over the strips of `length` into which `whole` iterations are cut.

    The last strip may be shorter.
    """

    whole: Expr
    length: Expr


@record
class Strip:
    """Of a loop: it goes over the iterations of one strip, the one of this number."""

    number: Expr
    strips: Strips


Cut: TypeAlias = Strips | Strip
"""The part of a loop in the strip-mining of another one."""


@record
class Loop:
    """``for var in range(extent)``. `note` is the comment printed above it."""

    var: Var
    extent: Expr
    kind: LoopKind
    body: tuple[Stmt, ...]
    note: str = field(default="", compare=False)
    cut: Cut | None = None


@record
class If:
    """Runs `then` or `otherwise`."""

    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@record
class Let:
    """Names a value until the end of the block."""

    var: Var
    value: Expr


@record
class Store:
    """``buffer[index] = value``."""

    buffer: str
    index: Expr
    value: Expr


@record
class Accumulate:
    """``buffer[index] = op(buffer[index], value)``.

    An atomic one, of integers on a device, may meet others at the same element.
    """

    buffer: str
    index: Expr
    op: AccumulateOp
    value: Expr
    atomic: bool = False


@record
class Alloc:
    """Declares a local buffer until the end of the block. A scalar may begin with a value."""

    buffer: Buffer
    value: Expr | None = None


@record
class Barrier:
    """Each thread of a team waits for the others, and then sees their writes."""


@record
class Combine:
    """A local scalar becomes, in each thread of a team, the values of all combined by `op`.

    With `reach` "before", those of the threads up to this one: a scan.
    """

    buffer: str
    op: AccumulateOp
    dtype: DType
    reach: Literal["all", "before"] = "all"


Stmt: TypeAlias = Loop | If | Let | Store | Accumulate | Alloc | Barrier | Combine

# --- kernels and programs -------------------------------------------------------------------------

Role = Literal["input", "output", "shared", "constant", "temp", "row", "local"]


@record
class Buffer:
    """A C-contiguous array. `shape` is in sizes (of the program, or of the kernel for a local).

    A row is the part of another buffer that begins at `of`.
    """

    name: str
    dtype: DType
    shape: tuple[Expr, ...]
    role: Role
    of: Pointer | None = None

    @property
    def is_by_value(self) -> bool:
        """Whether it is one number of the caller's, which a device's kernels are given as such."""
        return self.role == "input" and not self.shape and not self.dtype.is_complex


@record
class Param:
    """A buffer a kernel is given, under the kernel's own name for it."""

    name: str
    dtype: DType
    written: bool


@record
class Kernel:
    """Loops over buffers. `note` says which expressions of the user's it computes, and where."""

    name: str
    params: tuple[Param, ...]
    sizes: tuple[Var, ...]
    body: tuple[Stmt, ...]
    note: str = field(default="", compare=False)


@record
class Size:
    """A length that the host computes before anything runs, or `value` None: by a `Measure`."""

    var: Var
    value: Expr | None
    note: str = field(default="", compare=False)


@record
class Launch:
    """Runs a kernel with these buffers and sizes for its parameters."""

    kernel: str
    buffers: tuple[str, ...]
    sizes: tuple[Expr, ...]


@record
class Pointer:
    """The address of a buffer's element, as an argument of a routine."""

    buffer: str
    offset: Expr
    written: bool = False


@record
class Routine:
    """A call of a host function by name, one of those in `codegen/routines.py`: ``gemm_f32``.

    A `Load` of element 0 passes a number by value.
    """

    name: str
    args: tuple[Pointer | Expr, ...]
    note: str = field(default="", compare=False)


@record
class Region:
    """An array inside a buffer, as a function in Python is given it."""

    pointer: Pointer
    shape: tuple[Expr, ...]


@record
class PythonCall:
    """Calls function `number` of those in Python that the caller has for this program.

    It reads the regions that are not written and fills those that are. If it raises, the call ends.
    `name` is for people; constants are scalars.
    """

    number: int
    name: str
    args: tuple[Region | Const, ...]
    note: str = field(default="", compare=False)


@record
class Check:
    """Ends the call with status `code` (> 0) unless the condition holds.

    The condition is over sizes, and may load element 0 of a bool buffer that earlier steps wrote.
    """

    condition: Expr
    code: int
    note: str = field(default="", compare=False)


@record
class Measure:
    """Sets a size from element 0 of an int64 buffer."""

    size: str
    buffer: str


@record
class Repeat:
    """Runs the steps with `var` 0, 1, ... below `extent`.

    With `stop`, a bool buffer, it ends after the steps that leave true there. `done` is a size
    without a value, which becomes the number of rounds that were done.
    """

    var: str
    extent: Expr
    steps: tuple[Step, ...]
    stop: str | None = None
    done: str | None = None
    note: str = field(default="", compare=False)


@record
class Branch:
    """Runs `then` if element 0 of a bool buffer is true, else `otherwise`."""

    condition: str
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...]
    note: str = field(default="", compare=False)


Step: TypeAlias = Launch | Routine | PythonCall | Check | Measure | Repeat | Branch


@record
class Program:
    """Everything one compiled function does, from lengths to outputs.

    Buffers never overlap. A shared variable that is updated in place is simply stored to.
    """

    name: str
    sizes: tuple[Size, ...]
    buffers: tuple[Buffer, ...]
    kernels: tuple[Kernel, ...]
    steps: tuple[Step, ...]
