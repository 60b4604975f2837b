"""Images enlarged by interpolation between neighbours.

Theano writes this as a transposed convolution of the image, whose border is repeated, with a
pyramid. Element o of the result is then the interpolated image at (o * q - (r - 1) // 2) / r, for a
ratio r / q; that is what is computed here.
"""

from __future__ import annotations

from math import gcd
from typing import Any

from symc.theano.configparser import config
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.creation import arange
from symc.theano.tensor.joining import concatenate


def bilinear_kernel_1D(ratio: Any, normalize: bool = True) -> Any:
    """The triangle 1, 2 ... ratio ... 2, 1; divided by the ratio if `normalize`."""
    half = arange(1, ratio + 1, dtype=config.floatX)
    whole = concatenate([half, half[-2::-1]])
    return whole / math.cast(ratio, config.floatX) if normalize else whole


def bilinear_kernel_2D(ratio: Any, normalize: bool = True) -> Any:
    """The pyramid of two triangles; `ratio` may be a pair, that along rows first."""
    down, across = ratio if isinstance(ratio, tuple) else (ratio, ratio)
    columns = bilinear_kernel_1D(across, normalize).dimshuffle("x", 0)
    return columns * bilinear_kernel_1D(down, normalize).dimshuffle(0, "x")


def bilinear_upsampling(
    input: Any, ratio: Any = None, frac_ratio: Any = None, batch_size: Any = None,
    num_input_channels: Any = None, use_1D_kernel: bool = True,
) -> Any:  # fmt: skip
    """Images (number, channels, rows, columns) enlarged `ratio` times.

    `frac_ratio` is a pair (numerator, denominator), or one for each axis. Sizes and kernels are
    accepted and change nothing. Raises ValueError without a ratio, or with both.

    >>> import numpy as np
    >>> import symc.theano as theano
    >>> x = theano.tensor.dtensor4()
    >>> f = theano.function([x], bilinear_upsampling(x, 2))
    >>> f(np.arange(3.0).reshape(1, 1, 1, 3))[0, 0, 0].tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0, 2.0]
    """
    del batch_size, num_input_channels
    if ratio and frac_ratio:
        raise ValueError("can't use ratio and frac_ratio together")
    if not (ratio or frac_ratio):
        raise ValueError("No ratio (or frac_ratio) provided")
    if not frac_ratio:
        return _along(_along(as_tensor_variable(input), 2, ratio, 1), 3, ratio, 1)
    if use_1D_kernel:
        raise ValueError(
            "For fractional ratios 1D kernel method not implemented. You may want to pass "
            "use_1D_kernel as False"
        )
    return frac_bilinear_upsampling(input, frac_ratio)


def frac_bilinear_upsampling(input: Any, frac_ratio: Any) -> Any:
    """Images enlarged by a fraction: a pair (numerator, denominator), or one for each axis."""
    if not isinstance(frac_ratio, tuple):
        raise ValueError("frac_ratio must be a tuple")
    pairs = frac_ratio if isinstance(frac_ratio[0], tuple) else (frac_ratio, frac_ratio)
    x = as_tensor_variable(input)
    for axis, (p, q) in enumerate(pairs, start=2):
        x = _along(x, axis, p // gcd(p, q), q // gcd(p, q))
    return x


def _along(x: Any, axis: int, ratio: Any, step: Any) -> Any:
    n = x.shape[axis]
    places = arange((n * ratio - 1) // step + 1) * step - (ratio - 1) // 2
    before = math.floor_div(places, ratio)
    weight = math.cast(places - before * ratio, config.floatX) / math.cast(ratio, config.floatX)
    weight = weight.dimshuffle(0, *["x"] * (x.ndim - 1 - axis))
    first, second = (math.clip(each, 0, n - 1) for each in (before, before + 1))
    return x.take(first, axis=axis) * (1 - weight) + x.take(second, axis=axis) * weight
