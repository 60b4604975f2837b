"""The steps of a program as C statements of `symc_run` (and the first ones of `symc_prepare`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, assert_never

from symc.codegen import ir
from symc.codegen.blocks import every_step
from symc.codegen.emit.expressions import MUL, SHIFT, UNARY, Printer
from symc.codegen.emit.kernels import THRESHOLD, Emitted
from symc.codegen.emit.writer import INDENT, wrapped
from symc.codegen.ir import (
    Binary,
    Branch,
    Buffer,
    Check,
    Const,
    Expr,
    Kernel,
    Launch,
    Measure,
    Pointer,
    Program,
    Region,
    Repeat,
    Routine,
    Step,
    binary,
    const,
)
from symc.codegen.passes.memory import Plan, is_known
from symc.codegen.passes.walk import substitute
from symc.codegen.routines import ROUTINES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symc.codegen.dtypes import DType

EXTERNAL = ("input", "shared", "constant", "output")  # in the order of `symc_call.data`
RESERVED = frozenset(
    {"call", "threads", "status", "done", "part", "parts", "steps", "bytes", "scratch", "too_large"}
)
OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


@dataclass(slots=True)
class Host:
    """The state of printing the host functions."""

    program: Program
    plan: Plan
    kernels: Mapping[str, Emitted]
    printer: Printer
    printers: Mapping[str, Printer]  # of the kernels
    lines: list[str] = field(default_factory=list[str])
    helpers: dict[str, None] = field(default_factory=dict[str, None])
    timed: bool = False  # whether what each step takes is added to a table: `timers.py`
    timers: int = 0  # how many steps have one so far

    known: set[str] = field(default_factory=set[str])  # sizes that are C variables by now
    rows: set[str] = field(default_factory=set[str])  # rows that are C variables by now
    failing: bool = False  # whether a failed step has something to clean up
    inside: int = 0  # how many blocks the current step stands in
    number: int = 0  # of the current step, as `passes/memory.py` counts
    waiting: list[Buffer] = field(default_factory=list[Buffer])  # outputs of lengths not known yet
    reports: ClassVar[bool] = False  # whether steps other than checks return a status
    asks: ClassVar[bool] = True  # whether a signal may stop it between steps
    buffers: dict[str, Buffer] = field(init=False)
    position: dict[str, int] = field(init=False)  # of external buffers in `data`
    outputs: list[Buffer] = field(init=False)
    bodies: dict[str, Kernel] = field(init=False)
    index: dict[str, int] = field(init=False)  # of sizes in `sizes`; slots come behind
    launches: Counter[str] = field(init=False)  # how often each kernel is launched
    launchers: dict[str, str] = field(default_factory=dict[str, str])  # text by name

    def __post_init__(self) -> None:
        """Look up by name what a program lists."""
        program = self.program
        self.buffers = {buffer.name: buffer for buffer in program.buffers}
        external = [b for role in EXTERNAL for b in program.buffers if b.role == role]
        self.position = {buffer.name: number for number, buffer in enumerate(external)}
        self.outputs = [b for b in external if b.role == "output"]
        self.bodies = {kernel.name: kernel for kernel in program.kernels}
        self.launches = Counter(
            step.kernel for step in every_step(program.steps) if isinstance(step, Launch)
        )
        self.index = {size.var.name: number for number, size in enumerate(program.sizes)}

    def use(self, name: str) -> str:
        """The name of a helper of `runtime/host.h`, which the program then needs."""
        self.helpers[name] = None
        return name

    def put(self, line: str, depth: int = 1) -> None:
        """One line of a function's body."""
        self.lines.append(INDENT * (self.inside + depth) + line)

    def kind(self, dtype: DType) -> str:
        """The C type of an element."""
        return self.printer.lang.types[dtype.name]

    # What differs from target to target; `targets/cuda/host.py` has it for devices.

    def function(self, name: str, body: str) -> str:
        """One of the functions that the caller calls."""
        return f"int64_t {name}(symc_call *call)\n{{\n{body}\n}}\n"

    def launch(self, launch: Launch) -> None:
        """The statements that run a kernel."""
        emit_launch(self, launch)

    def routine(self, routine: Routine) -> None:
        """The statements that call a function of the runtime."""
        emit_routine(self, routine)

    def back(self, step: ir.Host) -> None:
        """The statements that call back into Python."""
        emit_back(self, step)

    def fetch(self, condition: Expr) -> Expr:
        """The condition with what it loads where the host can read it."""
        return condition

    def element(self, buffer: str) -> str:
        """The first element of an array, where the host can read it."""
        return f"{self.printer.buffers[buffer]}[0]"

    def allocation(self, size: str) -> str:
        """Memory for a number of bytes."""
        return f"{self.use('malloc')}({size} + 64)"

    def begin_timer(self, timer: str) -> None:
        """The statement that starts a timer."""
        self.put(f"{timer}.begun = {self.use('symc_now')}();")

    def end_timer(self, timer: str, size: str) -> None:
        """The statement that stops a timer behind a step which moved so many bytes."""
        self.call(self.use("symc_done"), [f"&{timer}", size])

    def release(self, name: str) -> str:
        """The statement that frees memory."""
        return f"{self.use('free')}({name});"

    def scratch(self) -> str:
        """The bytes of scratch memory that are known to be needed before the steps run, or ""."""
        return scratch_bytes(self)

    def wanted(self, launch: Launch) -> list[Expr]:
        """What a launch computes besides the sizes it passes on, in kernel sizes."""
        emitted, scratch = self.kernels[launch.kernel], self.plan.scratch.get(launch.kernel)
        found = (emitted.extent, emitted.work, None if scratch is None else scratch.bytes)
        return [expr for expr in found if expr is not None]

    def threads(self, step: Step) -> bool:
        """Whether a step is told how many threads it may use."""
        return takes_threads(self, step)

    def scratch_is_late(self, launch: Launch) -> bool:
        """Whether a launch needs scratch memory whose size is only known while the steps run."""
        stride = stride_of(self, launch)
        return stride is not None and not is_known(stride, self.plan.early)

    def needs_scratch(self) -> bool:
        """Whether any launch may need scratch memory."""
        return bool(self.plan.scratch)

    def limits(self) -> None:
        """Tests of whether this program can run at these lengths."""

    def address(self, pointer: Pointer) -> str:
        """The address of an element."""
        name = self.printer.buffers[pointer.buffer]
        zero = pointer.offset == const(0)
        return name if zero else f"{name} + {self.printer.text(pointer.offset, MUL)}"

    def call(self, name: str, arguments: Sequence[str], depth: int = 1) -> None:
        """A call, on several lines if it is long."""
        self.lines.append(wrapped(f"{name}(", arguments, ");", INDENT * (self.inside + depth)))

    def fail(self, condition: str, code: str, note: str = "") -> None:
        """Stop with a status where the condition holds."""
        remark = f"  /* {one_line(note)} */" if note.strip() else ""
        if self.failing:
            self.put(f"if ({condition}) {{{remark}")
            self.put(f"status = {code};", 2)
            self.put("goto done;", 2)
            self.put("}")
        else:
            self.put(f"if ({condition}) return {code};{remark}")


