"""Solvers along the last axis of arrays, which take one column after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers

DECAY = 0.8

# --- a system of three diagonals for each row -----------------------------------------------------


def implicit(mid: Any, b: Any) -> Any:
    n = b.shape[1]

    def down(k: Any, up: Any, x: Any) -> Any:
        pivot = 1 / (mid[:, k] - up[:, k - 1])
        return up[:, k].set(pivot), x[:, k].set((b[:, k] + x[:, k - 1]) * pivot)

    def back(k: Any, x: Any) -> Any:
        k = n - 2 - k
        return x[:, k].inc(up[:, k] * x[:, k + 1])

    up = T.zeros_like(b)[:, 0].set(1 / mid[:, 0])
    x = T.zeros_like(b)[:, 0].set(b[:, 0] / mid[:, 0])
    up, x = symc.fori_loop(1, n, down, (up, x))
    return symc.fori_loop(0, n - 1, back, x)


def implicit_numpy(mid: Any, b: Any) -> Any:
    up, x = np.empty_like(b), np.empty_like(b)
    up[:, 0], x[:, 0] = 1 / mid[:, 0], b[:, 0] / mid[:, 0]
    for k in range(1, b.shape[1]):
        up[:, k] = 1 / (mid[:, k] - up[:, k - 1])
        x[:, k] = (b[:, k] + x[:, k - 1]) * up[:, k]
    for k in range(b.shape[1] - 2, -1, -1):
        x[:, k] += up[:, k] * x[:, k + 1]
    return x


def implicit_loops(mid: Any, b: Any) -> Any:
    rows, n = b.shape
    up, x = np.empty_like(b), np.empty_like(b)
    for i in range(rows):
        up[i, 0], x[i, 0] = 1 / mid[i, 0], b[i, 0] / mid[i, 0]
        for k in range(1, n):
            up[i, k] = 1 / (mid[i, k] - up[i, k - 1])
            x[i, k] = (b[i, k] + x[i, k - 1]) * up[i, k]
        for k in range(n - 2, -1, -1):
            x[i, k] += up[i, k] * x[i, k + 1]
    return x


def implicit_jax(mid: Any, b: Any) -> Any:
    loop, n, zeros = module("jax").lax.fori_loop, b.shape[1], module("jax.numpy").zeros_like

    def down(k: Any, both: Any) -> Any:
        up, x = both
        pivot = 1 / (mid[:, k] - up[:, k - 1])
        return up.at[:, k].set(pivot), x.at[:, k].set((b[:, k] + x[:, k - 1]) * pivot)

    def back(k: Any, x: Any) -> Any:
        k = n - 2 - k
        return x.at[:, k].add(up[:, k] * x[:, k + 1])

    first = zeros(b).at[:, 0].set(1 / mid[:, 0]), zeros(b).at[:, 0].set(b[:, 0] / mid[:, 0])
    up, x = loop(1, n, down, first)
    return loop(0, n - 1, back, x)


# --- a filter from the left and from the right ----------------------------------------------------


def both_ways(x: Any) -> Any:
    n = x.shape[1]
    left = symc.fori_loop(1, n, lambda k, y: y[:, k].inc(DECAY * y[:, k - 1]), x)
    return left + symc.fori_loop(
        0, n - 1, lambda k, y: y[:, n - 2 - k].inc(DECAY * y[:, n - 1 - k]), x
    )


def both_ways_numpy(x: Any) -> Any:
    left, right = x.copy(), x.copy()
    for k in range(1, x.shape[1]):
        left[:, k] += DECAY * left[:, k - 1]
        right[:, -k - 1] += DECAY * right[:, -k]
    return left + right


def both_ways_loops(x: Any) -> Any:
    left, right = x.copy(), x.copy()
    rows, n = x.shape
    for i in range(rows):
        for k in range(1, n):
            left[i, k] += DECAY * left[i, k - 1]
        for k in range(n - 2, -1, -1):
            right[i, k] += DECAY * right[i, k + 1]
    return left + right


def both_ways_jax(x: Any) -> Any:
    loop, n = module("jax").lax.fori_loop, x.shape[1]
    left = loop(1, n, lambda k, y: y.at[:, k].add(DECAY * y[:, k - 1]), x)
    return left + loop(0, n - 1, lambda k, y: y.at[:, n - 2 - k].add(DECAY * y[:, n - 1 - k]), x)


KERNELS = (
    Kernel("implicit", lambda n: (3 + numbers(n, n), numbers(n, n, seed=1)), 300, 9,
           implicit, implicit_numpy, implicit_loops, implicit_jax),
    Kernel("both_ways", lambda n: (numbers(n, n),), 400, 9,
           both_ways, both_ways_numpy, both_ways_loops, both_ways_jax),
)  # fmt: skip
