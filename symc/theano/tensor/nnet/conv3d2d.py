"""`theano.tensor.nnet.conv3d2d`: videos, with time before the channels."""

from __future__ import annotations

from typing import Any

from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.nnet.abstract_conv import conv3d as _conv3d


def conv3d(
    signals: Any, filters: Any, signals_shape: Any = None, filters_shape: Any = None,
    border_mode: Any = "valid",
) -> Any:  # fmt: skip
    """Videos (batch, time, channels, rows, columns) convolved with filters of that order."""

    def moved(shape: Any) -> Any:
        return None if shape is None else (shape[0], shape[2], shape[1], *shape[3:])

    if isinstance(border_mode, str):
        border_mode = (border_mode,) * 3
    if len(set(border_mode)) != 1:
        raise NotImplementedError("border_mode: symc.theano takes one for all three axes")
    found = _conv3d(
        as_tensor_variable(signals).dimshuffle(0, 2, 1, 3, 4),
        as_tensor_variable(filters).dimshuffle(0, 2, 1, 3, 4),
        input_shape=moved(signals_shape), filter_shape=moved(filters_shape),
        border_mode=border_mode[0],
    )  # fmt: skip
    return found.dimshuffle(0, 2, 1, 3, 4)
