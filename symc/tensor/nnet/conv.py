"""Convolutions in one, two and three dimensions, and their transposes: the public functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from symc.errors import DTypeError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.node import Tensor, TensorLike
from symc.tensor.along import flip
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import common
from symc.tensor.lengths import as_dim
from symc.tensor.nnet.convolution import convolution
from symc.tensor.nnet.geometry import (
    Numbers,
    Padding,
    check_rank,
    covered,
    numbers,
    padded,
    paddings,
)
from symc.tensor.nnet.roles import Role
from symc.tensor.specify import segment

__all__ = [
    "conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose",
]  # fmt: skip


def conv1d(
    x: TensorLike,
    filters: TensorLike,
    *,
    padding: Padding = "valid",
    stride: Numbers = 1,
    dilation: Numbers = 1,
    groups: int = 1,
    flip_filters: bool = True,
) -> Tensor:
    """The convolution of signals along their last axis; see `conv2d`.

    >>> import symc.tensor as T
    >>> x = T.constant([[[1.0, 2.0, 4.0, 7.0]]])
    >>> T.nnet.conv1d(x, T.constant([[[1.0, -1.0]]])).eval()
    array([[[1., 2., 3.]]])
    """
    return _forward("conv1d", 1, x, filters, padding, stride, dilation, groups, flip_filters)


def conv2d(
    x: TensorLike,
    filters: TensorLike,
    *,
    padding: Padding = "valid",
    stride: Numbers = 1,
    dilation: Numbers = 1,
    groups: int = 1,
    flip_filters: bool = True,
) -> Tensor:
    """The convolution of images with filters, as neural networks use it.

    `x` is (images, channels, height, width), `filters` (features, channels in a group, height,
    width); the result is (images, features, height, width). `padding` is zeros around `x`:
    ``"valid"`` none, ``"full"`` for every window that meets `x`, ``"half"`` half a filter on each
    side, ``"same"`` for ``ceil(length / stride)`` windows, the odd zero after; or a length, or for
    each axis a length or a pair (before, after). `stride` and `dilation` (the distance of a
    filter's elements) are for both axes, or one for each. With `groups`, each group of channels
    meets its own group of features.

    Filters are turned, as convolution is defined in mathematics and in Theano; with
    ``flip_filters=False`` they are not (cross-correlation, as in PyTorch). Raises `ShapeMismatch`,
    at run time if need be, when lengths do not fit.

    >>> import symc.tensor as T
    >>> x = T.ftensor4("x")
    >>> T.nnet.conv2d(x, T.ones((6, 3, 5, 5), "float32"), padding="half", stride=2).type.shape[1]
    6
    """
    return _forward("conv2d", 2, x, filters, padding, stride, dilation, groups, flip_filters)


def conv3d(
    x: TensorLike,
    filters: TensorLike,
    *,
    padding: Padding = "valid",
    stride: Numbers = 1,
    dilation: Numbers = 1,
    groups: int = 1,
    flip_filters: bool = True,
) -> Tensor:
    """The convolution of volumes along their last three axes; see `conv2d`.

    `x` is (images, channels, depth, height, width), `filters` are (filters, channels, and three
    lengths). Raises ShapeMismatch, at run time if need be, when the channels differ.

    >>> import symc.tensor as T
    >>> T.nnet.conv3d(T.ones((1, 1, 2, 2, 2)), T.ones((1, 1, 2, 2, 2))).eval().item()
    8.0
    """
    return _forward("conv3d", 3, x, filters, padding, stride, dilation, groups, flip_filters)


def conv1d_transpose(
    y: TensorLike,
    filters: TensorLike,
    *,
    padding: Padding = "valid",
    stride: Numbers = 1,
    dilation: Numbers = 1,
    groups: int = 1,
    flip_filters: bool = True,
    output_padding: Numbers = 0,
    output_shape: Any = None,
) -> Tensor:
    """The transpose of `conv1d` as a linear function; see `conv2d_transpose`.

    `y` is (images, filters, length), `filters` are (filters, channels, length).

    >>> import symc.tensor as T
    >>> T.nnet.conv1d_transpose([[[1.0, 2.0]]], [[[1.0, 1.0]]], flip_filters=False).eval()
    array([[[1., 3., 2.]]])
    """
    return _transpose("conv1d_transpose", 1, y, filters, padding, stride, dilation, groups,
                      flip_filters, output_padding, output_shape)  # fmt: skip


def conv2d_transpose(
    y: TensorLike,
    filters: TensorLike,
    *,
    padding: Padding = "valid",
    stride: Numbers = 1,
    dilation: Numbers = 1,
    groups: int = 1,
    flip_filters: bool = True,
    output_padding: Numbers = 0,
    output_shape: Any = None,
) -> Tensor:
    """The transpose of `conv2d` as a linear function: its gradient with respect to its input.

    `y` is that convolution's result, (images, features, height, width); `filters` and the
    other parameters are those of that convolution. Where several lengths of its input give the same
    `y`, the result has the shortest plus `output_padding`; or `output_shape` says its last lengths.
    With ``padding="same"`` they are those of `y` times the stride.

    >>> import symc.tensor as T
    >>> y, w = T.constant([[[[1.0, 2.0]]]]), T.ones((1, 1, 1, 2))
    >>> T.nnet.conv2d_transpose(y, w, stride=2).eval()
    array([[[[1., 1., 2., 2.]]]])
    """
    return _transpose("conv2d_transpose", 2, y, filters, padding, stride, dilation, groups,
                      flip_filters, output_padding, output_shape)  # fmt: skip


def conv3d_transpose(
    y: TensorLike,
    filters: TensorLike,
    *,
    padding: Padding = "valid",
    stride: Numbers = 1,
    dilation: Numbers = 1,
    groups: int = 1,
    flip_filters: bool = True,
    output_padding: Numbers = 0,
    output_shape: Any = None,
) -> Tensor:
    """The transpose of `conv3d` as a linear function; see `conv2d_transpose`.

    `y` and `filters` have five axes, as results and filters of `conv3d` have.

    >>> import symc.tensor as T
    >>> y = T.nnet.conv3d_transpose(T.ones((1, 1, 1, 1, 1)), T.ones((1, 1, 2, 2, 2)))
    >>> y.eval().shape
    (1, 1, 2, 2, 2)
    """
    return _transpose("conv3d_transpose", 3, y, filters, padding, stride, dilation, groups,
                      flip_filters, output_padding, output_shape)  # fmt: skip


def _forward(
    label: str, rank: int, x: TensorLike, filters: TensorLike, padding: Padding, stride: Numbers,
    dilation: Numbers, groups: int, flip_filters: bool,
) -> Tensor:  # fmt: skip
    x, w = _operands(label, rank, x, filters, flip_filters)
    (groups,) = numbers(label, "groups", groups, 1)
    strides = numbers(label, "stride", stride, rank)
    dilations = numbers(label, "dilation", dilation, rank)
    pairs = paddings(label, padding, x.type.shape[2:], w.type.shape[2:], strides, dilations)
    known: Mapping[Role, Tensor] = {"inputs": padded(x, pairs), "filters": w}
    return convolution("outputs", known, groups, strides, dilations)


def _transpose(
    label: str, rank: int, y: TensorLike, filters: TensorLike, padding: Padding, stride: Numbers,
    dilation: Numbers, groups: int, flip_filters: bool, output_padding: Numbers, output_shape: Any,
) -> Tensor:  # fmt: skip
    y, w = _operands(label, rank, y, filters, flip_filters)
    (groups,) = numbers(label, "groups", groups, 1)
    strides = numbers(label, "stride", stride, rank)
    dilations = numbers(label, "dilation", dilation, rank)
    extra = numbers(label, "output_padding", output_padding, rank, least=0)
    sizes, counts = w.type.shape[2:], y.type.shape[2:]
    whole = list(map(covered, counts, sizes, strides, dilations))
    wanted: list[Dim] | None = None
    if output_shape is not None:
        wanted = [as_dim(length) for length in _sequence(label, output_shape, rank)]
    elif padding == "same":
        wanted = [dims.mul(n, s) for n, s in zip(counts, strides, strict=True)]
    pairs = paddings(label, padding, wanted or whole, sizes, strides, dilations)
    if wanted is None:
        around = [dims.add(before, after) for before, after in pairs]
        shortest = [dims.sub(n, more) for n, more in zip(whole, around, strict=True)]
        wanted = [dims.add(n, more) for n, more in zip(shortest, extra, strict=True)]
        if any(isinstance(length, int) and length < 0 for length in wanted):
            raise ShapeMismatch(
                f"{label}: padding takes more off than the lengths {tuple(whole)} that windows "
                f"cover\n  given  {describe(y)}"
            )
    lengths = [dims.add(n, dims.add(*pair)) for n, pair in zip(wanted, pairs, strict=True)]
    known: Mapping[Role, Tensor] = {"outputs": y, "filters": w}
    result = convolution("inputs", known, groups, strides, dilations, lengths)
    for axis, (length, (before, _)) in enumerate(zip(wanted, pairs, strict=True)):
        if result.type.shape[axis + 2] != length:
            result = segment(result, axis + 2, before, length)
    return result


def _sequence(label: str, given: Any, rank: int) -> Sequence[Any]:
    lengths = cast("Sequence[Any]", given) if isinstance(given, list | tuple) else ()
    if len(lengths) != rank:
        raise ValueError(f"{label}: output_shape must have {rank} lengths, not {given!r}")
    return lengths


def _operands(
    label: str, rank: int, x: TensorLike, filters: TensorLike, flip_filters: bool
) -> tuple[Tensor, Tensor]:
    """Both tensors with one dtype, the filters as they meet windows."""
    x, w = common([x, filters], "same", label)
    check_rank(label, x, rank, "the first argument")
    check_rank(label, w, rank, "filters")
    if x.dtype.kind == "bool" or x.dtype.is_complex:
        raise DTypeError(f"{label} of {x.dtype} is not defined; it needs integers or real numbers")
    return x, flip(w, tuple(range(2, 2 + rank))) if flip_filters else w
