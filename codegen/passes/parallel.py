"""parallel: which loops run on several threads, and in what pieces.

Only outermost loops do. A parallel loop inside another becomes serial; a vector loop over n
elements is cut into blocks of a fixed length, so that no result depends on the number of threads.
Kernels whose work is known to be little are left to one thread.

`work` estimates how much a loop does; the emitter starts threads only above a threshold of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Call,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Stmt,
    Store,
    Var,
    add,
    ceiling,
    const,
    mul,
    sub,
)
from symc.codegen.math import FUNCTIONS, OPERATOR_COSTS
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    map_kernels,
    names_in,
    parts,
    rebuild_statement,
    statements,
    substitute,
)

BLOCK = 16384  # elements of a flat loop that one thread does at a time
ENOUGH = 1 << 17  # operations in a block; a longer body makes for shorter blocks
SHORTEST = 256
LITTLE = 1 << 15  # operations that are not worth a second thread
UNKNOWN = 16  # iterations, where the number depends on values


def parallel(program: Program, block: int = BLOCK) -> Program:
    """The program with threads at its outermost loops only, flat loops in blocks of <= `block`."""

    def change(kernel: Kernel) -> Block:
        return _Threads(kernel, block).block(kernel.body)

    return map_kernels(program, change)


class _Threads:
    """The walk over one kernel."""

    def __init__(self, kernel: Kernel, block: int) -> None:
        self.taken = bound(kernel)
        self.longest = block
        self.scalars: set[str] = set()  # declared outside all loops

    def block(self, block: Block) -> Block:
        """A block outside all loops."""
        return tuple([self.statement(stmt) for stmt in block])

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement outside all loops."""
        match stmt:
            case Loop():
                return self.loop(stmt)
            case If():
                return rebuild_statement(stmt, _same, self.block)
            case Alloc(buffer):
                self.scalars.add(buffer.name)
                return stmt
            case Let() | Store() | Accumulate() | Barrier() | Combine():
                return stmt
            case _:
                assert_never(stmt)

    def loop(self, loop: Loop) -> Loop:
        """An outermost loop."""
        cost = work(loop)
        is_small = isinstance(cost, Const) and cost.value < LITTLE
        if loop.kind == "vector" and not is_small and not self.reduces(loop):
            return self.blocks(loop)
        kind = "serial" if loop.kind == "parallel" and is_small else loop.kind
        body = serial(loop.body) if loop.kind in ("parallel", "serial") else loop.body
        return Loop(loop.var, loop.extent, kind, body, loop.note)

    def reduces(self, loop: Loop) -> bool:
        """Whether a vector loop is a reduction; otherwise its iterations are independent."""
        return any(
            isinstance(stmt, Accumulate) and stmt.buffer in self.scalars
            for stmt in statements(loop.body)
        )

    def blocks(self, loop: Loop) -> Loop:
        """A flat loop cut into blocks. The loop's variable becomes a value, so the body stays."""
        length = _block_length(loop, self.longest)
        number, start, inner = (
            Var(fresh(name, self.taken)) for name in ("block", "start", f"{loop.var.name}_in_block")
        )
        count = ceiling(loop.extent, length)
        rest = sub(loop.extent, start)
        body: Block = (
            Let(start, mul(number, const(length))),
            Loop(
                inner,
                Binary("min", const(length), rest, rest.dtype),
                "vector",
                (Let(loop.var, add(start, inner)), *loop.body),
            ),
        )
        return Loop(number, count, "parallel", body, loop.note)


def _same(expr: Expr) -> Expr:
    return expr


def serial(block: Block) -> Block:
    """The block with parallel loops made serial, at any depth."""

    def statement(stmt: Stmt) -> Stmt:
        new = rebuild_statement(stmt, _same, serial)
        if isinstance(new, Loop) and new.kind == "parallel":
            return Loop(new.var, new.extent, "serial", new.body, new.note)
        return new

    if not any(isinstance(stmt, Loop | If) for stmt in block):
        return block
    return tuple(map(statement, block))


