"""The transforms users call, along one axis or several, with NumPy's lengths and norms.

`n` (or `s`, one for each axis, where -1 stands for the axis' own) is the length of the transform:
the axis is cut there, or filled up with zeros; the inverse real transforms give that length, by
default ``2 * (length - 1)``. `norm` says which direction divides by the length: "backward" (or
None) the inverse one, "forward" the other, "ortho" both by its root. float32 and float16 give
complex64, all other real dtypes complex128. Raises ValueError where a length is below 1, at run
time if need be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from symc.errors import DTypeError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.graph.types import complex_for
from symc.tensor.assign import set_subtensor
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros
from symc.tensor.elementwise import cast_to
from symc.tensor.fft.transforms import FromReal, ToReal, Transform, check_points, half
from symc.tensor.lengths import as_dim, normal_axes, normal_axis, public, tensor_of

__all__ = [
    "fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft", "irfft", "irfft2", "irfftn",
    "rfft", "rfft2", "rfftn",
]  # fmt: skip

Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None
Lengths: TypeAlias = "Sequence[int | Tensor] | None"
Axes: TypeAlias = "Sequence[int] | None"
LAST_TWO = (-2, -1)

# --- one axis -------------------------------------------------------------------------------------


def fft(x: TensorLike, n: int | Tensor | None = None, axis: int = -1, norm: Norm = None) -> Tensor:
    """The discrete Fourier transform along an axis: ``sum(x[j] * exp(-2j * pi * j * k / n))``.

    Complex64 or complex128, as wide as `x`, which is cut off, or filled with zeros, to length `n`
    if that is given. `norm` is NumPy's: "backward" (None), "ortho" or "forward". Raises ValueError
    for no points.

    >>> import symc.tensor as T
    >>> T.fft.fft(T.constant([1.0, 0.0, -1.0, 0.0])).eval()
    array([0.+0.j, 2.+0.j, 0.+0.j, 2.+0.j])
    """
    return _complex("fft", x, n, axis, norm, inverse=False)


def ifft(x: TensorLike, n: int | Tensor | None = None, axis: int = -1, norm: Norm = None) -> Tensor:
    """The inverse of `fft`: ``sum(x[k] * exp(2j * pi * j * k / n)) / n`` along an axis; complex.

    >>> import symc.tensor as T
    >>> T.fft.ifft(T.fft.fft([1.0, 2.0, 3.0])).real.eval()
    array([1., 2., 3.])
    """
    return _complex("ifft", x, n, axis, norm, inverse=True)


def rfft(x: TensorLike, n: int | Tensor | None = None, axis: int = -1, norm: Norm = None) -> Tensor:
    """The transform of real numbers along an axis: its first ``n // 2 + 1`` results, complex.

    The others mirror these.

    >>> import symc.tensor as T
    >>> T.fft.rfft(T.constant([1.0, 0.0, -1.0, 0.0])).eval()
    array([0.+0.j, 2.+0.j, 0.+0.j])
    """
    x = as_tensor(x)
    if x.dtype.is_complex:
        raise DTypeError(f"rfft is of real numbers; use fft\n  given  {describe(x)}")
    axis = normal_axis("rfft", axis, x.ndim, x)
    x = cast_to(x, complex_for(x.dtype).component)
    length = _points(x, n, axis)
    return FromReal(axis, _power(norm, inverse=False))(resized(x, length, axis))


def irfft(
    x: TensorLike, n: int | Tensor | None = None, axis: int = -1, norm: Norm = None
) -> Tensor:
    """The inverse of `rfft`: n real numbers. Give n if it is odd.

    Imaginary parts of the first frequency, and of the last where n is even, count as 0.

    Floats. For even lengths ``irfft(rfft(x))`` is `x`.

    >>> import symc.tensor as T
    >>> T.fft.irfft(T.fft.rfft([1.0, 2.0, 3.0]), n=3).eval()
    array([1., 2., 3.])
    """
    x = _as_complex(as_tensor(x))
    axis = normal_axis("irfft", axis, x.ndim, x)
    length = _points(x, n, axis, dims.mul(dims.sub(x.type.shape[axis], 1), 2))
    x = resized(x, half(length), axis)
    return ToReal(axis, _power(norm, inverse=True))(x, tensor_of(length))


def hfft(x: TensorLike, n: int | Tensor | None = None, axis: int = -1, norm: Norm = None) -> Tensor:
    """The transform of a Hermitian sequence, given its first half along an axis: n real numbers.

    `n` is ``2 * (length - 1)`` unless given. It is ``irfft(conj(x)) * n``.

    >>> import symc.tensor as T
    >>> T.fft.hfft([1.0, 2.0, 4.0]).eval()
    array([ 9., -3.,  1., -3.])
    """
    return irfft(OPERATORS["conj"](as_tensor(x)), n, axis, _opposite(norm))


def ihfft(
    x: TensorLike, n: int | Tensor | None = None, axis: int = -1, norm: Norm = None
) -> Tensor:
    """The inverse of `hfft`: of n reals along an axis, the first ``n // 2 + 1`` complex numbers.

    >>> import symc.tensor as T
    >>> T.fft.ihfft(T.fft.hfft([1.0, 2.0, 3.0])).real.eval()
    array([1., 2., 3.])
    """
    return OPERATORS["conj"](rfft(x, n, axis, _opposite(norm)))


# --- several axes ---------------------------------------------------------------------------------


def fftn(x: TensorLike, s: Lengths = None, axes: Axes = None, norm: Norm = None) -> Tensor:
    """The transform along several axes: all, or the last ones where only `s` is given.

    Complex; `fft` along one axis after the other.

    >>> import symc.tensor as T
    >>> T.fft.fftn([[1.0, 2.0], [3.0, 4.0]]).real.eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    return _over("fftn", fft, as_tensor(x), s, axes, norm)


