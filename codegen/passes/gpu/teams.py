"""The statements of one iteration, written for a team of threads.

Every thread of the team runs every statement, on scalars of its own that are the same in all of
them. Work that can be shared out becomes a `lane` loop:

- a loop over independent iterations, as it is;
- a loop that accumulates into scalars, each thread its part, and a `Combine` after it;
- a loop that keeps a running value is run in rounds (`scans`);
- statements that write to memory once, and loops that must run in order: by one thread, in a lane
  loop of one iteration.

A serial loop around any of these is run by all threads together. A `Barrier` stands wherever a
thread may otherwise see memory that another has yet to write, or overwrite what another has yet to
read.
"""

from __future__ import annotations

from typing import assert_never

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Buffer,
    Combine,
    Const,
    If,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Var,
    const,
)
from symc.codegen.passes.gpu.flatten import flatten
from symc.codegen.passes.gpu.scans import in_rounds, scan_of
from symc.codegen.passes.kernels.memory import is_on_stack
from symc.codegen.passes.loops.dependence import accesses, is_reduction
from symc.codegen.passes.loops.parallel import serial
from symc.codegen.passes.vectors.reductions import Reduction, identity, reductions
from symc.codegen.passes.walk import (
    Block,
    fresh,
    loads_of,
    rebuild_statement,
    statements,
    unchanged,
    written,
)

SHORT = 16  # iterations: a loop of fewer is not worth sharing out


def for_team(body: Block, taken: set[str]) -> Block:
    """The body of an iteration for a team. `taken` are the names of the kernel."""
    team = _Team(taken, written(body))
    team.block(body)
    if team.arrays:  # the next iteration uses their memory again
        team.out.append(Barrier())
    return tuple(team.out)


def needs_team(block: Block) -> bool:
    """Whether a block has an array that is too large for a thread to have one of its own."""
    return any(
        isinstance(stmt, Alloc) and not is_on_stack(stmt.buffer) for stmt in statements(block)
    )


def is_short(loop: Loop) -> bool:
    """Whether a loop has so few iterations that one thread should do them."""
    return isinstance(loop.extent, Const) and loop.extent.value <= SHORT


def shared_out(loop: Loop, scalars: frozenset[str]) -> list[Reduction] | None:
    """The scalars that a serial loop accumulates if its iterations may be shared out, or None."""
    found = accesses(loop)
    into = {name for name in found.accumulates if not found.has_one_place(name)}
    if not into <= scalars or not is_reduction(found):
        return None
    return reductions(loop, scalars)


