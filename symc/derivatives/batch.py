"""Batching: the same computation over a new leading axis of some inputs, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc import tensor as T
from symc.errors import NotBatchable
from symc.graph.node import Op, Tensor
from symc.graph.provenance import located_at
from symc.graph.registry import SERVICES
from symc.graph.walks import rebuild, walk
from symc.tensor.lengths import Length, lengths_differ
from symc.tensor.lengths import length as length_of


def batch(
    outputs: Sequence[Tensor], batched: Mapping[Tensor, Tensor], length: Tensor, *,
    in_turn: bool = False,
) -> list[Tensor]:  # fmt: skip
    """The outputs for every element of the batch: each gets a new leading axis.

    `batched` maps tensors of the graph to tensors with one more, leading, axis of `length`.
    Nodes that do not depend on them are shared by all elements, and so are lengths of those that
    do; the others apply their op's batching rule once. An op that has none, or none for these
    arguments, is applied to one element after the other if `in_turn`, by a loop. Raises
    `NotBatchable` otherwise, and where the lengths of a result would differ.
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
                new[node] = _applied(node, args, flags, (new, shared) if in_turn else None)
        elif any(arg in shared for arg in node.args):
            shared[node] = rebuild(node, args)
    return [
        new[output]
        if output in new
        else T.broadcast_to(shared.get(output, output), (length, *output.shape))
        for output in outputs
    ]


def _applied(
    node: Tensor, args: Sequence[Tensor], flags: Sequence[bool],
    in_turn: tuple[Mapping[Tensor, Tensor], Mapping[Tensor, Tensor]] | None,
) -> Tensor:  # fmt: skip
    op = node.op
    try:
        return op.batch(args, flags)
    except NotBatchable as refused:
        if in_turn is None:
            raise
        found: Tensor | None = SERVICES["in_turn"](node, args, *in_turn)
        if found is not None:
            return found
        has_rule = type(op).batch is not Op.batch
        raise refused if has_rule else lengths_differ(op.label) from None
