"""once: what sides of branches compute anew in each step of a loop, though it is the same, waits
for the first step that needs it, and is kept.

                                             missing[0] = true
    repeat step in n:                        repeat step in n:
        if flag[0]:                              if flag[0]:
            routine cholesky(a, write l)             if missing[0]:
            check ok[0]                                  routine cholesky(a, write l)
            kernel(l, x; step)                           check ok[0]
                                                         missing[0] = false
                                                     kernel(l, x; step)

Before the loop it may not be computed: no step may need it, and then it must not fail. Only what
takes longer than a test is kept. A temporary that a branch without another side writes lives
throughout loops that its condition outlives (`kernels/memory.py`), as that does here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby

from symc.codegen.blocks import every_step, sizes_needed, written
from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Branch,
    Buffer,
    Check,
    Const,
    Kernel,
    Launch,
    Loop,
    Measure,
    Param,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    Store,
    const,
)
from symc.codegen.passes.kernels.following import varying_sizes
from symc.codegen.passes.kernels.memory import buffers_of, used_buffers, wholes
from symc.codegen.passes.walk import fresh, names_in, statements
from symc.codegen.record import record, replace

_SHORT = 16  # iterations of a loop


def once(program: Program) -> Program:
    """The program in which such steps are done once for each time that the loop begins."""
    walk = _Once(program)
    steps = walk.block(program.steps)
    if not walk.flags:
        return program
    return replace(
        program,
        buffers=(*program.buffers, *walk.flags.values()),
        kernels=(*program.kernels, *walk.setters.values()),
        steps=steps,
    )


@record
class _Rounds:
    """A loop, and what is the same in all its steps."""

    loop: Repeat
    fixed: frozenset[str]  # the buffers that it does not write
    inside: frozenset[str]  # the temporaries that nothing else uses
    writes: Counter[str]  # how many steps write each buffer


class _Once:
    """The walk over the steps of one program, outer loops first."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.buffers = {buffer.name: buffer for buffer in program.buffers}
        self.whole = wholes(program)
        self.taken = {*self.buffers, *[size.var.name for size in program.sizes]}
        self.names = set(self.kernels)
        self.flags: dict[str, Buffer] = {}
        self.setters: dict[bool, Kernel] = {}

    def block(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The steps of a block that is in no loop, or whose loops around are done with."""
        found: list[Step] = []
        for step in steps:
            match step:
                case Repeat():
                    found += self.loop(step)
                case Branch(condition, then, otherwise) if condition not in self.flags:
                    sides = self.block(then), self.block(otherwise)
                    found.append(replace(step, then=sides[0], otherwise=sides[1]))
                case _:
                    found.append(step)
        return tuple(found)

    def loop(self, loop: Repeat) -> list[Step]:
        """A loop that does once what is the same in all its steps, and the steps before it."""
        before = len(self.flags)
        if any(isinstance(step, Branch) for step in every_step(loop.steps)):
            loop = replace(loop, steps=self.inside(loop.steps, self.around(loop)))
        made = list(self.flags)[before:]
        begun = [self.stored(flag, value=True) for flag in made]
        return [*begun, replace(loop, steps=self.block(loop.steps))]

    def around(self, loop: Repeat) -> _Rounds:
        """What is the same in all steps of a loop."""
        every = Counter(used_buffers(self.program, self.program.steps))
        here = Counter(used_buffers(self.program, [loop]))
        writes = Counter(self.written(loop.steps))
        inside = {
            name
            for name, times in here.items()
            if name in self.buffers and self.buffers[name].role == "temp" and times == every[name]
        }
        return _Rounds(loop, frozenset(self.buffers) - set(writes), frozenset(inside), writes)

    def inside(self, steps: Sequence[Step], around: _Rounds) -> tuple[Step, ...]:
        """The steps in each round of a loop, those on sides of branches kept if they are equal."""
        found: list[Step] = []
        for step in steps:
            match step:
                case Repeat(steps=body):
                    found.append(replace(step, steps=self.kept(body, around)))
                case Branch(condition, then, otherwise) if condition not in self.flags:
                    sides = self.kept(then, around), self.kept(otherwise, around)
                    found.append(replace(step, then=sides[0], otherwise=sides[1]))
                case _:
                    found.append(step)
        return tuple(found)

    def kept(self, block: Sequence[Step], around: _Rounds) -> tuple[Step, ...]:
        """The steps of a side, those that are equal in all steps of a loop done once."""
        same = self.same(block, around)
        if not any(map(self.is_long, [block[place] for place in same])):
            return self.inside(block, around)
        found: list[Step] = []
        for are_same, group in groupby(range(len(block)), same.__contains__):
            steps = [block[place] for place in group]
            if not are_same:
                found += self.inside(steps, around)
            elif all(isinstance(step, Check) for step in steps):
                found += steps
            else:
                flag = self.flag()
                found.append(Branch(flag, (*steps, self.stored(flag, value=False)), ()))
        return tuple(found)

    def same(self, block: Sequence[Step], around: _Rounds) -> set[int]:
        """The places of the steps of a block that compute the same in all steps of a loop."""
        found: set[int] = set()
        found.update(place for place, step in enumerate(block) if not self.has_effects(step))
        while found:
            own = Counter(self.written(block[place] for place in found))
            inside = {name for name in around.inside if own[name] == around.writes[name]}
            known = around.fixed | inside
            left = {place for place in found if self.is_same(block[place], around.loop, known)}
            if left == found:
                break
            found = left
        return found

    def has_effects(self, step: Step) -> bool:
        """Whether a step does more than to write buffers, or is done once already."""
        return any(
            isinstance(inner, Measure | PythonCall)
            or (isinstance(inner, Repeat) and inner.done is not None)
            or (isinstance(inner, Branch) and inner.condition in self.flags)
            for inner in every_step([step])
        )

    def is_same(self, step: Step, loop: Repeat, known: AbstractSet[str]) -> bool:
        """Whether a step computes from known buffers alone, and from what does not vary."""
        used = [name for inner in every_step([step]) for name in buffers_of(inner)]
        if any(self.whole.get(name, name) not in known for name in used):
            return False
        own = {inner.var for inner in every_step([step]) if isinstance(inner, Repeat)}
        varying = varying_sizes(self.program, loop, own)
        rows = [self.buffers[name] for name in used]
        needed = [*sizes_needed(step), *[length for row in rows for length in row.shape]]
        needed += [row.of.offset for row in rows if row.of is not None]
        return not any(varying & names_in(size) for size in needed)

    def written(self, steps: Iterable[Step]) -> Iterator[str]:
        """The buffers that steps write, rows not among them; one for each time."""
        for step in every_step(steps):
            if isinstance(step, Launch | Routine | PythonCall):
                kernel = self.kernels[step.kernel] if isinstance(step, Launch) else None
                yield from (self.whole.get(name, name) for name in written(step, kernel))

    def is_long(self, step: Step) -> bool:
        """Whether a step takes longer than to ask whether it was done."""
        for inner in every_step([step]):
            match inner:
                case Routine() | Repeat():
                    return True
                case Launch(name):
                    loops = [s for s in statements(self.kernels[name].body) if isinstance(s, Loop)]
                    extents = [loop.extent for loop in loops]
                    if any(not isinstance(n, Const) or n.value > _SHORT for n in extents):
                        return True
                case _:
                    pass
        return False

    def flag(self) -> str:
        """A new bool of the program."""
        name = fresh("is_missing", self.taken)
        self.flags[name] = Buffer(name, BOOL, (), "temp")
        return name

    def stored(self, flag: str, *, value: bool) -> Launch:
        """The launch of a kernel that stores a bool."""
        if value not in self.setters:
            name = fresh("missing_kernel" if value else "kept_kernel", self.names)
            body = (Store("is_missing", const(0), Const(value, BOOL)),)
            kernel = Kernel(name, (Param("is_missing", BOOL, written=True),), (), body)
            self.setters[value] = self.kernels[name] = kernel
        return Launch(self.setters[value].name, (flag,), ())
