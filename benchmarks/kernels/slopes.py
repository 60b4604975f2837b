"""Slopes of loops that read and write elements of arrays by their number."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers

# --- of a trajectory, each element from the one before --------------------------------------------


def trajectory(x: Any) -> Any:
    path = symc.fori_loop(1, x.shape[0], lambda i, y: y[i].set(T.tanh(y[i - 1] + x[i])), x)
    return symc.grad(path.sum(), x)


def trajectory_loops(x: Any) -> Any:
    y, slope = x.copy(), np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = np.tanh(y[i - 1] + x[i])
    back = 1.0
    for i in range(len(x) - 1, 0, -1):
        slope[i] = back * (1 - y[i] * y[i])
        back = 1.0 + slope[i]
    slope[0] = back
    return slope


def trajectory_jax(x: Any) -> Any:
    jax, jnp = module("jax"), module("jax.numpy")

    def total(x: Any) -> Any:
        step = lambda i, y: y.at[i].set(jnp.tanh(y[i - 1] + x[i]))  # noqa: E731
        return jax.lax.fori_loop(1, len(x), step, x).sum()

    return jax.grad(total)(x)


# --- of a number that goes along rows of a table --------------------------------------------------


def along(table: Any, start: Any) -> Any:
    step = lambda i, s: T.sin(s * 0.9 + table[i])  # noqa: E731
    end = symc.fori_loop(0, table.shape[0], step, start)
    return symc.grad(end.sum(), table)


def along_loops(table: Any, start: Any) -> Any:
    steps, width = table.shape
    slope = np.zeros_like(table)
    state = np.zeros((steps + 1, width))
    state[0] = start
    for i in range(steps):
        for j in range(width):
            state[i + 1, j] = np.sin(state[i, j] * 0.9 + table[i, j])
    back = np.ones(width)
    for i in range(steps - 1, -1, -1):
        for j in range(width):
            slope[i, j] = back[j] * np.cos(state[i, j] * 0.9 + table[i, j])
            back[j] = 0.9 * slope[i, j]
    return slope


def along_jax(table: Any, start: Any) -> Any:
    jax, jnp = module("jax"), module("jax.numpy")

    def total(table: Any) -> Any:
        step = lambda i, s: jnp.sin(s * 0.9 + table[i])  # noqa: E731
        return jax.lax.fori_loop(0, table.shape[0], step, start).sum()

    return jax.grad(total)(table)


KERNELS = (
    Kernel("trajectory", lambda n: (numbers(n),), 2000, 20,
           trajectory, None, trajectory_loops, trajectory_jax),
    Kernel("along", lambda n: (numbers(n, 20), numbers(20, seed=1)), 500, 20,
           along, None, along_loops, along_jax),
)  # fmt: skip
