"""The graph of a function as it is compiled, where lengths come from the inputs of what has them.

symc never computes a tensor for its shape alone. So that programs that look at ``maker.fgraph`` see
what runs, shapes of results stand there as `InferredShape` of the variables they are told from, and
writing into a tensor that nothing else needs as the op that does so in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from symc.graph.node import Tensor
from symc.graph.walks import substitute
from symc.theano.gof.graph import Apply, Constant, io_toposort, replaced
from symc.theano.gof.op import Op
from symc.theano.tensor.shaping import Shape, Shape_i
from symc.theano.tensor.subtensor import AdvancedIncSubtensor1, Writing


class InferredShape(Op):
    """Lengths, as an expression of what they depend on."""

    def __init__(self, expression: Tensor, symbols: Sequence[Tensor], kind: Any) -> None:
        self.expression, self.symbols, self.kind = expression, tuple(symbols), kind

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, inputs, [self.kind()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return substitute([self.expression], dict(zip(self.symbols, inputs, strict=True)))


def as_compiled(
    inputs: Sequence[Any], outputs: Sequence[Any], known: Mapping[Any, Tensor]
) -> list[Any]:
    """The outputs with shapes told from the inputs, where `known` translates all variables."""
    by_node: dict[Tensor, Any] = {}
    for variable, expression in known.items():
        if not isinstance(variable, Constant):
            by_node.setdefault(expression, variable)
    pairs: dict[Any, Any] = {}
    nodes = io_toposort(inputs, outputs)
    lengths = [v for node in nodes if isinstance(node.op, Shape | Shape_i) for v in node.outputs]
    for node in nodes:
        (x, *_) = node.inputs or [None]
        if not isinstance(node.op, Shape | Shape_i) or x in inputs or x.owner is None:
            continue
        (length,) = node.outputs
        if length not in known or _runs_itself(x.owner.op):
            continue
        needed = _needed(known[length], by_node, {*lengths, *x.owner.outputs})
        if x not in needed:
            op = InferredShape(known[length], [known[each] for each in needed], length.type)
            pairs[length] = op(*needed)
    return replaced(outputs, pairs) if pairs else list(outputs)


def written_in_place(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The outputs, where writing into a tensor is in place if nothing else needs that tensor."""
    nodes = io_toposort(inputs, outputs)
    uses = Counter(each for node in nodes for each in node.inputs)
    uses.update([*inputs, *outputs])
    memo: dict[Any, Any] = {}
    for node in nodes:
        news = [memo.get(each, each) for each in node.inputs]
        if isinstance(node.op, Writing | AdvancedIncSubtensor1):
            whole = node.inputs[0]
            if whole.owner is not None and uses[whole] == 1:
                memo[node.outputs[0]] = node.op.in_place().make_node(*news).outputs[0]
                continue
        if news != node.inputs:
            made = node.clone_with_new_inputs(news).outputs
            memo.update(zip(node.outputs, made, strict=True))
    return [memo.get(each, each) for each in outputs]


def _runs_itself(op: Any) -> bool:
    """Whether the op computes its results to know their lengths."""
    return type(op).meaning is Op.meaning and getattr(op, "infer_shape", None) is None


def _needed(
    expression: Tensor, by_node: Mapping[Tensor, Any], hidden: Collection[Any]
) -> list[Any]:
    """The variables that an expression is made of, those that are hidden left out."""
    found: dict[Any, None] = {}
    pending, seen = [expression], set[Tensor]()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = by_node.get(node)
        if variable is not None and variable not in hidden:
            found[variable] = None
        else:
            pending.extend(node.args)
    return list(found)
