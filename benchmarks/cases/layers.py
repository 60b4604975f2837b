"""Networks of dense layers with tanh and a softmax at the end, written for each library."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from measure import module
from numpy.typing import NDArray

Array = NDArray[Any]


def parameters(widths: Sequence[int], seed: int = 0) -> list[Array]:
    """Weights and offsets of the layers, one after the other, in float32."""
    rng = np.random.default_rng(seed)
    made: list[Array] = []
    for before, after in itertools.pairwise(widths):
        bound = (6.0 / (before + after)) ** 0.5
        made += [rng.uniform(-bound, bound, (before, after)), rng.normal(size=after) * 0.01]
    return [array.astype(np.float32) for array in made]


def batch(rows: int, widths: Sequence[int], seed: int = 1) -> tuple[Array, Array]:
    """Rows and their classes."""
    rng = np.random.default_rng(seed)
    return rng.random((rows, widths[0]), dtype=np.float32), rng.integers(0, widths[-1], rows)


def numpy_step(values: Sequence[Array], x: Array, y: Array, rate: float) -> tuple[Any, list[Array]]:
    """The loss before, and the parameters after, a step of gradient descent, by hand."""
    layers = len(values) // 2
    inputs = [x]
    for k in range(layers - 1):
        inputs.append(np.tanh(inputs[-1] @ values[2 * k] + values[2 * k + 1]))
    scores = inputs[-1] @ values[-2] + values[-1]
    scores -= scores.max(1, keepdims=True)
    e = np.exp(scores)
    total = e.sum(1, keepdims=True)
    rows = np.arange(len(y))
    loss = (np.log(total[:, 0]) - scores[rows, y]).mean()
    bar = e / total
    bar[rows, y] -= 1
    bar /= x.dtype.type(len(y))
    bars: list[Array] = []
    for k in range(layers - 1, -1, -1):
        bars[:0] = [inputs[k].T @ bar, bar.sum(0)]
        if k:
            bar = (bar @ values[2 * k].T) * (1 - inputs[k] * inputs[k])
    step = x.dtype.type(rate)
    return loss, [value - step * b for value, b in zip(values, bars, strict=True)]


def reference(values: Sequence[Array], x: Array, y: Array, rate: float) -> tuple[Any, list[Array]]:
    """`numpy_step` in float64."""
    return numpy_step([value.astype(float) for value in values], x.astype(float), y, rate)


def symc_parts(values: Sequence[Array]) -> tuple[list[Any], list[Any], Any]:
    """Inputs, shared parameters and loss."""
    import symc
    import symc.tensor as T

    x, y = T.matrix("x", dtype="float32"), T.vector("y", dtype="int64")
    names = [f"{'wb'[k % 2]}{k // 2}" for k in range(len(values))]
    shared = [symc.shared(value, name=name) for value, name in zip(values, names, strict=True)]
    h = x
    for k in range(0, len(shared) - 2, 2):
        h = T.tanh(h @ shared[k] + shared[k + 1])
    p = T.softmax(h @ shared[-2] + shared[-1])
    loss = -T.log(p)[T.arange(y.shape[0]), y].mean()
    return [x, y], shared, loss


def jax_loss(values: Sequence[Any], x: Any, y: Any) -> Any:
    """The loss."""
    jax = module("jax")
    jnp = jax.numpy

    h = x
    for k in range(0, len(values) - 2, 2):
        h = jnp.tanh(h @ values[k] + values[k + 1])
    scores = h @ values[-2] + values[-1]
    return -jax.nn.log_softmax(scores)[jnp.arange(y.shape[0]), y].mean()


def jax_step(values: Sequence[Any], x: Any, y: Any, rate: float) -> tuple[Any, list[Any]]:
    """The loss before, and the parameters after, a step."""
    jax = module("jax")

    loss, bars = jax.value_and_grad(jax_loss)(list(values), x, y)
    return loss, [value - rate * bar for value, bar in zip(values, bars, strict=True)]
