"""Products: of dense matrices with vectors and themselves, and of sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

FILLED = 16  # elements of a sparse row
STEPS = 20

# --- dense ----------------------------------------------------------------------------------------


def scaled(a: Any, x: Any, y: Any) -> Any:
    return 1.5 * a @ x + 0.5 * y


def gram(x: Any) -> Any:
    return x @ x.T


def normal(a: Any, x: Any) -> Any:
    return a.T @ (a @ x)


def update(a: Any, u: Any, v: Any, x: Any) -> Any:
    return (a + u[:, None] * v[None, :]) @ x


def update_loops(a: Any, u: Any, v: Any, x: Any) -> Any:
    result = np.zeros(len(u))
    for i in range(len(u)):
        for j in range(len(v)):
            result[i] += (a[i, j] + u[i] * v[j]) * x[j]
    return result


def power(a: Any) -> Any:
    def step(_: Any, x: Any) -> Any:
        y = a @ x
        return y / T.sqrt((y**2).sum())

    return symc.fori_loop(0, STEPS, step, T.ones(a.shape[0]))


def power_numpy(a: Any) -> Any:
    x = np.ones(len(a))
    for _ in range(STEPS):
        x = a @ x
        x = x / np.sqrt((x**2).sum())
    return x


def power_jax(a: Any) -> Any:
    jnp = module("jax.numpy")

    def step(_: Any, x: Any) -> Any:
        y = a @ x
        return y / jnp.sqrt((y**2).sum())

    return module("jax").lax.fori_loop(0, STEPS, step, jnp.ones(len(a)))


# --- sparse: compressed rows, and triples ---------------------------------------------------------


def compressed(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    sums = T.concatenate([T.zeros(1), T.cumsum(values * x[columns])])
    return sums[starts[1:]] - sums[starts[:-1]]


def compressed_numpy(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    return np.add.reduceat(values * x[columns], starts[:-1])


def compressed_loops(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    n = len(starts) - 1
    result = np.zeros(n)
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            result[i] += values[k] * x[columns[k]]
    return result


def compressed_jax(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    jnp = module("jax.numpy")
    sums = jnp.concatenate([jnp.zeros(1), jnp.cumsum(values * x[columns])])
    return sums[starts[1:]] - sums[starts[:-1]]


def triples(rows: Any, columns: Any, values: Any, x: Any) -> Any:
    return T.zeros_like(x)[rows].inc(values * x[columns])


def triples_numpy(rows: Any, columns: Any, values: Any, x: Any) -> Any:
    return np.bincount(rows, values * x[columns], len(x))


def triples_loops(rows: Any, columns: Any, values: Any, x: Any) -> Any:
    result = np.zeros(len(x))
    for k in range(len(rows)):
        result[rows[k]] += values[k] * x[columns[k]]
    return result


def triples_jax(rows: Any, columns: Any, values: Any, x: Any) -> Any:
    return module("jax.numpy").zeros_like(x).at[rows].add(values * x[columns])


def _matrix(n: int) -> tuple[Any, ...]:
    return (numbers(n, n),)


def _compressed(n: int) -> tuple[Any, ...]:
    count = n * FILLED
    starts = np.arange(0, count + 1, FILLED)
    return starts, places(n, count), numbers(count, seed=1), numbers(n, seed=2)


def _triples(n: int) -> tuple[Any, ...]:
    _, columns, values, x = _compressed(n)
    return places(n, n * FILLED, seed=3), columns, values, x


KERNELS = (
    Kernel("scaled", lambda n: (*_matrix(n), numbers(n, seed=1), numbers(n, seed=2)), 600, 9,
           scaled, scaled, scaled, scaled),
    Kernel("gram", lambda n: (numbers(n, 200),), 300, 9, gram, gram, gram, gram),
    Kernel("normal", lambda n: (*_matrix(n), numbers(n, seed=1)), 600, 9,
           normal, normal, normal, normal),
    Kernel("update", lambda n: (*_matrix(n), *numbers(3, n, seed=1)), 600, 9,
           update, update, update_loops, update),
    Kernel("power", _matrix, 300, 9, power, power_numpy, power_numpy, power_jax),
    Kernel("compressed", _compressed, 5000, 9,
           compressed, compressed_numpy, compressed_loops, compressed_jax),
    Kernel("triples", _triples, 5000, 9, triples, triples_numpy, triples_loops, triples_jax),
)  # fmt: skip
