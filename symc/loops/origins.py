"""The array that a result begins as: writes, loops and branches give it with other elements."""

from __future__ import annotations

from symc.graph.node import Tensor
from symc.loops.branch import IfElse
from symc.loops.scan import Scan
from symc.tensor.gather import Scatter
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.views import DimShuffle


def written_into(node: Tensor) -> Tensor | None:
    """The array into which a node writes, or None: for a loop, where its state begins."""
    match node.op:
        case SliceWrite() | Scatter():
            return node.args[0]
        case Slice(entries=(0, *_)) if isinstance(node.args[0].op, Scan):
            loop = node.args[0]
            initial = _initial(loop)
            if initial is None:
                return None
            added = isinstance(initial.op, DimShuffle) and initial.op.order[:1] == (None,)
            return initial.args[0] if added and initial.ndim == node.ndim + 1 else None
        case _:
            return None


def origin_of(node: Tensor) -> Tensor:
    """The array that a node begins as, whichever sides of branches are taken; itself, if none."""
    found: dict[Tensor, Tensor] = {}
    pending = [node]
    while pending:
        last = pending[-1]
        match last.op:
            case IfElse() as op:
                before = [*op.sides(last.args)]
            case Scan():
                initial = _initial(last)
                before = [] if initial is None or initial.type != last.type else [initial]
            case _:
                into = written_into(last)
                before = [] if into is None else [into]
        missing = [one for one in before if one not in found]
        if missing:
            pending += missing
            continue
        origins = {found[one] for one in before}
        found[last] = origins.pop() if len(origins) == 1 else last
        pending.pop()
    return found[node]


def _initial(loop: Tensor) -> Tensor | None:
    """What the state begins as whose last value a loop gives."""
    if not isinstance(loop.op, Scan) or loop.op.part.kind != "final":
        return None
    return loop.op.split(loop.args)[2][loop.op.part.number]
