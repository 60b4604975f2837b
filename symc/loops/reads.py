"""What loops and branches read of their arguments: elements, or nothing but lengths."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from operator import is_
from typing import Any

from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import rebuild, walk
from symc.loops.body import Body
from symc.loops.branch import Choice
from symc.loops.origins import origin_of
from symc.loops.scan import Scan
from symc.tensor.lengths import Length


def elements_read(node: Tensor) -> Sequence[Tensor]:
    """The arguments of which a loop or branch reads elements, but for its number or condition."""
    match node.op:
        case Scan(body=body):
            *_, others = node.op.split(node.args)
            rest = node.args[1 : len(node.args) - len(others)]
            slots = body.slots[len(body.slots) - len(others) :]
            used = _used(body.results)
            return [*rest, *(a for slot, a in zip(slots, others, strict=True) if slot in used)]
        case Choice():
            bodies = node.op.bodies()
            found = [(body.slots, _used(body.results)) for body in bodies]
            return [
                arg
                for number, arg in enumerate(node.args[1:])
                if any(slots[number] in used for slots, used in found)
            ]
        case _:
            raise AssertionError(f"{node.op!r} is another kind of control")


@lru_cache(maxsize=256)
def _used(results: tuple[Tensor, ...]) -> AbstractSet[Tensor]:
    """The nodes of a body of which elements are read.

    Kept, as each result of a branch has its bodies: one by one they would double with each level.
    """
    found = set(results)
    for node in walk(results):
        if node.op.is_control:
            found.update(elements_read(node))
            found.add(node.args[0])
        elif not isinstance(node.op, Length):
            found.update(node.args)
    return found


atexit.register(_used.cache_clear)  # nodes that outlive the import system cannot be compared


def measured_before_writing(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots, in which arrays of which only lengths are needed are those they begin as.

    Branches have no more results than are needed, and need arguments for these alone.

    A branch that writes an array, and then needs no more of it than how long it is, would have it
    computed for that: in memory of its own, as the array itself is still needed.
    """
    return _measured(roots, {})


def _measured(roots: Sequence[Tensor], known: dict[Body, Body]) -> list[Tensor]:
    order = walk(roots)
    if not any(node.op.is_control for node in order):
        return list(roots)

    def better(body: Body) -> Body:
        if body not in known:
            known[body] = Body(body.slots, tuple(_measured(body.results, known)))
        return known[body]

    wanted: dict[Any, set[int]] = {}
    for node in order:
        if isinstance(node.op, Choice):
            wanted.setdefault((node.op.common(), node.args), set()).add(node.op.part)
    done: dict[Tensor, Tensor] = {}
    for node in order:
        args = [done[arg] for arg in node.args]
        with located_at(node.where):
            match node.op:
                case Scan(body):
                    new = _of_origins(replace(node.op, body=better(body))(*args))
                case Choice() as op:
                    op = _of_parts(op, wanted[op.common(), node.args])
                    op = replace(op, then=better(op.then), otherwise=better(op.otherwise))
                    new = _of_origins(op(*args))
                case _:
                    new = rebuild(node, args)
        new.name = new.name or node.name
        done[node] = new
    return [done[root] for root in roots]


def _of_parts(op: Choice, wanted: AbstractSet[int]) -> Choice:
    """The op of a branch that has no other results than these."""
    parts = sorted(wanted)
    bodies: list[Body] = []
    for body, checks in zip(op.bodies(), op.checks, strict=True):
        count = len(body.results) - len(checks)
        kept = [body.results[part] for part in parts]
        bodies.append(Body(body.slots, (*kept, *body.results[count:])))
    return replace(op, then=bodies[0], otherwise=bodies[1], part=parts.index(op.part))


def _of_origins(node: Tensor) -> Tensor:
    """A loop or branch, whose arguments that are only measured are what they begin as."""
    read = {node.args[0], *elements_read(node)}
    args = [arg if arg in read else _begun(arg) for arg in node.args]
    return node if all(map(is_, args, node.args)) else node.op(*args)


def _begun(array: Tensor) -> Tensor:
    begun = origin_of(array)
    return begun if begun.type == array.type else array
