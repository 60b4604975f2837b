"""A program as users write them, in which type checkers find nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import symc
import symc.tensor as T


def standardised(x: symc.Tensor) -> symc.Tensor:
    """Columns with mean 0 and variance 1."""
    return (x - x.mean(axis=0)) / x.std(axis=0, keepdims=True)


def network(x: symc.Tensor, weights: list[symc.SharedVariable]) -> symc.Tensor:
    """Layers with tanh between them."""
    for number, w in enumerate(weights):
        x = x @ w
        if number < len(weights) - 1:
            x = T.tanh(x)
    return x


# --- training -------------------------------------------------------------------------------------

rng = np.random.default_rng(0)
x, y = T.matrix("x"), T.ivector("y")
weights = [
    symc.shared(rng.standard_normal((4, 8)), name="first"),
    symc.shared(rng.standard_normal((8, 3)), name="second"),
]
logits = network(standardised(x), weights)
loss = T.nnet.categorical_crossentropy(T.softmax(logits), y).mean()
step = symc.function([x, y], loss, updates=symc.optim.adam(loss, weights, learning_rate=1e-2))
predict = symc.function([x], [logits.argmax(axis=1), T.softmax(logits)], name="predict")

data = rng.standard_normal((30, 4))
labels = rng.integers(0, 3, 30, dtype=np.int32)
for _ in range(3):
    value = step(data, labels)
classes, probabilities = predict(data)
print(classes.shape, probabilities.max(), float(step(data, labels)))
print(weights[0].get_value().mean())
weights[1].set_value(np.zeros((8, 3)))

# --- derivatives ----------------------------------------------------------------------------------

v, scale = T.vector("v"), T.scalar("scale", dtype="float32")
energy = (scale * T.sin(v) ** 2).sum() + abs(v).max() - T.log1p(T.exp(v)).prod()
slope = symc.grad(energy, v)
both = symc.grad(energy, [v, scale])
curvature = symc.hessian(energy, v)
along = symc.Rop(energy, v, T.ones_like(v))
print(symc.function([v, scale], [slope, *both, curvature, along])([1.0, 2.0], 3.0))

# --- shapes and parts -----------------------------------------------------------------------------

m = T.tensor("float64", (None, None, 3), name="m")
rows = m.shape[0]
flat = m.reshape(rows, -1).T[:2, ::-1]
parts = m[0].set(1.0)
more = T.concatenate([m, parts], axis=0).transpose(2, 0, 1).sum((0, 2))
picked = m[:, 0, 1][T.lvector("i")].inc(2)
mask = T.where(m > 0, m, 0) + T.clip(m, -1, 1).round(2)
ordered = m.ravel().sort(descending=True).take([0, 1])
spread = m.real.std(axis=(0, 1), ddof=1).astype("float32").eval({m: np.ones((2, 2, 3))})
print(spread.dtype, flat.ndim, more.dtype, ordered.name, rows, picked, mask)

# --- loops ----------------------------------------------------------------------------------------


def advance(position: symc.Tensor, velocity: symc.Tensor) -> list[symc.Tensor]:
    """One step of a pendulum."""
    return [position + 0.1 * velocity, velocity - 0.1 * T.sin(position)]


states = symc.scan(advance, outputs_info=[T.scalar("p"), T.scalar("q")], n_steps=10)
condition = symc.ifelse(v.sum() > 0, v.max(), v.min())

# --- linear algebra, transforms, random numbers ---------------------------------------------------

a = T.matrix("a")
lower = T.linalg.cholesky(a @ a.T + T.eye(3))
solution = T.linalg.solve(a, T.ones(3))
values, vectors = T.linalg.eigh(a + a.mT)
spectrum = T.fft.rfft(v).real.norm()
distance = T.linalg.norm(solution - values)
noise = T.random.RandomStream(seed=1).normal(size=(2, 3))
print(symc.function([], noise)(), lower, vectors, spectrum, distance, condition, states)

# --- files and reports ----------------------------------------------------------------------------

together = symc.function([x], {"mean": x.mean(), "largest": x.max()})
both_of: list[npt.NDArray[Any]] = assert_type(predict(data), list[npt.NDArray[Any]])
one: npt.NDArray[Any] = assert_type(step(data, labels), npt.NDArray[Any])
named: dict[str, npt.NDArray[Any]] = assert_type(together(data), dict[str, npt.NDArray[Any]])
print(one.shape, both_of[0].shape, named["largest"].item())

place = Path("function.symc")
symc.save(predict, place)
print(symc.load(place)(data)[0], predict.source[:40], predict.name)
place.unlink()
