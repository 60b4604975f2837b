"""The identity of a function across processes: text that is equal exactly for equal graphs."""

from __future__ import annotations

import os
from functools import cache

from symc.graph import Tensor, walk
from symc.inputs import Input, Shared
from symc.request import Request


def graph_text(request: Request) -> str:
    """All that decides what is compiled: ops, types, names, and what is updated."""
    number: dict[Tensor, int] = {}
    text: list[str] = [request.name]
    for node in (*request.inputs, *request.shared):
        number[node] = len(number)
        text.append(_source(node))
    roots = request.roots()
    for node in walk(roots):
        if node not in number:
            args = ",".join(str(number[arg]) for arg in node.args)
            text.append(f"{node.op.key()}({args})={node.name or ''}")
            number[node] = len(number)
    text.append(",".join(str(number[root]) for root in roots))
    text.append(",".join(str(number[shared]) for shared, _ in request.updates))
    return "\n".join(text)


def _source(node: Tensor) -> str:
    assert isinstance(node.op, Input | Shared)
    kind = type(node.op).__name__
    return f"{kind} {node.name or ''} {node.dtype} {node.op.declared}"


@cache
def symc_text() -> str:
    """symc's own files (names, sizes, times): another symc, another cache key."""
    root = os.path.dirname(__file__)
    return "\n".join(sorted(line for folder in _FOLDERS for line in _listing(root, folder)))


_FOLDERS = (
    ".", "tensor", "rewrite", "loops", "codegen", "codegen/passes", "codegen/runtime",
    "codegen/targets", "cache",
)  # fmt: skip


def _listing(root: str, folder: str) -> list[str]:
    with os.scandir(f"{root}/{folder}") as entries:
        return [
            f"{folder}/{entry.name} {info.st_size} {info.st_mtime_ns}"
            for entry in entries
            if entry.name.endswith((".py", ".h")) and (info := entry.stat())
        ]
