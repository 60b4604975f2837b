"""Whether loops and branches of a file are as symc makes them: compiled code relies on that.

An op with bodies says of each slot which argument it stands for, and of each result what becomes of
it. What symc makes agrees by construction; a file may say anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from symc.codegen.dtypes import BOOL, INT64, DType
from symc.errors import BadFile
from symc.graph.dims import Poly, sizes
from symc.graph.node import Op, Tensor, intern
from symc.graph.walks import walk
from symc.loops.body import Body, Slot
from symc.loops.branch import Choice
from symc.loops.build import opened
from symc.loops.scan import BodyLayout, Scan
from symc.tensor.broadcast import describe


def check_bodies(op: Op, args: Sequence[Tensor]) -> None:
    """Refuses loops and branches whose bodies do not fit their arguments."""
    match op:
        case Scan(body, layout):
            _check_unchecked(op.checks == ())
            _check_body(body)
            _check_layout(layout, op.part.number)
            _check_type(args[0], INT64, 0)
            _check_slots_of(body, op.given(args))
            _check_results(body, layout)
        case Choice(then, otherwise):
            _check_unchecked(op.checks == ((), ()))
            _check_type(args[0], BOOL, 0)
            for body in (then, otherwise):
                _check_body(body)
                _check_slots_of(body, [(arg, 0) for arg in args[1:]])
            kinds = [[(r.dtype, r.ndim) for r in body.results] for body in op.bodies()]
            if kinds[0] != kinds[1]:
                raise BadFile("the sides of a branch give different results")
        case _:
            pass


def closed_anew(op: Scan, args: Sequence[Tensor]) -> Tensor:
    """A loop's result. What its steps all compute alike leaves the loop, as it does when symc makes
    one: what is known of a loop's conditions relies on that. A loop of symc's stays as it is."""
    varying = set(op.body.slots[: len(op.body.slots) - len(op.split(args)[3])])
    for node in walk(op.body.results):
        if any(arg in varying for arg in node.args):
            varying.add(node)
        elif node.args:
            return opened(op, args).close().part(op.part)
    return intern(op, tuple(args))


def check_slots(roots: Iterable[Tensor], own: AbstractSet[Tensor] = frozenset()) -> None:
    """Refuses graphs with slots that are not their own."""
    for node in walk(roots):
        if isinstance(node.op, Slot) and node not in own:
            raise BadFile("a graph has a slot of another one")


def _check_body(body: Body) -> None:
    """Refuses a body that computes from other slots than its own: there are no values for them."""
    own = set(body.slots)
    check_slots([*body.slots, *body.results], own)
    for slot in body.slots:
        declared = slot.op.declared if isinstance(slot.op, Slot) else ()
        for dim in declared:
            check_slots([size.source for size in sizes(dim)] if isinstance(dim, Poly) else (), own)
    if not all(isinstance(node.op, Slot) for node in body.slots):
        raise BadFile("a parameter of a body is no slot")
    if len(set(body.slots)) < len(body.slots):
        raise BadFile("two parameters of a body are one slot")


def _check_slots_of(body: Body, given: Sequence[tuple[Tensor, int]]) -> None:
    """Refuses arguments of other types than the slots that stand for them, less leading axes."""
    for slot, (arg, skip) in zip(body.slots, given, strict=True):
        _check_type(arg, slot.dtype, slot.ndim + skip)


def _check_unchecked(is_so: bool) -> None:
    if not is_so:
        raise BadFile("a body has conditions among its results, as inside the compiler only")


def _check_layout(layout: BodyLayout, part: int) -> None:
    taps_of_states = [tap for state in layout.states for tap in state.taps]
    taps_of_rows = [tap for rows in layout.sequences for tap in rows.taps]
    if not all(tap < 0 for tap in taps_of_states) or not all(tap >= 0 for tap in taps_of_rows):
        raise BadFile("a loop reads rows that are not there yet")
    numbers = [part, layout.collected, *layout.reverse]
    if min(numbers) < 0 or not all(number < layout.collected for number in layout.reverse):
        raise BadFile("a loop has no such results")


def _check_results(body: Body, layout: BodyLayout) -> None:
    """Refuses rows of a state of other types than its slots, and conditions that are none."""
    results = iter(body.results)
    for slots in _slots_of_states(body, layout):
        row = next(results)
        for slot in slots:
            _check_type(row, slot.dtype, slot.ndim)
    left = list(results)
    if len(left) != layout.collected + layout.stops:
        raise BadFile("the body of a loop has too many results")
    if layout.stops:
        _check_type(left[-1], BOOL, 0)


def _slots_of_states(body: Body, layout: BodyLayout) -> Iterator[Sequence[Tensor]]:
    first = 1 + sum(len(rows.taps) for rows in layout.sequences)
    for state in layout.states:
        yield body.slots[first : first + len(state.taps)]
        first += len(state.taps)


def _check_type(node: Tensor, dtype: DType, ndim: int) -> None:
    if node.dtype != dtype or node.ndim != ndim:
        raise BadFile(f"{dtype.name} of {ndim} axes is wanted, not {describe(node)}")
