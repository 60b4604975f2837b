"""The op of a loop: the graph of a step, and its arguments from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import symc
import symc.tensor as T
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.meaning import Translation
from symc.theano.scan_module.scan_parts import ScanParts
from symc.theano.tensor.type import TensorType


@dataclass(frozen=True, eq=False)
class Step:
    """The graph of a step.

    `rows` are the symbols for each sequence, one for each tap; `earlier` those of each output, None
    for outputs that no step reads; the carried shared variables are outputs at the end. `leaves`
    are variables from outside.
    """

    rows: tuple[tuple[Any, ...], ...]
    taps: tuple[tuple[int, ...], ...]
    earlier: tuple[tuple[Any, ...] | None, ...]
    back: tuple[tuple[int, ...], ...]
    outputs: tuple[Any, ...]
    carried: int
    condition: Any
    leaves: tuple[Any, ...]


class Scan(ScanParts, Op):
    """A loop. Inputs: number of steps (if given), sequences, initial values, leaves."""

    makes_symbols = True

    def __init__(
        self, step: Step, counted: bool, go_backwards: bool, truncate_gradient: int,
        name: str | None,
    ) -> None:  # fmt: skip
        self.step, self.counted, self.name = step, counted, name
        self.go_backwards, self.truncate_gradient = go_backwards, truncate_gradient

    def make_node(self, *inputs: Any) -> Apply:
        step = self.step
        kinds = [
            TensorType(each.type.dtype, (False, *each.type.broadcastable))
            for each in step.outputs[: len(step.outputs) - step.carried]
        ]
        finals = [each.type for each in step.outputs[len(kinds) :]]
        return Apply(self, inputs, [kind() for kind in [*kinds, *finals]])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        self._check_states()
        step, rest = self.step, list(inputs)
        n_steps: Any = rest.pop(0) if self.counted else None
        if n_steps is not None:
            known = constant_value(n_steps)
            n_steps = n_steps if known is None else int(known)
        sequences = [{"input": rest.pop(0), "taps": list(taps)} for taps in step.taps]
        infos = [
            None if earlier is None else {"initial": rest.pop(0), "taps": list(back)}
            for earlier, back in zip(step.earlier, step.back, strict=True)
        ]
        known_leaves = dict(zip(step.leaves, rest, strict=True))

        def run(*symbols: Tensor) -> Any:
            variables = [each for rows in step.rows for each in rows]
            variables += [each for earlier in step.earlier for each in earlier or ()]
            translation = Translation(
                {**known_leaves, **dict(zip(variables, symbols, strict=True))}, routes=True
            )
            if step.condition is None:
                return translation.expressions(step.outputs)
            *results, end = translation.expressions([*step.outputs, step.condition])
            return results, symc.until(end if end.dtype.name == "bool" else T.ne(end, 0))

        found, _ = symc.scan(
            run, sequences=sequences, outputs_info=infos or None, n_steps=n_steps,
            truncate_gradient=self.truncate_gradient, go_backwards=self.go_backwards,
            return_list=True,
        )  # fmt: skip
        results: list[Tensor] = list(found or [])
        first = len(results) - step.carried
        return [*results[:first], *(each[-1] for each in results[first:])]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        from symc.theano.compile.vm import has_other_values

        if not has_other_values([*node.inputs, *self.inputs], self.outputs):
            super().perform(node, inputs, output_storage)
            return
        from symc.theano.scan_module.stepwise import run_steps

        for storage, value in zip(output_storage, run_steps(self, inputs), strict=True):
            storage[0] = value

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Any) -> Any:
        self._check_states()
        return super().L_op(inputs, outputs, output_grads)

    def _check_states(self) -> None:
        """Raises TypeError where a step gives a state other flags than its initial value has."""
        for earlier, new in zip(self.step.earlier, self.step.outputs, strict=True):
            if earlier is not None and earlier[0].type != new.type:
                raise TypeError(
                    f"Inconsistency in the inner graph of scan '{self.name or 'scan_fn'}': an input"
                    " and an output are associated with the same recurrent state and should have "
                    f"the same type but have type '{earlier[0].type}' and '{new.type}' "
                    "respectively. tensor.unbroadcast of the initial value removes its flags."
                )

    def __str__(self) -> str:
        return f"for{{cpu,{self.name or 'scan_fn'}}}"
