"""Convolutions and correlations of vectors, and the windows that signals are multiplied by."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from symc.codegen.dtypes import BOOL, FLOAT64, INT64
from symc.errors import RankError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor, TensorLike
from symc.tensor.along import flip
from symc.tensor.broadcast import describe
from symc.tensor.build import arange
from symc.tensor.checked import Checked
from symc.tensor.complex_numbers import complex as complex_of
from symc.tensor.complex_numbers import conj, imag, real
from symc.tensor.elementwise import cast_to, common
from symc.tensor.exponentials import sqrt
from symc.tensor.lengths import as_dim, length, public, tensor_of
from symc.tensor.logic import gt, isfinite, where
from symc.tensor.math import abs as absolute
from symc.tensor.math import maximum
from symc.tensor.nnet.conv import conv1d, conv1d_transpose
from symc.tensor.reduce import all as all_of
from symc.tensor.special_functions import i0
from symc.tensor.specify import segment
from symc.tensor.trigonometry import cos, sin
from symc.tensor.views import expand_dims

__all__ = [
    "bartlett", "blackman", "convolve", "correlate", "hamming", "hanning", "kaiser", "sinc",
]  # fmt: skip

Extent: TypeAlias = Literal["full", "same", "valid"]

# --- sums of products -----------------------------------------------------------------------------


def convolve(a: TensorLike, v: TensorLike, mode: Extent = "full") -> Tensor:
    """The convolution of two vectors: element k is the sum of ``a[i] * v[k - i]``.

    ``"full"`` has all sums, ``"same"`` as many in the middle as the longer vector has elements,
    ``"valid"`` those in which the shorter one meets the longer one with all its elements. (For
    batches and channels there is `nnet.conv1d`; long vectors are faster by `fft`.)

    >>> import symc.tensor as T
    >>> T.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]).eval()
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    first, second = _vectors("convolve", a, v, mode)
    return _part(first, second, mode, 0)


def correlate(a: TensorLike, v: TensorLike, mode: Extent = "valid") -> Tensor:
    """The correlation of two vectors: element k is the sum of ``a[i + k] * conj(v[i])``.

    `mode` is as for `convolve`.

    >>> import symc.tensor as T
    >>> T.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5], mode="same").eval()
    array([2. , 3.5, 3. ])
    """
    first, second = _vectors("correlate", a, v, mode)
    n, m = first.type.shape[0], second.type.shape[0]
    # Which of the middle sums come first, if there is no one middle, depends on who is longer.
    is_shorter = dims.minimum(1, dims.maximum(0, dims.sub(m, n)))
    return _part(first, conj(flip(second)), mode, is_shorter)


def _vectors(label: str, a: TensorLike, v: TensorLike, mode: Extent) -> list[Tensor]:
    if mode not in get_args(Extent):
        raise ValueError(f"{label}: mode must be 'full', 'same' or 'valid', not {mode!r}")
    vectors: list[Tensor] = []
    for x in common((a, v), "same", label):
        if x.ndim != 1:
            raise RankError(f"{label}: a vector is needed\n  given  {describe(x)}")
        n, text = x.type.shape[0], f"{label}: a vector is empty"
        if n == 0:
            raise ValueError(f"{text}\n  given  {describe(x)}")
        vectors.append(x if isinstance(n, int) else Checked(text)(x, gt(length(x, 0), 0)))
    return vectors


def _part(a: Tensor, v: Tensor, mode: Extent, later: Dim) -> Tensor:
    n, m = a.type.shape[0], v.type.shape[0]
    if isinstance(n, int) and isinstance(m, int) and n < m:
        a, v, n, m = v, a, m, n
    shorter, longer = dims.minimum(n, m), dims.maximum(n, m)
    match mode:
        case "full":
            return _convolved(a, v, "full")
        case "valid" if dims.nonnegative(dims.sub(n, m)):
            return _convolved(a, v, "valid")
        case "valid":
            start, count = dims.sub(shorter, 1), dims.add(dims.sub(longer, shorter), 1)
        case "same":
            start, count = dims.floordiv(dims.add(dims.sub(shorter, 1), later), 2), longer
    return segment(_convolved(a, v, "full"), 0, start, count)


def _convolved(a: Tensor, v: Tensor, padding: Literal["full", "valid"]) -> Tensor:
    if a.dtype is BOOL:
        return cast_to(_convolved(cast_to(a, INT64), cast_to(v, INT64), padding), BOOL)
    if padding == "valid" or not a.dtype.is_inexact or _is_known_finite(v):
        return _sums(conv1d, a, v, padding=padding)
    from symc.loops.branch import ifelse

    # Zeros around `a` are products of their own beside a NaN or an infinite element of `v`. The
    # transpose has none, but takes longer.
    padded = _sums(conv1d, a, v, padding=padding)
    unpadded = _sums(conv1d_transpose, a, v, flip_filters=False)
    return cast("Tensor", ifelse(all_of(isfinite(v)), padded, unpadded))


