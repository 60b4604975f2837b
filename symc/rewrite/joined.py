"""Joined parts that only a reduction reads, or that are parts of another whole.

A concatenation is written to memory. One that only a reduction reads need not be: ``max`` of a
number before a row is the larger of the number and of the row's own; the place of the largest of a
few rows is chosen row by row. And a matrix for each row, as a stack of stacks, is all its elements
in a row, written once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce

from symc.codegen.dtypes import BOOL, INT8, INT16, INT32, INT64
from symc.graph.dims import Dim
from symc.graph.inputs import scalar_constant
from symc.graph.node import OPERATORS, Tensor
from symc.graph.walks import walk
from symc.rewrite.rule import EXACT, ROUNDS, Rule, Rules
from symc.rewrite.shapes import order_shows
from symc.tensor.build import zeros_like
from symc.tensor.elementwise import Cast, cast_to
from symc.tensor.fold import Kind, Reduce, reduce_over
from symc.tensor.reduce import ArgExtreme
from symc.tensor.reshape import reshape
from symc.tensor.shape import Concatenate
from symc.tensor.views import DimShuffle, dimshuffle

MOST = 8  # parts: each becomes a loop
ROWS = 32  # parts of one element each, as in a stack: all become one loop
_COMBINED: dict[Kind, str] = {
    "max": "maximum", "min": "minimum", "add": "add", "mul": "mul", "and": "logical_and",
    "or": "logical_or",
}  # fmt: skip


def joined_rules(roots: Sequence[Tensor], *, exact: bool = False) -> list[Rule]:
    """The rules for these graphs: they must know how often each of their nodes is used.

    Where results must be `exact`, sums of floats keep their order.
    """
    uses = Counter(arg for node in walk(roots) for arg in node.args)
    uses.update(roots)
    rules = Rules("joined")

    def is_only_reduced(node: Tensor) -> bool:
        given = node.args[0]
        return uses[given] == 1 and uses[_joined(given)] == 1

    @rules.structural("a reduction of joined parts", Reduce, valid=EXACT, inner=[Concatenate, Cast])
    def fold(node: Tensor) -> Tensor | None:
        shows = order_shows(node) and not _is_of_rows(node)
        return None if shows or not is_only_reduced(node) else of_parts(node)

    @rules.structural("a sum of joined parts", Reduce, valid=ROUNDS, inner=[Concatenate, Cast])
    def add_up(node: Tensor) -> Tensor | None:
        keeps = exact or _is_added_wider(node) or not order_shows(node)
        return None if keeps or not is_only_reduced(node) else of_parts(node)

    @rules.structural("the place of a row", ArgExtreme, valid=EXACT, inner=[Concatenate])
    def place(node: Tensor) -> Tensor | None:
        return place_of_row(node) if uses[node.args[0]] == 1 else None

    @rules.structural("one join, not two", Concatenate, valid=EXACT, inner=[Concatenate])
    def merge(node: Tensor) -> Tensor | None:
        assert isinstance(node.op, Concatenate)
        parts: list[Tensor] = []
        for arg in node.args:
            inside = arg.op == node.op and uses.get(arg, 1) == 1
            parts += arg.args if inside else [arg]
        return None if len(parts) == len(node.args) else node.op(*parts)

    @rules.structural("a stack of stacks", Concatenate, valid=EXACT, inner=[DimShuffle])
    def flatten(node: Tensor) -> Tensor | None:
        rows = [row for arg in node.args for row in arg.args[:1]]
        return of_stacks(node) if all(uses.get(row, 1) == 1 for row in rows) else None

    return rules.all


def of_stacks(node: Tensor) -> Tensor | None:
    """Wholes that are joined along a new axis, beside the one of their own parts: all at once."""
    assert isinstance(node.op, Concatenate)
    axis = node.op.axis
    order = (*range(axis), None, *range(axis, node.ndim - 1))
    rows = [arg.args[0] for arg in node.args if arg.op == DimShuffle(order)]
    if len(rows) != len(node.args) or len({row.op for row in rows}) != 1:
        return None
    inner = rows[0].op
    if not isinstance(inner, Concatenate):
        return None
    lengths = [[part.type.shape[inner.axis] for part in row.args] for row in rows]
    if inner.axis == axis and len({_total(each) for each in lengths} | {None}) == 2:
        parts = [part for row in rows for part in row.args]
    elif inner.axis == axis - 1 and all(each == [1] * len(lengths[0]) for each in lengths):
        parts = [
            part for column in zip(*[row.args for row in rows], strict=True) for part in column
        ]
    else:
        return None
    return reshape(inner(*parts), node.type.shape)


def _total(lengths: Sequence[Dim]) -> int | None:
    """The sum of lengths that are known."""
    known = [length for length in lengths if isinstance(length, int)]
    return sum(known) if len(known) == len(lengths) else None


def of_parts(node: Tensor) -> Tensor | None:
    """A reduction of few joined parts, of each; along another axis these are joined then.

    Parts may be empty.
    """
    op, joined = node.op, _joined(node.args[0])
    if not isinstance(op, Reduce) or not isinstance(joined.op, Concatenate):
        return None
    if len(joined.args) > (ROWS if _is_of_rows(node) else MOST):
        return None
    kind: Kind = op.kind
    if node.dtype is BOOL and kind in ("max", "min"):
        kind = "or" if kind == "max" else "and"
    parts = [cast_to(part, node.dtype) for part in joined.args]
    empty = kind in ("max", "min")
    reduced = [reduce_over(kind, part, op.axes, allow_empty=empty) for part in parts]
    axis = joined.op.axis
    if axis not in op.axes:
        return Concatenate(axis - sum(other < axis for other in op.axes))(*reduced)
    return reduce(OPERATORS[_COMBINED[kind]], reduced)


def place_of_row(node: Tensor) -> Tensor | None:
    """The number of the row that has the extreme, of a stack of few: the first, or the first NaN.

    It is as wide as the elements, so that vectors have as many of both.
    """
    op, rows = node.op, _rows(node)
    if not isinstance(op, ArgExtreme) or not 0 < len(rows) <= ROWS:
        return None
    compare, isnan = OPERATORS["gt" if op.kind == "max" else "lt"], OPERATORS["isnan"]
    best, *others = rows
    dtype = {8: INT8, 16: INT16, 32: INT32}.get(best.dtype.bits, INT64)
    place: Tensor = zeros_like(best, dtype)
    for number, row in enumerate(others, 1):
        better: Tensor = compare(row, best)
        if row.dtype.is_float:
            is_first = OPERATORS["logical_and"](isnan(row), OPERATORS["logical_not"](isnan(best)))
            better = OPERATORS["logical_or"](better, is_first)
        place = OPERATORS["where"](better, scalar_constant(number, dtype), place)
        best = OPERATORS["where"](better, row, best)
    return cast_to(place, INT64)


def _is_of_rows(node: Tensor) -> bool:
    """Whether one row is added to another, and in the order in which loops would."""
    return bool(_rows(node)) and not _is_added_wider(node)


def _is_added_wider(node: Tensor) -> bool:
    """Sums of floats of 16 bits are of wider ones until their end."""
    return node.dtype.is_inexact and node.dtype.bits < 32


def _rows(node: Tensor) -> list[Tensor]:
    """The rows of a stack of which a reduction takes one element each; none of others."""
    op, joined = node.op, _joined(node.args[0])
    if not isinstance(op, Reduce | ArgExtreme) or not isinstance(joined.op, Concatenate):
        return []
    axis = joined.op.axis
    if op.axes != (axis,) or any(part.type.shape[axis] != 1 for part in joined.args):
        return []
    kept = [other for other in range(joined.ndim) if other != axis]
    return [dimshuffle(part, kept) for part in joined.args]


def _joined(given: Tensor) -> Tensor:
    """What is reduced, before it is cast."""
    return given.args[0] if isinstance(given.op, Cast) else given


def has_joined(nodes: Iterable[Tensor]) -> bool:
    """Whether some of these nodes may be what the rules are for."""
    return any(
        (
            isinstance(node.op, Reduce | ArgExtreme)
            and isinstance(_joined(node.args[0]).op, Concatenate)
        )
        or (
            isinstance(node.op, Concatenate)
            and any(isinstance(arg.op, Concatenate | DimShuffle) for arg in node.args)
        )
        for node in nodes
    )
