"""hoisted: what loops check in their steps of lengths alone is checked before the first one.

    repeat step in n:                         check n <= 0 or (0 < m and n - 1 < m)
        check step < m                        repeat step in n:
        kernel(x, y; step)                        kernel(x, y; step)

A comparison with the number of the step in it, as ``step < m``, holds in all steps if it does in
the first and in the last one, and the other way round: integers that move by one cannot wrap past
all that an array has. So the call ends with the same error, if before the first step; and a loop
without checks may become a loop of kernels (`independent.py`), or write into shared variables
(`unbroken.py`). Loops around it then have checks of lengths in their steps, which move out in turn.

Conditions on elements, and loops of a few operations whose indexes may count from the end, are left
to `foresee.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.blocks import every_step, map_blocks
from symc.codegen.ir import (
    Binary,
    Check,
    Expr,
    Launch,
    Load,
    Program,
    Repeat,
    Routine,
    Step,
    Var,
    binary,
    const,
)
from symc.codegen.passes.expressions.conditions import both, conjuncts
from symc.codegen.passes.expressions.implied import without_implied
from symc.codegen.passes.kernels.in_program import InProgram
from symc.codegen.passes.steps.answered import Answers
from symc.codegen.passes.steps.asked import Questions
from symc.codegen.passes.walk import nodes
from symc.codegen.record import replace

_ZERO = const(0)


def hoisted(program: Program) -> Program:
    """The program with such checks before the loops."""
    repeats = [step for step in every_step(program.steps) if isinstance(step, Repeat)]
    if not any(isinstance(step, Check) for step in every_step(repeats)):
        return program
    walk = _Hoisting(program)
    steps = map_blocks(program.steps, walk.block)
    if steps == program.steps:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    kernels = tuple([k for k in walk.answers.kernels.values() if k.name in used])
    return replace(program, kernels=kernels, steps=steps)


class _Hoisting:
    """The walk over the steps of one program, inner loops first."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.answers = Answers(program)

    def block(self, steps: Sequence[Step]) -> list[Step]:
        """The steps of a block, with checks of its loops before them."""
        found: list[Step] = []
        for step in steps:
            if isinstance(step, Repeat) and _checks_alone_end(step):
                found += self.repeat(step, _checked(found))
            else:
                found.append(step)
        return found

    def repeat(self, repeat: Repeat, known: set[Expr]) -> list[Step]:
        """The checks before a loop, and the loop without them; the loop if there are others.

        Where it stands, some conditions are known to hold.
        """
        kernels = tuple(self.answers.kernels.values())
        questions = Questions(replace(self.program, kernels=kernels), repeat)
        if not questions.asked or not questions.are_all or questions.natural:
            return [repeat]
        before: list[Step] = []
        for asked in questions.asked:
            conditions = self.of_all_steps(questions, asked.check, known)
            if conditions is None:
                return [repeat]
            before += [Check(condition, asked.check.code) for condition in conditions]
        return [*before, self.unchecked(repeat, questions)]

    def of_all_steps(
        self, questions: Questions, check: Check, known: set[Expr]
    ) -> list[Expr] | None:
        """What is to hold before a loop exactly if a check holds in all steps; None if unclear."""
        condition = questions.written_out(check)
        if any(isinstance(node, Load) for node in nodes(condition)):
            return None
        always: dict[Expr, None] = {}
        if_any: dict[Expr, None] = {}
        for part in conjuncts(condition):
            bound = self.bound_of_all(questions, part)
            if bound is not None:
                always[bound] = None
            else:
                found = _of_all(questions, part)
                if found is None:
                    return None
                if_any.update(dict.fromkeys(found))
        conditions = [each for each in always if each not in known]
        left = [each for each in if_any if each not in known]
        left = without_implied(left, self.answers.is_natural)
        if left:
            none = binary("le", questions.repeat.extent, _ZERO)
            conditions.append(binary("or", none, both(left)))
        return conditions

    def bound_of_all(self, questions: Questions, comparison: Expr) -> Expr | None:
        """``extent <= n`` for ``counter < n``."""
        match comparison:
            case Binary("lt", Var() as left, right) if left == questions.counter:
                found = binary("le", questions.repeat.extent, right)
                are_lengths = all(map(self.answers.is_natural, (found.left, found.right)))
                return found if are_lengths and left not in nodes(right) else None
            case _:
                return None

    def unchecked(self, repeat: Repeat, questions: Questions) -> Repeat:
        """The loop without its checks, and what only they read."""
        steps: list[Step] = []
        for step in repeat.steps:
            if isinstance(step, Launch):
                launch = self.answers.without(step, questions.flags, lambda _: False, _as_it_is)
                steps += [] if launch is None else [launch]
            elif not isinstance(step, Check):
                steps.append(step)
        return replace(repeat, steps=tuple(steps))


def _checked(steps: Sequence[Step]) -> set[Expr]:
    """The conditions that hold after some steps."""
    checks = [step for step in steps if isinstance(step, Check)]
    return {part for check in checks for part in conjuncts(check.condition)}


def _checks_alone_end(repeat: Repeat) -> bool:
    """Whether a loop has checks of its own, and nothing else ends it or calls back into Python."""
    return any(isinstance(step, Check) for step in repeat.steps) and all(
        isinstance(step, Launch | Check | Routine)
        or (isinstance(step, Repeat) and step.stop is None and step.done is None)
        for step in every_step([repeat])
    )


def _of_all(questions: Questions, part: Expr) -> Sequence[Expr] | None:
    """What holds exactly if a condition holds in all steps, if there are any; None if unclear.

    An inner loop's checks are asked unless that has no steps: the first side of an alternative.
    """
    if questions.counter not in nodes(part):
        return [part]
    if _moves_by_one(questions, part):
        return questions.ends(part) or ()
    if not isinstance(part, Binary) or part.op != "or" or questions.counter in nodes(part.left):
        return None
    found: list[Expr] = []
    for one in conjuncts(part.right):
        always = _of_all(questions, one)
        if always is None:
            return None
        found += always
    return [binary("or", part.left, both(found))] if found else []


def _moves_by_one(questions: Questions, comparison: Expr) -> bool:
    """Whether one side of a comparison moves by one from step to step, and the other not at all."""
    if not isinstance(comparison, Binary):
        return False
    slopes = [questions.slope(comparison.left), questions.slope(comparison.right)]
    return None not in slopes and sorted(abs(slope or 0) for slope in slopes) == [0, 1]


def _as_it_is(expr: Expr, inside: InProgram) -> None:
    """No index goes round by a jump."""
    del expr, inside
