"""Looking inside: graphs as text, and every stage of making a function."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TextIO

from symc.codegen.ir import Launch
from symc.conditions import Test
from symc.graph import Tensor, walk
from symc.lowering import HostCall
from symc.notation import call, described, expression
from symc.stages import Stage
from symc.units import Inside, Invoke, Lone, Nest, Reading, Unit

if TYPE_CHECKING:
    from symc.callable import Function
    from symc.compile import Stages


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
            hint = "; a function has .graph" if hasattr(node, "graph") else ""
            raise TypeError(f"{label} shows symbolic tensors, not {node!r}{hint}")
    return found


def _graph_lines(roots: Sequence[Tensor], *, always_return: bool) -> list[str]:
    """A line for each node; the bodies of loops and branches stand below them, indented, once."""
    from symc.inputs import Constant

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


def dprint(outputs: Tensor | Sequence[Tensor], file: TextIO | None = None) -> None:
    """Writes the graph to `file` (default: standard output), a line for each node."""
    (file or sys.stdout).write(dprint_text(outputs) + "\n")


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
        from symc.latex import latex as written

        return written(node)
    return expression(node, depth=200, longest=None)


def stages(function: Function) -> str:
    """Every stage of a function, one after the other: graph, plan, program, passes, source."""
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


def explain(made: Stages) -> str:
    """What the schedule decided: kernels, what they share, what is stored, and why.

    With each kernel stands what it moves and computes; see `codegen/amounts.py` for what counts.
    """
    work = _work(made)
    lines = [_unit(unit, number, work) for number, unit in enumerate(made.plan.units, 1)]
    if made.in_place:
        names = ", ".join(sorted(shared.name or repr(shared) for shared in made.in_place))
        lines.append(f"updated in place: {names}")
    return "\n".join([*lines, *made.plan.reasons])


def _work(made: Stages) -> dict[Tensor, str]:
    """What the kernel that computes a node moves and computes."""
    from symc.codegen.amounts import work_of
    from symc.codegen.blocks import working_steps, written

    found: dict[Tensor, str] = {}
    for step, kernel in working_steps(made.program):
        if isinstance(step, Launch):
            work = work_of(made.program, step)
            text = f"reads {work.read} bytes, writes {work.written}, {work.operations} operations"
            nodes = [node for name in written(step, kernel) for node in made.holds.get(name, ())]
            found.update(dict.fromkeys(nodes, text))
    return found


def _unit(unit: Unit, number: int, work: Mapping[Tensor, str]) -> str:
    match unit:
        case Nest(stages_, depth):
            stages = "1 stage" if len(stages_) == 1 else f"{len(stages_)} stages"
            loops = f", sharing {depth} outer loop{'s' * (depth > 1)}" if depth else ""
            return _kernel(f"{number}. kernel, {stages}{loops}", stages_, work)
        case Lone(stage):
            return _kernel(f"{number}. kernel of its own", (stage,), work)
        case Invoke(stages_):
            in_python = isinstance(stages_[0].lowering, HostCall)
            head = f"{number}. {'called in Python' if in_python else 'library call'}"
            return "\n".join([head, *(f"     {described(stage.node)}" for stage in stages_)])
        case Inside(stages_, plans):
            lines = [f"{number}. loop or branch", *(f"     {described(s.node)}" for s in stages_)]
            for plan in plans:
                inner = (_unit(inside, n, work) for n, inside in enumerate(plan.units, 1))
                lines += ["     " + line for text in inner for line in text.split("\n")]
            return "\n".join(lines)
        case Test(number=test):
            return f"{number}. run-time condition {test + 1}"
        case Reading(size, node):
            return f"{number}. the length {size} becomes known: {described(node)}"


def _kernel(head: str, stages_: Sequence[Stage], work: Mapping[Tensor, str]) -> str:
    moved = [f"     {work[stage.node]}" for stage in stages_ if stage.node in work]
    return "\n".join([head, *(f"     {described(stage.node)}" for stage in stages_), *moved[:1]])