def _block_length(loop: Loop, longest: int) -> int:
    """A power of two fraction of `longest` that makes for enough work, whatever the threads."""
    each = work(Loop(loop.var, const(1), loop.kind, loop.body))
    cost = int(each.value) if isinstance(each, Const) else UNKNOWN
    length = longest
    while length > SHORTEST and length * cost > ENOUGH:
        length //= 2
    return length


# --- work -----------------------------------------------------------------------------------------


def work(loop: Loop) -> Expr:
    """Roughly how many simple operations a loop does, in the sizes of its kernel."""
    return _work_of_loop(loop, {})


def _work_of_loop(loop: Loop, inside: Mapping[str, Expr]) -> Expr:
    match loop.body:
        case (Let(), Loop(extent=Binary("min", _, Binary("sub", whole, Var())), body=(_, *body))):
            # `_Threads.blocks` made this; the first statement inside is the loop's old variable
            return mul(_visible(whole, inside), _work_of_block(tuple(body), inside))
        case _:
            pass
    extent = _visible(loop.extent, inside)
    return mul(extent, _work_of_block(loop.body, {**inside, loop.var.name: extent}))


def _work_of_block(block: Block, inside: Mapping[str, Expr]) -> Expr:
    constant, total = 0, const(0)
    names = dict(inside)
    rest: Expr = total
    for stmt in block:
        match stmt:
            case Loop():
                part = _work_of_loop(stmt, names)
                if isinstance(part, Const):
                    constant += int(part.value)
                else:
                    rest = add(rest, part)
            case If(_, then, otherwise):
                rest = add(rest, _work_of_block(then + otherwise, names))
            case Let(var, value):
                names[var.name] = value
                constant += _cost(value)
            case Store() | Accumulate() | Alloc():
                constant += 1 + sum(map(_cost, expressions(stmt)))
            case Barrier() | Combine():
                constant += 1
            case _:
                assert_never(stmt)
    return add(rest, const(constant))


def _visible(extent: Expr, inside: Mapping[str, Expr]) -> Expr:
    """What bounds an extent, in sizes alone; names bound inside the kernel are looked up."""
    for _ in range(8):
        if _is_outside(extent, inside):
            return extent
        if names_in(extent).isdisjoint(inside):
            return const(UNKNOWN)
        match extent:
            case Binary("min", Const() as bound_, _) | Binary("min", _, Const() as bound_):
                return bound_
            case Binary("min", bound_, _) if _is_outside(bound_, inside):
                return bound_
            case Binary("min", _, bound_) if _is_outside(bound_, inside):
                return bound_
            case Binary("mul", left, right):
                return mul(_visible(left, inside), _visible(right, inside))
            case Binary("floordiv", number, Const() as divisor):
                return Binary("floordiv", _visible(number, inside), divisor, INT64)
            case Binary("sub", number, _):
                extent = number
            case _:
                extent = substitute(extent, inside)
    return const(UNKNOWN)


def _is_outside(extent: Expr, inside: Mapping[str, Expr]) -> bool:
    """Whether this is known before the kernel runs."""
    return names_in(extent).isdisjoint(inside) and not _loads(extent)


def _loads(expr: Expr) -> bool:
    return isinstance(expr, Load | Call) or any(map(_loads, parts(expr)))


def _cost(expr: Expr) -> int:
    """Rough cost of an expression. An index costs nothing: it is shared or strength-reduced."""
    if type(expr) is Var or type(expr) is Const:
        return 0
    if type(expr) is Load:
        return 1
    if type(expr) is Binary:
        return OPERATOR_COSTS.get(expr.op, 1) + _cost(expr.left) + _cost(expr.right)
    own = FUNCTIONS[expr.function].cost if type(expr) is Call else 1
    return own + sum(map(_cost, parts(expr)))
