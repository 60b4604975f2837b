"""Reductions of joined parts, as the parts' reductions combined.

A concatenation is written to memory. One that only a reduction reads need not be: ``max`` of a
number before a row is the larger of the number and of the row's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce

from symc.codegen.dtypes import BOOL
from symc.graph.node import OPERATORS, Tensor
from symc.graph.walks import walk
from symc.rewrite.rule import EXACT, Rule, Rules
from symc.rewrite.shapes import order_shows
from symc.tensor.elementwise import Cast, cast_to
from symc.tensor.fold import Kind, Reduce, reduce_over
from symc.tensor.shape import Concatenate

MOST = 8  # parts: each becomes a loop
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
        if order_shows(node) or any(uses[x] != 1 for x in (given, _joined(given))):
            return None
        return of_parts(node)

    return rules.all


def of_parts(node: Tensor) -> Tensor | None:
    """A reduction along the axis on which few parts were joined; parts may be empty."""
    op, joined = node.op, _joined(node.args[0])
    if not isinstance(op, Reduce) or not isinstance(joined.op, Concatenate):
        return None
    if joined.op.axis not in op.axes or len(joined.args) > MOST:
        return None
    kind: Kind = op.kind
    if node.dtype is BOOL and kind in ("max", "min"):
        kind = "or" if kind == "max" else "and"
    parts = [cast_to(part, node.dtype) for part in joined.args]
    empty = kind in ("max", "min")
    reduced = [reduce_over(kind, part, op.axes, allow_empty=empty) for part in parts]
    return reduce(OPERATORS[_COMBINED[kind]], reduced)


def _joined(given: Tensor) -> Tensor:
    """What is reduced, before it is cast."""
    return given.args[0] if isinstance(given.op, Cast) else given


def reduces_joined(nodes: Sequence[Tensor]) -> bool:
    """Whether some of these nodes may be such reductions."""
    return any(
        isinstance(node.op, Reduce) and isinstance(_joined(node.args[0]).op, Concatenate)
        for node in nodes
    )
