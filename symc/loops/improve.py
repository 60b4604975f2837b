"""Optimisation of loops before they are compiled: code moves out of them.

- A row that is the last one of all is that of the last step: other rows need not be kept.
- Loops over the same things are one loop.
- States of a few numbers become states of one number (`numbers.py`).
- States that move evenly follow from the number of the step (`even.py`).
- States that are another's row of the step before become one state with it (`delayed.py`).
- Products of rows of sequences are computed before the loop (`hoist.py`), products that are outputs
  (`postpone.py`) and sums of products (`contract.py`) after it.
- Rows of sequences that are outputs are not copied, nor are sequences that are parts of arrays
  (`unsliced.py`), nor are counted numbers in an array (`counted.py`).
- Sequences, states and outputs that nothing needs are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import rebuild, walk, walk_within
from symc.loops.body import Body
from symc.loops.branch import IfElse
from symc.loops.contract import contract
from symc.loops.counted import count_sequences, is_counted
from symc.loops.delayed import join_delayed
from symc.loops.even import count_evenly
from symc.loops.hoist import hoist
from symc.loops.numbers import split_states
from symc.loops.opened import OpenLoop
from symc.loops.outline import outline
from symc.loops.placed import add_in_place
from symc.loops.postpone import pass_on, postpone
from symc.loops.scan import Part, Scan
from symc.loops.unsliced import is_part, read_unsliced
from symc.tensor.lengths import dim_of
from symc.tensor.slices import Slice
from symc.tensor.spans import GIVEN, WHOLE, Span, is_last


def improve_loops(roots: Sequence[Tensor], *, exact: bool) -> list[Tensor]:
    """The roots with improved loops; if `exact`, only by changes that keep every bit."""
    if not any(isinstance(node.op, Scan) for node in walk(roots)):
        return list(roots)
    roots = _rebuilt(roots, _last_row)
    roots = _merged(roots)
    wanted = _wanted(roots)
    known: dict[Any, dict[Part, Tensor]] = {}

    def improved(old: Tensor, new: Tensor) -> Tensor:
        if not isinstance(old.op, Scan) or not isinstance(new.op, Scan):
            return new
        key = _key(old)
        if key not in known:
            known[key] = _improved(new.op, new.args, wanted[key], exact=exact)
        return known[key].get(old.op.part, new)

    return _outlined(_rebuilt(roots, improved))


def _improved(
    op: Scan, args: Sequence[Tensor], wanted: set[Part], *, exact: bool
) -> dict[Part, Tensor]:
    """The parts of a loop that are wanted, of a better one; none if it is left as it is."""
    if op.layout.stops:
        return _of_numbers(op, args, wanted)
    inner = Body(op.body.slots, tuple(improve_loops(op.body.results, exact=exact)))
    loop = OpenLoop(replace(op, body=inner), args, wanted)
    split_states(loop)
    count_evenly(loop)
    join_delayed(loop)
    if not exact:
        hoist(loop)
        postpone(loop)
        contract(loop)
    pass_on(loop)
    _throughout(loop, count_sequences, is_counted)
    _throughout(loop, read_unsliced, is_part)
    add_in_place(loop, exact=exact)
    return loop.close()


def _throughout(
    loop: OpenLoop, change: Callable[[OpenLoop], None], concerns: Callable[[Tensor], bool]
) -> None:
    """Changes a loop, and those in it that get an array which concerns the change from outside."""
    change(loop)
    results = loop.results()

    def is_concerned(node: Tensor) -> bool:
        return isinstance(node.op, Scan) and any(map(concerns, node.args))

    if not any(map(is_concerned, walk(results))):
        return
    wanted = _wanted(results)
    known: dict[Any, dict[Part, Tensor]] = {}

    def changed(old: Tensor, new: Tensor) -> Tensor:
        if not isinstance(old.op, Scan) or not isinstance(new.op, Scan) or not is_concerned(old):
            return new
        key = _key(old)
        if old.op.layout.stops and not _has_no_rows(wanted[key]):
            return new
        if key not in known:
            inner = OpenLoop(new.op, new.args, wanted[key])
            _throughout(inner, change, concerns)
            known[key] = inner.close()
        return known[key][old.op.part]

    loop.replace(dict(zip(results, _rebuilt(results, changed), strict=True)))


def _of_numbers(op: Scan, args: Sequence[Tensor], wanted: set[Part]) -> dict[Part, Tensor]:
    """The parts of a loop that may stop, with fewer states; none if it is left as it is.

    It is if rows of all steps are wanted: their lengths may depend on this very loop.
    """
    if not _has_no_rows(wanted):
        return {}
    loop = OpenLoop(op, args, wanted)
    are_split, are_even = split_states(loop), count_evenly(loop)
    given = loop.reads
    _throughout(loop, count_sequences, is_counted)
    _throughout(loop, read_unsliced, is_part)
    is_other = are_split or are_even or loop.reads != given or any(map(is_part, args))
    return loop.close() if is_other else {}


def _has_no_rows(wanted: set[Part]) -> bool:
    """Whether rows of all steps are not among the parts that are wanted."""
    return all(part.kind in ("final", "count") for part in wanted)


def _outlined(roots: list[Tensor]) -> list[Tensor]:
    """The roots; branches that left a loop with a product, for all steps at once, are made anew."""
    has_some = any(isinstance(node.op, IfElse) for node in walk_within(roots))
    return outline(roots, loops=False) if has_some else roots


def _rebuilt(roots: Sequence[Tensor], change: Callable[[Tensor, Tensor], Tensor]) -> list[Tensor]:
    """The roots, each node replaced by its `change`, before and after its arguments."""
    done: dict[Tensor, Tensor] = {}
    for node in walk(roots):
        after = rebuild(node, [done[arg] for arg in node.args])
        with located_at(node.where):
            done[node] = change(node, after)
    return [done[root] for root in roots]


def _key(node: Tensor) -> Any:
    """The key that the results of one loop share."""
    return (node.op.common(), *node.args)


def _wanted(roots: Sequence[Tensor]) -> dict[Any, set[Part]]:
    """The parts of each loop that the graph has."""
    wanted: dict[Any, set[Part]] = {}
    for node in walk(roots):
        if isinstance(node.op, Scan):
            wanted.setdefault(_key(node), set()).add(node.op.part)
    return wanted


# --- the last row ---------------------------------------------------------------------------------


def _last_row(old: Tensor, new: Tensor) -> Tensor:
    """``ys[-1]`` as the last of the final rows."""
    del old
    if not isinstance(new.op, Slice) or not is_last(new.op.entries[0], new.args[0].type.shape[0]):
        return new
    source = new.args[0]
    number = _history(source)
    if number is None:
        number = _history_of_steps(source)
        source = source.args[0] if number is not None else source
    if number is None or not isinstance(source.op, Scan):
        return new
    final = source.op.sibling("final", number)(*source.args)
    return replace(new.op, entries=(-1, *new.op.entries[1:]))(final, *new.args[1:])


def _history(node: Tensor) -> int | None:
    """The number of the state whose history a node is."""
    if isinstance(node.op, Scan) and node.op.part.kind == "history":
        return node.op.part.number
    return None


def _history_of_steps(node: Tensor) -> int | None:
    """The number of the state of which a node is the rows of all steps that were done."""
    if not isinstance(node.op, Slice) or any(entry != WHOLE for entry in node.op.entries[1:]):
        return None
    source, *given = node.args
    number, span = _history(source), node.op.entries[0]
    if number is None or not isinstance(span, Span) or not isinstance(source.op, Scan):
        return None
    depth = source.op.layout.states[number].depth
    if span.start != depth or span.step != 1:
        return None
    if source.op.layout.stops:
        count = dim_of(source.op.sibling("count")(*source.args))
        ends = span.stop is GIVEN and len(given) == 1 and dim_of(given[0]) == count + depth
    else:
        ends = span.stop is None
    return number if ends else None


# --- loops over the same --------------------------------------------------------------------------


def _merged(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots; loops that differ in their collected outputs alone are one."""
    groups: dict[Any, dict[Any, Scan]] = {}
    for node in walk(roots):
        if isinstance(node.op, Scan):
            groups.setdefault(_similar(node), {}).setdefault(_key(node), node.op)
    joined = {key: list(ops.values()) for key, ops in groups.items() if len(ops) > 1}
    if not joined:
        return list(roots)

    def change(old: Tensor, new: Tensor) -> Tensor:
        ops = joined.get(_similar(old)) if isinstance(old.op, Scan) else None
        if ops is None or not isinstance(old.op, Scan):
            return new
        return _joined(ops, old.op)(*new.args)

    return _rebuilt(roots, change)