def ifftn(x: TensorLike, s: Lengths = None, axes: Axes = None, norm: Norm = None) -> Tensor:
    """The inverse of `fftn`, complex: `ifft` along one axis after the other.

    >>> import symc.tensor as T
    >>> T.fft.ifftn(T.fft.fftn([[1.0, 2.0], [3.0, 4.0]])).real.eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return _over("ifftn", ifft, as_tensor(x), s, axes, norm)


def rfftn(x: TensorLike, s: Lengths = None, axes: Axes = None, norm: Norm = None) -> Tensor:
    """The transform of real numbers along several axes, of which the last is halved.

    Complex; `rfft` along the last of the axes, then `fft` along the others.

    >>> import symc.tensor as T
    >>> T.fft.rfftn([[1.0, 2.0], [3.0, 4.0]]).real.eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    return _from_real("rfftn", as_tensor(x), s, axes, norm)


def irfftn(x: TensorLike, s: Lengths = None, axes: Axes = None, norm: Norm = None) -> Tensor:
    """The inverse of `rfftn`. Give `s` if the length of the last axis is odd.

    >>> import symc.tensor as T
    >>> T.fft.irfftn(T.fft.rfftn([[1.0, 2.0], [3.0, 4.0]])).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return _to_real("irfftn", as_tensor(x), s, axes, norm)


def fft2(x: TensorLike, s: Lengths = None, axes: Axes = LAST_TWO, norm: Norm = None) -> Tensor:
    """The discrete Fourier transform along two axes, complex; `fft` along one after the other.

    `s` has the lengths to which `x` is cut off or filled with zeros.

    >>> import symc.tensor as T
    >>> T.fft.fft2([[1.0, 2.0], [3.0, 4.0]]).real.eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    return _over("fft2", fft, as_tensor(x), s, axes, norm)


def ifft2(x: TensorLike, s: Lengths = None, axes: Axes = LAST_TWO, norm: Norm = None) -> Tensor:
    """The inverse of `fft2`, complex: `ifft` along one axis after the other.

    >>> import symc.tensor as T
    >>> T.fft.ifft2(T.fft.fft2([[1.0, 2.0], [3.0, 4.0]])).real.eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return _over("ifft2", ifft, as_tensor(x), s, axes, norm)


def rfft2(x: TensorLike, s: Lengths = None, axes: Axes = LAST_TWO, norm: Norm = None) -> Tensor:
    """The transform of real numbers along two axes, of which the last is halved.

    Complex; `rfft` along the last of the axes, then `fft` along the other.

    >>> import symc.tensor as T
    >>> T.fft.rfft2([[1.0, 2.0], [3.0, 4.0]]).real.eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    return _from_real("rfft2", as_tensor(x), s, axes, norm)


