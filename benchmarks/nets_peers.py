"""Reference networks in JAX: the same functions with JAX's names for `T`.

The networks of `symc.nets` are made of a handful of functions. Here they are in JAX, as its users
would write them, with a step of Adam. What runs is JAX's own code: its gradient, in one jitted
function that is given the weights for good.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from symc import nets
from symc.nets import training, weights

RATE, DECAYS, EPSILON = 1e-3, (0.9, 0.999), 1e-8
MODULES = [weights, training, *(getattr(nets, name) for name in nets.NETWORKS)]


class Borrowed(nets.Weights):
    """The layers of `Weights` over arrays of another library, which are there already."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        super().__init__()
        self.arrays = arrays

    def normal(self, name: str, *shape: int, scale: float = 0.02) -> Any:
        """The array of this name."""
        return self.arrays[name]

    def filled(self, name: str, *shape: int, value: float = 0, learned: bool = True) -> Any:
        """The array of this name."""
        return self.arrays[name]


@contextmanager
def speaking(names: SimpleNamespace) -> Iterator[None]:
    """Networks are made of these functions, in place of symc's."""
    before = {
        (module, key): getattr(module, key, None) for module in MODULES for key in ("T", "known")
    }
    for module in MODULES:
        module.T = names
        module.known = lambda x, axis: x.shape[axis]
    try:
        yield
    finally:
        for (module, key), value in before.items():
            setattr(module, key, value)


def jax_step(loss: Callable[..., Any], start: Mapping[str, Any]) -> Callable[..., float]:
    """A step in JAX: one function, compiled, that takes the weights and gives new ones."""
    jax: Any = importlib.import_module("jax")
    jnp: Any = importlib.import_module("jax.numpy")
    names = jax_names(jax, jnp)

    def losses(arrays: Any, batch: Sequence[Any]) -> Any:
        with speaking(names):
            return loss(Borrowed(arrays), *batch)

    def step(state: Any, batch: Sequence[Any]) -> Any:
        arrays, means, squares, count = state
        value, slopes = jax.value_and_grad(losses)(arrays, batch)
        (a, b), count = DECAYS, count + 1
        means = jax.tree.map(lambda m, g: a * m + (1 - a) * g, means, slopes)
        squares = jax.tree.map(lambda v, g: b * v + (1 - b) * g * g, squares, slopes)
        arrays = jax.tree.map(
            lambda w, m, v: w
            - RATE * (m / (1 - a**count)) / (jnp.sqrt(v / (1 - b**count)) + EPSILON),
            arrays, means, squares,
        )  # fmt: skip
        return (arrays, means, squares, count), value

    compiled = jax.jit(step, donate_argnums=0)
    first = {name: jnp.asarray(value) for name, value in start.items()}
    zeros = jax.tree.map(jnp.zeros_like, first)
    kept = [(first, zeros, jax.tree.map(jnp.zeros_like, first), jnp.asarray(0.0, jnp.float32))]

    def call(*batch: Any) -> float:
        kept[0], value = compiled(kept[0], batch)
        return float(value)  # waits for it

    return call


def jax_names(jax: Any, jnp: Any) -> SimpleNamespace:
    """The functions that networks are made of, in JAX."""
    planes = ("NCHW", "OIHW", "NCHW")

    def conv2d(x: Any, w: Any, *, padding: Any = "valid", stride: int = 1, **_: Any) -> Any:
        sides = [(w.shape[2] // 2,) * 2] * 2 if padding == "half" else padding.upper()
        return jax.lax.conv_general_dilated(x, w, (stride, stride), sides, dimension_numbers=planes)

    def conv2d_transpose(x: Any, w: Any, *, stride: int, **_: Any) -> Any:
        return jax.lax.conv_transpose(
            x, w, (stride, stride), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"),
            transpose_kernel=True,
        )  # fmt: skip

    def max_pool2d(x: Any, window: int, *, stride: int | None = None) -> Any:
        apart = (1, 1, stride or window, stride or window)
        return jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, (1, 1, window, window), apart, "VALID"
        )

    def batch_norm(x: Any, scale: Any, shift: Any, *_: Any) -> Any:
        centred = x - x.mean((0, 2, 3), keepdims=True)
        y = centred * jax.lax.rsqrt((centred**2).mean((0, 2, 3), keepdims=True) + 1e-5)
        output = y * scale[:, None, None] + shift[:, None, None]
        return SimpleNamespace(output=output, running_mean=None, running_var=None)

    def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift

    def lstm(x: Any, h: Any, c: Any, w: Any, u: Any, b: Any) -> Any:
        def one(state: Any, row: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(row + h @ u, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        return SimpleNamespace(output=jax.lax.scan(one, (h, c), x @ w + b)[1])

    def attention(q: Any, k: Any, v: Any, *, causal: bool) -> Any:
        seen = jnp.tril(jnp.ones((q.shape[2], k.shape[2]), bool))
        scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]).astype(np.float32)
        return jax.nn.softmax(jnp.where(seen, scores, -jnp.inf)) @ v

    def crossentropy(scores: Any, right: Any, **_: Any) -> Any:
        logs = jax.nn.log_softmax(scores)
        return -jnp.take_along_axis(logs, right[..., None], axis=-1).mean()

    return SimpleNamespace(
        relu=jax.nn.relu, exp=jnp.exp, sqr=jnp.square, softplus=jax.nn.softplus, zeros=jnp.zeros,
        concatenate=jnp.concatenate, swapaxes=jnp.swapaxes,
        nnet=SimpleNamespace(
            conv2d=conv2d, conv2d_transpose=conv2d_transpose, max_pool2d=max_pool2d,
            batch_norm=batch_norm, layer_norm=layer_norm, lstm=lstm, attention=attention,
            embedding=lambda table, rows: table[rows],
            gelu=lambda x: jax.nn.gelu(x, approximate=False),
            categorical_crossentropy=crossentropy,
        ),
    )  # fmt: skip
