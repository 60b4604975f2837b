"""Kernels of the loop IR as CUDA kernels.

A kernel is one `grid` loop, an iteration for each thread, or one `team` loop (see `ir.py`); both
step by the size of the grid, so that any grid gives the right result. All that the host needs to
launch it is in `Launchable`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.emit.device_loops import Grid
from symc.codegen.emit.device_module import Dynamic, LaunchBounds, Piece
from symc.codegen.emit.kernels import emit_block
from symc.codegen.emit.writer import INDENT, Writer, wrapped
from symc.codegen.ir import Kernel
from symc.codegen.passes.gpu.geometry import Geometry, placed

if TYPE_CHECKING:
    from symc.codegen.emit.expressions import Printer
    from symc.codegen.passes.kernels.memory import Scratch
    from symc.codegen.targets.base import Lang

SHARED = "team_memory"


def emit_device_kernel(
    kernel: Kernel, name: str, printer: Printer, declared: dict[str, None], geometry: Geometry
) -> list[Piece]:
    """Print one kernel, without the comment above it."""
    writer = Writer(printer.lang, printer, declared)
    for param in kernel.params:
        printer.buffers[param.name]
    for size in kernel.sizes:
        printer.vars[size.name]
    declared_memory: list[Piece] = []
    if geometry.memory is not None:
        declared_memory = [INDENT, Dynamic(SHARED), f" __align__(16) char {SHARED}[];\n"]
        place_memory(writer, geometry.memory)
    emit_block(writer, geometry.body, grid_of(geometry, printer.lang))
    text = "\n".join(writer.lines)
    bounds = LaunchBounds(name, str(geometry.bound))
    before, after = signature(kernel, name, printer, geometry, bounds)
    return [before, bounds, f"{after}\n{{\n", *declared_memory, f"{text}\n}}\n"]


def grid_of(geometry: Geometry, lang: Lang, space: str = "") -> Grid:
    """The form of a kernel's loops, whose team has its memory in an address space."""
    assert lang.device is not None, f"{lang.name} is for no device"
    return Grid(geometry.memory, geometry.wide, geometry.lanes, lang.device, space)


def place_memory(writer: Writer, memory: Scratch) -> None:
    """Where the team's memory is: shared memory, or scratch memory if there is too little."""
    for name in memory.offsets:
        writer.printer.buffers[name]
    writer.put(
        "const int64_t team = scratch ? blockIdx.x * blockDim.y + threadIdx.y : threadIdx.y;"
    )
    writer.put(f"char *const memory = (scratch ? scratch : {SHARED}) + team * team_bytes;")


def origin(kernel: Kernel) -> str:
    """The file name in the compiler's messages on a kernel: the user's own lines."""
    lines = kernel.note.strip().splitlines()
    said = " ".join((lines[-1] if lines else kernel.name).split())
    return said.replace("\\", "/").replace('"', "'")


def signature(
    kernel: Kernel, name: str, printer: Printer, geometry: Geometry, bounds: LaunchBounds
) -> tuple[str, str]:
    """The declaration of a kernel, as the text before and after its launch bounds."""
    lang, memory = printer.lang, geometry.memory
    params: list[str] = []
    if memory is not None:
        params += ["char *const scratch", "const int64_t team_bytes"]
        params += [f"const int64_t {printer.buffers[name]}_at" for name in placed(memory)]
    for param in kernel.params:
        before = "" if param.written else "const "
        params.append(
            f"{before}{lang.types[param.dtype.name]} *{lang.restrict} {printer.buffers[param.name]}"
        )
    for size in kernel.sizes:
        params.append(f"const {lang.types[size.dtype.name]} {printer.vars[size.name]}")
    before = f"{lang.kernel} "
    width = len(before + bounds.text(loose=False))
    return before, wrapped(f" {name}(", params, ")", "", width)
