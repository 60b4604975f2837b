"""Making tensors larger at their ends, with a constant or with their own elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, cast, get_args

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL
from symc.codegen.record import record
from symc.errors import RankError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement, formula, part_formula, target_formula
from symc.graph.inputs import Constant, as_tensor, scalar_constant
from symc.graph.lowering import SizeOf, Write, Written
from symc.graph.node import METHODS, OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor import checked
from symc.tensor.broadcast import describe
from symc.tensor.build import arange, zeros_like
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import (
    Template,
    as_dim,
    dim_of,
    fill_dims,
    fill_values,
    normal_axis,
    split_template,
    tensor_of,
    unbatched,
)
from symc.tensor.pad_modes import STATISTICS, odd, with_ramps, with_statistics
from symc.tensor.shape import concatenate
from symc.tensor.specify import segment
from symc.tensor.views import expand_dims, not_negative, refuse_negative, through

__all__ = ["pad"]

Mode = Literal[
    "constant", "edge", "empty", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect",
    "symmetric", "wrap",
]  # fmt: skip
Pair = tuple[Dim, Dim]


@record
class Pad(Op):
    """The first argument with the second, a scalar, around it.

    `widths` has how many elements come before each axis, then how many after each.
    """

    widths: Template

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0]
        before, after = self._dims(args)
        refuse_negative("pad", x, (*before, *after))
        lengths = (
            dims.add(dims.add(b, n), a) for b, n, a in zip(before, x.type.shape, after, strict=True)
        )
        return TensorType(x.type.dtype, tuple(lengths))

    def _dims(self, args: Sequence[Tensor]) -> tuple[Sequence[Dim], Sequence[Dim]]:
        widths = fill_dims(self.widths, args[2:])
        half = len(widths) // 2
        return widths[:half], widths[half:]

    def evaluate(self, *args: Array) -> Array:
        widths = fill_values(self.widths, args[2:])
        half = len(widths) // 2
        pairs = list(zip(widths[:half], widths[half:], strict=True))
        return np.pad(args[0], pairs, constant_values=args[1])

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x, value = node.args[:2]
        before, _ = self._dims(node.args)

        def middle(part: Tensor) -> Tensor:
            for axis, (start, length) in enumerate(zip(before, x.type.shape, strict=True)):
                if part.type.shape[axis] != length:
                    part = segment(part, axis, start, length)
            return part

        gradient: Tensor | None = None
        if not isinstance(value.op, Constant):
            outside = self(zeros_like(x, BOOL), scalar_constant(True, BOOL), *node.args[2:])
            gradient = METHODS["sum"](OPERATORS["where"](outside, bar, 0))
        return [through(middle, bar), gradient, *[None] * (len(node.args) - 2)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("pad", batched[2:])
        x, value, *holes = args
        half = len(self.widths) // 2
        op = Pad((0, *self.widths[:half], 0, *self.widths[half:])) if batched[0] else self
        if not batched[1]:
            return op(x, value, *holes)
        outside = op(zeros_like(x, BOOL), scalar_constant(True, BOOL), *holes)
        inside = op(x, cast_to(0, x.dtype), *holes)
        values = expand_dims(value, tuple(range(1, 1 + half)))
        return OPERATORS["where"](outside, values, inside)

    def lower(self, node: Tensor, size: SizeOf) -> Write:
        before = [size(width) for width in self._dims(node.args)[0]]

        shape = node.args[0].type.shape

        def target(_: ReadElement, inner: Index) -> Index:
            return tuple(ir.add(i, b) for i, b in zip(inner, before, strict=True))

        around = formula(node, lambda read, _: read(1, ()))
        value = part_formula(node, shape, lambda read, i: read(0, i))
        return Write(around, (Written(shape, target_formula(node, shape, target), value),))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        before, after = self._dims(node.args)
        yield from not_negative("pad", node.args[0], (*before, *after))


def surround(x: Tensor, value: Tensor, pairs: Sequence[Pair]) -> Tensor:
    """`x` with so many elements of a value before and after each axis."""
    if all(pair == (0, 0) for pair in pairs):
        return x
    widths, holes = split_template((*(b for b, _ in pairs), *(a for _, a in pairs)))
    return Pad(widths)(x, cast_to(value, x.dtype), *holes)


# --- where the elements of other modes come from --------------------------------------------------


def _edge(i: Tensor, n: Dim) -> Tensor:
    return _at_most(OPERATORS["maximum"](i, 0), dims.sub(n, 1))


def _wrap(i: Tensor, n: Dim) -> Tensor:
    return i % tensor_of(n)


def _symmetric(i: Tensor, n: Dim) -> Tensor:
    return _mirrored(i, dims.mul(n, 2), 1, n)


def _reflect(i: Tensor, n: Dim) -> Tensor:
    return _mirrored(i, dims.maximum(dims.sub(dims.mul(n, 2), 2), 1), 0, n)


def _mirrored(i: Tensor, period: Dim, gap: int, n: Dim) -> Tensor:
    there = i % tensor_of(period)
    back = tensor_of(dims.sub(period, gap)) - there
    # The smaller of the two is below n anyway; saying so proves that the index is in range.
    return _at_most(OPERATORS["minimum"](there, back), dims.sub(n, 1))


def _at_most(i: Tensor, limit: Dim) -> Tensor:
    return OPERATORS["minimum"](i, tensor_of(limit))


_SOURCES: dict[str, Callable[[Tensor, Dim], Tensor]] = {
    "edge": _edge,
    "reflect": _reflect,
    "symmetric": _symmetric,
    "wrap": _wrap,
}


_GAPS = {"reflect": 0, "symmetric": 1}


def _extend(x: Tensor, pairs: Sequence[Pair], mode: str, is_odd: bool = False) -> Tensor:
    """`x` with so many of its own elements before and after each axis.

    Along the last axis that grows, which loops go along innermost, the elements between are copied
    as they are: only those at the ends are looked up.
    """
    long = [axis for axis, pair in enumerate(pairs) if pair != (0, 0)]
    for axis in long:
        refuse_negative("pad", x, pairs[axis])
        n = x.type.shape[axis]
        before, after = map(_checked, pairs[axis])
        if axis != long[-1]:
            x = _taken(x, axis, dims.mul(before, -1), dims.add(n, after), mode, is_odd)
            continue
        ends = [(dims.mul(before, -1), 0), (n, dims.add(n, after))]
        first, last = (_taken(x, axis, *end, mode, is_odd) for end in ends)
        parts = [first] * (before != 0) + [x] + [last] * (after != 0)
        x = concatenate(parts, axis)
    return x


def _taken(x: Tensor, axis: int, start: Dim, stop: Dim, mode: str, is_odd: bool) -> Tensor:
    """The elements that padding puts at positions from `start` to `stop` of an axis."""
    positions = arange(tensor_of(start), tensor_of(stop))
    if is_odd:
        return odd(x, positions, axis, _GAPS[mode])
    source = _SOURCES[mode](positions, x.type.shape[axis])
    return OPERATORS["getitem"](x, (*[slice(None)] * axis, source))


def _checked(width: Dim) -> Dim:
    if dims.nonnegative(width):
        return width
    return dim_of(checked.not_negative(tensor_of(width), "pad: a width is negative"))


def _not_empty(x: Tensor, pairs: Sequence[Pair]) -> Tensor:
    """`x`, checked for having elements along the axes that grow by its own."""
    for axis, pair in enumerate(pairs):
        n = x.type.shape[axis]
        if pair == (0, 0) or dims.nonnegative(dims.sub(n, 1)):
            continue
        text = f"pad: axis {axis} is empty: constants alone can make it longer"
        more = dims.add(*pair)
        if n == 0 and isinstance(more, int):
            raise ValueError(f"{text}\n  given  {describe(x)}")
        missing = OPERATORS["logical_and"](tensor_of(more) > 0, OPERATORS["eq"](tensor_of(n), 0))
        x = checked.Checked(text)(x, OPERATORS["logical_not"](missing))
    return x


# --- functions for users --------------------------------------------------------------------------


def _pairs(label: str, x: Tensor, given: Any) -> list[tuple[Any, Any]]:
    """One pair for each axis, from a number, a pair, a list of one pair, or one for each axis."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, dict):
        by_axis = {normal_axis("pad", k, x.ndim, x): v for k, v in cast("Any", given).items()}
        given = [by_axis.get(axis, 0) for axis in range(x.ndim)]
        given = [one if isinstance(one, list | tuple) else (one, one) for one in given]
    if not isinstance(given, list | tuple):
        return [(given, given)] * x.ndim
    items = list(cast("Sequence[Any]", given))
    if not any(isinstance(item, list | tuple) for item in items):
        items = [items]
    pairs = [tuple(item) * 2 if len(item) == 1 else tuple(item) for item in items]
    if len(pairs) == 1:
        pairs = pairs * x.ndim
    if len(pairs) != x.ndim or any(len(pair) != 2 for pair in pairs):
        raise RankError(
            f"pad: {label} needs a number, a pair, or a pair for each of {x.ndim} axes, not "
            f"{given!r}\n  given  {describe(x)}"
        )
    return [(pair[0], pair[1]) for pair in pairs]


