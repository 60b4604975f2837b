"""How long loops take in the interpreter: the nodes that it computes in all of their steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symc.calls.too_large import CallLengths
from symc.graph.dims import Dim
from symc.graph.node import Array, Tensor
from symc.graph.walks import walk
from symc.loops.scan import Scan
from symc.tensor.lengths import dim_of


def count_of_steps(order: Sequence[Tensor], inputs: Mapping[Tensor, Array]) -> int:
    """The number of nodes in all steps of the loops of a graph, where steps are known beforehand.

    A loop is as long as it may be: one that stops early counts with all of its steps.
    """
    lengths = CallLengths(inputs)
    for node in order:
        lengths.refused(node)  # which notes how large it is
    return _count(order, lengths.value)


def _count(order: Sequence[Tensor], value: Callable[[Dim], int | None]) -> int:
    """The same of nodes whose lengths have such values, None where those are not to be known."""
    total, seen = 0, set[object]()
    for node in order:
        if isinstance(node.op, Scan):
            key = (node.op.common(), node.args)
            if key not in seen:
                seen.add(key)
                body = walk(node.op.body.results)
                steps = value(dim_of(node.args[0])) or 0
                total += steps * (len(body) + _count(body, _inside(node.op, node.args, value)))
    return total


def _inside(
    loop: Scan, args: Sequence[Tensor], value: Callable[[Dim], int | None]
) -> Callable[[Dim], int | None]:
    """Values of the lengths in a loop's body, where they are lengths outside."""
    outside = loop.lengths(args)

    def found(dim: Dim) -> int | None:
        known = outside(dim)
        return None if known is None else value(known)

    return found
