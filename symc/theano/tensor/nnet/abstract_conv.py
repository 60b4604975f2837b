"""Convolutions of images and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import symc
import symc.tensor as T
from symc.derivatives.reverse import placeholder
from symc.graph.node import Tensor
from symc.graph.walks import substitute
from symc.tensor import nnet
from symc.theano.configparser import config
from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import upcast
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.math import cast
from symc.theano.tensor.shaping import as_lengths, vector_length
from symc.theano.tensor.type import TensorType

imported_scipy_signal = True  # whether convolutions run without C code

# Names of Theano's module that are made of convolutions, by the modules that have them.
_MADE_OF_IT = {
    "upsampling": ("bilinear_kernel_1D", "bilinear_kernel_2D", "bilinear_upsampling",
                   "frac_bilinear_upsampling"),
    "separable": ("causal_conv1d", "separable_conv2d", "separable_conv3d"),
    "conv_shapes": (
        "assert_conv_shape", "assert_shape", "check_conv_gradinputs_shape",
        "get_conv_gradinputs_shape", "get_conv_gradinputs_shape_1axis",
        "get_conv_gradweights_shape", "get_conv_gradweights_shape_1axis",
    ),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for module, names in _MADE_OF_IT.items():
        if name in names:
            return getattr(import_module(f"symc.theano.tensor.nnet.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class AbstractConv(Op):
    """The convolution of (images, channels, lengths ...) with filters, along `convdim` axes."""

    __props__ = (
        "convdim", "border_mode", "subsample", "filter_flip", "filter_dilation", "num_groups",
        "unshared",
    )  # fmt: skip

    def __init__(
        self, convdim: int, border_mode: Any = "valid", subsample: Any = None,
        filter_flip: bool = True, filter_dilation: Any = None, num_groups: int = 1,
        imshp: Any = None, kshp: Any = None, unshared: bool = False,
    ) -> None:  # fmt: skip
        self.convdim, self.unshared = convdim, unshared
        if unshared and convdim != 2:
            raise NotImplementedError(f"Unshared convolution not implemented for {convdim}D")
        self.border_mode = checked_border(border_mode, convdim)
        self.subsample = tuple(subsample or (1,) * convdim)
        self.filter_flip = filter_flip
        self.filter_dilation = tuple(filter_dilation or (1,) * convdim)
        self.num_groups = num_groups
        self.imshp = known_shape(imshp, 2 + convdim)
        self.kshp = known_shape(kshp, self.kernel_rank)
        if len(self.subsample) != convdim:
            raise ValueError(f"subsample must have {convdim} elements")
        if len(self.filter_dilation) != convdim:
            raise ValueError(f"filter_dilation must have {convdim} elements")

    def make_node(self, img: Any, kern: Any) -> Apply:
        img, kern = as_tensor_variable(img), as_tensor_variable(kern)
        ranks = (2 + self.convdim, self.kernel_rank)
        for each, what, rank in zip((img, kern), ("img", "filters"), ranks, strict=True):
            if each.type.ndim != rank:
                raise TypeError(f"{what} must be {rank}D tensor")
        dtype = upcast(img.dtype, kern.dtype)
        flags = [img.broadcastable[0], kern.broadcastable[0]] + [False] * self.convdim
        return Apply(self, [cast(img, dtype), cast(kern, dtype)], [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [self.convolved(_of(self.imshp, inputs[0]), _of(self.kshp, inputs[1]))]

    @property
    def kernel_rank(self) -> int:
        """The axes of the filters; unshared ones have those of the result's places as well."""
        return 2 + self.convdim + (self.convdim if self.unshared else 0)

    def convolved(self, img: Tensor, kern: Tensor) -> Tensor:
        """The convolution as symc's expression."""
        if self.unshared:
            from symc.theano.tensor.nnet.unshared import unshared_conv2d

            return unshared_conv2d(
                img, kern, self.border_mode, self.subsample, self.filter_dilation, self.num_groups,
                self.filter_flip,
            )  # fmt: skip
        run = nnet.conv2d if self.convdim == 2 else nnet.conv3d
        return run(
            img, kern, padding=self.border_mode, stride=self.subsample,
            dilation=self.filter_dilation, groups=self.num_groups, flip_filters=self.filter_flip,
        )  # fmt: skip


