"""Convolutions of images and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.graph.node import Tensor
from symc.tensor import nnet
from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import upcast
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.math import cast
from symc.theano.tensor.type import TensorType


class AbstractConv(Op):
    """The convolution of (images, channels, lengths ...) with filters, along `convdim` axes."""

    __props__ = (
        "convdim", "border_mode", "subsample", "filter_flip", "filter_dilation", "num_groups",
    )  # fmt: skip

    def __init__(
        self, convdim: int, border_mode: Any = "valid", subsample: Any = None,
        filter_flip: bool = True, filter_dilation: Any = None, num_groups: int = 1,
        imshp: Any = None, kshp: Any = None,
    ) -> None:  # fmt: skip
        self.convdim = convdim
        self.border_mode = checked_border(border_mode, convdim)
        self.subsample = tuple(subsample or (1,) * convdim)
        self.filter_flip = filter_flip
        self.filter_dilation = tuple(filter_dilation or (1,) * convdim)
        self.num_groups = num_groups
        self.imshp, self.kshp = known_shape(imshp, convdim), known_shape(kshp, convdim)
        if len(self.subsample) != convdim:
            raise ValueError(f"subsample must have {convdim} elements")
        if len(self.filter_dilation) != convdim:
            raise ValueError(f"filter_dilation must have {convdim} elements")

    def make_node(self, img: Any, kern: Any) -> Apply:
        img, kern = as_tensor_variable(img), as_tensor_variable(kern)
        for each, what in ((img, "img"), (kern, "filters")):
            if each.type.ndim != 2 + self.convdim:
                raise TypeError(f"{what} must be {2 + self.convdim}D tensor")
        dtype = upcast(img.dtype, kern.dtype)
        flags = [img.broadcastable[0], kern.broadcastable[0]] + [False] * self.convdim
        return Apply(self, [cast(img, dtype), cast(kern, dtype)], [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        import symc.tensor as T

        img = T.specify_shape(inputs[0], self.imshp) if self.imshp else inputs[0]
        kern = T.specify_shape(inputs[1], self.kshp) if self.kshp else inputs[1]
        run = nnet.conv2d if self.convdim == 2 else nnet.conv3d
        result = run(
            img, kern, padding=self.border_mode, stride=self.subsample,
            dilation=self.filter_dilation, groups=self.num_groups, flip_filters=self.filter_flip,
        )  # fmt: skip
        return [result]


def checked_border(border_mode: Any, convdim: int) -> Any:
    """A border mode as symc takes it. Raises ValueError for what is none."""
    if border_mode in ("valid", "full", "half"):
        return border_mode
    given = border_mode
    if isinstance(border_mode, int):
        given = (border_mode,) * convdim
    if not isinstance(given, tuple | list) or len(given) != convdim:
        raise ValueError(
            f'invalid border_mode {border_mode}, which must be either "valid", "full", "half", an '
            f"integer or a tuple of length {convdim}"
        )
    pairs = tuple(
        (int(each), int(each)) if isinstance(each, int) else (int(each[0]), int(each[1]))
        for each in given
    )
    if any(each < 0 for pair in pairs for each in pair):
        raise ValueError(
            f"invalid border_mode {border_mode}. The tuple can only contain integers >= 0"
        )
    return pairs


def known_shape(shape: Any, convdim: int) -> tuple[int | None, ...] | None:
    """A shape as numbers, None where a length is not known."""
    if shape is None:
        return None
    found: list[int | None] = []
    for each in shape:
        if isinstance(each, Constant):
            each = each.data
        found.append(None if each is None or isinstance(each, Variable) else int(each))
    if len(found) != 2 + convdim:
        raise ValueError(f"a shape of {2 + convdim} lengths is needed, not {shape}")
    return tuple(found) if any(each is not None for each in found) else None


def conv2d(
    input: Any, filters: Any, input_shape: Any = None, filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1), filter_flip: bool = True,
    image_shape: Any = None, filter_dilation: Any = (1, 1), num_groups: int = 1,
    unshared: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """The convolution of images, (number, channels, height, width), with filters."""
    if unshared:
        raise NotImplementedError("conv2d: unshared=True is not there; use a sum of products")
    for name in ("imshp_logical", "kshp_logical"):
        if kwargs.pop(name, None) is not None:
            raise ValueError(f"Keyword arguments {name} is no longer supported")
    if kwargs:
        raise TypeError(f"conv2d() got unexpected keyword arguments {sorted(kwargs)}")
    op = AbstractConv(
        2, border_mode, subsample, filter_flip, filter_dilation, num_groups,
        image_shape if input_shape is None else input_shape, filter_shape,
    )  # fmt: skip
    return op(input, filters)


def conv3d(
    input: Any, filters: Any, input_shape: Any = None, filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1, 1), filter_flip: bool = True,
    filter_dilation: Any = (1, 1, 1), num_groups: int = 1,
) -> Any:  # fmt: skip
    """The convolution of volumes with filters."""
    op = AbstractConv(
        3, border_mode, subsample, filter_flip, filter_dilation, num_groups, input_shape,
        filter_shape,
    )  # fmt: skip
    return op(input, filters)
