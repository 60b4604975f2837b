"""sure: checks that hold because of checks before them are left out of the steps of loops.

    state = start    # start is checked        state = start
    repeat until done:                         repeat until done:
        check 0 <= state < n                       next = x[state]
        next = x[state]                            check 0 <= next < n
        check 0 <= next < n                        state = next
        state = next

A check asks about values, not about the buffers that they lie in. So each value has a name that it
keeps (numbers of values, as in common subexpression elimination), and what a check has found stays
true of it. Of what a loop's step begins with, something is known if it holds before the loop and,
as far as it is known at the beginning of a step, at its end: this is assumed, and taken back where
it is not so.

Integers wrap: what is known of a number says nothing of a sum with it.
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
    Const,
    Expr,
    Launch,
    Measure,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    Unary,
    Var,
    binary,
)
from symc.codegen.passes.expressions.conditions import conjuncts
from symc.codegen.passes.kernels.memory import buffers_of
from symc.codegen.passes.steps.answered import Answers
from symc.codegen.passes.steps.numbered import Known, NamedValues
from symc.codegen.passes.steps.states import in_rows
from symc.codegen.passes.walk import loads_of, nodes, statements
from symc.codegen.record import record, replace
from symc.codegen.signs import is_natural, natural_names
from symc.codegen.verify.polynomials import added, polynomial

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
    return _without_flags(replace(program, steps=steps), walk.dropped)


class _TooManySteps(Exception):
    """Too many steps have been walked over."""


class _SureWalk:
    """The walk over the steps of one program."""

    def __init__(self, program: Program) -> None:
        self.values = NamedValues(program)
        self.natural = natural_names(program)
        self.measured = {size.var.name for size in program.sizes if size.value is None}
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
                    self.values.launch(known, step)
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
        is_sure = all(self.holds(known, part) for part in parts)
        known.facts.update(dict.fromkeys(parts))
        return is_sure

    def branch(self, known: Known, step: Branch) -> Branch:
        """One of two blocks: afterwards what holds after both."""
        condition = self.values.of_buffer(known, step.condition)
        sides = known.copy(), known.copy()
        sides[0].facts.update(dict.fromkeys(conjuncts(condition)))
        then = self.block(step.then, sides[0])
        otherwise = self.block(step.otherwise, sides[1])
        self.values.forget(known, self.values.changed(step))
        self.values.forget_sizes(known, step)
        return replace(step, then=then, otherwise=otherwise)

    def repeat(self, known: Known, step: Repeat) -> Repeat:
        """A loop. What is assumed of its states is what its checks ask of them."""
        changed = self.values.changed(step)
        numbers = sorted(changed & self.values.single.keys())
        states = {name: self.values.of_buffer(known, name) for name in numbers}
        head = known.copy()
        self.values.forget(head, changed)
        self.values.forget_sizes(head, step)
        begun = {self.values.of_buffer(head, name): name for name in states}
        asked, self.asked = self.asked, []
        steps = self.block(step.steps, head.copy())
        assumed = [
            _Assumption(begun[part.left], part.op, part.right)
            for part in dict.fromkeys(self.asked)
            if part.left in begun and self.is_size(part.right)
        ]
        self.asked = asked + self.asked
        assumed = [each for each in assumed if self.holds(known, each.of(states[each.state]))]
        while assumed:
            end = head.copy()
            for each in assumed:
                end.facts[each.of(self.values.of_buffer(end, each.state))] = None
            steps = self.block(step.steps, end)
            kept = [
                each
                for each in assumed
                if self.holds(end, each.of(self.values.of_buffer(end, each.state)))
            ]
            if kept == assumed:
                break
            assumed = kept
            if not kept:
                steps = self.block(step.steps, head.copy())
        self.values.forget(known, changed)
        self.values.forget_sizes(known, step)
        for each in assumed:
            known.facts[each.of(self.values.of_buffer(known, each.state))] = None
        return replace(step, steps=steps)

    # --- what follows -----------------------------------------------------------------------------

    def holds(self, known: Known, condition: Expr) -> bool:
        """Whether a condition follows from what is known."""
        if condition in known.facts or condition == Const(value=True, dtype=BOOL):
            return True
        match condition:
            case Binary("ge" | "lt" as op, left, right) if self.is_size(right):
                pass
            case _:
                return False
        match left:
            case Binary("max" | "min" as extreme, one, other):
                sides = [self.holds(known, binary(op, side, right)) for side in (one, other)]
                return (any if (extreme == "max") == (op == "ge") else all)(sides)
            case _:
                pass
        for fact in known.facts:
            match fact:
                case Binary(same, number, bound) if same == op and number == left:
                    more = (bound, right) if op == "ge" else (right, bound)
                    if self.is_size(bound) and self.is_least(*more):
                        return True
                case _:
                    pass
        return False

    def is_size(self, expr: Expr) -> bool:
        """Whether something is a length that is known before all steps, more or less a number.

        Or a number. Sums of several lengths may wrap.
        """
        names = [part.name for part in nodes(expr) if isinstance(part, Var)]
        return (
            len(names) <= 1
            and self.measured.isdisjoint(names)
            and not any(":" in name for name in names)
            and all(isinstance(part, Const | Var | Binary | Unary) for part in nodes(expr))
        )

    def is_least(self, one: Expr, other: Expr) -> bool:
        """Whether a size is surely no less than another one."""
        terms = added(polynomial(one), polynomial(other), -1)
        return all(
            factor > 0 and all(is_natural(atom, self.natural) for atom in monomial)
            for monomial, factor in terms.items()
        )


@record
class _Assumption:
    """What each step is taken to begin with: a comparison of a state."""

    state: str
    op: BinaryOp
    bound: Expr

    def of(self, value: Expr) -> Expr:
        """The comparison of this value of the state."""
        return binary(self.op, value, self.bound)


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
