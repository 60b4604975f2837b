"""sure: checks that hold because of checks before them are left out of the steps of loops.

    state = start    # start is checked        state = start
    repeat until done:                         repeat until done:
        check 0 <= state < n                       next = x[state]
        next = x[state]                            check 0 <= next < n
        check 0 <= next < n                        state = next
        state = next

A check asks about values, not about the buffers that they lie in. So each value has a name that it
keeps (`numbered.py`), and what a check has found stays true of it; what follows from that, says
`facts.py`. Of what a loop's step begins with, something is known if it holds before the loop and,
as far as it is known at the beginning of a step, at its end: this is assumed, and taken back where
it is not so. So it is with all elements of an array at a time, which may begin as ``0, 1, 2 ...``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from symc.codegen.blocks import every_step, map_steps, written
from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Binary,
    BinaryOp,
    Branch,
    Check,
    Combine,
    Expr,
    Launch,
    Measure,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    Var,
    const,
)
from symc.codegen.passes.expressions.conditions import conjuncts
from symc.codegen.passes.kernels.memory import buffers_of
from symc.codegen.passes.steps.answered import Answers
from symc.codegen.passes.steps.facts import Known
from symc.codegen.passes.steps.numbered import NamedValues
from symc.codegen.passes.steps.states import in_rows
from symc.codegen.passes.walk import loads_of, statements
from symc.codegen.record import record, replace

MOST = 4000  # steps that are walked over: loops in loops are walked over again and again


def sure(program: Program) -> Program:
    """The program without such checks."""
    repeats = [step for step in every_step(program.steps) if isinstance(step, Repeat)]
    if not any(isinstance(step, Check) for step in every_step(repeats)):
        return program
    walk = _SureWalk(program)
    try:
        steps = walk.block(program.steps, Known())
    except _TooManySteps:
        return program
    if steps == program.steps:
        return program
    kernels = tuple(walk.values.kernels.values())
    return _without_flags(replace(program, kernels=kernels, steps=steps), walk.dropped)


class _TooManySteps(Exception):
    """Too many steps have been walked over."""


class _SureWalk:
    """The walk over the steps of one program."""

    def __init__(self, program: Program) -> None:
        self.values = NamedValues(program)
        self.follows = self.values.follows
        self.dropped: set[str] = set()
        self.steps = 0
        self.asked: list[Binary] = []  # the comparisons in checks, since a loop began

    # --- steps ------------------------------------------------------------------------------------

    def block(self, steps: Sequence[Step], known: Known) -> tuple[Step, ...]:
        """Steps in a row without the checks that are sure to hold."""
        found: list[Step] = []
        for step in steps:
            self.steps += 1
            if self.steps > MOST:
                raise _TooManySteps
            match step:
                case Launch():
                    step = self.values.launch(known, step)
                case Routine():
                    self.values.routine(known, step)
                case PythonCall():
                    self.values.forget(known, written(step, None))
                case Measure(size, buffer):
                    known.values[size] = self.values.of_buffer(known, buffer)
                case Check(condition):
                    if self.check(known, condition):
                        self.dropped |= set(buffers_of(step))
                        continue
                case Repeat():
                    step = self.repeat(known, step)
                case Branch():
                    step = self.branch(known, step)
                case _:
                    assert_never(step)
            found.append(step)
        return tuple(found)

    def check(self, known: Known, condition: Expr) -> bool:
        """Whether a condition is sure to hold. After it, it does."""
        parts = conjuncts(self.values.value(known, condition))
        self.asked += [part for part in parts if isinstance(part, Binary)]
        is_sure = all(self.follows.holds(known, part) for part in parts)
        for part in parts:
            known.learn(part)
        return is_sure

    def branch(self, known: Known, step: Branch) -> Branch:
        """One of two blocks: afterwards what holds after both."""
        condition = self.values.of_buffer(known, step.condition)
        sides = known.copy(), known.copy()
        for part in conjuncts(condition):
            sides[0].learn(part)
        then = self.block(step.then, sides[0])
        otherwise = self.block(step.otherwise, sides[1])
        changed = self.values.changed(step)
        self.values.forget(known, changed)
        self.values.forget_sizes(known, step)
        for name in self.values.tracked(changed):
            ends = [(side, self.values.state(side, name)) for side in sides]
            for fact in [fact for side, end in ends for fact in side.about(end)]:
                each = _Assumption(name, fact.op, fact.right)
                if all(self.follows.holds(side, each.of(end)) for side, end in ends):
                    known.learn(each.of(self.values.state(known, name)))
        return replace(step, then=then, otherwise=otherwise)

    def repeat(self, known: Known, step: Repeat) -> Repeat:
        """A loop. What is assumed of its states is what its checks ask of them."""
        changed = self.values.changed(step)
        names = self.values.tracked(changed)
        states = {name: self.values.state(known, name) for name in names}
        head = known.copy()
        self.values.forget(head, changed)
        self.values.forget_sizes(head, step)
        extent = self.values.value(known, step.extent)
        head.is_long(extent, 1)
        counter = self.values.value(head, Var(step.var))
        head.learn(Binary("ge", counter, const(0), BOOL))
        head.learn(Binary("lt", counter, extent, BOOL))
        begun = {self.values.state(head, name): name for name in names}
        asked, self.asked = self.asked, []
        steps = self.block(step.steps, head.copy())
        assumed = [
            _Assumption(begun[of], part.op, bound)
            for part in dict.fromkeys(self.asked)
            for of in (part.left, self.follows.all_of.get(part.left, part.left))
            for bound in ((part.right, const(0)) if part.op == "ge" else (part.right,))
            if of in begun and self.follows.is_size(bound)
        ]
        wanted = {each: each.of(states[each.state]) for each in dict.fromkeys(assumed)}
        self.asked = [*asked, *self.asked, *wanted.values()]
        assumed = [each for each, fact in wanted.items() if self.follows.holds(head, fact)]
        while assumed:
            end = head.copy()
            for each in assumed:
                end.learn(each.of(self.values.state(end, each.state)))
            steps = self.block(step.steps, end)
            kept = [
                each
                for each in assumed
                if self.follows.holds(end, each.of(self.values.state(end, each.state)))
            ]
            if kept == assumed:
                break
            assumed = kept
            if not kept:
                steps = self.block(step.steps, head.copy())
        self.values.forget(known, changed)
        self.values.forget_sizes(known, step)
        for each in assumed:
            if self.follows.holds(known, wanted[each]):  # also if there is no step
                known.learn(each.of(self.values.state(known, each.state)))
        return replace(step, steps=steps)


@record
class _Assumption:
    """What each step is taken to begin with: a comparison of a state."""

    state: str
    op: BinaryOp
    bound: Expr

    def of(self, value: Expr) -> Binary:
        """The comparison of this value of the state."""
        return Binary(self.op, value, self.bound, BOOL)


def _without_flags(program: Program, flags: set[str]) -> Program:
    """The program without what is stored to bools that nothing reads any more."""
    answers = Answers(program)
    read = {buffer for step in every_step(program.steps) for buffer in _read(step, answers)}
    kept = read | in_rows(program)
    unread = {b.name for b in program.buffers if b.role == "temp" and b.name in flags} - kept

    def change(step: Step) -> list[Step]:
        if not isinstance(step, Launch) or unread.isdisjoint(step.buffers):
            return [step]
        left = answers.without(step, unread, lambda _: False, lambda _, __: None)
        return [] if left is None else [left]

    steps = map_steps(program.steps, change)
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    kernels = tuple([kernel for kernel in answers.kernels.values() if kernel.name in used])
    return replace(program, kernels=kernels, steps=steps)


def _read(step: Step, answers: Answers) -> list[str]:
    """The buffers that a step itself reads."""
    if not isinstance(step, Launch):
        return buffers_of(step)
    kernel = answers.kernels[step.kernel]
    read: set[str] = set()
    for stmt in statements(kernel.body):
        read.update(load.buffer for load in loads_of(stmt))
        if isinstance(stmt, Accumulate | Combine):
            read.add(stmt.buffer)
    pairs = zip(kernel.params, step.buffers, strict=True)
    return [buffer for param, buffer in pairs if param.name in read]
