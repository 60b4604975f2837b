"""Slices as arithmetic on lengths: which positions Python's rule selects, known only at run time.

Bounds beyond the ends are clipped and negative ones count from the end, for symbolic bounds and
steps too. Templates of slices have `GIVEN` where an argument of the node gives the number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from symc.codegen.record import record
from symc.graph import dims
from symc.graph.dims import Dim, Extreme
from symc.graph.node import Array, Tensor
from symc.tensor.lengths import dim_of


@record
class Given:
    """Stands in a template for a number that an argument gives: an int64 scalar tensor."""

    def __repr__(self) -> str:
        return "GIVEN"


GIVEN = Given()
Bound: TypeAlias = int | Given | None


@record
class Span:
    """A slice. Without `start` or `stop` it reaches to the end of the axis on that side."""

    start: Bound = None
    stop: Bound = None
    step: int | Given = 1

    @property
    def bounds(self) -> tuple[Bound, Bound, int | Given]:
        """Start, stop and step."""
        return self.start, self.stop, self.step


WHOLE = Span()
Entry: TypeAlias = Span | int | Given
Entries: TypeAlias = tuple[Entry, ...]


@record
class Range:
    """The positions ``start + i * step`` for i below `length`, none of which is out of range."""

    start: Dim
    step: Dim
    length: Dim


# --- Python's rule for slices, as arithmetic on lengths -------------------------------------------


def selected(start: Dim | None, stop: Dim | None, step: Dim, n: Dim) -> Range:
    """The positions that ``[start:stop:step]`` selects from an axis of length `n`.

    Of lengths only the bounds that matter are clipped: a start after the end is left there, as
    the length is 0 then. So ``x[1:]`` and ``x[:-1]`` both have the length ``max(0, n - 1)``, one
    and the same. Bounds that are values may be any 64 bits, and differences of such would not fit:
    those are clipped at both ends. Of all there are `n`, which no axis has less than 0 of.
    """
    if start is None and stop is None and step == 1:
        return Range(0, 1, n)
    start = None if start is None else _countable(start)
    stop = None if stop is None else _countable(stop)
    step = _countable(step)
    if dims.nonnegative(dims.sub(step, 1)):
        first: Dim = 0
        if start is not None:
            first = dims.maximum(0, _at_most(_from_front(start, n, safe=2), start, n))
        end = n
        if stop is not None:
            end = dims.minimum(_at_least(_from_front(stop, n, safe=2), stop, 0), n)
        count = dims.ceildiv(_distance(end, first, start), step)
        if start is not None and stop is not None and dims.sub(stop, start) == 1:
            count = _one_at_most(count)
    elif dims.nonnegative(dims.sub(-1, step)):
        first = last = dims.sub(n, 1)
        if start is not None:
            first = dims.minimum(_at_least(_from_front(start, n), start, -1), last)
        end = -1
        if stop is not None:
            end = dims.maximum(_at_most(_from_front(stop, n), stop, last), -1)
        count = dims.ceildiv(_distance(first, end, stop), dims.mul(step, -1))
    else:
        return _either_way(start, stop, step, n)
    return Range(first, step, at_least_zero(count))


def _distance(end: Dim, first: Dim, given: Dim | None) -> Dim:
    """``end - first``; where `first` is ``max(a, b)`` of lengths: ``min(end - a, end - b)``.

    `given` is the number that was given for `first`.
    """
    match tuple(dims.atoms(first)):
        case _ if given is not None and _is_value(given):
            return dims.sub(end, first)
        case (Extreme(kind="max") as atom,) if first == dims.symbolic(atom):
            left, right = dims.sub(end, atom.left), dims.sub(end, atom.right)
            return dims.minimum(*((right, left) if isinstance(right, int) else (left, right)))
        case _:
            return dims.sub(end, first)


def _one_at_most(count: Dim) -> Dim:
    """The length of ``x[i : i + 1]``, of which nobody could prove that it is 0 or 1."""
    if dims.at_most_one(at_least_zero(count)):
        return count
    return dims.minimum(1, count)


def _countable(dim: Dim) -> Dim:
    """A bound or step that is as good and, if it is a number, has 64 bits with either sign."""
    return max(-dims.MOST, min(dim, dims.MOST)) if isinstance(dim, int) else dim


def _at_most(bound: Dim, given: Dim, limit: Dim) -> Dim:
    """A bound clipped from above, if the number that was given for it is a value."""
    return dims.minimum(bound, limit) if _is_value(given) else bound


def _at_least(bound: Dim, given: Dim, limit: Dim) -> Dim:
    return dims.maximum(bound, limit) if _is_value(given) else bound


def _is_value(dim: Dim) -> bool:
    """Whether a number may be any 64 bits: it is no length, nor counted along one."""
    if isinstance(dim, int):
        return abs(dim) >= dims.LONG
    return any(not dims.nonnegative(dims.symbolic(size)) for size in dims.sizes(dim))


def _either_way(start: Dim | None, stop: Dim | None, step: Dim, n: Dim) -> Range:
    """As `selected`, for a step whose sign is known only at run time."""
    backwards = _is_negative(step)
    low, high = dims.mul(backwards, -1), dims.sub(n, backwards)
    first = dims.mul(backwards, dims.sub(n, 1))
    end = dims.sub(n, dims.mul(backwards, dims.add(n, 1)))
    if start is not None:
        first = dims.minimum(dims.maximum(_from_front(start, n), low), high)
    if stop is not None:
        end = dims.minimum(dims.maximum(_from_front(stop, n), low), high)
    sign = dims.sub(1, dims.mul(backwards, 2))
    count = dims.add(dims.floordiv(dims.sub(dims.sub(end, first), sign), step), 1)
    return Range(first, step, at_least_zero(count))


def _from_front(bound: Dim, n: Dim, safe: int = 1) -> Dim:
    """A bound counted from the front: negative ones count from the end.

    ``n - c`` stays as it is up to c = `safe`: where it is negative, the axis is so short that
    counting from the end and clipping come to the same.
    """
    back = dims.sub(n, bound)
    if isinstance(back, int) and 0 <= back <= safe:
        return bound
    return dims.add(bound, dims.mul(_is_negative(bound), n))


def _is_negative(dim: Dim) -> Dim:
    """1 for negative numbers and 0 for others."""
    if dims.nonnegative(dim):
        return 0
    # Not by the number's negative, which for the least of 64 bits does not fit into them.
    return dims.mul(dims.maximum(dims.minimum(dim, 0), -1), -1)


def at_least_zero(dim: Dim) -> Dim:
    """``max(0, dim)``; a ``max(0, m) - c`` within it becomes ``m - c``, which is the same."""
    found = True
    while found:
        found = False
        for atom in list(dims.atoms(dim)):
            match atom:
                case Extreme(kind="max", left=0, right=inner):
                    rest = dims.sub(dim, dims.symbolic(atom))
                    if dims.nonnegative(dims.mul(rest, -1)):
                        dim, found = dims.add(inner, rest), True
                        break
                case _:
                    pass
    return dims.maximum(0, dim)


def is_last(entry: Entry, length: Dim) -> bool:
    """Whether an entry is the number of the last element, counted from either end.

    Along an axis of known length numbers are stored as counted from the front.
    """
    return entry == -1 or (isinstance(length, int) and length > 0 and entry == length - 1)


# --- entries --------------------------------------------------------------------------------------


def normal_span(span: Span, n: Dim) -> Span:
    """The simplest slice that selects the same elements, as far as numbers are known."""
    start, stop, step = span.bounds
    if not isinstance(step, int):
        return span
    known = all(bound is None or isinstance(bound, int) for bound in (start, stop))
    if isinstance(n, int) and known:
        assert not isinstance(start, Given)
        assert not isinstance(stop, Given)
        return _known_span(range(n)[start:stop:step], n)
    return Span(None if start == 0 and step > 0 else start, stop, step)


def _known_span(positions: range, n: int) -> Span:
    if not positions:
        return WHOLE if n == 0 else Span(None, 0)
    first, last, step = positions[0], positions[-1], positions.step
    if len(positions) == 1:
        step = 1
    if step > 0:
        return Span(first or None, None if last + step >= n else last + 1, step)
    return Span(None if first == n - 1 else first, None if last + step < 0 else last - 1, step)


def count_given(entries: Entries) -> int:
    """How many arguments the entries need."""
    return sum(
        sum(bound is GIVEN for bound in entry.bounds) if isinstance(entry, Span) else entry is GIVEN
        for entry in entries
    )


def entry_texts(entries: Entries, given: Iterable[str]) -> list[str]:
    """The entries as one writes them, ``1:n``; `given` has the texts of the arguments' numbers."""
    rest = iter(given)

    def bound(entry: object) -> str:
        return next(rest) if entry is GIVEN else "" if entry is None else str(entry)

    shown: list[str] = []
    for entry in entries:
        if isinstance(entry, Span):
            start, stop, step = map(bound, entry.bounds)
            shown.append(f"{start}:{stop}" + (f":{step}" if step != "1" else ""))
        else:
            shown.append(bound(entry))
    return shown


