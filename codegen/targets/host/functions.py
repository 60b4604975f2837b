"""The host functions of a program: `symc_prepare` and `symc_run`, in C for every target.

`symc_prepare` computes sizes, checks them, and lays out the workspace; `symc_run` runs the steps.
Both take one `symc_call` (`call.h`), which holds all that one call needs: a program has no
state of its own, and threads may call it at the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.blocks import every_step, written
from symc.codegen.dtypes import BOOL
from symc.codegen.emit.writer import INDENT
from symc.codegen.ir import (
    Accumulate,
    Branch,
    Buffer,
    Check,
    Const,
    Kernel,
    Launch,
    Load,
    Loop,
    Measure,
    PythonCall,
    Repeat,
    Routine,
    Step,
)
from symc.codegen.passes.kernels.calls import loop_forms, range_loop
from symc.codegen.passes.kernels.memory import buffers_of, is_known, used_buffers
from symc.codegen.passes.walk import expressions, nodes, statements
from symc.codegen.status import Status
from symc.codegen.targets.host.blocks import compute_sizes, declare_rows, emit_steps
from symc.codegen.targets.host.lengths import (
    declare_flag,
    end_if_huge,
    is_given,
    long_loops,
    many,
    volume,
)
from symc.codegen.targets.host.memory import (
    array_bytes,
    is_late,
    kept_over_steps,
    lay_out,
    release,
)
from symc.codegen.targets.host.signals import takes_threads
from symc.codegen.targets.host.sizes import used_sizes
from symc.codegen.targets.host.steps import emit_step
from symc.codegen.targets.host.writer import EXTERNAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.targets.host.writer import HostWriter

UNKNOWN = "-1"  # a length in `symc_call.shapes` that only running the program tells
PLAIN = "SYMC_PLAIN"
STEPS = "SYMC_STEPS"
JUMPS = "SYMC_JUMPS"
MANY = 100  # steps: for so many gcc takes as long as for a network's kernels together


def host_text(host: HostWriter) -> str:
    """Both functions and the table of counts."""
    lengths: dict[tuple[str, int], str] = {}
    for name in host.position:
        if host.buffers[name].role in ("input", "shared"):
            for axis in range(len(host.buffers[name].shape)):
                lengths[name, axis] = f"call->lengths[{len(lengths)}]"
    host.printer.lengths = lengths
    parts = [prepare_text(host.begin()), run_text(host.begin())]
    shapes = sum(len(buffer.shape) for buffer in host.outputs)
    room = len(host.index) + len(host.plan.slots) + 1
    counts = f"{{{len(host.position)}, {len(lengths)}, {shapes}, {room}}}"
    parts.append(
        f"/* arrays, lengths, shapes, sizes */\nconst int64_t symc_counts[4] = {counts};\n"
    )
    if host.timed:
        from symc.codegen.targets.host.timers import timer_table  # late: few programs are timed

        parts.insert(0, timer_table(host))
    return "\n".join(parts)


def function_text(host: HostWriter, name: str) -> str:
    """One of the functions that the caller calls, from its lines."""
    body, words = "\n".join(host.lines), host.dialect.words
    before = [PLAIN] if is_long_list(host) else options_of(host) if name == "symc_run" else []
    kind = " ".join([*map(host.use, before), "int64_t"])
    if not words.enter or not host.attempts:
        return f"{kind} {name}(symc_call *call)\n{{\n{body}\n}}\n"
    host.use("symc_status")
    inside = f"{name}_steps"
    lines = [*words.enter, f"const int64_t status = {inside}(call);", *words.leave]
    outer = "".join(f"{INDENT}{line}\n" for line in [*lines, "return status;"])
    return (
        f"static {kind} {inside}(symc_call *call)\n{{\n{body}\n}}\n\n"
        f"int64_t {name}(symc_call *call)\n{{\n{outer}}}\n"
    )


def is_long_list(host: HostWriter) -> bool:
    """Whether a program is many steps, each of which runs once in a call.

    The host functions of others may have kernels in them, and run steps again and again.
    """
    steps = host.program.steps
    return len(steps) >= MANY and not any(isinstance(step, Repeat) for step in every_step(steps))


def options_of(host: HostWriter) -> list[str]:
    """The words before `symc_run` for what gcc is to do beyond the options of a whole program."""
    repeats = [step for step in every_step(host.program.steps) if isinstance(step, Repeat)]
    inside = [step for repeat in repeats for step in every_step([repeat])]
    inlined = [
        (host.bodies[step.kernel], step)
        for step in inside
        if isinstance(step, Launch) and step.kernel in host.dialect.inlined
    ]
    numbers = {buffer.name for buffer in host.program.buffers if is_number(buffer)}
    changes = any(not changed_by(kernel, launch) <= numbers for kernel, launch in inlined)
    plain = inlined and not any(has_vectors(kernel) for kernel, _ in inlined)
    # Where nothing is tested, gcc makes one jump of selections by the same condition instead.
    jumps = plain and any(map(is_test, inside))
    return [*([STEPS] if changes else []), *([JUMPS] if jumps else [])]


def is_test(step: Step) -> bool:
    """Whether what is done next depends on a condition that an earlier step has stored."""
    match step:
        case Check(condition):
            return any(isinstance(node, Load) for node in nodes(condition))
        case Repeat(stop=stop):
            return stop is not None
        case _:
            return isinstance(step, Branch)


def has_vectors(kernel: Kernel) -> bool:
    """Whether a kernel has loops of which several iterations are run at once."""
    forms = loop_forms(kernel, range_loop(kernel))
    return any(
        isinstance(stmt, Loop)
        and (stmt.kind not in ("serial", "unroll") or forms[stmt.var.name].in_lanes)
        for stmt in statements(kernel.body)
    )


def changed_by(kernel: Kernel, launch: Launch) -> set[str]:
    """The buffers of which a kernel loads elements, and stores some."""
    block = list(statements(kernel.body))
    parts = [node for stmt in block for expr in expressions(stmt) for node in nodes(expr)]
    loaded = {node.buffer for node in parts if isinstance(node, Load)}
    loaded |= {stmt.buffer for stmt in block if isinstance(stmt, Accumulate)}
    params = zip(kernel.params, launch.buffers, strict=True)
    return {buffer for param, buffer in params if param.written and param.name in loaded}


def prepare_text(host: HostWriter) -> str:
    """`symc_prepare`: everything that follows from the lengths of the arguments."""
    steps = host.program.steps[: host.plan.leading]
    for name in dict.fromkeys(used_buffers(host.program, steps)):
        host.put(external(host, host.buffers[name]))
    compute_sizes(host, store=True)
    for step in steps:
        assert isinstance(step, Check | Measure), "passes/kernels/memory.py takes no others"
        emit_step(host, step)
        if isinstance(step, Measure):
            host.known.add(step.size)
            host.put(f"call->sizes[{host.index[step.size]}] = {host.printer.vars[step.size]};")
            compute_sizes(host, store=True)
    host.dialect.limits(host)
    position = 0
    for buffer in host.outputs:
        ready = all(is_known(length, host.known) for length in buffer.shape)
        for length in buffer.shape:
            text = host.printer.text(length) if ready else UNKNOWN
            host.put(f"call->shapes[{position}] = {text};")
            position += 1
        if ready and not is_given(host, volume(buffer)):
            end_if_huge(host, array_bytes(host, buffer), Status.STOPPED)
    for step in every_step(host.program.steps):
        if isinstance(step, Launch):
            for extent in long_loops(host, step):
                if is_known(extent, host.known):
                    end_if_huge(host, many(host, extent), Status.TOO_LARGE)
    lay_out(host)
    host.put("return 0;")
    declare_flag(host)
    if host.attempts:
        host.lines.insert(0, f"{INDENT}int64_t status = 0;")
    return function_text(host, "symc_prepare")


def run_text(host: HostWriter) -> str:
    """`symc_run`: the steps."""
    steps = host.program.steps[host.plan.leading :]
    host.known = set(host.plan.early)
    host.waiting = [b for b in host.outputs if not all(is_known(s, host.known) for s in b.shape)]
    launches = [step for step in every_step(steps) if isinstance(step, Launch)]
    scratch = any(is_late(host, launch) for launch in launches)
    host.cleans = bool(host.plan.late) or scratch
    host.attempts = host.dialect.reports
    declare_all(host, steps, {buffer.name for buffer in host.waiting}, scratch=scratch)
    declare_rows(host, [step for step in steps if not isinstance(step, Repeat | Branch)])
    host.number = host.plan.leading
    host.heeds = host.dialect.can_stop
    emit_steps(host, steps)
    if host.counts:
        host.lines.insert(host.count_at, f"{INDENT}int64_t steps = 0;")
    if host.cleans:
        host.lines.append("done:")
        for late in host.plan.late:
            release(host, host.printer.buffers[late.buffer.name])
        if scratch:
            release(host, "scratch")
    host.put("return status;" if host.cleans else "return 0;")
    declare_flag(host)
    if not steps:
        host.lines.insert(0, f"{INDENT}(void)call;")
    return function_text(host, "symc_run")


def external(host: HostWriter, buffer: Buffer) -> str:
    """The declaration of a pointer to an array of the caller's."""
    constant = "" if buffer.role in ("output", "shared") else "const "
    kind, name = host.kind(buffer.dtype), host.printer.buffers[buffer.name]
    return f"{constant}{kind} *const {name} = call->data[{host.position[buffer.name]}];"


