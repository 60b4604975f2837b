"""Indexing as users write it: NumPy's index language, read and written.

``x[index]`` becomes one `Slice` or one `Gather`, under a `DimShuffle` where axes are new or move.
``x[index].set(v)`` looks at that node and writes where it reads.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from symc.codegen.dtypes import BOOL, INT64
from symc.dims import Dim
from symc.errors import BadIndex, DTypeError
from symc.graph import METHODS, OPERATORS, Array, Tensor, TensorLike
from symc.inputs import as_tensor, constant, constant_value, scalar_constant
from symc.tensor.broadcast import broadcast_shape, describe
from symc.tensor.checks import BOUNDS, Bounds, fit_region, static_index
from symc.tensor.elementwise import cast_to
from symc.tensor.gather import Gather, Scatter, gather
from symc.tensor.lengths import dim_of, tensor_of
from symc.tensor.positions import Coordinate, FlatNonzero, fitted, mask_positions, span_positions
from symc.tensor.reshape import reshape
from symc.tensor.slices import Mode, Slice, SliceWrite
from symc.tensor.spans import GIVEN, WHOLE, Bound, Entry, Given, Span, normal_span
from symc.tensor.views import DimShuffle, dimshuffle, expand_dims, shape_padleft, shape_padright
from symc.types import to_numpy

__all__ = ["inc_subtensor", "set_subtensor"]


class Region(NamedTuple):
    """A slice of one axis, with the tensors that its `GIVEN` bounds stand for."""

    span: Span
    given: tuple[Tensor, ...]


# One part of an index. A tensor is an int64 array or scalar, or a mask.
Item: TypeAlias = "Region | int | Tensor | EllipsisType | None"

# --- what users may write -------------------------------------------------------------------------


def _item(part: Any) -> Item:
    if part is None or part is Ellipsis:
        return cast("EllipsisType | None", part)
    if isinstance(part, slice):
        return _region(part)
    if isinstance(part, int | np.integer) and not isinstance(part, bool):
        return int(part)
    array = _as_index(part)
    value = constant_value(array)
    if value is not None and not array.ndim and array.dtype is INT64:
        return int(value)
    return array


def _as_index(part: Any) -> Tensor:
    if isinstance(part, list | tuple | range) and not np.size(cast("Any", _plain(part))):
        return constant(np.empty(np.shape(cast("Any", part)), np.int64))
    if not isinstance(part, Tensor | np.ndarray | np.generic) and hasattr(part, "__index__"):
        part = operator.index(part) if not isinstance(part, bool) else part
    array = as_tensor(list(part) if isinstance(part, range) else part)
    if array.dtype.is_float:
        raise DTypeError(
            f"an index must be integers, bools, slices, None or ..., not {array.dtype}\n"
            f"  index  {describe(array)}"
        )
    return array if array.dtype is BOOL else cast_to(array, INT64)
