"""Shapes of convolutions: told from each other, and checked. None stands for what is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symc.theano.configparser import config
from symc.theano.raise_op import Assert
from symc.theano.tensor import math
from symc.theano.tensor.convert import NotScalarConstantError
from symc.theano.tensor.folding import get_scalar_constant_value
from symc.theano.tensor.nnet.abstract_conv import checked_border, get_conv_output_shape


def _per_axis(
    rule: Callable[..., Any], first: Sequence[Any], second: Sequence[Any], border_mode: Any,
    subsample: Sequence[Any], dilation: Any,
) -> tuple[Any, ...]:  # fmt: skip
    count = len(subsample)
    border = checked_border(border_mode, count)
    borders = (border,) * count if isinstance(border, str) else border
    steps = dilation or (1,) * count
    rows = zip(first[-count:], second[-count:], borders, subsample, steps, strict=True)
    return tuple(rule(*row) for row in rows)


def get_conv_gradweights_shape(
    image_shape: Any, top_shape: Any, border_mode: Any, subsample: Any,
    filter_dilation: Any = None, num_groups: int = 1, unshared: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The shape of the filters of a convolution from those of images and results."""
    channels = None if image_shape[1] is None else image_shape[1] // num_groups
    found = _per_axis(get_conv_gradweights_shape_1axis, image_shape, top_shape, border_mode,
                      subsample, filter_dilation)  # fmt: skip
    rows = tuple(top_shape[2:]) if unshared else ()
    return (top_shape[1], *rows, channels, *found)


def get_conv_gradweights_shape_1axis(
    image_shape: Any, top_shape: Any, border_mode: Any, subsample: Any, dilation: Any = 1
) -> Any:
    """The length of filters along one axis; None where several would do."""
    known = (image_shape, top_shape, border_mode, subsample, dilation)
    if any(each is None for each in known) or subsample != 1 or border_mode == "half":
        return None
    if border_mode == "full":
        reach = top_shape - image_shape
    else:
        reach = image_shape - top_shape + sum(_pads(border_mode, 0))
    return reach // dilation + 1


def get_conv_gradinputs_shape(
    kernel_shape: Any, top_shape: Any, border_mode: Any, subsample: Any,
    filter_dilation: Any = None, num_groups: int = 1,
) -> tuple[Any, ...]:  # fmt: skip
    """The shape of the images of a convolution from those of filters and results."""
    channels = kernel_shape[-len(subsample) - 1]
    found = _per_axis(get_conv_gradinputs_shape_1axis, kernel_shape, top_shape, border_mode,
                      subsample, filter_dilation)  # fmt: skip
    return (top_shape[0], None if channels is None else channels * num_groups, *found)


def get_conv_gradinputs_shape_1axis(
    kernel_shape: Any, top_shape: Any, border_mode: Any, subsample: Any, dilation: Any = None
) -> Any:
    """The length of images along one axis; None where several would do."""
    known = (kernel_shape, top_shape, border_mode, subsample, dilation)
    if any(each is None for each in known) or subsample != 1:
        return None
    reach = (kernel_shape - 1) * dilation + 1
    return top_shape + reach - 1 - sum(_pads(border_mode, reach))


def _pads(border_mode: Any, reach: Any) -> tuple[Any, Any]:
    """How much is padded in front and behind."""
    named = {"valid": 0, "half": reach // 2, "full": reach - 1}
    if isinstance(border_mode, str):
        return named[border_mode], named[border_mode]
    front, behind = border_mode if isinstance(border_mode, tuple) else (border_mode, border_mode)
    if front < 0 or behind < 0:
        raise ValueError("border_mode must be >= 0")
    return front, behind


def check_conv_gradinputs_shape(
    image_shape: Any, kernel_shape: Any, output_shape: Any, border_mode: Any, subsample: Any,
    filter_dilation: Any = None,
) -> bool:  # fmt: skip
    """False where such a convolution has another shape than `output_shape`, as far as is known."""
    count = len(tuple(image_shape))
    if len(tuple(kernel_shape)) != count or len(tuple(output_shape)) != count:
        return False
    if any(len(each) != count - 2 for each in (subsample, filter_dilation) if each is not None):
        return False
    found = get_conv_output_shape(
        image_shape, kernel_shape, border_mode, subsample, filter_dilation
    )
    return all(_may_be(*pair) for pair in zip(output_shape, found, strict=True))


def _may_be(given: Any, computed: Any) -> bool:
    if given is None or computed is None:
        return True
    try:
        return int(get_scalar_constant_value(given)) == int(get_scalar_constant_value(computed))
    except NotScalarConstantError:
        return True


def assert_conv_shape(shape: Sequence[Any]) -> tuple[Any, ...]:
    """The lengths, checked: none is negative, and none along the convolution is 0.

    Raises ValueError for numbers; other lengths are checked when the program runs.
    """
    found: list[Any] = []
    for axis, n in enumerate(shape):
        sign = "<" if axis < 2 else "<="
        try:
            known = int(get_scalar_constant_value(n))
        except NotScalarConstantError:
            text = f"The convolution would produce an invalid shape (dim[{axis}] {sign} 0)."
            found.append(Assert(text)(n, math.ge(n, 0) if axis < 2 else math.gt(n, 0)))
            continue
        if known < 0 or (axis >= 2 and known == 0):
            raise ValueError(
                f"The convolution would produce an invalid shape (dim[{axis}]: {known} {sign} 0)."
            )
        found.append(n)
    return tuple(found)


def assert_shape(x: Any, expected_shape: Any, msg: str = "Unexpected shape.") -> Any:
    """`x`, which must have a shape (None: any length), if ``config.conv.assert_shape`` is set."""
    if expected_shape is None or not config.conv.assert_shape:
        return x
    wanted = [(axis, n) for axis, n in enumerate(expected_shape) if n is not None]
    tests = [math.eq(x.shape[axis], n) for axis, n in wanted]
    return Assert(msg)(x, *tests) if tests else x
