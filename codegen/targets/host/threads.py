"""The dialect of programs that run on the processor: kernels are functions, called by threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from symc.codegen.blocks import every_step
from symc.codegen.emit.expressions import MUL, SHIFT, Printer
from symc.codegen.emit.kernels import THRESHOLD, Emitted
from symc.codegen.emit.writer import wrapped
from symc.codegen.ir import Buffer, Const, Expr, Launch, Pointer, Routine
from symc.codegen.passes.memory import Scratch
from symc.codegen.record import record
from symc.codegen.routines import ROUTINES
from symc.codegen.targets.host.dialect import Phrase, Words
from symc.codegen.targets.host.memory import launch_memory
from symc.codegen.targets.host.steps import routine_arguments
from symc.codegen.targets.host.writer import HostWriter, bound

WORDS = Words(
    allocate=Phrase("malloc", "malloc({} + 64)"),
    release=Phrase("free", "free({});"),
    begin=Phrase("symc_now", "{}.begun = symc_now();"),
)


@record
class Threads:
    """Kernels in C, of which several threads may do parts."""

    kernels: Mapping[str, Emitted]
    printers: Mapping[str, Printer]
    scratch: Mapping[str, Scratch]
    words: Words = WORDS
    can_stop: bool = True
    reports: bool = False

    def is_readable(self, buffer: Buffer) -> bool:
        """All arrays are in the memory of the host."""
        del buffer
        return True

    def read(self, host: HostWriter, pointer: Pointer, variable: str) -> None:
        """Never needed."""
        raise AssertionError(f"{pointer.buffer} is in the memory of the host")

    def takes_threads(self, step: Launch | Routine) -> bool:
        """Where some loop runs on several."""
        match step:
            case Launch(kernel):
                return self.kernels[kernel].threads or self.kernels[kernel].extent is not None
            case Routine(name):
                return ROUTINES[name].threads
            case _:
                assert_never(step)

    def launch_sizes(self, kernel: str) -> Sequence[Expr]:
        """How parts are shared out, and their memory."""
        emitted = self.kernels[kernel]
        found = (emitted.extent, emitted.work, *self.memory_sizes(kernel))
        return [expr for expr in found if expr is not None]

    def memory_sizes(self, kernel: str) -> Sequence[Expr]:
        """The bytes for one thread."""
        return [self.scratch[kernel].bytes] if kernel in self.scratch else []

    def memory_bytes(self, host: HostWriter, launch: Launch, threads: str) -> str:
        """A piece for each thread."""
        times = threads if self.scratch[launch.kernel].parallel else "1"
        (stride,) = bound(host, launch, self.memory_sizes(launch.kernel))
        return f"{host.use('symc_times')}({host.printer.text(stride)}, {times})"

    def limits(self, host: HostWriter) -> None:
        """None."""

    def routine(self, host: HostWriter, routine: Routine) -> None:
        """A call of a function of `runtime/blas.h`."""
        signature = ROUTINES[routine.name]
        arguments = routine_arguments(host, routine)
        if signature.threads:
            arguments.append("threads")
        host.use(signature.source)
        host.remark(routine.note)
        host.call(signature.symbol, arguments)
        if signature.threads:  # it may have left its last pieces out
            host.fail("call->stopped", "-1")

    def launch(self, host: HostWriter, launch: Launch) -> None:
        """A call of a kernel, or one call for each thread of a part of its parallel loop."""
        emitted, printer = self.kernels[launch.kernel], host.printer
        buffers = [printer.buffers[name] for name in launch.buffers]
        stride = next(iter(bound(host, launch, self.memory_sizes(launch.kernel))), None)
        base = [] if stride is None else [launch_memory(host, launch)]
        if emitted.extent is not None and host.launches[launch.kernel] > 1:
            sizes = [printer.text(size, SHIFT) for size in launch.sizes]
            name = self.launcher(host, launch.kernel)
            host.call(name, [*buffers, *sizes, "threads", *base])
            host.fail("call->stopped", "-1")
            return
        passed = [printer.text(launch.sizes[number], SHIFT) for number in emitted.sizes]
        arguments = [*buffers, *passed]
        if emitted.extent is not None:
            extent, cost = bound(host, launch, (emitted.extent, emitted.work or emitted.extent))
            emit_shares(host, emitted, arguments, (extent, cost, stride), base, asks=True)
            return
        if emitted.threads:
            arguments += ["threads", "&call->stopped"]
        if stride is not None:
            arguments += [*base, printer.text(stride)]
        host.call(emitted.name, arguments)
        if emitted.threads:
            host.fail("call->stopped", "-1")

    def launcher(self, host: HostWriter, kernel: str) -> str:
        """A function that shares out the work of a kernel which is launched more than once."""
        emitted = self.kernels[kernel]
        name = f"launch_{emitted.name}"
        if name in host.functions:
            return name
        body, printer = host.bodies[kernel], self.printers[kernel]
        scratch = self.scratch.get(kernel)
        params: list[str] = []
        for param in body.params:
            before = "" if param.written else "const "
            params.append(f"{before}{host.kind(param.dtype)} *{printer.buffers[param.name]}")
        params += [f"const int64_t {printer.vars[size.name]}" for size in body.sizes]
        params += ["const int64_t threads", *([] if scratch is None else ["char *const scratch"])]
        arguments = [printer.buffers[param.name] for param in body.params]
        arguments += [printer.vars[body.sizes[number].name] for number in emitted.sizes]
        extent = emitted.extent
        assert extent is not None
        parts = (extent, emitted.work or extent, None if scratch is None else scratch.bytes)
        inner = host.begin(printer)
        emit_shares(inner, emitted, arguments, parts, [] if scratch is None else ["scratch"])
        text = "\n".join(inner.lines)
        head = wrapped(f"static __attribute__((noinline)) void {name}(", params, ")", "")
        host.functions[name] = f"{head}\n{{\n{text}\n}}\n"
        return name


def emit_shares(
    host: HostWriter,
    emitted: Emitted,
    arguments: Sequence[str],
    parts: tuple[Expr, Expr, Expr | None],
    base: Sequence[str],
    *,
    asks: bool = False,
) -> None:
    """Calls of a kernel for parts of its loop, or one call where that does not pay.

    `parts` are the extent of the parallel loop, its cost, and the bytes of scratch for a thread.
    With `asks`, the function stops after it if it is to.
    """
    extent, cost, stride = parts
    printer = host.printer
    whole = [*arguments, "0", printer.text(extent), *base]
    if is_little(cost):
        host.call(emitted.name, whole)
        return
    rows, price = printer.text(extent, MUL), printer.text(cost, SHIFT)
    cut = [f"{rows} * part / parts", f"{rows} * (part + 1) / parts"]
    if emitted.granule > 1:
        share = host.use("symc_share")
        count = f"{printer.text(extent, SHIFT)}, {emitted.granule}"
        cut = [f"{share}({count}, part, parts)", f"{share}({count}, part + 1, parts)"]
    tail: list[str] = []
    if stride is not None:
        thread = host.use(printer.lang.thread)
        tail = [f"{base[0]} + {thread}() * {printer.text(stride, MUL + 1)}"]
    host.put(f"if ({price} >= {THRESHOLD}) {{")
    host.put(f"const int64_t parts = {host.use('symc_parts')}({price}, threads);", 2)
    host.lines.append("#pragma omp parallel for schedule(dynamic) num_threads(threads)")
    host.put("for (int64_t part = 0; part < parts; part++)", 2)
    host.call(emitted.name, [*arguments, *cut, *tail], 3)
    if asks:
        host.inside += 1
        host.fail(f"{host.use('symc_stops')}(call)", "-1")
        host.inside -= 1
    host.put("} else {")
    host.call(emitted.name, whole, 2)
    host.put("}")


def is_little(cost: Expr) -> bool:
    """Whether a loop is known to be too short for several threads."""
    return isinstance(cost, Const) and cost.value < THRESHOLD


def starts_threads(host: HostWriter, kernels: Mapping[str, Emitted]) -> bool:
    """Whether the statements of some launch start threads, or the kernel does."""
    for step in every_step(host.program.steps):
        if isinstance(step, Launch):
            emitted = kernels[step.kernel]
            cost = emitted.work or emitted.extent
            if cost is not None and host.launches[step.kernel] == 1:
                (cost,) = bound(host, step, (cost,))
            if emitted.threads or (cost is not None and not is_little(cost)):
                return True
    return False
