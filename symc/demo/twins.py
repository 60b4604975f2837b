"""The same models as in `models.py`, written by hand in NumPy: the measure of right and of fast.

Temporaries are reused where a careful person would, so that the comparison of times is fair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from symc.demo.digits import Floats, Ints
from symc.demo.models import DECAYS, EPSILON, MOMENTUM, Start

Step: TypeAlias = Callable[[Floats, Ints], float]


def regression(start: Start, rate: float = 0.2) -> Step:
    """A training step of the softmax regression; keeps its parameters to itself."""
    w, b = parameters = [value.copy() for value in start.values()]
    velocities = [np.zeros_like(value) for value in parameters]

    def step(x: Floats, y: Ints) -> float:
        scores: Floats = x @ w
        scores += b
        loss, bar = _loss(scores, y)
        grads: list[Floats] = [x.T @ bar, bar.sum(0)]
        for p, v, g in zip(parameters, velocities, grads, strict=True):
            v *= MOMENTUM
            v -= rate * g
            p += v
        return loss

    return step


def network(start: Start, rate: float = 0.002) -> Step:
    """A training step of the network; keeps its parameters to itself."""
    w1, b1, w2, b2 = parameters = [value.copy() for value in start.values()]
    follow = _adam(parameters, rate)

    def step(x: Floats, y: Ints) -> float:
        hidden: Floats = x @ w1
        hidden += b1
        np.maximum(hidden, 0, out=hidden)
        scores: Floats = hidden @ w2
        scores += b2
        loss, bar = _loss(scores, y)
        below: Floats = bar @ w2.T
        below *= hidden > 0
        follow([x.T @ below, below.sum(0), hidden.T @ bar, bar.sum(0)])
        return loss

    return step


def _loss(scores: Floats, y: Ints) -> tuple[float, Floats]:
    """The mean cross-entropy, and its derivative by the scores, which are overwritten."""
    rows = np.arange(len(y))
    scores -= scores.max(axis=1, keepdims=True)
    chosen = scores[rows, y]
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    loss = float((np.log(total[:, 0]) - chosen).mean())
    scores /= total
    scores[rows, y] -= 1
    scores /= len(y)
    return loss, scores


def _adam(parameters: Sequence[Floats], rate: float) -> Callable[[Sequence[Floats]], None]:
    first, second = DECAYS
    means = [np.zeros_like(value) for value in parameters]
    squares = [np.zeros_like(value) for value in parameters]
    count = 0

    def follow(grads: Sequence[Floats]) -> None:
        nonlocal count
        count += 1
        scale = np.float32(rate * (1 - second**count) ** 0.5 / (1 - first**count))
        for p, m, v, g in zip(parameters, means, squares, grads, strict=True):
            m *= first
            m += (1 - first) * g
            v *= second
            g *= g
            g *= 1 - second
            v += g
            change = np.sqrt(v)
            change += EPSILON
            np.divide(m, change, out=change)
            change *= scale
            p -= change

    return follow