def _is_known_finite(v: Tensor) -> bool:
    value = constant_value(v)
    return value is not None and bool(np.isfinite(value).all())


def _sums(product: Callable[..., Tensor], a: Tensor, v: Tensor, **options: Any) -> Tensor:
    """The sums of products by a convolution of real signals with channels."""
    if not a.dtype.is_complex:
        return product(_channel(a), _channel(v), **options)[0, 0]

    def part(a: Tensor, v: Tensor) -> Tensor:
        return _sums(product, a, v, **options)

    re = part(real(a), real(v)) - part(imag(a), imag(v))
    im = part(real(a), imag(v)) + part(imag(a), real(v))
    return complex_of(re, im)


def _channel(x: Tensor) -> Tensor:
    return expand_dims(x, (0, 1))


# --- windows --------------------------------------------------------------------------------------


def _places(points: Any) -> tuple[Tensor, Tensor]:
    """``1 - M, 3 - M, ..., M - 1`` as float64, and M - 1, but 1 at least."""
    count = as_dim(points)
    steps = cast_to(tensor_of(dims.maximum(dims.sub(count, 1), 1)), FLOAT64)
    start = tensor_of(dims.sub(count, 1))
    return cast_to(2 * arange(public(count)) - start, FLOAT64), steps


def bartlett(M: Any) -> Tensor:  # noqa: N803 -- as NumPy has it
    """The triangular window of M points, as a float64 vector (Bartlett, 1950).

    >>> import symc.tensor as T
    >>> T.bartlett(5).eval()
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    at, steps = _places(M)
    return 1 - absolute(at) / steps


def blackman(M: Any) -> Tensor:  # noqa: N803 -- as NumPy has it
    """The Blackman window of M points, a float64 vector: ``0.42 + 0.5 cos(x) + 0.08 cos(2 x)``.

    x goes from -pi to pi. Raises DTypeError unless M is an integer.

    >>> import symc.tensor as T
    >>> T.blackman(5).eval()[1:4]
    array([0.34, 1.  , 0.34])
    """
    at, steps = _places(M)
    return 0.42 + 0.5 * cos(math.pi * at / steps) + 0.08 * cos(2 * math.pi * at / steps)


def hamming(M: Any) -> Tensor:  # noqa: N803 -- as NumPy has it
    """The Hamming window of M points, a float64 vector: ``0.54 + 0.46 cos(x)``, x from -pi to pi.

    >>> import symc.tensor as T
    >>> T.hamming(5).eval()
    array([0.08, 0.54, 1.  , 0.54, 0.08])
    """
    at, steps = _places(M)
    return 0.54 + 0.46 * cos(math.pi * at / steps)


def hanning(M: Any) -> Tensor:  # noqa: N803 -- as NumPy has it
    """The Hann window of M points, a float64 vector: ``0.5 + 0.5 cos(x)``, x from -pi to pi.

    >>> import symc.tensor as T
    >>> T.hanning(5).eval()
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    at, steps = _places(M)
    return 0.5 + 0.5 * cos(math.pi * at / steps)


def kaiser(M: Any, beta: TensorLike) -> Tensor:  # noqa: N803 -- as NumPy has it
    """The Kaiser window of M points, a float64 vector: ``i0(beta sqrt(1 - x**2)) / i0(beta)``.

    x goes from -1 to 1. With `beta` 0 it is a rectangle, with greater ones it is narrower.

    >>> import symc.tensor as T
    >>> T.kaiser(5, 6.0).eval()
    array([0.01487334, 0.48295561, 1.        , 0.48295561, 0.01487334])
    """
    at, steps = _places(M)
    shape = cast_to(beta, FLOAT64)
    return i0(shape * sqrt(maximum(1 - (at / steps) ** 2, 0.0))) / i0(shape)


# --- band limits ----------------------------------------------------------------------------------

_TERMS = 10
_NEAR = 1.0


def sinc(x: TensorLike) -> Tensor:
    """``sin(pi x) / (pi x)``, 1 at 0. Its derivatives are right near 0, too.

    Elementwise. Integers and bool are converted to float64.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.grad(T.sinc(x).sum(), x).eval({x: [0.0]})
    array([0.])
    """
    y = common((x,), "divide", "sinc")[0] * math.pi
    square = where(absolute(y) < _NEAR, y * y, 0)
    series: Tensor | float = 0.0
    for k in range(_TERMS, -1, -1):  # the series about 0, which is differentiated term by term
        series = (-1) ** k / math.factorial(2 * k + 1) + square * series
    far = where(absolute(y) < _NEAR, 1, y)
    return where(absolute(y) < _NEAR, series, sin(far) / far)
