"""A Scan whose step has no form in symc's graphs, such as one that draws: repeated in Python.

The step itself is compiled like any PyTensor graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class HostScan:
    """Computes the outputs of a Scan, by its definition in PyTensor."""

    def __init__(self, op: Any, random: str = "numpy") -> None:
        from symc.pytensor.running import Running  # the step is a plan in turn

        self.op, self.info = op, op.info
        self.step = Running(op.fgraph, name="step", random=random)

    def __call__(self, args: Sequence[Any]) -> list[Any]:
        op, info = self.op, self.info
        steps = int(args[0])
        if steps < 0:
            raise IndexError(f"Scan was asked to run for negative number of step {steps}")
        mit_mots = [np.array(b) for b in op.outer_mitmot(args)]
        taps = [*info.mit_sot_in_slices, *((-1,) for _ in op.outer_sitsot(args))]
        buffers = [*op.outer_mitsot(args), *op.outer_sitsot(args)]
        rows = [list(b[: -min(t)]) for b, t in zip(buffers, taps, strict=True)]
        loose: list[list[Any]] = [[] for _ in op.outer_nitsot(args)]
        states = list(op.outer_untraced_sit_sot(args))
        for number in range(steps):
            taken = [
                b[number + tap]
                for b, each in zip(mit_mots, info.normalized_mit_mot_in_slices, strict=True)
                for tap in each
            ]
            before = [r[tap] for r, each in zip(rows, taps, strict=True) for tap in each]
            given = [s[number] for s in op.outer_seqs(args)]
            made = self.step(*given, *taken, *before, *states, *op.outer_non_seqs(args))
            self._write(mit_mots, number, made)
            new = [*op.inner_mitsot_outs(made), *op.inner_sitsot_outs(made)]
            for row, value in zip(
                [*rows, *loose], [*new, *op.inner_nitsot_outs(made)], strict=True
            ):
                row.append(value)
            states = list(op.inner_untraced_sit_sot_outs(made))
            if info.as_while and made[-1]:
                break
        sizes = [*(len(b) for b in buffers), *(int(n) for n in op.outer_nitsot(args))]
        outer = self._outer_types()
        kept = [
            _stacked(each, size, kind, fill=not info.as_while)
            for each, size, kind in zip([*rows, *loose], sizes, outer, strict=True)
        ]
        return [*mit_mots, *kept, *states]

    def _write(self, buffers: Sequence[Any], number: int, made: Sequence[Any]) -> None:
        grouped = self.op.inner_mitmot_outs_grouped(made)
        for buffer, values, taps in zip(
            buffers, grouped, self.info.normalized_mit_mot_out_slices, strict=True
        ):
            for value, tap in zip(values, taps, strict=True):
                buffer[number + tap] = value

    def _outer_types(self) -> list[Any]:
        inner = self.op.inner_outputs
        op = self.op
        found = [
            *op.inner_mitsot_outs(inner), *op.inner_sitsot_outs(inner), *op.inner_nitsot_outs(inner)
        ]  # fmt: skip
        return [v.type for v in found]


def _stacked(rows: Sequence[Any], size: int, kind: Any, *, fill: bool) -> Any:
    """The last rows of a result as an array; with `fill`, zeros for those that no step made."""
    kept = rows[-size:] if size else []
    if not kept:
        return np.empty((0, *(n or 0 for n in kind.shape)), kind.dtype)
    made = np.stack([np.asarray(row, dtype=kind.dtype) for row in kept])
    if not fill or len(kept) == size:
        return made
    return np.concatenate([made, np.zeros((size - len(kept), *made.shape[1:]), kind.dtype)])
