"""`ifelse`: one of two values, of which only that one is computed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import symc
from symc.graph.node import Tensor
from symc.theano.common_names import answer
from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.gof.op import Op
from symc.theano.lenient import chosen, lengths_vary
from symc.theano.pullback import is_smooth
from symc.theano.tensor.convert import as_tensor_variable


class IfElse(Op):
    """The first `n_outs` values after the condition, or the others."""

    step_follows_meaning = True

    __props__ = ("n_outs", "name")

    def __init__(
        self, n_outs: int, as_view: bool = False, gpu: bool = False, name: str | None = None
    ) -> None:
        del as_view, gpu
        self.n_outs, self.name = n_outs, name

    def make_node(self, c: Any, *args: Any) -> Apply:
        assert len(args) == 2 * self.n_outs, "Wrong number of arguments to make_node"
        condition = as_tensor_variable(c)
        assert condition.ndim == 0, "the condition is a scalar"
        given = [each if isinstance(each, Variable) else as_tensor_variable(each) for each in args]
        return Apply(self, [condition, *given], [each.type() for each in given[: self.n_outs]])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        condition, *values = inputs
        then, other = values[: self.n_outs], values[self.n_outs :]
        if lengths_vary():
            return chosen(condition, then, other)
        return list(symc.ifelse(condition, then, other))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """The condition's gradient is zeros; each value is connected to its output."""
        count = self.n_outs
        ways = [[position % count == out for out in range(count)] for position in range(2 * count)]
        return [[True] * count, *ways]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        from symc.theano.gradient_types import zeros_of

        condition, *values = inputs
        count = self.n_outs
        bars = [
            each.zeros_like() if isinstance(bar.type, DisconnectedType) else bar
            for each, bar in zip(outputs, output_grads, strict=True)
        ]
        zeros = [zeros_of(each) for each in values]
        then, other = zeros[:count], zeros[count:]
        smooth = [k for k in range(count) if is_smooth(values[k].type)]
        ours = _many(condition, [bars[k] for k in smooth], [then[k] for k in smooth])
        theirs = _many(condition, [other[k] for k in smooth], [bars[k] for k in smooth])
        for k, mine, its in zip(smooth, ours, theirs, strict=True):
            then[k], other[k] = mine, its
        return [zeros_of(condition), *then, *other]

    def __str__(self) -> str:
        return f"if{{{self.name}}}" if self.name else "if{}"


def _many(condition: Any, then: list[Any], other: list[Any]) -> list[Any]:
    if not then:
        return []
    pairs = [_alike(a, b) for a, b in zip(then, other, strict=True)]
    lefts, rights = zip(*pairs, strict=True)
    return list(IfElse(len(pairs))(condition, *lefts, *rights, return_list=True))


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """`then_branch` where the condition is true, else `else_branch`: a value or several."""
    many = isinstance(then_branch, list | tuple)
    then = list(then_branch) if many else [then_branch]
    other = list(else_branch) if isinstance(else_branch, list | tuple) else [else_branch]
    if len(then) != len(other):
        raise ValueError(
            "The number of values on the `then` branch should have the same number of variables as "
            f"the `else` branch : (variables on `then` {len(then)}, variables on `else` "
            f"{len(other)})"
        )
    lefts: list[Any] = []
    rights: list[Any] = []
    for a, b in zip(then, other, strict=True):
        left, right = _alike(a, b)
        lefts.append(left)
        rights.append(right)
    found = IfElse(len(lefts), name=name)(condition, *lefts, *rights, return_list=True)
    if isinstance(then_branch, tuple):
        return tuple(found)
    return found if many else found[0]


def _alike(then: Any, other: Any) -> tuple[Any, Any]:
    """Two values of one type. Raises TypeError where they cannot have that."""
    left = then if isinstance(then, Variable) else as_tensor_variable(then)
    right = other if isinstance(other, Variable) else as_tensor_variable(other)
    if left.type == right.type:
        return left, right
    try:
        return left, left.type.filter_variable(right)
    except TypeError:
        pass
    try:
        return right.type.filter_variable(left), right
    except TypeError:
        raise TypeError(
            f"The two branches should have identical types, but they are {left.type} and "
            f"{right.type} respectively. This error could be raised if for example you provided a "
            "one element list on the `then` branch but a tensor on the `else` branch."
        ) from None


answer(sys.modules[__name__])
