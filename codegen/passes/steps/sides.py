"""sides: a loop of one step or none whose condition a branch has, too, becomes a part of that.

A branch that writes a part of an array is a loop that has a step if its condition holds. Results of
the same `ifelse` that are numbers are in a branch beside it:

    lt[0] = c; many[0] = c ? 1 : 0            lt[0] = c; many[0] = c ? 1 : 0
    if lt[0]: next[0] = tail[0] + 1           measure count = many[0]
    measure count = many[0]                   if lt[0]:
    repeat step in min(count, 1):                 next[0] = tail[0] + 1
        check tail[0] < n                         check tail[0] < n
        queue[tail[0]] = v                        queue[tail[0]] = v

So the condition is decided once, and compilers see what both parts check.

Checks of an integer that a step measures as a size are made to be about the integer, as checks of
other indexes are, which `foresee.py` asks before a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.blocks import all_sizes_needed, every_step, map_blocks, sizes_needed, written
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Binary,
    Branch,
    Buffer,
    Check,
    Const,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Measure,
    Param,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Select,
    Step,
    Stmt,
    Store,
    Var,
    const,
)
from symc.codegen.passes.kernels.memory import wholes
from symc.codegen.passes.walk import bound, fresh, names_in, substitute
from symc.codegen.record import record, replace

_ZERO = const(0)


def sides(program: Program) -> Program:
    """The program with such loops in branches."""
    if not any(isinstance(step, Repeat) for step in every_step(program.steps)):
        return program
    walk = _Branches(program)
    steps = map_blocks(program.steps, walk.block)
    if steps == program.steps:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    return _without_unread(
        replace(
            program,
            buffers=(*program.buffers, *walk.flags),
            kernels=tuple(kernel for kernel in walk.kernels.values() if kernel.name in used),
            steps=steps,
        )
    )


def _without_unread(program: Program) -> Program:
    """The program without measuring sizes from which nothing follows."""
    steps = list(every_step(program.steps))
    if any(isinstance(step, PythonCall) for step in steps):
        return program
    values = {size.var.name: size.value for size in program.sizes}
    pending = [name for expr in all_sizes_needed(program) for name in names_in(expr)]
    read: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in read:
            read.add(name)
            value = values.get(name)
            pending += [] if value is None else names_in(value)
    gone = {step.size for step in steps if isinstance(step, Measure)} - read
    for size in program.sizes:
        if size.value is not None and gone & names_in(size.value):
            gone.add(size.var.name)

    def left(block: Sequence[Step]) -> list[Step]:
        return [s for s in block if not (isinstance(s, Measure) and s.size in gone)]

    sizes = tuple(size for size in program.sizes if size.var.name not in gone)
    return replace(program, sizes=sizes, steps=map_blocks(program.steps, left))


@record
class _Decided:
    """The flag that says whether an integer is 1, or whether it is 0."""

    flag: str
    holds: bool


class _Branches:
    """The walk over the steps of one program."""

    def __init__(self, program: Program) -> None:
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.whole = wholes(program)
        self.flags: list[Buffer] = []
        self.taken = {b.name for b in program.buffers} | {s.var.name for s in program.sizes}
        self.bools = {b.name for b in program.buffers if b.dtype is BOOL and not b.shape}
        self.integers = {
            b.name for b in program.buffers if b.dtype is INT64 and not b.shape and b.role == "temp"
        }
        self.names = set(self.kernels)
        self.values = {s.var.name: s.value for s in program.sizes if s.value is not None}
        lengths = [length for buffer in program.buffers for length in buffer.shape]
        offsets = [buffer.of.offset for buffer in program.buffers if buffer.of is not None]
        self.needed = frozenset[str]().union(
            *map(names_in, [*self.values.values(), *lengths, *offsets])
        )

    def block(self, steps: Sequence[Step]) -> list[Step]:
        """The steps of a block, its loops of one step or none in branches before them."""
        found: list[Step] = []
        decided: dict[str, _Decided] = {}  # by a buffer, or a size that is measured there
        measured: dict[str, Load] = {}
        for place, given in enumerate(steps):
            step = given
            if isinstance(step, Check):
                step = replace(step, condition=substitute(step.condition, measured))
            if isinstance(step, Launch):
                step = self.deciding(step, steps[place + 1 :])
            branch = self.as_branch(step, decided) if isinstance(step, Repeat) else None
            if branch is not None:
                if self.join(branch, found):
                    continue
                step = branch
            found.append(step)
            changed = self.changed(step)
            decided = {
                name: each
                for name, each in decided.items()
                if name not in changed and each.flag not in changed
            }
            measured = {
                size: load
                for size, load in measured.items()
                if size not in changed and load.buffer not in changed
            }
            if isinstance(step, Measure):
                if step.buffer in decided:
                    decided[step.size] = decided[step.buffer]
                if step.buffer in self.integers:
                    measured[step.size] = Load(step.buffer, _ZERO, INT64)
            if isinstance(step, Launch):
                decided.update(self.decided(step))
        return found

    def deciding(self, launch: Launch, after: Sequence[Step]) -> Launch:
        """The launch with flags for integers, 1 or 0, that are lengths of loops behind it."""
        kernel = self.kernels[launch.kernel]
        buffers = dict(zip((p.name for p in kernel.params), launch.buffers, strict=True))
        lengths = {
            step.buffer
            for step in after
            if isinstance(step, Measure) and self.is_branch(step.size, after)
        }
        known = self.decided(launch).keys()
        body: list[Stmt] = []
        made: dict[str, str] = {}
        names = bound(kernel)
        for stmt in kernel.body:
            match stmt:
                case Store(buffer, index, Select(condition, Const(1), Const(0)) as value) if (
                    index == _ZERO and buffers.get(buffer) in lengths - known
                ):
                    var = Var(fresh("chosen", names), BOOL)
                    param = fresh("is_chosen", names)
                    made[param] = fresh(f"is_{buffers[buffer]}", self.taken)
                    body += [Let(var, condition), Store(param, _ZERO, var)]
                    body.append(Store(buffer, index, replace(value, condition=var)))
                case _:
                    body.append(stmt)
        if not made:
            return launch
        self.flags += [Buffer(flag, BOOL, (), "temp") for flag in made.values()]
        params = (*kernel.params, *[Param(param, BOOL, written=True) for param in made])
        name = fresh(kernel.name, self.names)
        self.kernels[name] = Kernel(name, params, kernel.sizes, tuple(body), kernel.note)
        return Launch(name, (*launch.buffers, *made.values()), launch.sizes)

    def is_branch(self, size: str, steps: Sequence[Step]) -> bool:
        """Whether a loop among some steps has one step or none, as a size says."""
        one = _Decided("", holds=True)
        repeats = [step for step in steps if isinstance(step, Repeat)]
        return any(self.as_branch(repeat, {size: one}) is not None for repeat in repeats)

    def as_branch(self, repeat: Repeat, decided: Mapping[str, _Decided]) -> Branch | None:
        """The branch that a loop is; None if its condition is not known to be that of a flag."""
        extent = repeat.extent
        if isinstance(extent, Var):
            extent = self.values.get(extent.name, extent)
        match extent:
            case Binary("min", Var(count), Const(1)) if count in decided:
                pass
            case _:
                return None
        if repeat.stop is not None or repeat.done is not None or self.counts(repeat):
            return None
        each, steps = decided[count], repeat.steps
        then, otherwise = (steps, ()) if each.holds else ((), steps)
        return Branch(each.flag, then, otherwise, repeat.note)

    def counts(self, repeat: Repeat) -> bool:
        """Whether the steps of a loop may need its counter."""
        inside = list(every_step(repeat.steps))
        names = [names_in(size) for step in repeat.steps for size in sizes_needed(step)]
        calls = any(isinstance(step, PythonCall) for step in inside)
        return calls or repeat.var in self.needed.union(*names)

    def join(self, branch: Branch, before: list[Step]) -> bool:
        """Put a branch into one of the same condition that stands before it, if there is one."""
        place = len(before)
        while place and isinstance(before[place - 1], Measure):
            place -= 1
        first = before[place - 1] if place else None
        if not isinstance(first, Branch) or first.condition != branch.condition:
            return False
        changed = self.changed(first)
        between = before[place:]
        if branch.condition in changed or any(
            isinstance(step, Measure) and step.buffer in changed for step in between
        ):
            return False
        both = replace(
            first,
            then=(*first.then, *branch.then),
            otherwise=(*first.otherwise, *branch.otherwise),
        )
        before[place - 1 :] = [*between, both]
        return True

    def changed(self, step: Step) -> set[str]:
        """The buffers that a step may change, and sizes that it measures."""
        found: set[str] = set()
        for inner in every_step([step]):
            if isinstance(inner, Launch | Routine | PythonCall):
                kernel = self.kernels[inner.kernel] if isinstance(inner, Launch) else None
                found.update(written(inner, kernel))
            elif isinstance(inner, Measure):
                found.add(inner.size)
        whole = {self.whole.get(name, name) for name in found}
        near = {name for name, other in self.whole.items() if other in whole}
        return found | whole | near

    def decided(self, launch: Launch) -> dict[str, _Decided]:
        """The integers that a kernel stores as a choice between 1 and 0, by a flag.

        It stores the flag, or reads one that was stored before.
        """
        kernel = self.kernels[launch.kernel]
        buffers = dict(zip((param.name for param in kernel.params), launch.buffers, strict=True))
        stores = [stmt for stmt in kernel.body if isinstance(stmt, Store) and stmt.index == _ZERO]
        flags: dict[Expr, str] = {
            Load(param.name, _ZERO, BOOL): buffers[param.name]
            for param in kernel.params
            if not param.written and buffers[param.name] in self.bools
        }
        for stmt in kernel.body:
            if isinstance(stmt, Let) and stmt.value in flags:
                flags[stmt.var] = flags[stmt.value]
        flags |= {
            stmt.value: buffers[stmt.buffer]
            for stmt in stores
            if isinstance(stmt.value, Var) and stmt.buffer in buffers
        }
        found: dict[str, _Decided] = {}
        for stmt in stores:
            match stmt.value:
                case Select(condition, Const(then), Const(otherwise)) if condition in flags:
                    if {then, otherwise} == {0, 1} and stmt.buffer in buffers:
                        found[buffers[stmt.buffer]] = _Decided(flags[condition], then == 1)
                case _:
                    pass
        counts = [stmt.buffer for stmt in stores]
        twice = {buffers[name] for name in counts if counts.count(name) > 1 and name in buffers}
        return {n: each for n, each in found.items() if n not in twice and each.flag not in twice}