def one_line(note: str) -> str:
    """A note that can stand in a comment behind a statement."""
    return " ".join(note.replace("*/", "* /").replace("/*", "/ *").split())


def bindings(host: Host, launch: Launch) -> dict[str, Expr]:
    """A kernel's sizes in terms of the program's."""
    names = [size.name for size in host.bodies[launch.kernel].sizes]
    return dict(zip(names, launch.sizes, strict=True))


def stride_of(host: Host, launch: Launch) -> Expr | None:
    """The bytes of scratch memory that a launch needs for each thread."""
    scratch = host.plan.scratch.get(launch.kernel)
    return None if scratch is None else substitute(scratch.bytes, bindings(host, launch))


def external(host: Host, buffer: Buffer) -> str:
    """The declaration of a pointer to an array of the caller's."""
    constant = "" if buffer.role in ("output", "shared") else "const "
    kind, name = host.kind(buffer.dtype), host.printer.buffers[buffer.name]
    return f"{constant}{kind} *const {name} = call->data[{host.position[buffer.name]}];"


def emit_step(host: Host, step: Step) -> None:
    """The statements of one step."""
    match step:
        case Launch():
            host.launch(step)
        case Routine():
            host.routine(step)
        case ir.Host():
            host.back(step)
        case Check(condition, code, note):
            host.fail(negated(host, host.fetch(condition)), str(code), note)
        case Measure(size, buffer):
            host.put(f"const int64_t {host.printer.vars[size]} = {host.element(buffer)};")
        case Repeat() | Branch():
            raise AssertionError("targets/host.py prints blocks of steps")
        case _:
            assert_never(step)


