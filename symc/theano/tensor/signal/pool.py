"""Pooling of images and volumes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import symc
import symc.tensor as T
from symc.derivatives.reverse import placeholder
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.graph.walks import substitute
from symc.tensor import nnet
from symc.tensor.nnet.pool import max_windows
from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.op import Op
from symc.theano.gradient_types import DisconnectedType
from symc.theano.lenient import lengths_vary
from symc.theano.scalar.dtypes import integer_dtypes
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable, constant_of
from symc.theano.tensor.shaping import element, only_first
from symc.theano.tensor.signal.windows import gathered_windows, pooled
from symc.theano.tensor.type import TensorType

MOST = 3  # axes that symc's own pooling goes along; more are gathered
MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


class Pool(Op):
    """The greatest, the sum or the mean of each window along the last `ndim` axes."""

    __props__ = ("ignore_border", "mode", "ndim")

    def __init__(
        self, ignore_border: bool = False, mode: str = "max", ndim: int = 2, openmp: Any = None
    ) -> None:
        del openmp
        self.ignore_border, self.mode, self.ndim = ignore_border, mode, ndim
        if mode not in MODES:
            raise ValueError(
                "Pool mode parameter only support 'max', 'sum', 'average_inc_pad' and "
                f"'average_exc_pad'. Got {mode}"
            )

    def make_node(self, x: Any, ws: Any, stride: Any = None, pad: Any = None) -> Apply:
        x = as_tensor_variable(x)
        ws, stride, pad = lengths = pool_lengths(self.ndim, ws, stride, pad)
        sizes, pads = constant_of(ws), constant_of(pad)
        if pads is not None and pads.any():
            if not self.ignore_border:
                raise NotImplementedError("padding works only with ignore_border=True")
            if sizes is not None and (pads >= sizes).any():
                raise NotImplementedError("padding must be smaller than strides")
        if x.type.ndim < self.ndim:
            raise TypeError(f"the input of a pooling has at least {self.ndim} axes")
        flags = list(x.broadcastable[: x.ndim - self.ndim]) + [False] * self.ndim
        return Apply(self, [x, *lengths], [TensorType(x.dtype, flags)()])

    connection_pattern = staticmethod(only_first)

    @staticmethod
    def out_shape(
        imgshape: Sequence[Any], ws: Any = None, ignore_border: bool = False, stride: Any = None,
        pad: Any = None, ndim: int = 2, ds: Any = None, st: Any = None, padding: Any = None,
    ) -> list[Any]:  # fmt: skip
        """The shape of a pooling of images of a shape, of numbers or variables.

        >>> Pool.out_shape((9, 8, 6), (2, 2))
        [9, 4, 3]
        """
        sizes = ds if ws is None else ws
        steps = next((each for each in (stride, st) if each is not None), sizes)
        pads = next((each for each in (pad, padding) if each is not None), (0,) * ndim)
        if len(imgshape) < ndim:
            raise TypeError(f"imgshape must have at least {ndim} dimensions")
        found = [
            _pooled_length(imgshape[axis] + 2 * pads[axis], sizes[axis], steps[axis], ignore_border)
            for axis in range(-ndim, 0)
        ]
        return [*imgshape[:-ndim], *found]

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        numbers = windows_at(inputs[1:], self.ndim)
        if numbers is None or self.ndim > MOST or lengths_vary():  # or longer than images
            return [pooled(inputs[0], inputs[1:], self.ndim, self.mode, self.ignore_border)]
        x = as_images(inputs[0], self.ndim)
        window, strides, pads = numbers
        options: dict[str, Any] = {
            "stride": strides, "padding": tuple((pad, pad) for pad in pads),
            "ceil_mode": not self.ignore_border,
        }  # fmt: skip
        if self.mode.startswith("average"):
            run = _of_axes("avg", self.ndim)
            if self.mode == "average_exc_pad" and any(pads):
                options["include_padding"] = False
            result = run(x, window, **options)
        elif self.mode == "sum":
            result = _of_axes("sum", self.ndim)(x, window, **options)
        else:
            result = _of_axes("max", self.ndim)(x, window, **options)
        return [like_input(result, inputs[0], self.ndim)]

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Any) -> Any:
        if (
            self.mode != "max"
            or self.ndim > MOST
            or any(constant_of(each) is None for each in inputs[1:])
        ):
            return super().L_op(inputs, outputs, output_grads)
        rule = MaxPoolGrad(self.ignore_border, self.mode, self.ndim)
        gradient = rule(inputs[0], outputs[0], output_grads[0], *inputs[1:])
        return [gradient, *(DisconnectedType()() for _ in inputs[1:])]


def _pooled_length(n: Any, size: Any, step: Any, ignore_border: bool) -> Any:
    """How many windows there are along an axis."""
    most: Any
    which: Any
    if any(isinstance(each, Variable) for each in (n, size, step)):
        most, which = math.maximum, math.switch
        begun = math.ge(step, size)
    else:
        most, which = max, lambda test, left, right: left if test else right
        begun = step >= size
    if ignore_border:
        return most((n - size) // step + 1, 0)
    return which(begun, (n - 1) // step + 1, most((n - 1 - size) // step + 1, 0) + 1)


def _of_axes(kind: str, ndim: int) -> Any:
    """symc's pooling along the last axes."""
    return getattr(nnet, f"{kind}_pool{ndim}d")


