"""A step traced: the user's function called on slots, until its states fit its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any

from symc.codegen.record import record
from symc.errors import LoopError
from symc.graph.node import Tensor
from symc.loops.build import row_of
from symc.loops.handed import called
from symc.loops.outcome import Outcome, outcome
from symc.loops.sequences import Along
from symc.loops.states import Start, as_given, of_length, refit
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to

REFITS = 8  # dtypes and shapes cannot be widened more often


@record
class Traced:
    """The results of the function, and the slots it was given."""

    rows: tuple[tuple[Tensor, ...], ...]
    earlier: tuple[tuple[Tensor, ...], ...]
    starts: tuple[Start | None, ...]
    step: Outcome


def trace(
    fn: Callable[..., Any],
    sequences: Sequence[Along],
    starts: Sequence[Start | None] | None,
    constants: Sequence[Tensor],
    step: Tensor,
) -> Traced:
    """Calls `fn` on slots; again, if a state must be converted or broadcast to fit the result.

    `step` is the placeholder for the number of the step.
    """
    given = starts or ()
    found: Sequence[Tensor] = ()
    for _ in range(REFITS):
        traced = _call(fn, sequences, starts or (), constants)
        found = traced.step.outputs
        if starts is None:
            starts = [None] * len(found)
        if len(starts) != len(found):
            raise LoopError(
                f"scan: the function returned {len(found)} outputs, and outputs_info has "
                f"{len(starts)} entries; it needs one for each, None where no step reads it"
            )
        earlier = traced.earlier or ((),) * len(found)
        inside = frozenset([step, *chain(*traced.rows), *chain(*earlier)])
        fitted = [
            None if start is None else refit(start, slots[0], result, inside)
            for start, slots, result in zip(starts, earlier, found, strict=True)
        ]
        if fitted == list(starts):
            done = _fitted(traced.step, starts, earlier, inside)
            return Traced(traced.rows, earlier, tuple(starts), done)
        starts = fitted
    raise LoopError(_never_fits(given, found))


def _never_fits(starts: Sequence[Start | None], results: Sequence[Tensor]) -> str:
    """The error for states that no conversion fits, such as two of other lengths that swap."""
    pairs = zip(starts, results, strict=True)
    lines = [
        f"  initial {describe(as_given(start.rows))}\n  result  {describe(result)}"
        for start, result in pairs
        if start is not None
    ]
    return "scan: the dtypes or lengths of the states change with every step\n" + "\n".join(lines)


def _call(
    fn: Callable[..., Any],
    sequences: Sequence[Along],
    starts: Sequence[Start | None],
    constants: Sequence[Tensor],
) -> Traced:
    rows = tuple(
        tuple(row_of(each.tensor, _named(each.tensor, tap)) for tap in each.taps)
        for each in sequences
    )
    earlier = tuple(
        () if start is None else tuple(row_of(start.rows) for _ in start.taps) for start in starts
    )
    arguments = [slot for slots in (*rows, *earlier) for slot in slots]
    given = {
        "rows of sequences": sum(map(len, rows)),
        "earlier rows of outputs": sum(map(len, earlier)),
        "non_sequences": len(constants),
    }
    returned = called("scan: the function", fn, (*arguments, *constants), given)
    states = [None if start is None else start.rows.dtype for start in starts]
    return Traced(rows, earlier, tuple(starts), outcome(returned, states))


def _named(tensor: Tensor, tap: int) -> str | None:
    if tensor.name is None:
        return None
    return f"{tensor.name}_t" if not tap else f"{tensor.name}_t{tap:+d}"


def _fitted(
    step: Outcome,
    starts: Sequence[Start | None],
    earlier: Sequence[Sequence[Tensor]],
    inside: AbstractSet[Tensor],
) -> Outcome:
    """The step with its results in the dtypes of the states, and of their lengths."""
    outputs = tuple(
        result if start is None else cast_to(of_length(result, slots[0], inside), start.rows.dtype)
        for start, slots, result in zip(starts, earlier, step.outputs, strict=True)
    )
    return Outcome(outputs, step.updates, step.condition)
