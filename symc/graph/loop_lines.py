"""Errors in loops and branches name the line of the loop, beside that of what failed in it.

Equal bodies are the same nodes, whichever loop they were written for: the line in an error of
``a[i + 1]`` is that of the first loop which reads so. The line of the loop itself is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symc.errors import SymcError
from symc.graph.node import Tensor
from symc.graph.provenance import NOWHERE, Where


def naming_line(node: Tensor, compute: Callable[..., Any]) -> Callable[..., Any]:
    """What computes a node: for a loop or branch, errors of its steps get the node's line."""
    if not node.op.is_control or node.where is NOWHERE:
        return compute

    def named(*args: Any) -> Any:
        try:
            return compute(*args)
        except SymcError as error:
            error.args = (with_loop(str(error), node.where), *error.args[1:])
            raise

    return named


def with_loop(text: str, where: Where) -> str:
    """An error's text with the line of the loop or branch, unless that is there already."""
    return text if f"{where}\n" in f"{text}\n" else f"{text}\n  in     {where}"