def _of_images(op: Any, images: Sequence[Any], like: int, windows: Sequence[Any]) -> Apply:
    """An op of pooling on images and windows, whose result has the type of one of the images."""
    given = [as_tensor_variable(each) for each in images]
    return Apply(op, [*given, *pool_lengths(op.ndim, *windows)], [given[like].type()])


class MaxPoolGrad(Op):
    """The gradient of a pooling by the maximum: it goes to all elements that are equal to it."""

    __props__ = ("ignore_border", "mode", "ndim")

    def __init__(
        self, ignore_border: bool = False, mode: str = "max", ndim: int = 2, openmp: Any = None
    ) -> None:
        del openmp
        self.ignore_border, self.mode, self.ndim = ignore_border, mode, ndim

    def make_node(
        self, x: Any, maxout: Any, gz: Any, ws: Any, stride: Any = None, pad: Any = None
    ) -> Apply:
        return _of_images(self, (x, maxout, gz), 0, (ws, stride, pad))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Lengths have no gradient."""
        return [[position < 3] for position in range(node.nin)]

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, greatest, bar = (as_images(each, self.ndim) for each in inputs[:3])
        numbers = windows_at(inputs[3:], self.ndim)
        assert numbers is not None, "the gradient is asked for where windows are known"
        window, strides, lengths = numbers
        hole = placeholder(x.type)
        pads = tuple((pad, pad) for pad in lengths)

        def windows_of(images: Tensor) -> Tensor:
            if lengths_vary():
                return gathered_windows(images, inputs[3:], self.ndim, self.ignore_border)
            return max_windows(self.ndim, images, window, strides, pads, not self.ignore_border)

        last = tuple(range(x.ndim, x.ndim + self.ndim))
        same = T.eq(windows_of(x), T.expand_dims(greatest, last))
        spread = T.where(same, T.expand_dims(bar, last), T.zeros((), dtype=bar.dtype))
        pulled: Tensor = symc.Lop(windows_of(hole), hole, spread)
        (result,) = substitute([pulled], {hole: x})
        return [like_input(result, inputs[0], self.ndim)]


class AveragePoolGrad(Op):
    """The gradient of a pooling by sums or means. Inputs: `x`, the gradient, lengths."""

    __props__ = ("ignore_border", "mode", "ndim")

    def __init__(
        self, ignore_border: bool = False, mode: str = "average_inc_pad", ndim: int = 2
    ) -> None:
        self.ignore_border, self.mode, self.ndim = ignore_border, mode, ndim

    def make_node(self, x: Any, gz: Any, ws: Any, stride: Any = None, pad: Any = None) -> Apply:
        return _of_images(self, (x, gz), 0, (ws, stride, pad))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Lengths have no gradient."""
        return [[position < 2] for position in range(node.nin)]

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, bar, *lengths = inputs
        hole = placeholder(x.type)
        pool = Pool(self.ignore_border, self.mode, self.ndim)
        (result,) = pool.meaning(node, hole, *lengths)
        pulled: Tensor = symc.Lop(result, hole, bar)
        return substitute([pulled], {hole: x})


