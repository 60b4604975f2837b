"""Batch normalisation."""

from __future__ import annotations

from typing import Any

from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.nnet.bn_ops import (
    AbstractBatchNormInference as AbstractBatchNormInference,
)
from symc.theano.tensor.nnet.bn_ops import (
    AbstractBatchNormTrain as AbstractBatchNormTrain,
)
from symc.theano.tensor.nnet.bn_ops import (
    AbstractBatchNormTrainGrad as AbstractBatchNormTrainGrad,
)
from symc.theano.tensor.shaping import patternbroadcast, shape


def batch_normalization(
    inputs: Any, gamma: Any, beta: Any, mean: Any, std: Any, mode: str = "low_mem"
) -> Any:
    """Inputs normalised by given statistics, then scaled and moved."""
    if mode not in ("low_mem", "high_mem"):
        raise ValueError(f'mode must be either "low_mem", "high_mem": {mode}')
    return (inputs - mean) * (gamma / std) + beta


def normalized_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """The axes along which statistics are taken."""
    if axes == "per-activation":
        return (0,)
    if axes == "spatial":
        return (0, *range(2, ndim))
    if isinstance(axes, int):
        return (axes,)
    if not isinstance(axes, tuple | list):
        raise ValueError(f"invalid axes: {axes}")
    found = tuple(int(axis) for axis in axes)
    if not all(0 <= axis < ndim for axis in found):
        raise ValueError(f"axis should be less than {ndim}, got {axes}")
    return found


def _spread(parameter: Any, axes: tuple[int, ...], ndim: int) -> Any:
    """A parameter with axes of length 1 where statistics are taken."""
    x = as_tensor_variable(parameter)
    if x.ndim == ndim:
        return patternbroadcast(x, [axis in axes or flag for axis, flag in
                                    enumerate(x.broadcastable)])  # fmt: skip
    if x.ndim != ndim - len(axes):
        raise ValueError(f"a parameter of {x.ndim} axes does not fit inputs of {ndim}")
    places = iter(range(x.ndim))
    return x.dimshuffle(["x" if axis in axes else next(places) for axis in range(ndim)])


def batch_normalization_train(
    inputs: Any, gamma: Any, beta: Any, axes: Any = "per-activation", epsilon: Any = 1e-4,
    running_average_factor: Any = 0.1, running_mean: Any = None, running_var: Any = None,
) -> Any:  # fmt: skip
    """Inputs normalised by their own statistics; gives these and their running averages as well."""
    inputs = as_tensor_variable(inputs)
    ndim = inputs.ndim
    axes = normalized_axes(axes, ndim)
    gamma, beta = _spread(gamma, axes, ndim), _spread(beta, axes, ndim)
    mean = inputs.mean(axes, keepdims=True)
    var = inputs.var(axes, keepdims=True)
    invstd = 1.0 / math.sqrt(var + epsilon)
    out = (inputs - mean) * gamma * invstd + beta
    results = [out, mean, invstd]
    if running_mean is not None:
        old = _spread(running_mean, axes, ndim)
        new = old * (1 - running_average_factor) + mean * running_average_factor
        results.append(_like(new, running_mean))
    if running_var is not None:
        count = math.cast(inputs.size / math.cast(_size(mean), "float64"), "float64")
        unbiased = math.cast(count / (count - 1), inputs.dtype) * var
        old = _spread(running_var, axes, ndim)
        new = old * (1 - running_average_factor) + unbiased * running_average_factor
        results.append(_like(new, running_var))
    return tuple(results)


def _size(x: Any) -> Any:
    total: Any = 1
    for axis in range(x.ndim):
        total = total * shape(x)[axis]
    return total


def _like(new: Any, old: Any) -> Any:
    """A running average with the axes of the old one."""
    old = as_tensor_variable(old)
    if old.ndim != new.ndim:
        new = new.dimshuffle([axis for axis, flag in enumerate(new.broadcastable) if not flag])
    return patternbroadcast(new, old.broadcastable)


def batch_normalization_test(
    inputs: Any, gamma: Any, beta: Any, mean: Any, var: Any, axes: Any = "per-activation",
    epsilon: Any = 1e-4,
) -> Any:  # fmt: skip
    """Inputs normalised by given statistics."""
    inputs = as_tensor_variable(inputs)
    axes = normalized_axes(axes, inputs.ndim)
    gamma, beta, mean, var = (_spread(x, axes, inputs.ndim) for x in (gamma, beta, mean, var))
    return (inputs - mean) * gamma / math.sqrt(var + epsilon) + beta
