"""Running a plan: what PyTensor calls with the values of a graph's inputs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.scalar.basic import ScalarType

from symc.errors import SymcError
from symc.pytensor.messages import translated
from symc.pytensor.plan import Computed, Performed, StepPlan, Value, plan
from symc.pytensor.streams import generator_of, is_generator, key_of


class Running:
    """A graph ready to be called with the values of its inputs; gives a list of its outputs."""

    def __init__(
        self, fgraph: Any, *, name: str = "pytensor", mode: str | None = None, random: str = "numpy"
    ) -> None:
        self.plan: StepPlan = plan(fgraph, name=name, mode=mode, random=random)
        self.random = random
        self.call = _direct(self.plan) or self._by_steps
        if not fgraph.outputs:
            self.call = _nothing
        self._generators_in = self._generators(fgraph.inputs)
        self._generators_out = self._generators(fgraph.outputs)
        self._scalars = [
            at for at, v in enumerate(fgraph.outputs) if isinstance(v.type, ScalarType)
        ]

    def _generators(self, variables: Sequence[Any]) -> list[int]:
        """Where Generators are among variables, if steps know them as keys."""
        if self.random != "symc":
            return []
        return [at for at, variable in enumerate(variables) if is_generator(variable)]

    @property
    def functions(self) -> list[Any]:
        """symc's functions, in the order of their calls."""
        return self.plan.functions

    def __call__(self, *args: Any) -> Any:
        """The outputs. Errors are PyTensor's where it has its own for the same fault."""
        if self._generators_in:
            args = _with(args, self._generators_in, key_of)
        try:
            results = self.call(*args)
        except SymcError as problem:
            raise translated(problem) from problem
        if self._generators_out:
            results = _with(results, self._generators_out, _as_generator)
        if self._scalars:
            results = list(results)
            for at in self._scalars:
                results[at] = results[at][()] if hasattr(results[at], "ndim") else results[at]
        return results

    def _by_steps(self, *args: Any) -> list[Any]:
        kept: list[Any] = [None] * self.plan.size
        for number, value in zip(self.plan.inputs, args, strict=True):
            kept[number] = value
        for step in self.plan.steps:
            match step:
                case Computed():
                    given = [kept[n] for n in step.inputs]
                    made = step.function(*given, *step.constants)
                case Performed():
                    made = step.run([_given(v, kept) for v in step.inputs])
                    if places := self._generators(step.node.outputs):
                        made = _with(made, places, key_of)
            for number, value in zip(step.outputs, made, strict=True):
                kept[number] = value
        # A caller may write into what it is given: constants are the graph's own.
        return [
            copy.deepcopy(v.data) if v.is_constant else kept[v.number] for v in self.plan.outputs
        ]


def _nothing(*_: Any) -> Any:
    """The call of a graph without outputs, of which PyTensor wants None."""
    return None


def _with(values: Sequence[Any], places: Sequence[int], change: Callable[[Any], Any]) -> Any:
    """The values, those at some places changed."""
    changed = list(values)
    for at in places:
        changed[at] = change(changed[at])
    return changed


def _as_generator(found: Any) -> Any:
    """The Generator of a key; one that is a constant of the graph as it is."""
    return generator_of(found) if isinstance(found, np.ndarray) else found


def _given(value: Value, kept: Sequence[Any]) -> Any:
    if value.is_constant:
        return value.data
    found = kept[value.number]
    if isinstance(found, np.ndarray) and is_generator(value.variable):
        return generator_of(found)
    if isinstance(getattr(value.variable, "type", None), ScalarType) and hasattr(found, "ndim"):
        return found[()]
    return found


def _direct(plan: StepPlan) -> Callable[..., Any] | None:
    """The call of a plan that is one function of all inputs, in order."""
    match plan.steps:
        case (Computed() as step,):
            pass
        case _:
            return None
    outputs = [-1 if v.is_constant else v.number for v in plan.outputs]
    if step.outputs != tuple(outputs):
        return None
    call: Callable[..., Any] = getattr(step.function, "_call", step.function)
    constants = step.constants
    if step.inputs == plan.inputs:
        return call if not constants else lambda *args: call(*args, *constants)
    places = [plan.inputs.index(n) for n in step.inputs]
    return lambda *args: call(*[args[p] for p in places], *constants)
