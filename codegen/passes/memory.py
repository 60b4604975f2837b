"""Where intermediate arrays live: a plan for one workspace, from liveness over a program's steps.

Temporaries share slots: a slot is as large as its largest tenant, which is known when the lengths
are, so the plan is symbolic and `targets/host.py` prints the arithmetic. A temporary whose length
is only measured while the program runs cannot be planned and is allocated then. Local arrays of
kernels that are too large for the stack get scratch memory behind the slots, a piece per thread.

The plan also says which steps are done before the workspace exists (`Plan.leading`): checks over
sizes and measurements of inputs, as far as they come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from symc.codegen.ir import (
    Alloc,
    Buffer,
    Check,
    Const,
    Expr,
    Host,
    Kernel,
    Launch,
    Load,
    Loop,
    Measure,
    Pointer,
    Program,
    Region,
    Routine,
    Step,
    Var,
    binary,
    const,
    mul,
)
from symc.codegen.record import record
from symc.codegen.reductions import nodes, statements

if TYPE_CHECKING:
    from collections.abc import Mapping

ON_STACK = 1024  # bytes of a local array that may stand on the stack
LINE = 64  # bytes: everything starts on a cache line of its own


@record
class Slot:
    """A piece of the workspace, and the temporaries that live in it one after another."""

    tenants: tuple[Buffer, ...]


@record
class Late:
    """A temporary that is allocated before step `first` and freed after step `last`."""

    buffer: Buffer
    first: int
    last: int


@record
class Scratch:
    """The local arrays of a kernel that need memory: where each begins, and bytes in all."""

    offsets: Mapping[str, Expr]
    bytes: Expr
    parallel: bool


@record
class Plan:
    """Where everything lives that is neither given by the caller nor on the stack."""

    leading: int  # how many of the steps are done by prepare
    early: frozenset[str]  # the sizes known after those
    slots: tuple[Slot, ...]
    late: tuple[Late, ...]
    scratch: Mapping[str, Scratch]  # by kernel

    def slot_of(self, buffer: str) -> int | None:
        """The slot a temporary lives in, None for a late one."""
        for number, slot in enumerate(self.slots):
            if any(tenant.name == buffer for tenant in slot.tenants):
                return number
        return None


def plan(program: Program) -> Plan:
    """Plan the memory of a program."""
    leading, early = prepared(program)
    lives = live_ranges(program)
    temps = [b for b in program.buffers if b.role == "temp" and b.name in lives]
    temps.sort(key=lambda b: lives[b.name])
    slots: list[list[Buffer]] = []
    late: list[Late] = []
    for buffer in temps:
        first, last = lives[buffer.name]
        if not all(is_known(length, early) for length in buffer.shape):
            late.append(Late(buffer, first, last))
            continue
        free = [slot for slot in slots if lives[slot[-1].name][1] < first]
        if free:
            best_slot(free, buffer).append(buffer)
        else:
            slots.append([buffer])
    needs = {kernel.name: scratch_of(kernel) for kernel in program.kernels}
    return Plan(
        leading,
        early,
        tuple(Slot(tuple(slot)) for slot in slots),
        tuple(late),
        {name: need for name, need in needs.items() if need is not None},
    )


def best_slot(free: list[list[Buffer]], buffer: Buffer) -> list[Buffer]:
    """The free slot that grows least: of the same size, else the closest constant, else last."""

    def distance(slot: list[Buffer]) -> tuple[int, int]:
        if any(bytes_of(tenant) == bytes_of(buffer) for tenant in slot):
            return (0, 0)
        ours = bytes_of(buffer)
        theirs = [bytes_of(tenant) for tenant in slot]
        if isinstance(ours, Const) and all(isinstance(size, Const) for size in theirs):
            largest = max(int(size.value) for size in theirs if isinstance(size, Const))
            return (1, abs(largest - int(ours.value)))
        return (2, 0)

    return min(reversed(free), key=distance)


def bytes_of(buffer: Buffer) -> Expr:
    """The size of a buffer, to compare: host code computes it with care for overflow."""
    count: Expr = const(buffer.dtype.bytes)
    for length in buffer.shape:
        count = mul(count, length)
    return count


def prepared(program: Program) -> tuple[int, frozenset[str]]:
    """How many leading steps need nothing but the caller's arrays, and the sizes then known."""
    given = {b.name for b in program.buffers if b.role in ("input", "shared", "constant")}
    known = known_sizes(program, frozenset())
    for number, step in enumerate(program.steps):
        match step:
            case Check(condition) if is_known(condition, known, given):
                pass
            case Measure(size, buffer) if buffer in given:
                known = known_sizes(program, known | {size})
            case _:
                return number, known
    return len(program.steps), known


def known_sizes(program: Program, known: frozenset[str]) -> frozenset[str]:
    """The sizes that follow from those known."""
    found = set(known)
    for size in program.sizes:
        if size.value is not None and is_known(size.value, found):
            found.add(size.var.name)
    return frozenset(found)


def is_known(
    expr: Expr, sizes: set[str] | frozenset[str], buffers: set[str] | frozenset[str] = frozenset()
) -> bool:
    """Whether an expression only uses these sizes, lengths, and elements of these buffers."""
    for node in nodes(expr):
        match node:
            case Var(name) if name not in sizes:
                return False
            case Load(buffer) if buffer not in buffers:
                return False
            case _:
                pass
    return True


def live_ranges(program: Program) -> dict[str, tuple[int, int]]:
    """The first and the last step that uses each buffer."""
    lives: dict[str, tuple[int, int]] = {}
    for number, step in enumerate(program.steps):
        for name in buffers_of(step):
            first, _ = lives.get(name, (number, number))
            lives[name] = (first, number)
    return lives


def buffers_of(step: Step) -> list[str]:
    """The buffers a step uses."""
    match step:
        case Launch(_, buffers, sizes):
            return [*buffers, *(size.buffer for size in sizes if isinstance(size, Load))]
        case Routine(_, args):
            return [arg.buffer for arg in args if isinstance(arg, Pointer | Load)]
        case Host(_, _, args):
            return [arg.pointer.buffer for arg in args if isinstance(arg, Region)]
        case Check(condition):
            return [node.buffer for node in nodes(condition) if isinstance(node, Load)]
        case Measure(_, buffer):
            return [buffer]
        case _:
            assert_never(step)


def scratch_of(kernel: Kernel) -> Scratch | None:
    """The scratch memory that one thread needs to run a kernel, in the kernel's sizes."""
    offsets: dict[str, Expr] = {}
    total: Expr = const(0)
    parallel = False
    for stmt in statements(kernel.body):
        match stmt:
            case Alloc(buffer) if not is_on_stack(buffer):
                offsets[buffer.name] = total
                size = aligned(bytes_of(buffer))
                zero = isinstance(total, Const) and total.value == 0
                total = size if zero else binary("add", total, size)
            case Loop():
                parallel = parallel or stmt.kind == "parallel"
            case _:
                pass
    return Scratch(offsets, total, parallel) if offsets else None


def is_on_stack(buffer: Buffer) -> bool:
    """Whether a local buffer is a variable or a small array of constant length."""
    size = bytes_of(buffer)
    return isinstance(size, Const) and size.value <= ON_STACK


def aligned(count: Expr) -> Expr:
    """A number of bytes rounded up to a whole number of cache lines."""
    if isinstance(count, Const):
        return const((int(count.value) + LINE - 1) // LINE * LINE)
    return binary("band", binary("add", count, const(LINE - 1)), const(-LINE))
