"""foresee: what a short loop checks in each step is tested once before it, as far as possible.

The steps of an innermost loop of a few operations check that indexes lie within arrays, and these
checks take longer than the rest. What they ask is known before the loop (`asked.py`). So a kernel
tests all of it, and there are two loops, of which the first has none of these checks:

    repeat step in n:                         fine = n <= m and all(0 <= x[0:n] < k)
        check step < m                        if fine:
        ok = 0 <= x[step] < k                     repeat step in n: y[x[step]] += z[step]
        check ok                              else:
        y[x[step]] += z[step]                     repeat step in n: ... as before

The second one does what was done before, until it ends the call with the error that comes first.

So does a longer loop that writes into shared variables, if it can check all beforehand.

If loops stand around, elements that they do not write are tested before the outermost of them: all
that the array has, where these are not many more than the loops have steps. Then an inner loop does
not test its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symc.codegen.blocks import all_sizes_needed, every_step, is_branch
from symc.codegen.ir import (
    Branch,
    Check,
    Expr,
    If,
    Launch,
    Load,
    Measure,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    Store,
    Var,
    binary,
    const,
    mul,
)
from symc.codegen.passes.kernels.following import varying_sizes
from symc.codegen.passes.kernels.inlined import is_short
from symc.codegen.passes.steps.answered import Answers, is_true, turned_on
from symc.codegen.passes.steps.asked import Question, Questions, element_of, inside
from symc.codegen.passes.steps.varying import (
    changed_variables,
    fixed_buffers,
    has_varying_lengths,
)
from symc.codegen.passes.walk import Block, names_in, nodes, rebuild
from symc.codegen.record import record, replace

FEW = 16  # elements for each step of the loops: so many more are tested, as that is quick
SOME = 4  # steps of a loop, where their number is not known
MANY = 1 << 24  # steps, of which more do not count: no product wraps
_ZERO = const(0)


def foresee(program: Program) -> Program:
    """The program in which short loops check beforehand what they can."""
    if not any(isinstance(step, Repeat) for step in every_step(program.steps)):
        return program
    walk = _Foreseeing(program)
    steps = walk.block(program.steps, ())
    if not walk.answers.made:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    return replace(
        program,
        sizes=(*program.sizes, *walk.answers.sizes),
        buffers=(*program.buffers, *walk.answers.made),
        kernels=tuple(k for k in walk.answers.kernels.values() if k.name in used),
        steps=steps,
    )


def changed_inside(
    steps: Sequence[Step], change: Callable[[Step], Step | None]
) -> tuple[Step, ...]:
    """The steps, and those in branches, changed or left out."""
    found: list[Step] = []
    for step in steps:
        new: Step | None
        if isinstance(step, Branch):
            then, otherwise = changed_inside(step.then, change), step.otherwise
            new = replace(step, then=then, otherwise=changed_inside(otherwise, change))
        else:
            new = change(step)
        found += [] if new is None else [new]
    return tuple(found)


@record
class _Enclosing:
    """A loop, and the steps that are to come before it."""

    repeat: Repeat
    before: list[Step]


class _Foreseeing:
    """The walk over the steps of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.answers = Answers(program)
        self.given = {
            b.name: b for b in program.buffers if b.role in ("input", "shared", "constant")
        }

    def block(self, steps: Sequence[Step], around: tuple[_Enclosing, ...]) -> tuple[Step, ...]:
        """Steps inside of loops, the innermost one last."""
        found: list[Step] = []
        for step in steps:
            match step:
                case Repeat():
                    here = _Enclosing(step, [])
                    changed = self.repeat(step, (*around, here))
                    found += [*here.before, *changed]
                case Branch(_, then, otherwise):
                    sides = self.block(then, around), self.block(otherwise, around)
                    found.append(replace(step, then=sides[0], otherwise=sides[1]))
                case _:
                    found.append(step)
        return tuple(found)

    def repeat(self, repeat: Repeat, around: tuple[_Enclosing, ...]) -> Sequence[Step]:
        """The steps in place of a loop."""
        questions = Questions(self.program, repeat) if self.is_short(repeat) else None
        if questions is None and len(around) == 1 and self.is_to_be_unbroken(repeat):
            questions = Questions(self.program, repeat)
            questions = questions if questions.are_all else None
        if questions is None:
            return [replace(repeat, steps=self.block(repeat.steps, around))]
        if not questions.asked:
            return [repeat]
        whole = self.tested_before(questions.asked, around)
        fine = self.answers.flag("fine")
        tests = self.tests(questions, fine, whole)
        then, otherwise = self.unchecked(questions), self.checked(repeat)
        if repeat.done is None or not self.is_read(repeat.done):
            return [*tests, Branch(fine, (then,), (otherwise,))]
        count = self.answers.count(repeat.done)
        sides = Branch(fine, self.counted(then, count), self.counted(otherwise, count))
        return [*tests, sides, Measure(repeat.done, count)]

    def is_read(self, size: str) -> bool:
        """Whether something follows from a size."""
        exprs = all_sizes_needed(self.program)
        exprs += [size.value for size in self.program.sizes if size.value is not None]
        calls = any(isinstance(step, PythonCall) for step in every_step(self.program.steps))
        return calls or any(size in names_in(expr) for expr in exprs)

    def counted(self, repeat: Repeat, count: str) -> tuple[Step, ...]:
        """A loop in a block of its own, and the number of its rounds as one that others see."""
        assert repeat.done is not None
        done = self.answers.size(repeat.done, repeat.note)
        store = Store(count, _ZERO, Var(done))
        after = self.answers.launch(f"{repeat.done}_count", [], (store,), "")
        return replace(repeat, done=done), after

    def is_to_be_unbroken(self, repeat: Repeat) -> bool:
        """Whether nothing may end a loop, and nothing but checks would: see `unbroken.py`."""
        if repeat.stop is not None or not changed_variables(self.program, repeat):
            return False
        return not has_varying_lengths(self.program, repeat)

    def is_short(self, repeat: Repeat) -> bool:
        """Whether a loop has nothing but checks and a few operations in a step."""
        if is_branch(self.program, repeat):
            return False
        for step in inside(repeat.steps):
            match step:
                case Launch(kernel) if is_short(self.answers.kernels[kernel]):
                    pass
                case Check() | Branch() | Routine("copy_bytes"):
                    pass
                case _:
                    return False
        return True

    def tests(self, questions: Questions, fine: str, whole: str | None) -> list[Step]:
        """The steps that find out whether all checks of a loop hold."""
        asked, repeat, answers = questions.asked, questions.repeat, self.answers
        note = f"whether all steps are right: {repeat.note}"
        name = f"{repeat.var}_foreseen"
        if whole is None:
            body = answers.each_holds(repeat, asked, (turned_on(fine),))
            return [answers.launch(name, [fine], answers.once_holds(questions, asked, body), note)]
        unsure = answers.flag("unsure")
        sides = If(is_true(whole), (turned_on(fine),), (turned_on(unsure),))
        once = answers.once_holds(questions, asked, (sides,))
        first = answers.launch(name, [fine, unsure], once, note)
        body = answers.each_holds(repeat, asked, (turned_on(fine),))
        second = answers.launch(name, [fine], body, note)
        return [first, Branch(unsure, (second,), ())]

    def unchecked(self, questions: Questions) -> Repeat:
        """The loop without the checks that hold."""
        gone = [asked.check for asked in questions.asked]
        left = [
            step.condition
            for step in inside(questions.repeat.steps)
            if isinstance(step, Check) and not any(step is check for check in gone)
        ]
        needed = {n.buffer for c in left for n in nodes(c) if isinstance(n, Load)}
        flags = questions.flags.keys() - needed

        def change(step: Step) -> Step | None:
            if isinstance(step, Launch):
                return self.answers.without(step, flags, questions.is_natural, questions.turned)
            return None if any(step is check for check in gone) else step

        return replace(questions.repeat, steps=changed_inside(questions.repeat.steps, change))

    def checked(self, repeat: Repeat) -> Repeat:
        """The loop as it was, with kernels of its own."""
        return replace(repeat, steps=changed_inside(repeat.steps, self.answers.own))

    def tested_before(
        self, asked: Sequence[Question], around: tuple[_Enclosing, ...]
    ) -> str | None:
        """A flag that says whether the conditions hold for all elements of the arrays, if it may.

        It is set before the outermost loop that changes none of what it follows from.
        """
        each = [one.each for one in asked if one.each is not None]
        counter = Var(around[-1].repeat.var)
        for place, outer in enumerate(around[:-1]) if each else ():
            found = [self.of_all(condition, counter, outer.repeat) for condition in each]
            if all(one is not None for one in found):
                whole = self.answers.flag("whole")
                body: Block = (turned_on(whole),)
                lengths: list[Expr] = []
                for condition, length in [one for one in found if one is not None]:
                    body = self.answers.all_hold(condition, counter, length, body)
                    lengths.append(length)
                for length in dict.fromkeys(lengths):
                    body = (If(self.is_worth(length, around[place:]), body),)
                name = f"{outer.repeat.var}_foreseen"
                note = f"whether all elements are right: {outer.repeat.note}"
                outer.before.append(self.answers.launch(name, [whole], body, note))
                return whole
        return None

    def of_all(self, condition: Expr, counter: Var, outer: Repeat) -> tuple[Expr, Expr] | None:
        """A condition about the element of number `counter` of an array, and the array's length."""
        element = element_of(condition, counter)
        array = None if element is None else self.given.get(element.buffer)
        if element is None or array is None:
            return None
        here = Load(element.buffer, counter, element.dtype)

        def replaced(expr: Expr) -> Expr:
            return here if expr == element else rebuild(expr, replaced)

        about = replaced(condition)
        loads = {node for node in nodes(about) if isinstance(node, Load)}
        names = names_in(about) - {counter.name}
        if loads != {here} or element.buffer not in fixed_buffers(self.program, outer):
            return None
        if names & varying_sizes(self.program, outer):
            return None
        length: Expr = const(1)
        for axis in array.shape:
            length = mul(length, axis)
        return about, length

    def is_worth(self, length: Expr, loops: Sequence[_Enclosing]) -> Expr:
        """Whether so many elements are few for so many steps."""
        varying = varying_sizes(self.program, loops[0].repeat)
        steps: Expr = const(1)
        for loop in loops:
            extent = loop.repeat.extent
            if names_in(extent) & varying:
                extent = const(SOME)
            steps = binary("min", mul(steps, binary("min", extent, const(MANY))), const(MANY))
        return binary("le", length, mul(steps, const(FEW)))
