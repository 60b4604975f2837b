"""Writing where an index reads: ``x[index].set(v)`` and ``x[index].inc(v)``.

Nothing is changed in place: the result is a new tensor. Which part of which tensor is meant, tells
the node that indexing made: a `Slice` or a `Gather`, perhaps under a `DimShuffle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symc.errors import DTypeError
from symc.graph.bfloat16 import kind_of
from symc.graph.inputs import as_tensor, constant, constant_value
from symc.graph.node import METHODS, OPERATORS, Tensor, TensorLike
from symc.graph.types import to_numpy
from symc.tensor.broadcast import describe, stretched
from symc.tensor.elementwise import cast_to
from symc.tensor.gather import Gather, Scatter, write_region
from symc.tensor.logic import where
from symc.tensor.positions import Coordinate, FlatNonzero
from symc.tensor.reshape import reshape
from symc.tensor.slices import Mode, Slice, fit_region
from symc.tensor.views import DimShuffle, dimshuffle, shape_padleft, shape_padright, squeeze

__all__ = ["inc_subtensor", "set_subtensor"]
_ALSO_ENTERED = ["inc", "set"]


def set_subtensor(x: Tensor, values: TensorLike) -> Tensor:
    """The tensor that `x` is a part of, with that part replaced by `values`: ``x[i].set(v)``.

    `x` must be the result of indexing. `values` broadcast to it and must convert to its dtype
    without loss; Python and NumPy scalars of the same kind always do. Where an index occurs more
    than once, the last value stays. Raises TypeError, `DTypeError` or `ShapeMismatch`.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> T.set_subtensor(x[1:], 0.0).eval({x: [1.0, 2.0, 3.0]})
    array([1., 0., 0.])
    """
    return _write(x, values, "set")


def inc_subtensor(x: Tensor, values: TensorLike) -> Tensor:
    """The tensor that `x` is a part of, with `values` added to that part: ``x[i].inc(v)``.

    As `set_subtensor`; where an index occurs more than once, all its values are added.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> x[[0, 0, 2]].inc(1.0).eval({x: [1.0, 2.0, 3.0]})
    array([3., 2., 4.])
    """
    return _write(x, values, "inc")


METHODS["set"] = set_subtensor
METHODS["inc"] = inc_subtensor


def _write(target: Any, values: TensorLike, mode: Mode) -> Tensor:
    label = f"{mode}_subtensor"
    if not isinstance(target, Tensor):
        raise TypeError(f"{label} needs an indexed tensor, x[index], not {target!r}")
    source = _whole_or_part(target)
    if not isinstance(source.op, Slice | Gather):
        raise TypeError(
            f"{label}: this is not the result of indexing, so there is nothing to write into\n"
            f"  given  {describe(target)}\n  write x[index].{mode}(values)"
        )
    v = _converted(label, target, values)
    while v.ndim > target.ndim and v.type.shape[0] == 1:
        v = squeeze(v, 0)
    v = stretched(label, v, target.type.shape)
    fit_region(label, target, v, target.type.shape)
    if isinstance(target.op, DimShuffle):
        v = _shuffled_back(target.op.order, v, source.ndim)
    x, *args = source.args
    if isinstance(source.op, Slice):
        return write_region(source.op.entries, mode, x, v, args)
    return _write_gathered(label, source.op, x, v, args, mode)


def _whole_or_part(target: Tensor) -> Tensor:
    """What was taken of a tensor before axes were added to it, as in ``x[:, None]``: maybe all."""
    if not isinstance(target.op, DimShuffle):
        return target
    source, order = target.args[0], target.op.order
    if isinstance(source.op, Slice | Gather):
        return source
    adds_axes = [axis for axis in order if axis is not None] == list(range(source.ndim))
    return OPERATORS["getitem"](source, ...) if adds_axes else target


def _converted(label: str, target: Tensor, values: TensorLike) -> Tensor:
    """The values in the target's dtype. Literal numbers only have to be of the same kind."""
    v = as_tensor(values)
    dtype = to_numpy(target.dtype)
    if np.can_cast(to_numpy(v.dtype), dtype, "safe"):
        return cast_to(v, target.dtype)
    literal = None if isinstance(values, Tensor | np.ndarray) else constant_value(v)
    if literal is not None and _kind(literal.dtype) <= _kind(dtype):
        converted = literal.astype(dtype)
        if kind_of(dtype) in "fc" or np.array_equal(converted, literal):
            return constant(converted)
    raise DTypeError(
        f"{label}: {v.dtype} values do not go into {target.dtype} without loss\n"
        f"  into   {describe(target)}\n  values {describe(v)}\n"
        f"  convert them first: values.astype({target.dtype.name!r})"
    )


def _kind(dtype: np.dtype[Any]) -> int:
    return "buifc".index(kind_of(dtype).replace("u", "i"))


def _shuffled_back(order: Sequence[int | None], v: Tensor, rank: int) -> Tensor:
    """Values for a `DimShuffle` of a tensor as values for that tensor, which has `rank` axes."""
    v = shape_padleft(v, len(order) - v.ndim)
    lengths = v.type.shape
    wanted = tuple(1 if axis is None else dim for axis, dim in zip(order, lengths, strict=True))
    if wanted != lengths:  # the length of a new axis is 1, even if that is not known yet
        v = reshape(v, wanted)
    return dimshuffle(v, [order.index(axis) if axis in order else None for axis in range(rank)])


def _write_gathered(
    label: str, op: Gather, x: Tensor, v: Tensor, indexes: Sequence[Tensor], mode: Mode
) -> Tensor:
    if any(isinstance(index.op, Coordinate) and index.op.template == (1,) for index in indexes):
        raise TypeError(
            f"{label}: a single bool chooses all of a tensor or nothing; use T.where instead\n"
            f"  into   {describe(x)}"
        )
    mask = _mask_of(op, indexes)
    if mask is not None:
        part = _masked_part(op, x, v)
        if part is not None:
            mask = shape_padright(mask, x.ndim - op.place - mask.ndim)
            new = part if mode == "set" else x + part
            return where(mask, new, x)
    return Scatter(op.axes, op.place, mode)(x, v, *indexes)


def _mask_of(op: Gather, indexes: Sequence[Tensor]) -> Tensor | None:
    """The mask whose true places are read, if it is that and nothing more."""
    count = len(indexes)
    if op.axes != tuple(range(op.place, op.place + count)):
        return None
    flat = indexes[0] if count == 1 else indexes[0].args[0] if indexes[0].args else indexes[0]
    if count > 1 and not all(
        isinstance(index.op, Coordinate) and index.op.axis == axis and index.args[0] is flat
        for axis, index in enumerate(indexes)
    ):
        return None
    if isinstance(flat.op, FlatNonzero) and flat.args[0].ndim == count:
        return flat.args[0]
    return None


def _masked_part(op: Gather, x: Tensor, v: Tensor) -> Tensor | None:
    """The values as they stand beside `x`, if they are the same for all places of the mask."""
    count = len(op.axes)
    v = shape_padleft(v, x.ndim - count + 1 - v.ndim)
    kept = [axis for axis in range(v.ndim) if axis != op.place]
    lengths = [n for axis, n in enumerate(x.type.shape) if axis not in op.axes]
    alike = v.type.shape[op.place] == 1 and all(
        n != 1 or v.type.shape[axis] == 1 for axis, n in zip(kept, lengths, strict=True)
    )
    if not alike:
        return None
    return dimshuffle(v, [*kept[: op.place], *[None] * count, *kept[op.place :]])
