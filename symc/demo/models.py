"""The models, written in symc: a softmax regression and a network with one hidden layer.

Each is an expression, its derivatives, and a rule of how the parameters follow them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

import symc
import symc.tensor as T
from symc.calls.callable import Function
from symc.demo.digits import CLASSES, PIXELS, Floats
from symc.graph.inputs import SharedVariable
from symc.graph.node import Tensor

HIDDEN = 128
MOMENTUM = 0.9
DECAYS = (0.9, 0.999)  # of Adam's two averages
EPSILON = 1e-8

Start: TypeAlias = Mapping[str, Floats]
Updates: TypeAlias = list[tuple[SharedVariable, Tensor]]
Optimizer: TypeAlias = Callable[[Sequence[SharedVariable], Sequence[Tensor]], Updates]


@dataclass(frozen=True, slots=True)
class Model:
    """Two compiled functions that share the parameters."""

    name: str
    step: Function
    """From images and classes to the mean loss; updates the parameters."""
    predict: Function
    """From images to classes."""
    seconds: float
    """How long making `step` took: the sum of `step.seconds`, and importing the compiler."""


def start_regression() -> Start:
    """The softmax regression's first parameters."""
    return {"w": np.zeros((PIXELS, CLASSES), np.float32), "b": np.zeros(CLASSES, np.float32)}


def start_network(rng: np.random.Generator) -> Start:
    """The network's first parameters, as He et al. (2015) scale them for relu."""

    def random(rows: int, columns: int) -> Floats:
        scale = (2 / rows) ** 0.5
        weights: Floats = (scale * rng.standard_normal((rows, columns))).astype(np.float32)
        return weights

    return {
        "w1": random(PIXELS, HIDDEN), "b1": np.zeros(HIDDEN, np.float32),
        "w2": random(HIDDEN, CLASSES), "b2": np.zeros(CLASSES, np.float32),
    }  # fmt: skip


def regression(start: Start, rate: float = 0.2) -> Model:
    """Softmax regression, trained with momentum."""
    x = T.fmatrix("x")
    w, b = parameters = _share(start)
    return _model("softmax regression", x, x @ w + b, parameters, momentum(rate))


def network(start: Start, rate: float = 0.002) -> Model:
    """A hidden layer of rectified units, trained with Adam."""
    x = T.fmatrix("x")
    w1, b1, w2, b2 = parameters = _share(start)
    hidden = T.relu(x @ w1 + b1)
    return _model("two-layer network", x, hidden @ w2 + b2, parameters, adam(rate))


def momentum(rate: float) -> Optimizer:
    """Gradient descent with a velocity: v <- 0.9 v - rate g, p <- p + v."""

    def updates(parameters: Sequence[SharedVariable], grads: Sequence[Tensor]) -> Updates:
        made: Updates = []
        for p, g in zip(parameters, grads, strict=True):
            v = _zeros_like(p, "velocity")
            new = MOMENTUM * v - rate * g
            made += [(v, new), (p, p + new)]
        return made

    return updates


def adam(rate: float) -> Optimizer:
    """Adam (Kingma and Ba, 2015, algorithm 1 with the bias corrections in the rate)."""

    def updates(parameters: Sequence[SharedVariable], grads: Sequence[Tensor]) -> Updates:
        first, second = DECAYS
        count = symc.shared(np.float32(0), name="count")
        now = count + 1
        scale = rate * T.sqrt(1 - second**now) / (1 - first**now)
        made: Updates = [(count, now)]
        for p, g in zip(parameters, grads, strict=True):
            m, v = _zeros_like(p, "mean"), _zeros_like(p, "square")
            new_m = first * m + (1 - first) * g
            new_v = second * v + (1 - second) * g**2
            made += [(m, new_m), (v, new_v), (p, p - scale * new_m / (T.sqrt(new_v) + EPSILON))]
        return made

    return updates


def _model(
    name: str, x: Tensor, scores: Tensor, parameters: list[SharedVariable], optimizer: Optimizer
) -> Model:
    y = T.vector("y", dtype="int64")
    p = T.softmax(scores)
    loss = -T.log(p)[T.arange(y.shape[0]), y].mean()
    updates = optimizer(parameters, symc.grad(loss, parameters))
    short = name.replace(" ", "_").replace("-", "_")
    before = time.perf_counter()
    step = symc.function([x, y], loss, updates=updates, name=f"{short}_step")
    seconds = time.perf_counter() - before
    predict = symc.function([x], T.argmax(p, axis=1), name=f"{short}_predict")
    return Model(name, step, predict, seconds)


def _share(start: Start) -> list[SharedVariable]:
    return [symc.shared(value, name=name) for name, value in start.items()]


def _zeros_like(parameter: SharedVariable, what: str) -> SharedVariable:
    return symc.shared(np.zeros_like(parameter.get_value()), name=f"{parameter.name}_{what}")