def pad(
    x: TensorLike, pad_width: Any, mode: Mode = "constant", constant_values: Any = 0, *,
    stat_length: Any = None, end_values: Any = 0, reflect_type: Literal["even", "odd"] = "even",
) -> Tensor:  # fmt: skip
    """`x` with elements added at the ends of its axes, as NumPy's pad.

    `pad_width` is a number, a pair (before, after), or a pair for each axis, of integers or integer
    scalar tensors; or a dictionary of these by axis. Modes: "constant" adds `constant_values`
    (given in the same ways), "edge" the outermost element, "reflect" mirrors without and
    "symmetric" with the outermost element (with `reflect_type` "odd" twice that less the mirrored),
    "wrap" continues from the other end. "maximum", "minimum", "mean" and "median" add those of the
    axis, or of `stat_length` elements at that end; "linear_ramp" goes to `end_values`; "empty" adds
    zeros. There are no functions as modes: concatenate what they would write.

    >>> import symc.tensor as T
    >>> T.pad(T.arange(3), (1, 2), mode="wrap").eval()
    array([2, 0, 1, 2, 0, 1])
    >>> T.pad([1.0, 5.0, 3.0], (2, 1), "maximum", stat_length=1).eval()
    array([1., 1., 1., 5., 3., 3.])
    """
    x = as_tensor(x)
    pairs = [(as_dim(b), as_dim(a)) for b, a in _pairs("pad_width", x, pad_width)]
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type is 'even' or 'odd', not {reflect_type!r}")
    if mode in (*_SOURCES, *STATISTICS, "linear_ramp"):
        x = _not_empty(x, pairs)
    if mode in _SOURCES:
        return _extend(x, pairs, mode, mode in _GAPS and reflect_type == "odd")
    if mode in (*STATISTICS, "linear_ramp"):
        refuse_negative("pad", x, [width for pair in pairs for width in pair])
        checked_pairs = [(_checked(b), _checked(a)) for b, a in pairs]
        if mode == "linear_ramp":
            return with_ramps(x, checked_pairs, _pairs("end_values", x, end_values))
        given = None if stat_length is None else _pairs("stat_length", x, stat_length)
        return with_statistics(x, checked_pairs, mode, given)
    if mode == "empty":
        constant_values = 0
    elif mode != "constant":
        known = ", ".join(get_args(Mode))
        raise ValueError(f"pad: there is no mode {mode!r}; there are {known}")
    values = [
        (as_tensor(b, x.dtype), as_tensor(a, x.dtype))
        for b, a in _pairs("constant_values", x, constant_values)
    ]
    if len({v for pair in values for v in pair}) <= 1:
        return surround(x, values[0][0], pairs) if values else x
    for axis, (pair, value) in enumerate(zip(pairs, values, strict=True)):
        none = [(0, 0)] * x.ndim
        sides = ((pair[0], 0), (0, pair[1]))
        for side, around in zip(sides, value, strict=True):
            x = surround(x, around, [*none[:axis], side, *none[axis + 1 :]])
    return x


METHODS["pad"] = pad
