"""How windows lie on the last axes of a tensor: lengths, reaches and paddings of each axis.

A window of `size` elements that are `dilation` apart reaches over ``dilation * (size - 1) + 1``
elements; windows start `stride` apart, and only whole ones count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any, SupportsIndex, TypeAlias, TypeGuard, cast

import numpy as np

from symc.codegen import ir
from symc.codegen.record import record
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index
from symc.graph.lowering import SizeOf
from symc.graph.node import OPERATORS, Requirement, Tensor
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import as_dim, tensor_of
from symc.tensor.padding import surround

Numbers: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
Padding: TypeAlias = Any
"""A word, a length for all axes, or for each axis a length or a pair of lengths."""
Pair: TypeAlias = tuple[Dim, Dim]

WORDS = ("valid", "full", "half", "same")


def reach(size: Dim, dilation: int) -> Dim:
    """Over how many elements a window reaches."""
    return dims.add(dims.mul(dims.sub(size, 1), dilation), 1)


def window_count(length: Dim, size: Dim, stride: int, dilation: int) -> Dim:
    """How many windows lie on an axis."""
    return dims.add(dims.floordiv(dims.sub(length, reach(size, dilation)), stride), 1)


def covered(count: Dim, size: Dim, stride: int, dilation: int) -> Dim:
    """How many elements of an axis some windows cover, gaps included."""
    return dims.add(dims.mul(dims.sub(count, 1), stride), reach(size, dilation))


def positions(
    windows: Index, inner: Index, strides: Sequence[int], dilations: Sequence[int]
) -> Index:
    """Where element number `inner` of window number `windows` stands, for each axis."""
    return tuple(
        ir.add(ir.mul(t, ir.const(s)), ir.mul(k, ir.const(d)))
        for t, k, s, d in zip(windows, inner, strides, dilations, strict=True)
    )


# --- the windows that hold an element -------------------------------------------------------------


@record
class Axis:
    """An axis that windows lie on: their number, size, stride and dilation."""

    count: Dim
    size: Dim
    stride: int
    dilation: int

    @property
    def apart(self) -> bool:
        """Whether no two windows are known to share elements, their gaps included."""
        reached = reach(self.size, self.dilation)
        return isinstance(reached, int) and reached <= self.stride

    def covers(self, length: Dim) -> bool:
        """Whether windows that are apart are known to leave nothing of a length out."""
        return self.size == self.stride and length == dims.mul(self.count, self.size)

    @property
    def steps(self) -> Dim:
        """How many steps `hold` needs to find all windows that hold an element.

        Without dilation it goes back from the last window that starts before the element; with it,
        through all places which the element might have in a window.
        """
        if self.dilation > 1:
            return self.size
        return dims.ceildiv(self.size, self.stride)

    def hold(self, i: ir.Expr, step: ir.Expr, size: SizeOf) -> tuple[ir.Expr, ir.Expr, ir.Expr]:
        """Whether element `i` is in this step's window, the window's number, and its place there.

        The last two are in range even if it is not.
        """
        stride, count = ir.const(self.stride), size(self.count)
        if self.dilation > 1:
            window, rest = _divided(ir.sub(i, ir.mul(step, ir.const(self.dilation))), stride)
            place, fits = step, ir.binary("eq", rest, ir.const(0))
        else:
            last, rest = _divided(i, stride)
            window, place = ir.sub(last, step), ir.add(rest, ir.mul(step, stride))
            fits = ir.binary("lt", place, size(self.size))
            place = ir.binary("min", place, ir.sub(size(self.size), ir.const(1)))
        fits = ir.binary("and", fits, ir.binary("ge", window, ir.const(0)))
        fits = ir.binary("and", fits, ir.binary("lt", window, count))
        inside = ir.binary("min", window, ir.sub(count, ir.const(1)))
        return fits, ir.binary("max", inside, ir.const(0)), place


def _divided(i: ir.Expr, stride: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    if stride == ir.const(1):
        return i, ir.const(0)
    return ir.binary("floordiv", i, stride), ir.binary("mod", i, stride)


def axes_of(
    shape: Sequence[Dim], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[Axis, ...]:
    """The axes of a shape that ends in the windows' numbers and their sizes."""
    rank = len(strides)
    return tuple(map(Axis, shape[-2 * rank : -rank], shape[-rank:], strides, dilations))


def holding(
    axes: Sequence[Axis], index: Index, steps: Index, size: SizeOf
) -> tuple[ir.Expr, Index, Index]:
    """As `Axis.hold` for several axes: whether all hold, and the windows and places."""
    found = [axis.hold(i, step, size) for axis, i, step in zip(axes, index, steps, strict=True)]
    holds = reduce(partial(ir.binary, "and"), [fits for fits, _, _ in found])
    return holds, tuple(w for _, w, _ in found), tuple(p for _, _, p in found)


# --- windows must fit -----------------------------------------------------------------------------


def too_short(label: str, x: Tensor, axis: int, lengths: tuple[object, object]) -> str:
    """The text of a `ShapeMismatch` where not one window fits."""
    return (
        f"{label}: axis {axis} has {lengths[0]} elements, padding included, but a window reaches "
        f"over {lengths[1]}\n  given  {describe(x)}"
    )


