"""Functions that reports are written of."""

from __future__ import annotations

import numpy as np

import symc
from symc import tensor as T
from symc.calls.callable import Function


def step(mode: str = "default") -> Function:
    """A step of training: matrix products, a softmax that rules improve, an update in place."""
    x, y = T.matrix("x"), T.vector("y", dtype="int64")
    w = symc.shared(np.zeros((4, 3)), name="w")
    loss = -T.log(T.softmax(x @ w))[T.arange(y.shape[0]), y].mean()
    update = w - 0.1 * symc.grad(loss, w)
    return symc.function([x, y], loss, updates=[(w, update)], name="step", mode=mode)


def loop() -> Function:
    """A loop with a body, in the interpreter; a name that must be escaped."""
    x = T.vector("x<&>")
    rows, _ = symc.scan(lambda a, total: total + T.log(T.exp(a)), sequences=x, outputs_info=0.0)
    return symc.function([x], rows[-1], name="loop", mode="python")


def chain(nodes: int) -> Function:
    """A long chain of ops."""
    x, w = T.vector("x"), symc.shared(np.ones(3), name="w")
    y = x
    for number in range(nodes // 4):
        y = T.tanh(y * w + float(number)) - x
    return symc.function([x], y.sum(), mode="python", name="chain")
