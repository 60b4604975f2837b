"""Where values belong in sorted arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import FLOAT32, FLOAT64, INT64, UINT64, DType
from symc.codegen.record import record
from symc.codegen.routines import declare
from symc.errors import NotBatchable
from symc.graph.dims import product, sub
from symc.graph.formulas import Index, ReadElement, term_formula
from symc.graph.inputs import as_tensor, constant_value
from symc.graph.lowering import Argument, Fold, LibCall, SizeOf
from symc.graph.node import METHODS, Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType, promote
from symc.tensor.checked import rising
from symc.tensor.checks import BOUNDS, Bounds
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import length
from symc.tensor.logic import where
from symc.tensor.reduce import sum as total
from symc.tensor.sorting.order import sortable, vector
from symc.tensor.views import broadcast_to

__all__ = ["digitize", "searchsorted"]

declare("uniform_bins", "m count edges* x* places!", lambda of: 5 * of["count"])
declare("bins", "m count edges* x* places!", lambda of: 10 * of["count"])

FEW = 32
"""So many numbers are faster compared one by one, inside the loop that needs the result."""

_SHORT = {FLOAT32: "f32", FLOAT64: "f64", INT64: "i64", UINT64: "u64"}


@record
class SearchSorted(Op):
    """For each value, how many numbers of a sorted vector are before it; equal ones if `right`."""

    right: bool

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, args[1].type.shape)

    def evaluate(self, *args: Array) -> Array:
        found = np.searchsorted(args[0], args[1], side="right" if self.right else "left")
        return np.asarray(found, dtype=np.int64)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        if batched[0]:
            raise NotBatchable(
                "searchsorted: the vectors would differ from one batch element to another"
            )
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> Fold | LibCall:
        numbers, values = node.args
        count = numbers.type.shape[0]
        if isinstance(count, int) and count <= FEW:
            element = term_formula(node, (count,), self._element)
            return Fold((count,), "add", INT64, ir.const(0), element)
        return LibCall(
            f"searchsorted_{_SHORT[numbers.dtype]}",
            (
                ir.const(int(self.right)), size(count), size(product(values.type.shape)),
                Argument(0), Argument(1), Argument(-1),
            ),
        )  # fmt: skip

    def _element(self, read: ReadElement, index: Index, inner: Index) -> ir.Expr:
        return ir.Cast(self._is_before(read(0, inner), read(1, index)), INT64)

    def _is_before(self, number: ir.Expr, value: ir.Expr) -> ir.Expr:
        """Whether a number belongs before a value. NaN is the greatest, and equal to itself."""
        before = ir.binary("le" if self.right else "lt", number, value)
        if not number.dtype.is_float:
            return before
        value_is_nan = ir.binary("ne", value, value)
        if self.right:
            return ir.binary("or", before, value_is_nan)
        return ir.binary(
            "or", before, ir.binary("and", value_is_nan, ir.binary("eq", number, number))
        )

    @property
    def jumps(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return "searchsorted"


def searchsorted(
    a: TensorLike,
    v: TensorLike,
    side: Literal["left", "right"] = "left",
    sorter: TensorLike | None = None,
) -> Tensor:
    """For each element of `v` the index in the sorted vector `a` before which it belongs, int64.

    On the left it is before elements that are equal, on the right after them. `sorter` may be an
    `argsort` of `a`, which is not sorted then.

    >>> import symc.tensor as T
    >>> T.searchsorted(T.constant([1.0, 2.0, 3.0]), [2.5, 1.0]).eval()
    array([2, 0])
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', not {side!r}")
    numbers, values = vector("searchsorted", a), sortable("searchsorted", v)
    if sorter is not None:
        numbers = numbers[as_tensor(sorter)]
    dtype = _comparable(promote(numbers.dtype, values.dtype))
    return SearchSorted(side == "right")(cast_to(numbers, dtype), cast_to(values, dtype))


