"""Ops with a gradient of their own inside loops and graphs that are one op.

There symc differentiates the meaning of a whole step, and would not ask the ops in it. So the
result of such an op is routed: its value is the op's meaning, and what flows back goes through the
op's own `L_op`, translated, to its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.codegen.record import record
from symc.graph.node import Tensor
from symc.graph.passing import Passing
from symc.tensor.elementwise import cast_to
from symc.theano.gof.graph import Apply
from symc.theano.gof.null_type import DisconnectedType, NullType


class Rule:
    """The gradient step of output `position` of an application."""

    def __init__(self, node: Apply, position: int) -> None:
        from symc.theano.meaning import detached

        self.node, self.position = detached(node), position

    def __call__(self, inputs: Sequence[Tensor], bar: Tensor) -> list[Tensor | None]:
        """The gradients by the inputs."""
        from symc.theano.meaning import Translation, meaning_of

        node = self.node
        hole = node.outputs[self.position].type()
        bars = [hole if k == self.position else DisconnectedType()() for k in range(node.nout)]
        parts = node.op.L_op(list(node.inputs), list(node.outputs), bars)
        known = dict(zip(node.inputs, inputs, strict=True))
        known.update(zip(node.outputs, meaning_of(node, inputs), strict=True))
        translation = Translation({**known, hole: bar}, routes=True)
        return [_part(translation, part, each) for part, each in zip(parts, inputs, strict=True)]


def _part(translation: Any, part: Any, arg: Tensor) -> Tensor | None:
    if isinstance(part.type, DisconnectedType | NullType) or not arg.dtype.is_inexact:
        return None
    (found,) = translation.expressions([part])
    result: Tensor = cast_to(found, arg.dtype)
    return result


@record
class Routed(Passing):
    """The first argument, whose gradient goes by a rule to the others."""

    rule: Rule

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return args[0]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [None, *self.rule(node.args[1:], bar)]


def routed(node: Apply, args: Sequence[Tensor], results: Sequence[Tensor]) -> list[Tensor]:
    """The results of an application, with the op's own gradient where it has one."""
    if not node.op.has_own_step or not any(arg.dtype.is_inexact for arg in args):
        return list(results)
    return [
        Routed(Rule(node, position))(result, *args) if result.dtype.is_inexact else result
        for position, result in enumerate(results)
    ]