def checked_border(border_mode: Any, convdim: int) -> Any:
    """A border mode as symc takes it. Raises ValueError for other values."""
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


def _of(shape: Any, x: Tensor) -> Tensor:
    """A tensor that is said to have a shape: checked where ``config.conv.assert_shape`` is set."""
    if not shape:
        return x
    if not config.conv.assert_shape:
        return T.specify_shape(x, shape)
    pairs = zip(T.shape(x), shape, strict=True)
    fits = [T.eq(T.as_tensor(n), wanted) for n, wanted in pairs if wanted is not None]
    return symc.Assert(f"a convolution was told of the shape {shape}")(x, *fits)


def known_shape(shape: Any, rank: int) -> tuple[int | None, ...] | None:
    """A shape as numbers, None where a length is not known."""
    if shape is None:
        return None
    if not isinstance(shape, tuple | list):
        raise ValueError(f"a shape is a tuple of constants and None, not {shape}")
    found: list[int | None] = []
    for each in shape:
        if isinstance(each, Constant):
            each = each.data
        found.append(None if each is None or isinstance(each, Variable) else int(each))
    if len(found) != rank:
        raise ValueError(f"a shape of {rank} lengths is needed, not {shape}")
    return tuple(found) if any(each is not None for each in found) else None


def _listed(shape: Any) -> Any:
    """The lengths of a shape one by one, where it is given as a vector."""
    if not isinstance(shape, Variable):
        return shape
    return [shape[axis] for axis in range(vector_length(shape))]


def conv2d(
    input: Any, filters: Any, input_shape: Any = None, filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1), filter_flip: bool = True,
    image_shape: Any = None, filter_dilation: Any = (1, 1), num_groups: int = 1,
    unshared: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """The convolution of images, (number, channels, height, width), with filters."""
    for name in ("imshp_logical", "kshp_logical"):
        if kwargs.pop(name, None) is not None:
            raise ValueError(f"Keyword arguments {name} is no longer supported")
    if kwargs:
        raise TypeError(f"conv2d() got unexpected keyword arguments {sorted(kwargs)}")
    op = AbstractConv2d(
        _listed(image_shape if input_shape is None else input_shape), _listed(filter_shape),
        border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared,
    )  # fmt: skip
    return op(input, filters)


def conv3d(
    input: Any, filters: Any, input_shape: Any = None, filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1, 1), filter_flip: bool = True,
    filter_dilation: Any = (1, 1, 1), num_groups: int = 1,
) -> Any:  # fmt: skip
    """The convolution of volumes with filters."""
    op = AbstractConv3d(
        _listed(input_shape), _listed(filter_shape), border_mode, subsample, filter_flip,
        filter_dilation, num_groups,
    )  # fmt: skip
    return op(input, filters)


class ConvGradient(AbstractConv):
    """The gradient of a convolution: linear, so the argument it is taken by does not matter."""

    def _pulled(self, img: Tensor, kern: Tensor, bar: Tensor, by_filters: bool) -> Tensor:
        holes = [placeholder(img.type), placeholder(kern.type)]
        holes = [img, holes[1]] if by_filters else [holes[0], kern]
        result = self.convolved(*holes)
        sought = holes[1] if by_filters else holes[0]
        pulled: Tensor = symc.Lop(result, sought, bar)
        return substitute([pulled], {sought: kern if by_filters else img})[0]