def _comparable(dtype: DType) -> DType:
    """A dtype that has a routine and holds all numbers of another."""
    match dtype.kind:
        case "float":
            return dtype if dtype is FLOAT64 else FLOAT32
        case "int":
            return INT64
        case _:
            return UINT64


def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> Tensor:
    """For each element of `x` the number of its bin, int64: bin i is ``bins[i-1] <= x < bins[i]``.

    With `right`, ``bins[i-1] < x <= bins[i]``. `bins` do not decrease; if they are known now they
    may also fall, as in NumPy. Raises `ValueError`, at run time if need be, where they do neither,
    and where one of several is NaN: NumPy answers then, but bins that are no order.

    >>> import symc.tensor as T
    >>> T.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0]).eval()
    array([1, 4, 3])
    """
    edges, values = vector("digitize", bins), sortable("digitize", x)
    side: Literal["left", "right"] = "left" if right else "right"
    known = constant_value(edges)
    if known is None:
        text = "digitize: bins that are not known before must not decrease, nor be NaN"
        return searchsorted(rising(edges, text), values, side)
    if not np.all(known[1:] >= known[:-1]):
        if not np.all(known[1:] <= known[:-1]):
            raise ValueError("digitize: the bins must not both rise and fall, nor be NaN")
        return len(known) - searchsorted(edges[::-1], values, side)
    return searchsorted(edges, values, side)


@record
class Bins(Op):
    """For each value its bin: the last one whose lower edge is not above the value, or the first.

    Edges that are `uniform` are equally far apart but for rounding.
    """

    uniform: bool

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, args[1].type.shape)

    def evaluate(self, *args: Array) -> Array:
        edges, values = args
        found = np.searchsorted(edges, values, side="right") - 1
        found[np.isnan(values)] = 0
        return np.clip(found, 0, max(len(edges) - 2, 0))

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        edges, values = node.args
        name = "uniform_bins" if self.uniform else "bins"
        return LibCall(
            f"{name}_{_SHORT[edges.dtype]}",
            (
                size(edges.type.shape[0]), size(product(values.type.shape)),
                Argument(0), Argument(1), Argument(-1),
            ),
        )  # fmt: skip

    @property
    def jumps(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return "bins"


def _below_count(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    """Bins are indexes of counts, as rules on indexes need to know. Without bins all are 0."""
    edges = node.args[0]
    count = edges.type.shape[0]
    return (0, sub(count, 2) if has_bins(edges) else count)


BOUNDS[Bins] = _below_count


def has_bins(edges: Tensor) -> bool:
    """Whether there are two edges or more whatever the arguments are."""
    count = edges.type.shape[0]
    return isinstance(count, int) and count >= 2


def bin_of(values: Tensor, edges: Tensor, *, uniform: bool = False) -> tuple[Tensor, Tensor]:
    """The bin of each value, the last one closed, and whether it is in any.

    Edges that are `uniform` are equally far apart, but for rounding. Of fewer than two edges there
    are no bins.
    """
    if not values.dtype.is_float:
        values = cast_to(values, promote(values.dtype, edges.dtype))
    count = edges.type.shape[0]
    if has_bins(edges):
        inside = (values >= edges[0]) & (values <= edges[-1])
    else:  # sums of one element or of none, as there may be none to read
        inside = (values >= total(edges[:1])) & (values <= total(edges[-1:]))
        inside = inside & (length(edges, 0) >= 2)
    dtype = _comparable(promote(edges.dtype, values.dtype))
    if dtype.is_float and not (isinstance(count, int) and count <= FEW):
        return Bins(uniform)(cast_to(edges, dtype), cast_to(values, dtype)), inside
    found = searchsorted(edges, values, "right") - 1
    last = broadcast_to(length(edges, 0) - 2, found.shape)
    found = where(found > last, last, found)
    return where(inside, found, 0), inside


METHODS["searchsorted"] = searchsorted
