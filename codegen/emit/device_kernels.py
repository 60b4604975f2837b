"""Kernels of the loop IR as CUDA kernels.

A kernel is one `grid` loop, an iteration for each thread, or one `team` loop (see `ir.py`); both
step by the size of the grid, so that any grid gives the right result. What the host must know to
launch it is in `Launchable`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.dtypes import INT64
from symc.codegen.emit.device_loops import Grid, grid_extent
from symc.codegen.emit.device_teams import declare_memory, placed, team_length, team_memory
from symc.codegen.emit.kernels import emit_block
from symc.codegen.emit.writer import Writer, comment, wrapped
from symc.codegen.ir import Const, Expr, Kernel, Loop
from symc.codegen.record import record

if TYPE_CHECKING:
    from symc.codegen.emit.expressions import Printer
    from symc.codegen.passes.memory import Scratch

THREADS = 256  # of a block of a grid kernel
TEAM = 512  # the largest team


@record
class Launchable:
    """A kernel as text, and what the host must know to launch it."""

    name: str
    note: str
    """The comment above it."""
    origin: str
    """The name of the file that the compiler is to give in messages on it."""
    text: str
    kind: str
    """``grid`` or ``team``."""
    extent: Expr
    """How many threads or teams its outer loop is for, in kernel sizes."""
    length: Expr
    """The longest loop that a team shares out, in kernel sizes."""
    memory: Scratch | None
    """The arrays that each team needs."""


def emit_device_kernel(
    kernel: Kernel, name: str, printer: Printer, aliased: frozenset[str], declared: dict[str, None]
) -> Launchable:
    """Print one kernel. `aliased` parameters may be the same memory as others."""
    writer = Writer(printer.lang, printer, declared)
    for param in kernel.params:
        printer.buffers[param.name]
    for size in kernel.sizes:
        printer.vars[size.name]
    outer = next(s for s in kernel.body if isinstance(s, Loop) and s.kind in ("grid", "team"))
    memory = team_memory(kernel)
    form = Grid(memory, wide=outer.var.dtype is INT64)
    if memory is not None:
        declare_memory(writer, memory)
    body = kernel.body
    if outer.kind == "team" and outer.extent == Const(1, outer.extent.dtype):
        body = (*kernel.body[:-1], *outer.body)  # one team needs no loop
    emit_block(writer, body, form)
    text = "\n".join(writer.lines)
    head = signature(kernel, name, writer, outer.kind, memory, aliased)
    text = f"{head}\n{{\n{text}\n}}\n"
    extent = grid_extent(outer) if outer.kind == "grid" else outer.extent
    note = comment(kernel.note, "")
    return Launchable(
        name, note, origin(kernel), text, outer.kind, extent, team_length(kernel), memory
    )


def origin(kernel: Kernel) -> str:
    """What the compiler calls the file in messages on a kernel: the user's own lines."""
    lines = kernel.note.strip().splitlines()
    said = " ".join((lines[-1] if lines else kernel.name).split())
    return said.replace("\\", "/").replace('"', "'")


def signature(
    kernel: Kernel, name: str, writer: Writer, kind: str, memory: Scratch | None,
    aliased: frozenset[str],
) -> str:  # fmt: skip
    """The declaration of a kernel without its semicolon."""
    lang, printer = writer.lang, writer.printer
    params: list[str] = []
    if memory is not None:
        params += ["char *const scratch", "const int64_t team_bytes"]
        params += [f"const int64_t {printer.buffers[name]}_at" for name in placed(memory)]
    for param in kernel.params:
        before = "" if param.written else "const "
        restrict = "" if param.name in aliased else lang.restrict + " "
        star = "*" + restrict
        params.append(f"{before}{lang.types[param.dtype.name]} {star}{printer.buffers[param.name]}")
    for size in kernel.sizes:
        params.append(f"const {lang.types[size.dtype.name]} {printer.vars[size.name]}")
    bound = THREADS if kind == "grid" else TEAM
    return wrapped(f"{lang.kernel} __launch_bounds__({bound}) {name}(", params, ")", "")
