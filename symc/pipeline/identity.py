"""The identity of a function across processes: text that is equal exactly for equal graphs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

from symc import version
from symc.graph.inputs import Input, Shared
from symc.graph.node import Tensor
from symc.graph.request import Request
from symc.graph.walks import walk


def graph_text(request: Request) -> str:
    """All that decides the compiled code: ops, types, names, and updated variables."""
    number: dict[Tensor, int] = {}
    text = _lines([*request.inputs, *request.shared], request.roots(), number)
    text.append(",".join(str(number[shared]) for shared, _ in request.updates))
    return "\n".join([request.name, *text])


def graph_parts(request: Request) -> dict[str, str]:
    """The parts of a cache key that are of the graph; `function` is there for people."""
    inputs = ", ".join(node.name or "?" for node in request.inputs)
    return {"function": f"{request.name}({inputs})"[:80], "graph": graph_text(request)}


def text_of(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> str:
    """As `graph_text`, for a part of a graph."""
    return "\n".join(_lines(inputs, outputs, {}))


def _lines(
    inputs: Sequence[Tensor], roots: Sequence[Tensor], number: dict[Tensor, int]
) -> list[str]:
    """A line for each node; `number` receives their numbers."""
    text: list[str] = []
    for node in inputs:
        number[node] = len(number)
        text.append(_source(node))
    for node in walk(roots, stop=number.__contains__):
        if node not in number:
            args = ",".join(str(number[arg]) for arg in node.args)
            text.append(f"{node.op.key()}({args})={node.name or ''}")
            number[node] = len(number)
    text.append(",".join(str(number[root]) for root in roots))
    return text


def _source(node: Tensor) -> str:
    kind = type(node.op).__name__
    declared = node.op.declared if isinstance(node.op, Input | Shared) else node.ndim
    return f"{kind} {node.name or ''} {node.dtype} {declared}"


ONLY_ASK = frozenset({
    "commands", "dask", "demo", "measure", "nets", "optim", "pytensor", "show", "sympy", "theano",
})  # fmt: skip
"""The packages that make graphs or look at functions, a third of all files: no compiled code comes
from them. `tests/test_layers.py` sees that nothing that compiles imports them."""


@cache
def symc_text() -> str:
    """The files (names, sizes, times) that compile: another symc, another cache key."""
    return "\n".join(sorted(_listing(os.path.dirname(version.__file__), "")))


def _listing(root: str, folder: str) -> list[str]:
    lines: list[str] = []
    with os.scandir(f"{root}/{folder}") as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".h", ".cuh", ".clh", ".table")):
                info = entry.stat()
                lines.append(f"{folder}{entry.name} {info.st_size} {info.st_mtime_ns}")
            elif (
                not entry.name.startswith("__")
                and (folder or entry.name not in ONLY_ASK)
                and entry.is_dir()
            ):
                lines += _listing(root, f"{folder}{entry.name}/")
    return lines