def _similar(node: Tensor) -> Any:
    """The key that loops share which can be fused."""
    op = node.op
    assert isinstance(op, Scan)
    states = len(op.layout.states)
    layout = replace(op.layout, collected=0, reverse=(), truncate=None)
    condition = op.body.results[-1] if layout.stops else None
    return layout, op.body.slots, op.body.results[:states], condition, node.args


def _collected(op: Scan) -> list[tuple[Tensor, bool]]:
    states = len(op.layout.states)
    found = op.body.results[states : states + op.layout.collected]
    return [(node, number in op.layout.reverse) for number, node in enumerate(found)]


def _joined(ops: Sequence[Scan], op: Scan) -> Scan:
    """The op of one result of all these loops in one."""
    states = op.body.results[: len(op.layout.states)]
    everything = list(dict.fromkeys(each for other in ops for each in _collected(other)))
    condition = op.body.results[-1:] if op.layout.stops else ()
    body = Body(op.body.slots, (*states, *(node for node, _ in everything), *condition))
    layout = replace(
        op.layout,
        collected=len(everything),
        reverse=tuple(number for number, (_, turned) in enumerate(everything) if turned),
        truncate=None,
    )
    part = op.part
    if part.kind == "collected":
        part = Part("collected", everything.index(_collected(op)[part.number]))
    return Scan(body, layout, part)
