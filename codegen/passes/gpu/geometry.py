"""How a kernel of a device is launched: threads or teams, how many, and the memory of teams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Alloc,
    Binary,
    Buffer,
    Const,
    Expr,
    Kernel,
    Let,
    Loop,
    Program,
    Var,
    ceiling,
    const,
)
from symc.codegen.passes.gpu.accesses import Lanes, lanes_of
from symc.codegen.passes.kernels.memory import Scratch, aligned, bytes_of
from symc.codegen.passes.walk import Block, names_in, statements
from symc.codegen.record import record

THREADS = 256  # of a block of a grid kernel
TEAM = 512  # the largest team


@record
class Geometry:
    """How many threads and how much memory the launch of a kernel needs, in its sizes."""

    kind: Literal["grid", "team"]
    extent: Expr
    """How many threads or teams its outer loop is for, in kernel sizes."""
    length: Expr
    """The longest loop that a team shares out, in kernel sizes."""
    memory: Scratch | None
    """The arrays that each team needs."""
    body: Block
    """The statements that are printed: one team needs no loop."""
    wide: bool
    """Whether the outer loop counts in 64 bits."""
    lanes: Mapping[str, Lanes]
    """The loops over packs, by their variables."""

    @property
    def bound(self) -> int:
        """The threads of the largest block."""
        return THREADS if self.kind == "grid" else TEAM


def geometries(program: Program) -> dict[str, Geometry]:
    """How each kernel of a program is launched."""
    return {kernel.name: geometry(kernel) for kernel in program.kernels}


def geometry(kernel: Kernel) -> Geometry:
    """How one kernel is launched."""
    outer = next(s for s in kernel.body if isinstance(s, Loop) and s.kind in ("grid", "team"))
    memory = team_memory(kernel)
    lanes = loops_over_packs(kernel, memory)
    is_one = outer.kind == "team" and outer.extent == Const(1, outer.extent.dtype)
    return Geometry(
        "grid" if outer.kind == "grid" else "team",
        grid_extent(outer, lanes) if outer.kind == "grid" else outer.extent,
        team_length(kernel),
        memory,
        (*kernel.body[:-1], *outer.body) if is_one else kernel.body,
        outer.var.dtype is INT64,
        lanes,
    )


def loops_over_packs(kernel: Kernel, memory: Scratch | None) -> dict[str, Lanes]:
    """The loops over packs, by their variables."""
    inside = list(statements(kernel.body))
    scalars = {s.buffer.name for s in inside if isinstance(s, Alloc) and not s.buffer.shape}
    shared = memory.offsets.keys() if memory is not None else set[str]()
    found = {s.var.name: lanes_of(s, scalars, shared) for s in inside if isinstance(s, Loop)}
    return {name: lanes for name, lanes in found.items() if lanes is not None}


def team_memory(kernel: Kernel) -> Scratch | None:
    """The arrays that the threads of a team share: where each begins, and bytes in all."""
    offsets: dict[str, Expr] = {}
    total: Expr = const(0)
    for buffer in team_arrays(kernel.body):
        offsets[buffer.name] = total
        size = aligned(bytes_of(buffer))
        total = size if total == const(0) else Binary("add", total, size, size.dtype)
    return Scratch(offsets, total, parallel=True) if offsets else None


def team_arrays(block: Block) -> Iterator[Buffer]:
    """The arrays that are declared where all threads of a team are."""
    for stmt in block:
        match stmt:
            case Alloc(buffer) if buffer.shape:
                yield buffer
            case Loop(kind="team" | "serial", body=body):
                yield from team_arrays(body)
            case _:
                pass


def placed(memory: Scratch) -> list[str]:
    """The arrays that do not begin where the team's memory begins."""
    return [name for name, offset in memory.offsets.items() if offset != const(0)]


def team_length(kernel: Kernel) -> Expr:
    """How many iterations the longest loop has that a team shares out, roughly, in kernel sizes."""
    sizes = {size.name for size in kernel.sizes}
    bounds: dict[str, Expr] = {}
    longest: Expr = const(1)
    for stmt in statements(kernel.body):
        match stmt:
            case Let(var, value):
                bounds[var.name] = value
            case Loop(var, extent, kind):
                bound = upper_bound(extent, bounds, sizes)
                bounds[var.name] = bound
                if kind in ("lane", "round") and bound != longest:
                    both = longest != const(1) and bound != const(1)
                    if both:
                        longest = Binary("max", longest, bound, INT64)
                    elif bound != const(1):
                        longest = bound
            case _:
                pass
    return longest


def upper_bound(expr: Expr, bounds: Mapping[str, Expr], sizes: set[str]) -> Expr:
    """A rough upper bound of an extent, in sizes alone and as int64."""
    match expr:
        case Var(name) if name not in sizes:
            return upper_bound(bounds[name], bounds, sizes) if name in bounds else const(1)
        case Var(name):
            return Var(name, INT64)
        case Const(value):
            return const(int(value))
        case Binary("min", left, right):
            known = [part for part in (left, right) if names_in(part) <= sizes]
            return upper_bound(known[0] if known else left, bounds, sizes)
        case Binary("sub", left, right) if not names_in(right) <= sizes:
            return upper_bound(left, bounds, sizes)
        case Binary(op, left, right):
            left, right = upper_bound(left, bounds, sizes), upper_bound(right, bounds, sizes)
            return Binary(op, left, right, INT64)
        case _:
            return const(1024)


def grid_extent(loop: Loop, packs: Mapping[str, Lanes]) -> Expr:
    """The threads that a grid loop is for."""
    lanes = packs.get(loop.var.name)
    return loop.extent if lanes is None else ceiling(loop.extent, lanes.turns)
