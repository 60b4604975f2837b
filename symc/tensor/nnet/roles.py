"""Parts shared by the ops of `convolution.py`: names of axes, lengths, loops, and NumPy code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Literal, TypeAlias, assert_never

import numpy as np

from symc.codegen import ir
from symc.codegen.record import record
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement, term_formula
from symc.graph.lowering import Fold, SizeOf
from symc.graph.node import Array, Tensor
from symc.tensor.fold import accumulate_op, accumulator, identity
from symc.tensor.nnet.geometry import Axis, holding, positions
from symc.tensor.nnet.windows import places, windows_of

Role: TypeAlias = Literal["inputs", "filters", "outputs"]

# The two arguments of the op with each result, and the axes of all three: n numbers images, g
# groups, and in a group c numbers channels of inputs and o of outputs.
ARGUMENTS: dict[Role, tuple[Role, Role]] = {
    "outputs": ("inputs", "filters"),
    "inputs": ("outputs", "filters"),
    "filters": ("inputs", "outputs"),
}
AXES: dict[Role, str] = {"inputs": "ngc", "filters": "goc", "outputs": "ngo"}


@record
class Shapes:
    """The lengths of all axes."""

    images: Dim
    groups: Dim
    channels: Dim
    """Of the inputs, in a group."""
    features: Dim
    """Of the outputs, in a group."""
    axes: tuple[Axis, ...]
    lengths: tuple[Dim, ...]
    """Of the inputs' last axes."""

    def of(self, role: Role) -> tuple[Dim, ...]:
        """The shape of one of the three."""
        match role:
            case "inputs":
                return (self.images, dims.mul(self.groups, self.channels), *self.lengths)
            case "filters":
                sizes = (axis.size for axis in self.axes)
                return (dims.mul(self.groups, self.features), self.channels, *sizes)
            case "outputs":
                counts = (axis.count for axis in self.axes)
                return (self.images, dims.mul(self.groups, self.features), *counts)


# --- loops ----------------------------------------------------------------------------------------


@record
class Loops:
    """The sum of products as a fold, for one of the three results."""

    result: Role
    shapes: Shapes
    size: SizeOf

    def fold(self, node: Tensor) -> Fold:
        """All of it, in the dtype that sums are kept in."""
        dtype = accumulator("add", node.dtype)
        zero = identity("add", dtype)

        def element(read: ReadElement, index: Index, folded: Index) -> ir.Expr:
            holds, found = self._places(index, folded)
            values: list[ir.Expr] = []
            for number, role in enumerate(ARGUMENTS[self.result]):
                value = read(number, found[role])
                values.append(value if value.dtype is dtype else ir.Cast(value, dtype))
            term = ir.binary("mul", *values)
            return term if holds is None else ir.Select(holds, term, zero, dtype)

        extents = self._extents()
        term = term_formula(node, extents, element)
        return Fold(extents, accumulate_op("add", dtype), dtype, zero, term)

    def _extents(self) -> tuple[Dim, ...]:
        shapes = self.shapes
        match self.result:
            case "outputs":
                return (shapes.channels, *(axis.size for axis in shapes.axes))
            case "filters":
                return (shapes.images, *(axis.count for axis in shapes.axes))
            case "inputs":
                return (shapes.features, *(axis.steps for axis in shapes.axes))
            case _:
                assert_never(self.result)

    def _places(self, index: Index, folded: Index) -> tuple[ir.Expr | None, dict[Role, Index]]:
        """Whether there is a product at these indexes, and where its factors stand."""
        shapes, (first, second), last = self.shapes, index[:2], index[2:]
        channels, features = self.size(shapes.channels), self.size(shapes.features)
        other, inner = folded[0], folded[1:]
        match self.result:
            case "outputs":
                group, _ = self._group(second, features)
                channel = ir.add(ir.mul(group, channels), other)
                at = self._positions(last, inner)
                return None, {"inputs": (first, channel, *at), "filters": (second, other, *inner)}
            case "filters":
                group, _ = self._group(first, features)
                channel = ir.add(ir.mul(group, channels), second)
                at = self._positions(inner, last)
                return None, {"inputs": (other, channel, *at), "outputs": (other, first, *inner)}
            case "inputs":
                group, channel = self._group(second, channels)
                feature = ir.add(ir.mul(group, features), other)
                holds, window, place = holding(shapes.axes, last, inner, self.size)
                at = (feature, channel, *place)
                return holds, {"outputs": (first, feature, *window), "filters": at}
            case _:
                assert_never(self.result)

    def _positions(self, windows: Index, inner: Index) -> Index:
        axes = self.shapes.axes
        strides, dilations = [a.stride for a in axes], [a.dilation for a in axes]
        return positions(windows, inner, strides, dilations)

    def _group(self, number: ir.Expr, count: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
        """The group of a channel or feature, and its number there."""
        if self.shapes.groups == 1:
            return ir.const(0), number
        return ir.binary("floordiv", number, count), ir.binary("mod", number, count)


# --- in NumPy -------------------------------------------------------------------------------------

_T, _K = "tuv", "klm"  # axes of windows, and in a window


def outputs(x: Array, w: Array, strides: Sequence[int], dilations: Sequence[int]) -> Array:
    """The outputs from inputs and filters whose groups are an axis."""
    t, k = _T[: len(strides)], _K[: len(strides)]
    seen = windows_of(x, w.shape[3:], strides, dilations)
    return np.asarray(np.einsum(f"ngc{t}{k},goc{k}->ngo{t}", seen, w, optimize=True))


def filters(
    x: Array, y: Array, strides: Sequence[int], dilations: Sequence[int], sizes: Sequence[int]
) -> Array:
    """The filters from inputs and outputs whose groups are an axis."""
    t, k = _T[: len(strides)], _K[: len(strides)]
    seen = windows_of(x, sizes, strides, dilations)
    return np.asarray(np.einsum(f"ngc{t}{k},ngo{t}->goc{k}", seen, y, optimize=True))


def inputs(
    y: Array, w: Array, strides: Sequence[int], dilations: Sequence[int], lengths: Sequence[int]
) -> Array:
    """The inputs from outputs and filters whose groups are an axis."""
    t = _T[: len(strides)]
    total = np.zeros((*y.shape[:2], w.shape[2], *lengths), y.dtype)
    for inner in product(*map(range, w.shape[3:])):
        tap = w[(slice(None),) * 3 + inner]
        at = (slice(None),) * 3 + places(inner, y.shape[3:], strides, dilations)
        total[at] += np.einsum(f"ngo{t},goc->ngc{t}", y, tap, optimize=True)
    return total


def split_groups(x: Array, role: Role, groups: int) -> Array:
    """An array whose axis of all channels, or features, is two axes: groups, and in a group."""
    axis = AXES[role].index("g")
    return x.reshape((*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :]))


def join_groups(x: Array, role: Role) -> Array:
    """The opposite of `split_groups`."""
    axis = AXES[role].index("g")
    return x.reshape((*x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2 :]))
