"""Blocks of steps as C statements: loops, branches, and the names that become known in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.blocks import every_step, is_branch
from symc.codegen.emit.expressions import MUL, SHIFT
from symc.codegen.ir import Branch, Check, Launch, Measure, Repeat, Step
from symc.codegen.passes.kernels.inlined import AT_ONCE, is_tiny
from symc.codegen.passes.kernels.memory import buffers_of, is_known, wholes
from symc.codegen.passes.walk import fresh
from symc.codegen.status import Status
from symc.codegen.targets.host.lengths import (
    end_if_huge,
    end_if_too_large,
    exact,
    long_loops,
    many,
)
from symc.codegen.targets.host.memory import ask_for_outputs, begin_late, end_late
from symc.codegen.targets.host.signals import heed_while_unchanged
from symc.codegen.targets.host.sizes import sizes_inside
from symc.codegen.targets.host.steps import emit_step, first_element
from symc.codegen.targets.host.writer import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from symc.codegen.targets.host.writer import HostWriter


PIECE = 256
"""After so many steps of loops it is asked whether to stop; a power of two."""

SHORT_STEPS = 16
"""So many steps of nothing but short kernels count as one: to ask takes as long. A power of two."""


def compute_sizes(host: HostWriter, *, store: bool, wanted: AbstractSet[str] | None = None) -> None:
    """Declare each size that follows from those known so far, or each `wanted` one."""
    checked = False
    for size in host.program.sizes:
        name, value = size.var.name, size.value
        if value is None or name in host.known or not is_known(value, host.known):
            continue
        if wanted is not None and name not in wanted:
            continue
        remark = f"  /* {one_line(size.note)} */" if size.note.strip() else ""
        variable, (text, flagged) = host.printer.vars[name], exact(host, value)
        checked = checked or flagged
        host.put(f"const int64_t {variable} = {text};{remark}")
        if store:
            host.put(f"call->sizes[{host.index[name]}] = {variable};")
        host.known.add(name)
    if checked:
        end_if_too_large(host)


def emit_steps(host: HostWriter, steps: Sequence[Step]) -> None:
    """The statements of a block of steps, each with the memory that it needs until it is done."""
    for place, step in enumerate(steps):
        heed_while_unchanged(host, steps[place:])
        for late in host.plan.late:
            if late.first == host.number:
                begin_late(host, late)
        if host.timed:
            emit_timed(host, step)
        else:
            emit_one(host, step)
        if isinstance(step, Measure | Repeat):  # rows may begin where the number says
            following = steps[place + 1 :]
            declare_rows(host, [s for s in following if not isinstance(s, Repeat | Branch)])
        for late in host.plan.late:
            if late.last == host.number:
                end_late(host, late)
        host.number += 1


def emit_timed(host: HostWriter, step: Step) -> None:
    """The statements of one step between those of a timer."""
    from symc.codegen.targets.host.timers import start_timer, stop_timer

    timer = start_timer(host)
    emit_one(host, step)
    stop_timer(host, timer, step)


def emit_one(host: HostWriter, step: Step) -> None:
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
                        end_if_huge(host, many(host, extent), Status.TOO_LARGE)
            emit_step(host, step)
            if isinstance(step, Measure):
                learn(host, step.size)


def learn(host: HostWriter, size: str) -> None:
    """A size has become known."""
    host.known.add(size)
    compute_sizes(host, store=False)
    ask_for_outputs(host, host.waiting)


def emit_repeat(host: HostWriter, loop: Repeat) -> None:
    """A loop; the size `done` counts its rounds. One of a single step never asks: a branch."""
    host.remark(loop.note)
    short = is_short(host, loop)
    if loop.done is None and (short or has_short_loops(host, loop)):
        emit_pieces(host, loop, PIECE * SHORT_STEPS if short else PIECE)
        return
    if short and loop.stop is not None and (has_tiny_steps(host, loop) or not loop.endless):
        emit_short_while(host, loop)
        return
    begin_rounds(host, loop)
    emit_block(host, loop.steps, loop.var)
    if loop.stop is not None:
        host.inside += 1
        host.put(f"if ({first_element(host, loop.stop)}) break;")
        host.inside -= 1
    if host.heeds and not is_branch(host.program, loop):
        host.inside += 1
        host.counts = True
        piece, stops = PIECE * SHORT_STEPS if short else PIECE, host.use("symc_stops")
        host.fail(f"++steps >= {piece} && (steps = 0, {stops}(call))", Status.STOPPED)
        host.inside -= 1
    host.put("}")
    if loop.done is not None:
        learn(host, loop.done)


def begin_rounds(host: HostWriter, loop: Repeat) -> None:
    """The head of a loop that is asked in each round whether to stop.

    Rounds are counted if something says how many there may be, or wants to know how many there
    were. A counter that is compared takes a register, and in a short round a tenth of the time.
    """
    var, extent = host.printer.vars[loop.var], host.printer.text(loop.extent)
    if loop.done is None:
        assert loop.stop is None, "a loop that may stop early says when it did"
        host.put(f"for (int64_t {var} = 0; {var} < {extent}; {var}++) {{")
        return
    done = host.printer.vars[loop.done]
    counted = not loop.endless or not host.needed.isdisjoint({loop.var, loop.done})
    if counted:
        host.put(f"int64_t {done} = 0;")
    if loop.endless:
        host.put(f"if ({host.printer.text(loop.extent, SHIFT)} > 0) for (;;) {{")
    else:
        host.put(f"while ({done} < {extent}) {{")
    if counted:
        host.put(f"const int64_t {var} = {done}++;", 2)


def is_short(host: HostWriter, loop: Repeat) -> bool:
    """Whether each step is nothing but kernels compiled into this text, and it can be stopped.

    That a step may fail is no obstacle, but where steps end loops, too: those are of a few steps.
    """
    if not host.heeds or is_branch(host.program, loop):
        return False
    may_fail = any(isinstance(step, Check) for step in every_step(loop.steps))
    return _are_inlined(host, loop.steps) and not (may_fail and loop.stop is not None)


def _are_inlined(host: HostWriter, steps: Sequence[Step]) -> bool:
    """Whether steps, and those in branches, are nothing but checks and kernels of this text."""
    return all(
        _are_inlined(host, (*step.then, *step.otherwise))
        if isinstance(step, Branch)
        else isinstance(step, Check)
        or (isinstance(step, Launch) and step.kernel in host.dialect.inlined)
        for step in steps
    )


def has_short_loops(host: HostWriter, loop: Repeat) -> bool:
    """Whether all loops in each step are short, or ask, if there are any, and it can be stopped."""
    inside = [step for step in every_step(loop.steps) if isinstance(step, Repeat)]
    loops = [inner for inner in inside if not is_branch(host.program, inner)]
    can_stop = host.heeds and not is_branch(host.program, loop)
    return can_stop and all(inner.done is not None or is_short(host, inner) for inner in loops)


def emit_pieces(host: HostWriter, loop: Repeat, piece: int) -> None:
    """A loop in pieces of some steps, between which it is asked whether to stop.

    So the compiler sees a loop that nothing leaves, which it can split, unroll and vectorise. And
    no step takes a test for that: short loops in steps of others are often of a few steps, in which
    it would be one more jump, which processors have to remember to tell in advance where others go.
    What a loop of short steps does of its last piece is not counted.
    """
    var, extent = host.printer.vars[loop.var], host.printer.text(loop.extent)
    taken = {*host.printer.vars.values(), *host.printer.buffers.values()}
    begin, end = fresh(f"{var}_begin", taken), fresh(f"{var}_end", taken)
    least = host.use("symc_minimum_i64")
    host.put(f"for (int64_t {begin} = 0, {end};; {begin} = {end}) {{")
    host.inside += 1
    host.put(f"{end} = {least}({extent}, {begin} + {piece});")
    unroll_if_tiny(host, loop)
    host.put(f"for (int64_t {var} = {begin}; {var} < {end}; {var}++) {{")
    emit_block(host, loop.steps, loop.var)
    host.put("}")
    if host.heeds and piece == PIECE:
        host.counts = True
        host.put(f"steps += {end} - {begin};")
    host.put(f"if ({end} >= {extent}) break;")
    if host.heeds:
        host.fail(f"{host.use('symc_stops')}(call)", Status.STOPPED)
    host.inside -= 1
    host.put("}")


def has_tiny_steps(host: HostWriter, loop: Repeat) -> bool:
    """Whether each step is of a few operations."""
    launches = [step for step in loop.steps if isinstance(step, Launch)]
    stmts = [stmt for launch in launches for stmt in host.bodies[launch.kernel].body]
    return len(launches) == len(loop.steps) and is_tiny(stmts)


def unroll_if_tiny(host: HostWriter, loop: Repeat) -> None:
    """Several steps of a few operations are written out, one after the other."""
    if has_tiny_steps(host, loop):
        host.lines.append(host.printer.lang.unroll.format(count=AT_ONCE))


def emit_short_while(host: HostWriter, loop: Repeat) -> None:
    """The same of a loop that may stop early. What it does of a last piece is not counted."""
    assert loop.stop is not None
    assert loop.done is not None, "a loop that may stop early says when it did"
    var, extent = host.printer.vars[loop.var], host.printer.text(loop.extent)
    done, stop = host.printer.vars[loop.done], first_element(host, loop.stop)
    taken = {*host.printer.vars.values(), *host.printer.buffers.values()}
    end = fresh(f"{done}end", taken)
    least, stops = host.use("symc_minimum_i64"), host.use("symc_stops")
    host.put(f"int64_t {done} = 0;")
    host.put(f"while ({done} < {extent}) {{")
    host.inside += 1
    host.put(f"const int64_t {end} = {least}({extent}, {done} + {PIECE * SHORT_STEPS});")
    unroll_if_tiny(host, loop)
    host.put(f"while ({done} < {end}) {{")
    host.put(f"const int64_t {var} = {done}++;", 2)
    emit_block(host, loop.steps, loop.var)
    host.put(f"    if ({stop}) break;")
    host.put("}")
    host.put(f"if ({stop}) break;")
    host.put(f"if ({done} >= {extent}) break;")
    host.fail(f"{stops}(call)", Status.STOPPED)
    host.inside -= 1
    host.put("}")
    learn(host, loop.done)


def emit_branch(host: HostWriter, branch: Branch) -> None:
    """One block or the other. After it signals are heeded if they are on either side."""
    host.remark(branch.note)
    host.put(f"if ({first_element(host, branch.condition)}) {{")
    heeds = host.heeds
    emit_block(host, branch.then)
    host.number -= 1
    host.put("} else {")
    heeds, host.heeds = host.heeds, heeds
    emit_block(host, branch.otherwise)
    host.heeds = heeds or host.heeds
    host.put("}")


def emit_block(host: HostWriter, steps: Sequence[Step], *known: str) -> None:
    """The steps between braces. Sizes measured there are known there only."""
    before, rows = set(host.known), set(host.rows)
    host.inside += 1
    host.number += 1
    host.known |= set(known)
    compute_sizes(host, store=False, wanted=sizes_inside(host, steps))
    declare_rows(host, steps)
    emit_steps(host, steps)
    host.inside -= 1
    host.known, host.rows = before, rows


def declare_rows(host: HostWriter, steps: Sequence[Step]) -> None:
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
            continue  # the buffer it is a row of is not known yet
        if is_known(of.offset, host.known) and buffer.name not in host.rows:
            host.rows.add(buffer.name)
            kind, name = host.kind(buffer.dtype), host.printer.buffers[buffer.name]
            role = host.buffers[whole[buffer.name]].role
            constant = "const " if role in ("input", "constant") else ""
            begin = f"{host.printer.buffers[of.buffer]} + {host.printer.text(of.offset, MUL)}"
            host.put(f"{constant}{kind} *const {name} = {begin};")
