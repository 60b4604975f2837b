"""Branches that write a part of an array, as loops of one step or none; small ones as selections.

    ifelse(c, x[i].set(v), x)  ->  the last x of: x = x[i].set(v), where(c, 1, 0) times

A branch gives all its results memory of their own, so the side that leaves an array as it is would
copy it. A loop goes on in the memory of its state, and one without a step leaves it as it is. Where
both sides write, there are two loops, one after the other, of which one has a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symc.codegen.dtypes import INT64
from symc.codegen.record import record, replace
from symc.graph.inputs import Constant, as_tensor
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import rebuild, substitute, walk
from symc.loops.body import Body, Checks, make_slots
from symc.loops.branch import Choice
from symc.loops.build import row_of, step_number
from symc.loops.scan import BodyLayout, Part, Scan, State
from symc.loops.selection import selected
from symc.tensor.gather import Scatter
from symc.tensor.logic import where
from symc.tensor.math import minimum
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.views import DimShuffle, expand_dims

Bodies = dict[tuple[Body, frozenset[Tensor]], Body]
Simplified = Callable[[Tensor], Tensor]


def write_in_place(roots: Sequence[Tensor], simplified: Simplified) -> list[Tensor]:
    """The roots with such branches as loops or selections, also in bodies of loops and branches.

    `simplified` gives the form that a number will have. A branch whose condition then follows from
    constants stays one: rewriting takes one side of it, and the steps of a loop would be a length
    that no step measures.
    """
    return _written(roots, {}, _Known(simplified, frozenset()))


@record
class _Known:
    """How numbers are simplified, and the slots of a body that stand for constants."""

    simplified: Simplified
    constants: frozenset[Tensor]

    def is_constant(self, node: Tensor) -> bool:
        """Whether a node follows from constants alone."""
        leaves = [leaf for leaf in walk([node]) if not leaf.args]
        return all(leaf in self.constants or isinstance(leaf.op, Constant) for leaf in leaves)

    def inside(self, slots: Sequence[Tensor], args: Sequence[Tensor]) -> _Known:
        """The same for a body; what its slots stand for has as many axes, if it stays the same."""
        pairs = zip(slots, args, strict=True)
        fixed = {s for s, arg in pairs if s.ndim == arg.ndim and self.is_constant(arg)}
        return _Known(self.simplified, frozenset(fixed))


def _written(roots: Sequence[Tensor], bodies: Bodies, known: _Known) -> list[Tensor]:
    order = walk(roots)
    if not any(isinstance(node.op, Scan | Choice) for node in order):
        return list(roots)
    done: dict[Tensor, Tensor] = {}
    branches: dict[Any, dict[int, Tensor]] = {}
    for node in order:
        args = [done[arg] for arg in node.args]
        with located_at(node.where):
            new = _with_bodies(node, args, bodies, known)
            if isinstance(new.op, Choice):
                key = (new.op.common(), new.args)
                if key not in branches:
                    chosen = selected(new.op, new.args)
                    branches[key] = chosen or _as_loops(new.op, new.args, known)
                new = branches[key].get(new.op.part, new)
        new.name = new.name or node.name
        done[node] = new
    return [done[root] for root in roots]


def _with_bodies(node: Tensor, args: Sequence[Tensor], bodies: Bodies, known: _Known) -> Tensor:
    """A node of new arguments, with such branches in its bodies as loops."""

    def better(body: Body, slots: Sequence[Tensor], given: Sequence[Tensor]) -> Body:
        inside = known.inside(slots, given)
        key = body, inside.constants
        if key not in bodies:
            bodies[key] = Body(body.slots, tuple(_written(body.results, bodies, inside)))
        return bodies[key]

    match node.op:
        case Scan(body):
            given = [arg for arg, _ in node.op.given(args)[1:]]
            return replace(node.op, body=better(body, body.slots[1:], given))(*args)
        case Choice(then, otherwise):
            sides = [better(body, body.slots, args[1:]) for body in (then, otherwise)]
            return replace(node.op, then=sides[0], otherwise=sides[1])(*args)
        case _:
            return rebuild(node, args)


# --- what is written ------------------------------------------------------------------------------


def _as_loops(op: Choice, args: Sequence[Tensor], known: _Known) -> dict[int, Tensor]:
    """The results of a branch that are arrays of which a side writes parts, from loops."""
    condition, *given = args
    count = len(op.then.results) - len(op.checks[0])
    bases = {part: _base(op, part) for part in range(count)}
    wanted = {part: slot for part, slot in bases.items() if slot is not None}
    if not wanted or len(set(wanted.values())) < len(wanted):
        return {}
    if known.is_constant(known.simplified(condition)):
        return {}
    found = {part: given[slot] for part, slot in wanted.items()}
    for body, checks, taken in zip(op.bodies(), op.checks, ((1, 0), (0, 1)), strict=True):
        written = {p: s for p, s in wanted.items() if body.results[p] is not body.slots[s]}
        if written:
            steps = minimum(where(condition, *(as_tensor(n, INT64) for n in taken)), 1)
            now = {slot: found[part] for part, slot in wanted.items()}
            arrays = [now.get(slot, arg) for slot, arg in enumerate(given)]
            found |= _loop(body, checks, steps, written, arrays)
    return found


def _base(op: Choice, part: int) -> int | None:
    """The number of the slot that both sides give, at least one of them with parts written."""
    found = [_written_in(body, body.results[part]) for body in op.bodies()]
    slots = {number for number, _ in found}
    number = slots.pop()
    if slots or number is None or not any(writes for _, writes in found):
        return None
    return number


def _written_in(body: Body, node: Tensor) -> tuple[int | None, bool]:
    """The slot that a result begins as, and whether something is written into it."""
    writes = False
    while node not in body.slots:
        before = _before(node)
        if before is None:
            return None, False
        node, writes = before, True
    return body.slots.index(node), writes


def _before(node: Tensor) -> Tensor | None:
    """The array into which a node writes, or None: for a loop, where its state begins."""
    match node.op:
        case SliceWrite() | Scatter():
            return node.args[0]
        case Slice(entries=(0, *_)) if isinstance(node.args[0].op, Scan):
            loop = node.args[0]
            assert isinstance(loop.op, Scan)
            if loop.op.part.kind != "final":
                return None
            initial = loop.op.split(loop.args)[2][loop.op.part.number]
            added = isinstance(initial.op, DimShuffle) and initial.op.order[:1] == (None,)
            return initial.args[0] if added and initial.ndim == node.ndim + 1 else None
        case _:
            return None


# --- loops ----------------------------------------------------------------------------------------


def _loop(
    body: Body, checks: Checks, steps: Tensor, written: dict[int, int], given: Sequence[Tensor]
) -> dict[int, Tensor]:
    """The results of a side that are written, after as many steps as it is taken; with its checks.

    All arguments stay arguments of the loop, which computes nothing of the side unless it is taken.
    """
    slots = {body.slots[number]: arg for number, arg in enumerate(given)}
    initial: list[Tensor] = []
    rows: list[Tensor] = []
    for number in written.values():
        initial.append(expand_dims(given[number], 0))
        rows.append(row_of(initial[-1], body.slots[number].name))
        slots[body.slots[number]] = rows[-1]
    others = list(dict.fromkeys(arg for arg in slots.values() if arg not in rows))
    params = [step_number(), *rows, *others]
    made = make_slots(params)
    last = len(body.results) - len(checks)
    results = [*(body.results[part] for part in written), *body.results[last:]]
    inside = substitute(results, {slot: made[arg] for slot, arg in slots.items()})
    layout = BodyLayout((), tuple(State((-1,)) for _ in rows), 0)
    own = Body(tuple(made[param] for param in params), tuple(inside))
    return {
        part: Scan(own, layout, Part("final", number), checks)(steps, *initial, *others)[0]
        for number, part in enumerate(written)
    }
