"""Results of steps whose length only a step knows: that of the first step is that of all.

Of ``scan(lambda i: x[i : i + k], sequences=T.arange(n))`` each row has a length that depends on i,
as it is shorter near the end of x. Before the loop it is known only by computing it for the first
step; the others are compared with that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.graph.dims import Dim
from symc.graph.inputs import SharedVariable, scalar_constant
from symc.graph.node import Tensor
from symc.graph.walks import substitute
from symc.loops.branch import ifelse
from symc.loops.sequences import Along
from symc.loops.states import is_computed
from symc.loops.trace import Traced
from symc.tensor.lengths import dim_of, tensor_of
from symc.tensor.logic import gt
from symc.tensor.specify import specify_length


@record
class FirstStep:
    """The first step of a loop: what it is given, in place of what stands for that in a step."""

    number: Tensor
    steps: Dim
    alongs: Sequence[Along]
    traced: Traced
    variables: Mapping[SharedVariable, Tensor]
    go_backwards: bool

    def alike(self, result: Tensor) -> Tensor:
        """What a step gives, as long as in the first step; without steps, of length 0."""
        slots = [*self.traced.rows, *self.traced.earlier, (self.number, *self.variables.values())]
        inside = frozenset(slot for own in slots for slot in own)
        for axis, length in enumerate(result.type.shape):
            if is_computed(length, inside):
                (value,) = substitute([tensor_of(length)], dict(self._given()))
                some = gt(tensor_of(self.steps), 0)
                known = cast("Tensor", ifelse(some, value, scalar_constant(0, INT64)))
                result = specify_length(result, axis, dim_of(known))
        return result

    def _given(self) -> Iterator[tuple[Tensor, Tensor]]:
        yield self.number, scalar_constant(0, INT64)
        for each, slots in zip(self.alongs, self.traced.rows, strict=True):
            for slot, tap in zip(slots, each.rows(self.go_backwards).taps, strict=True):
                yield slot, each.tensor[-1 - tap if self.go_backwards else tap]
        for start, slots in zip(self.traced.starts, self.traced.earlier, strict=True):
            if start is not None:
                depth = -min(start.taps)
                for slot, tap in zip(slots, start.taps, strict=True):
                    yield slot, start.rows[depth + tap]
        for variable, slot in self.variables.items():
            yield slot, variable
