"""Optimisers against the published formulas, written once more in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import symc
from symc import optim
from symc import tensor as T

Array = npt.NDArray[Any]
Formula = Callable[[Iterator[Array]], Iterator[Array]]
START = np.array([0.5, -2.0, 3.0])
STEPS = 6


def gradient(w: Array) -> Array:
    """Of the loss below."""
    result: Array = np.array([4.0, 0.5, 0.1]) * w**3 + 0.3
    return result


def loss(w: Any) -> Any:
    return (T.constant(np.array([1.0, 0.125, 0.025])) * w**4 + 0.3 * w).sum()


def sgd(w: Array, rate: float, momentum: float = 0.0, nesterov: bool = False) -> Iterator[Array]:
    velocity = np.zeros_like(w)
    while True:
        g = gradient(w)
        velocity = momentum * velocity + g
        w = w - rate * (g + momentum * velocity if nesterov else velocity)
        yield w


def adagrad(w: Array, rate: float, epsilon: float = 1e-10) -> Iterator[Array]:
    total = np.zeros_like(w)
    while True:
        g = gradient(w)
        total = total + g**2
        w = w - rate * g / (np.sqrt(total) + epsilon)
        yield w


def rmsprop(
    w: Array, rate: float, decay: float, momentum: float = 0.0, centered: bool = False
) -> Iterator[Array]:
    square, mean, velocity = (np.zeros_like(w) for _ in range(3))
    while True:
        g = gradient(w)
        square = decay * square + (1 - decay) * g**2
        mean = decay * mean + (1 - decay) * g
        variance = square - mean**2 if centered else square
        velocity = momentum * velocity + g / (np.sqrt(variance) + 1e-8)
        w = w - rate * velocity
        yield w


def adadelta(w: Array, rate: float, decay: float, epsilon: float) -> Iterator[Array]:
    square, moved = np.zeros_like(w), np.zeros_like(w)
    while True:
        g = gradient(w)
        square = decay * square + (1 - decay) * g**2
        delta = np.sqrt(moved + epsilon) / np.sqrt(square + epsilon) * g
        moved = decay * moved + (1 - decay) * delta**2
        w = w - rate * delta
        yield w


def adam(w: Array, rate: float, beta1: float, beta2: float, fade: float = 0.0) -> Iterator[Array]:
    m, v, t = np.zeros_like(w), np.zeros_like(w), 0
    while True:
        g, t = gradient(w), t + 1
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        w = w - rate * fade * w - rate * m_hat / (np.sqrt(v_hat) + 1e-8)
        yield w


def adamax(w: Array, rate: float, beta1: float, beta2: float) -> Iterator[Array]:
    m, u, t = np.zeros_like(w), np.zeros_like(w), 0
    while True:
        g, t = gradient(w), t + 1
        m, u = beta1 * m + (1 - beta1) * g, np.maximum(beta2 * u, np.abs(g) + 1e-8)
        w = w - rate / (1 - beta1**t) * m / u
        yield w


CASES: dict[str, tuple[Callable[[Any, Any], optim.Updates], Iterator[Array]]] = {
    "sgd": (lambda cost, p: optim.sgd(cost, p, 0.05), sgd(START, 0.05)),
    "momentum": (lambda cost, p: optim.sgd(cost, p, 0.02, 0.9), sgd(START, 0.02, 0.9)),
    "nesterov": (
        lambda cost, p: optim.sgd(cost, p, 0.02, 0.9, nesterov=True), sgd(START, 0.02, 0.9, True)
    ),
    "adagrad": (lambda cost, p: optim.adagrad(cost, p, 0.1), adagrad(START, 0.1)),
    "rmsprop": (lambda cost, p: optim.rmsprop(cost, p, 0.01, 0.9), rmsprop(START, 0.01, 0.9)),
    "rmsprop with all": (
        lambda cost, p: optim.rmsprop(cost, p, 0.01, 0.9, momentum=0.8, centered=True),
        rmsprop(START, 0.01, 0.9, 0.8, True),
    ),
    "adadelta": (
        lambda cost, p: optim.adadelta(cost, p, 0.9, 0.8), adadelta(START, 0.9, 0.8, 1e-6)
    ),
    "adam": (lambda cost, p: optim.adam(cost, p, 0.1, 0.8, 0.95), adam(START, 0.1, 0.8, 0.95)),
    "adamw": (
        lambda cost, p: optim.adamw(cost, p, 0.1, weight_decay=0.2),
        adam(START, 0.1, 0.9, 0.999, 0.2),
    ),
    "adamax": (lambda cost, p: optim.adamax(cost, p, 0.1, 0.8), adamax(START, 0.1, 0.8, 0.999)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_first_steps_follow_the_formula(name: str) -> None:
    make, expected = CASES[name]
    w = symc.shared(START, name="w")
    step = symc.function([], loss(w), updates=make(loss(w), [w]), mode="python")
    for _, wanted in zip(range(STEPS), expected, strict=False):
        step()
        np.testing.assert_allclose(w.get_value(), wanted, rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["sgd", "adagrad", "rmsprop", "adadelta", "adam", "adamw", "adamax"]
)
def test_a_small_network_learns_in_float32(name: str) -> None:
    """The sign of a product, which needs the hidden layer; compiled, with weights of two shapes."""
    random = np.random.default_rng(0)
    x, y = T.matrix("x", "float32"), T.vector("y", "float32")
    first = symc.shared(random.normal(size=(2, 16)).astype("float32"), name="first")
    second = symc.shared(random.normal(size=16).astype("float32") / 4, name="second")
    bias = symc.shared(np.zeros(16, "float32"), name="bias")
    score = T.tanh(x @ first + bias) @ second
    cost = T.softplus(-y * score).mean()
    rates = {"sgd": 0.5, "adagrad": 0.3, "adadelta": 20.0}
    updates = getattr(optim, name)(cost, [first, second, bias], rates.get(name, 0.02))
    step = symc.function([x, y], cost, updates=updates, mode="compile")
    points = random.normal(size=(200, 2)).astype("float32")
    signs = np.sign(points[:, 0] * points[:, 1]).astype("float32")
    losses = [step(points, signs) for _ in range(300)]
    assert losses[0].dtype == np.float32
    assert losses[-1] < 0.35 * losses[0]


def test_gradients_may_be_given() -> None:
    w, v = symc.shared(START, name="w"), symc.shared(np.array(2.0), name="v")
    slopes = optim.clip_by_value([2 * w, 2 * v], -1.0, 1.0)
    step = symc.function([], updates=optim.sgd(slopes, [w, v], 1.0), mode="python")
    step()
    np.testing.assert_array_equal(w.get_value(), START - np.clip(2 * START, -1, 1))
    assert v.get_value() == 1.0


def test_rates() -> None:
    """Numbers, symbolic scalars of any dtype, and schedules, which count on their own."""
    w, rate = symc.shared(np.float32(8.0), name="w"), T.scalar("rate")
    step = symc.function([rate], updates=optim.sgd([w], [w], rate), mode="python")
    step(0.5)
    assert w.get_value() == 4.0
    v = symc.shared(np.float32(8.0), name="v")
    falling = optim.sgd([v], [v], lambda number: 1 / (number + 2), momentum=0.0)
    step = symc.function([], updates=falling, mode="python")
    values = [float(v.get_value()) for _ in range(3) if step() is None]
    np.testing.assert_allclose(values, [4.0, 4.0 * 2 / 3, 2.0], rtol=1e-6)
    assert v.get_value().dtype == np.float32


def test_adam_counts_once_for_its_schedule() -> None:
    w = symc.shared(START, name="w")
    updates = optim.adam(loss(w), [w], optim.step_decay(0.1, every=2, factor=0.5))
    assert len(updates) == 4
    step = symc.function([], updates=updates, mode="python")
    values = [START, *(w.get_value() for _ in range(3) if step() is None)]
    exact = symc.function([], updates=optim.adam(loss(w), [w], 0.1), mode="python")
    w.set_value(START)
    for wanted in values[1:3]:
        exact()
        np.testing.assert_allclose(w.get_value(), wanted, rtol=1e-12)
    exact()
    np.testing.assert_allclose(values[3] - values[2], (w.get_value() - values[2]) / 2, rtol=1e-12)


def test_what_cannot_be_optimised() -> None:
    w, x = symc.shared(START, name="w"), T.vector("x")
    with pytest.raises(TypeError, match="params must be a list of shared variables"):
        optim.sgd(loss(w), w, 0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="params must be a list of shared variables"):
        optim.adam(loss(w), w)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="params must be a list of shared variables"):
        optim.sgd(loss(w), w, optim.constant_rate(0.1))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a parameter must be a shared variable, not <x float64"):
        optim.sgd(loss(x), [x], 0.1)  # type: ignore[list-item]
    with pytest.raises(symc.errors.DTypeError, match="a parameter must be of floats"):
        optim.sgd(loss(w), [symc.shared(np.arange(3))], 0.1)
    with pytest.raises(symc.errors.ShapeMismatch, match="2 gradients were given for 1 parameters"):
        optim.adam([w, w], [w])
    with pytest.raises(symc.errors.ShapeMismatch, match="a learning rate must be a scalar"):
        optim.adam(loss(w), [w], x)
    with pytest.raises(ValueError, match="Nesterov's momentum needs momentum="):
        optim.sgd(loss(w), [w], 0.1, nesterov=True)