class ConvGradInputs(ConvGradient):
    """The gradient by the images: a convolution transposed. Inputs: filters, gradient, shape."""

    def make_node(self, kern: Any, topgrad: Any, shape: Any) -> Apply:  # type: ignore[override]
        kern, topgrad = as_tensor_variable(kern), as_tensor_variable(topgrad)
        lengths = math.cast(as_tensor_variable(shape), "int64")
        if (kern.type.ndim, topgrad.type.ndim) != (self.kernel_rank, 2 + self.convdim):
            raise TypeError(
                f"kern must be {self.kernel_rank}D and topgrad {2 + self.convdim}D tensors"
            )
        dtype = upcast(kern.dtype, topgrad.dtype)
        flags = [topgrad.type.broadcastable[0], False] + [False] * self.convdim
        given = [cast(kern, dtype), cast(topgrad, dtype), lengths]
        return Apply(self, given, [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        kern, bar, shape = _of(self.kshp, inputs[0]), *inputs[1:]
        spatial = as_lengths(shape, self.convdim)
        known = self.imshp or (None,) * (2 + self.convdim)
        lengths = [
            T.shape(bar)[0], T.shape(kern)[-1 - self.convdim] * self.num_groups,
            *(n if k is None else k for n, k in zip(spatial, known[2:], strict=True)),
        ]  # fmt: skip
        images = T.zeros(tuple(lengths), dtype=bar.dtype)
        return [self._pulled(images, kern, bar, by_filters=False)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """A shape has no gradient."""
        return [[True], [True], [False]]


class ConvGradWeights(ConvGradient):
    """The gradient by the filters. Inputs: images, gradient, shape."""

    def make_node(self, img: Any, topgrad: Any, shape: Any) -> Apply:  # type: ignore[override]
        img, topgrad = as_tensor_variable(img), as_tensor_variable(topgrad)
        lengths = math.cast(as_tensor_variable(shape), "int64")
        for each in (img, topgrad):
            if each.type.ndim != 2 + self.convdim:
                raise TypeError(f"img and topgrad must be {2 + self.convdim}D tensors")
        dtype = upcast(img.dtype, topgrad.dtype)
        places = [False] * (self.kernel_rank - 2 - self.convdim)
        flags = [topgrad.broadcastable[1], *places, img.broadcastable[1], *[False] * self.convdim]
        given = [cast(img, dtype), cast(topgrad, dtype), lengths]
        return Apply(self, given, [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        img, bar, shape = _of(self.imshp, inputs[0]), *inputs[1:]
        known = self.kshp or (None,) * self.kernel_rank
        spatial = zip(as_lengths(shape, self.convdim), known[-self.convdim :], strict=True)
        channels: Any = T.shape(img)[1] // self.num_groups
        places = T.shape(bar)[2:] if self.unshared else ()
        sizes = (n if k is None else k for n, k in spatial)
        lengths = [T.shape(bar)[1], *places, channels, *sizes]
        filters = T.zeros(tuple(lengths), dtype=bar.dtype)
        return [self._pulled(img, filters, bar, by_filters=True)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """A shape has no gradient."""
        return [[True], [True], [False]]


class ByName:
    """Theano's classes of these ops for so many axes, whose parameters are given by name."""

    axes: ClassVar[int]

    def __init__(
        self, imshp: Any = None, kshp: Any = None, border_mode: Any = "valid",
        subsample: Any = None, filter_flip: bool = True, filter_dilation: Any = None,
        num_groups: int = 1, unshared: bool = False,
    ) -> None:  # fmt: skip
        op: Any = super()
        op.__init__(
            self.axes, border_mode, subsample, filter_flip, filter_dilation, num_groups, imshp,
            kshp, unshared,
        )  # fmt: skip


class AbstractConv2d(ByName, AbstractConv):
    """A convolution along two axes."""

    axes = 2


class AbstractConv3d(ByName, AbstractConv):
    """A convolution along three axes."""

    axes = 3


class AbstractConv2d_gradInputs(ByName, ConvGradInputs):
    """The gradient by the images."""

    axes = 2


class AbstractConv3d_gradInputs(ByName, ConvGradInputs):
    """The gradient by the volumes."""

    axes = 3


class AbstractConv2d_gradWeights(ByName, ConvGradWeights):
    """The gradient by the filters of images."""

    axes = 2


class AbstractConv3d_gradWeights(ByName, ConvGradWeights):
    """The gradient by the filters of volumes."""

    axes = 3


def conv2d_grad_wrt_inputs(
    output_grad: Any, filters: Any, input_shape: Any, filter_shape: Any = None, *args: Any,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """The gradient of a convolution by its images; further arguments are those of `ByName`."""
    op = AbstractConv2d_gradInputs(_listed(input_shape), _listed(filter_shape), *args, **kwargs)
    return op(filters, output_grad, list(input_shape[-2:]))


def conv3d_grad_wrt_inputs(
    output_grad: Any, filters: Any, input_shape: Any, filter_shape: Any = None, *args: Any,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """The gradient of a convolution by its volumes; further arguments are those of `ByName`."""
    op = AbstractConv3d_gradInputs(_listed(input_shape), _listed(filter_shape), *args, **kwargs)
    return op(filters, output_grad, list(input_shape[-3:]))


def conv2d_grad_wrt_weights(
    input: Any, output_grad: Any, filter_shape: Any, input_shape: Any = None, *args: Any,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """The gradient of a convolution by its filters; further arguments are those of `ByName`."""
    op = AbstractConv2d_gradWeights(_listed(input_shape), _listed(filter_shape), *args, **kwargs)
    return op(input, output_grad, list(filter_shape[-2:]))


def conv3d_grad_wrt_weights(
    input: Any, output_grad: Any, filter_shape: Any, input_shape: Any = None, *args: Any,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """The gradient of a convolution of volumes by its filters; further arguments: `ByName`."""
    op = AbstractConv3d_gradWeights(_listed(input_shape), _listed(filter_shape), *args, **kwargs)
    return op(input, output_grad, list(filter_shape[-3:]))


def conv2d_transpose(
    input: Any, filters: Any, output_shape: Any, filter_shape: Any = None,
    border_mode: Any = "valid", input_dilation: Any = (1, 1), filter_flip: bool = True,
    filter_dilation: Any = (1, 1), num_groups: int = 1,
) -> Any:  # fmt: skip
    """A convolution transposed, as images grow where they are downsampled forwards."""
    return conv2d_grad_wrt_inputs(
        input, filters, output_shape, filter_shape, border_mode, input_dilation, filter_flip,
        filter_dilation, num_groups,
    )  # fmt: skip


def get_conv_output_shape(
    image_shape: Any, kernel_shape: Any, border_mode: Any, subsample: Any,
    filter_dilation: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The shape of a convolution, None where a length is not known."""
    count = len(subsample)
    dilation = filter_dilation or (1,) * count
    border = checked_border(border_mode, count)
    spatial = tuple(
        get_conv_shape_1axis(
            image_shape[2 + axis], kernel_shape[axis - count],
            border if isinstance(border, str) else border[axis], subsample[axis], dilation[axis],
        )
        for axis in range(count)
    )  # fmt: skip
    return (image_shape[0], kernel_shape[0], *spatial)


def get_conv_shape_1axis(
    image_shape: Any, kernel_shape: Any, border_mode: Any, subsample: int, dilation: int = 1
) -> Any:
    """The length of a convolution along one axis."""
    if None in (image_shape, kernel_shape, border_mode, subsample, dilation):
        return None
    reach = (kernel_shape - 1) * dilation + 1
    pads = {"half": (reach // 2) * 2, "full": (reach - 1) * 2, "valid": 0}
    if isinstance(border_mode, str):
        pad = pads[border_mode]
    else:
        pad = 2 * border_mode if isinstance(border_mode, int) else sum(border_mode)
    return (image_shape + pad - reach) // subsample + 1
