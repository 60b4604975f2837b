"""Branches of a step that take longer than both their sides: all is computed, and one selected.

    ifelse(x[j] > x[j + 1], x[j].set(a)[j + 1].set(b), x)
      ->  y = x[j].set(where(c, a, x[j]));  y[j + 1].set(where(c, b, y[j + 1]))

This is `symc/loops/selection.py` for sides that read and write single elements. These may be read
and written in any step, taken or not, once it is known of the numbers of steps that the indexes are
in range. A processor that expected the other side loses the time of some twenty operations, and a
step without branches is one kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from symc.codegen.dtypes import BOOL, INT64
from symc.graph.inputs import Constant, constant_value, scalar_constant
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import rebuild, substitute, walk
from symc.loops.body import Slot
from symc.loops.branch import Choice
from symc.loops.scan import Scan
from symc.loops.selection import FEW
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.lengths import Length
from symc.tensor.logic import where
from symc.tensor.math import add
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.spans import GIVEN, WHOLE, Entries
from symc.tensor.views import DimShuffle

Holds = Callable[[Sequence[Tensor]], bool]
"""Whether conditions hold in every step, whether or not the branch is taken."""


def with_selections(results: Sequence[Tensor], holds: Holds) -> list[Tensor]:
    """The results of a step with such branches as selections."""
    order = walk(results)
    if not any(isinstance(node.op, Scan | Choice) for node in order):
        return list(results)
    done: dict[Tensor, Tensor] = {}
    for node in order:
        with located_at(node.where):
            new = rebuild(node, [done[arg] for arg in node.args])
            selected = _selected(new, holds)
        if selected is not None:
            new = selected
        new.name = new.name or node.name
        done[node] = new
    return [done[root] for root in results]


def _selected(node: Tensor, holds: Holds) -> Tensor | None:
    """A node as a selection, if it is a result of such a branch."""
    match node.op:
        case Choice() as choice:
            return _chosen(choice, node.args, holds)
        case Slice(entries=(0, *rest)) if set(rest) <= {WHOLE}:
            return _written(node.args[0], holds)
        case _:
            return None


def _chosen(op: Choice, args: Sequence[Tensor], holds: Holds) -> Tensor | None:
    """A number that a branch gives, as a selection."""
    condition, *given = args
    counts = [
        len(body.results) - len(checks) for body, checks in zip(op.bodies(), op.checks, strict=True)
    ]
    results = [
        result for body, n in zip(op.bodies(), counts, strict=True) for result in body.results[:n]
    ]
    if any(result.ndim for result in results) or _cost(results) > FEW:
        return None
    sides = [body.at(given) for body in op.bodies()]
    if not all(holds(side[n:]) for side, n in zip(sides, counts, strict=True)):
        return None
    return where(condition, *(side[op.part] for side in sides))


def _written(loop: Tensor, holds: Holds) -> Tensor | None:
    """An array after a loop of one step or none that writes some of its elements."""
    op = loop.op
    if not isinstance(op, Scan) or op.part.kind != "final":
        return None
    if op.layout.sequences or op.layout.collected or op.layout.stops:
        return None
    count = len(op.layout.states)
    if _cost(op.body.results[:count]) > FEW:
        return None
    taken = _taken(loop.args[0])
    _, _, initial, others = op.split(loop.args)
    given = [scalar_constant(0, INT64), *(row.args[0] for row in initial if _is_row(row)), *others]
    if taken is None or len(given) != len(op.body.slots):
        return None
    inside = substitute(op.body.results, dict(zip(op.body.slots, given, strict=True)))
    result, own = inside[op.part.number], given[1 + op.part.number]
    if not _begins_as(result, own) or not holds(inside[count:]):
        return None
    return _selecting(result, given, *taken)


def _begins_as(result: Tensor, own: Tensor) -> bool:
    """Whether a result is an array with other elements: perhaps it is not that of its own state."""
    while result is not own and isinstance(result.op, SliceWrite):
        result = result.args[0]
    return result is own


def _selecting(result: Tensor, given: Iterable[Tensor], condition: Tensor, side: bool) -> Tensor:
    """The result, where elements are only written if the condition is `side`."""
    ends = set(given)
    done: dict[Tensor, Tensor] = {}
    for node in walk([result], stop=ends.__contains__):
        if node in ends:
            done[node] = node
            continue
        new = rebuild(node, [done[arg] for arg in node.args])
        if isinstance(new.op, SliceWrite):
            x, value, *places = new.args
            old = Slice(new.op.entries)(x, *places)
            value = value if new.op.mode == "set" else add(old, value)
            pair = (value, old) if side else (old, value)
            new = SliceWrite(new.op.entries, "set")(x, where(condition, *pair), *places)
        done[node] = new
    return done[result]


def _taken(steps: Tensor) -> tuple[Tensor, bool] | None:
    """The condition on which a loop does its only step, and what it has to be."""
    match steps:
        case Tensor(op=Elementwise(name="minimum"), args=(count, most)) if _number(most) == 1:
            pass
        case _:
            return None
    match count:
        case Tensor(op=Elementwise(name="where"), args=(condition, one, other)):
            numbers = _number(one), _number(other)
            if condition.dtype is BOOL and numbers in ((1, 0), (0, 1)):
                return condition, numbers == (1, 0)
        case _:
            pass
    return None


def _number(node: Tensor) -> object:
    value = constant_value(node)
    return None if value is None or node.ndim else int(value)


def _is_row(initial: Tensor) -> bool:
    """Whether a state begins as one array, under an axis of its own."""
    order = (None, *range(initial.ndim - 1))
    return isinstance(initial.op, DimShuffle) and initial.op.order == order


def _cost(results: Sequence[Tensor]) -> int:
    """Operations of results of a body; more than `FEW` if they may take longer."""
    total = 0
    for node in walk(results):
        match node.op:
            case Elementwise(cost=cost, checks=None) if node.ndim == 0:
                total += cost
            case Cast() if not (node.ndim or node.dtype.is_complex):
                total += 1
            case Slot():
                pass
            case Constant() | Length() if node.ndim == 0:
                pass
            case Slice(entries) if node.ndim == 0 and _is_element(entries):
                total += 2
            case SliceWrite(entries, mode) if _is_element(entries):
                total += 2 if mode == "set" or node.dtype is not BOOL else FEW
            case _:
                return FEW + 1
    return total


def _is_element(entries: Entries) -> bool:
    return all(entry is GIVEN or isinstance(entry, int) for entry in entries)
