"""Batching: the same computation over a new leading axis of some inputs, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc import tensor as T
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import rebuild, walk
from symc.tensor.lengths import Length
from symc.tensor.lengths import length as length_of


def batch(
    outputs: Sequence[Tensor], batched: Mapping[Tensor, Tensor], length: Tensor
) -> list[Tensor]:
    """The outputs for every element of the batch: each gets a new leading axis.

    `batched` maps tensors of the graph to tensors with one more, leading, axis of `length`.
    Nodes that do not depend on them are shared by all elements, and so are lengths of those that
    do; the others apply their op's batching rule once. Raises `NotBatchable` when an op has none.
    """
    new: dict[Tensor, Tensor] = dict(batched)
    shared: dict[Tensor, Tensor] = {}  # what follows from lengths alone
    for node in walk(outputs, stop=lambda node: node in batched):
        if node in new:
            continue
        flags = [arg in new for arg in node.args]
        args = [new.get(arg, shared.get(arg, arg)) for arg in node.args]
        if any(flags) and isinstance(node.op, Length):
            shared[node] = length_of(args[0], node.op.axis + 1)
        elif any(flags):
            with located_at(node.where):
                new[node] = node.op.batch(args, flags)
        elif any(arg in shared for arg in node.args):
            shared[node] = rebuild(node, args)
    return [
        new[output]
        if output in new
        else T.broadcast_to(shared.get(output, output), (length, *output.shape))
        for output in outputs
    ]
