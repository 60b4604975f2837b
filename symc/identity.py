"""The identity of a function across processes: text that is equal exactly for equal graphs."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from symc.graph import Tensor, walk
from symc.inputs import Input, Shared
from symc.request import Request


def graph_digest(request: Request) -> str:
    """A hash of all that decides what is compiled: ops, types, names, and what is updated."""
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
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


def _source(node: Tensor) -> str:
    assert isinstance(node.op, Input | Shared)
    kind = type(node.op).__name__
    return f"{kind} {node.name or ''} {node.dtype} {node.op.declared}"


@cache
def symc_digest() -> str:
    """A hash of symc's own files (names, sizes, times): another symc, another cache key."""
    root = Path(__file__).resolve().parent
    found: list[str] = []
    for folder in (root, root / "tensor", root / "rewrite", root / "codegen", root / "cache"):
        found += _listing(folder)
    for name in ("passes", "runtime", "targets"):
        found += _listing(root / "codegen" / name)
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()


def _listing(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [
            f"{folder.name}/{entry.name} {info.st_size} {info.st_mtime_ns}"
            for entry in entries
            if entry.name.endswith((".py", ".h")) and (info := entry.stat())
        ]
