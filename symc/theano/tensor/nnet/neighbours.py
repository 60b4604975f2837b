"""`theano.tensor.nnet.neighbours`: the windows of images as rows, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.raise_op import Refused
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.shaping import element
from symc.theano.tensor.type import TensorType

_MODES = ("valid", "half", "full", "ignore_borders", "wrap_centered")


class Images2Neibs(Op):
    """The windows of all images as rows, image after image."""

    __props__ = ("mode",)

    def __init__(self, mode: str = "valid") -> None:
        if mode not in _MODES:
            raise NotImplementedError(f"Only modes {', '.join(_MODES)} have been implemented for "
                                      "Images2Neibs")  # fmt: skip
        self.mode = mode

    def make_node(self, ten4: Any, neib_shape: Any, neib_step: Any = None) -> Apply:
        images, shape = as_tensor_variable(ten4), as_tensor_variable(neib_shape)
        step = shape if neib_step is None else as_tensor_variable(neib_step)
        assert images.ndim == 4
        assert shape.ndim == 1
        assert step.ndim == 1
        return Apply(self, [images, shape, step], [TensorType(images.dtype, (False, False))()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, shape, step = inputs
        sizes = [_number(element(shape, k)) for k in (0, 1)]
        steps = [_number(element(step, k)) for k in (0, 1)]
        for axis, size, apart in ((2, sizes[0], steps[0]), (3, sizes[1], steps[1])):
            x = _fitting(x, axis, size, apart, self.mode)
            x = _padded(x, axis, size, self.mode)
        lengths = T.shape(x)
        counts: list[Any] = []
        for axis in (0, 1):
            room = lengths[axis + 2] - sizes[axis]
            if self.mode == "wrap_centered":
                counts.append(-(-(room + 1) // steps[axis]))
            else:
                counts.append(room // steps[axis] + 1)
        rows = _places(counts[0], steps[0], sizes[0])
        columns = _places(counts[1], steps[1], sizes[1])
        # (images, channels, windows down, rows, windows across, columns)
        found = x[:, :, rows][:, :, :, :, columns]
        found = T.transpose(found, (0, 1, 2, 4, 3, 5))
        return [T.reshape(found, (-1, sizes[0] * sizes[1]))]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Shapes and steps have no gradient."""
        return [[True], [False], [False]]

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.mode}}}"


def _number(x: Tensor) -> Any:
    known = constant_value(x)
    return T.cast(x, "int64") if known is None else int(known)


def _places(count: Any, step: Any, size: Any) -> Tensor:
    starts = T.expand_dims(T.arange(count) * step, 1)
    return starts + T.expand_dims(T.arange(size), 0)


def _fitting(x: Tensor, axis: int, size: Any, step: Any, mode: str) -> Tensor:
    """The images, where windows of the mode cover them. Raises TypeError in other calls."""
    length = T.as_tensor(T.shape(x)[axis])
    if mode == "ignore_borders":
        return x
    if mode == "wrap_centered":
        whole = T.ge(length, size) & T.eq(T.as_tensor(size) % 2, 1)
        text = "windows that wrap around have odd lengths, at most those of the images"
    else:
        around = {"half": 2 * (size // 2), "full": 2 * (size - 1)}.get(mode, 0)
        room = length + around - size
        whole = T.ge(room, 0) & T.eq(room % step, 0)
        text = f"windows of mode {mode!r} cover images without a rest"
    return Refused(f"images2neibs: {text}; axis {axis} does not fit")(x, T.as_tensor(whole))


def _padded(x: Tensor, axis: int, size: Any, mode: str) -> Tensor:
    """The images with what the mode puts around them along one axis."""
    width = {"half": size // 2, "full": size - 1, "wrap_centered": size // 2}.get(mode, 0)
    if isinstance(width, int) and width == 0:
        return x
    if mode == "wrap_centered":
        length = T.shape(x)[axis]
        order = (T.arange(length + 2 * width) - width) % length
        return T.take(x, order, axis=axis)
    lengths: list[Any] = list(T.shape(x))
    lengths[axis] = width
    edge = T.zeros(tuple(lengths), dtype=x.dtype)
    return T.concatenate([edge, x, edge], axis=axis)


def images2neibs(ten4: Any, neib_shape: Any, neib_step: Any = None, mode: str = "valid") -> Any:
    """The windows of all images as rows, image after image."""
    return Images2Neibs(mode)(ten4, neib_shape, neib_step)


def neibs2images(neibs: Any, neib_shape: Any, original_shape: Any, mode: str = "valid") -> Any:
    """The images whose windows, which do not overlap, are the rows."""
    from symc.theano.tensor.joining import stack

    neibs = as_tensor_variable(neibs)
    shape = as_tensor_variable(neib_shape)
    whole = as_tensor_variable(original_shape)
    if mode not in ("valid", "ignore_borders"):
        raise NotImplementedError("neibs2images do not support mode=" + mode)
    rows, columns = shape[0], shape[1]
    down, across = whole[2] // rows, whole[3] // columns
    parts = neibs.reshape(stack([whole[0], whole[1], down, across, rows, columns]), ndim=6)
    parts = parts.dimshuffle(0, 1, 2, 4, 3, 5)
    inner = parts.reshape(stack([whole[0], whole[1], down * rows, across * columns]), ndim=4)
    if mode == "valid":
        return inner
    from symc.theano.tensor.creation import zeros
    from symc.theano.tensor.subtensor import set_subtensor

    empty = zeros([whole[k] for k in range(4)], dtype=neibs.dtype)
    return set_subtensor(empty[:, :, : down * rows, : across * columns], inner)
