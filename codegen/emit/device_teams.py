"""The arrays that the threads of a team share, and what the host must know to choose teams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

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
    Var,
    const,
)
from symc.codegen.passes.memory import Scratch, aligned, bytes_of
from symc.codegen.passes.walk import Block, names_in, statements

if TYPE_CHECKING:
    from symc.codegen.emit.writer import Writer

SHARED = "team_memory"


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


def declare_memory(writer: Writer, memory: Scratch) -> None:
    """Where the team's memory is: shared memory, or scratch memory if there is too little."""
    for name in memory.offsets:
        writer.printer.buffers[name]
    writer.put(f"extern __shared__ __align__(16) char {SHARED}[];")
    writer.put(
        "const int64_t team = scratch ? blockIdx.x * blockDim.y + threadIdx.y : threadIdx.y;"
    )
    writer.put(f"char *const memory = (scratch ? scratch : {SHARED}) + team * team_bytes;")


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
    """What an extent does not exceed, roughly, in sizes alone and as int64."""
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
