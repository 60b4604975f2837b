"""The host functions of a program: `symc_prepare` and `symc_run`, in C for every target.

`symc_prepare` computes sizes, checks them, and lays out the workspace; `symc_run` runs the steps.
Both take one `symc_call` (`runtime/host.h`), which holds all that one call needs: a program has no
state of its own, and threads may call it at the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen import ir
from symc.codegen.blocks import every_step, written
from symc.codegen.emit.expressions import MUL
from symc.codegen.emit.reductions import nodes
from symc.codegen.ir import Branch, Buffer, Const, Launch, Measure, Repeat, Routine, Step, Var
from symc.codegen.passes.memory import Slot, buffers_of, is_known, used_buffers, wholes
from symc.codegen.targets.lengths import (
    FLAG,
    declare_flag,
    end_if_huge,
    end_if_too_large,
    exact,
    is_given,
    long_loops,
    many,
    volume,
)
from symc.codegen.targets.steps import (
    EXTERNAL,
    Host,
    emit_step,
    external,
    largest,
    one_line,
    step_expressions,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def host_text(host: Host) -> str:
    """Both functions and the table of counts."""
    lengths: dict[tuple[str, int], str] = {}
    for name in host.position:
        if host.buffers[name].role in ("input", "shared"):
            for axis in range(len(host.buffers[name].shape)):
                lengths[name, axis] = f"call->lengths[{len(lengths)}]"
    host.printer.lengths = lengths
    prepare = prepare_text(host)
    run = run_text(host)
    shapes = sum(len(buffer.shape) for buffer in host.outputs)
    room = len(host.index) + len(host.plan.slots) + 1
    counts = f"{{{len(host.position)}, {len(lengths)}, {shapes}, {room}}}"
    table = f"/* arrays, lengths, shapes, sizes */\nconst int64_t symc_counts[4] = {counts};\n"
    if not host.timed:
        return "\n".join([prepare, run, table])
    from symc.codegen.targets.timers import timer_table  # late: few programs time themselves

    return "\n".join([timer_table(host), prepare, run, table])


def prepare_text(host: Host) -> str:
    """`symc_prepare`: everything that follows from the lengths of the arguments."""
    host.lines = []
    steps = host.program.steps[: host.plan.leading]
    for name in dict.fromkeys(used_buffers(host.program, steps)):
        host.put(external(host, host.buffers[name]))
    compute_sizes(host, store=True)
    for step in steps:
        emit_step(host, step)
        if isinstance(step, Measure):
            host.known.add(step.size)
            host.put(f"call->sizes[{host.index[step.size]}] = {host.printer.vars[step.size]};")
            compute_sizes(host, store=True)
    host.limits()
    position = 0
    for buffer in host.outputs:
        ready = all(is_known(length, host.known) for length in buffer.shape)
        for length in buffer.shape:
            text = host.printer.text(length) if ready else "-1"
            host.put(f"call->shapes[{position}] = {text};")
            position += 1
        if ready and not is_given(host, volume(buffer)):
            end_if_huge(host, array_bytes(host, buffer), "-1")
    for step in every_step(host.program.steps):
        if isinstance(step, Launch):
            for extent in long_loops(host, step):
                if is_known(extent, host.known):
                    end_if_huge(host, many(host, extent), host.use("SYMC_TOO_LARGE"))
    lay_out(host)
    host.put("return 0;")
    declare_flag(host.lines)
    body = "\n".join(host.lines)
    return host.function("symc_prepare", body)


def lay_out(host: Host) -> None:
    """The workspace: its slots one behind the other, then the threads' scratch memory."""
    if not host.plan.slots and not host.needs_scratch():
        host.put("call->workspace_bytes = 0;")
        return
    first = len(host.index)
    host.put("int64_t bytes = 0;")
    for number, slot in enumerate(host.plan.slots):
        names = one_line(", ".join(tenant.name for tenant in slot.tenants))
        host.put(f"call->sizes[{first + number}] = bytes;  /* {names} */")
        host.put(f"bytes = {host.use('symc_after')}(bytes, {slot_bytes(host, slot)});")
    scratch = host.scratch()
    if scratch:
        host.put(f"call->sizes[{first + len(host.plan.slots)}] = bytes;  /* scratch */")
        host.put(f"bytes = {host.use('symc_after')}(bytes, {scratch});")
    host.put("call->workspace_bytes = bytes;")


