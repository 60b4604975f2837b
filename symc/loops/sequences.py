"""The sequences that a loop goes along, and its number of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from symc.codegen.record import record
from symc.errors import LoopError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor
from symc.loops.scan import Rows
from symc.tensor.broadcast import describe
from symc.tensor.lengths import dim_of
from symc.tensor.spans import at_least_zero


@record
class Along:
    """A sequence, and at which distances from the current row the step reads it."""

    tensor: Tensor
    taps: tuple[int, ...]

    @property
    def first(self) -> int:
        """The distance of the first row read in the first step, not above 0."""
        return min(0, *self.taps)

    @property
    def last(self) -> int:
        """The distance of the last row that a step reads, not below 0."""
        return max(0, *self.taps)

    @property
    def available(self) -> Dim:
        """How many steps the sequence allows."""
        length = self.tensor.type.shape[0]
        return at_least_zero(dims.add(length, self.first - self.last))

    def rows(self, backwards: bool) -> Rows:
        """The same in the form of the op, which counts from the end it starts at."""
        if backwards:
            return Rows(tuple(self.last - tap for tap in self.taps), backwards)
        return Rows(tuple(tap - self.first for tap in self.taps), backwards)


def listed(given: Any) -> list[Any]:
    """A list of values that may be given as one, as several, or as None."""
    if given is None:
        return []
    return list(cast("Sequence[Any]", given)) if isinstance(given, list | tuple) else [given]


def taps_of(given: Any, default: tuple[int, ...]) -> tuple[int, ...]:
    """Taps as numbers: one, several, or None for the default."""
    if given is None:
        return default
    taps = tuple(listed(given))
    if not all(isinstance(tap, int | np.integer) and not isinstance(tap, bool) for tap in taps):
        raise LoopError(f"scan: taps must be integers, not {given!r}")
    return tuple(map(int, taps))


def along(given: Any) -> Along:
    """A sequence as users give it: a tensor, or ``dict(input=tensor, taps=[...])``."""
    taps: Any = None
    if isinstance(given, Mapping):
        known = dict(cast("Mapping[str, Any]", given))
        if "input" not in known or not {"input", "taps"}.issuperset(known):
            raise LoopError(
                f"scan: a sequence is a tensor or dict(input=, taps=), not one with {list(known)}"
            )
        given, taps = known["input"], known.get("taps")
    tensor = as_tensor(given)
    if not tensor.ndim:
        raise LoopError(f"scan: a sequence needs rows, not a scalar\n  given  {describe(tensor)}")
    return Along(tensor, taps_of(taps, (0,)) or (0,))


def count_steps(n_steps: Any, sequences: Sequence[Along]) -> Dim:
    """How many steps: those asked for, else as many as the shortest sequence allows."""
    if n_steps is None:
        if not sequences:
            raise LoopError("scan needs sequences or n_steps, to know how many steps to take")
        steps = sequences[0].available
        for sequence in sequences[1:]:
            steps = dims.minimum(steps, sequence.available)
        return steps
    node = as_tensor(n_steps)
    if node.ndim or not node.dtype.is_integer:
        raise LoopError(
            f"scan: n_steps must be an integer scalar, not {node.type}\n  given  {describe(node)}"
        )
    steps = dim_of(node)
    if isinstance(steps, int):
        _check_known(steps, sequences)
    return steps


def known_steps(name: str, given: Any) -> int:
    """A number of steps that must be known when the graph is built, and at least 1."""
    is_number = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if not is_number or cast("int", given) < 1:
        raise LoopError(f"scan: {name} is a number of steps, like 10, not {given!r}")
    return int(cast("int", given))


def _check_known(steps: int, sequences: Sequence[Along]) -> None:
    if steps < 0:
        raise LoopError(f"scan: n_steps cannot be negative, as {steps} is")
    for sequence in sequences:
        if isinstance(sequence.available, int) and sequence.available < steps:
            raise LoopError(
                f"scan: {steps} steps, but a sequence has rows for {sequence.available}\n"
                f"  sequence {describe(sequence.tensor)}"
            )
