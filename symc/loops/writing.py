"""Branches that write a part of an array, as loops of one step or none; small ones as selections.

    ifelse(c, x[i].set(v), x)  ->  the last x of: x = x[i].set(v), where(c, 1, 0) times

A branch gives all its results memory of their own, so the side that leaves an array as it is would
copy it. A loop goes on in the memory of its state, and one without a step leaves it as it is. Where
both sides write, there are two loops, one after the other, of which one has a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.codegen.dtypes import INT64
from symc.codegen.record import replace
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import rebuild, substitute, walk
from symc.loops.body import Body, Checks, make_slots
from symc.loops.branch import Choice
from symc.loops.build import row_of, step_number
from symc.loops.origins import written_into
from symc.loops.scan import BodyLayout, Part, Scan, State
from symc.loops.selection import selected
from symc.tensor.logic import where
from symc.tensor.math import minimum
from symc.tensor.views import expand_dims

Bodies = dict[Body, Body]


def write_in_place(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots with such branches as loops or selections, also in bodies of loops and branches."""
    return _written(roots, {})


def _written(roots: Sequence[Tensor], known: Bodies) -> list[Tensor]:
    order = walk(roots)
    if not any(isinstance(node.op, Scan | Choice) for node in order):
        return list(roots)
    done: dict[Tensor, Tensor] = {}
    branches: dict[Any, dict[int, Tensor]] = {}
    for node in order:
        args = [done[arg] for arg in node.args]
        with located_at(node.where):
            new = _with_bodies(node, args, known)
            if isinstance(new.op, Choice):
                key = (new.op.common(), new.args)
                if key not in branches:
                    branches[key] = selected(new.op, new.args) or _as_loops(new.op, new.args)
                new = branches[key].get(new.op.part, new)
        new.name = new.name or node.name
        done[node] = new
    return [done[root] for root in roots]


def _with_bodies(node: Tensor, args: Sequence[Tensor], known: Bodies) -> Tensor:
    """A node of new arguments, with such branches in its bodies as loops."""

    def better(body: Body) -> Body:
        if body not in known:
            known[body] = Body(body.slots, tuple(_written(body.results, known)))
        return known[body]

    match node.op:
        case Scan(body):
            op = replace(node.op, body=better(body))
            return op(*args)
        case Choice(then, otherwise):
            return replace(node.op, then=better(then), otherwise=better(otherwise))(*args)
        case _:
            return rebuild(node, args)


# --- what is written ------------------------------------------------------------------------------


def _as_loops(op: Choice, args: Sequence[Tensor]) -> dict[int, Tensor]:
    """The results of a branch that are arrays of which a side writes parts, from loops."""
    condition, *given = args
    count = len(op.then.results) - len(op.checks[0])
    bases = {part: _base(op, part) for part in range(count)}
    wanted = {part: slot for part, slot in bases.items() if slot is not None}
    if len(set(wanted.values())) < len(wanted):
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
        before = written_into(node)
        if before is None:
            return None, False
        node, writes = before, True
    return body.slots.index(node), writes


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
