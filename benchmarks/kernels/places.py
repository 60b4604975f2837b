"""Values that are read at several places, at each step, or twice: stored, counted and turned."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers

LEVELS = 5
RATE, LIMIT = 0.1, 0.3

# --- means of neighbours, of those of neighbours --------------------------------------------------


def smoothed(x: Any) -> Any:
    for _ in range(LEVELS):
        x = 0.25 * (x[:-2] + x[2:]) + 0.5 * x[1:-1]
    return x


def smoothed_loops(x: Any) -> Any:
    before = x
    for _ in range(LEVELS):
        after = np.empty(len(before) - 2)
        for i in range(len(after)):
            after[i] = 0.25 * (before[i] + before[i + 2]) + 0.5 * before[i + 1]
        before = after
    return before


# --- neurons that charge, fire and begin anew -----------------------------------------------------


def fired(charge: Any) -> Any:
    def step(t: Any, v: Any, count: Any) -> Any:
        v = v + RATE * (charge[t] - v)
        return T.where(v > LIMIT, 0.0, v), count + (v > LIMIT)

    rest = T.zeros_like(charge[0])
    return symc.fori_loop(0, charge.shape[0], step, (rest, rest))[1]


def fired_numpy(charge: Any) -> Any:
    v, count = np.zeros(charge.shape[1]), np.zeros(charge.shape[1])
    for row in charge:
        v = v + RATE * (row - v)
        count += v > LIMIT
        v = np.where(v > LIMIT, 0.0, v)
    return count


def fired_loops(charge: Any) -> Any:
    v, count = np.zeros(charge.shape[1]), np.zeros(charge.shape[1])
    for t in range(charge.shape[0]):
        for i in range(charge.shape[1]):
            v[i] += RATE * (charge[t, i] - v[i])
            if v[i] > LIMIT:
                v[i] = 0.0
                count[i] += 1
    return count


def fired_jax(charge: Any) -> Any:
    jnp = module("jax.numpy")

    def step(t: Any, state: Any) -> Any:
        v, count = state
        v = v + RATE * (charge[t] - v)
        return jnp.where(v > LIMIT, 0.0, v), count + (v > LIMIT)

    rest = jnp.zeros_like(charge[0])
    return module("jax").lax.fori_loop(0, charge.shape[0], step, (rest, rest))[1]


# --- weights that are learned from one short row after the other ----------------------------------


def learned(rows: Any, wanted: Any) -> Any:
    def step(i: Any, w: Any) -> Any:
        return w - RATE * (rows[i] @ w - wanted[i]) * rows[i]

    return symc.fori_loop(0, rows.shape[0], step, T.zeros_like(rows[0]))


def learned_numpy(rows: Any, wanted: Any) -> Any:
    w = np.zeros(rows.shape[1])
    for row, value in zip(rows, wanted, strict=True):
        w = w - RATE * (row @ w - value) * row
    return w


def learned_loops(rows: Any, wanted: Any) -> Any:
    w = np.zeros(rows.shape[1])
    for i in range(rows.shape[0]):
        error = -wanted[i]
        for j in range(rows.shape[1]):
            error += rows[i, j] * w[j]
        for j in range(rows.shape[1]):
            w[j] -= RATE * error * rows[i, j]
    return w


def learned_jax(rows: Any, wanted: Any) -> Any:
    def step(i: Any, w: Any) -> Any:
        return w - RATE * (rows[i] @ w - wanted[i]) * rows[i]

    first = module("jax.numpy").zeros_like(rows[0])
    return module("jax").lax.fori_loop(0, rows.shape[0], step, first)


# --- inverses of matrices of two rows, as stacks of stacks ----------------------------------------


def _inverses(m: Any, stack: Any) -> Any:
    a, b, c, d = m[:, 0, 0], m[:, 0, 1], m[:, 1, 0], m[:, 1, 1]
    k = 1 / (a * d - b * c)
    return stack([stack([d * k, -b * k], axis=1), stack([-c * k, a * k], axis=1)], axis=1)


def inverses(m: Any) -> Any:
    return _inverses(m, T.stack)


def inverses_numpy(m: Any) -> Any:
    return _inverses(m, np.stack)


def inverses_loops(m: Any) -> Any:
    found = np.empty_like(m)
    for i in range(len(m)):
        k = 1 / (m[i, 0, 0] * m[i, 1, 1] - m[i, 0, 1] * m[i, 1, 0])
        found[i, 0, 0], found[i, 0, 1] = m[i, 1, 1] * k, -m[i, 0, 1] * k
        found[i, 1, 0], found[i, 1, 1] = -m[i, 1, 0] * k, m[i, 0, 0] * k
    return found


def inverses_jax(m: Any) -> Any:
    return _inverses(m, module("jax.numpy").stack)


def _matrices(n: int) -> tuple[Any, ...]:
    return (numbers(n, 2, 2) + 2 * np.eye(2),)


KERNELS = (
    Kernel("smoothed", lambda n: (numbers(n),), 20_000, 30,
           smoothed, smoothed, smoothed_loops, smoothed),
    Kernel("fired", lambda n: (numbers(n, 100),), 1000, 30,
           fired, fired_numpy, fired_loops, fired_jax),
    Kernel("learned", lambda n: (numbers(n, 10) / 3, numbers(n)), 2000, 30,
           learned, learned_numpy, learned_loops, learned_jax),
    Kernel("inverses", _matrices, 10_000, 9,
           inverses, inverses_numpy, inverses_loops, inverses_jax),
)  # fmt: skip