def negated(host: Host, condition: Expr) -> str:
    """The text of the opposite of a condition."""
    match condition:
        case Binary(op, left, right) if op in OPPOSITE and left.dtype.kind == "int":
            turned = binary(OPPOSITE[op], left, right)  # type: ignore[arg-type]
            return host.printer.text(turned)
        case _:
            return "!" + host.printer.text(condition, UNARY)


def emit_launch(host: Host, launch: Launch) -> None:
    """A call of a kernel, or one call for each thread of a part of its parallel loop."""
    emitted, printer = host.kernels[launch.kernel], host.printer
    buffers = [printer.buffers[name] for name in launch.buffers]
    stride = stride_of(host, launch)
    base = [] if stride is None else [scratch_base(host, launch, stride)]
    if emitted.extent is not None and host.launches[launch.kernel] > 1:
        sizes = [printer.text(size, SHIFT) for size in launch.sizes]
        host.call(launcher(host, launch.kernel), [*buffers, *sizes, "threads", *base])
        host.fail("call->stopped", "-1")
        return
    arguments = [*buffers, *(printer.text(launch.sizes[number], SHIFT) for number in emitted.sizes)]
    if emitted.extent is not None:
        bound = bindings(host, launch)
        extent = substitute(emitted.extent, bound)
        cost = substitute(emitted.work, bound) if emitted.work is not None else extent
        emit_shares(host, emitted, arguments, (extent, cost, stride), base, asks=True)
        return
    if emitted.threads:
        arguments += ["threads", "&call->stopped"]
    if stride is not None:
        arguments += [*base, printer.text(stride)]
    host.call(emitted.name, arguments)
    if emitted.threads:
        host.fail("call->stopped", "-1")


def launcher(host: Host, kernel: str) -> str:
    """A function that shares out the work of a kernel which is launched more than once."""
    emitted = host.kernels[kernel]
    name = f"launch_{emitted.name}"
    if name in host.launchers:
        return name
    body, printer = host.bodies[kernel], host.printers[kernel]
    scratch = host.plan.scratch.get(kernel)
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
    outer = host.lines, host.printer, host.inside
    host.lines, host.printer, host.inside = [], printer, 0
    emit_shares(host, emitted, arguments, parts, [] if scratch is None else ["scratch"])
    text = "\n".join(host.lines)
    host.lines, host.printer, host.inside = outer
    head = wrapped(f"static __attribute__((noinline)) void {name}(", params, ")", "")
    host.launchers[name] = f"{head}\n{{\n{text}\n}}\n"
    return name


def emit_shares(
    host: Host,
    emitted: Emitted,
    arguments: Sequence[str],
    parts: tuple[Expr, Expr, Expr | None],
    base: Sequence[str],
    *,
    asks: bool = False,
) -> None:
    """Calls of a kernel for parts of its loop, or one call where that does not pay.

    `parts` are the extent of the parallel loop, its cost, and the bytes of scratch for a thread.
    With `asks`, the function stops behind it if it is to.
    """
    extent, cost, stride = parts
    printer = host.printer
    whole = [*arguments, "0", printer.text(extent), *base]
    if isinstance(cost, Const) and cost.value < THRESHOLD:
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


def scratch_bytes(host: Host) -> str:
    """The scratch memory of the launch that needs most, among those known before the run."""
    texts: list[str] = []
    for step in every_step(host.program.steps[host.plan.leading :]):
        stride = stride_of(host, step) if isinstance(step, Launch) else None
        if isinstance(step, Launch) and stride is not None and is_known(stride, host.plan.early):
            times = "call->threads" if host.plan.scratch[step.kernel].parallel else "1"
            texts.append(f"{host.use('symc_times')}({host.printer.text(stride)}, {times})")
    return largest(host, texts)