class _Team:
    """The walk over the statements that all threads of a team run."""

    def __init__(self, taken: set[str], stored: frozenset[str]) -> None:
        self.taken = taken
        self.stored = stored  # whatever is only read can be read at any time
        self.out: list[Stmt] = []
        self.scalars: frozenset[str] = frozenset()
        self.arrays: set[str] = set()
        self.later: set[str] = set()  # names that later statements use
        self.dirty: set[str] = set()  # memory written since the last barrier
        self.seen: set[str] = set()  # memory read since the last barrier

    def block(self, block: Block) -> None:
        """Append the statements of a block."""
        outer = self.later
        later = [outer]
        for stmt in reversed(block[1:]):
            later.append(later[-1] | _reads((stmt,)))
        for stmt, self.later in zip(block, reversed(later), strict=False):
            self.statement(stmt)
        self.later = outer

    def nested(self, block: Block) -> Block:
        """The statements of an inner block."""
        outer, self.out = self.out, []
        self.block(block)
        outer, self.out = self.out, outer
        return tuple(outer)

    def statement(self, stmt: Stmt) -> None:
        """Append one statement."""
        match stmt:
            case Alloc(buffer):
                if buffer.shape:
                    self.arrays.add(buffer.name)
                else:
                    self.scalars |= {buffer.name}
                self.out.append(stmt)
            case Let():
                self.everyone(stmt)
            case Store(buffer) | Accumulate(buffer):
                if buffer in self.scalars:
                    self.everyone(stmt)
                else:
                    self.alone(stmt)
            case If(condition, then, otherwise):
                self.wait(_reads((Let(Var("condition", condition.dtype), condition),)), set())
                before = set(self.dirty), set(self.seen)
                then = self.nested(then)
                after = self.dirty, self.seen
                self.dirty, self.seen = before
                otherwise = self.nested(otherwise)
                self.dirty |= after[0] | before[0]
                self.seen |= after[1] | before[1]
                self.out.append(If(condition, then, otherwise))
            case Loop():
                self.loop(stmt)
            case Barrier() | Combine():
                self.out.append(stmt)
            case _:
                assert_never(stmt)

    def everyone(self, stmt: Stmt) -> None:
        """A statement that each thread runs for itself."""
        self.wait(_reads((stmt,)), set())
        self.out.append(stmt)

    def alone(self, stmt: Stmt) -> None:
        """A statement that one thread runs for all."""
        inner = serial((stmt,))
        reads, writes = _reads(inner), self.memory(written(inner))
        last = self.out[-1] if self.out else None
        if isinstance(last, Loop) and last.kind == "lane" and last.extent == const(1):
            before = self.memory(written(last.body))
            if not (reads | writes) & (self.dirty - before) and not writes & self.seen:
                self.out[-1] = Loop(last.var, last.extent, "lane", (*last.body, *inner), last.note)
                self.dirty |= writes
                self.seen |= reads
                return
        self.lanes(Loop(Var(fresh("one", self.taken)), const(1), "lane", inner))

    def lanes(self, loop: Loop, instead: Block | None = None) -> None:
        """A loop that is shared out, perhaps by other statements."""
        reads, writes = _reads((loop,)), self.memory(written(loop.body))
        self.wait(reads, writes)
        self.out += (loop,) if instead is None else instead
        self.dirty |= writes
        self.seen |= self.memory(reads)

    def loop(self, loop: Loop) -> None:
        """A loop that stands where all threads are."""
        if needs_team(loop.body):
            self.together(loop)
            return
        flat = flatten(loop, self.taken)
        found = None if is_short(flat) else shared_out(flat, self.scalars)
        scan = None if is_short(flat) else scan_of(flat, self.scalars)
        if loop.kind == "parallel" and not is_short(flat):
            self.lanes(Loop(flat.var, flat.extent, "lane", serial(flat.body), flat.note, flat.cut))
        elif found is not None:
            self.reduce(flat, found)
        elif scan is not None:
            self.lanes(flat, in_rounds(scan, self.taken))
        elif self.helps(loop) or self.changes(loop):
            self.together(loop)
        elif written(loop.body) <= self.scalars | _declared(loop.body):
            self.everyone(serial((loop,))[0])
        else:
            self.alone(loop)

    def helps(self, loop: Loop) -> bool:
        """Whether there is something in a serial loop to share out."""
        scalars = self.scalars | {
            stmt.buffer.name
            for stmt in loop.body
            if isinstance(stmt, Alloc) and not stmt.buffer.shape
        }
        return any(
            not is_short(stmt)
            and (
                stmt.kind == "parallel"
                or shared_out(stmt, scalars) is not None
                or scan_of(stmt, scalars) is not None
            )
            for stmt in loop.body
            if isinstance(stmt, Loop)
        )

    def changes(self, loop: Loop) -> bool:
        """Whether a loop leaves a new value in a scalar that all threads are to have."""
        return bool(written(loop.body) & self.scalars & self.later)

    def together(self, loop: Loop) -> None:
        """A loop whose iterations all threads run together, one after the other."""
        self.barrier()
        scalars, later = self.scalars, self.later
        self.later = later | _reads(loop.body)  # by the next iteration
        body = list(self.nested(loop.body))
        if self.dirty or self.seen & self.memory(written(loop.body)):  # by the next iteration
            body.append(Barrier())
            self.dirty.clear()
            self.seen.clear()
        self.scalars, self.later = scalars, later
        self.out.append(Loop(loop.var, loop.extent, "serial", tuple(body), loop.note, loop.cut))

    def reduce(self, loop: Loop, found: list[Reduction]) -> None:
        """A loop that accumulates into scalars: a part in each thread, then all parts combined."""
        parts: dict[str, str] = {}
        for reduction in found:
            if self.starts_neutral(reduction):
                parts[reduction.buffer] = reduction.buffer
                continue
            part = parts[reduction.buffer] = fresh(f"{reduction.buffer}_part", self.taken)
            neutral = identity(reduction.op, reduction.dtype)
            self.out.append(Alloc(Buffer(part, reduction.dtype, (), "local")))
            self.out.append(Store(part, const(0), neutral))
            self.scalars |= {part}
        body = _redirected(serial(loop.body), parts)
        self.lanes(Loop(loop.var, loop.extent, "lane", body, loop.note, loop.cut))
        for reduction in found:
            part = parts[reduction.buffer]
            self.out.append(Combine(part, reduction.op, reduction.dtype))
            if part != reduction.buffer:
                value = Load(part, const(0), reduction.dtype)
                self.out.append(Accumulate(reduction.buffer, const(0), reduction.op, value))

    def starts_neutral(self, reduction: Reduction) -> bool:
        """Whether the scalar has just been set to the neutral value, so needs no part."""
        for stmt in reversed(self.out):
            match stmt:
                case Store(buffer, _, value) if buffer == reduction.buffer:
                    return value == identity(reduction.op, reduction.dtype)
                case Store() | Alloc() | Let():
                    if reduction.buffer in _reads((stmt,)):
                        return False
                case _:
                    return False
        return False

    def wait(self, reads: set[str], writes: set[str]) -> None:
        """Put a barrier where these accesses must not come too early."""
        reads, writes = self.memory(reads), self.memory(writes)
        if reads & self.dirty or writes & (self.dirty | self.seen):
            self.barrier()
        self.seen |= reads

    def barrier(self) -> None:
        """Put a barrier, unless nothing has happened since the last."""
        if self.dirty or self.seen:
            self.out.append(Barrier())
            self.dirty.clear()
            self.seen.clear()

    def memory(self, names: set[str] | frozenset[str]) -> set[str]:
        """Those of some buffers that threads share."""
        return (set(names) & self.stored) - self.scalars


def _declared(block: Block) -> frozenset[str]:
    return frozenset(stmt.buffer.name for stmt in statements(block) if isinstance(stmt, Alloc))


def _reads(block: Block) -> set[str]:
    """The buffers that a block loads, or updates."""
    found: set[str] = set()
    for stmt in statements(block):
        if isinstance(stmt, Accumulate):
            found.add(stmt.buffer)
        found.update(load.buffer for load in loads_of(stmt))
    return found


def _redirected(block: Block, parts: dict[str, str]) -> Block:
    """The block accumulating into other scalars."""

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Accumulate) and stmt.buffer in parts:
            return Accumulate(parts[stmt.buffer], stmt.index, stmt.op, stmt.value)
        return rebuild_statement(stmt, unchanged, inner)

    def inner(body: Block) -> Block:
        return tuple(map(statement, body))

    return inner(block)
