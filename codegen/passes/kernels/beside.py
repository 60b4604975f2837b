"""beside: launches that go over the same chunks of the same arrays become one.

A sum of everything is a loop over chunks, and a tail that adds their results up. Sums, extremes and
the like of one array would each read all of it from memory. So their loops over chunks become one
loop, before all tails: a chunk is still in the cache when the second fold wants it.

    sum_kernel(x, partial, out); max_kernel(x, partial_2, out_2)

    for chunk in parallel(chunks): [the sum of the chunk of x]; [its greatest element]
    [the tail of the sum]; [the tail of the maximum]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.blocks import every_step, map_blocks
from symc.codegen.ir import Alloc, Expr, Kernel, Launch, Let, Loop, Program, Step, Stmt, Store, Var
from symc.codegen.passes.kernels.join import Joined, buffers_of, may_swap, seen
from symc.codegen.passes.walk import Block, fresh, loads_of, map_block, statements, substitute
from symc.codegen.record import replace

MOST = 16  # accumulators in one kernel: compilers do not like long ones


def beside(program: Program) -> Program:
    """The program with neighbouring folds of the same arrays in one kernel."""
    kernels = {kernel.name: kernel for kernel in program.kernels}
    if sum(_head(kernel) is not None for kernel in program.kernels) < 2:
        return program
    taken, own = set(kernels), set[str]()
    rows = {b.name: b.of.buffer for b in program.buffers if b.of is not None}  # parts of others

    def change(block: Sequence[Step]) -> list[Step]:
        steps: list[Step] = []
        for step in block:
            found = _partner(steps, step, kernels, rows) if isinstance(step, Launch) else None
            if found is None:
                steps.append(step)
            else:
                place, first, second = found
                steps[place] = _united(first, second, kernels, taken, own)
        return steps

    steps = map_blocks(program.steps, change)
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    kept = tuple(kernel for kernel in kernels.values() if kernel.name in used)
    return replace(program, kernels=kept, steps=steps)


def _head(kernel: Kernel) -> Loop | None:
    """The loop over chunks with which a fold begins: its tail has no such loop."""
    match kernel.body:
        case (Loop(kind="parallel") as head, *tail) if tail and _accumulators(kernel):
            loops = [stmt for stmt in statements(tuple(tail)) if isinstance(stmt, Loop)]
            return None if any(loop.kind == "parallel" for loop in loops) else head
        case _:
            return None


def _accumulators(kernel: Kernel) -> int:
    """How many scalars the first loop of a kernel has for itself."""
    inside = statements(kernel.body[:1])
    return sum(isinstance(stmt, Alloc) and not stmt.buffer.shape for stmt in inside)


def _partner(
    steps: Sequence[Step], step: Launch, kernels: Mapping[str, Kernel], rows: Mapping[str, str]
) -> tuple[int, Launch, Launch] | None:
    """Where a launch stands that this one can join, and both: the steps between may come after."""
    if _head(kernels[step.kernel]) is None:
        return None
    for place in reversed(range(len(steps))):
        before = steps[place]
        if not isinstance(before, Launch) or not may_swap(before, step, kernels):
            return None
        if _meet(before, step, kernels, rows) or _meet(step, before, kernels, rows):
            return None
        if _fit(before, step, kernels):
            return place, before, step
    return None


def _meet(
    first: Launch, second: Launch, kernels: Mapping[str, Kernel], rows: Mapping[str, str]
) -> bool:
    """Whether one launch may write what the other touches, where one has a part of an array."""
    if rows.keys().isdisjoint((*first.buffers, *second.buffers)):
        return False
    writes = {_whole(buffer, rows) for buffer in buffers_of(first, kernels, written=True)}
    return not writes.isdisjoint(_whole(buffer, rows) for buffer in second.buffers)


def _whole(buffer: str, rows: Mapping[str, str]) -> str:
    while buffer in rows:
        buffer = rows[buffer]
    return buffer


def _fit(first: Launch, second: Launch, kernels: Mapping[str, Kernel]) -> bool:
    """Whether two launches go over the same chunks of some same array."""
    one, other = kernels[first.kernel], kernels[second.kernel]
    heads = _head(one), _head(other)
    if heads[0] is None or heads[1] is None:
        return False
    if _accumulators(one) + _accumulators(other) > MOST:
        return False
    if seen(heads[0].extent, one, first) != seen(heads[1].extent, other, second):
        return False
    reads, others = (buffers_of(launch, kernels, written=False) for launch in (first, second))
    return not reads.isdisjoint(others)


def _united(
    first: Launch, second: Launch, kernels: dict[str, Kernel], taken: set[str], own: set[str]
) -> Launch:  # fmt: skip
    """One launch for both; adds its kernel."""
    made = Joined([first, second], kernels)
    split = len(kernels[first.kernel].body)
    parts = made.body
    one, other = parts[0], parts[split]
    assert isinstance(one, Loop)
    assert isinstance(other, Loop)
    body = _together(one, other)
    head = Loop(one.var, one.extent, "parallel", body, _notes(one, other), one.cut)
    again = first.kernel in own  # nobody else launches a kernel that was made here
    name = first.kernel if again else fresh("folds_kernel", taken)
    own.add(name)
    made.body = [head, *parts[1:split], *parts[split + 1 :]]
    kernels[name] = made.kernel(name)
    return Launch(name, tuple(made.buffers), tuple(made.values))


def _together(one: Loop, other: Loop) -> Block:
    """The bodies of two loops, values that both name named once: extents inside are then equal.

    Results of the first are stored last, so that the loops inside are neighbours.
    """
    known = {stmt.value: stmt.var for stmt in one.body if isinstance(stmt, Let)}
    names: dict[str, Expr] = {other.var.name: one.var}
    out: list[Stmt] = list(one.body)
    stored: list[Stmt] = []
    while isinstance(out[-1], Store):
        stored.insert(0, out.pop())
    for stmt in other.body:
        (moved,) = map_block((stmt,), lambda expr: substitute(expr, names))
        same: Var | None = None
        if isinstance(moved, Let) and not loads_of(moved):
            same = known.get(moved.value)
        if same is not None and isinstance(moved, Let):
            names[moved.var.name] = same
        else:
            out.append(moved)
    return (*out, *stored)


def _notes(one: Loop, other: Loop) -> str:
    return "\n".join(dict.fromkeys(filter(None, (one.note, other.note))))
