"""`theano.tensor.signal.conv`: one image, or each of several, with each of several filters."""

from __future__ import annotations

from typing import Any

from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.nnet import abstract_conv


def conv2d(
    input: Any, filters: Any, image_shape: Any = None, filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1), **kwargs: Any,
) -> Any:  # fmt: skip
    """The convolution of (images,) rows and columns with (filters,) rows and columns."""
    del image_shape, filter_shape, kwargs
    x, w = as_tensor_variable(input), as_tensor_variable(filters)
    if x.ndim not in (2, 3):
        raise Exception("conv2d requires input be a 2D or 3D tensor")
    if w.ndim not in (2, 3):
        raise Exception("conv2d requires filters be a 2D or 3D tensor")
    images = x.dimshuffle(*([0] if x.ndim == 3 else ["x"]), "x", x.ndim - 2, x.ndim - 1)
    kernels = w.dimshuffle(*([0] if w.ndim == 3 else ["x"]), "x", w.ndim - 2, w.ndim - 1)
    found = abstract_conv.conv2d(
        images, kernels, border_mode=border_mode, subsample=tuple(subsample)
    )
    if x.ndim == 2 and w.ndim == 2:
        return found[0, 0]
    if x.ndim == 2:
        return found[0]
    return found[:, 0] if w.ndim == 2 else found
