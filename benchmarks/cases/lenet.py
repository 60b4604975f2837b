"""A training step of LeNet: two convolutions with pooling, two dense layers, gradient descent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, WrongResult, compared, module

BATCH, PIXELS, CLASSES = 64, 28, 10
SHAPES = (
    (20, 1, 5, 5),
    (20,),
    (50, 20, 5, 5),
    (50,),
    (800, 500),
    (500,),
    (500, CLASSES),
    (CLASSES,),
)
RATE = np.float32(0.01)


def data() -> tuple[Any, Any, list[Any]]:
    """Images, classes and first parameters."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((BATCH, 1, PIXELS, PIXELS)).astype(np.float32)
    y = rng.integers(0, CLASSES, BATCH)
    parameters = [
        (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32)
        if len(shape) == 4
        else (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
        for shape in SHAPES
    ]
    return x, y, parameters


def checked(step: Callable[[], float]) -> Repeated:
    """The step, if its first losses are those that NumPy computes."""
    found, wanted = [step() for _ in range(3)], losses(3)
    if not np.allclose(found, wanted, rtol=1e-4):
        raise WrongResult(f"the losses are {found}, and NumPy's {wanted}")
    return Repeated(step)


def losses(count: int) -> list[float]:
    """The losses of the first steps, in NumPy and float64."""
    x, y, parameters = data()
    found = []
    ps = [p.astype(np.float64) for p in parameters]
    for _ in range(count):
        loss, grads = numpy_step(x.astype(np.float64), y, ps)
        found.append(loss)
        ps = [p - RATE * g for p, g in zip(ps, grads, strict=True)]
    return found


def numpy_step(x: Any, y: Any, ps: Sequence[Any]) -> tuple[float, list[Any]]:
    """The loss and its derivatives, by hand."""
    c1, b1, c2, b2, w1, d1, w2, d2 = ps
    s1, p1, m1 = convolved(x, c1, b1)
    s2, p2, m2 = convolved(p1, c2, b2)
    flat = p2.reshape(BATCH, -1)
    hidden = np.maximum(flat @ w1 + d1, 0)
    z = hidden @ w2 + d2
    z = z - z.max(1, keepdims=True)
    q = np.exp(z)
    q /= q.sum(1, keepdims=True)
    rows = np.arange(BATCH)
    loss = float(-np.log(q[rows, y]).mean())
    bar = q.copy()
    bar[rows, y] -= 1
    bar /= BATCH
    below = (bar @ w2.T) * (hidden > 0)
    to2 = np.where(m2, spread((below @ w1.T).reshape(p2.shape)), 0)
    to1 = np.where(m1, spread(back(to2, c2)), 0)
    return loss, [
        np.einsum("nctukl,notu->ockl", s1, to1, optimize=True), to1.sum((0, 2, 3)),
        np.einsum("nctukl,notu->ockl", s2, to2, optimize=True), to2.sum((0, 2, 3)),
        flat.T @ below, below.sum(0), hidden.T @ bar, bar.sum(0),
    ]  # fmt: skip


def convolved(x: Any, w: Any, b: Any) -> tuple[Any, Any, Any]:
    """The windows of `x`, the pooled result, and where that comes from."""
    seen = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    y = np.einsum("nctukl,ockl->notu", seen, w, optimize=True) + b[:, None, None]
    n, o, h, v = y.shape
    pooled = np.maximum(y.reshape(n, o, h // 2, 2, v // 2, 2).max((3, 5)), 0)
    return seen, pooled, (y > 0) & (y == spread(pooled))


def spread(x: Any) -> Any:
    """Each element four times."""
    return x.repeat(2, 2).repeat(2, 3)


def back(y: Any, w: Any) -> Any:
    """The gradient of a convolution's input."""
    k = w.shape[2] - 1
    wide = np.pad(y, ((0, 0), (0, 0), (k, k), (k, k)))
    seen = np.lib.stride_tricks.sliding_window_view(wide, w.shape[2:], (2, 3))
    return np.einsum("notukl,ockl->nctu", seen, w[:, :, ::-1, ::-1], optimize=True)


def symc() -> Repeated:
    """The function as one would write it."""
    sy, tensor = module("symc"), module("symc.tensor")
    images, classes, parameters = data()
    x, y = tensor.tensor("float32", images.shape, "x"), tensor.lvector("y")
    shared = [sy.shared(value) for value in parameters]
    c1, b1, c2, b2, w1, d1, w2, d2 = shared
    conv, pool = tensor.nnet.conv2d, tensor.nnet.max_pool2d
    h = pool(tensor.relu(conv(x, c1, flip_filters=False) + b1[:, None, None]), 2)
    h = pool(tensor.relu(conv(h, c2, flip_filters=False) + b2[:, None, None]), 2)
    h = tensor.relu(h.reshape((BATCH, 800)) @ w1 + d1)
    loss = tensor.nnet.categorical_crossentropy(h @ w2 + d2, y, from_logits=True, reduction="mean")
    grads = sy.grad(loss, shared)
    updates = [(p, p - RATE * g) for p, g in zip(shared, grads, strict=True)]
    step = sy.function([x, y], loss, updates=updates)
    return checked(lambda: float(step(images, classes)))


def torch() -> Repeated:
    """Eager PyTorch, whose kernels for convolutions are Intel's oneDNN."""
    torch = module("torch")
    import os

    if os.environ.get("OMP_NUM_THREADS") == "1":
        torch.set_num_threads(1)
    f = torch.nn.functional
    images, classes, parameters = data()
    x, y = torch.tensor(images), torch.tensor(classes)
    ps = [torch.tensor(p.T.copy() if p.ndim == 2 else p, requires_grad=True) for p in parameters]
    c1, b1, c2, b2, w1, d1, w2, d2 = ps

    def step() -> float:
        h = f.max_pool2d(f.relu(f.conv2d(x, c1, b1)), 2)
        h = f.max_pool2d(f.relu(f.conv2d(h, c2, b2)), 2)
        h = f.relu(f.linear(h.flatten(1), w1, d1))
        loss = f.cross_entropy(f.linear(h, w2, d2), y)
        grads = torch.autograd.grad(loss, ps)
        with torch.no_grad():
            torch._foreach_add_(ps, grads, alpha=-float(RATE))
        return float(loss.detach())

    return checked(step)


def jax() -> Repeated:
    """Jitted JAX; its parameters are donated, as updates in place."""
    jax, jnp = module("jax"), module("jax.numpy")
    images, classes, parameters = data()
    lax = jax.lax

    def loss_of(ps: Any, x: Any, y: Any) -> Any:
        c1, b1, c2, b2, w1, d1, w2, d2 = ps
        h = x
        for c, b in ((c1, b1), (c2, b2)):
            h = lax.conv(h, c, (1, 1), "VALID") + b[:, None, None]
            window = (1, 1, 2, 2)
            h = lax.reduce_window(jax.nn.relu(h), -jnp.inf, lax.max, window, window, "VALID")
        h = jax.nn.relu(h.reshape((BATCH, 800)) @ w1 + d1)
        logs = jax.nn.log_softmax(h @ w2 + d2)
        return -logs[jnp.arange(BATCH), y].mean()

    def update(ps: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(ps, x, y)
        return loss, [p - RATE * g for p, g in zip(ps, grads, strict=True)]

    compiled = jax.jit(update, donate_argnums=0)
    state = [[jnp.asarray(p) for p in parameters]]
    x, y = jnp.asarray(images), jnp.asarray(classes)

    def step() -> float:
        loss, state[0] = compiled(state[0], x, y)
        return float(loss)

    return checked(step)


def judge(results: Results) -> list[Line]:
    """Not slower than PyTorch."""
    return compared(results, ("torch", 1.0), ("jax", None))


CASE = Case(
    "lenet",
    f"LeNet, a training step: batch {BATCH}, {PIXELS}x{PIXELS}, float32",
    {
        "symc": Contestant(symc),
        "torch": Contestant(torch, needs="torch"),
        "jax": Contestant(jax, needs="jax"),
    },
    judge,
)
