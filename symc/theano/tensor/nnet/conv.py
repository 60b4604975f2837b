"""The former `conv2d`, whose shapes are given in another order."""

from __future__ import annotations

from typing import Any

from symc.theano.tensor.nnet import abstract_conv


def conv2d(
    input: Any, filters: Any, image_shape: Any = None, filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1), **kwargs: Any,
) -> Any:  # fmt: skip
    """The convolution of images with filters."""
    for name in ("unroll_batch", "unroll_kern", "unroll_patch", "verbose", "version", "imshp",
                 "kshp", "bsize", "nkern", "openmp"):  # fmt: skip
        kwargs.pop(name, None)
    return abstract_conv.conv2d(
        input, filters, image_shape, filter_shape, border_mode, subsample, **kwargs
    )
