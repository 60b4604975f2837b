"""Batch normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.configparser import config
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
    """Inputs normalised by their own statistics; gives these and their running averages as well.

    All but the first result have the number of axes that the parameters have: that of the inputs,
    or without those of the statistics. Raises ValueError where parameters differ in that.
    """
    inputs, gamma, beta = (as_tensor_variable(x) for x in (inputs, gamma, beta))
    ndim = inputs.ndim
    axes = normalized_axes(axes, ndim)
    _check_parameters(gamma, beta, axes, ndim, epsilon)
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be given or both be None")
    mean = inputs.mean(axes, keepdims=True)
    var = inputs.var(axes, keepdims=True)
    invstd = 1.0 / math.sqrt(var + epsilon)
    out = (inputs - mean) * _spread(gamma, axes, ndim) * invstd + _spread(beta, axes, ndim)
    statistics = [mean, invstd]
    for name, old in (("running_mean", running_mean), ("running_var", running_var)):
        if old is None:
            continue
        old = as_tensor_variable(old)
        if old.ndim != gamma.ndim:
            raise ValueError(
                f"{name} must be of the same dimensionality as gamma and beta; got {old.ndim} "
                f"instead of {gamma.ndim}"
            )
        spread = _spread(old, axes, ndim)
        new = mean if name == "running_mean" else _unbiased(var, inputs, mean)
        new = spread * (1 - running_average_factor) + new * running_average_factor
        statistics.append(patternbroadcast(new, spread.broadcastable))
    if gamma.ndim != ndim:
        kept = [axis for axis in range(ndim) if axis not in axes]
        statistics = [each.dimshuffle(kept) for each in statistics]
    return (out, *statistics)


def _check_parameters(
    gamma: Any, beta: Any, axes: tuple[int, ...], ndim: int, epsilon: Any
) -> None:
    wanted = ndim if gamma.ndim == ndim else ndim - len(axes)
    if gamma.ndim != wanted or beta.ndim != wanted:
        raise ValueError(
            "gamma and beta dimensionality must match the number of non-normalized axes, or have "
            f"the same number of dimensions as the inputs; got {gamma.ndim} and {beta.ndim} "
            f"instead of {wanted}"
        )
    if np.asarray(epsilon, config.floatX) < 1e-5:
        raise ValueError(f"epsilon must be at least 1e-5, got {epsilon}")


def _unbiased(var: Any, inputs: Any, mean: Any) -> Any:
    count = math.cast(inputs.size / math.cast(_size(mean), "float64"), "float64")
    return math.cast(count / (count - 1), inputs.dtype) * var


def _size(x: Any) -> Any:
    total: Any = 1
    for axis in range(x.ndim):
        total = total * shape(x)[axis]
    return total


def batch_normalization_test(
    inputs: Any, gamma: Any, beta: Any, mean: Any, var: Any, axes: Any = "per-activation",
    epsilon: Any = 1e-4,
) -> Any:  # fmt: skip
    """Inputs normalised by given statistics. Raises as `batch_normalization_train` does."""
    inputs, gamma, beta = (as_tensor_variable(x) for x in (inputs, gamma, beta))
    axes = normalized_axes(axes, inputs.ndim)
    _check_parameters(gamma, beta, axes, inputs.ndim, epsilon)
    mean, var = as_tensor_variable(mean), as_tensor_variable(var)
    if mean.ndim != gamma.ndim or var.ndim != gamma.ndim:
        raise ValueError(
            "mean and var must be of the same dimensionality as gamma and beta; got "
            f"{mean.ndim} and {var.ndim} instead of {gamma.ndim}"
        )
    gamma, beta, mean, var = (_spread(x, axes, inputs.ndim) for x in (gamma, beta, mean, var))
    return (inputs - mean) * gamma / math.sqrt(var + epsilon) + beta
