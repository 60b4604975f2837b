"""Of a state's history, only the rows of steps are wanted as a rule: those then are an output.

A history holds the rows that were given, too, so taking the others is a copy. Where nothing needs
the first ones, each step stores its row twice, for the next steps and as a collected output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import walk
from symc.loops.body import Body
from symc.loops.scan import Part, Scan
from symc.tensor.slices import Slice
from symc.tensor.spans import WHOLE, Span

Key: TypeAlias = tuple[Any, ...]


def collect_rows(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots with such histories as collected outputs."""
    order = walk(roots)
    wanted = _wanted(roots, order)
    if not wanted:
        return list(roots)
    done: dict[Tensor, Tensor] = {}
    for node in order:
        args = [done[arg] for arg in node.args]
        op = node.op
        if isinstance(op, Scan) and (op.common(), *node.args) in wanted:
            op = _with_rows(op, wanted[op.common(), *node.args])
        first = node.args[0] if isinstance(op, Slice) else node
        if isinstance(op, Slice) and isinstance(first.op, Scan):
            states = wanted.get((first.op.common(), *first.args), ())
            if first.op.part.kind == "history" and first.op.part.number in states:
                done[node] = _rows(op, first, args, states)
                continue
        changed = op is not node.op or any(a is not b for a, b in zip(args, node.args, strict=True))
        done[node] = node
        if changed:
            with located_at(node.where):
                done[node] = op(*args)
            done[node].name = done[node].name or node.name
    return [done[root] for root in roots]


def _wanted(roots: Sequence[Tensor], order: Sequence[Tensor]) -> dict[Key, tuple[int, ...]]:
    """The states of each loop whose history is used for the rows of steps alone."""
    histories = {
        node: True
        for node in order
        if isinstance(node.op, Scan) and node.op.part.kind == "history" and not node.op.layout.stops
    }
    for node in order:
        for number, arg in enumerate(node.args):
            if arg in histories and (number or not _skips(node, arg)):
                histories[arg] = False
    found: dict[Key, tuple[int, ...]] = {}
    for node, alone in histories.items():
        if alone and node not in roots and isinstance(node.op, Scan):
            key = (node.op.common(), *node.args)
            found[key] = (*found.get(key, ()), node.op.part.number)
    return found


def _skips(node: Tensor, history: Tensor) -> bool:
    """Whether a node takes rows of a history after those that were given."""
    assert isinstance(history.op, Scan)
    depth = history.op.layout.states[history.op.part.number].depth
    if not isinstance(node.op, Slice):
        return False
    match node.op.entries[0]:
        case Span(start=int() as start, stop=None, step=1):
            return start >= depth
        case _:
            return False


def _with_rows(op: Scan, states: Sequence[int]) -> Scan:
    """The loop with the rows of some states as further collected outputs."""
    first = len(op.layout.states) + op.layout.collected
    results = op.body.results
    rows = [results[state] for state in states]
    layout = replace(op.layout, collected=op.layout.collected + len(rows))
    body = Body(op.body.slots, (*results[:first], *rows, *results[first:]))
    return replace(op, body=body, layout=layout)


def _rows(op: Slice, history: Tensor, args: Sequence[Tensor], states: Sequence[int]) -> Tensor:
    """The range of a slice of a history, counted from the rows of steps."""
    old, new = history.op, args[0].op
    assert isinstance(old, Scan)
    assert isinstance(new, Scan)
    number = old.layout.collected + states.index(old.part.number)
    collected = replace(new, part=Part("collected", number))(*args[0].args)
    span = op.entries[0]
    assert isinstance(span, Span)
    assert isinstance(span.start, int)
    start = span.start - old.layout.states[old.part.number].depth
    entries = (Span(start or None), *op.entries[1:])
    if all(entry == WHOLE for entry in entries):
        return collected
    return replace(op, entries=entries)(collected, *args[1:])
