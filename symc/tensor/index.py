"""Indexing as users write it: NumPy's index language.

``x[index]`` becomes one `Slice` or one `Gather`, under a `DimShuffle` where axes are new or move.
`assign.py` looks at these nodes to write where they read.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, TypeAlias, cast

import numpy as np

from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.record import record
from symc.errors import BadIndex, DTypeError
from symc.graph.inputs import as_tensor, constant, constant_value, scalar_constant
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.broadcast import broadcast_shape, describe
from symc.tensor.checks import static_index
from symc.tensor.gather import gather
from symc.tensor.lengths import dim_of, index_of, tensor_of
from symc.tensor.positions import fitted, mask_positions, single, span_positions
from symc.tensor.slices import Slice
from symc.tensor.spans import GIVEN, WHOLE, Entry, Given, Span, normal_span
from symc.tensor.views import dimshuffle, expand_dims, shape_padright

__all__: list[str] = []
_ALSO_ENTERED = ["getitem"]


@record
class Cut:
    """A slice of one axis, with the tensors that its `GIVEN` bounds stand for."""

    span: Span
    given: tuple[Tensor, ...]


# One part of an index: a number, an int64 tensor or a mask, a slice, ``...`` or a new axis.
Item: TypeAlias = int | Tensor | Cut | EllipsisType | None

# --- indexes as users write them ------------------------------------------------------------------
# ----------------------------------------------------------------------


def _item(part: Any) -> Item:
    if part is None or isinstance(part, EllipsisType):
        return part
    if isinstance(part, slice):
        return _cut(cast("Any", part))
    if isinstance(part, bool):
        raise DTypeError(
            f"{part} is no index; for a mask, compare with T.eq and T.ne, as == and != ask whether "
            "two tensors are the same expression"
        )
    if not isinstance(part, Tensor | np.bool_ | np.ndarray) and hasattr(part, "__index__"):
        return _fitting(operator.index(part))
    array = as_tensor(cast("TensorLike", part))
    value = constant_value(array)
    if value is not None and isinstance(part, list | tuple) and not value.size:
        array = constant(np.empty(value.shape, np.int64))  # [] is float64 to NumPy
    if array.dtype.is_float:
        raise DTypeError(
            "an index must be integers, bools, slices, None or ..., "
            f"not {array.dtype}\n  index  {describe(array)}"
        )
    if array.dtype is BOOL:
        return array
    if array.ndim and value is not None:
        known = np.minimum(value, 2**63 - 1) if value.dtype == np.uint64 else value
        return constant(known.astype(np.int64))
    number = None if array.ndim else dim_of(array)
    return _fitting(number) if isinstance(number, int) else index_of(array)


def _fitting(number: int) -> int:
    if not -(2**63) <= number < 2**63:
        raise BadIndex(f"index {number} is out of bounds: it does not fit int64")
    return number


def _cut(part: Any) -> Cut:
    start, stop, step = (_bound(bound) for bound in (part.start, part.stop, part.step))
    step = 1 if step is None else step
    if step == 0:
        raise ValueError("a slice's step cannot be zero")
    given = tuple(bound for bound in (start, stop, step) if isinstance(bound, Tensor))
    return Cut(Span(_template(start), _template(stop), _template(step) or 1), given)


def _template(bound: int | Tensor | None) -> int | Given | None:
    return GIVEN if isinstance(bound, Tensor) else bound


def _bound(bound: Any) -> int | Tensor | None:
    if bound is None:
        return None
    if isinstance(bound, Tensor):
        if bound.ndim or not bound.dtype.is_integer:
            raise DTypeError(
                f"a slice's bound must be an integer scalar, not {bound.type}\n"
                f"  bound  {describe(bound)}"
            )
        length = dim_of(bound)
        return length if isinstance(length, int) else tensor_of(length)
    try:
        return operator.index(bound)
    except TypeError:
        raise DTypeError(f"a slice's bound must be an integer scalar, not {bound!r}") from None


def _parse(x: Tensor, index: Any) -> list[Item]:
    """The parts of an index, as many as it takes to say something of every axis of `x`."""
    items = [_item(part) for part in _parts(index)]
    dots = [place for place, item in enumerate(items) if isinstance(item, EllipsisType)]
    if len(dots) > 1:
        raise BadIndex("an index can have only one ellipsis (...)")
    used = sum(map(_axes_used, items))
    if used > x.ndim:
        raise BadIndex(f"too many indexes: {used} for {x.ndim} axes\n  given  {describe(x)}")
    place = dots[0] + 1 if dots else len(items)  # an ellipsis of no axes still separates
    items[place:place] = [Cut(WHOLE, ())] * (x.ndim - used)
    return items


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)  # pyright: ignore[reportUnknownVariableType] -- a user's


def _axes_used(item: Item) -> int:
    if item is None or isinstance(item, EllipsisType):
        return 0
    return item.ndim if isinstance(item, Tensor) and item.dtype is BOOL else 1


# --- reading --------------------------------------------------------------------------------------


def getitem(x: Tensor, index: Any) -> Tensor:
    """``x[index]``, with NumPy's meaning for every index.

    Integers, slices (of any sign, with symbolic bounds), ``None``, ``...``, integer arrays that
    broadcast together, masks of any rank. Raises `BadIndex` for an index that is out of range, at
    run time if need be.

    >>> import symc.tensor as T
    >>> x = T.matrix("x")
    >>> x[1:, ::2][[0, -1]].eval({x: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]})
    array([[4., 6.],
           [4., 6.]])
    """
    items = _parse(x, index)
    if any(isinstance(item, Tensor) and (item.ndim or item.dtype is BOOL) for item in items):
        return _advanced(x, items)
    return _basic(x, items)


def _basic(x: Tensor, items: Sequence[Item]) -> Tensor:
    entries: list[Entry] = []
    given: list[Tensor] = []
    order: list[int | None] = []
    for item in items:
        axis = len(entries)
        match item:
            case None:
                order.append(None)
            case Cut():
                order.append(axis - sum(not isinstance(entry, Span) for entry in entries))
                entries.append(normal_span(item.span, x.type.shape[axis]))
                given.extend(item.given)
            case int():
                entries.append(_from_front(x, axis, item))
            case Tensor():
                entries.append(GIVEN)
                given.append(item)
            case _:
                pass
    if None not in order or any(entry != WHOLE for entry in entries):
        x = Slice(tuple(entries))(x, *given)
    return dimshuffle(x, order)


def _from_front(x: Tensor, axis: int, index: int) -> int:
    static_index(x, axis, index)
    n = x.type.shape[axis]
    return index % n if isinstance(n, int) else index


class _Plan:
    """How an advanced index is read: the source of each axis of the result, and the index arrays.

    An axis of the result is an axis of `x` that is kept (its number), of a sliced one ("cut", with
    its number), of the index arrays ("array"), or new (None).
    """

    def __init__(self, x: Tensor, items: Sequence[Item]) -> None:
        self.x = x
        self.axes: list[int | str | tuple[str, int] | None] = []
        self.arrays: dict[int, Tensor] = {}
        self.cuts: dict[int, Tensor] = {}
        self._axis = 0
        self._place: int | None = None
        self._closed = False
        for item in items:
            self._add(item)
        assert self._place is not None
        self.axes.insert(self._place, "array")

    def _add(self, item: Item) -> None:
        match item:
            case int() | Tensor():
                if self._closed:
                    self._place = 0  # separated arrays: their axes go to the front
                elif self._place is None:
                    self._place = len(self.axes)
                self._add_array(item)
                return
            case None:
                self.axes.append(None)
            case Cut():
                self._add_cut(item)
            case _:
                pass
        self._closed = self._place is not None

    def _add_cut(self, item: Cut) -> None:
        span = normal_span(item.span, self.x.type.shape[self._axis])
        if span == WHOLE:
            self.axes.append(self._axis)
        else:
            n = self.x.type.shape[self._axis]
            self.cuts[self._axis] = span_positions(span, n, item.given)
            self.axes.append(("cut", self._axis))
        self._axis += 1

    def _add_array(self, item: int | Tensor) -> None:
        if isinstance(item, int):
            number = _from_front(self.x, self._axis, item)
            found = [scalar_constant(number, INT64)]
        elif item.dtype is not BOOL:
            found = [item]
        elif item.ndim:
            lengths = self.x.type.shape[self._axis : self._axis + item.ndim]
            found = mask_positions(fitted(item, lengths))
        else:
            self.x = expand_dims(self.x, self._axis)
            found = [single(item)]
        for array in found:
            self.arrays[self._axis] = array
            self._axis += 1


def _advanced(x: Tensor, items: Sequence[Item]) -> Tensor:
    plan = _Plan(x, items)
    rank = len(broadcast_shape("getitem", list(plan.arrays.values())))
    # The axes of all index arrays stand in one block, in the order that the result has them.
    blocks = [axis for axis in plan.axes if isinstance(axis, str | tuple)]
    later = {axis: _block_rank(blocks[place + 1 :], rank) for place, axis in enumerate(blocks)}
    indexes = {axis: shape_padright(i, later["array"]) for axis, i in plan.arrays.items()}
    for axis, index in plan.cuts.items():
        indexes[axis] = shape_padright(index, later["cut", axis])
    first = next(place for place, axis in enumerate(plan.axes) if isinstance(axis, str | tuple))
    before = [axis for axis in plan.axes[:first] if axis is not None]
    result = gather(plan.x, indexes, len(before))
    return dimshuffle(result, _order(plan.axes, len(before), later, rank))


def _block_rank(blocks: Sequence[Any], rank: int) -> int:
    return sum(rank if block == "array" else 1 for block in blocks)


def _order(axes: Sequence[Any], place: int, later: dict[Any, int], rank: int) -> list[int | None]:
    """For each axis of the result, the axis of the `Gather` that it is."""
    size = sum(rank if block == "array" else 1 for block in later)
    order: list[int | None] = []
    kept = 0
    for axis in axes:
        if axis is None:
            order.append(None)
        elif isinstance(axis, int):
            order.append(kept if kept < place else kept + size)
            kept += 1
        else:
            own = rank if axis == "array" else 1
            start = place + size - later[axis] - own
            order.extend(range(start, start + own))
    return order


OPERATORS["getitem"] = getitem
