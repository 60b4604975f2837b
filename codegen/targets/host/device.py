"""The dialect of programs whose arrays and kernels are on a device.

Kernels are launched and memory is read through functions of the runtime (`device.h`), which
return a status. Inputs without axes are in host memory: a kernel is given their values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import INT64
from symc.codegen.emit.expressions import SHIFT
from symc.codegen.emit.writer import INDENT
from symc.codegen.ir import (
    Binary,
    Branch,
    Buffer,
    Check,
    Const,
    Expr,
    Launch,
    Load,
    Measure,
    Pointer,
    PythonCall,
    Repeat,
    Routine,
    Step,
    Var,
)
from symc.codegen.passes.gpu.geometry import Geometry, placed
from symc.codegen.passes.gpu.limits import lengths_of, narrow_sizes
from symc.codegen.passes.walk import nodes, rebuild, substitute
from symc.codegen.record import record
from symc.codegen.routines import ROUTINES
from symc.codegen.targets.host.dialect import Words
from symc.codegen.targets.host.lengths import many
from symc.codegen.targets.host.memory import is_late, launch_memory
from symc.codegen.targets.host.steps import routine_arguments
from symc.codegen.targets.host.writer import HostWriter, bindings, bound

NO_MEMORY = "-1"  # the bytes of a team that has no memory of its own


@record
class DeviceDialect:
    """The dialect of a device: its kernels, and the functions of the runtime that reach it."""

    words: Words
    kernels: Mapping[str, Geometry]
    names: Mapping[str, str]
    """The names of kernels in CUDA."""
    numbers: Mapping[str, int]
    """The places of kernels in `symc_call.functions`, those of the runtime by their symbols."""
    routines: Mapping[str, Sequence[str]]
    """The kernels of the runtime that each routine launches."""
    narrow: bool
    """Whether indexes have 32 bits."""
    can_stop: bool = False
    reports: bool = True
    inlined: frozenset[str] = frozenset()

    def is_readable(self, buffer: Buffer) -> bool:
        """Whether it is in host memory: a number that is passed by value."""
        return buffer.is_by_value

    def read(self, host: HostWriter, pointer: Pointer, variable: str) -> None:
        """A copy, which waits for the device."""
        size = str(host.buffers[pointer.buffer].dtype.bytes)
        note = f"reading {pointer.buffer}"
        host.attempt(note, "symc_read", [host.address(pointer), f"&{variable}", size])

    def takes_threads(self, step: Launch | Routine) -> bool:
        """Never: a device has threads of its own."""
        del step
        return False

    # --- launches ---------------------------------------------------------------------------------

    def launch_sizes(self, kernel: str) -> Sequence[Expr]:
        """The values that decide on the grid of a launch."""
        made = self.kernels[kernel]
        return [made.extent, made.length, *self.memory_parts(kernel)]

    def memory_parts(self, kernel: str) -> Sequence[Expr]:
        """The bytes that each team needs, and where its arrays begin in them."""
        memory = self.kernels[kernel].memory
        return [] if memory is None else [memory.bytes, *memory.offsets.values()]

    def memory_sizes(self, kernel: str) -> Sequence[Expr]:
        """All that the grid follows from: it decides how many teams there are."""
        return self.launch_sizes(kernel) if self.memory_parts(kernel) else []

    def memory_bytes(self, host: HostWriter, launch: Launch, threads: str) -> str:
        """The memory of all teams that run at a time."""
        del threads
        made, printer = self.kernels[launch.kernel], host.printer
        assert made.memory is not None
        exprs = bound(host, launch, (made.extent, made.length, made.memory.bytes))
        texts = [printer.text(wide(expr), SHIFT) for expr in exprs]
        return f"{host.use('symc_plan_teams')}(call, {', '.join(texts)}).scratch"

    def launch(self, host: HostWriter, launch: Launch) -> None:
        """A launch with a grid that follows from the lengths."""
        made, printer = self.kernels[launch.kernel], host.printer
        kernel, sizes = host.bodies[launch.kernel], bindings(host, launch)
        params: list[str] = []
        bytes_text, scratch = NO_MEMORY, "0"
        if made.memory is not None:
            bytes_text = printer.text(substitute(made.memory.bytes, sizes))
            scratch = launch_memory(host, launch)
            params = ["0", "0"]
            offsets = [substitute(made.memory.offsets[name], sizes) for name in placed(made.memory)]
            params += [f"&(int64_t){{{printer.text(offset)}}}" for offset in offsets]
        params += [f"&{printer.buffers[name]}" for name in launch.buffers]
        for size, value in zip(kernel.sizes, launch.sizes, strict=True):
            params.append(f"&({host.kind(size.dtype)}){{{printer.text(value)}}}")
        packed = f"(void *[]){{{', '.join(params)}}}"
        extent = printer.text(wide(substitute(made.extent, sizes)), SHIFT)
        said = kernel.note.strip().splitlines()
        note = f"{self.names[launch.kernel]}  {said[-1] if said else ''}"
        number = str(self.numbers[launch.kernel])
        if made.kind == "grid":
            host.attempt(note, "symc_launch_threads", [number, extent, packed])
            return
        length = printer.text(wide(substitute(made.length, sizes)), SHIFT)
        host.attempt(
            note, "symc_launch_teams", [number, extent, length, bytes_text, scratch, packed]
        )

    def routine(self, host: HostWriter, routine: Routine) -> None:
        """A call of a matrix routine, which launches kernels itself."""
        kernels = [str(self.numbers[kernel]) for kernel in self.routines[routine.name]]
        called = ROUTINES[routine.name]
        note = f"{routine.name}  {routine.note}"
        arguments = [*kernels, *routine_arguments(host, routine)]
        host.attempt(note, called.symbol, arguments, called.source)

    def limits(self, host: HostWriter) -> None:
        """Arrays and loops that are too long for 32-bit indexes."""
        if not self.narrow:
            return
        texts: list[str] = []
        for buffer in host.program.buffers:
            if buffer.shape:
                text = "2" if buffer.dtype.is_complex else "1"
                for length in buffer.shape:
                    text = f"{host.use('symc_times')}({text}, {host.printer.text(length)})"
                texts.append(text)
        texts += [many(host, wide(length)) for length in lengths_of(host.program)]
        host.use("SYMC_TOO_LONG")
        tests = [f"{text} > SYMC_LONGEST" for text in dict.fromkeys(texts)]
        for size in narrow_sizes(host.program):
            text = host.printer.text(size)
            tests += [f"{text} < -SYMC_LONGEST"] if not host.printer.is_natural(size) else []
            tests += [f"{text} > SYMC_LONGEST"] if f"{text} > SYMC_LONGEST" not in tests else []
        if tests:
            joined = f"\n{INDENT * 2}|| ".join(tests)
            host.put(f"if ({joined}) return SYMC_TOO_LONG;")


def synchronises(host: HostWriter) -> bool:
    """Whether the host waits for the device between steps: to read, to allocate, to take time."""
    steps = list(every_step(host.program.steps))
    launches = [step for step in steps if isinstance(step, Launch)]
    return (
        (host.timed and bool(steps))
        or bool(host.plan.late)
        or any(is_late(host, launch) for launch in launches)
        or any(waits(host, step) for step in steps)
    )


def waits(host: HostWriter, step: Step) -> bool:
    """Whether a step needs values of the device on the host."""
    match step:
        case PythonCall():
            return True
        case Check(condition):
            read = [node.buffer for node in nodes(condition) if isinstance(node, Load)]
        case Measure(_, buffer):
            read = [buffer]
        case Repeat(stop=stop):
            read = [] if stop is None else [stop]
        case Branch(condition):
            read = [condition]
        case Launch() | Routine():
            return False
    return any(not host.dialect.is_readable(host.buffers[name]) for name in read)


def wide(expr: Expr) -> Expr:
    """An expression over lengths as int64 throughout."""
    match expr:
        case Var(name):
            return Var(name, INT64)
        case Const(value):
            return Const(value, INT64)
        case Binary(op, left, right):
            return Binary(op, wide(left), wide(right), INT64)
        case _:
            return rebuild(expr, wide)