def slot_bytes(host: Host, slot: Slot) -> str:
    """The size of a slot's largest tenant."""
    return largest(host, [array_bytes(host, tenant) for tenant in slot.tenants])


def array_bytes(host: Host, buffer: Buffer) -> str:
    """The size of an array in bytes, which stops short of overflow."""
    count = buffer.dtype.bytes
    lengths: list[str] = []
    for axis in buffer.shape:
        if isinstance(axis, Const):
            count *= max(int(axis.value), 0)
        else:
            lengths.append(host.printer.text(axis))
    text = str(count)
    for length in lengths:
        text = f"{host.use('symc_times')}({text}, {length})"
    return text


def compute_sizes(host: Host, *, store: bool) -> None:
    """Declare each size that follows from those known so far."""
    checked = False
    for size in host.program.sizes:
        name, value = size.var.name, size.value
        if value is None or name in host.known or not is_known(value, host.known):
            continue
        remark = f"  /* {one_line(size.note)} */" if size.note.strip() else ""
        variable, text = host.printer.vars[name], exact(host, value)
        checked = checked or FLAG in text
        host.put(f"const int64_t {variable} = {text};{remark}")
        if store:
            host.put(f"call->sizes[{host.index[name]}] = {variable};")
        host.known.add(name)
    if checked:
        end_if_too_large(host)


def run_text(host: Host) -> str:
    """`symc_run`: the steps."""
    host.lines = []
    steps = host.program.steps[host.plan.leading :]
    host.known = set(host.plan.early)
    host.waiting = [b for b in host.outputs if not all(is_known(s, host.known) for s in b.shape)]
    launches = [step for step in every_step(steps) if isinstance(step, Launch)]
    scratch = any(map(host.scratch_is_late, launches))
    host.failing = bool(host.plan.late) or scratch
    declare_all(host, steps, {buffer.name for buffer in host.waiting}, scratch=scratch)
    host.number = host.plan.leading
    last = first_change(host, steps)
    emit_steps(host, steps[:last])
    if any(host.threads(step) or isinstance(step, Repeat) for step in every_step(steps[last:])):
        host.put("call->ask = 0;  /* shared variables change: from here on it runs to its end */")
    emit_steps(host, steps[last:])
    if host.failing:
        host.lines.append("done:")
        for late in host.plan.late:
            host.put(host.release(host.printer.buffers[late.buffer.name]))
        if scratch:
            host.put(host.release("scratch"))
    host.put("return status;" if host.failing else "return 0;")
    declare_flag(host.lines)
    body = "\n".join(host.lines)
    unused = "" if "call" in body else "    (void)call;\n"
    return host.function("symc_run", unused + body)


def first_change(host: Host, steps: Sequence[Step]) -> int:
    """The first of these steps that writes into a shared variable, or how many there are.

    A function that is stopped leaves shared variables as they were, so from there on it is not.
    """
    whole = wholes(host.program)
    for number, step in enumerate(steps if host.asks else ()):
        for each in every_step([step]):
            if isinstance(each, Launch | Routine | ir.Host):
                kernel = host.bodies[each.kernel] if isinstance(each, Launch) else None
                names = written(each, kernel)
                if any(host.buffers[whole.get(name, name)].role == "shared" for name in names):
                    return number
    return len(steps)


