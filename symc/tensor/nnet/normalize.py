"""Normalisation: over a batch, a layer, groups of channels or one channel of an image.

All are compositions of means and elementwise functions; the compiler fuses them into a few passes
over the data. Numbers of 16 bits are widened before and rounded once, at the end: squares of 256
are already beyond float16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symc.codegen.dtypes import DType
from symc.errors import ShapeMismatch
from symc.graph import dims
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.graph.types import promote
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to, refuse_complex
from symc.tensor.exponentials import sqrt
from symc.tensor.lengths import normal_axes, normal_axis, public
from symc.tensor.math import as_float, reciprocal, sqr
from symc.tensor.nnet.geometry import numbers
from symc.tensor.reduce import count_along
from symc.tensor.reshape import reshape
from symc.tensor.statistics import mean, wide
from symc.tensor.views import dimshuffle, squeeze

__all__ = [
    "BatchNorm", "batch_norm", "batch_norm_inference", "group_norm", "instance_norm", "layer_norm",
    "rms_norm",
]  # fmt: skip


class BatchNorm(NamedTuple):
    """Results of `batch_norm`: the output, the statistics of the batch, and the running ones.

    >>> import symc.tensor as T
    >>> found = T.nnet.batch_norm([[1.0], [3.0]], [1.0], [0.0])
    >>> found.mean.eval(), found.output.eval().round(3)
    (array([2.]), array([[-1.],
           [ 1.]]))
    """

    output: Tensor
    mean: Tensor
    var: Tensor
    running_mean: Tensor
    running_var: Tensor


def batch_norm(
    x: TensorLike,
    scale: TensorLike | None = None,
    shift: TensorLike | None = None,
    running_mean: TensorLike = 0.0,
    running_var: TensorLike = 1.0,
    *,
    axis: int = 1,
    epsilon: float = 1e-5,
    momentum: float = 0.1,
) -> BatchNorm:
    """`x` normalised by its mean and variance along all axes but `axis`, as in training.

    `scale` and `shift` are vectors along `axis` that the result is multiplied by and added to. The
    running statistics are vectors too: ``(1 - momentum) * old + momentum * batch's``, with the
    unbiased variance; give them to `symc.function` as updates, and use them in
    `batch_norm_inference`. Of float16 and bfloat16 all is computed in float32, and only the output
    rounded; running statistics have the dtype of those that are given.

    >>> import symc, symc.tensor as T
    >>> x, mean = T.fmatrix("x"), symc.shared([0.0], name="mean")
    >>> made = T.nnet.batch_norm(x, running_mean=mean)
    >>> f = symc.function([x], made.output, updates=[(mean, T.cast(made.running_mean, "float64"))])
    >>> f([[1.0], [3.0]])
    array([[-0.999995],
           [ 0.999995]], dtype=float32)
    >>> mean.get_value()
    array([0.2])
    """
    x = as_float(as_tensor(x))
    kept = normal_axis("batch_norm", axis, x.ndim, x)
    axes = tuple(a for a in range(x.ndim) if a != kept)
    y, centre, variance = _normalized(x, axes, epsilon)
    middle, spread = squeeze(centre, axes), squeeze(variance, axes)
    count = public(dims.maximum(dims.sub(count_along(x, axes), 1), 1))
    unbiased = spread * (public(count_along(x, axes)) / as_float(count)).astype(spread.dtype)
    return BatchNorm(
        _scaled("batch_norm", x, y, scale, shift, (kept,)),
        middle,
        spread,
        _running(as_tensor(running_mean), middle, momentum),
        _running(as_tensor(running_var), unbiased, momentum),
    )


def _running(old: Tensor, found: Tensor, momentum: float) -> Tensor:
    """The running mean after one more batch, in the dtype of the old one if that is of 16 bits."""
    new = (1 - momentum) * wide(old) + momentum * found
    return cast_to(new, old.dtype) if old.dtype.is_only_stored else new


def batch_norm_inference(
    x: TensorLike,
    scale: TensorLike | None,
    shift: TensorLike | None,
    running_mean: TensorLike,
    running_var: TensorLike,
    *,
    axis: int = 1,
    epsilon: float = 1e-5,
) -> Tensor:
    """`x` normalised by a mean and a variance that are given, vectors along `axis`.

    The arguments stand in the order of `batch_norm`; `scale` and `shift` may be None.

    >>> import symc.tensor as T
    >>> T.nnet.batch_norm_inference([[1.0], [3.0]], None, None, [1.0], [4.0], epsilon=0.0).eval()
    array([[0.],
           [1.]])
    """
    label, x = "batch_norm_inference", as_float(as_tensor(x))
    kept = (normal_axis(label, axis, x.ndim, x),)
    centre = _along(label, x, running_mean, kept)
    variance = _along(label, x, running_var, kept)
    y = (wide(x) - centre) * _inverse_root(wide(variance), epsilon)
    keep = promote(x.dtype, centre.dtype, variance.dtype)
    return _scaled(label, x, y, scale, shift, kept, keep)


def layer_norm(
    x: TensorLike,
    scale: TensorLike | None = None,
    shift: TensorLike | None = None,
    *,
    axis: int | Sequence[int] = -1,
    epsilon: float = 1e-5,
) -> Tensor:
    """`x` normalised by its mean and variance along `axis`.

    `scale` and `shift` have these axes, and the result is multiplied by one and added to the other.

    >>> import symc.tensor as T
    >>> T.nnet.layer_norm(T.constant([[1.0, 3.0], [10.0, 30.0]]), epsilon=0.0).eval()
    array([[-1.,  1.],
           [-1.,  1.]])
    """
    x = as_float(as_tensor(x))
    axes = tuple(sorted(normal_axes("layer_norm", axis, x.ndim, x)))
    return _scaled("layer_norm", x, _normalized(x, axes, epsilon)[0], scale, shift, axes)


def rms_norm(
    x: TensorLike,
    scale: TensorLike | None = None,
    *,
    axis: int | Sequence[int] = -1,
    epsilon: float = 1e-5,
) -> Tensor:
    """``x / sqrt(mean(x ** 2) + epsilon)`` along `axis`: a layer norm that takes no mean off.

    `scale` has these axes, and the result is multiplied by it. The dtype is that of `x` and `scale`
    together; integers become floats. Raises `BadIndex` for an axis that is not there,
    `ShapeMismatch` where `scale` does not fit.

    Zhang and Sennrich, Root mean square layer normalization, 2019.

    >>> import symc.tensor as T
    >>> T.nnet.rms_norm(T.constant([[3.0, 4.0], [1.0, -1.0]]), epsilon=0.0).eval().round(3)
    array([[ 0.849,  1.131],
           [ 1.   , -1.   ]])
    """
    x = as_float(as_tensor(x))
    refuse_complex("a normalisation", x.dtype)
    axes = tuple(sorted(normal_axes("rms_norm", axis, x.ndim, x)))
    y = wide(x)
    y = y * _inverse_root(mean(sqr(y), axes, keepdims=True), epsilon)
    return _scaled("rms_norm", x, y, scale, None, axes)


def group_norm(
    x: TensorLike,
    groups: int,
    scale: TensorLike | None = None,
    shift: TensorLike | None = None,
    *,
    epsilon: float = 1e-5,
) -> Tensor:
    """`x` (images, channels, *lengths) normalised over groups of neighbouring channels.

    `scale` and `shift` have one number for each channel. Raises `ShapeMismatch` when the channels
    do not make whole groups, `ValueError` unless `groups` is an integer from 1 on.

    Wu and He, Group normalization, 2018.

    >>> import symc.tensor as T
    >>> T.nnet.group_norm([[[1.0], [3.0], [5.0], [5.0]]], groups=2).eval().round(3)
    array([[[-1.],
            [ 1.],
            [ 0.],
            [ 0.]]])
    """
    x = as_float(as_tensor(x))
    (groups,) = numbers("group_norm", "groups", groups, 1)
    shape = x.type.shape
    channels = shape[1] if x.ndim > 1 else 1
    if x.ndim < 2 or (isinstance(channels, int) and channels % groups):
        raise ShapeMismatch(
            f"group_norm: axis 1 has {channels} channels, which do not make {groups} groups\n"
            f"  given  {describe(x)}"
        )
    apart = reshape(x, (shape[0], groups, dims.floordiv(channels, groups), *shape[2:]))
    y = _normalized(apart, tuple(range(2, apart.ndim)), epsilon)[0]
    return _scaled("group_norm", x, reshape(y, shape), scale, shift, (1,))


def instance_norm(
    x: TensorLike,
    scale: TensorLike | None = None,
    shift: TensorLike | None = None,
    *,
    epsilon: float = 1e-5,
) -> Tensor:
    """`x` (images, channels, *lengths) normalised over each channel of each image.

    `scale` and `shift` have one number for each channel.

    Ulyanov, Vedaldi and Lempitsky, Instance normalization, 2016.

    >>> import symc.tensor as T
    >>> T.nnet.instance_norm([[[1.0, 3.0], [10.0, 20.0]]]).eval().round(3)
    array([[[-1.,  1.],
            [-1.,  1.]]])
    """
    x = as_float(as_tensor(x))
    y = _normalized(x, tuple(range(2, x.ndim)), epsilon)[0]
    return _scaled("instance_norm", x, y, scale, shift, (1,))


def _normalized(x: Tensor, axes: tuple[int, ...], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """`x` with mean 0 and variance 1 along axes, and its own mean and variance, axes kept.

    All are in the dtype that `x` is computed in.
    """
    refuse_complex("a normalisation", x.dtype)
    x = wide(x)
    centre = mean(x, axes, keepdims=True)
    away = x - centre
    variance = mean(sqr(away), axes, keepdims=True)
    return away * _inverse_root(variance, epsilon), centre, variance


def _inverse_root(variance: Tensor, epsilon: float) -> Tensor:
    return reciprocal(sqrt(variance + epsilon))


def _scaled(
    label: str,
    x: Tensor,
    y: Tensor,
    scale: TensorLike | None,
    shift: TensorLike | None,
    axes: tuple[int, ...],
    keep: DType | None = None,
) -> Tensor:
    """What `x` was normalised to, scaled and shifted, in the dtype of all that goes into it."""
    keep = keep or x.dtype
    if scale is not None:
        scale = _along(label, x, scale, axes)
        y, keep = y * scale, promote(keep, scale.dtype)
    if shift is not None:
        shift = _along(label, x, shift, axes)
        y, keep = y + shift, promote(keep, shift.dtype)
    return cast_to(y, keep)


def _along(label: str, x: Tensor, given: TensorLike, axes: tuple[int, ...]) -> Tensor:
    """A tensor whose axes are these of `x`; a number is for all of them."""
    given = as_tensor(given, x.dtype)
    if given.ndim not in (0, len(axes)):
        raise ShapeMismatch(
            f"{label}: what lies along axes {axes} must have {len(axes)} axes, not {given.ndim}\n"
            f"  given  {describe(given)}"
        )
    if given.ndim == 0:
        return given
    order: list[int | str] = ["x"] * x.ndim
    for number, axis in enumerate(axes):
        order[axis] = number
    return dimshuffle(given, order)
