"""Loops whose steps have values that symc has no arrays for, such as sparse matrices: in Python.

The step is a function by itself, and is called once for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from symc.theano.scan_module.scan_op import Scan


def run_steps(op: Scan, inputs: Sequence[Any]) -> list[Any]:
    """The values of a loop's outputs, from those of its inputs."""
    step, rest = op.step, list(inputs)
    wanted = int(rest.pop(0)) if op.counted else None
    sequences = [rest.pop(0) for _ in step.taps]
    starts = [None if each is None else rest.pop(0) for each in step.earlier]
    readings = [
        row for x, taps in zip(sequences, step.taps, strict=True)
        for row in _read(x, taps, op.go_backwards)
    ]  # fmt: skip
    count = _number_of_steps(wanted, readings)
    histories = [
        [] if start is None else [start] if back == (-1,) else list(start[: -min(back)])
        for start, back in zip(starts, step.back, strict=True)
    ]
    first = [len(each) for each in histories]
    function = _step_function(op)
    for number in range(count):
        earlier = [
            history[tap] for history, back in zip(histories, step.back, strict=True) for tap in back
        ]
        results = function(*(row[number] for row in readings), *earlier, *rest)
        for history, result in zip(histories, results, strict=False):
            history.append(result)
        if step.condition is not None and results[-1]:
            break
    made = len(histories) - step.carried
    found = [_stacked(history[n:], v) for history, n, v in
             zip(histories[:made], first, step.outputs, strict=False)]  # fmt: skip
    return [*found, *(history[-1] for history in histories[made:])]


def _read(x: Any, taps: Sequence[int], backwards: bool) -> list[Any]:
    """The rows of a sequence for each tap, step by step."""
    least, most = min(0, *taps), max(0, *taps)
    found = [x[tap - least : len(x) - most + tap] for tap in taps]
    return [rows[::-1] for rows in found] if backwards else found


def _number_of_steps(wanted: int | None, readings: Sequence[Any]) -> int:
    """As many as are asked for, or as there are rows. Raises ValueError where they are too few."""
    rows = min((len(each) for each in readings), default=wanted)
    if wanted is None:
        assert rows is not None
        return rows
    if rows is not None and rows < wanted:
        raise ValueError(f"scan: {wanted} steps, but a sequence has rows for {rows}")
    return wanted


def _step_function(op: Scan) -> Any:
    """The step as a function of all it takes, made once."""
    from symc.theano.compile.function import function
    from symc.theano.compile.rebuild import substituted

    kept = op.__dict__.setdefault("_templates", {})
    if "function of a step" not in kept:
        pairs = [(each, each.type()) for each in op.inputs]
        roots, _ = substituted(op.outputs, pairs)
        kept["function of a step"] = function(
            [new for _, new in pairs], roots, no_default_updates=True, on_unused_input="ignore"
        )
    return kept["function of a step"]


def _stacked(rows: Sequence[Any], variable: Any) -> Any:
    if rows:
        return np.stack(rows)
    return np.zeros((0,) * (variable.type.ndim + 1), dtype=variable.type.dtype)
