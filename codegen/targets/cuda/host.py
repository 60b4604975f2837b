"""The host functions of a CUDA program: as `targets/host.py` has them, but that arrays are on the
device. Kernels are launched and memory is read through `symc_device` (`runtime/device.h`).

Inputs without axes are in host memory, and what a kernel needs of them is passed by value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from symc.codegen import ir
from symc.codegen.blocks import every_step
from symc.codegen.dtypes import INT64
from symc.codegen.emit.device_kernels import Launchable
from symc.codegen.emit.device_teams import placed
from symc.codegen.emit.expressions import SHIFT
from symc.codegen.emit.writer import INDENT
from symc.codegen.ir import (
    Binary,
    Const,
    Expr,
    Launch,
    Load,
    Pointer,
    Routine,
    Step,
    Var,
)
from symc.codegen.passes.gpu.narrow import lengths_of, narrow_sizes
from symc.codegen.passes.memory import is_known
from symc.codegen.passes.walk import collect, rebuild, substitute
from symc.codegen.routines import ROUTINES
from symc.codegen.targets.cuda.routines import KERNELS
from symc.codegen.targets.lengths import many
from symc.codegen.targets.steps import Host, bindings, largest, one_line


@dataclass(slots=True)
class DeviceHost(Host):
    """The state of printing the host functions of a CUDA program."""

    reports: ClassVar[bool] = True
    asks: ClassVar[bool] = False

    launchables: Mapping[str, Launchable] = field(default_factory=dict[str, Launchable])
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])
    """The places of kernels in `symc_call.functions`, those of the runtime by their symbols."""
    narrow: bool = False
    notes: list[str] = field(default_factory=list[str])  # of the steps that may fail
    synchronises: bool = False

    def function(self, name: str, body: str) -> str:
        """A function with the device's context pushed around its steps."""
        if "call->device" not in body and "status = " not in body:
            return Host.function(self, name, body)
        self.use("symc_status")
        inside = f"{name}_steps"
        if name == "symc_prepare":
            body = f"{INDENT}int64_t status = 0;\n{body}"
        return (
            f"static int64_t {inside}(symc_call *call)\n{{\n{body}\n}}\n\n"
            f"int64_t {name}(symc_call *call)\n{{\n"
            f"{INDENT}void *before;\n"
            f"{INDENT}int error = call->device->cuCtxPushCurrent(call->device->context);\n"
            f"{INDENT}if (error) return -1000 - (int64_t)error;\n"
            f"{INDENT}const int64_t status = {inside}(call);\n"
            f"{INDENT}call->device->cuCtxPopCurrent(&before);\n"
            f"{INDENT}return status;\n}}\n"
        )

    def attempt(
        self, note: str, name: str, arguments: Sequence[str], source: str | None = None
    ) -> None:
        """A call that returns a status, of a function that `source` defines, by default itself."""
        self.put(f"call->step = {len(self.notes)};")
        self.notes.append(one_line(note))
        self.use(source or name)
        self.call(f"status = {name}", ["call", *arguments])
        self.put("if (status) goto done;" if self.failing else "if (status) return status;")

    # --- launches ---

    def wanted(self, launch: Launch) -> list[Expr]:
        """What decides on the grid of a launch."""
        made = self.launchables[launch.kernel]
        memory = [] if made.memory is None else [made.memory.bytes, *made.memory.offsets.values()]
        return [made.extent, made.length, *memory]

    def threads(self, step: Step) -> bool:
        """Never: a device has threads of its own."""
        del step
        return False

    def launch(self, launch: Launch) -> None:
        """A launch with a grid that follows from the lengths."""
        made, printer = self.launchables[launch.kernel], self.printer
        kernel, bound = self.bodies[launch.kernel], bindings(self, launch)
        params: list[str] = []
        bytes_text, scratch = "-1", "0"
        if made.memory is not None:
            bytes_text = printer.text(substitute(made.memory.bytes, bound))
            scratch = self.place(launch)
            params = ["0", "0"]
            offsets = [substitute(made.memory.offsets[name], bound) for name in placed(made.memory)]
            params += [f"&(int64_t){{{printer.text(offset)}}}" for offset in offsets]
        params += [f"&{printer.buffers[name]}" for name in launch.buffers]
        for size, value in zip(kernel.sizes, launch.sizes, strict=True):
            params.append(f"&({self.kind(size.dtype)}){{{printer.text(value)}}}")
        packed = f"(void *[]){{{', '.join(params)}}}"
        extent = printer.text(wide(substitute(made.extent, bound)), SHIFT)
        note = f"{made.name}  {kernel.note.strip().splitlines()[-1] if kernel.note.strip() else ''}"
        number = str(self.numbers[launch.kernel])
        if made.kind == "grid":
            self.attempt(note, "symc_launch_threads", [number, extent, packed])
            return
        length = printer.text(wide(substitute(made.length, bound)), SHIFT)
        self.attempt(
            note, "symc_launch_teams", [number, extent, length, bytes_text, scratch, packed]
        )

    def place(self, launch: Launch) -> str:
        """Where the memory for teams is: planned, or allocated now that its size is known."""
        if not self.scratch_is_late(launch):
            return f"call->workspace + call->sizes[{len(self.index) + len(self.plan.slots)}]"
        self.put(self.release("scratch"))
        self.put(f"scratch = {self.allocation(f'{self.plan_of(launch)}.scratch')};")
        self.fail("!scratch", "-1")
        return "scratch"

    def scratch_is_late(self, launch: Launch) -> bool:
        """Whether the memory of a launch depends on lengths that the steps measure."""
        bound = bindings(self, launch)
        exprs = [substitute(expr, bound) for expr in self.wanted(launch)]
        has_memory = self.launchables[launch.kernel].memory is not None
        return has_memory and not all(is_known(expr, self.plan.early) for expr in exprs)

    def scratch(self) -> str:
        """The scratch memory of the launch that needs most."""
        texts = [
            f"{self.plan_of(step)}.scratch"
            for step in every_step(self.program.steps[self.plan.leading :])
            if isinstance(step, Launch)
            and self.launchables[step.kernel].memory is not None
            and not self.scratch_is_late(step)
        ]
        return largest(self, texts)

    def plan_of(self, launch: Launch) -> str:
        """How the teams of a launch share out memory."""
        made, bound, printer = self.launchables[launch.kernel], bindings(self, launch), self.printer
        assert made.memory is not None
        arguments = (made.extent, made.length, made.memory.bytes)
        texts = [printer.text(wide(substitute(expr, bound)), SHIFT) for expr in arguments]
        return f"{self.use('symc_plan_teams')}(call, {', '.join(texts)})"

    def needs_scratch(self) -> bool:
        """Whether any kernel has teams with memory."""
        return any(made.memory is not None for made in self.launchables.values())

    # --- routines and memory ---

    def routine(self, routine: Routine) -> None:
        """A call of a matrix routine, which launches kernels itself."""
        printer = self.printer
        arguments = [str(self.numbers[kernel]) for kernel in KERNELS[routine.name]]
        for arg in routine.args:
            if isinstance(arg, Pointer):
                arguments.append(self.address(arg))
            else:
                arguments.append(printer.text(arg, SHIFT))
        called = ROUTINES[routine.name]
        note = f"{routine.name}  {routine.note}"
        self.attempt(note, called.symbol, arguments, called.source)

    def back(self, step: ir.Host) -> None:
        """A call of a function in Python, which waits for the device and copies."""
        self.synchronises = True
        self.put(f"call->step = {len(self.notes)};")
        self.notes.append(one_line(f"{step.name}, on the host  {step.note}"))
        Host.back(self, step)

    def on_host(self, buffer: str) -> bool:
        """Whether a buffer is in host memory: a number that is passed by value."""
        return self.buffers[buffer].is_by_value

    def element(self, buffer: str) -> str:
        """The first element of an array, copied to a variable of the host if need be."""
        name = self.printer.buffers[buffer]
        if self.on_host(buffer):
            return f"{name}[0]"
        dtype = self.buffers[buffer].dtype
        value = self.printer.vars[self.printer.fresh(f"{name}_value")]
        self.put(f"{self.kind(dtype)} {value};")
        self.attempt(f"reading {buffer}", "symc_read", [name, f"&{value}", str(dtype.bytes)])
        self.synchronises = True
        return value

    def fetch(self, condition: Expr) -> Expr:
        """The condition on variables of the host."""
        loads: list[Load] = []
        collect(condition, [], loads)
        names: dict[str, Var] = {}
        for load in loads:
            if not self.on_host(load.buffer) and load.buffer not in names:
                text = self.element(load.buffer)
                names[load.buffer] = Var(f"{load.buffer}:value", load.dtype)
                self.printer.vars[names[load.buffer].name] = text

        def visit(expr: Expr) -> Expr:
            if isinstance(expr, Load) and expr.buffer in names:
                return names[expr.buffer]
            return rebuild(expr, visit)

        return visit(condition)

    def allocation(self, size: str) -> str:
        """Device memory."""
        self.synchronises = True
        return f"{self.use('symc_allocate')}(call, {size} + 64)"

    def release(self, name: str) -> str:
        """Free device memory."""
        return f"{self.use('symc_release')}(call, {name});"

    def begin_timer(self, timer: str) -> None:
        """An event before a step."""
        self.call(self.use("symc_begin"), ["call", "call->device", f"&{timer}"])

    def end_timer(self, timer: str, size: str) -> None:
        """An event behind a step, which the host waits for."""
        self.synchronises = True
        self.call(self.use("symc_done"), ["call", "call->device", f"&{timer}", size])

    def limits(self) -> None:
        """Arrays and loops that are too long for 32-bit indexes."""
        if not self.narrow:
            return
        texts: list[str] = []
        for buffer in self.program.buffers:
            if buffer.shape:
                text = "2" if buffer.dtype.is_complex else "1"
                for length in buffer.shape:
                    text = f"{self.use('symc_times')}({text}, {self.printer.text(length)})"
                texts.append(text)
        texts += [many(self, wide(length)) for length in lengths_of(self.program)]
        self.use("SYMC_TOO_LONG")
        tests = [f"{text} > SYMC_LONGEST" for text in dict.fromkeys(texts)]
        for size in narrow_sizes(self.program):
            text = self.printer.text(size)
            tests += [f"{text} < -SYMC_LONGEST"] if not self.printer.is_natural(size) else []
            tests += [f"{text} > SYMC_LONGEST"] if f"{text} > SYMC_LONGEST" not in tests else []
        if tests:
            joined = f"\n{INDENT * 2}|| ".join(tests)
            self.put(f"if ({joined}) return SYMC_TOO_LONG;")


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
