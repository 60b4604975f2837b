"""Which frequencies the results of a transform are, and how to put the lowest in the middle."""

from __future__ import annotations

from collections.abc import Sequence

from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.along import roll
from symc.tensor.build import arange
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import as_dim, normal_axes, public, tensor_of

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(n: int | Tensor, d: TensorLike = 1.0) -> Tensor:
    """The frequencies of the results of `fft`, for n samples at distance `d`, as float64.

    >>> import symc.tensor as T
    >>> T.fft.fftfreq(4).eval()
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    length = as_dim(n)
    k, count = arange(tensor_of(length)), tensor_of(length)
    upper: Tensor = OPERATORS["ge"](k * 2, count)
    return _frequencies(OPERATORS["where"](upper, k - count, k), length, d)


def rfftfreq(n: int | Tensor, d: TensorLike = 1.0) -> Tensor:
    """The frequencies of the results of `rfft`, for n samples at distance `d`, as float64.

    >>> import symc.tensor as T
    >>> T.fft.rfftfreq(5, d=0.1).eval()
    array([0., 2., 4.])
    """
    length = as_dim(n)
    return _frequencies(arange(tensor_of(dims.add(dims.floordiv(length, 2), 1))), length, d)


def _frequencies(k: Tensor, n: Dim, d: TensorLike) -> Tensor:
    return cast_to(k, "float64") / (cast_to(tensor_of(n), "float64") * d)


def fftshift(x: TensorLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """Moves the lowest frequency to the middle of the axes (all without `axes`).

    >>> import symc.tensor as T
    >>> T.fft.fftshift([0, 1, 2, -2, -1]).eval()
    array([-2, -1,  0,  1,  2])
    """
    return _shifted("fftshift", x, axes, up=True)


def ifftshift(x: TensorLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of `fftshift`, which differs from it where a length is odd.

    >>> import symc.tensor as T
    >>> T.fft.ifftshift([-2, -1, 0, 1, 2]).eval()
    array([ 0,  1,  2, -2, -1])
    """
    return _shifted("ifftshift", x, axes, up=False)


def _shifted(label: str, x: TensorLike, axes: int | Sequence[int] | None, *, up: bool) -> Tensor:
    x = as_tensor(x)
    wanted = tuple(range(x.ndim)) if axes is None else axes
    for axis in normal_axes(label, wanted, x.ndim, x):
        n = x.type.shape[axis]
        middle = dims.floordiv(n, 2)
        x = roll(x, public(middle if up else dims.sub(n, middle)), axis)
    return x
