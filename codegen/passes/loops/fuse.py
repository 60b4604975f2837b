"""fuse: neighbouring loops over one range become one loop; stored values are not loaded again.

Two loops in one block with equal extents merge where iteration i of the second needs nothing that a
later iteration of the first writes: every element that one writes and the other touches must be
touched by one iteration only (`dependence`). Two parallel loops give a parallel loop. A serial loop
takes part if it only accumulates, and gives a serial loop, which `vectorize` can still make a
vector loop; but outside all loops that would cost the parallel one its threads, so there it stays.

Loops also merge over statements between them that can go before the first or after the second, such
as the store of what the first has added up. They merge only if they touch a common buffer:
otherwise nothing is won. Then `forward` uses stored values directly.

One loop inside another stays alone: that which adds up, in float64, a row of float32 just stored.
Processors convert vectors on the way from memory; from register to register it takes three times
the instructions, which costs more than to load the row from the cache once more. Nor does one fold
a row that is computed from narrower numbers: gcc takes as many at a time as fit into a vector, and
begins and ends a fold in as many of the wider ones one by one, which takes longer than a short row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from symc.codegen.dtypes import FLOAT32, FLOAT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Cast,
    Combine,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    LoopKind,
    Program,
    Stmt,
    Store,
)
from symc.codegen.passes.loops.dependence import (
    Accesses,
    accesses,
    is_reduction,
    shared_places_agree,
)
from symc.codegen.passes.loops.forward import forward
from symc.codegen.passes.walk import (
    Block,
    collect,
    expressions,
    loads_of,
    map_block,
    map_kernels,
    names_in,
    rebuild_statement,
    statements,
    substitute,
)


def fuse(program: Program) -> Program:
    """The program with neighbouring loops merged and stored values forwarded."""
    return map_kernels(program, fused)


def fused(kernel: Kernel) -> Block:
    """The body of a kernel with neighbouring loops merged and stored values forwarded."""
    return forward(kernel, _block(kernel.body, outermost=True))


def _block(block: Block, *, outermost: bool) -> Block:
    """The block with its loops merged, and then the loops inside the others."""
    if not any(isinstance(stmt, Loop | If) for stmt in block):
        return block
    out = _Siblings(outermost)
    for stmt in block:
        out.add(stmt)
    return tuple([_inside(stmt, outermost) for stmt in out.done])


def _inside(stmt: Stmt, outermost: bool) -> Stmt:
    inner = outermost and not isinstance(stmt, Loop)
    return rebuild_statement(stmt, lambda expr: expr, lambda body: _block(body, outermost=inner))


class _Siblings:
    """A block under construction, and its last loop, which the next may be merged with."""

    def __init__(self, outermost: bool) -> None:
        self.outermost = outermost
        self.done: list[Stmt] = []
        self.last: Loop | None = None  # stands in `done` at `position`
        self.position = 0
        self.found: Accesses | None = None  # of `last`, once they are asked for

    def add(self, stmt: Stmt) -> None:
        """Append a statement, or merge it."""
        match stmt:
            case Loop():
                self.loop(stmt)
            case If() | Barrier() | Combine():
                self.last = None
                self.done.append(stmt)
            case Let() | Store() | Accumulate() | Alloc():
                self.done.append(stmt)
            case _:
                assert_never(stmt)

    def loop(self, loop: Loop) -> None:
        """Append a loop, or merge it with the last."""
        if self.last is not None and self.last.extent == loop.extent:
            first = self.found or accesses(self.last)
            found = self.found = accesses(loop)
            kind = self.kind(self.last, first, loop, found)
            sides = kind and _sides(self.done[self.position + 1 :], first, loop, found)
            if kind and sides:
                before, after = sides
                self.found, merged = first.merged(found), _merged(self.last, loop, kind)
                self.done[self.position :] = [*before, merged, *after]
                self.last, self.position = merged, self.position + len(before)
                return
        else:
            self.found = None
        self.last, self.position = loop, len(self.done)
        self.done.append(loop)

    def kind(self, last: Loop, first: Accesses, loop: Loop, found: Accesses) -> LoopKind | None:
        """The kind of the merged loop, or None where their accesses forbid it."""
        if (first.reads | first.writes).isdisjoint(found.reads | found.writes):
            return None
        if not shared_places_agree(first, found):
            return None
        if first.innermost != found.innermost:
            return None  # the one without could no longer run in vector registers
        if last.kind == loop.kind == "parallel":
            return "parallel"
        if {last.kind, loop.kind} - {"parallel", "serial"}:
            return None
        if self.outermost and last.kind != loop.kind:
            return None
        if not self.outermost and (
            _only_converts(loop, first.stores) or _widens(last, loop, first.stores)
        ):
            return None
        for side, accessed in ((last, first), (loop, found)):
            if side.kind == "serial" and not is_reduction(accessed):
                return None
        return "serial"


def _merged(last: Loop, loop: Loop, kind: LoopKind) -> Loop:
    """Two loops over one range as one of this kind."""
    body = map_block(loop.body, lambda expr: substitute(expr, {loop.var.name: last.var}))
    note = "\n".join(dict.fromkeys(filter(None, (last.note, loop.note))))
    return Loop(last.var, last.extent, kind, last.body + body, note, last.cut or loop.cut)


def _sides(
    between: Sequence[Stmt], first: Accesses, loop: Loop, second: Accesses
) -> tuple[list[Stmt], list[Stmt]] | None:
    """Which statements between two loops can go before the first, and which after the second.

    None where there is one that can do neither.
    """
    before, after = _Moved(), _Moved()
    for stmt in between:
        is_of_first = not first.writes.isdisjoint(_reads(stmt)) or not (
            first.reads | first.writes
        ).isdisjoint(_writes(stmt))
        (after if is_of_first or after.keeps(stmt) else before).add(stmt)
    if after.statements and (
        not after.names.isdisjoint(_names(loop))
        or not after.writes.isdisjoint(second.reads | second.writes)
        or not after.reads.isdisjoint(second.writes)
    ):
        return None
    return before.statements, after.statements


class _Moved:
    """Statements that go to one side together."""

    def __init__(self) -> None:
        self.statements: list[Stmt] = []
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.names: set[str] = set()

    def add(self, stmt: Stmt) -> None:
        """Add one more."""
        self.statements.append(stmt)
        self.reads |= _reads(stmt)
        self.writes |= _writes(stmt)
        if isinstance(stmt, Let):
            self.names.add(stmt.var.name)

    def keeps(self, stmt: Stmt) -> bool:
        """Whether a statement after these cannot go before them."""
        reads, writes = _reads(stmt), _writes(stmt)
        return (
            not self.names.isdisjoint(_names(stmt))
            or not self.writes.isdisjoint(reads | writes)
            or not self.reads.isdisjoint(writes)
        )


def _names(stmt: Stmt) -> set[str]:
    """The names of values that a statement and those in it use."""
    inside = statements((stmt,))
    return {name for each in inside for expr in expressions(each) for name in names_in(expr)}


def _reads(stmt: Stmt) -> set[str]:
    return {load.buffer for load in loads_of(stmt)}


def _writes(stmt: Stmt) -> set[str]:
    match stmt:
        case Store(buffer) | Accumulate(buffer):
            return {buffer}
        case Alloc(buffer):
            return {buffer.name}
        case _:
            return set()


def _only_converts(loop: Loop, stored: set[str]) -> bool:
    """Whether a loop only accumulates, as float64, values stored as float32."""
    match loop.body:
        case (Accumulate(value=Cast(Load(buffer, _, kind), wide)),):
            return buffer in stored and kind is FLOAT32 and wide is FLOAT64
        case _:
            return False


def _widens(last: Loop, loop: Loop, stored: set[str]) -> bool:
    """Whether a loop only folds stored values that the last computed from narrower ones."""
    match loop.body:
        case (Accumulate(value=Load(buffer, _, wide)),) if buffer in stored and wide.is_float:
            loads: list[Load] = []
            for stmt in statements(last.body):
                for expr in expressions(stmt):
                    collect(expr, [], loads)
            return any(load.dtype.bytes < wide.bytes for load in loads)
        case _:
            return False