class DownsampleFactorMaxGradGrad(Op):
    """What `MaxPoolGrad` passes on: of each window the `ggx` where `x` is its greatest element."""

    __props__ = ("ignore_border", "mode", "ndim")

    def __init__(self, ignore_border: bool = False, mode: str = "max", ndim: int = 2) -> None:
        self.ignore_border, self.mode, self.ndim = ignore_border, mode, ndim

    def make_node(
        self, x: Any, maxout: Any, ggx: Any, ws: Any, stride: Any = None, pad: Any = None
    ) -> Apply:
        return _of_images(self, (x, maxout, ggx), 1, (ws, stride, pad))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Only the third input has a gradient: the first two only choose."""
        return [[position == 2] for position in range(node.nin)]

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, greatest, wanted = inputs[:3]
        rule = MaxPoolGrad(self.ignore_border, self.mode, self.ndim)
        hole = placeholder(greatest.type)
        (back,) = rule.meaning(node, x, greatest, hole, *inputs[3:])
        pulled: Tensor = symc.Lop(back, hole, wanted)  # it is linear in the gradient
        return substitute([pulled], {hole: greatest})


def pool_lengths(ndim: int, ws: Any, stride: Any, pad: Any) -> list[Any]:
    """Window, step and padding as variables; the step is the window where it is not given."""
    ws = as_tensor_variable(ws)
    stride = ws if stride is None else as_tensor_variable(stride)
    found = [ws, stride, as_tensor_variable((0,) * ndim if pad is None else pad)]
    for each in found:
        if each.ndim != 1 or each.dtype not in integer_dtypes:
            raise TypeError("Pool downsample parameters must be vectors of ints.")
    return found


def windows_at(lengths: Sequence[Tensor], ndim: int) -> list[tuple[int, ...]] | None:
    """The lengths of windows, their distances and the padding as numbers, None for variables."""
    found: list[tuple[int, ...]] = []
    for each in lengths:
        numbers = [constant_value(element(each, position)) for position in range(ndim)]
        if any(number is None for number in numbers):
            return None
        found.append(tuple(int(number) for number in numbers if number is not None))
    return found


def as_images(x: Tensor, ndim: int) -> Tensor:
    """A tensor with two axes before those that windows go along."""
    lengths = T.shape(x)
    first = x.ndim - ndim
    if first == 2:
        return x
    return T.reshape(x, [1, *((-1,) if first else (1,)), *lengths[first:]])


def like_input(result: Tensor, x: Tensor, ndim: int) -> Tensor:
    """The result with the axes that the input has before those that windows go along."""
    first = x.ndim - ndim
    if first == 2:
        return result
    return T.reshape(result, [*T.shape(x)[:first], *T.shape(result)[2:]])


def _numbers(given: Any, ndim: int, what: str) -> Any:
    if isinstance(given, int):
        return (given,) * ndim
    if isinstance(given, Variable):
        return given
    values = [constant_of(each) for each in (given if isinstance(given, list | tuple) else [given])]
    if any(value is None for value in values):
        return as_tensor_variable(list(given))
    found = tuple(int(n) for value in values for n in value.reshape(-1))
    if len(found) != ndim:
        raise ValueError(f"'{what}' must be a sequence of {ndim} numbers, not {given}")
    return found


def _pooled(
    ndim: int, input: Any, ws: Any, ignore_border: bool | None, stride: Any, pad: Any, mode: str,
    ds: Any, st: Any, padding: Any,
) -> Any:  # fmt: skip
    ws = _renamed("ds", ds, "ws", ws)
    stride = _renamed("st", st, "stride", stride)
    pad = (0,) * ndim if pad is None else pad
    if padding is not None:
        warnings.warn("DEPRECATION: 'padding' is now called 'pad'", stacklevel=4)
        pad = padding
    if ws is None:
        raise ValueError("pool needs ws")
    if input.ndim < ndim:
        raise NotImplementedError(f"pool_{ndim}d requires a dimension >= {ndim}")
    if ignore_border is None:
        warnings.warn(
            f"pool_{ndim}d() will have the parameter ignore_border default value changed to True "
            "(currently False). To have consistent behavior with all Theano version, explicitly "
            "add the parameter ignore_border=True.", stacklevel=4,
        )  # fmt: skip
        ignore_border = False
    sizes = _numbers(ws, ndim, "ws")
    strides = sizes if stride is None else _numbers(stride, ndim, "stride")
    pads = _numbers(pad, ndim, "pad")
    return Pool(bool(ignore_border), mode, ndim)(input, sizes, strides, pads)


def _renamed(old: str, given: Any, new: str, value: Any) -> Any:
    if given is None:
        return value
    if value is not None:
        raise ValueError(f"You can't provide a tuple value to both '{new}' and '{old}'.")
    warnings.warn(f"DEPRECATION: the '{old}' parameter is called '{new}' now", stacklevel=5)
    return given


def pool_2d(
    input: Any, ws: Any = None, ignore_border: bool | None = None, stride: Any = None,
    pad: Any = (0, 0), mode: str = "max", ds: Any = None, st: Any = None, padding: Any = None,
) -> Any:  # fmt: skip
    """Pooling along the last two axes."""
    return _pooled(2, input, ws, ignore_border, stride, pad, mode, ds, st, padding)


def pool_3d(
    input: Any, ws: Any = None, ignore_border: bool | None = None, stride: Any = None,
    pad: Any = (0, 0, 0), mode: str = "max", ds: Any = None, st: Any = None, padding: Any = None,
) -> Any:  # fmt: skip
    """Pooling along the last three axes."""
    return _pooled(3, input, ws, ignore_border, stride, pad, mode, ds, st, padding)


def max_pool_2d_same_size(input: Any, patch_size: Any) -> Any:
    """`input`, of which only the greatest elements of each patch are kept; the others are 0."""
    pool = Pool(ignore_border=True)
    lengths = [_numbers(patch_size, 2, "patch_size")] * 2 + [_numbers((0, 0), 2, "pad")]
    greatest = pool(input, *lengths)
    return MaxPoolGrad(ignore_border=True)(input, greatest, greatest, *lengths)