def irfft2(x: TensorLike, s: Lengths = None, axes: Axes = LAST_TWO, norm: Norm = None) -> Tensor:
    """The inverse of `rfft2`: floats. Give `s` if the length of the last axis is odd.

    >>> import symc.tensor as T
    >>> T.fft.irfft2(T.fft.rfft2([[1.0, 2.0], [3.0, 4.0]])).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return _to_real("irfft2", as_tensor(x), s, axes, norm)


# --- shared parts ---------------------------------------------------------------------------------


def _complex(
    label: str, x: TensorLike, n: int | Tensor | None, axis: int, norm: Norm, *, inverse: bool
) -> Tensor:
    x = _as_complex(as_tensor(x))
    axis = normal_axis(label, axis, x.ndim, x)
    length = _points(x, n, axis)
    return Transform(axis, inverse, _power(norm, inverse=inverse))(resized(x, length, axis))


def _as_complex(x: Tensor) -> Tensor:
    return cast_to(x, complex_for(x.dtype))


def _points(x: Tensor, n: int | Tensor | None, axis: int, own: Dim | None = None) -> Dim:
    """How many points a transform along an axis has: `n`, or without that `own`, or the axis'."""
    if own is None:
        own = x.type.shape[axis]
    length = own if n is None else as_dim(n)
    check_points(x, length)
    return length


def _over(
    label: str, transform: Callable[..., Tensor], x: Tensor, s: Lengths, axes: Axes, norm: Norm
) -> Tensor:
    result = _as_complex(x)
    for axis, n in _axes(label, x, s, axes):
        result = transform(result, n, axis, norm)
    return result


def _from_real(label: str, x: Tensor, s: Lengths, axes: Axes, norm: Norm) -> Tensor:
    *others, (axis, length) = _axes(label, x, s, axes)
    result = rfft(x, length, axis, norm)
    for other, n in others:
        result = fft(result, n, other, norm)
    return result


def _to_real(label: str, x: Tensor, s: Lengths, axes: Axes, norm: Norm) -> Tensor:
    *others, (axis, length) = _axes(label, x, s, axes)
    for other, n in others:
        x = ifft(x, n, other, norm)
    return irfft(x, length, axis, norm)


def _axes(label: str, x: Tensor, s: Lengths, axes: Axes) -> list[tuple[int, int | Tensor | None]]:
    """The axes to transform, each with the length asked for."""
    if axes is None:
        count = x.ndim if s is None else len(s)
        axes = tuple(range(x.ndim - count, x.ndim))
    found = normal_axes(label, tuple(axes), x.ndim, x)
    if s is not None and len(s) != len(found):
        raise ValueError(f"{label}: {len(s)} lengths in s for {len(found)} axes")
    if not found:
        raise ValueError(f"{label} needs at least one axis")
    if s is None:
        return [(axis, None) for axis in found]
    own = [public(x.type.shape[axis]) for axis in found]
    return [
        (axis, length if isinstance(n, int | np.integer) and n == -1 else n)
        for axis, length, n in zip(found, own, s, strict=True)
    ]


def _opposite(norm: Norm) -> Norm:
    """The norm of the other direction."""
    return {"forward": "backward", "ortho": "ortho"}.get(norm or "backward", "forward")  # type: ignore[return-value]


def _power(norm: Norm, *, inverse: bool) -> int:
    """By how many roots of the length a direction divides, as the norm says."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'norm is "backward", "ortho" or "forward", not {norm!r}')
    if norm == "ortho":
        return 1
    return 0 if (norm == "forward") == inverse else 2


def resized(x: Tensor, n: Dim, axis: int) -> Tensor:
    """`x` with length n along an axis: cut, or filled up with zeros."""
    own = x.type.shape[axis]
    if own == n:
        return x
    kept = dims.minimum(own, n)
    part = (*[slice(None)] * axis, slice(0, public(kept)))
    inside = x if kept == own else x[part]
    if kept == n:
        return inside
    shape = tuple(public(n if at == axis else dim) for at, dim in enumerate(x.type.shape))
    return set_subtensor(zeros(shape, x.dtype)[part], inside)
