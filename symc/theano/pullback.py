"""Derivatives of ops that have a meaning in symc: the gradient of the meaning is an op as well.

Theano walks its own graph backwards, so that gradients are Theano variables with names, owners and
gradients of their own, and programs' ops and `known_grads` take part. The local step at an op of
symc's is not written by hand: `Pullback` means symc's gradient of the op's meaning, and a
`Pullback` of that is the second derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc
import symc.tensor as T
from symc.derivatives.reverse import placeholder
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.graph.walks import substitute
from symc.tensor.elementwise import cast_to
from symc.theano.gof.graph import Apply, Constant
from symc.theano.gof.op import Op
from symc.theano.meaning import detached, meaning_of


def is_smooth(type: Any) -> bool:
    """Whether variables of a type can have derivatives."""
    return str(getattr(type, "dtype", "int")).startswith(("float", "complex"))


def _is_tensor(type: Any) -> bool:
    return hasattr(type, "dtype")


def _is_known(variable: Any) -> bool:
    """Whether a variable is a constant, or views of one."""
    while variable.owner is not None and len(variable.owner.inputs) == 1:
        (variable,) = variable.owner.inputs
    return isinstance(variable, Constant)


class Derivative(Op):
    """The base of both kinds of derivatives of an application."""

    def __init__(self, node: Apply) -> None:
        self.node = detached(node)
        self.fixed = {k for k, each in enumerate(node.inputs) if _is_known(each)}

    def holes(
        self, args: Sequence[Tensor], ways: Sequence[int]
    ) -> tuple[list[Tensor], dict[Tensor, Tensor]]:
        """The arguments, where a symbol stands for each at `ways`, and for which.

        Integers that have derivatives get one of floats.
        """
        found, back = list(args), dict[Tensor, Tensor]()
        for position in ways:
            arg = args[position]
            if position in self.fixed and constant_value(arg) is not None:
                continue
            if not arg.dtype.is_inexact:
                arg = cast_to(arg, self.node.outputs[0].dtype)
            found[position] = hole = placeholder(arg.type)
            back[hole] = arg
        return found, back

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.node.op}}}"


class Pullback(Derivative):
    """The gradients by the inputs at `wrt`, from those by the outputs at `reached`."""

    def __init__(self, node: Apply, wrt: Sequence[int], reached: Sequence[int]) -> None:
        super().__init__(node)
        self.wrt, self.reached = tuple(wrt), tuple(reached)

    def make_node(self, *inputs: Any) -> Apply:
        wide = self.node.outputs[0].type
        kinds = [inputs[position].type for position in self.wrt]
        kinds = [kind if is_smooth(kind) else kind.clone(dtype=wide.dtype) for kind in kinds]
        return Apply(self, inputs, [kind() for kind in kinds])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        count = len(self.node.inputs)
        args, bars = inputs[:count], inputs[count:]
        holes, back = self.holes(args, self.wrt)
        results = meaning_of(self.node, holes)
        outputs = [results[position] for position in self.reached]
        points = [placeholder(bar.type) for bar in bars]
        back.update(zip(points, bars, strict=True))
        sought = [holes[position] for position in self.wrt if holes[position] in back]
        points = [cast_to(p, o.dtype) for p, o in zip(points, outputs, strict=True)]
        found = symc.Lop(outputs, sought, points, disconnected="zero") if sought else []
        by_hole = dict(zip(sought, found, strict=True))
        zeros = {p: T.zeros_like(args[p]) for p in self.wrt if holes[p] not in by_hole}
        grads = [by_hole.get(holes[p], zeros.get(p)) for p in self.wrt]
        return substitute([grad for grad in grads if grad is not None], back)


class Pushforward(Derivative):
    """The derivatives of the outputs at `kept`, along directions of the inputs at `along`."""

    def __init__(self, node: Apply, along: Sequence[int], kept: Sequence[int]) -> None:
        super().__init__(node)
        self.along, self.kept = tuple(along), tuple(kept)

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, inputs, [self.node.outputs[position].type() for position in self.kept])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        count = len(self.node.inputs)
        args, directions = inputs[:count], inputs[count:]
        holes, back = self.holes(args, self.along)
        results = meaning_of(self.node, holes)
        pairs = [
            (holes[position], cast_to(direction, holes[position].dtype))
            for position, direction in zip(self.along, directions, strict=True)
            if holes[position] in back
        ]
        outputs = [results[position] for position in self.kept]
        if not pairs:
            return [T.zeros_like(output) for output in outputs]
        wrt, points = map(list, zip(*pairs, strict=True))
        found = symc.Rop(outputs, wrt, points, disconnected="zero")
        return substitute(list(found), back)


def pulled_back(op: Op, inputs: Any, outputs: Any, output_grads: Any) -> list[Any]:
    """The gradients by all inputs, as `Op.grad` returns them."""
    from symc.theano.gradient_types import DisconnectedType, zeros_of

    node = outputs[0].owner
    reached = [
        position
        for position, (bar, output) in enumerate(zip(output_grads, outputs, strict=True))
        if is_smooth(output.type) and is_smooth(bar.type)
    ]
    pattern: Any = getattr(op, "connection_pattern", None)
    flows = None if pattern is None else pattern(node)
    takes = is_smooth if not op.differentiates_integers else _is_tensor
    wrt = [p for p, each in enumerate(inputs) if takes(each.type) and reached]
    wrt = [p for p in wrt if flows is None or any(flows[p])]
    found: dict[int, Any] = {}
    if any(not isinstance(inputs[p], Constant) for p in wrt):
        made = Pullback(node, wrt, reached)
        bars = [output_grads[position] for position in reached]
        found = dict(zip(wrt, made(*inputs, *bars, return_list=True), strict=True))
    return [
        found[p] if p in found
        else DisconnectedType()() if flows is not None and not any(flows[p])
        else zeros_of(each)
        for p, each in enumerate(inputs)
    ]  # fmt: skip


def pushed_forward(op: Op, inputs: Any, eval_points: Any) -> list[Any]:
    """The directional derivatives of all outputs, as `Op.R_op` returns them."""
    outputs = op(*inputs, return_list=True)
    node = outputs[0].owner
    along = [
        position
        for position, (each, point) in enumerate(zip(inputs, eval_points, strict=True))
        if point is not None and is_smooth(each.type)
    ]
    kept = [position for position, each in enumerate(outputs) if is_smooth(each.type)]
    if not along or not kept:
        return [None] * len(outputs)
    made = Pushforward(node, along, kept)
    directions = [eval_points[position] for position in along]
    found = dict(zip(kept, made(*inputs, *directions, return_list=True), strict=True))
    return [found.get(position) for position in range(len(outputs))]
