"""Basic indexing: slices and integers, one for each axis, read and written.

`Slice` is index arithmetic in whoever reads it; `SliceWrite` copies its first argument and sets or
adds to the region; make one with `write_region`. The positions of a slice are in `spans.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, INT64, DType
from symc.codegen.record import record, replace
from symc.errors import DTypeError, RankError, ShapeMismatch
from symc.graph.dims import Dim
from symc.graph.formulas import (
    Index,
    ReadElement,
    formula,
    own_element,
    part_formula,
    target_formula,
)
from symc.graph.inputs import scalar_constant
from symc.graph.lowering import At, SizeOf, Write, Written
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.checks import (
    BOUNDS,
    index_requirement,
    never_negative,
    of_first_argument,
    static_index,
    step_requirement,
)
from symc.tensor.elementwise import masked, peel, project, sum_to
from symc.tensor.lengths import unbatched
from symc.tensor.spans import (
    GIVEN,
    WHOLE,
    Entries,
    Range,
    SliceLayout,
    Span,
    count_given,
    layout,
    numpy_index,
)
from symc.tensor.views import broadcast_to, expand_dims, through

Mode: TypeAlias = Literal["set", "inc"]


def check_entries(label: str, entries: Entries, x: Tensor, given: Sequence[Tensor]) -> None:
    """Raises when entries and arguments do not fit, or a number is known to be out of range."""
    if len(entries) != x.ndim or count_given(entries) != len(given):
        counts = f"{len(entries)} entries for {x.ndim} axes"
        raise RankError(f"{label}: {counts}\n  given  {describe(x)}")
    for value in given:
        if value.ndim or value.dtype is not INT64:
            raise DTypeError(f"{label}: a bound must be an int64 scalar, not {value.type}")
    for axis, entry in enumerate(entries):
        if isinstance(entry, int):
            static_index(x, axis, entry)


def entry_requirements(
    node: Tensor, entries: Entries, x: Tensor, given: Sequence[Tensor]
) -> Iterator[Requirement]:
    """That integers are in range, and that no step is zero."""
    rest = iter(given)
    for axis, entry in enumerate(entries):
        if isinstance(entry, Span):
            bounds = [next(rest) if bound is GIVEN else None for bound in entry.bounds]
            if bounds[2] is not None:
                yield from step_requirement(node, bounds[2])
        else:
            index = scalar_constant(entry, INT64) if isinstance(entry, int) else next(rest)
            yield from index_requirement(node, x, axis, index)


def locate(read: ReadElement, axes: SliceLayout, x: Tensor, index: Index, size: SizeOf) -> Index:
    """Where the element of the region at `index` stands in `x`."""
    rest = iter(index)
    at: list[ir.Expr] = []
    for axis, n in zip(axes.axes, x.type.shape, strict=True):
        match axis:
            case Range():
                step = ir.mul(next(rest), size(axis.step))
                at.append(ir.add(step, size(axis.start)))
            case int():
                at.append(ir.const(axis) if axis >= 0 else ir.add(size(n), ir.const(axis)))
            case (number, value):
                at.append(wrapped(read(number, ()), value, size(n)))
    return tuple(at)


def wrapped(value: ir.Expr, index: Tensor, n: ir.Expr) -> ir.Expr:
    """An index counted from the front, given one that may count from the end."""
    if never_negative(index):
        return value
    negative = ir.Binary("lt", value, ir.const(0), BOOL)
    return ir.Select(negative, ir.add(value, n), value, INT64)


# --- batches --------------------------------------------------------------------------------------


@record
class _Parts:
    """Entries in two steps: a region with whole axes, and the indexes along these.

    The indexes are those that differ within a batch, and others that are given beside them.
    """

    entries: Entries
    given: list[Tensor]
    axes: tuple[int, ...]
    indexes: list[Tensor]
    batched_indexes: list[bool]


def _parted(
    label: str, entries: Entries, given: Sequence[Tensor], batched: Sequence[bool]
) -> _Parts:
    """Raises `NotBatchable` where bounds of a slice differ within the batch: so would lengths."""
    parts = _Parts((), [], (), [], [])
    rest, axis = iter(zip(given, batched, strict=True)), 0
    for entry in entries:
        if isinstance(entry, Span):
            bounds = [next(rest) for bound in entry.bounds if bound is GIVEN]
            unbatched(label, [flag for _, flag in bounds])
            parts.given.extend(bound for bound, _ in bounds)
        elif entry is GIVEN:
            index, flag = next(rest)
            parts.indexes.append(index)
            parts.batched_indexes.append(flag)
            parts = replace(parts, axes=(*parts.axes, axis))
            entry = WHOLE
        parts = replace(parts, entries=(*parts.entries, entry))
        axis += isinstance(entry, Span)
    return parts


def _read(parts: _Parts, x: Tensor, *, batched: bool) -> Tensor:
    """The region, of one tensor or of a batch."""
    entries = (WHOLE, *parts.entries) if batched else parts.entries
    return Slice(entries)(x, *parts.given)


# --- reading --------------------------------------------------------------------------------------


@record
class Slice(Op):
    """The region of the argument that the entries select; integers drop their axis."""

    entries: Entries

    @property
    def moves(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        x, *given = args
        check_entries("getitem", self.entries, x, given)
        return TensorType(x.type.dtype, layout(self.entries, x, given, 1).shape)

    def evaluate(self, *args: Array) -> Array:
        return np.asarray(args[0][numpy_index(self.entries, args[1:])])

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x, *given = node.args
        return [slice_back(self.entries, x, bar, given), *[None] * len(given)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        if not any(batched[1:]):
            return Slice((WHOLE, *self.entries))(*args)
        from symc.tensor.gather import Gather

        parts = _parted("getitem", self.entries, args[1:], batched[1:])
        region = _read(parts, args[0], batched=batched[0])
        return Gather(parts.axes, 0).batch(
            [region, *parts.indexes], [batched[0], *parts.batched_indexes]
        )

    def lower(self, node: Tensor, size: SizeOf) -> At:
        x, *given = node.args
        axes = layout(self.entries, x, given, 1)

        def element(read: ReadElement, index: Index) -> ir.Expr:
            return read(0, locate(read, axes, x, index, size))

        return At(formula(node, element))

    def expand(self, node: Tensor) -> Tensor | None:
        x, *given = node.args
        axes = layout(self.entries, x, given, 1)
        whole = [Range(0, 1, n) for n in x.type.shape]
        return x if list(axes.axes) == whole else None

    def require(self, node: Tensor) -> Iterable[Requirement]:
        yield from entry_requirements(node, self.entries, node.args[0], node.args[1:])

    @property
    def label(self) -> str:
        return "getitem"


def slice_back(entries: Entries, x: Tensor, bar: Tensor, given: Sequence[Tensor]) -> Tensor:
    """The gradient of a tensor that flows into a region of it: zero elsewhere."""
    from symc.tensor.gather import write_region

    mask, inner = peel(bar)
    result = write_region(entries, "set", zeros_for(x, inner.dtype), inner, given)
    if mask is not None:
        mask = write_region(entries, "set", zeros_for(x, BOOL), mask, given)
    found = masked(mask, result)
    assert found is not None
    return found


BOUNDS[Slice] = of_first_argument

# --- writing --------------------------------------------------------------------------------------


@record
class SliceWrite(Op):
    """The first argument, with the second set into or added to the region the entries select.

    The second argument is broadcast to the region, aligned at the last axis.
    """

    entries: Entries
    mode: Mode

    @property
    def moves(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        x, v, *given = args
        check_entries(self.label, self.entries, x, given)
        if v.dtype is not x.dtype:
            raise DTypeError(f"{self.label}: {v.dtype} values into {x.dtype}")
        fit_region(self.label, x, v, layout(self.entries, x, given, 2).shape)
        return x.type

    def evaluate(self, *args: Array) -> Array:
        result = args[0].copy()
        region = numpy_index(self.entries, args[2:])
        if self.mode == "set":
            result[region] = args[1]
        else:
            result[region] += args[1]
        return result

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x, v, *given = node.args
        inside = sum_to(through(lambda part: Slice(self.entries)(part, *given), bar), v)
        kept = bar
        if self.mode == "set":
            mask, inner = peel(bar)
            write = SliceWrite(self.entries, "set")
            part = bar if mask is None else broadcast_to(mask, x.type.shape)
            kept = write(part, zero(part.dtype), *given)
            if mask is not None:
                kept = cast("Tensor", masked(kept, inner))
        return [kept, inside, *[None] * len(given)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        if not any(batched[2:]):
            x, v = batch_written(args[0], args[1], batched, region_rank(self.entries))
            return SliceWrite((WHOLE, *self.entries), self.mode)(x, v, *args[2:])
        from symc.tensor.gather import Scatter

        parts = _parted(self.label, self.entries, args[2:], batched[2:])
        region = Scatter(parts.axes, 0, self.mode).batch(
            [_read(parts, args[0], batched=batched[0]), args[1], *parts.indexes],
            [*batched[:2], *parts.batched_indexes],
        )
        if all(entry == WHOLE for entry in parts.entries):
            return region
        write = SliceWrite(parts.entries, "set")
        return write.batch(
            [args[0], region, *parts.given], [batched[0], True, *(False for _ in parts.given)]
        )

    def lower(self, node: Tensor, size: SizeOf) -> Write:
        x, v, *given = node.args
        axes = layout(self.entries, x, given, 2)

        def value(read: ReadElement, index: Index) -> ir.Expr:
            return read(1, project(index, v.type.shape))

        def target(read: ReadElement, index: Index) -> Index:
            return locate(read, axes, x, index, size)

        part = Written(
            axes.shape,
            target_formula(node, axes.shape, target),
            part_formula(node, axes.shape, value),
            written(self.mode, x.dtype),
        )
        return Write(own_element(node), (part,))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        x, v, *given = node.args
        yield from entry_requirements(node, self.entries, x, given)
        yield from region_requirements(self.label, x, v, layout(self.entries, x, given, 2).shape)

    @property
    def label(self) -> str:
        return f"{self.mode}_subtensor"


def fit_region(label: str, x: Tensor, v: Tensor, region: tuple[Dim, ...]) -> None:
    """Raises `ShapeMismatch` when `v` cannot be broadcast to the region it is written to."""
    shape = v.type.shape
    fits = len(shape) <= len(region) and all(
        not isinstance(dim, int) or not isinstance(wanted, int) or dim in (1, wanted)
        for dim, wanted in zip(shape[::-1], region[::-1], strict=False)
    )
    if not fits:
        raise ShapeMismatch(_unfit(label, x, v, shape, region))


def region_requirements(
    label: str, x: Tensor, v: Tensor, region: tuple[Dim, ...]
) -> Iterator[Requirement]:
    """Lengths of `v` that must turn out to be those of the region it is written to."""
    shape = v.type.shape

    def message(value: Callable[[Any], Any]) -> str:
        return _unfit(label, x, v, [value(dim) for dim in shape], [value(dim) for dim in region])

    for dim, wanted in zip(shape[::-1], region[::-1], strict=False):
        if dim != 1 and dim != wanted:
            yield Requirement((wanted, dim), ShapeMismatch, message)


def _unfit(
    label: str, x: Tensor, v: Tensor, shape: Sequence[object], region: Sequence[object]
) -> str:
    return (
        f"{label}: values of shape [{', '.join(map(str, shape))}] do not fit the region "
        f"[{', '.join(map(str, region))}]\n"
        f"  into   {describe(x)}\n  values {describe(v)}"
    )


def zeros_for(x: Tensor, dtype: DType) -> Tensor:
    """Zeros of a dtype with the shape of `x`."""
    zero = scalar_constant(0.0 if dtype.is_inexact else False if dtype is BOOL else 0, dtype)
    return broadcast_to(zero, x.type.shape)


def written(mode: Mode, dtype: DType) -> Literal["set", "add", "max"]:
    """How elements of a dtype are combined with those there; adding to a bool is logical or."""
    return "set" if mode == "set" else "max" if dtype is BOOL else "add"


def zero(dtype: DType) -> Tensor:
    """The scalar 0 of a dtype."""
    return zeros_for(scalar_constant(0, INT64), dtype)


def region_rank(entries: Entries) -> int:
    """How many axes the region has."""
    return sum(isinstance(entry, Span) for entry in entries)


def batch_written(
    x: Tensor, v: Tensor, batched: Sequence[bool], rank: int
) -> tuple[Tensor, Tensor]:
    """A tensor and the values written into it, both with the batch axis; `rank` is the region's."""
    if not batched[0]:
        x = broadcast_to(x, (v.type.shape[0], *x.type.shape))
    if batched[1]:
        v = expand_dims(v, tuple(range(1, 1 + rank - (v.ndim - 1))))
    return x, v
