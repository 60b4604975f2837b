"""The rules of `program.py` for kernels."""

from __future__ import annotations

from typing import assert_never

from symc.codegen.dtypes import BOOL, INT32, INT64, DType
from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
    Alloc,
    Barrier,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Loop,
    LoopKind,
    Stmt,
    Store,
    Strips,
)
from symc.codegen.passes.strips import expressions_of, length_of, strip_loop
from symc.codegen.passes.vectors.packs import local_scalars, pack_form
from symc.codegen.passes.vectors.reductions import SCANNED
from symc.codegen.passes.walk import statements
from symc.codegen.verify.expressions import Broken, Scope, check_access, check_expr


def check_kernel(kernel: Kernel) -> None:
    """Raise `Broken` if a kernel breaks a rule."""
    _Kernel(kernel).block(kernel.body, None)


class _Kernel:
    """The walk over one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.names: dict[str, DType] = {}  # in scope
        self.buffers: dict[str, DType] = {}  # in scope
        self.writable: set[str] = set()
        self.scope = Scope(self.names, self.buffers, {})
        self.bound: set[str] = set()
        self.scalars = local_scalars(kernel)
        self.around: list[LoopKind] = []  # the kinds of the loops around
        for param in kernel.params:
            self.bind(param.name, kernel)
            self.buffers[param.name] = param.dtype
            if param.written:
                self.writable.add(param.name)
        for size in kernel.sizes:
            self.bind(size.name, kernel)
            self.names[size.name] = size.dtype

    def bind(self, name: str, part: object) -> None:
        """A name is bound once in a kernel."""
        if name in self.bound:
            raise Broken(part, f"{name} is bound twice")
        self.bound.add(name)

    def block(self, block: tuple[Stmt, ...], around: LoopKind | None) -> None:
        """A block, at the end of which its names go. `around` is vector or unroll inside those."""
        names: list[str] = []
        for stmt in block:
            self.statement(stmt, around, names)
        for name in names:
            self.names.pop(name, None)
            self.buffers.pop(name, None)

    def statement(self, stmt: Stmt, around: LoopKind | None, names: list[str]) -> None:
        """A statement; the names that it binds in its block are added to `names`."""
        match stmt:
            case Let(var, value):
                dtype = check_expr(value, self.scope, stmt)
                if dtype is not var.dtype:
                    raise Broken(stmt, f"{var.name} is {var.dtype}, its value {dtype}")
                self.bind(var.name, stmt)
                self.names[var.name] = dtype
                names.append(var.name)
            case Store(buffer, index, value):
                self.write(buffer, index, value, stmt)
            case Accumulate(buffer, index, op, value):
                self.write(buffer, index, value, stmt)
                if not _suits(op, value.dtype):
                    raise Broken(stmt, f"{op}= on {value.dtype}")
            case Alloc():
                self.alloc(stmt)
                names.append(stmt.buffer.name)
            case Loop():
                self.loop(stmt, around)
            case If(condition, then, otherwise):
                if check_expr(condition, self.scope, stmt) is not BOOL:
                    raise Broken(stmt, f"a condition is {condition.dtype}, not bool")
                self.block(then, around)
                self.block(otherwise, around)
            case Barrier():
                self.in_team(stmt)
            case Combine(buffer, op, dtype, reach):
                self.in_team(stmt)
                if reach == "before" and op not in SCANNED:
                    raise Broken(stmt, f"there is no scan by {op}")
                check_access(buffer, Const(0), dtype, self.scope, stmt)
                if not _suits(op, dtype):
                    raise Broken(stmt, f"combine by {op} of {dtype}")
            case _:
                assert_never(stmt)

    def in_team(self, stmt: Stmt) -> None:
        """A statement that all threads of a team must reach."""
        if "team" not in self.around or "lane" in self.around:
            raise Broken(stmt, "not among the statements that all threads of a team run")

    def is_together(self) -> bool:
        """Whether all threads of a team are here, one iteration each still to be given out."""
        return "team" in self.around and not {"lane", "round"} & set(self.around)

    def write(self, buffer: str, index: Expr, value: Expr, stmt: Stmt) -> None:
        """A store or an update."""
        dtype = check_expr(value, self.scope, stmt)
        check_access(buffer, index, dtype, self.scope, stmt)
        if buffer not in self.writable:
            raise Broken(stmt, f"parameter {buffer} is not declared as written")

    def alloc(self, stmt: Alloc) -> None:
        """The declaration of a local buffer."""
        buffer = stmt.buffer
        if buffer.role != "local":
            raise Broken(stmt, f"{buffer.name} is allocated, but its role is {buffer.role}")
        for length in buffer.shape:
            self.integer(length, stmt, "a length")
        self.bind(buffer.name, stmt)
        if stmt.value is not None:
            if buffer.shape:
                raise Broken(stmt, f"{buffer.name} begins with a value, but is no scalar")
            if check_expr(stmt.value, self.scope, stmt) is not buffer.dtype:
                raise Broken(stmt, f"{buffer.name} is {buffer.dtype}, its value {stmt.value.dtype}")
        self.buffers[buffer.name] = buffer.dtype
        self.writable.add(buffer.name)

    def loop(self, loop: Loop, around: LoopKind | None) -> None:
        """A loop."""
        if around is not None and loop.kind != "unroll":
            raise Broken(loop, f"a {loop.kind} loop inside a loop of kind {around}")
        if loop.kind == "unroll" and not isinstance(loop.extent, Const):
            raise Broken(loop, "an unroll loop whose length is not constant")
        if loop.kind in ("grid", "team") and self.around:
            raise Broken(loop, f"a {loop.kind} loop inside another loop")
        if loop.kind in ("lane", "round") and not self.is_together():
            raise Broken(loop, f"a {loop.kind} loop that is not in a team, or in another such loop")
        self.integer(loop.extent, loop, "the length of a loop")
        self.cut(loop)
        if loop.kind == "packs" and pack_form(loop, self.scalars) is None:
            raise Broken(loop, "a packs loop that is more than gathers, arithmetic and scatters")
        self.bind(loop.var.name, loop)
        if loop.var.dtype not in (INT32, INT64):
            raise Broken(loop, f"{loop.var.name} is {loop.var.dtype}, not int64")
        self.names[loop.var.name] = loop.var.dtype
        self.around.append(loop.kind)
        self.block(loop.body, loop.kind if loop.kind in ("vector", "unroll") else None)
        self.around.pop()
        del self.names[loop.var.name]

    def cut(self, loop: Loop) -> None:
        """The part of a loop in strip-mining."""
        cut = loop.cut
        if cut is None:
            return
        for expr in expressions_of(cut):
            self.integer(expr, loop, "a number of iterations")
            if expr.dtype is not loop.extent.dtype:
                raise Broken(loop, "the extent and what it follows from are of two types")
        length = length_of(cut)
        if isinstance(length, Const) and length.value < 1:
            raise Broken(loop, f"strips of {length.value}")
        inner = [s for s in statements(loop.body) if isinstance(s, Loop) and s.kind == "vector"]
        is_pack = strip_loop(loop) is not None and isinstance(length, Const)
        if isinstance(cut, Strips) and loop.kind in ("grid", "lane") and inner and not is_pack:
            raise Broken(loop, "a strip that threads of a device share out is one pack")

    def integer(self, expr: Expr, part: object, what: str) -> None:
        """An expression for a length or an index: int64, or int32 on a device."""
        dtype = check_expr(expr, self.scope, part)
        if dtype not in (INT32, INT64):
            raise Broken(part, f"{what} is {dtype}, not int64")


def _suits(op: AccumulateOp, dtype: DType) -> bool:
    """Whether a buffer of a dtype can be updated by an operation."""
    match op:
        case "add" | "mul":
            return not dtype.is_only_stored and dtype is not BOOL
        case "min" | "max":
            return not dtype.is_only_stored
        case "and" | "or":
            return dtype is BOOL
        case "band" | "bor" | "bxor":
            return not dtype.is_float
        case _:
            assert_never(op)
