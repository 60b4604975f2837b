"""How long loops take in the interpreter: the nodes that it computes in all of their steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.calls.too_large import CallLengths
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
    return _count(order, lengths)


def _count(order: Sequence[Tensor], lengths: CallLengths) -> int:
    total, seen = 0, set[object]()
    for node in order:
        if isinstance(node.op, Scan):
            key = (node.op.common(), node.args)
            if key not in seen:
                seen.add(key)
                body = walk(node.op.body.results)
                steps = lengths.value(dim_of(node.args[0])) or 0
                total += steps * (len(body) + _count(body, lengths))
    return total
