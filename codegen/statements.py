"""Statements, kernels and steps of the loop IR: the rest of `ir.py`. Import them from there."""

from __future__ import annotations

from typing import Literal, TypeAlias

from symc.codegen.dtypes import DType
from symc.codegen.record import field, record
from symc.codegen.status import Status
from symc.codegen.values import Const, Expr, Var

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

    A row is the part of another buffer that begins at `of`. An output that is `given` begins as an
    argument of the caller's, who is to have that as it was if a check fails.
    """

    name: str
    dtype: DType
    shape: tuple[Expr, ...]
    role: Role
    of: Pointer | None = None
    given: bool = False

    @property
    def is_variable(self) -> bool:
        """Whether it may be written, and has a value before the program."""
        return self.role == "shared" or self.given

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

    The condition is over sizes, and may load element 0 of a bool buffer, or one of int64, that
    earlier steps wrote.
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
    without a value, which becomes the number of rounds that were done. An `endless` loop ends so
    alone: its extent is 0, or more than any program lives to see.
    """

    var: str
    extent: Expr
    steps: tuple[Step, ...]
    stop: str | None = None
    done: str | None = None
    note: str = field(default="", compare=False)
    endless: bool = False


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