def refuse_short(label: str, x: Tensor, sizes: Sequence[Dim], dilations: Sequence[int]) -> None:
    """Raises `ShapeMismatch` if no window is known to fit on one of the last axes."""
    for axis, reached in _reaches(x, sizes, dilations):
        length = x.type.shape[axis]
        if isinstance(length, int) and isinstance(reached, int) and length < reached:
            raise ShapeMismatch(too_short(label, x, axis, (length, reached)))


def long_enough(
    label: str, x: Tensor, sizes: Sequence[Dim], dilations: Sequence[int]
) -> Iterator[Requirement]:
    """The requirements that a window fits on each of the last axes."""
    for axis, reached in _reaches(x, sizes, dilations):
        length = x.type.shape[axis]
        if not dims.nonnegative(dims.sub(length, reached)):
            yield _fits(label, x, axis, (length, reached))


def _reaches(
    x: Tensor, sizes: Sequence[Dim], dilations: Sequence[int]
) -> Iterator[tuple[int, Dim]]:
    first = x.ndim - len(sizes)
    for axis, (size, dilation) in enumerate(zip(sizes, dilations, strict=True)):
        yield first + axis, reach(size, dilation)


def _fits(label: str, x: Tensor, axis: int, lengths: tuple[Dim, Dim]) -> Requirement:
    length, reached = lengths
    holds: Tensor = OPERATORS["ge"](tensor_of(length), tensor_of(reached))
    return Requirement(
        holds,
        ShapeMismatch,
        lambda value: too_short(label, x, axis, (value(length), value(reached))),
    )


# --- arguments as users give them -----------------------------------------------------------------
# ---------------------------------------------------------------------------


def numbers(label: str, what: str, given: Numbers, rank: int, least: int = 1) -> tuple[int, ...]:
    """One integer for each axis; one that is given alone is for all axes."""
    found = cast("Sequence[Any]", given if isinstance(given, list | tuple) else (given,) * rank)
    if len(found) != rank or not all(_is_integer(n) and n >= least for n in found):
        several = f", or {rank} of them" if rank > 1 else ""
        raise ValueError(
            f"{label}: {what} must be an integer from {least} on{several}, not {given!r}"
        )
    return tuple(map(int, found))


def _is_integer(given: object) -> TypeGuard[int | np.integer[Any]]:
    """Whether it is an integer of Python's or NumPy's, as lengths that were computed are."""
    return isinstance(given, int | np.integer) and not isinstance(given, bool)


def paddings(
    label: str,
    given: Padding,
    lengths: Sequence[Dim],
    sizes: Sequence[Dim],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> tuple[Pair, ...]:
    """How many elements are added before and after each axis."""
    reaches = [reach(size, dilation) for size, dilation in zip(sizes, dilations, strict=True)]
    match given:
        case "valid":
            return ((0, 0),) * len(lengths)
        case "full":
            return tuple((dims.sub(r, 1), dims.sub(r, 1)) for r in reaches)
        case "half":
            return tuple((dims.floordiv(r, 2), dims.floordiv(r, 2)) for r in reaches)
        case "same":
            return tuple(map(_same, lengths, reaches, strides))
        case str():
            words = ", ".join(map(repr, WORDS))
            raise ValueError(f"{label}: padding must be {words} or numbers, not {given!r}")
        case list() | tuple() if len(cast("Sequence[Any]", given)) == len(lengths):
            return tuple(_pair(label, each) for each in cast("Sequence[Any]", given))
        case list() | tuple():
            raise ValueError(
                f"{label}: padding must have one entry for each of {len(lengths)} axes, "
                f"not {given!r}"
            )
        case _:
            return (_pair(label, given),) * len(lengths)


def _same(length: Dim, reached: Dim, stride: int) -> Pair:
    """So many elements that there are ``ceil(length / stride)`` windows, more of them after."""
    count = dims.ceildiv(length, stride)
    missing = dims.sub(dims.add(dims.mul(dims.sub(count, 1), stride), reached), length)
    total = dims.maximum(missing, 0)
    before = dims.floordiv(total, 2)
    return before, dims.sub(total, before)


def _pair(label: str, given: Any) -> Pair:
    pair = cast("Sequence[Any]", given) if isinstance(given, list | tuple) else (given, given)
    if len(pair) != 2:
        raise ValueError(f"{label}: padding of an axis must be a length or a pair, not {given!r}")
    before, after = as_dim(pair[0]), as_dim(pair[1])
    for length in (before, after):
        if isinstance(length, int) and length < 0:
            raise ValueError(f"{label}: padding cannot be negative, but is {given!r}")
    return before, after


def check_rank(label: str, x: Tensor, rank: int, what: str) -> None:
    """Raises `RankError` unless a tensor has two axes besides the `rank` last ones."""
    if x.ndim != rank + 2:
        raise RankError(
            f"{label}: {what} must have {rank + 2} axes, not {x.ndim}\n  given  {describe(x)}"
        )


def padded(x: Tensor, pairs: Sequence[Pair], value: float = 0) -> Tensor:
    """`x` with so many elements of a value around its last axes."""
    outer = ((0, 0),) * (x.ndim - len(pairs))
    return surround(x, cast_to(value, x.dtype), (*outer, *pairs))
