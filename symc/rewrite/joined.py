"""Joined parts that only a reduction reads, or that are parts of another whole.

A concatenation is written to memory. One that only a reduction reads need not be: ``max`` of a
number before a row is the larger of the number and of the row's own. And a matrix for each row, as
a stack of stacks, is all its elements in a row, written once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce

from symc.codegen.dtypes import BOOL
from symc.graph.dims import Dim
from symc.graph.node import OPERATORS, Tensor
from symc.graph.walks import walk
from symc.rewrite.rule import EXACT, Rule, Rules
from symc.rewrite.shapes import order_shows
from symc.tensor.elementwise import Cast, cast_to
from symc.tensor.fold import Kind, Reduce, reduce_over
from symc.tensor.reshape import reshape
from symc.tensor.shape import Concatenate
from symc.tensor.views import DimShuffle

MOST = 8  # parts: each becomes a loop
ROWS = 32  # parts of one element each, as in a stack: all become one loop
_COMBINED: dict[Kind, str] = {
    "max": "maximum", "min": "minimum", "add": "add", "mul": "mul", "and": "logical_and",
    "or": "logical_or",
}  # fmt: skip


def joined_rules(roots: Sequence[Tensor]) -> list[Rule]:
    """The rule for these graphs: it must know how often each of their nodes is used."""
    uses = Counter(arg for node in walk(roots) for arg in node.args)
    uses.update(roots)
    rules = Rules("joined")

    @rules.structural("a reduction of joined parts", Reduce, valid=EXACT, inner=[Concatenate, Cast])
    def fold(node: Tensor) -> Tensor | None:
        given = node.args[0]
        if any(uses[x] != 1 for x in (given, _joined(given))):
            return None
        return None if order_shows(node) and not _is_of_rows(node) else of_parts(node)

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
    """A reduction along the axis on which few parts were joined; parts may be empty."""
    op, joined = node.op, _joined(node.args[0])
    if not isinstance(op, Reduce) or not isinstance(joined.op, Concatenate):
        return None
    if joined.op.axis not in op.axes or len(joined.args) > (ROWS if _is_of_rows(node) else MOST):
        return None
    kind: Kind = op.kind
    if node.dtype is BOOL and kind in ("max", "min"):
        kind = "or" if kind == "max" else "and"
    parts = [cast_to(part, node.dtype) for part in joined.args]
    empty = kind in ("max", "min")
    reduced = [reduce_over(kind, part, op.axes, allow_empty=empty) for part in parts]
    return reduce(OPERATORS[_COMBINED[kind]], reduced)


def _is_of_rows(node: Tensor) -> bool:
    """Whether one row is added to another, and in the order in which loops would.

    Sums of floats of 16 bits are of wider ones until their end.
    """
    op, joined = node.op, _joined(node.args[0])
    if not isinstance(op, Reduce) or not isinstance(joined.op, Concatenate):
        return False
    if node.dtype.is_inexact and node.dtype.bits < 32:
        return False
    axis = joined.op.axis
    return op.axes == (axis,) and all(part.type.shape[axis] == 1 for part in joined.args)


def _joined(given: Tensor) -> Tensor:
    """What is reduced, before it is cast."""
    return given.args[0] if isinstance(given.op, Cast) else given


def has_joined(nodes: Iterable[Tensor]) -> bool:
    """Whether some of these nodes may be what the rules are for."""
    return any(
        (isinstance(node.op, Reduce) and isinstance(_joined(node.args[0]).op, Concatenate))
        or (
            isinstance(node.op, Concatenate)
            and any(isinstance(arg.op, Concatenate | DimShuffle) for arg in node.args)
        )
        for node in nodes
    )
