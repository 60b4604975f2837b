"""L-BFGS: minimising a function of many variables by its values and gradients.

Nocedal and Wright, Numerical optimization, 2nd edition, algorithms 7.4 and 7.5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from symc import tensor as T
from symc.calls.function import function
from symc.graph.inputs import SharedVariable
from symc.graph.node import Array, Tensor
from symc.graph.types import promote
from symc.optim.common import gradients
from symc.optim.line_search import LinePoint, strong_wolfe

__all__ = ["LBFGS", "Minimum", "lbfgs", "minimize"]

_Memory: TypeAlias = "deque[tuple[Array, Array]]"
_NO_CHANGE = "converged: the value changes no more"


@dataclass(frozen=True, slots=True)
class Minimum:
    """Where a minimisation ended: the parameters have the values that belong to `value`.

    >>> import symc
    >>> w = symc.shared(0.0, name="w")
    >>> found = symc.optim.minimize((w - 3) ** 2, [w])
    >>> found.converged, found.iterations
    (True, 2)
    """

    value: float
    gradient: float
    """The largest element of the gradient there, without its sign."""
    converged: bool
    message: str
    iterations: int
    evaluations: int


@dataclass(frozen=True, slots=True)
class _Place:
    """All parameters in one vector, with the loss and its gradient."""

    x: Array
    value: float
    slope: Array

    @property
    def steepest(self) -> float:
        return float(np.max(np.abs(self.slope), initial=0.0))


class LBFGS:
    """A compiled loss and its gradient, to be minimised for any values of the inputs.

    `lbfgs` makes it.

    >>> import symc
    >>> w = symc.shared(0.0, name="w")
    >>> symc.optim.lbfgs((w - 3) ** 2, [w])().value
    0.0
    """

    def __init__(
        self, loss: Tensor, params: Sequence[SharedVariable], inputs: Sequence[Tensor], history: int
    ) -> None:
        if history < 1:
            raise ValueError(f"history={history}: at least one step must be remembered")
        slopes = gradients(loss, params)
        if not slopes:
            raise ValueError("L-BFGS needs at least one parameter")
        self.params = list(params)
        self.history = history
        self._evaluations = 0
        dtype = promote(*(param.dtype for param in params))
        place = T.vector("parameters", dtype.name)
        replace: dict[Tensor, Tensor] = {}
        start = 0
        for param in params:
            value = param.get_value()
            part = T.reshape(place[start : start + value.size], value.shape)
            replace[param] = T.cast(part, param.dtype)
            start += value.size
        flat = T.concatenate([T.cast(slope, dtype).ravel() for slope in slopes])
        # A stream's draws stay the same: the loss is one function while it is minimised.
        self.function = function(
            [place, *inputs], [loss, flat], givens=replace, no_default_updates=True, name="lbfgs"
        )
        self._dtype = np.dtype(dtype.name)

    def __call__(
        self,
        *values: Any,
        max_iterations: int = 200,
        gradient_tolerance: float = 1e-6,
        value_tolerance: float = 1e-12,
    ) -> Minimum:
        """Minimises from the parameters' values, for these inputs, and sets them to the minimum.

        It ends when no element of the gradient is larger than `gradient_tolerance`, when a step
        changes the value by less than `value_tolerance` of its size (or than the parameters' dtype
        can tell) or none is to be found that does more, when no step leads further down, or after
        `max_iterations`.
        """
        self._evaluations = 0
        value_tolerance = max(value_tolerance, 4 * float(np.finfo(self._dtype).eps))
        start = np.concatenate([param.get_value().ravel() for param in self.params])
        place = self._evaluate(start.astype(np.float64), values)
        memory: _Memory = deque(maxlen=self.history)
        iterations, message = 0, _verdict(place, gradient_tolerance)
        while not message:
            if iterations == max_iterations:
                message = "stopped: as many iterations as were allowed"
                break
            promised = -float(_direction(place.slope, memory) @ place.slope) / 2
            after = self._descend(place, memory, values)
            if after is None:  # by rounding alone, where a step would change less than its errors
                is_flat = promised <= value_tolerance * abs(place.value)
                message = _NO_CHANGE if is_flat else "stopped: no step leads further down"
                break
            iterations += 1
            change = place.value - after.value
            message = _verdict(after, gradient_tolerance)
            if not message and change <= value_tolerance * max(abs(after.value), 1e-300):
                message = _NO_CHANGE
            place = after
        self._keep(place.x)
        converged = message.startswith("converged")
        return Minimum(
            place.value, place.steepest, converged, message, iterations, self._evaluations
        )

    def _evaluate(self, x: Array, values: Sequence[Any]) -> _Place:
        self._evaluations += 1
        value, slope = self.function(x.astype(self._dtype), *values)
        return _Place(x, float(value), slope.astype(np.float64))

    def _descend(self, place: _Place, memory: _Memory, values: Sequence[Any]) -> _Place | None:
        """A place further down, which is remembered; from anew if the memory misleads."""
        found = self._along(_direction(place.slope, memory), place, memory, values)
        if found is None and memory:
            memory.clear()
            found = self._along(-place.slope, place, memory, values)
        if found is not None:
            step, change = found.x - place.x, found.slope - place.slope
            if step @ change > 1e-10 * np.linalg.norm(step) * np.linalg.norm(change):
                memory.append((step, change))
        return found

    def _along(
        self, direction: Array, place: _Place, memory: _Memory, values: Sequence[Any]
    ) -> _Place | None:
        slope = float(direction @ place.slope)
        if not slope < 0:
            return None

        def line(length: float) -> LinePoint:
            there = self._evaluate(place.x + length * direction, values)
            return LinePoint(length, there.value, float(direction @ there.slope), there)

        first = 1.0 if memory else min(1.0, 1.0 / float(np.abs(place.slope).sum()))
        found = strong_wolfe(line, LinePoint(0.0, place.value, slope), first)
        return None if found is None else found.rest

    def _keep(self, x: Array) -> None:
        start = 0
        for param in self.params:
            value = param.get_value()
            part = x[start : start + value.size].reshape(value.shape)
            param.set_value(part.astype(value.dtype))
            start += value.size


def _verdict(place: _Place, tolerance: float) -> str:
    """Why to end here; nothing if not."""
    if not np.isfinite(place.value) or not np.isfinite(place.slope).all():
        return "stopped: the loss or its gradient is not finite"
    return "converged: the gradient is small" if place.steepest <= tolerance else ""


def _direction(slope: Array, memory: _Memory) -> Array:
    """Minus the inverse Hessian, as the remembered steps show it, times the gradient."""
    result = -slope
    weights: list[float] = []
    for step, change in reversed(memory):
        weights.append(float(step @ result) / float(step @ change))
        result = result - weights[-1] * change
    if memory:
        step, change = memory[-1]
        result = result * (float(step @ change) / float(change @ change))
    for (step, change), weight in zip(memory, reversed(weights), strict=True):
        result = result + (weight - float(change @ result) / float(step @ change)) * step
    return result


def lbfgs(
    loss: Tensor,
    params: Sequence[SharedVariable],
    inputs: Sequence[Tensor] = (),
    history: int = 10,
) -> LBFGS:
    """A function that minimises a loss, a scalar tensor, by L-BFGS from the parameters' values.

    >>> import numpy as np, symc, symc.tensor as T
    >>> w, x = symc.shared(np.zeros(2), name="w"), T.vector("x")
    >>> fit = symc.optim.lbfgs(T.sqr(w - x).sum(), [w], [x])
    >>> fit(np.array([1.0, 2.0])).converged, w.get_value()
    (True, array([1., 2.]))
    """
    return LBFGS(loss, params, inputs, history)


def minimize(
    loss: Tensor,
    params: Sequence[SharedVariable],
    given: Mapping[Tensor, Any] | None = None,
    *,
    history: int = 10,
    max_iterations: int = 200,
    gradient_tolerance: float = 1e-6,
    value_tolerance: float = 1e-12,
) -> Minimum:
    """Minimises a loss by L-BFGS once, for given values of its inputs: ``{x: array}``.

    The parameters have the values that it found afterwards. See `LBFGS` for when it ends.

    >>> import symc
    >>> w = symc.shared(0.0, name="w")
    >>> symc.optim.minimize((w - 3) ** 2, [w]).value, float(w.get_value())
    (0.0, 3.0)
    """
    values = dict(given or {})
    return LBFGS(loss, params, list(values), history)(
        *values.values(),
        max_iterations=max_iterations,
        gradient_tolerance=gradient_tolerance,
        value_tolerance=value_tolerance,
    )
