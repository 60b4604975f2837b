"""Run-time conditions of loops: on their lengths, and on values of their bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from symc.errors import LoopError
from symc.graph import dims
from symc.graph.dims import Dim, Extreme, Poly
from symc.graph.node import Requirement, Tensor
from symc.loops.body import Slot, outside
from symc.loops.branch import Choice, IfElse
from symc.loops.states import as_given
from symc.tensor.broadcast import describe
from symc.tensor.checks import never_negative
from symc.tensor.lengths import dim_of, tensor_of
from symc.tensor.logic import eq, ge, le, logical_or
from symc.tensor.reshape import Reshape
from symc.tensor.specify import SpecifyShape

if TYPE_CHECKING:
    from symc.loops.scan import Scan


def loop_requirements(op: Scan, node: Tensor) -> Iterator[Requirement]:
    """All of them; siblings have the same."""
    steps, sequences, initial, given = op.split(node.args)
    count = dim_of(steps)
    if not dims.nonnegative(count) and not never_negative(steps):
        yield Requirement(
            ge(steps, 0),
            LoopError,
            lambda value: (
                f"scan: n_steps cannot be negative, as {value(count)} is\n  at     {node.where}"
            ),
        )
    for sequence, rows in zip(sequences, op.layout.sequences, strict=True):
        yield from _long_enough(node, count, sequence, max(rows.taps, default=0))
    for number, arg in enumerate(initial):
        yield from _same_rows(op, node, number, arg)
    yield from _related(op, node)
    arrays = op.body.slots[len(op.body.slots) - len(given) :]
    for inside, requirement in outside(op.body.conditions(), op.lengths(node.args)):
        is_promise = isinstance(inside.op, SpecifyShape | Reshape) and inside.args[0] in arrays
        late = is_promise or _is_behind_conditions(requirement)
        yield _of_some_steps(requirement, steps) if late else requirement


def _is_behind_conditions(requirement: Requirement) -> bool:
    """Whether lengths follow from what is computed only for steps, of which there may be none.

    Such as places in an array which may be empty: see `gated.py`.
    """
    assert isinstance(requirement.holds, tuple)
    pending = [size.source for length in requirement.holds for size in dims.sizes(length)]
    seen = set[Tensor]()
    while pending:
        source = pending.pop()
        if not isinstance(source, Tensor) or source.ndim or source in seen:
            continue
        if isinstance(source.op, Choice | IfElse):
            return True
        seen.add(source)
        pending += source.args
    return False


def _of_some_steps(requirement: Requirement, steps: Tensor) -> Requirement:
    """The same for a loop of at least one step, as of the shape of an array: see `unsliced.py`."""
    assert isinstance(requirement.holds, tuple)
    left, right = map(tensor_of, requirement.holds)
    if dims.nonnegative(dims.sub(dim_of(steps), 1)):
        return requirement
    holds = logical_or(eq(left, right), eq(steps, 0))
    return Requirement(holds, requirement.error, requirement.message)


def _long_enough(node: Tensor, steps: Dim, sequence: Tensor, last: int) -> Iterator[Requirement]:
    available = dims.sub(sequence.type.shape[0], last)
    if at_most(steps, available):
        return

    def message(value: Callable[[Any], Any]) -> str:
        return (
            f"scan: {value(steps)} steps, but a sequence has rows for {value(available)}\n"
            f"  sequence {describe(sequence)}\n  at       {node.where}"
        )

    enough = le(tensor_of(steps), tensor_of(available))
    yield Requirement(logical_or(enough, eq(tensor_of(steps), 0)), LoopError, message)


def at_most(small: Dim, large: Dim) -> bool:
    """Whether a length is provably not above another one (or 0)."""
    if isinstance(small, int) and small == 0:
        return True
    if dims.nonnegative(dims.sub(large, small)):
        return True
    if isinstance(small, Poly) and len(small.terms) == 1:
        (monomial, factor), *_ = small.terms
        if factor == 1 and len(monomial) == 1 and isinstance(monomial[0], Extreme):
            sides = [at_most(side, large) for side in (monomial[0].left, monomial[0].right)]
            return any(sides) if monomial[0].kind == "min" else all(sides)
    return False


def _related(op: Scan, node: Tensor) -> Iterator[Requirement]:
    """That lengths which the body takes to be related are so, if an argument was replaced."""
    length = op.lengths(node.args)
    for slot, (arg, skip) in zip(op.body.slots, op.given(node.args), strict=True):
        assert isinstance(slot.op, Slot)
        for axis, declared in enumerate(slot.op.declared):
            wanted = None if declared is None else length(declared)
            found = arg.type.shape[axis + skip]
            if wanted is not None and wanted != found:
                yield _equal_length(arg, axis + skip, found, wanted)


def _equal_length(arg: Tensor, axis: int, found: Dim, wanted: Dim) -> Requirement:
    return Requirement(
        (found, wanted),
        LoopError,
        lambda value: (
            f"scan: axis {axis} of what a step uses has length {value(found)}, and had "
            f"{value(wanted)} when the loop was made\n  given  {describe(arg)}"
        ),
    )


def _same_rows(op: Scan, node: Tensor, number: int, initial: Tensor) -> Iterator[Requirement]:
    result = op.body.results[number]

    def message_at(axis: int, have: Dim, found: Dim) -> Callable[[Callable[[Any], Any]], str]:
        return lambda value: (
            f"scan: a state has length {value(have)} along axis {axis} and {value(found)} after a "
            f"step\n  initial {describe(as_given(initial))}\n  result  {describe(result)}"
        )

    rows = zip(initial.type.shape[1:], op.row(number, node.args), strict=True)
    for axis, (have, found) in enumerate(rows):
        if have != found:
            yield Requirement((have, found), LoopError, message_at(axis, have, found))
