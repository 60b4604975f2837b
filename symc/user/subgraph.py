"""`symc.function_of`: a part of a graph to be used again, with a gradient of its own if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from symc.codegen.record import record
from symc.derivatives.arguments import by_arguments
from symc.errors import FunctionError
from symc.graph.inputs import Input, Shared, as_tensor
from symc.graph.interpreter import evaluate
from symc.graph.node import Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.graph.walks import substitute, walk
from symc.tensor.broadcast import describe
from symc.user.declared import Rule, pulled


def function_of(
    inputs: Sequence[Tensor],
    outputs: Tensor | Sequence[Tensor],
    *,
    grad: Rule | None = None,
    name: str = "subgraph",
) -> Subgraph:
    """Makes a function of tensors from a part of a graph.

    The result is called with a tensor for each of the `inputs`; it gives the `outputs` for those,
    a tensor or a list, as if they had been written out. They may depend on other tensors too.

    With `grad`, or ``@f.grad``, gradients with respect to the inputs are not derived but given: by
    a function of the output's gradient (a list where there are several) and of the inputs,
    that returns a tensor for each input, or None where nothing flows.

    >>> import symc, symc.tensor as T
    >>> a, b = T.scalars("a", "b")
    >>> f = symc.function_of([a, b], a * b + 1)
    >>> f(2.0, T.constant(3.0)).eval()
    array(7.)
    >>> clipped = symc.function_of([a], a, grad=lambda bar, a: T.clip(bar, -1, 1))
    >>> x = T.scalar("x")
    >>> symc.grad(5 * clipped(x), x).eval({x: 0.0})
    array(1.)
    """
    single = isinstance(outputs, Tensor)
    return Subgraph(
        _tensors("inputs", inputs),
        _tensors("outputs", [outputs] if isinstance(outputs, Tensor) else outputs),
        single=single, rule=grad, name=name,
    )  # fmt: skip


def _tensors(what: str, given: Sequence[Tensor]) -> list[Tensor]:
    if not isinstance(cast("object", given), list | tuple):
        raise TypeError(f"function_of: {what} are tensors in a list or tuple, not {given!r}")
    for each in given:
        if not isinstance(cast("object", each), Tensor):
            raise TypeError(
                f"function_of: {what} must be tensors, not {each!r}; T.as_tensor makes them of "
                "arrays and numbers"
            )
    return list(given)


class Subgraph:
    """A part of a graph as a function of tensors."""

    def __init__(
        self,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        *,
        single: bool,
        rule: Rule | None,
        name: str,
    ) -> None:
        if len(set(inputs)) < len(inputs):
            raise FunctionError("function_of: an input is listed twice")
        given = set(inputs)
        order = walk(outputs, stop=given.__contains__)
        others = [n for n in order if isinstance(n.op, Input | Shared) and n not in given]
        self.inputs = (*inputs, *others)
        self.count = len(inputs)
        self.outputs = tuple(outputs)
        self.single = single
        self.rule = rule
        self.name = name

    def __repr__(self) -> str:
        return f"<subgraph {self.name} of {self.count} inputs>"

    def grad(self, rule: Rule) -> Rule:
        """Sets the rule of the gradient; a decorator."""
        self.rule = rule
        return rule

    def __call__(self, *args: TensorLike) -> Any:
        """The output for these tensors, or a list where there are several."""
        if len(args) != self.count:
            raise TypeError(f"{self.name} takes {self.count} arguments, not {len(args)}")
        tensors = [
            as_tensor(arg, wanted.dtype) for arg, wanted in zip(args, self.inputs, strict=False)
        ]
        for arg, wanted in zip(tensors, self.inputs, strict=False):
            if arg.dtype is not wanted.dtype or arg.ndim != wanted.ndim:
                raise FunctionError(
                    f"{self.name}: an argument must have the dtype and the number of axes of the "
                    f"input\n  input  {describe(wanted)}\n  given  {describe(arg)}"
                )
        tensors += self.inputs[self.count :]
        if self.rule is None:
            results = self.expanded(tensors)
        else:
            results = [Expanded(self, number)(*tensors) for number in range(len(self.outputs))]
        return results[0] if self.single else results

    def expanded(self, args: Sequence[Tensor]) -> list[Tensor]:
        """The outputs written out."""
        return substitute(self.outputs, dict(zip(self.inputs, args, strict=True)))


@record
class Expanded(Op):
    """One output of a subgraph whose gradient is given."""

    subgraph: Subgraph
    number: int

    def infer(self, *args: Tensor) -> TensorType:
        return self.subgraph.expanded(args)[self.number].type

    @property
    def takes_bfloat16(self) -> bool:
        return True

    def evaluate(self, *args: Array) -> Array:
        values = dict(zip(self.subgraph.inputs, args, strict=True))
        return evaluate([self.subgraph.outputs[self.number]], values)[0]

    def expand(self, node: Tensor) -> Tensor:
        return self.subgraph.expanded(node.args)[self.number]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        from symc.user.mapped import Mapped

        return Mapped(self, tuple(batched))(*args)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        graph, count = self.subgraph, self.subgraph.count
        bars = [
            bar if number == self.number else Expanded(graph, number)(*node.args) * 0
            for number in range(len(graph.outputs))
        ]
        given = bars[0] if graph.single else bars
        own = pulled(graph.name, graph.rule, given, node.args[:count])
        others = node.args[count:]
        if not others:
            return own
        rest = by_arguments(
            lambda slots: graph.expanded([*node.args[:count], *slots])[self.number], others, bar
        )
        return [*own, *rest]

    def key(self) -> str:
        from symc.pipeline.identity import text_of

        return f"Expanded({text_of(self.subgraph.inputs, self.subgraph.outputs)}, {self.number})"

    @property
    def label(self) -> str:
        return self.subgraph.name
