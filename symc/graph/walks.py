"""Walks over graphs that never recurse: the nodes in order, and graphs with nodes replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from symc.graph.node import Tensor
from symc.graph.provenance import located_at


def walk(outputs: Iterable[Tensor], stop: Callable[[Tensor], bool] | None = None) -> list[Tensor]:
    """Every node the outputs depend on, arguments before users, in a fixed order.

    Where `stop` holds for a node, its arguments are not visited.
    """
    order: list[Tensor] = []
    seen: set[Tensor] = set()
    path: list[Tensor] = []  # the nodes whose arguments are being visited
    pending = [iter(outputs)]
    while pending:
        for node in pending[-1]:
            if node not in seen:
                seen.add(node)
                if node.args and (stop is None or not stop(node)):
                    path.append(node)
                    pending.append(iter(node.args))
                    break
                order.append(node)
        else:
            pending.pop()
            if path:
                order.append(path.pop())
    return order


def walk_within(outputs: Iterable[Tensor]) -> Iterator[Tensor]:
    """Every node the outputs depend on, and those of the graphs within ops: see `Op.graphs`."""
    seen: set[tuple[Tensor, ...]] = set()
    pending = [tuple(outputs)]
    while pending:
        for node in walk(pending.pop()):
            yield node
            inner = {results for _, results in node.op.graphs()} - seen
            seen |= inner
            pending += inner


def substitute(outputs: Sequence[Tensor], replace: Mapping[Tensor, Tensor]) -> list[Tensor]:
    """The outputs with nodes replaced. Types are inferred anew; replacements are not searched."""
    if not replace:
        return list(outputs)
    done: dict[Tensor, Tensor] = dict(replace)
    for node in walk(outputs, stop=lambda node: node in replace):
        if node not in done:
            done[node] = rebuild(node, [done[arg] for arg in node.args])
    return [done[output] for output in outputs]


def rebuild(node: Tensor, args: Sequence[Tensor]) -> Tensor:
    """The node's op on other arguments, attributed to the same line; itself if nothing changed."""
    if all(new is old for new, old in zip(args, node.args, strict=True)):
        return node
    with located_at(node.where):
        created = node.op(*args)
    if created.name is None and node.name is not None and created is not node:
        created.name = node.name
    return created
