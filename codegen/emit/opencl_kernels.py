"""Kernels of the loop IR as OpenCL kernels: as in `device_kernels.py`, with address spaces.

Where a team needs memory, its arrays are in local memory, whose size the launch gives. A second
kernel has them in global memory, for where there is too little of the other: pointers know their
address space, and few devices have pointers to any. A team is a work-group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.emit.device_kernels import grid_of, origin
from symc.codegen.emit.expressions import Printer
from symc.codegen.emit.kernels import emit_block
from symc.codegen.emit.writer import INDENT, Writer, wrapped
from symc.codegen.errors import DoublesMissing
from symc.codegen.ir import Combine, Const, Kernel
from symc.codegen.passes.gpu.geometry import TEAM, placed
from symc.codegen.passes.walk import statements
from symc.codegen.targets.opencl.lang import IN_GLOBAL, PASSED

if TYPE_CHECKING:
    from symc.codegen.emit.device_module import Piece
    from symc.codegen.passes.gpu.geometry import Geometry

ALWAYS = 16384  # bytes of local memory that any device has
LOCAL, GLOBAL = "__local ", "__global "
GIVEN = {LOCAL: "__local char *const memory", GLOBAL: "__global char *const scratch"}
ROOM = f"{INDENT}__local ulong team_room[{TEAM}];"
PLACE = "__global char *const memory = scratch + get_group_id(0) * team_bytes;"


def emit_opencl_kernel(
    kernel: Kernel, name: str, printer: Printer, declared: dict[str, None], geometry: Geometry
) -> list[Piece]:
    """Print one kernel, without the comment above it. Raises `DoublesMissing`."""
    try:
        return both_kernels(kernel, name, printer, declared, geometry)
    except DoublesMissing as error:
        raise DoublesMissing(f"{error}\n  {origin(kernel)}") from None


def both_kernels(
    kernel: Kernel, name: str, printer: Printer, declared: dict[str, None], geometry: Geometry
) -> list[Piece]:
    """A kernel, and where they may be needed, its form with global memory for teams."""
    other = type(printer)(printer.lang, printer.used, printer.vars.reserved)
    other.natural |= printer.natural
    other.data |= printer.data
    text = one_kernel(kernel, name, Writer(printer.lang, printer, declared), geometry, LOCAL)
    if not may_be_large(geometry):
        return [text]
    writer = Writer(printer.lang, other, declared)
    return [text, "\n" + one_kernel(kernel, name + IN_GLOBAL, writer, geometry, GLOBAL)]


def one_kernel(kernel: Kernel, name: str, writer: Writer, geometry: Geometry, space: str) -> str:
    """A kernel whose teams have their memory, if they need some, in an address space."""
    printer, memory = writer.printer, geometry.memory
    for param in kernel.params:
        printer.buffers[param.name]
    for size in kernel.sizes:
        printer.vars[size.name]
    if memory is not None:
        for array in memory.offsets:
            printer.buffers[array]
        if space == GLOBAL:
            writer.put(PLACE)
    emit_block(writer, geometry.body, grid_of(geometry, printer.lang, space))
    adds_up = any(isinstance(stmt, Combine) for stmt in statements(geometry.body))
    head = signature(kernel, name, printer, geometry, GIVEN[space])
    lines = "\n".join([*([ROOM] if adds_up else []), *writer.lines])
    return f"{head}\n{{\n{lines}\n}}\n"


def may_be_large(geometry: Geometry) -> bool:
    """Whether a team's memory may have no place in local memory."""
    memory = geometry.memory
    if memory is None:
        return False
    return not (isinstance(memory.bytes, Const) and memory.bytes.value <= ALWAYS)


def signature(kernel: Kernel, name: str, printer: Printer, geometry: Geometry, memory: str) -> str:
    """The declaration of a kernel, whose first parameters are its team's memory if it has some."""
    lang = printer.lang
    assert lang.device is not None
    params: list[str] = []
    if geometry.memory is not None:
        params += [memory, "const int64_t team_bytes"]
        params += [f"const int64_t {printer.buffers[n]}_at" for n in placed(geometry.memory)]
    for param in kernel.params:
        before = lang.device.pointer + ("" if param.written else "const ")
        kind = lang.types[param.dtype.name]
        params.append(f"{before}{kind} *{lang.restrict} {printer.buffers[param.name]}")
    for size in kernel.sizes:
        kind = PASSED.get(size.dtype.name, lang.types[size.dtype.name])
        params.append(f"const {kind} {printer.vars[size.name]}")
    return wrapped(f"{lang.kernel} {name}(", params, ")", "")
