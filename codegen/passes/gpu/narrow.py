"""narrow: lengths and indexes have 32 bits, which a device computes several times faster than 64.

The program is only run where no array has more than 2^30 elements, no loop more iterations, and no
size is larger (`limits.py` lists the tests for the host); else the same program
without this pass is. The tests cannot wrap: products stop at 2^60, and in sums of them, each of
which is tested by itself, nothing else is above 2^30.

An index is a sum of products, and those are the same modulo 2^32 whatever the width of the factors,
as long as the index itself fits. Only a few operations need their operands exactly:
division, remainder, minimum, maximum. There the narrow form is used for variables, constants and
sums of those, and 64 bits for the rest. A value that is named and is anything but part of an index
keeps 64 bits, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import INT32, INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Buffer,
    Cast,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Repeat,
    Select,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.gpu.limits import (
    EXACT,
    ORDER,
    bound_of,
    bounds_of,
    is_product,
    lengths_of,
    limits,
)
from symc.codegen.passes.gpu.values import elements
from symc.codegen.passes.kernels.memory import prepared
from symc.codegen.passes.strips import map_cut
from symc.codegen.passes.walk import (
    Block,
    names_in,
    parts,
    rebuild,
    statements,
)
from symc.codegen.record import replace
from symc.codegen.signs import natural_sizes

LARGEST = (1 << 31) - (1 << 20)  # of constants
LONGEST = 1 << 30  # of lengths: SYMC_LONGEST of runtime/device/devicelaunch.h
MODULAR = frozenset({"add", "sub", "mul"})


def narrow(program: Program) -> Program:
    """The program with int32 lengths, loop variables and indexes in its kernels.

    Not if lengths become known only while it runs: by then it is too late to run another. The
    numbers of a loop's steps are not lengths, unless an array or a kernel's loop is as long.
    """
    _, known = prepared(program)
    counters = {step.var for step in every_step(program.steps) if isinstance(step, Repeat)}
    if any(size.var.name not in known | counters for size in program.sizes):
        return program
    if any(counters & names_in(length) for length in lengths_of(program)):
        return program
    data = elements(program)
    _, natural = natural_sizes(program)
    kernels = tuple(
        _Narrow(kernel, data[kernel.name], natural.get(kernel.name, set())).kernel()
        for kernel in program.kernels
    )
    return replace(program, kernels=kernels)


class _Narrow:
    """The pass over one kernel."""

    def __init__(self, kernel: Kernel, data: set[int], natural: set[str]) -> None:
        self.natural = natural
        self.source = kernel
        self.sizes = tuple(
            Var(size.name, INT32) if size.dtype is INT64 and number not in data else size
            for number, size in enumerate(kernel.sizes)
        )
        self.limited = set(limits(kernel))
        self.bounds = bounds_of(kernel)
        self.narrow = {size.name for size in self.sizes if size.dtype is INT32}
        self.loops = {s.var.name for s in statements(kernel.body) if isinstance(s, Loop)}
        self.narrow |= self.loops
        self.lets = {
            stmt.var.name: stmt.value
            for stmt in statements(kernel.body)
            if isinstance(stmt, Let) and stmt.var.dtype is INT64
        }

    def kernel(self) -> Kernel:
        """The kernel with narrow indexes."""
        self.narrow |= self.lets.keys()
        while True:
            wide = self.wide()
            if wide.isdisjoint(self.narrow):
                break
            self.narrow -= wide
        body = self.block(self.source.body)
        return Kernel(self.source.name, self.source.params, self.sizes, body, self.source.note)

    # --- which names must keep 64 bits ------------------------------------------------------------

    def wide(self) -> set[str]:
        """The named values that are used for more than indexes, as far as is known by now."""
        found: set[str] = set()
        for expr, is_index in self.uses(self.source.body):
            self.find(expr, found, exact=False, index=is_index)
        return found & self.lets.keys()

    def uses(self, block: Block) -> Iterator[tuple[Expr, bool]]:
        """The expressions of a block, and whether each is an index."""
        for stmt in statements(block):
            match stmt:
                case Let(var, value):
                    yield value, var.name in self.narrow
                case Store(_, index, value) | Accumulate(_, index, _, value):
                    yield index, True
                    yield value, False
                case Loop(extent=extent):
                    yield Binary("min", extent, extent, INT64), True
                case Alloc(buffer):
                    for length in buffer.shape:
                        yield length, True
                case If(condition):
                    yield condition, False
                case Barrier() | Combine():
                    pass

    def find(self, expr: Expr, found: set[str], *, exact: bool, index: bool) -> None:
        """Collect the names in an expression that are wanted exactly, or as data."""
        match expr:
            case Var(name):
                if not index or (exact and not self.is_small(expr)):
                    found.add(name)
            case Load(_, inner):
                self.find(inner, found, exact=False, index=True)
            case Binary(op, left, right) if index and op in MODULAR | EXACT:
                if op in EXACT and not self.is_small(expr):
                    index = False
                for part in (left, right):
                    self.find(part, found, exact=exact or op in EXACT, index=index)
            case Binary(op, left, right) if op in ORDER and self.are_small(left, right):
                for part in (left, right):
                    self.find(part, found, exact=True, index=True)
            case Select(condition, then, otherwise) if index:
                self.find(condition, found, exact=True, index=False)
                for part in (then, otherwise):
                    self.find(part, found, exact=exact, index=True)
            case _:
                for part in parts(expr):
                    self.find(part, found, exact=True, index=False)

    def are_small(self, left: Expr, right: Expr) -> bool:
        """Whether two indexes may be compared as they are."""
        return left.dtype is INT64 and self.is_small(left) and self.is_small(right)

    def is_small(self, expr: Expr) -> bool:
        """Whether an index surely has 32 bits, and so has everything it is computed from."""
        return self.range_of(expr) is not None

    def range_of(self, expr: Expr) -> tuple[int, int] | None:
        """The least and the greatest value of an index; None if it, or a part, may need more bits.

        Sizes are between -2^30 and 2^30; numbers of iterations are below a length.
        """
        match expr:
            case Const(value):
                return (int(value), int(value)) if abs(value) < LARGEST else None
            case Var(name):
                if name not in self.narrow:
                    return None
                named = self.lets.get(name)
                if named is not None:
                    return self.range_of(named)
                if name in self.loops:
                    most = self.bounds.names.get(name)
                    return 0, (int(most.value) if isinstance(most, Const) else LONGEST) - 1
                return 0 if name in self.natural else -LONGEST, LONGEST
            case Binary("mul") if (known := self.range_of_product(expr)) is not None:
                return known
            case Binary(op, left, right) if op in EXACT | MODULAR:
                first, second = self.range_of(left), self.range_of(right)
                if first is None or second is None:
                    return None
                low, high = _combined(op, first, second)
                return (low, high) if low >= -(1 << 31) and high < 1 << 31 else None
            case _:
                return None

    def range_of_product(self, expr: Binary) -> tuple[int, int] | None:
        """The range of a product that is tested, or that something small is an upper bound of."""
        whole = self.bounds.starts.get(expr)
        if whole is not None:  # of which this is an iteration
            most = self.range_of(whole)
            return None if most is None else (0, max(most[1] - 1, 0))
        bound = bound_of(expr, self.bounds)
        if {expr, bound} & self.limited:
            return 0, LONGEST - self.is_below(expr)
        if bound is None or is_product(bound):
            return None
        most = self.range_of(bound)
        return None if most is None else (0, most[1])

    def is_below(self, expr: Expr) -> bool:
        """Whether an index, in which nothing is negative, is not only at most its bound but below.

        (Or both are 0.) Numbers of iterations are; so a chunk starts before the end of all chunks.
        """
        match expr:
            case Var(name):
                named = self.lets.get(name)
                return name in self.loops or (named is not None and self.is_below(named))
            case Binary("mod"):
                return True
            case Binary("sub" | "floordiv", left):
                return self.is_below(left)
            case Binary("add" | "mul", left, right):
                return self.is_below(left) or self.is_below(right)
            case _:
                return False

    # --- rewriting --------------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        """A block with narrow indexes."""
        return tuple(map(self.statement, block))

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement with narrow indexes."""
        match stmt:
            case Let(var, value):
                if var.name in self.narrow:
                    return Let(Var(var.name, INT32), self.index(value))
                return Let(var, self.value(value))
            case Store(buffer, index, value):
                return Store(buffer, self.index(index), self.value(value))
            case Accumulate(buffer, index, op, value, atomic):
                return Accumulate(buffer, self.index(index), op, self.value(value), atomic)
            case Loop(var, extent, kind, body, note, cut):
                narrow, known = Var(var.name, INT32), map_cut(cut, self.index)
                return Loop(narrow, self.index(extent), kind, self.block(body), note, known)
            case If(condition, then, otherwise):
                return If(self.value(condition), self.block(then), self.block(otherwise))
            case Alloc(buffer):
                shape = tuple(map(self.index, buffer.shape))
                return Alloc(Buffer(buffer.name, buffer.dtype, shape, buffer.role))
            case Barrier() | Combine():
                return stmt

    def index(self, expr: Expr) -> Expr:
        """An int64 expression as int32, equal modulo 2^32."""
        match expr:
            case Const(value):
                return Const(value, INT32) if abs(value) < LARGEST else Cast(expr, INT32)
            case Var(name):
                return Var(name, INT32) if name in self.narrow else Cast(expr, INT32)
            case Binary(op, left, right) if op in MODULAR or (
                op in EXACT and self.is_small(left) and self.is_small(right)
            ):
                return Binary(op, self.index(left), self.index(right), INT32)
            case Select(condition, then, otherwise):
                then, otherwise = self.index(then), self.index(otherwise)
                return Select(self.value(condition), then, otherwise, INT32)
            case _:
                return Cast(self.value(expr), INT32)

    def value(self, expr: Expr) -> Expr:
        """Any other expression."""
        match expr:
            case Var(name) if name in self.narrow:
                return Cast(Var(name, INT32), INT64)
            case Load(buffer, index, dtype):
                return Load(buffer, self.index(index), dtype)
            case Binary(op, left, right, dtype) if op in ORDER and self.are_small(left, right):
                return Binary(op, self.index(left), self.index(right), dtype)
            case _:
                return rebuild(expr, self.value)


def _combined(op: str, first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    """The range of the result of an operation, from those of its operands."""
    (low, high), (least, most) = first, second
    match op:
        case "add":
            return low + least, high + most
        case "sub":
            return low - most, high - least
        case "mul":
            products = [one * other for one in first for other in second]
            return min(products), max(products)
        case "min":
            return min(low, least), min(high, most)
        case "max":
            return max(low, least), max(high, most)
        case "mod":  # it has the sign of the divisor
            return min(least + 1, 0), max(most - 1, 0)
        case _:  # a quotient is never further from 0 than the dividend
            far = max(abs(low), abs(high))
            return (0 if low >= 0 and least >= 0 else -far), far
