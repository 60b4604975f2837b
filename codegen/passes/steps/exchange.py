"""exchange: rows that are set from each other are set by one loop, without arrays beside them.

A row that is overwritten while the other one needs it is computed beside it first, and so is the
other: a loop for each, and one that copies each to its place. But an element needs no others than
those beside it, so that one loop reads the elements of all rows, and then writes them:

    for j in n: p[j] = c*x[k*n + j] - s*x[(k + 1)*n + j]    for j in n:
    for j in n: q[j] = s*x[k*n + j] + c*x[(k + 1)*n + j]      let new = c*x[k*n + j] - s*x[...]
    for j in n: x[k*n + j] = p[j]                             x[(k + 1)*n + j] = s*x[k*n + j] + ...
    for j in n: x[(k + 1)*n + j] = q[j]                       x[k*n + j] = new

Iterations must not meet: two accesses at ``f*j + a`` and ``f*j + b``, of which one writes, are at
the same element in no two iterations. That is so

- along rows of n elements, if a and b are whole rows apart: whichever these are, they are the same
  one or have no element in common;
- along columns of the whole array, as all that is read and written lies in it;
- else if a and b are less than f apart, or as much as all iterations take; then the program asks.

Rows that are the same are written in the same order in each iteration as they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from symc.codegen.blocks import every_step, map_blocks
from symc.codegen.ir import (
    Accumulate,
    Branch,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Program,
    Repeat,
    Step,
    Stmt,
    Store,
)
from symc.codegen.passes.expressions.conditions import both
from symc.codegen.passes.kernels.in_program import InProgram
from symc.codegen.passes.kernels.join import MOST, Joined, length_of
from symc.codegen.passes.kernels.memory import buffers_of
from symc.codegen.passes.loops.forward import forward
from symc.codegen.passes.steps.in_kernel import are_apart, sizes_change, without_unread
from symc.codegen.passes.steps.meeting import Meetings, RowAccess
from symc.codegen.passes.walk import (
    Block,
    fresh,
    index_names,
    loads_of,
    map_block,
    names_in,
    nodes,
    own_names,
    statements,
    substitute,
    written,
)
from symc.codegen.record import replace
from symc.codegen.verify.polynomials import by, polynomial


def exchange(program: Program) -> Program:
    """The program with such rows set by one loop, in the steps of loops."""
    walk = _Exchange(program)
    steps = tuple(map(walk.outside, program.steps))
    if not walk.made:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    kept = tuple([kernel for kernel in walk.kernels.values() if kernel.name in used])
    return replace(program, kernels=kept, steps=steps)


class _Exchange:
    """The walk over the steps of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.taken = set(self.kernels)
        self.made: dict[tuple[Launch, ...], Launch] = {}
        parts = {buffer.of.buffer for buffer in program.buffers if buffer.of is not None}
        self.uses = Counter(name for s in every_step(program.steps) for name in set(buffers_of(s)))
        self.temporary = {b.name for b in program.buffers if b.role == "temp"} - parts

    def outside(self, step: Step) -> Step:
        """A step outside of all loops."""
        match step:
            case Repeat():
                return replace(step, steps=map_blocks(step.steps, self.block))
            case Branch(_, then, otherwise):
                sides = [tuple(map(self.outside, side)) for side in (then, otherwise)]
                return replace(step, then=sides[0], otherwise=sides[1])
            case _:
                return step

    def block(self, block: Sequence[Step]) -> list[Step]:
        """The steps of a block, with one launch for those that set rows from each other."""
        steps: list[Step] = []
        for extent, group in groupby(block, self.extent):
            run = list(group)
            launches = [step for step in run if isinstance(step, Launch)]
            steps += run if extent is None else self.run(launches)
        return steps

    def extent(self, step: Step) -> Expr | None:
        """The extent of a launch that does nothing but one loop, in sizes of the program."""
        if not isinstance(step, Launch):
            return None
        kernel = self.kernels[step.kernel]
        loops = [stmt for stmt in kernel.body if not isinstance(stmt, Let)]
        if len(loops) != 1 or not isinstance(loop := loops[0], Loop):
            return None
        if loop.kind != "parallel" or loop.cut is not None:
            return None
        if not all(isinstance(stmt, Let | Store | Accumulate) for stmt in loop.body):
            return None
        extent = InProgram(step, kernel).of(loop.extent)
        return None if any(isinstance(node, Load) for node in nodes(extent)) else extent

    def run(self, launches: Sequence[Launch]) -> list[Step]:
        """Launches of loops over one range, those together that hand on arrays of their own."""
        steps: list[Step] = []
        place = 0
        for first, last in self.handed_on(launches):
            some = launches[first : last + 1]
            united = self.united(some)
            if united is not None:
                steps += [*launches[place:first], united]
                place = last + 1
        return [*steps, *launches[place:]]

    def handed_on(self, launches: Sequence[Launch]) -> list[tuple[int, int]]:
        """The first and the last launch that use a temporary which no other step uses."""
        places: dict[str, list[int]] = {}
        for number, launch in enumerate(launches):
            for name in self.temporary & set(launch.buffers):
                places.setdefault(name, []).append(number)
        found: list[tuple[int, int]] = []
        for first, last in sorted(
            (numbers[0], numbers[-1])
            for name, numbers in places.items()
            if len(numbers) == self.uses[name] and len(numbers) > 1
        ):
            if found and first <= found[-1][1]:
                found[-1] = found[-1][0], max(last, found[-1][1])
            else:
                found.append((first, last))
        return found

    def united(self, launches: Sequence[Launch]) -> Launch | None:
        """One launch for several, if their iterations do not meet; adds its kernel."""
        if sum(length_of(self.kernels[launch.kernel]) for launch in launches) > MOST:
            return None
        known = self.made.get(tuple(launches))
        if known is not None:
            return known
        made = Joined(launches, self.kernels)
        if sizes_change(made) or not are_apart(self.program, made):
            return None
        own = [
            b for b in made.buffers if b in self.temporary and self.uses[b] == _times(b, launches)
        ]
        body = _SetRows(made).body(self.program, set(own))
        if body is None:
            return None
        used = written(body) | {load.buffer for s in statements(body) for load in loads_of(s)}
        made.buffers = {b: param for b, param in made.buffers.items() if param.name in used}
        made.body = list(body)
        name = fresh(launches[-1].kernel, self.taken)
        self.kernels[name] = made.kernel(name)
        united = Launch(name, tuple(made.buffers), tuple(made.values))
        self.made[tuple(launches)] = united
        return united


