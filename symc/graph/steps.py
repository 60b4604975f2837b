"""What a computation of the interpreter does, one after the other: see `computation.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from symc.codegen.record import record, replace
from symc.graph.node import Array, Requirement, Tensor


@record
class Step:
    """One node: its value is computed from those at `args` and put to `place`."""

    node: Tensor
    compute: Callable[..., Any]
    args: tuple[int, ...]
    place: int
    dead: tuple[int, ...]
    kind: tuple[np.dtype[Any], int] | None
    """The dtype and rank that the node's type promises; None if they are not to be looked at."""

    def run(self, values: list[Any]) -> None:
        """Compute it, and forget what is not needed any more."""
        result = self.compute(*[values[place] for place in self.args])
        if self.kind is not None:
            result = np.asarray(result)
            if (result.dtype, result.ndim) != self.kind:
                raise AssertionError(
                    f"{self.node.op!r} promised {self.node.type} and computed "
                    f"{result.dtype}{result.shape}"
                )
        values[self.place] = result
        for place in self.dead:
            values[place] = None

    def forgetting(self, needed: AbstractSet[int]) -> Step:
        """The step that forgets all of its places that are not needed."""
        return replace(self, dead=tuple(sorted({*self.args, self.place} - needed)))


@record
class ConditionStep:
    """A condition, of which the values are there."""

    holds: Callable[[Sequence[Any]], bool]
    args: tuple[int, ...]
    requirement: Requirement

    def run(self, values: list[Any], given: Mapping[Tensor, Array]) -> None:
        """Raises the condition's error if it does not hold."""
        if not self.holds(values):
            from symc.graph.conditions import explain

            raise explain(self.requirement, given)
