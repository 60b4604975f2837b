"""parallel: which loops run on several threads, and in which pieces.

Only outermost loops do. A parallel loop inside another becomes serial; a vector loop over n
elements is cut into blocks of a fixed length, so that no result depends on the number of threads.
Kernels whose work is known to be little are left to one thread.

`cost/loops.py` estimates how much a loop does; the host functions start threads only above a
threshold of their own.
"""

from __future__ import annotations

from typing import assert_never

from symc.codegen.cost.loops import UNKNOWN, work
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Combine,
    Const,
    If,
    Kernel,
    Let,
    Loop,
    Program,
    Stmt,
    Store,
    const,
)
from symc.codegen.passes.strips import strip_mined
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    map_kernels,
    rebuild_statement,
    statements,
    unchanged,
)

BLOCK = 16384  # elements of a flat loop that one thread does at a time
ENOUGH = 1 << 17  # operations in a block; a longer body makes for shorter blocks
SHORTEST = 256
LITTLE = 1 << 15  # operations that are not worth a second thread


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
                return rebuild_statement(stmt, unchanged, self.block)
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
        return Loop(loop.var, loop.extent, kind, body, loop.note, loop.cut)

    def reduces(self, loop: Loop) -> bool:
        """Whether a vector loop is a reduction; otherwise its iterations are independent."""
        return any(
            isinstance(stmt, Accumulate) and stmt.buffer in self.scalars
            for stmt in statements(loop.body)
        )

    def blocks(self, loop: Loop) -> Loop:
        """A flat loop cut into blocks."""
        length = _block_length(loop, self.longest)
        return strip_mined(loop, length, "parallel", lambda stem: fresh(stem, self.taken))


def serial(block: Block) -> Block:
    """The block with parallel loops made serial, at any depth."""

    def statement(stmt: Stmt) -> Stmt:
        new = rebuild_statement(stmt, unchanged, serial)
        if isinstance(new, Loop) and new.kind == "parallel":
            return Loop(new.var, new.extent, "serial", new.body, new.note, new.cut)
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
