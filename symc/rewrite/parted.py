"""Elementwise functions of joined parts, taken of each part.

A concatenation is written to memory. ``x - concatenate([[0], x[:-1]])`` would write one, and read
it again: as ``concatenate([x[:1] - [0], x[1:] - x[:-1]])`` the differences are all that is written.
What else the function takes is read at the places of each part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from symc.graph.dims import Dim, add, sub
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.joined import joined_rules
from symc.rewrite.rule import EXACT, Rule, Rules
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.positions import fitted
from symc.tensor.shape import Concatenate
from symc.tensor.specify import segment

MOST = 3  # parts: each becomes a loop with all that is computed
FEW = 8  # elements in each part: these are numbers, and written side by side
LARGE = 24  # functions in all parts: more take longer to compile than they save


def parted_rules(roots: Sequence[Tensor], *, exact: bool = False) -> list[Rule]:
    """The rules for these graphs: they must know how often each of their nodes is used.

    Where results must be `exact`, sums of floats keep their order.
    """
    uses = Counter(arg for node in walk(roots) for arg in node.args)
    uses.update(roots)
    rules = Rules("parted")

    @rules.structural("a function of joined parts", Elementwise, Cast, valid=EXACT)
    def of_each(node: Tensor) -> Tensor | None:
        joins = (arg for arg in node.args if _is_long(arg) and uses.get(arg, 1) == 1)
        joined = next(joins, None)
        if joined is None or joined.ndim < node.ndim or len(joined.args) > MOST:
            return None
        args = [list(_pieces(arg, joined, node)) for arg in node.args]
        parts = [node.op(*pieces) for pieces in zip(*args, strict=True)]
        if sum(map(_is_computed, walk(parts, stop=_is_read))) > LARGE:
            return None
        return joined.op(*parts)

    return [*rules.all, *joined_rules(roots, exact=exact)]


def computes_with_joined(nodes: Iterable[Tensor]) -> bool:
    """Whether some of these nodes may be such functions."""
    return any(_is_computed(node) and any(map(_is_long, node.args)) for node in nodes)


def _is_long(node: Tensor) -> bool:
    """Whether a node is joined of parts of which one may have many elements."""
    if not isinstance(node.op, Concatenate):
        return False
    lengths = [part.type.shape[node.op.axis] for part in node.args]
    return any(not isinstance(length, int) or length > FEW for length in lengths)


def _is_computed(node: Tensor) -> bool:
    return isinstance(node.op, Elementwise | Cast)


def _is_read(node: Tensor) -> bool:
    return not _is_computed(node)


def _pieces(arg: Tensor, joined: Tensor, node: Tensor) -> Iterator[Tensor]:
    """What of an argument of a node goes with each of the joined parts."""
    assert isinstance(joined.op, Concatenate)
    parts, along = joined.args, joined.op.axis
    axis = along - joined.ndim + arg.ndim  # shapes are aligned at their last axes
    if axis < 0 or arg.type.shape[axis] == 1:
        yield from [arg] * len(parts)
        return
    lengths = [part.type.shape[along] for part in parts]
    starts: list[Dim] = [0]
    for length in lengths[:-1]:
        starts.append(add(starts[-1], length))
    rest = _rest(node.type.shape[along], starts[-1], lengths[-1])
    if arg.op == joined.op and [part.type.shape[axis] for part in arg.args] == lengths:
        *first, last = arg.args
        yield from first
        yield fitted(last, (*last.type.shape[:axis], rest, *last.type.shape[axis + 1 :]))
        return
    for start, length in zip(starts, [*lengths[:-1], rest], strict=True):
        yield segment(arg, axis, start, length)


def _rest(whole: Dim, start: Dim, length: Dim) -> Dim:
    """The length of the last part, so that all are as long as a whole is known to be.

    They are by a condition, but it may be written in another way; then what replaces the whole
    would have to be copied to where that is to be.
    """
    rest = sub(whole, start)
    return length if isinstance(rest, int) and rest < 0 else rest
