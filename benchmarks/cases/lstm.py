"""One training step of an LSTM: 50 steps of time, 32 rows, 128 units, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, check, check_all, compared, module
from numpy.typing import NDArray

from cases.network import Steps

TIME, ROWS, WIDTH, RATE = 50, 32, 128, 0.1
Array = NDArray[Any]


def parameters() -> list[Array]:
    """Weights of inputs and of states, and offsets, for input, forget, output gate and content."""
    rng = np.random.default_rng(0)
    bound = WIDTH**-0.5
    shapes = ((WIDTH, 4 * WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH,))
    return [rng.uniform(-bound, bound, shape).astype(np.float32) for shape in shapes]


def batch() -> tuple[Array, Array]:
    """Inputs, and the right last state."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((TIME, ROWS, WIDTH), dtype=np.float32)
    return x, rng.uniform(-0.5, 0.5, (ROWS, WIDTH)).astype(np.float32)


def sigmoid(x: Array) -> Array:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def numpy_step(values: list[Array], x: Array, y: Array) -> tuple[Any, list[Array]]:
    """The loss before, and the parameters after, a step of gradient descent, by hand."""
    wx, wh, offset = values
    h, c = np.zeros_like(y, dtype=x.dtype), np.zeros_like(y, dtype=x.dtype)
    kept: list[tuple[Array, ...]] = []
    into = x @ wx + offset
    for row in into:
        z = row + h @ wh
        i, f, o = (sigmoid(z[:, k * WIDTH : (k + 1) * WIDTH]) for k in range(3))
        g = np.tanh(z[:, 3 * WIDTH :])
        after = f * c + i * g
        t = np.tanh(after)
        kept.append((h, c, i, f, o, g, t))
        h, c = o * t, after
    loss = ((h - y) ** 2).mean()
    bar_h, bar_c = 2 * (h - y) / y.size, np.zeros_like(h)
    bar_z = np.empty_like(into)
    bar_wh = np.zeros_like(wh)
    for time in range(TIME - 1, -1, -1):
        before, c, i, f, o, g, t = kept[time]
        bar_c = bar_c + bar_h * o * (1 - t * t)
        gates = [bar_c * g * i * (1 - i), bar_c * c * f * (1 - f), bar_h * t * o * (1 - o)]
        bar_z[time] = np.concatenate([*gates, bar_c * i * (1 - g * g)], axis=1)
        bar_wh += before.T @ bar_z[time]
        bar_h, bar_c = bar_z[time] @ wh.T, bar_c * f
    flat = bar_z.reshape(-1, 4 * WIDTH)
    bars = [x.reshape(-1, WIDTH).T @ flat, bar_wh, flat.sum(0)]
    step = x.dtype.type(RATE)
    return loss, [value - step * bar for value, bar in zip(values, bars, strict=True)]


def verify(loss: object, values: Any) -> None:
    """Compares a first step with NumPy in float64."""
    x, y = batch()
    start = [value.astype(float) for value in parameters()]
    wanted, after = numpy_step(start, x.astype(float), y.astype(float))
    check(loss, wanted, rtol=1e-5)
    check_all(list(values), after, rtol=1e-4, atol=1e-6)


def symc() -> Repeated:
    """A scan over time; shared parameters with updates."""
    import symc as package
    import symc.tensor as T

    x, y = T.tensor3("x", dtype="float32"), T.matrix("y", dtype="float32")
    names = ("wx", "wh", "offset")
    shared = [package.shared(v, name=n) for v, n in zip(parameters(), names, strict=True)]
    wx, wh, offset = shared

    def step(x: Any, h: Any, c: Any) -> Any:
        z = T.dot(x, wx) + T.dot(h, wh) + offset
        i, f, o = (T.sigmoid(z[:, k * WIDTH : (k + 1) * WIDTH]) for k in range(3))
        c = f * c + i * T.tanh(z[:, 3 * WIDTH :])
        return o * T.tanh(c), c

    (h, _), _ = package.scan(step, x, [T.zeros_like(y), T.zeros_like(y)])
    loss = ((h[-1] - y) ** 2).mean()
    bars = package.grad(loss, shared)
    updates = [(value, value - RATE * bar) for value, bar in zip(shared, bars, strict=True)]
    train = package.function([x, y], loss, updates=updates)
    given = batch()
    verify(train(*given), [value.get_value() for value in shared])
    return Repeated(train, given, {"kernels": train.facts["kernels"]})


