"""The extreme of rows whose place is found, too, is the element there: one pass in place of two.

For NaN the place is that of the first one, so that the extreme is NaN as well. Of zeros of both
signs the first is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.graph.node import OPERATORS, Tensor
from symc.graph.walks import walk
from symc.rewrite.rule import ROUNDS, Rule, Rules
from symc.tensor.fold import Reduce
from symc.tensor.positions import every_position
from symc.tensor.reduce import FoundExtreme
from symc.tensor.views import shape_padright


def found_rules(roots: Sequence[Tensor]) -> list[Rule]:
    """The rule for these graphs: it must know which places are found in them."""
    others = _used_elsewhere(roots)
    places: dict[object, Tensor] = {
        (node.op.kind, node.op.axes, node.args[0]): node
        for node in walk(roots)
        if isinstance(node.op, FoundExtreme) and node.args[0] not in others
    }
    rules = Rules("found")

    @rules.structural("an extreme at a place that is found", Reduce, valid=ROUNDS)
    def element(node: Tensor) -> Tensor | None:
        # Those that may be empty are parts of what says where the place is.
        if not isinstance(node.op, Reduce) or node.op.allow_empty or len(node.op.axes) != 1:
            return None
        (x,), (along,) = node.args, node.op.axes
        place = places.get((node.op.kind, node.op.axes, x))
        if place is None:
            return None
        indexes = [
            place if axis == along else _position(x, axis, place.ndim - axis + (axis > along))
            for axis in range(x.ndim)
        ]
        taken: Tensor = OPERATORS["getitem"](x, tuple(indexes))
        return taken

    return rules.all


def _used_elsewhere(roots: Sequence[Tensor]) -> set[Tensor]:
    """What is computed and not only searched: it may be compared with the extreme.

    That happens in the derivative. The element at the place is computed by another loop, which may
    round it otherwise.
    """
    used, seen, pending = set(roots), set(roots), list(roots)
    while pending:
        node = pending.pop()
        args = node.args[:1] if isinstance(node.op, FoundExtreme) else node.args
        if not isinstance(node.op, FoundExtreme | Reduce):
            used.update(args)
        new = [arg for arg in dict.fromkeys(args) if arg not in seen]
        seen.update(new)
        pending += new
    return {node for node in used if node.args}


def _position(x: Tensor, axis: int, rank: int) -> Tensor:
    """The positions along an axis, as the first of so many axes."""
    return shape_padright(every_position(x.type.shape[axis]), rank - 1)
