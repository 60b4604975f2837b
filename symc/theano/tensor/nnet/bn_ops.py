"""Batch normalisation as ops, with axes of length 1 where statistics are taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable


class AbstractBatchNormTrain(Op):
    """Inputs normalised by their own statistics; the mean, and one over the deviation.

    With the running mean and variance given, these as well, moved by `running_average_factor`.
    """

    __props__ = ("axes",)

    def __init__(self, axes: Sequence[int] = (0,)) -> None:
        self.axes = tuple(int(axis) for axis in axes)

    def make_node(
        self, x: Any, scale: Any, bias: Any, epsilon: Any = 1e-4,
        running_average_factor: Any = 0.1, running_mean: Any = None, running_var: Any = None,
    ) -> Apply:  # fmt: skip
        given = [x, scale, bias, epsilon, running_average_factor]
        given += [each for each in (running_mean, running_var) if each is not None]
        ins = [as_tensor_variable(each) for each in given]
        kinds = [ins[0].type, *[ins[1].type] * (2 + len(ins) - 5)]
        return Apply(self, ins, [kind() for kind in kinds])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, scale, bias, epsilon, factor, *running = inputs
        mean = T.mean(x, axis=self.axes, keepdims=True)
        var = T.mean(T.square(x - mean), axis=self.axes, keepdims=True)
        invstd = 1.0 / T.sqrt(var + epsilon)
        found = [(x - mean) * (scale * invstd) + bias, mean, invstd]
        count = T.cast(T.size(x) // T.size(mean), x.dtype)
        news = [mean, var * (count / (count - 1))]
        found += [
            old * (1 - factor) + new * factor for old, new in zip(running, news, strict=False)
        ]
        return found


class AbstractBatchNormInference(Op):
    """Inputs normalised by given statistics."""

    __props__ = ("axes",)

    def __init__(self, axes: Sequence[int] = (0,)) -> None:
        self.axes = tuple(int(axis) for axis in axes)

    def make_node(
        self, x: Any, scale: Any, bias: Any, estimated_mean: Any, estimated_variance: Any,
        epsilon: Any = 1e-4,
    ) -> Apply:  # fmt: skip
        given = (x, scale, bias, estimated_mean, estimated_variance, epsilon)
        ins = [as_tensor_variable(each) for each in given]
        return Apply(self, ins, [ins[0].type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, scale, bias, mean, var, epsilon = inputs
        return [(x - mean) * (scale / T.sqrt(var + epsilon)) + bias]


class AbstractBatchNormTrainGrad(Op):
    """The gradients of `AbstractBatchNormTrain` by its inputs, the scale and the bias."""

    __props__ = ("axes",)

    def __init__(self, axes: Sequence[int] = (0,)) -> None:
        self.axes = tuple(int(axis) for axis in axes)

    def make_node(
        self, x: Any, dy: Any, scale: Any, x_mean: Any, x_invstd: Any, epsilon: Any = 1e-4
    ) -> Apply:
        ins = [as_tensor_variable(each) for each in (x, dy, scale, x_mean, x_invstd, epsilon)]
        return Apply(self, ins, [ins[0].type(), ins[2].type(), ins[2].type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, dy, scale, mean, invstd, _ = inputs
        apart = x - mean
        of_mean = T.mean(dy, axis=self.axes, keepdims=True)
        along = T.mean(dy * apart, axis=self.axes, keepdims=True)
        part = dy - of_mean - apart * along * invstd * invstd
        of_scale = T.sum(dy * apart * invstd, axis=self.axes, keepdims=True)
        return [scale * invstd * part, of_scale, T.sum(dy, axis=self.axes, keepdims=True)]
