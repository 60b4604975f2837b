"""Sorting along an axis, and the places that elements come from. Places are sorted stably."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BFLOAT16, INT64, UINT64
from symc.codegen.record import record, replace
from symc.errors import BadIndex, DTypeError, RankError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import part_formula, target_formula
from symc.graph.inputs import as_tensor
from symc.graph.lowering import Argument, LibCall, SizeOf, Write, Written
from symc.graph.node import METHODS, OPERATORS, Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.checked import Checked, reaching
from symc.tensor.checks import BOUNDS, Bounds
from symc.tensor.lengths import as_dim, normal_axis, public, tensor_of
from symc.tensor.reshape import ravel
from symc.tensor.selection import take_along_axis
from symc.tensor.sorting.few import COUNTS, sorted_few
from symc.tensor.views import moveaxis, through
from symc.tensor.wide import in_float32

__all__ = ["argpartition", "argsort", "partition", "sort", "topk"]

KINDS = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16",
    "float32", "float64",
)  # fmt: skip
"""The element types, in the order of `codegen/runtime/sorting/sort.h`; bfloat16 goes as float32."""


def _in_order(x: Array) -> Array:
    """The values sorted; zeros of either sign stay in their order."""
    values = x.copy()  # before they are looked at: one number may be repeated 2**60 times
    alike = x.dtype.kind in "biu" or (x.dtype.kind == "f" and bool(values.all()))
    kind: Literal["stable", "quicksort"] = "quicksort" if alike else "stable"
    values.sort(axis=-1, kind=kind)
    return values


@record
class Ordered(Op):
    """The last axis sorted, or (`places`) where its elements come from. NaN is the greatest.

    `room` is the memory that the routine works in: a result that nobody reads.
    """

    places: bool
    descending: bool
    room: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0].type
        if not self.room:
            return TensorType(INT64 if self.places else x.dtype, x.shape)
        return TensorType(UINT64, (*x.shape[:-1], dims.mul(x.shape[-1], 3 if self.places else 1)))

    def evaluate(self, *args: Array) -> Array:
        x = args[0]
        if not self.places:
            values = _in_order(x)
            return values[..., ::-1] if self.descending else values
        if not self.descending:
            places: Array = np.argsort(x, axis=-1, kind="stable")
            return places
        turned: Array = np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
        order: Array = x.shape[-1] - 1 - turned
        return order

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        if self.places:
            return [None]
        back = InverseOrder()(replace(self, places=True)(*node.args))
        return [through(lambda part: take_along_axis(part, back, axis=-1), bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def expand(self, node: Tensor) -> Tensor | None:
        (x,) = node.args
        if x.dtype is BFLOAT16:
            return in_float32(node)
        return self.few(x) if x.type.shape[-1] in COUNTS else None

    def few(self, x: Tensor) -> Tensor:
        """The same for rows of a few elements, whose number is known, by elementwise functions."""
        count = x.type.shape[-1]
        assert isinstance(count, int)
        return sorted_few(x, count, places=self.places, descending=self.descending)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        x = node.args[0]
        return LibCall(
            "argsort" if self.places else "sort_f64" if x.dtype.bytes == 8 else "sort_f32",
            (
                ir.const(KINDS.index(x.dtype.name)), ir.const(int(self.descending)),
                size(dims.product(x.type.shape[:-1])), size(x.type.shape[-1]),
                Argument(0), Argument(-1), Argument(-2),
            ),
            (replace(self, room=False), replace(self, room=True)),
        )  # fmt: skip

    @property
    def label(self) -> str:
        return "room" if self.room else "argsort" if self.places else "sort"


def _below_length(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    """Places are indexes of the axis, as rules on indexes need to know."""
    match node.op:
        case Ordered(places=True, room=False) | RowOrder(room=False):
            return (0, node.type.shape[-1] - 1)
        case _:
            return (None, None)


BOUNDS[Ordered] = _below_length


@record
class Topmost(Op):
    """Where the first `count` elements of the last axis, when it is sorted, come from.

    `room` is the memory that the routine works in: a result that nobody reads.
    """

    count: int
    descending: bool
    room: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        before = args[0].type.shape[:-1]
        if self.room:
            return TensorType(UINT64, (*before, 8 * (self.count + _BLOCK)))
        return TensorType(INT64, (*before, self.count))

    def evaluate(self, *args: Array) -> Array:
        return Ordered(places=True, descending=self.descending).evaluate(*args)[..., : self.count]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def expand(self, node: Tensor) -> Tensor | None:
        return in_float32(node) if node.args[0].dtype is BFLOAT16 else None

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        x = node.args[0]
        return LibCall(
            "topmost",
            (
                ir.const(KINDS.index(x.dtype.name)), ir.const(int(self.descending)),
                size(dims.product(x.type.shape[:-1])), size(x.type.shape[-1]),
                ir.const(self.count), Argument(0), Argument(-1), Argument(-2),
            ),
            (replace(self, room=False), replace(self, room=True)),
        )  # fmt: skip

    @property
    def label(self) -> str:
        return "room" if self.room else "topk"


_BLOCK = 128
"""So many elements are looked at together: `SYMC_TOPMOST_BLOCK` of `sort.h`."""


def _in_last_axis(node: Tensor, args: Any) -> tuple[Any, Any]:
    """Bounds of positions along the last axis of the argument."""
    del args
    return 0, dims.sub(node.args[0].type.shape[-1], 1)


BOUNDS[Topmost] = _in_last_axis


@record
class RowOrder(Op):
    """Where the rows of a matrix come from when they are sorted, by their first elements first.

    Equal rows keep their order. `room` is the memory that the routine works in.
    """

    room: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        n, m = args[0].type.shape
        if self.room:
            return TensorType(UINT64, (dims.mul(n, dims.add(m, 1)),))
        return TensorType(INT64, (n,))

    def evaluate(self, *args: Array) -> Array:
        (x,) = args
        return np.lexsort(x.T[::-1]) if x.shape[1] else np.arange(len(x))

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [None]

    def expand(self, node: Tensor) -> Tensor | None:
        return in_float32(node) if node.args[0].dtype is BFLOAT16 else None

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        (x,) = node.args
        lengths = map(size, x.type.shape)
        args = (
            ir.const(KINDS.index(x.dtype.name)), *lengths, Argument(0), Argument(-1), Argument(-2)
        )  # fmt: skip
        return LibCall("row_order", args, (RowOrder(), RowOrder(room=True)))

    @property
    def label(self) -> str:
        return "room" if self.room else "row_order"


BOUNDS[RowOrder] = _below_length


@record
class InverseOrder(Op):
    """The inverse of the permutations along the last axis."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return np.argsort(args[0], axis=-1, kind="stable")

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> Write:
        shape = node.type.shape
        target = target_formula(node, shape, lambda read, i: (*i[:-1], read(0, i)))
        value = part_formula(node, shape, lambda _, i: i[-1])
        return Write(None, (Written(shape, target, value),))