def emit_steps(host: Host, steps: Iterable[Step]) -> None:
    """The statements of a block of steps, each with the memory that it needs until it is done."""
    for step in steps:
        for late in host.plan.late:
            if late.first == host.number:
                name = host.printer.buffers[late.buffer.name]
                room = array_bytes(host, late.buffer)
                host.put(f"{name} = {host.allocation(room)};")
                host.fail(f"!{name}", "-1")
        if host.timed:
            emit_timed(host, step)
        else:
            emit_one(host, step)
        for late in host.plan.late:
            if late.last == host.number:
                name = host.printer.buffers[late.buffer.name]
                host.put(host.release(name))
                host.put(f"{name} = 0;")
        host.number += 1


def emit_timed(host: Host, step: Step) -> None:
    """The statements of one step between those of a timer."""
    from symc.codegen.targets.timers import start_timer, stop_timer

    row = start_timer(host)
    emit_one(host, step)
    stop_timer(host, row, step, array_bytes)


def emit_one(host: Host, step: Step) -> None:
    """The statements of one step. Afterwards, `host.number` is the last number that it has."""
    match step:
        case Repeat():
            emit_repeat(host, step)
        case Branch():
            emit_branch(host, step)
        case _:
            if isinstance(step, Launch):
                for extent in long_loops(host, step):
                    if not is_known(extent, host.plan.early):
                        end_if_huge(host, many(host, extent), host.use("SYMC_TOO_LARGE"))
            emit_step(host, step)
            if isinstance(step, Measure):
                learn(host, step.size)


def learn(host: Host, size: str) -> None:
    """A size has become known."""
    host.known.add(size)
    compute_sizes(host, store=False)
    allocate(host, host.waiting)


def emit_repeat(host: Host, loop: Repeat) -> None:
    """A loop; what it is to measure is how often it has run."""
    if loop.note.strip():
        host.put(f"/* {one_line(loop.note)} */")
    var, extent = host.printer.vars[loop.var], host.printer.text(loop.extent)
    if loop.done is None:
        assert loop.stop is None, "a loop that may stop early says when it did"
        host.put(f"for (int64_t {var} = 0; {var} < {extent}; {var}++) {{")
    else:
        done = host.printer.vars[loop.done]
        host.put(f"int64_t {done} = 0;")
        host.put(f"while ({done} < {extent}) {{")
        host.put(f"const int64_t {var} = {done}++;", 2)
    emit_block(host, loop.steps, loop.var)
    if loop.stop is not None:
        host.inside += 1
        host.put(f"if ({host.element(loop.stop)}) break;")
        host.inside -= 1
    if host.asks:
        host.inside += 1
        host.fail(f"(++steps & 255) == 0 && {host.use('symc_stops')}(call)", "-1")
        host.inside -= 1
    host.put("}")
    if loop.done is not None:
        learn(host, loop.done)


def emit_branch(host: Host, branch: Branch) -> None:
    """One block or the other."""
    if branch.note.strip():
        host.put(f"/* {one_line(branch.note)} */")
    host.put(f"if ({host.element(branch.condition)}) {{")
    emit_block(host, branch.then)
    host.number -= 1
    host.put("} else {")
    emit_block(host, branch.otherwise)
    host.put("}")


def emit_block(host: Host, steps: Sequence[Step], *known: str) -> None:
    """The steps between braces. What becomes known there is known there only."""
    before, rows = set(host.known), set(host.rows)
    host.inside += 1
    host.number += 1
    host.known |= set(known)
    compute_sizes(host, store=False)
    declare_rows(host, steps)
    emit_steps(host, steps)
    host.inside -= 1
    host.known, host.rows = before, rows


