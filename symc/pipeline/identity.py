"""The identity of a function across processes: text that is equal exactly for equal graphs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

from symc import version
from symc.codegen.targets.stamps import stamps
from symc.graph.inputs import Input, Shared
from symc.graph.node import Tensor
from symc.graph.request import Request
from symc.graph.walks import walk


def graph_text(request: Request) -> str:
    """All that decides the compiled code: ops, types, names, and updated variables."""
    return "\n".join(text for text, _ in graph_lines(request))


def graph_lines(request: Request) -> list[tuple[str, Tensor | None]]:
    """The lines of `graph_text`, each with the node that it is of."""
    number: dict[Tensor, int] = {}
    lines = _lines([*request.inputs, *request.shared], request.roots(), number)
    updated = ",".join(str(number[shared]) for shared, _ in request.updates)
    given = ",".join(str(number[x]) for x in request.given)
    return [(request.name, None), *lines, (updated, None), (given, None)]


def graph_parts(request: Request) -> dict[str, str]:
    """The parts of a cache key that are of the graph; `function` is there for people."""
    inputs = ", ".join(node.name or "?" for node in request.inputs)
    return {"function": f"{request.name}({inputs})"[:80], "graph": graph_text(request)}


def text_of(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> str:
    """As `graph_text`, for a part of a graph."""
    return "\n".join(text for text, _ in _lines(inputs, outputs, {}))


def _lines(
    inputs: Sequence[Tensor], roots: Sequence[Tensor], number: dict[Tensor, int]
) -> list[tuple[str, Tensor | None]]:
    """A line for each node, and one of the results; `number` receives the nodes' numbers."""
    lines: list[tuple[str, Tensor | None]] = []
    for node in inputs:
        number[node] = len(number)
        lines.append((_source(node), node))
    for node in walk(roots, stop=number.__contains__):
        if node not in number:
            args = ",".join(str(number[arg]) for arg in node.args)
            lines.append((f"{node.op.key()}({args})={node.name or ''}", node))
            number[node] = len(number)
    lines.append((",".join(str(number[root]) for root in roots), None))
    return lines


def _source(node: Tensor) -> str:
    kind = type(node.op).__name__
    declared = node.op.declared if isinstance(node.op, Input | Shared) else node.ndim
    return f"{kind} {node.name or ''} {node.dtype} {declared}"


ONLY_ASK = frozenset({
    "commands", "dask", "demo", "measure", "nets", "optim", "pytensor", "show", "sympy", "theano",
})  # fmt: skip
"""The packages that make graphs or look at functions, a third of all files: no compiled code comes
from them. `tests/test_layers.py` sees that nothing that compiles imports them."""


_ENDINGS = (".py", ".h", ".cuh", ".clh", ".table")


@cache
def symc_text() -> str:
    """The files (names, sizes, times) that compile: another symc, another cache key."""
    return "\n".join(sorted(_listing(os.path.dirname(version.__file__), "")))


def _listing(root: str, folder: str) -> list[str]:
    lines, folders = stamps(f"{root}/{folder}", _ENDINGS)
    found = [f"{folder}{line}" for line in lines]
    for name in folders:
        if not name.startswith("__") and (folder or name not in ONLY_ASK):
            found += _listing(root, f"{folder}{name}/")
    return found
