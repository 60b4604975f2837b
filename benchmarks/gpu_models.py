"""The networks whose training steps `gpu.py` measures, each in symc, NumPy, PyTorch and JAX.

They are those of the Deep Learning Tutorials that came with Theano: a network with one hidden
layer, an LSTM over sequences of words, and LeNet. A step computes the loss and its gradients, and
changes the parameters by gradient descent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import symc
import symc.tensor as T

Arrays = Sequence[Any]
RATE = 0.1


@dataclass(frozen=True)
class Model:
    """A network: its parameters and data, and its loss four times, each of (parameters, data)."""

    name: str
    parameters: list[Any]
    data: list[Any]
    loss: Callable[[Arrays, Arrays], Any]
    numpy_loss: Callable[[Arrays, Arrays], Any]
    torch_loss: Callable[[Any, Arrays, Arrays], Any]
    jax_loss: Callable[[Any, Arrays, Arrays], Any]


MODELS: dict[str, Callable[[bool], list[Model]]] = {
    "mlp": lambda tiny: [mlp(8, 16)] if tiny else [mlp(128, 500), mlp(4096, 500)],
    "lenet": lambda tiny: [lenet(2, 2, 3, 7) if tiny else lenet(500, 20, 50, 500)],
    "lstm": lambda tiny: [lstm(3, 4, 5, 11) if tiny else lstm(16, 100, 128, 10000)],
}
"""By name; tiny ones only show that everything runs."""


def drawn(rng: np.random.Generator, *shape: int) -> Any:
    """Parameters to begin with."""
    fan_in = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
    return (rng.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32)


def cross_entropy(scores: Any, labels: Any) -> Any:
    """The mean loss, in symc."""
    picked = T.log_softmax(scores, axis=1)[T.arange(labels.shape[0]), labels]
    return -picked.mean()


def numpy_cross_entropy(scores: Any, labels: Any) -> Any:
    """The same in NumPy."""
    shifted = scores - scores.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return -logs[np.arange(len(labels)), labels].mean()


def jax_cross_entropy(jax: Any, scores: Any, labels: Any) -> Any:
    """The same in JAX."""
    logs = jax.nn.log_softmax(scores, axis=1)
    return -logs[jax.numpy.arange(len(labels)), labels].mean()


# --- one hidden layer -----------------------------------------------------------------------------


def mlp(batch: int, hidden: int) -> Model:
    """784 inputs, tanh, 10 classes."""
    rng = np.random.default_rng(0)
    zeros = [np.zeros(n, np.float32) for n in (hidden, 10)]
    parameters = [drawn(rng, 784, hidden), zeros[0], drawn(rng, hidden, 10), zeros[1]]
    images = rng.uniform(0, 1, (batch, 784)).astype(np.float32)

    def loss(p: Arrays, data: Arrays) -> Any:
        return cross_entropy(T.tanh(data[0] @ p[0] + p[1]) @ p[2] + p[3], data[1])

    def numpy_loss(p: Arrays, data: Arrays) -> Any:
        return numpy_cross_entropy(np.tanh(data[0] @ p[0] + p[1]) @ p[2] + p[3], data[1])

    def torch_loss(torch: Any, p: Arrays, data: Arrays) -> Any:
        scores = torch.tanh(data[0] @ p[0] + p[1]) @ p[2] + p[3]
        return torch.nn.functional.cross_entropy(scores, data[1])

    def jax_loss(jax: Any, p: Arrays, data: Arrays) -> Any:
        scores = jax.numpy.tanh(data[0] @ p[0] + p[1]) @ p[2] + p[3]
        return jax_cross_entropy(jax, scores, data[1])

    data = [images, rng.integers(0, 10, batch)]
    name = f"MLP step, batch {batch}"
    return Model(name, parameters, data, loss, numpy_loss, torch_loss, jax_loss)


# --- LSTM -----------------------------------------------------------------------------------------


def lstm(batch: int, steps: int, size: int, words: int) -> Model:
    """Words as vectors, one layer, the mean of its outputs over time, 2 classes."""
    rng = np.random.default_rng(0)
    parameters = [
        drawn(rng, words, size) * np.float32(words**0.5), drawn(rng, size, 4 * size),
        drawn(rng, size, 4 * size), np.zeros(4 * size, np.float32), drawn(rng, size, 2),
    ]  # fmt: skip
    data = [rng.integers(0, words, (steps, batch)), rng.integers(0, 2, batch)]

    def gates(z: Any, cell: Any, sigmoid: Any, tanh: Any) -> tuple[Any, Any]:
        i, f, o, g = (z[:, k * size : (k + 1) * size] for k in range(4))
        new = sigmoid(f) * cell + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(new), new

    def loss(p: Arrays, data: Arrays) -> Any:
        def step(z: Any, state: Any, cell: Any) -> Any:
            return gates(z + state @ p[2], cell, T.sigmoid, T.tanh)

        inputs = p[0][data[0]] @ p[1] + p[3]
        start = T.zeros((data[0].shape[1], size), "float32")
        (states, _), _ = symc.scan(step, sequences=inputs, outputs_info=[start, start])
        return cross_entropy(states.mean(axis=0) @ p[4], data[1])

    def unrolled(inputs: Any, start: Any, p: Arrays, sigmoid: Any, tanh: Any) -> Any:
        state = cell = start
        total = 0
        for z in inputs:
            state, cell = gates(z + state @ p[2], cell, sigmoid, tanh)
            total = total + state
        return total / steps @ p[4]

    def numpy_loss(p: Arrays, data: Arrays) -> Any:
        inputs = p[0][data[0]] @ p[1] + p[3]
        scores = unrolled(
            inputs, np.zeros((batch, size)), p, lambda z: 1 / (1 + np.exp(-z)), np.tanh
        )
        return numpy_cross_entropy(scores, data[1])

    def torch_loss(torch: Any, p: Arrays, data: Arrays) -> Any:
        inputs = p[0][data[0]] @ p[1] + p[3]
        start = torch.zeros((batch, size), device=inputs.device)
        scores = unrolled(inputs, start, p, torch.sigmoid, torch.tanh)
        return torch.nn.functional.cross_entropy(scores, data[1])

    def jax_loss(jax: Any, p: Arrays, data: Arrays) -> Any:
        def step(carry: Any, z: Any) -> Any:
            state, cell = gates(z + carry[0] @ p[2], carry[1], jax.nn.sigmoid, jax.numpy.tanh)
            return (state, cell), state

        inputs = p[0][data[0]] @ p[1] + p[3]
        start = jax.numpy.zeros((batch, size), "float32")
        _, states = jax.lax.scan(step, (start, start), inputs)
        return jax_cross_entropy(jax, states.mean(0) @ p[4], data[1])

    name = f"LSTM step, batch {batch}, {steps} words"
    return Model(name, parameters, data, loss, numpy_loss, torch_loss, jax_loss)


# --- LeNet ----------------------------------------------------------------------------------------


def lenet(batch: int, first: int, second: int, hidden: int) -> Model:
    """Two convolutions of 5 x 5 with pooling of 2 x 2 after each, a hidden layer, 10 classes."""
    rng = np.random.default_rng(0)
    parameters = [
        drawn(rng, first, 1, 5, 5), np.zeros(first, np.float32),
        drawn(rng, second, first, 5, 5), np.zeros(second, np.float32),
        drawn(rng, second * 16, hidden), np.zeros(hidden, np.float32),
        drawn(rng, hidden, 10), np.zeros(10, np.float32),
    ]  # fmt: skip
    images = rng.uniform(0, 1, (batch, 1, 28, 28)).astype(np.float32)
    data = [images, rng.integers(0, 10, batch)]

    def layers(x: Any, p: Arrays, convolved: Any, pooled: Any, tanh: Any) -> Any:
        for w, b in ((p[0], p[1]), (p[2], p[3])):
            x = tanh(pooled(convolved(x, w)) + b.reshape((1, -1, 1, 1)))
        x = x.reshape((x.shape[0], second * 16))
        return tanh(x @ p[4] + p[5]) @ p[6] + p[7]

    def loss(p: Arrays, data: Arrays) -> Any:
        def convolved(x: Any, w: Any) -> Any:
            return T.nnet.conv2d(x, w, flip_filters=False)

        scores = layers(data[0], p, convolved, lambda x: T.nnet.max_pool2d(x, 2), T.tanh)
        return cross_entropy(scores, data[1])

    def numpy_loss(p: Arrays, data: Arrays) -> Any:
        def convolved(x: Any, w: Any) -> Any:
            windows = np.lib.stride_tricks.sliding_window_view(x, (5, 5), axis=(2, 3))
            return np.einsum("ncyxij,fcij->nfyx", windows, w, optimize=True)

        def pooled(x: Any) -> Any:
            n, c, h, w = x.shape
            return x.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))

        return numpy_cross_entropy(layers(data[0], p, convolved, pooled, np.tanh), data[1])

    def torch_loss(torch: Any, p: Arrays, data: Arrays) -> Any:
        net = torch.nn.functional
        scores = layers(data[0], p, net.conv2d, lambda x: net.max_pool2d(x, 2), torch.tanh)
        return net.cross_entropy(scores, data[1])

    def jax_loss(jax: Any, p: Arrays, data: Arrays) -> Any:
        def convolved(x: Any, w: Any) -> Any:
            return jax.lax.conv(x, w, (1, 1), "VALID")

        def pooled(x: Any) -> Any:
            window = (1, 1, 2, 2)
            return jax.lax.reduce_window(x, -np.inf, jax.lax.max, window, window, "VALID")

        return jax_cross_entropy(
            jax, layers(data[0], p, convolved, pooled, jax.numpy.tanh), data[1]
        )

    name = f"LeNet step, batch {batch}"
    return Model(name, parameters, data, loss, numpy_loss, torch_loss, jax_loss)


# --- steps ----------------------------------------------------------------------------------------


def symc_step(model: Model, device: str) -> Callable[..., Any]:
    """A function of the data that does one step and returns the loss before it."""
    parameters = [symc.shared(value, device=device) for value in model.parameters]
    inputs = [T.tensor(array.dtype.name, (None,) * array.ndim) for array in model.data]
    loss = model.loss(parameters, inputs)
    gradients = symc.grad(loss, parameters)
    updates = [
        (parameter, parameter - np.float32(RATE) * gradient)
        for parameter, gradient in zip(parameters, gradients, strict=True)
    ]
    return symc.function(inputs, loss, updates=updates, device=device, on_device=True)


def torch_step(torch: Any, model: Model, device: str, mode: str | None) -> Callable[[], Any]:
    """The same by torch.compile in a mode; the parameters are changed by one kernel for all."""
    parameters = [
        torch.tensor(value, device=device, requires_grad=True) for value in model.parameters
    ]
    data = [torch.tensor(array, device=device) for array in model.data]
    fast = torch.compile(
        lambda: model.torch_loss(torch, parameters, data), dynamic=False, mode=mode
    )

    def step() -> Any:
        torch.compiler.cudagraph_mark_step_begin()
        loss = fast()
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            torch._foreach_add_(parameters, gradients, alpha=-RATE)
        return loss.detach()

    return step


def jax_step(jax: Any, model: Model) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The same by jax.jit, the parameters' memory given away and used again; and the parameters."""
    data = [jax.numpy.asarray(array) for array in model.data]
    state = [jax.numpy.asarray(value) for value in model.parameters]

    def change(parameters: Any) -> Any:
        loss, gradients = jax.value_and_grad(lambda p: model.jax_loss(jax, p, data))(parameters)
        return loss, [p - RATE * g for p, g in zip(parameters, gradients, strict=True)]

    fast = jax.jit(change, donate_argnums=0)

    def step() -> Any:
        nonlocal state
        loss, state = fast(state)
        return loss

    return step, lambda: state
