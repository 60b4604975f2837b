"""Learning rates over steps, and gradients within bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symc import optim
from symc import tensor as T
from symc.graph.interpreter import evaluate

NUMBERS = np.arange(0.0, 14.0)

SCHEDULES: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "constant": (optim.constant_rate(0.3), lambda t: 0.3),
    "step": (optim.step_decay(2.0, 4, 0.5), lambda t: 2.0 * 0.5 ** (t // 4)),
    "exponential": (optim.exponential_decay(2.0, 4, 0.5), lambda t: 2.0 * 0.5 ** (t / 4)),
    "linear": (optim.linear_decay(1.0, 10, 0.2), lambda t: 1.0 - 0.8 * min(t / 10, 1)),
    "cosine": (
        optim.cosine_decay(1.0, 10, 0.2),
        lambda t: 0.2 + 0.4 * (1 + math.cos(math.pi * min(t / 10, 1))),
    ),
    "piecewise": (
        optim.piecewise_rate([3, 8], [1.0, 0.1, 0.01]),
        lambda t: 1.0 if t < 3 else 0.1 if t < 8 else 0.01,
    ),
    "warmup": (
        optim.warmup(optim.linear_decay(1.0, 5), 4),
        lambda t: t / 4 if t < 4 else max(0.0, 1 - (t - 4) / 5),
    ),
    "warmup to a constant": (optim.warmup(0.5, 4, 0.1), lambda t: 0.1 + 0.1 * min(t, 4)),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name: str) -> None:
    schedule, wanted = SCHEDULES[name]
    step = T.scalar("step")
    rate = schedule(step)
    assert rate.type == step.type
    for t in NUMBERS:
        (value,) = evaluate([rate], {step: np.array(t)})
        assert math.isclose(float(value), wanted(t), rel_tol=1e-12, abs_tol=1e-15), t


def test_bad_schedules() -> None:
    with pytest.raises(ValueError, match="2 boundaries need one rate more, not 2"):
        optim.piecewise_rate([1, 2], [0.1, 0.2])
    with pytest.raises(ValueError, match=r"the boundaries must increase: \[3, 3\]"):
        optim.piecewise_rate([3, 3], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="a number of steps must be positive, not 0"):
        optim.cosine_decay(0.1, 0)


def test_clipping() -> None:
    a, b = np.array([3.0, -4.0]), np.array([[12.0]])
    x, y = T.vector("x"), T.matrix("y")

    def clipped(gradients: Any) -> list[Any]:
        return evaluate(gradients, {x: a, y: b})

    by_value = clipped(optim.clip_by_value([x, y], -1.0, 5.0))
    np.testing.assert_array_equal(by_value[0], [3.0, -1.0])
    by_norm = clipped(optim.clip_by_norm([x, y], 6.0))
    np.testing.assert_allclose(by_norm[0], a)
    np.testing.assert_allclose(by_norm[1], [[6.0]])
    assert clipped([optim.global_norm([x, y])]) == [13.0]
    together = clipped(optim.clip_by_global_norm([x, y], 6.5))
    np.testing.assert_allclose(together[0], a / 2)
    np.testing.assert_allclose(together[1], b / 2)
    np.testing.assert_array_equal(clipped(optim.clip_by_global_norm([x, y], 20.0))[0], a)


def test_clipping_of_zeros_and_of_mixed_dtypes() -> None:
    x, y = T.vector("x"), T.vector("y", "float32")
    gradients = optim.clip_by_global_norm([x, y], 1.0)
    assert [g.dtype.name for g in gradients] == ["float64", "float32"]
    values = evaluate(gradients, {x: np.zeros(2), y: np.zeros(3, "float32")})
    assert all((value == 0).all() for value in values)
    with pytest.raises(ValueError, match="the limit of a norm must be positive, not 0"):
        optim.clip_by_norm([x], 0)
    with pytest.raises(ValueError, match="low=1 is above high=-1"):
        optim.clip_by_value([x], 1, -1)
