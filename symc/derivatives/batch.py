"""Batching: the same computation over a new leading axis of some inputs, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc import tensor as T
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import walk


def batch(
    outputs: Sequence[Tensor], batched: Mapping[Tensor, Tensor], length: Tensor
) -> list[Tensor]:
    """The outputs for every element of the batch: each gets a new leading axis.

    `batched` maps tensors of the graph to tensors with one more, leading, axis of `length`.
    Nodes that do not depend on them are shared by all elements; the others apply their op's
    batching rule once. Raises `NotBatchable` when an op has none.
    """
    new: dict[Tensor, Tensor] = dict(batched)
    for node in walk(outputs, stop=lambda node: node in batched):
        if node in new:
            continue
        flags = [arg in new for arg in node.args]
        if any(flags):
            args = [new.get(arg, arg) for arg in node.args]
            with located_at(node.where):
                new[node] = node.op.batch(args, flags)
    return [
        new[output] if output in new else T.broadcast_to(output, (length, *output.shape))
        for output in outputs
    ]
