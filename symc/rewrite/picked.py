"""Elements of rows of which nothing else is needed: those of the parts that the rows are joined of.

``stack([x, y], -1)[..., 1]`` is y, which need not be written to memory beside x. An element of such
a row when it is sorted, as the median of a pixel's neighbours, is chosen elementwise from all of
them: see `tensor/sorting/few.py`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.rule import EXACT, Rule, Rules
from symc.tensor.elementwise import Cast, cast_to
from symc.tensor.shape import Concatenate
from symc.tensor.slices import Slice


def picked_rules(roots: Sequence[Tensor]) -> list[Rule]:
    """The rules for these graphs: they must know how often each of their nodes is used."""
    order = walk(roots)
    uses = Counter(arg for node in order for arg in node.args)
    uses.update(roots)
    picks = Counter(node.args[0] for node in order if _is_picked(node))
    rules = Rules("picked")

    def is_only_picked(row: Tensor) -> bool:
        return 0 < uses[row] == picks[row]

    @rules.structural("an element of joined parts", Slice, valid=EXACT, inner=[Concatenate])
    def pick(node: Tensor) -> Tensor | None:
        return element_of_part(node) if is_only_picked(node.args[0]) else None

    @rules.structural("an element of a few sorted ones", Slice, valid=EXACT)
    def sort_few(node: Tensor) -> Tensor | None:
        is_few = is_only_picked(node.args[0]) and _is_of_few(node)
        return element_of_few(node) if is_few else None

    return rules.all


def has_picked(nodes: Iterable[Tensor]) -> bool:
    """Whether some of these nodes may be what the rules are for."""
    return any(map(_is_picked, nodes))


def _is_picked(node: Tensor) -> bool:
    """Whether a node is an element of joined parts, or of a sorted row of them."""
    return isinstance(node.op, Slice) and (_part(node) is not None or _is_of_few(node))


def element_of_part(node: Tensor) -> Tensor | None:
    """An element of joined parts, along the axis of these, of the part that surely has it."""
    found, joined = _part(node), node.args[0].op
    if found is None or not isinstance(node.op, Slice) or not isinstance(joined, Concatenate):
        return None
    part, number = found
    entries = list(node.op.entries)
    entries[joined.axis] = number
    return replace(node.op, entries=tuple(entries))(part, *node.args[1:])


def _part(node: Tensor) -> tuple[Tensor, int] | None:
    """The part that has such an element, and which it is there; None if that is not known."""
    joined = node.args[0]
    if not isinstance(node.op, Slice) or not isinstance(joined.op, Concatenate):
        return None
    axis = joined.op.axis
    number = node.op.entries[axis]
    if not isinstance(number, int):
        return None
    for part in joined.args if number >= 0 else reversed(joined.args):
        length = part.type.shape[axis]
        if not isinstance(length, int):
            return None
        if -length <= number < length:
            return part, number
        number += -length if number >= 0 else length
    return None


def element_of_few(node: Tensor) -> Tensor | None:
    """An element of a sorted row of a few joined parts: of all parts elementwise."""
    from symc.tensor.sorting.order import Ordered

    ordered = node.args[0]
    assert isinstance(ordered.op, Ordered)
    (row,) = ordered.args
    parts = [cast_to(part, row.dtype) for part in _uncast(row).args]
    return element_of_part(node.op(ordered.op.few(_uncast(row).op(*parts)), *node.args[1:]))


def _is_of_few(node: Tensor) -> bool:
    """Whether a slice is an element of a sorted row of a few joined parts."""
    if "symc.tensor.sorting.order" not in sys.modules:  # its ops are imported late
        return False
    from symc.tensor.sorting.few import MOST
    from symc.tensor.sorting.order import Ordered

    op, ordered = node.op, node.args[0].op
    if not isinstance(op, Slice) or not isinstance(ordered, Ordered) or ordered.room:
        return False
    (row,) = node.args[0].args
    count, axis = row.type.shape[-1], row.ndim - 1
    is_few = isinstance(count, int) and 1 <= count <= MOST
    return is_few and isinstance(op.entries[axis], int) and _uncast(row).op == Concatenate(axis)


def _uncast(row: Tensor) -> Tensor:
    return row.args[0] if isinstance(row.op, Cast) else row
