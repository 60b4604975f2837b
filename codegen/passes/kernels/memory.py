"""Where intermediate arrays live: a plan for one workspace, from liveness over a program's steps.

Temporaries share slots: a slot is as large as its largest tenant, which is known when the lengths
are, so the plan is symbolic and `targets/host/memory.py` prints the arithmetic. A temporary whose
length is only measured while the program runs cannot be planned and is allocated then. Local arrays
of kernels that are too large for the stack get scratch memory after the slots, a piece per thread.

The plan also says which steps run before the workspace exists (`WorkspacePlan.leading`): checks of
sizes and measurements of inputs, as far as they come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never

from symc.codegen.blocks import every_step, written
from symc.codegen.cost.amounts import number_of
from symc.codegen.ir import (
    Alloc,
    Branch,
    Buffer,
    Check,
    Const,
    Expr,
    Kernel,
    Launch,
    Load,
    Loop,
    Measure,
    Pointer,
    Program,
    PythonCall,
    Region,
    Repeat,
    Routine,
    Step,
    Var,
    binary,
    const,
    mul,
)
from symc.codegen.passes.kernels.following import following, varying_sizes
from symc.codegen.passes.walk import names_in, nodes, statements
from symc.codegen.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

ON_STACK = 1024  # bytes of a local array that may stand on the stack
LINE = 64  # bytes: everything starts on a cache line of its own
TYPICAL = 64  # what a length that is not known is taken to be where sizes are compared


@record
class WorkspaceSlot:
    """A piece of the workspace, and the temporaries that live in it one after another."""

    tenants: tuple[Buffer, ...]


@record
class LateBuffer:
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
class WorkspacePlan:
    """Where everything lives that is neither given by the caller nor on the stack."""

    leading: int  # how many of the steps are done by prepare
    early: frozenset[str]  # the sizes known after those
    slots: tuple[WorkspaceSlot, ...]
    late: tuple[LateBuffer, ...]
    scratch: Mapping[str, Scratch]  # by kernel

    def slot_numbers(self) -> dict[str, int]:
        """The slot of each temporary that lives in one; late ones do not."""
        pairs = ((b.name, number) for number, slot in enumerate(self.slots) for b in slot.tenants)
        return dict(pairs)


def plan_workspace(program: Program) -> WorkspacePlan:
    """Plan the workspace of a program, and its scratch memory."""
    leading, early = prepared(program)
    lives = live_ranges(program)
    temps = [b for b in program.buffers if b.role == "temp" and b.name in lives]
    temps.sort(key=lambda b: lives[b.name])
    sizes = {b.name: bytes_of(b) for b in temps}
    slots: list[list[Buffer]] = []
    late: list[LateBuffer] = []
    for buffer in temps:
        first, last = lives[buffer.name]
        if not all(is_known(length, early) for length in buffer.shape):
            late.append(LateBuffer(buffer, first, last))
            continue
        free = [slot for slot in slots if lives[slot[-1].name][1] < first]
        if free:
            best_slot(free, buffer, sizes).append(buffer)
        else:
            slots.append([buffer])
    needs = {kernel.name: scratch_of(kernel) for kernel in program.kernels}
    return WorkspacePlan(
        leading,
        early,
        tuple(WorkspaceSlot(tuple(slot)) for slot in slots),
        tuple(late),
        {name: need for name, need in needs.items() if need is not None},
    )


def best_slot(free: list[list[Buffer]], buffer: Buffer, sizes: Mapping[str, Expr]) -> list[Buffer]:
    """The free slot of the same size, else the one that grows least, else that fits best.

    Which of two sizes is larger is seen by lengths of `TYPICAL` where they are not known. `sizes`
    has the bytes of all buffers.
    """
    ours = sizes[buffer.name]
    for slot in reversed(free):
        if any(sizes[tenant.name] == ours for tenant in slot):
            return slot

    def distance(slot: list[Buffer]) -> tuple[int, int]:
        more = _typical(ours) - max(_typical(sizes[tenant.name]) for tenant in slot)
        return (max(0, more), max(0, -more))

    return min(reversed(free), key=distance)


def _typical(size: Expr) -> int:
    """A number of bytes for lengths of `TYPICAL`."""
    return number_of(size, dict.fromkeys(names_in(size), TYPICAL)) or 0


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


Life: TypeAlias = tuple[tuple[int, int], ...]
"""When a buffer is used: the step in the program, in that the step inside it, and so on.

