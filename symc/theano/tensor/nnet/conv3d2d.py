"""`theano.tensor.nnet.conv3d2d`: videos, with time before the channels; diagonal stripes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.lib.stride_tricks import as_strided

from symc.theano.gof.graph import Apply
from symc.theano.gof.in_place import OverwritesFirst
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.creation import zeros, zeros_like
from symc.theano.tensor.nnet.abstract_conv import conv3d as _conv3d
from symc.theano.tensor.subtensor import set_subtensor


def get_diagonal_subtensor_view(x: Any, i0: int, i1: int) -> Any:
    """A view of an array whose column `j` along axis `i1` begins `j` rows of `i0` higher.

    Axis `i0` is shorter by ``x.shape[i1] - 1``. Raises NotImplementedError where it would be
    shorter than 1.
    """
    rows, columns = x.shape[i0], x.shape[i1]
    if rows < columns:
        raise NotImplementedError("is this allowed?")
    shape, strides = list(x.shape), list(x.strides)
    shape[i0] = rows - columns + 1
    strides[i1] -= strides[i0]
    below = [slice(None)] * x.ndim
    below[i0] = slice(columns - 1, None)
    return as_strided(x[tuple(below)], shape, strides)


class DiagonalSubtensor(Op):
    """The stripe of `get_diagonal_subtensor_view`."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def make_node(self, x: Any, i0: Any, i1: Any) -> Apply:
        x = as_tensor_variable(x)
        return Apply(self, [x, as_tensor_variable(i0), as_tensor_variable(i1)], [x.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        x, i0, i1 = inputs
        output_storage[0][0] = get_diagonal_subtensor_view(x, int(i0), int(i1)).copy()

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        x, i0, i1 = inputs
        spread = inc_diagonal_subtensor(zeros_like(x), i0, i1, output_grads[0])
        return [spread, DisconnectedType()(), DisconnectedType()()]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Axes have no gradient."""
        return [[True], [False], [False]]


class IncDiagonalSubtensor(OverwritesFirst):
    """An array with something added to its stripe."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def make_node(self, x: Any, i0: Any, i1: Any, amt: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (x, i0, i1, amt)]
        return Apply(self, given, [given[0].type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        x, i0, i1, amount = inputs
        made = x.copy()
        get_diagonal_subtensor_view(made, int(i0), int(i1))[...] += amount
        output_storage[0][0] = made

    def infer_shape(self, node: Apply, shapes: Sequence[Any]) -> Any:
        """The shape of the array."""
        return [shapes[0]]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        _x, i0, i1, _amount = inputs
        (bar,) = output_grads
        none = DisconnectedType()
        return [bar, none(), none(), diagonal_subtensor(bar, i0, i1)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Axes have no gradient."""
        return [[True], [False], [False], [True]]


diagonal_subtensor, inc_diagonal_subtensor = DiagonalSubtensor(), IncDiagonalSubtensor()


def _padded(x: Any, axis: int, by: Any) -> Any:
    """A tensor with `by` zeros on both sides of an axis."""
    lengths = [x.shape[position] for position in range(x.ndim)]
    lengths[axis] = lengths[axis] + 2 * by
    place = [slice(None)] * x.ndim
    place[axis] = slice(by, by + x.shape[axis])
    return set_subtensor(zeros(lengths, dtype=x.dtype)[tuple(place)], x)


def conv3d(
    signals: Any, filters: Any, signals_shape: Any = None, filters_shape: Any = None,
    border_mode: Any = "valid",
) -> Any:  # fmt: skip
    """Videos (batch, time, channels, rows, columns) convolved with filters of that order.

    `border_mode` is "valid", "full" or "half", or three of these for time, rows and columns.
    Raises NotImplementedError where those of rows and columns differ.
    """

    def moved(shape: Any) -> Any:
        return None if shape is None else (shape[0], shape[2], shape[1], *shape[3:])

    in_time, of_rows, of_columns = (
        (border_mode,) * 3 if isinstance(border_mode, str) else border_mode
    )
    if of_rows != of_columns:
        raise NotImplementedError("height and width bordermodes must match")
    for each in (in_time, of_rows):
        if each not in ("valid", "full", "half"):
            raise ValueError("invalid border mode", each)
    videos, own = as_tensor_variable(signals), as_tensor_variable(filters)
    if in_time != of_rows:  # each axis is padded as it wants, and what is left is valid
        signals_shape = None
        for axis, mode in ((1, in_time), (3, of_rows), (4, of_rows)):
            length = own.shape[axis] if filters_shape is None else filters_shape[axis]
            if mode != "valid":
                videos = _padded(videos, axis, length - 1 if mode == "full" else length // 2)
        of_rows = "valid"
    found = _conv3d(
        videos.dimshuffle(0, 2, 1, 3, 4), own.dimshuffle(0, 2, 1, 3, 4),
        input_shape=moved(signals_shape), filter_shape=moved(filters_shape), border_mode=of_rows,
    )  # fmt: skip
    return found.dimshuffle(0, 2, 1, 3, 4)
