"""Searches through graphs, of whatever nodes, that programs bring their own steps to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any


def stack_search(
    start: deque[Any], expand: Callable[[Any], Iterable[Any] | None], mode: str = "bfs",
    build_inv: bool = False,
) -> Any:  # fmt: skip
    """The nodes that can be reached from some, each once, in the order of the search.

    `expand` gives the nodes that follow from one, or None. The search goes by breadth ("bfs") or by
    depth ("dfs"), and empties `start`. With `build_inv` it also gives, for each node, the nodes
    that it follows from.
    """
    if mode not in ("bfs", "dfs"):
        raise ValueError("mode should be bfs or dfs", mode)
    take = start.popleft if mode == "bfs" else start.pop
    found: dict[int, Any] = {}
    before: dict[Any, list[Any]] = {}
    while start:
        node = take()
        if id(node) in found:
            continue
        found[id(node)] = node
        following = list(expand(node) or ())
        for each in following if build_inv else ():
            before.setdefault(each, []).append(node)
        start.extend(following)
    return (list(found.values()), before) if build_inv else list(found.values())


def is_in_ancestors(l_node: Any, f_node: Any) -> bool:
    """Whether an application needs another one, or is it."""
    nodes = stack_search(
        deque([l_node]), lambda node: [v.owner for v in node.inputs if v.owner is not None], "dfs"
    )
    return any(node is f_node for node in nodes)