def _times(buffer: str, launches: Sequence[Launch]) -> int:
    return sum(buffer in launch.buffers for launch in launches)


class _SetRows:
    """Loops over one range as statements of one kernel."""

    def __init__(self, made: Joined) -> None:
        self.made = made
        self.lets = tuple([stmt for stmt in made.body if isinstance(stmt, Let)])
        self.loops = [stmt for stmt in made.body if isinstance(stmt, Loop)]
        self.changed = written(tuple(made.body))
        self.names = index_names(self.lets)

    def body(self, program: Program, own: set[str]) -> Block | None:
        """The statements with all in one loop, that needs none of its `own` buffers; or None."""
        if any(load.buffer in self.changed for let in self.lets for load in loads_of(let)):
            return None
        accesses = self.accesses()
        if accesses is None:
            return None
        sizes = {var.name: value for value, var in self.made.values.items()}
        of = {buffer.name: buffer for buffer in program.buffers}
        buffers = {param.name: of[name] for name, param in self.made.buffers.items()}
        extent = substitute(self.loops[0].extent, self.names)
        conditions = Meetings(program, sizes, buffers, extent).conditions(accesses)
        if conditions is None:
            return None
        loop = self.one_loop(own)
        names = {param.name for buffer, param in self.made.buffers.items() if buffer in own}
        if not names.isdisjoint(written((loop,))):
            return None
        if not conditions:
            return (*self.lets, loop)
        as_they_were = own_names(tuple(self.loops), self.made.taken)
        return (*self.lets, If(both(conditions), (loop,), as_they_were))

    def one_loop(self, own: set[str]) -> Loop:
        """All iterations in one loop: what they hand on to each other has names."""
        first = self.loops[0]
        body: list[Stmt] = []
        for loop in self.loops:
            names: dict[str, Expr] = {loop.var.name: first.var}
            body += map_block(loop.body, partial(substitute, values=names))
        notes = "\n".join(dict.fromkeys(loop.note for loop in self.loops if loop.note))
        loop = Loop(first.var, first.extent, "parallel", tuple(body), notes)
        params, sizes = tuple(self.made.buffers.values()), tuple(self.made.values.values())
        kernel = Kernel("", params, sizes, (*self.lets, loop))
        *_, made = without_unread(self.made, forward(kernel, kernel.body), own)
        assert isinstance(made, Loop)
        return made

    def accesses(self) -> list[RowAccess] | None:
        """The elements that an iteration touches, of the buffers that are written."""
        var = self.loops[0].var
        found: dict[tuple[str, Expr, bool], RowAccess] = {}
        for loop in self.loops:
            names = {loop.var.name: var, **self.names}
            for name, value in index_names(loop.body).items():
                names[name] = substitute(value, names)
            unknown = {s.var.name for s in loop.body if isinstance(s, Let)} - names.keys()
            for buffer, index, writes in _touched(loop.body):
                place = substitute(index, names)
                if buffer not in self.changed or (buffer, place, writes) in found:
                    continue
                split = by(polynomial(place), var)
                loads = [node for node in nodes(place) if isinstance(node, Load)]
                if split is None or any(load.buffer in self.changed for load in loads):
                    return None
                if not unknown.isdisjoint(names_in(place)):
                    return None
                found[buffer, place, writes] = RowAccess(buffer, *split, writes)
        return list(found.values())


def _touched(block: Block) -> Iterator[tuple[str, Expr, bool]]:
    """The buffers, indexes and whether they are written, of all accesses of statements."""
    for stmt in block:
        for load in loads_of(stmt):
            yield load.buffer, load.index, False
        if isinstance(stmt, Store | Accumulate):
            yield stmt.buffer, stmt.index, True