@record
class SliceLayout:
    """The entries for a tensor: for each axis a range, a number, or a given number.

    A given number is its tensor with the number of the argument it is.
    """

    axes: tuple[Range | int | tuple[int, Tensor], ...]

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The lengths of the region."""
        return tuple(axis.length for axis in self.axes if isinstance(axis, Range))


def layout(entries: Entries, x: Tensor, given: Sequence[Tensor], first: int) -> SliceLayout:
    """The entries on the axes of `x`; `given` are its node's arguments from number `first` on."""
    axes: list[Range | int | tuple[int, Tensor]] = []
    used = 0
    for entry, n in zip(entries, x.type.shape, strict=True):
        count = count_given((entry,))
        if isinstance(entry, Span):
            axes.append(layout_range(entry, n, given[used : used + count]))
        else:
            axes.append((first + used, given[used]) if isinstance(entry, Given) else entry)
        used += count
    return SliceLayout(tuple(axes))


def layout_range(span: Span, n: Dim, given: Sequence[Tensor]) -> Range:
    """The positions a slice selects from an axis of length `n`; `given` are for its own holes."""
    rest = iter(given)
    start, stop, step = (dim_of(next(rest)) if isinstance(b, Given) else b for b in span.bounds)
    assert step is not None
    return selected(start, stop, step, n)


def numpy_index(entries: Entries, given: Sequence[Array]) -> tuple[Any, ...]:
    """The entries as NumPy's index."""
    numbers = iter(int(value) for value in given)

    def bound(value: Bound) -> int | None:
        return next(numbers) if isinstance(value, Given) else value

    return tuple(
        slice(*map(bound, entry.bounds)) if isinstance(entry, Span) else bound(entry)
        for entry in entries
    )
