"""Ops that change the gradient of a variable: zeros, nothing, clipped, scaled."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.op import Op
from symc.theano.gradient_types import DisconnectedType, grad_undefined
from symc.theano.tensor import creation, math
from symc.theano.tensor.convert import as_tensor_variable


class Watching(Op):
    """A variable as it is; subclasses change its gradient."""

    __props__: Any = ()

    def make_node(self, x: Any) -> Apply:
        x = x if isinstance(x, Variable) else as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def meaning(self, node: Apply, *inputs: Any) -> Sequence[Any]:
        return [inputs[0]]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        return [eval_points[0]]


class ZeroGrad(Watching):
    """Zeros flow back."""

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        return [output_grads[0].zeros_like()]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        return [None if eval_points[0] is None else creation.zeros_like(eval_points[0])]


class ConsiderConstant(ZeroGrad):
    """Zeros flow back."""


class DisconnectedGrad(Watching):
    """Nothing flows back."""

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        return [DisconnectedType()() for _ in inputs]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        return [None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Nothing is connected."""
        return [[False]]


class UndefinedGrad(Watching):
    """Nothing that flows back has a meaning."""

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        return [grad_undefined(self, position, each) for position, each in enumerate(inputs)]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        return [None]


class GradClip(Watching):
    """The gradient is clipped."""

    __props__ = ("clip_lower_bound", "clip_upper_bound")

    def __init__(self, clip_lower_bound: Any, clip_upper_bound: Any) -> None:
        self.clip_lower_bound, self.clip_upper_bound = clip_lower_bound, clip_upper_bound
        if not self.clip_upper_bound >= self.clip_lower_bound:
            raise ValueError("`clip_upper_bound` should be >= `clip_lower_bound`")

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        low, high = self.clip_lower_bound, self.clip_upper_bound
        return [math.clip(bar, low, high) for bar in output_grads]


class GradScale(Watching):
    """The gradient is multiplied."""

    __props__ = ("multiplier",)

    def __init__(self, multiplier: Any) -> None:
        self.multiplier = multiplier

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        return [self.multiplier * bar for bar in output_grads]


consider_constant_ = ConsiderConstant()
zero_grad_, disconnected_grad_ = ZeroGrad(), DisconnectedGrad()
undefined_grad_ = UndefinedGrad()


def consider_constant(x: Any) -> Any:
    """The variable, through which zeros flow back; `zero_grad` is its newer name."""
    warnings.warn(
        "consider_constant() is deprecated, use zero_grad() or disconnected_grad() instead.",
        category=DeprecationWarning, stacklevel=2,
    )  # fmt: skip
    return consider_constant_(x)


def zero_grad(x: Any) -> Any:
    """The variable, through which zeros flow back."""
    return zero_grad_(x)


def disconnected_grad(x: Any) -> Any:
    """The variable, through which nothing flows back."""
    return disconnected_grad_(x)


def undefined_grad(x: Any) -> Any:
    """The variable, whose gradient is an error."""
    return undefined_grad_(x)


def grad_clip(x: Any, lower_bound: Any, upper_bound: Any) -> Any:
    """The variable, whose gradient is clipped."""
    return GradClip(lower_bound, upper_bound)(x)


def grad_scale(x: Any, multiplier: Any) -> Any:
    """The variable, whose gradient is multiplied."""
    return GradScale(multiplier)(x)