BOUNDS[InverseOrder] = _in_last_axis

# --- functions for users --------------------------------------------------------------------------
# ---------------------------------------------------------------------------


def sort(x: TensorLike, axis: int | None = -1, *, descending: bool = False) -> Tensor:
    """`x` sorted along an axis; flattened first for None. NaN comes last, or first if descending.

    >>> import symc.tensor as T
    >>> T.sort(T.constant([[3, 1], [2, 5]])).eval()
    array([[1, 3],
           [2, 5]])
    """
    return _along("sort", Ordered(places=False, descending=descending), x, axis)


def argsort(x: TensorLike, axis: int | None = -1, *, descending: bool = False) -> Tensor:
    """The indexes that sort `x` along an axis, as int64; equal elements keep their order.

    >>> import symc.tensor as T
    >>> T.argsort(T.constant([3.0, 1.0, 3.0, 2.0])).eval()
    array([1, 3, 0, 2])
    """
    return _along("argsort", Ordered(places=True, descending=descending), x, axis)


def _along(label: str, op: Ordered, x: TensorLike, axis: int | None) -> Tensor:
    x = sortable(label, x)
    if axis is None:
        return op(ravel(x))
    axis = normal_axis(label, axis, x.ndim, x)
    return moveaxis(op(moveaxis(x, axis, -1)), -1, axis)


def sortable(label: str, x: TensorLike) -> Tensor:
    """`x` as a tensor that can be sorted. Raises `DTypeError` for complex numbers."""
    x = as_tensor(x)
    if x.dtype.name not in KINDS and x.dtype is not BFLOAT16:
        raise DTypeError(f"{label}: {x.dtype} cannot be sorted\n  given  {describe(x)}")
    return x


