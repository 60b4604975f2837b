"""Parts shared by all optimisers: gradients, memory for each parameter, and a step's rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from symc import tensor as T
from symc.codegen.record import record
from symc.derivatives.grad import grad
from symc.errors import DTypeError, ShapeMismatch
from symc.graph.inputs import SharedVariable, shared
from symc.graph.node import Tensor
from symc.optim.schedules import Schedule
from symc.tensor.broadcast import describe

Updates: TypeAlias = "list[tuple[SharedVariable, Tensor]]"
Loss: TypeAlias = "Tensor | Sequence[Tensor]"
Rate: TypeAlias = "float | Tensor | Schedule"
"""A number, a symbolic scalar, or a function of the number of steps before this one."""


def gradients(loss: Loss, params: Sequence[SharedVariable]) -> list[Tensor]:
    """The gradients of a loss, or those given, one for each parameter."""
    check_params(params)
    if isinstance(loss, Tensor):
        return grad(loss, list(params))
    given = list(loss)
    if len(given) != len(params):
        raise ShapeMismatch(f"{len(given)} gradients were given for {len(params)} parameters")
    return given


def memory(param: SharedVariable, name: str) -> SharedVariable:
    """Zeros like a parameter's value, kept where that is."""
    value = np.zeros_like(param.get_value())
    label = f"{param.name or 'param'}_{name}"
    return shared(value, label, shape=param.op.declared, device=param.device)


@record
class CountedStep:
    """One step: its number from 1 on, as a float64 scalar, and the update that counts it."""

    number: Tensor
    updates: Updates


def counted(params: Sequence[SharedVariable]) -> CountedStep:
    """A new counter of steps, beside the parameters."""
    check_params(params)
    device = params[0].device if params else None
    counter = shared(np.int64(0), "steps", device=device)
    return CountedStep(T.cast(counter + 1, "float64"), [(counter, counter + 1)])


@record
class Pace:
    """The learning rate of the present step, and the updates that it needs."""

    value: float | Tensor
    updates: Updates

    def of(self, param: SharedVariable) -> float | Tensor:
        """The rate in the dtype of a parameter."""
        return T.cast(self.value, param.dtype) if isinstance(self.value, Tensor) else self.value


def check_params(params: Sequence[SharedVariable]) -> None:
    """Raises TypeError unless these are shared variables of floats."""
    if isinstance(cast("object", params), Tensor):
        raise TypeError("params must be a list of shared variables, like [w, b]")
    for param in params:
        if not isinstance(cast("object", param), SharedVariable):
            raise TypeError(f"a parameter must be a shared variable, not {param!r}")
        if not param.dtype.is_float:
            raise DTypeError(f"a parameter must be of floats\n  given  {describe(param)}")


def check_fractions(label: str, **fractions: float) -> None:
    """Raises `ValueError` unless these shares of what was before are from 0 to below 1."""
    for name, fraction in fractions.items():
        if not 0 <= fraction < 1:
            raise ValueError(f"{label}: {name} must be from 0 to below 1, not {fraction!r}")


def _number(what: str, given: Any) -> float:
    """A number that is not negative. Raises TypeError or ValueError for anything else."""
    value: npt.NDArray[Any] = np.asarray(given)
    if value.ndim or value.dtype.kind not in "iuf":
        raise TypeError(f"{what} must be a number, a scalar tensor or a schedule, not {given!r}")
    if not 0 <= value < np.inf:
        raise ValueError(f"{what} must be finite and not negative, but is {given!r}")
    return float(value)


def pace(
    learning_rate: Rate, params: Sequence[SharedVariable], step: CountedStep | None = None
) -> Pace:
    """The rate of a step. A schedule counts with `step`, or with a counter of its own."""
    if isinstance(learning_rate, Tensor):
        if learning_rate.ndim:
            raise ShapeMismatch(
                f"a learning rate must be a scalar\n  given  {describe(learning_rate)}"
            )
        return Pace(learning_rate, [])
    if not callable(learning_rate):
        return Pace(_number("a learning rate", learning_rate), [])
    own = counted(params) if step is None else step
    return Pace(learning_rate(own.number - 1), own.updates if step is None else [])
