"""All windows of a tensor as axes of their own, and back: the ops of pooling.

The two ops are each other's transposes, so each is the other's gradient.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from symc.codegen import ir
from symc.codegen.record import record
from symc.graph.dims import Dim
from symc.graph.formulas import (
    Formula,
    Index,
    ReadElement,
    formula,
    part_formula,
    target_formula,
    term_formula,
)
from symc.graph.lowering import At, Fold, SizeOf, Write, Written
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.fold import accumulate_op, accumulator, accumulator_array_dtype, identity
from symc.tensor.lengths import (
    Template,
    fill_dims,
    fill_values,
    split_template,
    unbatched,
)
from symc.tensor.nnet.geometry import (
    Axis,
    axes_of,
    holding,
    long_enough,
    positions,
    refuse_short,
    window_count,
)


@record
class Windows(Op):
    """The last axes of the argument, with axes for the windows' numbers and after them for the
    elements in a window: element (t, k) is element ``t * stride + k * dilation``.

    `sizes` are the windows' lengths along these axes.
    """

    sizes: Template
    strides: tuple[int, ...]
    dilations: tuple[int, ...]

    def infer(self, *args: Tensor) -> TensorType:
        x, *holes = args
        sizes = fill_dims(self.sizes, holes)
        lead = x.ndim - len(sizes)
        counts = tuple(map(window_count, x.type.shape[lead:], sizes, self.strides, self.dilations))
        refuse_short(self.label, x, sizes, self.dilations)
        return TensorType(x.type.dtype, (*x.type.shape[:lead], *counts, *sizes))

    def evaluate(self, *args: Array) -> Array:
        x, *holes = args
        return windows_of(x, fill_values(self.sizes, holes), self.strides, self.dilations)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x, *holes = node.args
        lengths = x.type.shape[x.ndim - len(self.sizes) :]
        total = overlap_add(bar, lengths, self.strides, self.dilations)
        return [total, *[None] * len(holes)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("windows", batched[1:])
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        rank = len(self.sizes)

        def element(read: ReadElement, index: Index) -> ir.Expr:
            lead, windows, inner = index[: -2 * rank], index[-2 * rank : -rank], index[-rank:]
            at = positions(windows, inner, self.strides, self.dilations)
            return read(0, (*lead, *at))

        return At(formula(node, element))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        x, *holes = node.args
        yield from long_enough("windows", x, fill_dims(self.sizes, holes), self.dilations)


@record
class OverlapAdd(Op):
    """The sum of windows laid where they belong, on axes of the given lengths: the transpose of
    `Windows`. Its arguments' last axes are the windows' numbers, then the elements in a window.
    """

    lengths: Template
    strides: tuple[int, ...]
    dilations: tuple[int, ...]

    def infer(self, *args: Tensor) -> TensorType:
        z, *holes = args
        lead = z.ndim - 2 * len(self.lengths)
        return TensorType(z.type.dtype, (*z.type.shape[:lead], *fill_dims(self.lengths, holes)))

    def evaluate(self, *args: Array) -> Array:
        z, *holes = args
        rank, lengths = len(self.lengths), fill_values(self.lengths, holes)
        lead = z.shape[: z.ndim - 2 * rank]
        total = np.zeros((*lead, *lengths), accumulator_array_dtype("add", z))
        for inner in product(*map(range, z.shape[z.ndim - rank :])):
            at = places(inner, z.shape[-2 * rank : -rank], self.strides, self.dilations)
            whole = (slice(None),) * len(lead)
            total[whole + at] += z[whole + (slice(None),) * rank + inner]
        return total.astype(z.dtype)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        z, *holes = node.args
        sizes = z.type.shape[z.ndim - len(self.lengths) :]
        return [windows(bar, sizes, self.strides, self.dilations), *[None] * len(holes)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("overlap_add", batched[1:])
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> Fold | Write:
        axes = axes_of(node.args[0].type.shape, self.strides, self.dilations)
        if all(axis.apart for axis in axes):
            lengths = node.type.shape[node.ndim - len(axes) :]
            return self._disjoint(node, all(map(Axis.covers, axes, lengths)))
        return self._overlapping(node, size)

    def _disjoint(self, node: Tensor, covered: bool) -> Write:
        """Every window fills its own part; `covered`: together they fill everything."""
        zero, rank = identity("add", node.type.dtype), len(self.lengths)
        lead = node.ndim - rank
        order = [*range(lead)]  # row by row of the result, not window by window
        for axis in range(rank):
            order += [lead + axis, lead + rank + axis]
        back = [order.index(axis) for axis in range(lead + 2 * rank)]
        shape = node.args[0].type.shape

        def target(_: ReadElement, inner: Index) -> Index:
            at = [inner[place] for place in back]
            found = positions(tuple(at[lead : lead + rank]), tuple(at[lead + rank :]),
                              self.strides, self.dilations)  # fmt: skip
            return (*at[:lead], *found)

        def value(read: ReadElement, inner: Index) -> ir.Expr:
            return read(0, tuple(inner[place] for place in back))

        extents = tuple(shape[axis] for axis in order)
        part = Written(
            extents, target_formula(node, extents, target), part_formula(node, extents, value)
        )
        return Write(None if covered else Formula((), zero), (part,))

    def _overlapping(self, node: Tensor, size: SizeOf) -> Fold:
        """Every element adds up the windows that it is in."""
        dtype = accumulator("add", node.type.dtype)
        zero = identity("add", dtype)
        axes = axes_of(node.args[0].type.shape, self.strides, self.dilations)

        def element(read: ReadElement, index: Index, folded: Index) -> ir.Expr:
            lead = index[: len(index) - len(axes)]
            holds, windows_at, inner = holding(axes, index[len(lead) :], folded, size)
            value = read(0, (*lead, *windows_at, *inner))
            value = value if value.dtype is dtype else ir.Cast(value, dtype)
            return ir.Select(holds, value, zero, dtype)

        extents = tuple(axis.steps for axis in axes)
        term = term_formula(node, extents, element)
        return Fold(extents, accumulate_op("add", dtype), dtype, zero, term)

    @property
    def label(self) -> str:
        return "overlap_add"


# --- building -------------------------------------------------------------------------------------


def windows(
    x: Tensor, sizes: Sequence[Dim], strides: Sequence[int], dilations: Sequence[int]
) -> Tensor:
    """The windows of these sizes on the last axes of `x`, see `Windows`."""
    template, holes = split_template(sizes)
    return Windows(template, tuple(strides), tuple(dilations))(x, *holes)


def overlap_add(
    z: Tensor, lengths: Sequence[Dim], strides: Sequence[int], dilations: Sequence[int]
) -> Tensor:
    """The sum of windows on axes of these lengths, see `OverlapAdd`."""
    template, holes = split_template(lengths)
    return OverlapAdd(template, tuple(strides), tuple(dilations))(z, *holes)


# --- in NumPy -------------------------------------------------------------------------------------


def windows_of(
    x: Array, sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """A view of an array's windows, as `Windows` has them."""
    reaches = [d * (k - 1) + 1 for k, d in zip(sizes, dilations, strict=True)]
    axes = tuple(range(x.ndim - len(sizes), x.ndim))
    if any(x.shape[axis] < r for axis, r in zip(axes, reaches, strict=True)):
        counts = [(x.shape[a] - r) // s + 1 for a, r, s in zip(axes, reaches, strides, strict=True)]
        return np.zeros((*x.shape[: axes[0]], *(max(n, 0) for n in counts), *sizes), x.dtype)
    views = sliding_window_view(x, reaches, axes)
    chosen = tuple(slice(None, None, step) for step in (*strides, *dilations))
    return views[(slice(None),) * axes[0] + chosen]


def places(
    inner: Sequence[int], counts: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[slice, ...]:
    """Where element number `inner` of every window stands."""
    each = zip(inner, counts, strides, dilations, strict=True)
    return tuple(slice(k * d, k * d + n * s, s) for k, n, s, d in each)
