"""Looking inside: graphs as text, and every stage of making a function."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TextIO

from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.show.plan import explain
from symc.tensor.notation import call, expression

__all__ = ["dprint", "dprint_text", "explain", "expression", "pprint", "stages"]

if TYPE_CHECKING:
    from symc.calls.callable import Function


def dprint_text(outputs: Tensor | Sequence[Tensor]) -> str:
    """The graph as text: one line for each node, arguments before users.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> print(dprint_text(T.exp(x) + 1))  # doctest: +ELLIPSIS
    %0 = input x            float64[x.shape[0]]  ...
    %1 = exp(%0)            float64[x.shape[0]]  ...
    %2 = add(%1, 1.0)       float64[x.shape[0]]  ...
    """
    roots = _tensors("dprint", outputs)
    return "\n".join(_graph_lines(roots, always_return=len(roots) > 1))


def _tensors(label: str, given: Any) -> list[Tensor]:
    """One tensor or several, as a list."""
    found: list[Any] = [given] if not isinstance(given, list | tuple) else [*given]
    for node in found:
        if not isinstance(node, Tensor):
            raise TypeError(f"{label} shows symbolic tensors, not {node!r}")
    return found


def _graph_lines(roots: Sequence[Tensor], *, always_return: bool) -> list[str]:
    """A line for each node; the bodies of loops and branches stand below them, indented, once."""
    from symc.graph.inputs import Constant

    number: dict[Tensor, str] = {}
    lines: list[str] = []
    shown: set[object] = set()
    fresh = count()
    for node in walk(roots):
        if isinstance(node.op, Constant) and not node.type.shape:
            number[node] = str(node.op.value.item())
            continue
        number[node] = f"%{next(fresh)}"
        name = f" {node.name}" if node.name else ""
        text = call(node, number) + name
        lines.append(f"{number[node]} = {text:<18} {node.type!s:<20} {node.where}")
        for title, body in node.op.graphs():
            if body not in shown:
                shown.add(body)
                lines.append(f"    {title}:")
                lines += ["      " + line for line in _graph_lines(body, always_return=True)]
    if always_return:
        lines.append(f"return {', '.join(number[root] for root in roots)}")
    return lines


def dprint(outputs: Tensor | Sequence[Tensor] | Function, file: TextIO | None = None) -> None:
    """Writes the graph to `file` (default: standard output), a line for each node.

    Of a function that is the graph after rewriting, as `f.graph` has it.
    """
    from symc.calls.callable import Function

    text = outputs.graph if isinstance(outputs, Function) else dprint_text(outputs)
    (file or sys.stdout).write(text + "\n")


def pprint(node: Tensor, *, latex: bool = False) -> str:
    r"""The expression of a tensor as people write it, or in LaTeX; named parts by their names.

    Beyond 200 levels, dots stand for the rest; in LaTeX much sooner.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> pprint(T.exp(x) / (1 + T.exp(x)))
    'exp(x) / (1.0 + exp(x))'
    >>> print(pprint(T.exp(x) / (1 + T.exp(x)), latex=True))
    \frac{e^{x}}{1 + e^{x}}
    """
    _tensors("pprint", node)
    if latex:
        from symc.show.latex import latex as written

        return written(node)
    return expression(node, depth=200, longest=None)


def stages(function: Function) -> str:
    """Every stage of a function, one after the other: graph, plan, program, passes, source."""
    from symc.calls.callable import compiled_function

    compiled_function(function, "symc.debug.stages")
    made = function.runner.stages()
    from symc.codegen.text import text

    parts = [
        ("graph, rewritten", dprint_text(made.rewritten)),
        ("plan", explain(made)),
        ("program", text(made.program)),
        ("program after the passes", text(made.optimised)),
        ("source", made.source.text),
    ]
    return "\n\n".join(f"=== {title} ===\n{body}" for title, body in parts)


<<<<<<< HEAD
def explain(made: Stages) -> str:
    """The decisions of the schedule: kernels, shared loops, stored values, and why.

    With each kernel and routine stand its bytes and operations; see `codegen/cost/work.py` for
    how they are counted, and `codegen/cost/operations.py` for the routines.
    """
    from symc.codegen.blocks import every_step
    from symc.codegen.text import expression as loop_expression

    work = _work(made)
    tests = {
        step.code: loop_expression(step.condition)
        for step in every_step(made.program.steps)
        if isinstance(step, Check)
    }
    lines = [_unit(unit, number, work, tests) for number, unit in enumerate(made.plan.units, 1)]
    if made.in_place:
        names = ", ".join(sorted(shared.name or repr(shared) for shared in made.in_place))
        lines.append(f"updated in place: {names}")
    return "\n".join([*lines, *made.plan.reasons])


def _work(made: Stages) -> dict[Tensor, str]:
    """The bytes and operations of the step that computes a node."""
    from symc.codegen.blocks import working_steps, written
    from symc.codegen.cost.work import Works

    found: dict[Tensor, str] = {}
    works = Works(made.program)
    for step, kernel in working_steps(made.program):
        nodes = [node for name in written(step, kernel) for node in made.holds.get(name, ())]
        if nodes:
            found.update(dict.fromkeys(nodes, str(works.of(step))))
    return found


def _unit(unit: Unit, number: int, work: Mapping[Tensor, str], tests: Mapping[int, str]) -> str:
    match unit:
        case Nest(stages_, depth):
            stages = "1 stage" if len(stages_) == 1 else f"{len(stages_)} stages"
            loops = f", sharing {depth} outer loop{'s' * (depth > 1)}" if depth else ""
            return _step(f"{number}. kernel, {stages}{loops}", stages_, work)
        case Lone(stage):
            return _step(f"{number}. kernel of its own", (stage,), work)
        case Invoke(stages_):
            in_python = isinstance(stages_[0].lowering, HostCall)
            called = "called in Python" if in_python else "library call"
            return _step(f"{number}. {called}", stages_, work)
        case Inside(stages_, plans):
            lines = [f"{number}. loop or branch", *(f"     {described(s.node)}" for s in stages_)]
            for plan in plans:
                inner = (_unit(inside, n, work, tests) for n, inside in enumerate(plan.units, 1))
                lines += ["     " + line for text in inner for line in text.split("\n")]
            return "\n".join(lines)
        case Test(test, requirement, node):
            condition = tests.get(test + 1, "") if node is None else described(node)
            return f"{number}. check, else {requirement.error.__name__}: {condition}"
        case Reading(size, node):
            return f"{number}. the length {size} becomes known: {described(node)}"


def _step(head: str, stages_: Sequence[Stage], work: Mapping[Tensor, str]) -> str:
    moved = [f"     {work[stage.node]}" for stage in stages_ if stage.node in work]
    return "\n".join([head, *(f"     {described(stage.node)}" for stage in stages_), *moved[:1]])


=======
>>>>>>> main
def __dir__() -> list[str]:
    return [*__all__]