In a branch its side comes between the two.
"""


def live_ranges(program: Program) -> dict[str, tuple[int, int]]:
    """The first and the last step that uses each buffer, by their numbers (`numbered`).

    A buffer used inside a loop and outside, too, lives throughout the loop, and so does that of
    which rounds use different rows; any other that is used inside only is written anew by each of
    its rounds. So is one whose lengths differ between rounds: which of its rows a number of a step
    finds is no question of which round that is, and no round could make room for all of them.
    What only a branch without another side writes, and others read, lives throughout the outermost
    loop around that branch that its condition outlives: another round may have written it.
    """
    whole = wholes(program)
    steps = numbered(program.steps)
    loops: dict[str, Life] = {}  # of the same variable, in both sides of a branch, as one
    for life, step in steps:
        if isinstance(step, Repeat):
            loops[step.var] = united(loops.get(step.var, life[:-1]), life[:-1])
    shapes = {buffer.name: buffer.shape for buffer in program.buffers}
    moving = {
        buffer.name: [
            var
            for var in names_in(buffer.of.offset) & loops.keys()
            if not _vary(shapes[whole[buffer.name]], following(program, [var]))
        ]
        for buffer in program.buffers
        if buffer.of is not None
    }
    lives: dict[str, Life] = {}
    for life, step in steps:
        for name in buffers_of(step):
            used = life
            for var in moving.get(name, ()):
                used = united(used, loops[var])
            name = whole.get(name, name)
            lives[name] = united(lives.get(name, used), used)
    _with_conditions(program, steps, lives)
    return {name: life[-1] for name, life in lives.items()}


def _with_conditions(
    program: Program, steps: Sequence[tuple[Life, Step]], lives: dict[str, Life]
) -> None:
    """Lets what one-sided branches write for others live throughout loops that decide only once."""
    whole = wholes(program)
    kernels = {kernel.name: kernel for kernel in program.kernels}
    shapes = {buffer.name: buffer.shape for buffer in program.buffers}
    loops = {life[:-1]: step for life, step in steps if isinstance(step, Repeat)}
    for life, branch in steps:
        if not isinstance(branch, Branch) or (branch.then and branch.otherwise):
            continue
        condition = lives[whole.get(branch.condition, branch.condition)]
        around = [life[:depth] for depth in range(1, len(life)) if life[:depth] in loops]
        loop = next((one for one in around if condition[: len(one)] != one), None)
        if loop is None:
            continue  # each round decides anew
        varying = varying_sizes(program, loops[loop])
        for step in every_step((*branch.then, *branch.otherwise)):
            if not isinstance(step, Launch | Routine | PythonCall):
                continue
            kernel = kernels[step.kernel] if isinstance(step, Launch) else None
            for name in {whole.get(name, name) for name in written(step, kernel)}:
                is_shared = lives[name][: len(life) - 1] != life[:-1]
                if is_shared and not _vary(shapes[name], varying):
                    lives[name] = united(lives[name], loop)


def _vary(lengths: Iterable[Expr], sizes: AbstractSet[str]) -> bool:
    """Whether a length is computed from one of these sizes."""
    return any(sizes & names_in(length) for length in lengths)


def united(first: Life, second: Life) -> Life:
    """The span of two lives, in the innermost block that has both."""
    for depth, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return (*first[:depth], (min(one[0], other[0]), max(one[1], other[1])))
    return min(first, second, key=len)


def numbered(steps: Iterable[Step]) -> list[tuple[Life, Step]]:
    """All steps with their places. A step that has others inside counts as two, begin and end.

    The condition of a branch is read at its begin, that of a loop at its end.
    """
    found: list[tuple[Life, Step]] = []
    _number(steps, (), 0, found)
    return found


def _number(steps: Iterable[Step], outer: Life, number: int, found: list[tuple[Life, Step]]) -> int:
    for step in steps:
        size = length_of(step)
        life = (*outer, (number, number + size - 1))
        if isinstance(step, Repeat):
            last = number + size - 1
            found.append(((*life, (last, last)), step))
            _number(step.steps, life, number + 1, found)
        elif isinstance(step, Branch):
            found.append(((*life, (number, number)), step))
            # Sides are blocks of their own: what both use, and nothing else, needs its memory
            # before the branch, not before the first step of one side.
            middle = number + sum(map(length_of, step.then))
            _number(step.then, (*life, (number, middle)), number + 1, found)
            _number(step.otherwise, (*life, (middle + 1, number + size - 1)), middle + 1, found)
        else:
            found.append((life, step))
        number += size
    return number


def length_of(step: Step) -> int:
    """How many numbers a step takes."""
    match step:
        case Repeat(steps=steps):
            return 2 + sum(map(length_of, steps))
        case Branch(_, then, otherwise):
            return 2 + sum(map(length_of, (*then, *otherwise)))
        case _:
            return 1


def wholes(program: Program) -> dict[str, str]:
    """The buffer that each row is a part of."""
    whole: dict[str, str] = {}
    for buffer in program.buffers:
        if buffer.of is not None:
            whole[buffer.name] = whole.get(buffer.of.buffer, buffer.of.buffer)
    return whole


def used_buffers(program: Program, steps: Iterable[Step]) -> list[str]:
    """The buffers that some steps use, rows not among them; one for each time."""
    whole = wholes(program)
    return [whole.get(name, name) for step in every_step(steps) for name in buffers_of(step)]


def buffers_of(step: Step) -> list[str]:
    """The buffers that a step itself uses."""
    match step:
        case Launch(_, buffers, sizes):
            return [*buffers, *(size.buffer for size in sizes if isinstance(size, Load))]
        case Routine(_, args):
            return [arg.buffer for arg in args if isinstance(arg, Pointer | Load)]
        case PythonCall(_, _, args):
            return [arg.pointer.buffer for arg in args if isinstance(arg, Region)]
        case Check(condition):
            return [node.buffer for node in nodes(condition) if isinstance(node, Load)]
        case Measure(_, buffer):
            return [buffer]
        case Repeat(stop=stop):
            return [] if stop is None else [stop]
        case Branch(condition):
            return [condition]
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
