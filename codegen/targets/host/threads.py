"""The dialect of programs that run on the processor: kernels are functions, called by threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from symc.codegen.blocks import every_step, written
from symc.codegen.emit.expressions import MUL, SHIFT, Printer
from symc.codegen.emit.writer import wrapped
from symc.codegen.ir import Buffer, Const, Expr, Launch, Pointer, Routine
from symc.codegen.passes.kernels.calls import THRESHOLD, Calling
from symc.codegen.record import record
from symc.codegen.routines import ROUTINES
from symc.codegen.status import Status
from symc.codegen.targets.host.dialect import Phrase, Words
from symc.codegen.targets.host.memory import launch_memory
from symc.codegen.targets.host.steps import routine_arguments
from symc.codegen.targets.host.writer import HostWriter, bound

WORDS = Words(
    allocate=Phrase("malloc", "malloc({} + 64)"),
    release=Phrase("free", "free({});"),
    begin=Phrase("symc_now", "{}.begun = symc_now();"),
)


def copies_one(host: HostWriter, routine: Routine) -> bool:
    """Whether a routine copies one number.

    After a copy of its bytes gcc takes a variable for an integer, and keeps a float among those.
    """
    match routine:
        case Routine("copy_bytes", (Pointer(to), Pointer(source), Const(count))):
            dtype = host.buffers[to].dtype
            same = dtype is host.buffers[source].dtype and not dtype.is_complex
            return same and count == dtype.bytes
        case _:
            return False


@record
class ThreadDialect:
    """The dialect of a processor: kernels in C, of which several threads may do parts."""

    kernels: Mapping[str, Calling]
    names: Mapping[str, str]
    """The C functions of kernels."""
    printers: Mapping[str, Printer]
    words: Words = WORDS
    can_stop: bool = True
    reports: bool = False
    inlined: frozenset[str] = frozenset()
    """The kernels that are compiled into the host functions."""

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
                return self.kernels[kernel].threads or self.kernels[kernel].range is not None
            case Routine(name):
                return ROUTINES[name].threads
            case _:
                assert_never(step)

    def launch_sizes(self, kernel: str) -> Sequence[Expr]:
        """How parts are shared out, and their memory."""
        shared = self.kernels[kernel].range
        found = [] if shared is None else [shared.extent, shared.work]
        return [*found, *self.memory_sizes(kernel)]

    def memory_sizes(self, kernel: str) -> Sequence[Expr]:
        """The bytes for one thread."""
        scratch = self.kernels[kernel].scratch
        return [] if scratch is None else [scratch.bytes]

    def memory_bytes(self, host: HostWriter, launch: Launch, threads: str) -> str:
        """A piece for each thread."""
        scratch = self.kernels[launch.kernel].scratch
        times = threads if scratch is not None and scratch.parallel else "1"
        (stride,) = bound(host, launch, self.memory_sizes(launch.kernel))
        return f"{host.use('symc_times')}({host.printer.text(stride)}, {times})"

    def limits(self, host: HostWriter) -> None:
        """None."""

    def routine(self, host: HostWriter, routine: Routine) -> None:
        """A call of a function of `blas.h`; one element is copied by an assignment."""
        if copies_one(host, routine):
            to, source = (host.element(arg) for arg in routine.args[:2] if isinstance(arg, Pointer))
            host.remark(routine.note)
            host.put(f"{to} = {source};")
            return
        signature = ROUTINES[routine.name]
        arguments = routine_arguments(host, routine)
        if signature.threads:
            arguments.append("threads")
        host.use(signature.source)
        host.remark(routine.note)
        host.call(signature.symbol, arguments)
        if signature.threads:  # it may have left its last pieces out
            host.fail("call->stopped", Status.STOPPED)

    def launch(self, host: HostWriter, launch: Launch) -> None:
        """A call of a kernel, or one call for each thread of a part of its parallel loop."""
        called, printer = self.kernels[launch.kernel], host.printer
        shared, function = called.range, self.names[launch.kernel]
        inlined = launch.kernel in self.inlined
        changed = {} if inlined else changed_numbers(host, launch)
        buffers = [
            changed.get(name) or array_argument(host, name, copied=not inlined)
            for name in launch.buffers
        ]
        stride = next(iter(bound(host, launch, self.memory_sizes(launch.kernel))), None)
        base = [] if stride is None else [launch_memory(host, launch)]
        if shared is not None and host.launches[launch.kernel] > 1:
            sizes = [printer.text(size, SHIFT) for size in launch.sizes]
            name = self.launcher(host, launch.kernel)
            host.call(name, [*buffers, *sizes, "threads", *base])
            host.fail("call->stopped", Status.STOPPED)
            return
        passed = [printer.text(launch.sizes[number], SHIFT) for number in called.sizes]
        arguments = [*buffers, *passed]
        if shared is not None:
            extent, cost = bound(host, launch, (shared.extent, shared.work))
            share = Share(function, arguments, extent, cost, shared.granule, stride, base)
            emit_shares(host, share, asks=host.heeds)
            return
        if called.threads:
            arguments += ["threads", "&call->stopped"]
        if stride is not None:
            arguments += [*base, printer.text(stride)]
        if changed:
            call_with_copies(host, function, arguments, changed)
            return
        host.call(function, arguments)
        if called.threads:
            host.fail("call->stopped", Status.STOPPED)

    def launcher(self, host: HostWriter, kernel: str) -> str:
        """A function that shares out the work of a kernel which is launched more than once."""
        called, name = self.kernels[kernel], f"launch_{self.names[kernel]}"
        if name in host.functions:
            return name
        body, printer = host.bodies[kernel], self.printers[kernel]
        scratch, shared = called.scratch, called.range
        assert shared is not None
        params: list[str] = []
        for param in body.params:
            before = "" if param.written else "const "
            params.append(f"{before}{host.kind(param.dtype)} *{printer.buffers[param.name]}")
        params += [f"const int64_t {printer.vars[size.name]}" for size in body.sizes]
        params += ["const int64_t threads", *([] if scratch is None else ["char *const scratch"])]
        arguments = [printer.buffers[param.name] for param in body.params]
        arguments += [printer.vars[body.sizes[number].name] for number in called.sizes]
        stride = None if scratch is None else scratch.bytes
        base = [] if scratch is None else ["scratch"]
        inner = host.begin(printer)
        function, granule = self.names[kernel], shared.granule
        share = Share(function, arguments, shared.extent, shared.work, granule, stride, base)
        emit_shares(inner, share)
        text = "\n".join(inner.lines)
        head = wrapped(f"static __attribute__((noinline, noipa)) void {name}(", params, ")", "")
        host.functions[name] = f"{head}\n{{\n{text}\n}}\n"
        return name


@record
class Share:
    """A kernel of which threads do parts: its arguments, and how its loop may be cut."""

    function: str
    arguments: Sequence[str]
    extent: Expr
    cost: Expr
    granule: int
    stride: Expr | None
    """The bytes of scratch memory for a thread."""
    base: Sequence[str]
    """Where that memory begins; nothing for none."""


def changed_numbers(host: HostWriter, launch: Launch) -> dict[str, str]:
    """The variables that a called kernel changes, each with the name of a copy for it."""
    changed = [name for name in written(launch, host.bodies[launch.kernel]) if name in host.numbers]
    printer = host.printer
    return {
        name: printer.vars[printer.fresh(f"{printer.buffers[name]}_changed")] for name in changed
    }


def call_with_copies(
    host: HostWriter, function: str, arguments: Sequence[str], changed: Mapping[str, str]
) -> None:
    """A call of a function that changes copies of variables, and what these are after it."""
    for name, copy in changed.items():
        parts = ", ".join(elements_of_number(host, name))
        host.put(f"{host.kind(host.buffers[name].dtype)} {copy}[] = {{{parts}}};")
    host.call(function, arguments)
    for name, copy in changed.items():
        for place, element in enumerate(elements_of_number(host, name)):
            host.put(f"{element} = {copy}[{place}];")


def elements_of_number(host: HostWriter, buffer: str) -> list[str]:
    """The element of a variable; of a complex one both parts."""
    count = 2 if host.buffers[buffer].dtype.is_complex else 1
    return [f"{host.printer.buffers[buffer]}[{k}]" for k in range(count)]


def array_argument(host: HostWriter, buffer: str, *, copied: bool) -> str:
    """An array that a kernel is given: of a number that is a variable, a copy."""
    name, dtype = host.printer.buffers[buffer], host.buffers[buffer].dtype
    if not copied or buffer not in host.numbers:
        return name
    parts = ", ".join(elements_of_number(host, buffer))
    return f"(const {host.kind(dtype)}[]){{{parts}}}"


def emit_shares(host: HostWriter, share: Share, *, asks: bool = False) -> None:
    """Calls of a kernel for parts of its loop, or one call where that does not pay.

    With `asks`, the function stops after it if it is to.
    """
    printer, extent = host.printer, share.extent
    whole = [*share.arguments, "0", printer.text(extent), *share.base]
    if is_little(share.cost):
        host.call(share.function, whole)
        return
    rows, price = printer.text(extent, MUL), printer.text(share.cost, SHIFT)
    cut = [f"{rows} * part / parts", f"{rows} * (part + 1) / parts"]
    if share.granule > 1:
        part = host.use("symc_share")
        count = f"{printer.text(extent, SHIFT)}, {share.granule}"
        cut = [f"{part}({count}, part, parts)", f"{part}({count}, part + 1, parts)"]
    tail: list[str] = []
    if share.stride is not None:
        thread = host.use(printer.lang.thread)
        tail = [f"{share.base[0]} + {thread}() * {printer.text(share.stride, MUL + 1)}"]
    host.put(f"if ({price} >= {THRESHOLD}) {{")
    host.put(f"const int64_t parts = {host.use('symc_parts')}({price}, threads);", 2)
    host.lines.append("#pragma omp parallel for schedule(dynamic) num_threads(threads)")
    host.put("for (int64_t part = 0; part < parts; part++)", 2)
    host.call(share.function, [*share.arguments, *cut, *tail], 3)
    if asks:
        host.inside += 1
        host.fail(f"{host.use('symc_stops')}(call)", Status.STOPPED)
        host.inside -= 1
    host.put("} else {")
    host.call(share.function, whole, 2)
    host.put("}")


def is_little(cost: Expr) -> bool:
    """Whether a loop is known to be too short for several threads."""
    return isinstance(cost, Const) and cost.value < THRESHOLD


def starts_threads(host: HostWriter, kernels: Mapping[str, Calling]) -> bool:
    """Whether the statements of some launch start threads, or the kernel does."""
    for step in every_step(host.program.steps):
        if isinstance(step, Launch):
            called = kernels[step.kernel]
            if called.threads:
                return True
            if called.range is not None:
                cost = called.range.work
                if host.launches[step.kernel] == 1:
                    (cost,) = bound(host, step, (cost,))
                if not is_little(cost):
                    return True
    return False