def numpy() -> Repeated:
    """Derivatives by hand."""
    steps = Steps(numpy_step, parameters())
    given = batch()
    verify(steps(*given), steps.values)
    return Repeated(steps, given)


def jax() -> Repeated:
    """lax.scan with the products of all inputs before it; donated parameters."""
    package = module("jax")
    jnp = package.numpy

    def loss_of(values: Any, x: Any, y: Any) -> Any:
        wx, wh, offset = values

        def step(state: Any, row: Any) -> Any:
            h, c = state
            i, f, o, g = jnp.split(row + h @ wh, 4, axis=1)
            c = package.nn.sigmoid(f) * c + package.nn.sigmoid(i) * jnp.tanh(g)
            return (package.nn.sigmoid(o) * jnp.tanh(c), c), None

        start = (jnp.zeros_like(y), jnp.zeros_like(y))
        (h, _), _ = package.lax.scan(step, start, x @ wx + offset)
        return ((h - y) ** 2).mean()

    def train(values: Any, x: Any, y: Any) -> Any:
        loss, bars = package.value_and_grad(loss_of)(values, x, y)
        return loss, [value - RATE * bar for value, bar in zip(values, bars, strict=True)]

    compiled = package.jit(train, donate_argnums=0)

    def ready(values: Any, x: Any, y: Any) -> Any:
        return package.block_until_ready(compiled(values, x, y))

    steps = Steps(ready, [jnp.array(value) for value in parameters()])
    given = tuple(map(jnp.asarray, batch()))
    verify(steps(*given), steps.values)
    return Repeated(steps, given)


def torch() -> Repeated:
    """torch.nn.LSTM, updates in place."""
    package = module("torch")
    order = [0, 1, 3, 2]  # PyTorch has the content before the output gate

    def theirs(value: Array) -> Any:
        parts = np.split(value, 4, axis=-1)
        return package.from_numpy(np.concatenate([parts[k] for k in order], axis=-1).T.copy())

    def ours(value: Any) -> Array:
        parts = np.split(value.detach().numpy().T, 4, axis=-1)
        return np.concatenate([parts[k] for k in order], axis=-1)

    lstm = package.nn.LSTM(WIDTH, WIDTH)
    wx, wh, offset = map(theirs, parameters())
    values = [lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0]
    with package.no_grad():
        for value, start in zip(values, (wx, wh, offset), strict=True):
            value.copy_(start)
        lstm.bias_hh_l0.zero_()
    lstm.bias_hh_l0.requires_grad_(False)

    def step(x: Any, y: Any) -> Any:
        h, _ = lstm(x)
        loss = ((h[-1] - y) ** 2).mean()
        bars = package.autograd.grad(loss, values)
        with package.no_grad():
            for value, bar in zip(values, bars, strict=True):
                value.sub_(bar, alpha=RATE)
        return loss.detach()

    given = tuple(map(package.from_numpy, batch()))
    verify(step(*given), [ours(value) for value in values])
    return Repeated(step, given)


def judge(results: Results) -> list[Line]:
    """At least as fast as JAX."""
    return compared(results, ("JAX", 1.0), ("PyTorch", None), ("NumPy", None))


CASE = Case(
    "lstm",
    "LSTM training step (50 steps, batch 32, hidden 128, float32)",
    {
        "symc": Contestant(symc),
        "JAX": Contestant(jax, "jax"),
        "PyTorch": Contestant(torch, "torch"),
        "NumPy": Contestant(numpy),
    },
    judge,
)
