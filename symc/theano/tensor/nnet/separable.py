"""Convolutions made of others: separable ones, and those that see only the past."""

from __future__ import annotations

from typing import Any

from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.creation import zeros
from symc.theano.tensor.joining import concatenate
from symc.theano.tensor.nnet.abstract_conv import conv2d, conv3d


def separable_conv2d(
    input: Any, depthwise_filters: Any, pointwise_filters: Any, num_channels: int,
    input_shape: Any = None, depthwise_filter_shape: Any = None, pointwise_filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1), filter_flip: bool = True,
    filter_dilation: Any = (1, 1),
) -> Any:  # fmt: skip
    """Each channel convolved with filters of its own, and then mixed at each point."""
    found = conv2d(
        input, depthwise_filters, input_shape, depthwise_filter_shape, border_mode, subsample,
        filter_flip, filter_dilation=filter_dilation, num_groups=num_channels,
    )  # fmt: skip
    return conv2d(found, pointwise_filters, filter_shape=pointwise_filter_shape)


def separable_conv3d(
    input: Any, depthwise_filters: Any, pointwise_filters: Any, num_channels: int,
    input_shape: Any = None, depthwise_filter_shape: Any = None, pointwise_filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1, 1), filter_flip: bool = True,
    filter_dilation: Any = (1, 1, 1),
) -> Any:  # fmt: skip
    """As `separable_conv2d`, for volumes."""
    found = conv3d(
        input, depthwise_filters, input_shape, depthwise_filter_shape, border_mode, subsample,
        filter_flip, filter_dilation, num_channels,
    )  # fmt: skip
    return conv3d(found, pointwise_filters, filter_shape=pointwise_filter_shape)


def causal_conv1d(
    input: Any, filters: Any, filter_shape: Any, input_shape: Any = None, subsample: int = 1,
    filter_flip: bool = True, filter_dilation: int = 1, num_groups: int = 1, unshared: bool = False,
) -> Any:  # fmt: skip
    """Series (number, channels, length) convolved so that no result depends on later elements.

    Raises ValueError for inputs or filters that have not three axes.
    """
    del input_shape
    x, kernel = as_tensor_variable(input), as_tensor_variable(filters)
    if x.ndim != 3:
        raise ValueError("Input should be 3D for causal convolution.")
    if kernel.ndim != 3:
        raise ValueError("Filters should be 3D for causal convolution")
    assert len(filter_shape) == 3, "filter_shape: three lengths"
    before = zeros([x.shape[0], x.shape[1], filter_dilation * (filter_shape[2] - 1)], x.dtype)
    found = conv2d(
        concatenate([before, x], axis=2).dimshuffle(0, 1, 2, "x"), kernel.dimshuffle(0, 1, 2, "x"),
        subsample=(subsample, 1), filter_flip=filter_flip, filter_dilation=(filter_dilation, 1),
        num_groups=num_groups, unshared=unshared,
    )  # fmt: skip
    return found[:, :, :, 0]
