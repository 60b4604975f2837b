"""The former `conv2d`, whose shapes are given in another order."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from symc.theano.gof.op import Op
from symc.theano.tensor.folding import get_scalar_constant_value
from symc.theano.tensor.nnet import abstract_conv

imported_scipy_signal = find_spec("scipy") is not None


def conv2d(
    input: Any, filters: Any, image_shape: Any = None, filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1), **kwargs: Any,
) -> Any:  # fmt: skip
    """The convolution of images with filters, whose shapes are constants where they are given."""
    for name in ("unroll_batch", "unroll_kern", "unroll_patch", "verbose", "version", "imshp",
                 "kshp", "bsize", "nkern", "openmp"):  # fmt: skip
        kwargs.pop(name, None)
    image_shape, filter_shape = _numbers(image_shape), _numbers(filter_shape)
    if image_shape and filter_shape and None not in (image_shape[1], filter_shape[1]):
        assert image_shape[1] == filter_shape[1], (image_shape, filter_shape)
    return abstract_conv.conv2d(
        input, filters, image_shape, filter_shape, border_mode, subsample, **kwargs
    )


def _numbers(shape: Any) -> list[int | None] | None:
    """A shape as numbers. Raises NotScalarConstantError for lengths that are not known."""
    if shape is None:
        return None
    return [None if each is None else int(get_scalar_constant_value(each)) for each in shape]


class ConvOp(Op):
    """The former op of `conv2d`, which has no strides but whole ones and no dilation."""

    __props__ = ("out_mode", "dx", "dy", "imshp", "kshp")

    def __init__(
        self, imshp: Any = None, kshp: Any = None, nkern: Any = None, bsize: Any = None,
        dx: int = 1, dy: int = 1, output_mode: str = "valid", **_: Any,
    ) -> None:  # fmt: skip
        del nkern, bsize
        if output_mode not in ("valid", "full"):
            raise ValueError("Mode not implemented", output_mode)
        self.out_mode, self.dx, self.dy = output_mode, dx, dy
        self.imshp = None if imshp is None else tuple(imshp)
        self.kshp = None if kshp is None else tuple(kshp)

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        images, filters = inputs
        return abstract_conv.conv2d(
            images, filters, border_mode=self.out_mode, subsample=(self.dx, self.dy), **kwargs
        )