def declare_all(host: HostWriter, steps: Sequence[Step], late: set[str], *, scratch: bool) -> None:
    """Variables for the sizes, threads and arrays that the steps use."""
    printer, needed = host.printer, used_sizes(host, steps)
    host.needed = needed
    for name, place in host.index.items():
        if name in host.plan.early and name in needed:
            host.put(f"const int64_t {printer.vars[name]} = call->sizes[{place}];")
    if any(takes_threads(host, step) for step in every_step(steps)):
        host.put("const int64_t threads = call->threads;")
    if host.dialect.can_stop and any(isinstance(step, Repeat) for step in every_step(steps)):
        host.count_at = len(host.lines)
    host.numbers, slots = registers(host, steps), host.plan.slot_numbers()
    for name in dict.fromkeys(used_buffers(host.program, steps)):
        buffer = host.buffers[name]
        kind, plain = host.kind(buffer.dtype), printer.buffers[name]
        slot = slots.get(name)
        if name in host.numbers:
            host.put(f"{kind} {plain}[{2 if buffer.dtype.is_complex else 1}] = {{0}};")
        elif name in late or (buffer.role == "temp" and slot is None):
            host.put(f"{kind} *{plain} = 0;")
        elif buffer.role in EXTERNAL:
            host.put(external(host, buffer))
        elif slot is not None:
            begin = f"call->workspace + call->sizes[{len(host.index) + slot}]"
            host.put(f"{kind} *const {plain} = ({kind} *)({begin});")
    if scratch:
        host.put("char *scratch = 0;")
    for buffer in kept_over_steps(host, steps):
        room = host.rooms[buffer.name] = printer.vars[printer.fresh(f"{buffer.name}_room")]
        host.put(f"int64_t {room} = -1;")
    if host.cleans or host.dialect.reports:
        host.put("int64_t status = 0;")
    if host.lines:
        host.lines.append("")