def largest(host: Host, texts: Sequence[str]) -> str:
    """The largest of some numbers of bytes."""
    distinct = list(dict.fromkeys(texts))
    text = distinct[0] if distinct else ""
    for other in distinct[1:]:
        text = f"{host.use('symc_larger')}({text}, {other})"
    return text


def scratch_base(host: Host, launch: Launch, stride: Expr) -> str:
    """Where a launch's scratch memory begins: planned, or allocated now that its size is known."""
    if is_known(stride, host.plan.early):
        place = len(host.index) + len(host.plan.slots)
        return f"call->workspace + call->sizes[{place}]"
    times = "threads" if host.plan.scratch[launch.kernel].parallel else "1"
    bytes_text = f"{host.use('symc_times')}({host.printer.text(stride)}, {times})"
    host.put(host.release("scratch"))
    host.put(f"scratch = {host.allocation(bytes_text)};")
    host.fail("!scratch", "-1")
    return "scratch"


def emit_routine(host: Host, routine: Routine) -> None:
    """A call of a function of `runtime/blas.h`."""
    signature = ROUTINES[routine.name]
    printer = host.printer
    arguments: list[str] = []
    for arg in routine.args:
        match arg:
            case Pointer():
                arguments.append(host.address(arg))
            case _:
                arguments.append(printer.text(arg, SHIFT))
    if signature.threads:
        arguments.append("threads")
    host.use(signature.source)
    if routine.note.strip():
        host.put(f"/* {one_line(routine.note)} */")
    host.call(signature.symbol, arguments)
    if signature.threads:  # it may have left its last pieces out
        host.fail("call->stopped", "-1")


def emit_back(host: Host, step: ir.Host) -> None:
    """A call of a function in Python."""
    if step.note.strip():
        host.put(f"/* {one_line(step.note)} */")
    arguments = ", ".join(["call->context", str(step.number), *regions(host, step.args)])
    host.fail(f"call->host({arguments})", "-1", f"{step.name} has raised an exception")


def regions(host: Host, args: Sequence[Region | Const]) -> tuple[str, str]:
    """Tables of the addresses and of the lengths of arrays."""
    arrays: list[str] = []
    lengths: list[str] = []
    for arg in args:
        if isinstance(arg, Region):
            arrays.append(host.address(arg.pointer))
            lengths += [host.printer.text(length) for length in arg.shape]
        else:
            arrays.append(constant_array(host, arg))
    return (
        f"(const void *const[]){{{', '.join(arrays)}}}",
        f"(const int64_t[]){{{', '.join(lengths) or '0'}}}",
    )


def constant_array(host: Host, constant: Const) -> str:
    """The address of a number; of the two parts of a complex one."""
    values, kind = [constant.value], constant.dtype
    if kind.is_complex:
        number = complex(constant.value)
        values, kind = [number.real, number.imag], kind.component
    parts = ", ".join(host.printer.text(Const(value, kind)) for value in values)
    return f"({host.kind(kind)}[]){{{parts}}}"


def takes_threads(host: Host, step: Step) -> bool:
    """Whether a step is told how many threads it may use."""
    match step:
        case Launch(kernel):
            return host.kernels[kernel].threads or host.kernels[kernel].extent is not None
        case Routine(name):
            return ROUTINES[name].threads
        case ir.Host() | Check() | Measure() | Repeat() | Branch():
            return False
        case _:
            assert_never(step)


def step_expressions(host: Host, step: Step) -> Sequence[Expr]:
    """Every expression over sizes that the text of a step may contain."""
    match step:
        case Launch():
            bound = bindings(host, step)
            return [*step.sizes, *(substitute(expr, bound) for expr in host.wanted(step))]
        case Routine(_, args):
            return [arg.offset if isinstance(arg, Pointer) else arg for arg in args]
        case ir.Host(_, _, args):
            regions = [arg for arg in args if isinstance(arg, Region)]
            return [expr for arg in regions for expr in (arg.pointer.offset, *arg.shape)]
        case Check(condition):
            return [condition]
        case Repeat(extent=extent):
            return [extent]
        case Measure() | Branch():
            return []
        case _:
            assert_never(step)
