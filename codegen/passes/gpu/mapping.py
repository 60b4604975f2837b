"""mapping: each kernel becomes one loop over threads or over teams of threads.

The iterations of a kernel's outer loop are independent. Each is given

- to a thread, if there is no loop in it worth sharing out, or if neighbouring iterations read
  neighbouring elements, as in a sum over columns: then it is neighbouring threads that should;
- to a team of threads, if the loops in it read neighbouring elements, as in a sum over rows, or if
  it needs an array of its own.

A kernel without such a loop is one iteration for one team.
"""

from __future__ import annotations

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Expr,
    Kernel,
    Let,
    Loop,
    Program,
    Store,
    Var,
    const,
)
from symc.codegen.passes.gpu.flatten import flatten
from symc.codegen.passes.gpu.scans import scan_of
from symc.codegen.passes.gpu.teams import (
    for_team,
    is_short,
    needs_team,
    shared_out,
)
from symc.codegen.passes.loops.dependence import is_unit
from symc.codegen.passes.loops.parallel import serial
from symc.codegen.passes.walk import (
    Block,
    blocks,
    bound,
    fresh,
    loads_of,
    map_kernels,
    statements,
    substitute,
    written,
)


def mapping(program: Program) -> Program:
    """The program with a `grid` or a `team` loop in each kernel."""
    return map_kernels(program, _mapped)


def _mapped(kernel: Kernel) -> Block:
    taken = bound(kernel)
    outer = outer_loop(kernel.body)
    if outer is None:
        once = Var(fresh("once", taken))
        return (Loop(once, const(1), "team", for_team(kernel.body, taken)),)
    before, neighbour = kernel.body[:-1], last_variable(outer)
    flat = flatten(outer, taken)
    if wants_team(flat, neighbour):
        body = for_team(flat.body, taken)
        return (*before, Loop(flat.var, flat.extent, "team", body, flat.note, flat.cut))
    return (*before, Loop(flat.var, flat.extent, "grid", serial(flat.body), flat.note, flat.cut))


def outer_loop(body: Block) -> Loop | None:
    """The loop over independent iterations that is all a kernel does after naming some values."""
    if not body or not isinstance(body[-1], Loop) or body[-1].kind != "parallel":
        return None
    if not all(isinstance(stmt, Let) for stmt in body[:-1]):
        return None
    # Others may be at work in the loop when the last thread reads the values named before it.
    loaded = {load.buffer for stmt in body[:-1] for load in loads_of(stmt)}
    return None if loaded & written(body) else body[-1]


def last_variable(loop: Loop) -> str:
    """The variable of the innermost of the loops that `flatten` may merge."""
    while loop.body and isinstance(loop.body[-1], Loop) and loop.body[-1].kind == loop.kind:
        if not all(isinstance(stmt, Let) for stmt in loop.body[:-1]):
            break
        loop = loop.body[-1]
    return loop.var.name


def wants_team(loop: Loop, neighbour: str) -> bool:
    """Whether a team should run each iteration of a loop over independent iterations.

    `neighbour` is the variable, the loop's own or one computed from it, that grows by one from most
    iterations to the next.
    """
    if needs_team(loop.body):
        return True
    votes = _Votes(loop, frozenset({loop.var.name, neighbour}))
    votes.block(loop.body, None)
    return votes.lanes > votes.threads


class _Votes:
    """For whom the accesses inside an iteration's loops are next to each other in memory."""

    def __init__(self, loop: Loop, neighbours: frozenset[str]) -> None:
        self.neighbours = neighbours
        self.lets: dict[str, Expr] = {}
        self.scalars = frozenset(
            stmt.buffer.name
            for stmt in statements(loop.body)
            if isinstance(stmt, Alloc) and not stmt.buffer.shape
        )
        self.lanes = 0
        self.threads = 0

    def block(self, block: Block, shared: str | None) -> None:
        """Count the accesses in a block; `shared` is the loop around it that could be shared."""
        for stmt in block:
            if isinstance(stmt, Store | Accumulate) and stmt.buffer not in self.scalars:
                self.access(stmt.index, shared)
            for load in loads_of(stmt):
                if load.buffer not in self.scalars:
                    self.access(load.index, shared)
            if isinstance(stmt, Let) and stmt.var.name not in self.neighbours:
                self.lets[stmt.var.name] = substitute(stmt.value, self.lets)
            inner = stmt.var.name if isinstance(stmt, Loop) and self.is_shared(stmt) else shared
            for body in blocks(stmt):
                self.block(body, inner)

    def is_shared(self, loop: Loop) -> bool:
        """Whether a team could share out a loop, and it is worth it."""
        if is_short(loop):
            return False
        if loop.kind == "parallel" or shared_out(loop, self.scalars) is not None:
            return True
        return scan_of(loop, self.scalars) is not None

    def access(self, index: Expr, shared: str | None) -> None:
        """Count one access."""
        if shared is None:
            return
        index = substitute(index, self.lets)
        if is_unit(index, shared):
            self.lanes += 1
        elif any(is_unit(index, name) for name in self.neighbours):
            self.threads += 1