def topk(
    x: TensorLike, k: int | Tensor, axis: int = -1, *, largest: bool = True
) -> tuple[Tensor, Tensor]:
    """The `k` largest elements along an axis (or smallest), in order, and their indexes.

    Of equal elements those with the lowest index come first. NaN is larger than all numbers. Raises
    `IndexError`, at run time if need be, when there are fewer than `k`.

    >>> import symc.tensor as T
    >>> values, places = T.topk(T.constant([3.0, 1.0, 7.0]), 2)
    >>> values.eval(), places.eval()
    (array([7., 3.]), array([2, 0]))
    """
    x = sortable("topk", x)
    axis = normal_axis("topk", axis, x.ndim, x)
    length, count = x.type.shape[axis], as_dim(k)
    if isinstance(count, int) and (count < 0 or (isinstance(length, int) and count > length)):
        raise BadIndex(f"topk: there are {length} elements, not {count}\n  given  {describe(x)}")
    if isinstance(count, int) and not (isinstance(length, int) and length < 4 * count):
        chosen = moveaxis(
            Topmost(count, largest)(has_as_many(moveaxis(x, axis, -1), count)), -1, axis
        )
    else:
        chosen = has_as_many(argsort(x, axis, descending=largest), count, axis)
        chosen = chosen[(*[slice(None)] * axis, slice(public(count)))]
    return take_along_axis(x, chosen, axis), chosen


def has_as_many(x: Tensor, count: Dim, axis: int = -1) -> Tensor:
    """`x`, of which an axis is checked to have so many elements, and no negative number of them."""
    length = x.type.shape[axis]
    if dims.nonnegative(count) and dims.nonnegative(dims.sub(length, count)):
        return x
    enough = OPERATORS["ge"](tensor_of(length), tensor_of(count))
    enough = OPERATORS["logical_and"](enough, OPERATORS["ge"](tensor_of(count), 0))
    if isinstance(x.op, Checked) and x.args[1] is enough:
        return x
    text = "topk: k must be from 0 to the number of elements"
    return Checked(text, is_index=True)(x, enough)


Kth: TypeAlias = "int | Sequence[int] | Array"


def partition(x: TensorLike, kth: Kth, axis: int | None = -1) -> Tensor:
    """`x` with those elements in place along an axis that sorting would put at `kth`.

    Smaller ones are before them and the others after; here they are all sorted.

    Raises BadIndex for a `kth` outside, at run time if need be.

    >>> import symc.tensor as T
    >>> T.partition([3, 1, 2], 1).eval()
    array([1, 2, 3])
    """
    return sort(_with_kth("partition", x, kth, axis), axis)


def argpartition(x: TensorLike, kth: Kth, axis: int | None = -1) -> Tensor:
    """The places of the elements that `partition` gives, as int64.

    Raises BadIndex for a `kth` outside, at run time if need be.

    >>> import symc.tensor as T
    >>> T.argpartition([3, 1, 2], 1).eval()
    array([1, 2, 0])
    """
    return argsort(_with_kth("argpartition", x, kth, axis), axis)


def _with_kth(label: str, x: TensorLike, kth: Kth, axis: int | None) -> Tensor:
    """`x` as a tensor, which is checked to have the elements `kth` along the axis."""
    x = as_tensor(x)
    if axis is not None:
        axis = normal_axis(label, axis, x.ndim, x)
    length: Dim = dims.product(x.type.shape) if axis is None else x.type.shape[axis]
    for k in map(operator.index, np.atleast_1d(kth).tolist()):
        if isinstance(length, int) and not -length <= k < length:
            raise BadIndex(f"{label}: kth={k}, there are {length} elements\n  given  {describe(x)}")
        x = reaching(x, length, k, f"{label}: there are fewer elements than kth={k} needs")
    return x


def vector(label: str, x: TensorLike) -> Tensor:
    """`x` as a tensor with one axis. Raises `RankError` for others."""
    x = sortable(label, x)
    if x.ndim != 1:
        raise RankError(f"{label} needs one axis, not {x.ndim}\n  given  {describe(x)}")
    return x


for _method in (argpartition, argsort, partition, sort):
    METHODS[_method.__name__] = _method
