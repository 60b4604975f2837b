"""Branches that write a part of an array, as loops of one step or none; small ones as selections.

    ifelse(c, x[i].set(v), x)  ->  the last x of: x = x[i].set(v), where(c, 1, 0) times

A branch gives all its results memory of their own, so the side that leaves an array as it is would
copy it. A loop goes on in the memory of its state, and one without a step leaves it as it is. Where
both sides write, there are two loops, one after the other, of which one has a step. Numbers that a
side computes of what it has written are states of its loop, too: else they would need a copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from symc.tensor.slices import zeros_for
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
    """The results of a branch that are arrays of which a side writes parts, from loops.

    And those that are numbers, and computed of such arrays.
    """
    condition, *given = args
    count = len(op.then.results) - len(op.checks[0])
    bases = {part: _base(op, part) for part in range(count)}
    arrays = {part: slot for part, slot in bases.items() if slot is not None}
    if len(set(arrays.values())) < len(arrays):
        return {}
    wanted: dict[int, int | None] = {**_numbers(op, count), **arrays} if arrays else {}
    found = {
        part: zeros_for(op.then.results[part], op.then.results[part].dtype)
        if slot is None
        else given[slot]
        for part, slot in wanted.items()
    }
    for body, checks, taken in zip(op.bodies(), op.checks, ((1, 0), (0, 1)), strict=True):
        changed = {
            part: slot
            for part, slot in wanted.items()
            if slot is None or body.results[part] is not body.slots[slot]
        }
        if changed:
            steps = minimum(where(condition, *(as_tensor(n, INT64) for n in taken)), 1)
            now = {slot: found[part] for part, slot in arrays.items()}
            values = [now.get(slot, arg) for slot, arg in enumerate(given)]
            initial = {part: found[part] for part in changed}
            found |= _loop(body, checks, steps, changed, initial, values)
    return found


def _numbers(op: Choice, count: int) -> dict[int, int | None]:
    """The results that are numbers and computed of arrays with parts written, by a side.

    With the slot that the other side gives, if it gives one. All numbers, if what the sides check
    is computed of such arrays: a branch for the rest of them would write the arrays, too.
    """
    found: dict[int, int | None] = {}
    asked = [node for body in op.bodies() for node in body.results[count:]]
    for part in range(count):
        values = [body.results[part] for body in op.bodies()]
        if values[0].ndim or not any(_is_written(node) for node in walk([*values, *asked])):
            continue
        pairs = zip(op.bodies(), values, strict=True)
        slots = [body.slots.index(value) for body, value in pairs if value in body.slots]
        found[part] = slots[0] if slots else None
    return found


def _is_written(node: Tensor) -> bool:
    return written_into(node) is not None


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
    body: Body, checks: Checks, steps: Tensor, changed: Mapping[int, int | None],
    begun: Mapping[int, Tensor], given: Sequence[Tensor],
) -> dict[int, Tensor]:  # fmt: skip
    """The results of a side that change, after as many steps as it is taken; with its checks.

    All arguments stay arguments of the loop, which computes nothing of the side unless it is taken.
    """
    slots = {body.slots[number]: arg for number, arg in enumerate(given)}
    initial: list[Tensor] = []
    rows: list[Tensor] = []
    for part, number in changed.items():
        slot = None if number is None else body.slots[number]
        initial.append(expand_dims(begun[part], 0))
        rows.append(row_of(initial[-1], None if slot is None else slot.name))
        if slot is not None and slots[slot] not in rows:
            slots[slot] = rows[-1]
    others = list(dict.fromkeys(arg for arg in slots.values() if arg not in rows))
    params = [step_number(), *rows, *others]
    made = make_slots(params)
    last = len(body.results) - len(checks)
    results = [*(body.results[part] for part in changed), *body.results[last:]]
    inside = substitute(results, {slot: made[arg] for slot, arg in slots.items()})
    layout = BodyLayout((), tuple(State((-1,)) for _ in rows), 0)
    own = Body(tuple(made[param] for param in params), tuple(inside))
    return {
        part: Scan(own, layout, Part("final", number), checks)(steps, *initial, *others)[0]
        for number, part in enumerate(changed)
    }
