"""Learning rates that change from step to step: functions of the number of steps before.

    symc.optim.adam(loss, params, learning_rate=symc.optim.cosine_decay(1e-3, steps=10_000))

A schedule is called with a float64 scalar, 0 at the first step, and returns the rate of that step;
so any function of a tensor is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from symc import tensor as T
from symc.graph.node import Tensor

__all__ = [
    "Schedule", "constant_rate", "cosine_decay", "exponential_decay", "linear_decay",
    "piecewise_rate", "step_decay", "warmup",
]  # fmt: skip

Schedule: TypeAlias = "Callable[[Tensor], Tensor]"


def constant_rate(rate: float) -> Schedule:
    """The same rate at every step.

    A schedule, which is a function from the step's number, a float scalar, to the rate.

    >>> import symc, symc.tensor as T
    >>> symc.optim.constant_rate(0.1)(T.constant(100.0)).eval()
    array(0.1)
    """
    return lambda step: T.full_like(step, rate)


def step_decay(rate: float, every: int, factor: float = 0.1) -> Schedule:
    """A rate that is multiplied by `factor` after each `every` steps.

    A schedule, which is a function from the step's number, a float scalar, to the rate.

    >>> import symc, symc.tensor as T
    >>> rate = symc.optim.step_decay(1.0, 10, 0.5)
    >>> [float(rate(T.constant(float(n))).eval()) for n in (9, 10, 25)]
    [1.0, 0.5, 0.25]
    """
    period = _positive(every)
    return lambda step: rate * T.pow(factor, T.floor(step / period))


def exponential_decay(rate: float, every: int, factor: float = 0.1) -> Schedule:
    """A rate that falls smoothly, by `factor` over `every` steps.

    A schedule, which is a function from the step's number, a float scalar, to the rate.

    >>> import symc, symc.tensor as T
    >>> rate = symc.optim.exponential_decay(1.0, 10, 0.5)
    >>> [float(rate(T.constant(float(n))).eval()) for n in (0, 10, 20)]
    [1.0, 0.5, 0.25]
    """
    period = _positive(every)
    return lambda step: rate * T.pow(factor, step / period)


def linear_decay(rate: float, steps: int, final: float = 0.0) -> Schedule:
    """A rate that goes along a line from `rate` to `final`, over `steps` steps.

    A schedule, which is a function from the step's number, a float scalar, to the rate.

    >>> import symc, symc.tensor as T
    >>> rate = symc.optim.linear_decay(1.0, 100)
    >>> [float(rate(T.constant(float(n))).eval()) for n in (0, 50, 200)]
    [1.0, 0.5, 0.0]
    """
    whole = _positive(steps)
    return lambda step: rate + (final - rate) * T.minimum(step / whole, 1.0)


def cosine_decay(rate: float, steps: int, final: float = 0.0) -> Schedule:
    """A rate that goes along half a cosine wave from `rate` to `final`, over `steps` steps.

    Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, 2017.

    A schedule, which is a function from the step's number, a float scalar, to the rate.

    >>> import symc, symc.tensor as T
    >>> rate = symc.optim.cosine_decay(1.0, 100)
    >>> [float(rate(T.constant(float(n))).eval()) for n in (0, 50, 200)]
    [1.0, 0.5, 0.0]
    """
    whole = _positive(steps)
    gap = (rate - final) / 2
    return lambda step: final + gap * (1 + T.cos(math.pi * T.minimum(step / whole, 1.0)))


def piecewise_rate(boundaries: Sequence[int], rates: Sequence[float]) -> Schedule:
    """The first rate up to the first boundary, from that step on the second, and so on.

    There is one rate more than there are boundaries, which increase.

    A schedule, which is a function from the step's number, a float scalar, to the rate.

    >>> import symc, symc.tensor as T
    >>> rate = symc.optim.piecewise_rate([10, 20], [1.0, 0.5, 0.25])
    >>> [float(rate(T.constant(float(n))).eval()) for n in (9, 10, 30)]
    [1.0, 0.5, 0.25]
    """
    if len(rates) != len(boundaries) + 1:
        raise ValueError(f"{len(boundaries)} boundaries need one rate more, not {len(rates)}")
    if any(later <= earlier for earlier, later in pairwise(boundaries)):
        raise ValueError(f"the boundaries must increase: {list(boundaries)}")

    def schedule(step: Tensor) -> Tensor:
        current = T.full_like(step, rates[0])
        for boundary, rate in zip(boundaries, rates[1:], strict=True):
            current = T.where(step >= boundary, rate, current)
        return current

    return schedule


def warmup(schedule: float | Schedule, steps: int, start: float = 0.0) -> Schedule:
    """A schedule, or a constant rate, after `steps` steps in which the rate grows linearly.

    It grows from `start` to the schedule's first rate, and the schedule counts from there.

    A schedule, which is a function from the step's number, a float scalar, to the rate.

    >>> import symc, symc.tensor as T
    >>> rate = symc.optim.warmup(1.0, 10)
    >>> [float(rate(T.constant(float(n))).eval()) for n in (0, 5, 50)]
    [0.0, 0.5, 1.0]
    """
    after = schedule if callable(schedule) else constant_rate(schedule)
    ramp = _positive(steps)

    def warmed(step: Tensor) -> Tensor:
        first = after(T.zeros_like(step))
        growing = start + (first - start) * (step / ramp)
        return T.where(step < ramp, growing, after(T.maximum(step - ramp, 0.0)))

    return warmed


def _positive(steps: int) -> float:
    if steps <= 0:
        raise ValueError(f"a number of steps must be positive, not {steps}")
    return float(steps)