def is_number(buffer: Buffer) -> bool:
    """Whether a buffer has one element."""
    return all(isinstance(length, Const) and length.value == 1 for length in buffer.shape)


def registers(host: HostWriter, steps: Sequence[Step]) -> set[str]:
    """The numbers that only the text of host functions changes: those of kernels compiled into it.

    Their memory is a variable's, for which a register will do. The compiler sees through copies:
    other kernels read copies, as nobody is told where the variables are. So do kernels that are
    called for what one compiled into the text does as well, as for rows that are long.
    """
    if not host.dialect.inlined:
        return set()
    found = {b.name for b in host.program.buffers if b.role == "temp" and is_number(b)}
    found -= {buffer.of.buffer for buffer in host.program.buffers if buffer.of is not None}
    launches = [step for step in every_step(steps) if isinstance(step, Launch)]
    changed = {
        name
        for step in launches
        if step.kernel in host.dialect.inlined
        for name in written(step, host.bodies[step.kernel])
        if host.buffers[name].dtype is not BOOL  # answers, which no step waits for
    }
    for step in every_step(steps):
        match step:
            case Routine("copy_bytes"):
                continue
            case Routine() | PythonCall():
                found.difference_update(buffers_of(step))
            case Launch() if step.kernel not in host.dialect.inlined:
                kept = set[str]() if host.dialect.takes_threads(step) else changed
                found.difference_update(set(written(step, host.bodies[step.kernel])) - kept)
            case _:
                continue
    return found
