"""A schedule in words: its kernels, the loops that they share, the stored nodes, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, assert_never

from symc.codegen.ir import Check
from symc.graph.conditions import Test
from symc.graph.inputs import Input, SharedVariable
from symc.graph.lowering import HostCall
from symc.graph.node import Tensor
from symc.schedule.plan import Inside, Invoke, Lone, MeasuredSize, Nest, Plan, Unit
from symc.schedule.reasons import (
    Between,
    FewerLoops,
    NoLoops,
    OtherIterations,
    OtherLengths,
    OwnKernel,
    Reason,
    TooMany,
)
from symc.schedule.stages import Stage
from symc.show.copies import copied_text
from symc.tensor.notation import described, short

if TYPE_CHECKING:
    from symc.pipeline.compile import Compilation


def explain(made: Compilation) -> str:
    """The decisions of the schedule: kernels, the loops they share, the stored nodes, and why.

    With each kernel and routine stand its bytes and operations; see `codegen/cost/work.py` for
    their meaning, and `codegen/cost/operations.py` for the routines. Below stands for each pair of
    kernels that might have been one why they are not.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> f = symc.function([x], T.exp(x).sum())
    >>> print(f.explain().splitlines()[0])
    1. kernel, 1 stage
    """
    from symc.codegen.blocks import every_step
    from symc.codegen.text import expression

    tests: dict[int, list[str]] = {}
    for step in every_step(made.program.steps):
        if isinstance(step, Check):  # those of loops and branches have one code
            tests.setdefault(step.code, []).append(expression(step.condition))
    return "\n".join(_Words(_work(made), tests).plan(made.plan))


def _work(made: Compilation) -> dict[Tensor, str]:
    """The bytes and operations of the step that computes a node."""
    from symc.codegen.blocks import working_steps, written
    from symc.codegen.cost.work import Works

    found: dict[Tensor, str] = {}
    works = Works(made.program)
    for step, kernel in working_steps(made.program):
        nodes = made.computes.get(kernel.name) if kernel is not None else None
        if nodes is None:
            nodes = [node for name in written(step, kernel) for node in made.holds.get(name, ())]
        if nodes:
            found.update(dict.fromkeys(nodes, str(works.of(step))))
    return found


class _Words:
    """Plans in words. `work` has the costs of nodes; conditions are by code, in their order."""

    def __init__(self, work: Mapping[Tensor, str], tests: Mapping[int, Iterable[str]]) -> None:
        self._work = work
        self._tests = {code: iter(texts) for code, texts in tests.items()}

    def plan(self, plan: Plan) -> Iterator[str]:
        """The lines of a plan: its units, and below them why they are as they are."""
        for number, unit in enumerate(plan.units, 1):
            yield from self._unit(unit, number)
        shared = [node for node in plan.in_place if isinstance(node, SharedVariable)]
        if shared:
            names = sorted(node.name or repr(node) for node in shared)
            yield f"updated in place: {', '.join(names)}"
        given = [short(node) for node in plan.in_place if isinstance(node.op, Input)]
        if given:
            yield f"written into arguments that are given away: {', '.join(sorted(given))}"
        for node in plan.alternating:
            yield f"the state {short(node)} lies in two arrays in turn: a step fills a part of one"
        for copied in plan.copied:
            yield copied_text(copied, self._sign)
        for node in plan.first:
            yield f"{node!r} is stored: it is read before memory is overwritten"
        for node in plan.repeated:
            yield f"{node!r} is stored: computing it where it is read would repeat work"
        for pair in plan.apart:
            numbers = f"{pair.first + 1} and {pair.second + 1}"
            yield f"kernels {numbers} stay apart: {self._apart(pair.reason)}"

    def _unit(self, unit: Unit, number: int) -> Iterator[str]:
        match unit:
            case Nest(stages, depth):
                count = "1 stage" if len(stages) == 1 else f"{len(stages)} stages"
                loops = f", sharing {depth} outer loop{'s' * (depth > 1)}" if depth else ""
                yield from self._step(f"{number}. kernel, {count}{loops}", stages)
            case Lone(stage):
                yield from self._step(f"{number}. kernel of its own", (stage,))
            case Invoke(stages):
                in_python = isinstance(stages[0].lowering, HostCall)
                called = "called in Python" if in_python else "library call"
                yield from self._step(f"{number}. {called}", stages)
            case Inside(stages, plans):
                yield f"{number}. loop or branch"
                yield from (f"     {described(stage.node)}" for stage in stages)
                for plan in plans:
                    for text in self.plan(plan):
                        yield from ("     " + line for line in text.split("\n"))
            case Test():
                error = unit.error.__name__
                yield f"{number}. check, else {error}: {self._test(unit)}"
            case MeasuredSize(size, node):
                yield f"{number}. the length {size} becomes known: {described(node)}"
            case _:
                assert_never(unit)

    def _step(self, head: str, stages: Sequence[Stage]) -> Iterator[str]:
        yield head
        yield from (f"     {described(stage.node)}" for stage in stages)
        moved = [f"     {self._work[stage.node]}" for stage in stages if stage.node in self._work]
        yield from moved[:1]

    def _test(self, test: Test) -> str:
        text = next(self._tests.get(test.number + 1, iter(())), "")
        return text if test.node is None else described(test.node)

    def _apart(self, reason: Reason) -> str:
        match reason:
            case OwnKernel(node):
                return f"{short(node)} shares loops with nothing"
            case NoLoops(node):
                return f"{short(node)} is complete only when all its loops have ended"
            case OtherLengths(length, other):
                return f"their outermost loops have the lengths {length} and {other}"
            case OtherIterations(reader, read):
                return (
                    f"an iteration of {short(reader)} reads what other iterations of "
                    f"{short(read)} compute"
                )
            case FewerLoops(shared, wanted):
                return f"they read one array, but would share only {shared} of {wanted} loops"
            case Between(unit):
                return f"{self._sign(unit)} must come between them"
            case TooMany(stages):
                return f"together they have {stages} stages, too many for one kernel"
            case _:
                assert_never(reason)

    def _sign(self, unit: Tensor | Test | str) -> str:
        match unit:
            case Tensor():
                return short(unit)
            case Test():
                return f"check {self._test(unit) if unit.node is None else short(unit.node)}"
            case _:
                return f"the length {unit}"