def declare_rows(host: Host, steps: Sequence[Step]) -> None:
    """The rows that some steps use, as far as it is known here where they are.

    Those of a loop may be known before it: where they have no elements, none is elsewhere.
    """
    whole = wholes(host.program)
    used = {name for step in every_step(steps) for name in buffers_of(step)}
    for buffer in reversed(host.program.buffers):
        if buffer.of is not None and buffer.name in used:
            used.add(buffer.of.buffer)
    for buffer in host.program.buffers:
        of = buffer.of
        if of is None or buffer.name not in used:
            continue
        if of.buffer in whole and of.buffer not in host.rows:
            continue  # what it is a row of is not known yet
        if is_known(of.offset, host.known) and buffer.name not in host.rows:
            host.rows.add(buffer.name)
            kind, name = host.kind(buffer.dtype), host.printer.buffers[buffer.name]
            role = host.buffers[whole[buffer.name]].role
            constant = "const " if role in ("input", "constant") else ""
            begin = f"{host.printer.buffers[of.buffer]} + {host.printer.text(of.offset, MUL)}"
            host.put(f"{constant}{kind} *const {name} = {begin};")


def declare_all(host: Host, steps: Sequence[Step], late: set[str], *, scratch: bool) -> None:
    """Variables for the sizes, threads and arrays that the steps use."""
    printer, needed = host.printer, used_sizes(host, steps)
    for name, place in host.index.items():
        if name in host.plan.early and name in needed:
            host.put(f"const int64_t {printer.vars[name]} = call->sizes[{place}];")
    if any(map(host.threads, every_step(steps))):
        host.put("const int64_t threads = call->threads;")
    if host.asks and any(isinstance(step, Repeat) for step in every_step(steps)):
        host.put("int64_t steps = 0;")
    for name in dict.fromkeys(used_buffers(host.program, steps)):
        buffer = host.buffers[name]
        kind, plain = host.kind(buffer.dtype), printer.buffers[name]
        slot = host.plan.slot_of(name)
        if name in late or (buffer.role == "temp" and slot is None):
            host.put(f"{kind} *{plain} = 0;")
        elif buffer.role in EXTERNAL:
            host.put(external(host, buffer))
        elif slot is not None:
            begin = f"call->workspace + call->sizes[{len(host.index) + slot}]"
            host.put(f"{kind} *const {plain} = ({kind} *)({begin});")
    if scratch:
        host.put("char *scratch = 0;")
    if host.failing or host.reports:
        host.put("int64_t status = 0;")
    if host.lines:
        host.lines.append("")


def used_sizes(host: Host, steps: Sequence[Step]) -> set[str]:
    """The sizes that the text of some steps mentions."""
    exprs = [expr for step in every_step(steps) for expr in step_expressions(host, step)]
    if host.timed:
        from symc.codegen.targets.timers import arrays_of

        moves = [buffer for step in every_step(steps) for buffer in arrays_of(host, step)]
        exprs += [length for buffer in moves for length in buffer.shape]
    exprs += [buffer.of.offset for buffer in host.program.buffers if buffer.of is not None]
    late = {b.name for b in host.outputs} | {item.buffer.name for item in host.plan.late}
    for buffer in host.program.buffers:
        if buffer.name in late and not all(is_known(s, host.plan.early) for s in buffer.shape):
            exprs += buffer.shape
    for size in host.program.sizes:
        if size.value is not None and size.var.name not in host.plan.early:
            exprs.append(size.value)
    return {node.name for expr in exprs for node in nodes(expr) if isinstance(node, Var)}


def allocate(host: Host, outputs: list[Buffer]) -> None:
    """Ask the caller for those outputs whose lengths are known now."""
    start = 0
    for number, buffer in enumerate(host.outputs):
        if buffer in outputs and all(is_known(length, host.known) for length in buffer.shape):
            outputs.remove(buffer)
            for axis, length in enumerate(buffer.shape):
                text = host.printer.text(length)
                host.put(f"call->shapes[{start + axis}] = {text};")
            if not is_given(host, volume(buffer)):
                end_if_huge(host, array_bytes(host, buffer), "-1")
            memory = f"call->allocate(call->context, {number})"
            if buffer.name in used_buffers(host.program, host.program.steps):
                name = host.printer.buffers[buffer.name]
                host.put(f"{name} = {memory};")
                memory = name
            host.fail(f"!{memory}", "-1")  # one of no elements may be used by no step
        start += len(buffer.shape)
