"""Memory in the host functions: the workspace, buffers allocated while steps run, and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.blocks import every_step
from symc.codegen.ir import Const, Launch, Repeat
from symc.codegen.passes.kernels.memory import buffers_of, is_known, used_buffers
from symc.codegen.status import Status
from symc.codegen.targets.host.lengths import end_if_huge, is_given, volume
from symc.codegen.targets.host.writer import bound, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.ir import Buffer, Step
    from symc.codegen.passes.kernels.memory import LateBuffer, WorkspaceSlot
    from symc.codegen.targets.host.writer import HostWriter


def lay_out(host: HostWriter) -> None:
    """The workspace: its slots one after the other, then the scratch memory of launches."""
    steps = host.program.steps[host.plan.leading :]
    if not host.plan.slots and not any(needs_memory(host, step) for step in every_step(steps)):
        host.put("call->workspace_bytes = 0;")
        return
    first = len(host.index)
    host.put("int64_t bytes = 0;")
    for number, slot in enumerate(host.plan.slots):
        names = one_line(", ".join(tenant.name for tenant in slot.tenants))
        host.put(f"call->sizes[{first + number}] = bytes;  /* {names} */")
        host.put(f"bytes = {host.use('symc_after')}(bytes, {slot_bytes(host, slot)});")
    scratch = scratch_bytes(host, steps)
    if scratch:
        host.put(f"call->sizes[{first + len(host.plan.slots)}] = bytes;  /* scratch */")
        host.put(f"bytes = {host.use('symc_after')}(bytes, {scratch});")
    host.put("call->workspace_bytes = bytes;")


def slot_bytes(host: HostWriter, slot: WorkspaceSlot) -> str:
    """The size of a slot's largest tenant."""
    return largest(host, [array_bytes(host, tenant) for tenant in slot.tenants])


def array_bytes(host: HostWriter, buffer: Buffer) -> str:
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


def largest(host: HostWriter, texts: Sequence[str]) -> str:
    """The largest of some numbers of bytes."""
    distinct = list(dict.fromkeys(texts))
    text = distinct[0] if distinct else ""
    for other in distinct[1:]:
        text = f"{host.use('symc_larger')}({text}, {other})"
    return text


# --- memory of launches ---------------------------------------------------------------------------


def needs_memory(host: HostWriter, step: Step) -> bool:
    """Whether a step is a launch with memory of its own."""
    return isinstance(step, Launch) and bool(host.dialect.memory_sizes(step.kernel))


def is_late(host: HostWriter, launch: Launch) -> bool:
    """Whether the memory of a launch depends on lengths that the steps measure."""
    sizes = bound(host, launch, host.dialect.memory_sizes(launch.kernel))
    return not all(is_known(size, host.plan.early) for size in sizes)


def scratch_bytes(host: HostWriter, steps: Sequence[Step]) -> str:
    """The memory of the launch that needs most, among those known before the run, or ""."""
    texts = [
        host.dialect.memory_bytes(host, step, "call->threads")
        for step in every_step(steps)
        if isinstance(step, Launch) and needs_memory(host, step) and not is_late(host, step)
    ]
    return largest(host, texts)


def launch_memory(host: HostWriter, launch: Launch) -> str:
    """Where a launch's memory begins: planned, or allocated now that its size is known."""
    if not is_late(host, launch):
        place = len(host.index) + len(host.plan.slots)
        return f"call->workspace + call->sizes[{place}]"
    count = host.dialect.memory_bytes(host, launch, "threads")
    release(host, "scratch")
    allocate(host, "scratch", count)
    return "scratch"


# --- memory whose size the steps measure ----------------------------------------------------------


def allocate(host: HostWriter, name: str, count: str) -> None:
    """Memory for a number of bytes, or the end of the call."""
    host.put(f"{name} = {host.phrase(host.dialect.words.allocate, count)};")
    host.fail(f"!{name}", Status.STOPPED)


def release(host: HostWriter, name: str) -> None:
    """Free the memory that `allocate` gave."""
    host.put(host.phrase(host.dialect.words.release, name))


KEPT = 1 << 20
"""So many bytes of an array stay when a step of a loop has done with it, for the next one."""


def kept_over_steps(host: HostWriter, steps: Sequence[Step]) -> list[Buffer]:
    """The arrays that only steps of loops use, and of which these say how large they are."""
    if not host.dialect.can_stop:  # a device keeps memory by itself
        return []
    inside: set[str] = set()
    outside: set[str] = set()
    for step in steps:
        for each in every_step([step]):
            (inside if isinstance(step, Repeat) and each is not step else outside).update(
                buffers_of(each)
            )
    found = (late.buffer for late in host.plan.late)
    return [buffer for buffer in found if buffer.name in inside - outside]


def begin_late(host: HostWriter, late: LateBuffer) -> None:
    """Memory for an array, before the first step that uses it."""
    name, room = host.printer.buffers[late.buffer.name], host.rooms.get(late.buffer.name)
    if room is None or not host.inside:
        allocate(host, name, array_bytes(host, late.buffer))
        return
    bytes_ = array_bytes(host, late.buffer)
    host.put(f"if ({room} < {bytes_}) {{")
    host.inside += 1
    release(host, name)
    host.put(f"{room} = {bytes_};")
    allocate(host, name, room)
    host.inside -= 1
    host.put("}")


def end_late(host: HostWriter, late: LateBuffer) -> None:
    """The end of an array after the last step that uses it."""
    name, room = host.printer.buffers[late.buffer.name], host.rooms.get(late.buffer.name)
    if room is None or not host.inside:
        release(host, name)
        host.put(f"{name} = 0;")
        return
    host.put(f"if ({room} > {KEPT}) {{")
    host.inside += 1
    release(host, name)
    host.put(f"{name} = 0;")
    host.put(f"{room} = -1;")
    host.inside -= 1
    host.put("}")


def ask_for_outputs(host: HostWriter, outputs: list[Buffer]) -> None:
    """Ask the caller for those outputs whose lengths are known now."""
    start = 0
    for number, buffer in enumerate(host.outputs):
        if buffer in outputs and all(is_known(length, host.known) for length in buffer.shape):
            outputs.remove(buffer)
            for axis, length in enumerate(buffer.shape):
                text = host.printer.text(length)
                host.put(f"call->shapes[{start + axis}] = {text};")
            if not is_given(host, volume(buffer)):
                end_if_huge(host, array_bytes(host, buffer), Status.STOPPED)
            memory = f"call->allocate(call->context, {number})"
            if buffer.name in used_buffers(host.program, host.program.steps):
                name = host.printer.buffers[buffer.name]
                host.put(f"{name} = {memory};")
                memory = name
            host.fail(f"!{memory}", Status.STOPPED)  # one of no elements may be used by no step
        start += len(buffer.shape)
