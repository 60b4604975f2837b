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
    """The graph as text: one line for each node, arguments before users, with dtypes and shapes.

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

    A line has a node's number, op and arguments, its dtype and shape, and the user's line.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.dprint(T.exp(x) + 1)  # doctest: +ELLIPSIS
    %0 = input x            float64[x.shape[0]]  ...
    %1 = exp(%0)            float64[x.shape[0]]  ...
    %2 = add(%1, 1.0)       float64[x.shape[0]]  ...
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
    """Every stage of a function as text: graph, plan, program, passes, source.

    Of a `Function` that was compiled; it need not have been called.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> text = symc.debug.stages(symc.function([x], T.exp(x)))
    >>> "float64[x.shape[0]]" in text and "exp(" in text
    True
    """
    from symc.calls.callable import compiled_function

    compiled_function(function, "symc.debug.stages")
    made = function.runner.compilation()
    from symc.codegen.text import text

    parts = [
        ("graph, rewritten", dprint_text(made.rewritten)),
        ("plan", explain(made)),
        ("program", text(made.program)),
        ("program after the passes", text(made.optimised)),
        ("source", made.source.text),
    ]
    return "\n\n".join(f"=== {title} ===\n{body}" for title, body in parts)


def __dir__() -> list[str]:
    return [*__all__]
