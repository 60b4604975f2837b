"""Rows that are exchanged, chosen from, added up downwards, and looked up again in each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

STEPS, DAMPING, RADIUS = 20, 0.85, 0.6

# --- rotations of neighbouring rows, as a decomposition does --------------------------------------


def rotated(a: Any, cosines: Any, sines: Any) -> Any:
    def rotate(k: Any, a: Any) -> Any:
        p, q, c, s = a[k], a[k + 1], cosines[k], sines[k]
        return a[k].set(c * p - s * q)[k + 1].set(s * p + c * q)

    return symc.fori_loop(0, a.shape[0] - 1, rotate, a)


def rotated_numpy(a: Any, cosines: Any, sines: Any) -> Any:
    a = a.copy()
    for k in range(len(a) - 1):
        p, q, c, s = a[k].copy(), a[k + 1].copy(), cosines[k], sines[k]
        a[k], a[k + 1] = c * p - s * q, s * p + c * q
    return a


def rotated_loops(a: Any, cosines: Any, sines: Any) -> Any:
    a = a.copy()
    for k in range(len(a) - 1):
        c, s = cosines[k], sines[k]
        for j in range(a.shape[1]):
            p, q = a[k, j], a[k + 1, j]
            a[k, j], a[k + 1, j] = c * p - s * q, s * p + c * q
    return a


# --- means of neighbours where there is water, in rows that fill no vector ------------------------


def flooded(u: Any, water: Any) -> Any:
    mean = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
    return T.where(water[1:-1, 1:-1], mean, u[1:-1, 1:-1])


def flooded_numpy(u: Any, water: Any) -> Any:
    mean = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
    return np.where(water[1:-1, 1:-1], mean, u[1:-1, 1:-1])


def flooded_loops(u: Any, water: Any) -> Any:
    found = np.empty((u.shape[0] - 2, u.shape[1] - 2))
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            around = u[i + 1, j] + u[i + 1, j + 2] + u[i, j + 1] + u[i + 2, j + 1]
            found[i, j] = 0.25 * around if water[i + 1, j + 1] else u[i + 1, j + 1]
    return found


def flooded_jax(u: Any, water: Any) -> Any:
    mean = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
    return module("jax.numpy").where(water[1:-1, 1:-1], mean, u[1:-1, 1:-1])


# --- sums of all rows up to each ------------------------------------------------------------------


def totals(x: Any) -> Any:
    return T.cumsum(x, axis=0)


def totals_numpy(x: Any) -> Any:
    return np.cumsum(x, axis=0)


def totals_loops(x: Any) -> Any:
    found = x.copy()
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            found[i, j] += found[i - 1, j]
    return found


def totals_jax(x: Any) -> Any:
    return module("jax.numpy").cumsum(x, axis=0)


# --- the largest that fades, from the second row on -----------------------------------------------


def faded(x: Any) -> Any:
    return symc.scan(lambda row, most: T.maximum(most * 0.5, row), x[1:], x[0])[0][-1]


def faded_numpy(x: Any) -> Any:
    most = x[0]
    for row in x[1:]:
        most = np.maximum(most * 0.5, row)
    return most


def faded_loops(x: Any) -> Any:
    most = x[0].copy()
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            most[j] = max(most[j] * 0.5, x[i, j])
    return most


def faded_jax(x: Any) -> Any:
    larger = module("jax.numpy").maximum
    step = lambda most, row: (larger(most * 0.5, row), None)  # noqa: E731
    return module("jax").lax.scan(step, x[0], x[1:])[0]


# --- ranks of pages that link to each other -------------------------------------------------------


def ranked(start: Any, end: Any, degree: Any) -> Any:
    n = degree.shape[0]

    def step(_: Any, rank: Any) -> Any:
        share = T.zeros(n)[end].inc((rank / degree)[start])
        return (1 - DAMPING) / n + DAMPING * share

    return symc.fori_loop(0, STEPS, step, T.zeros(n) + 1.0 / n)


def ranked_numpy(start: Any, end: Any, degree: Any) -> Any:
    n = len(degree)
    rank = np.full(n, 1 / n)
    for _ in range(STEPS):
        share = np.bincount(end, (rank / degree)[start], n)
        rank = (1 - DAMPING) / n + DAMPING * share
    return rank


def ranked_loops(start: Any, end: Any, degree: Any) -> Any:
    n = len(degree)
    rank = np.full(n, 1 / n)
    for _ in range(STEPS):
        share = np.zeros(n)
        each = rank / degree
        for k in range(len(start)):
            share[end[k]] += each[start[k]]
        rank = (1 - DAMPING) / n + DAMPING * share
    return rank


def ranked_jax(start: Any, end: Any, degree: Any) -> Any:
    n = degree.shape[0]
    zeros, full = module("jax.numpy").zeros(n), module("jax.numpy").full(n, 1 / n)

    def step(_: Any, rank: Any) -> Any:
        return (1 - DAMPING) / n + DAMPING * zeros.at[end].add((rank / degree)[start])

    return module("jax").lax.fori_loop(0, STEPS, step, full)


# --- densities around particles: what is near counts, and chance says what is ---------------------


def density(p: Any) -> Any:
    n = p.shape[0]

    def around(i: Any) -> Any:
        def add(j: Any, sum_: Any) -> Any:
            d = p[i] - p[j]
            left = RADIUS**2 - (d * d).sum()
            return sum_ + T.where(left > 0, left**3, 0.0)

        return symc.fori_loop(0, n, add, T.constant(0.0))

    return symc.fori_loop(0, n, lambda i, found: found[i].set(around(i)), T.zeros(n))


def density_numpy(p: Any) -> Any:
    left = RADIUS**2 - ((p[:, None] - p) ** 2).sum(2)
    return np.where(left > 0, left**3, 0).sum(1)


def density_loops(p: Any) -> Any:
    found = np.zeros(len(p))
    for i in range(len(p)):
        for j in range(len(p)):
            left = RADIUS**2
            for k in range(p.shape[1]):
                left -= (p[i, k] - p[j, k]) ** 2
            if left > 0:
                found[i] += left**3
    return found


def density_jax(p: Any) -> Any:
    left = RADIUS**2 - ((p[:, None] - p) ** 2).sum(2)
    return module("jax.numpy").where(left > 0, left**3, 0).sum(1)


# --- the longest run of equal numbers -------------------------------------------------------------


def longest(x: Any) -> Any:
    def step(i: Any, run: Any, most: Any) -> Any:
        run = T.where(T.eq(x[i], x[i - 1]), run + 1, 1)
        return run, T.maximum(most, run)

    return symc.fori_loop(1, x.shape[0], step, [1, 1])[1]


def longest_loops(x: Any) -> Any:
    run = most = 1
    for i in range(1, len(x)):
        run = run + 1 if x[i] == x[i - 1] else 1
        most = max(most, run)
    return most


# --- pictures of even brightness ------------------------------------------------------------------


def equalised(x: Any) -> Any:
    count = T.cumsum(T.bincount(x.ravel(), minlength=256))
    table = T.round((count - count[0]) * 255.0 / (x.size - count[0]))
    return T.cast(table, "uint8")[x]


def equalised_numpy(x: Any) -> Any:
    count = np.cumsum(np.bincount(x.ravel(), minlength=256))
    return np.round((count - count[0]) * 255.0 / (x.size - count[0])).astype(np.uint8)[x]


def equalised_loops(x: Any) -> Any:
    count = np.zeros(256, np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            count[x[i, j]] += 1
    count = np.cumsum(count)
    table = np.round((count - count[0]) * 255.0 / (x.size - count[0])).astype(np.uint8)
    found = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            found[i, j] = table[x[i, j]]
    return found


def equalised_jax(x: Any) -> Any:
    jnp = module("jax.numpy")
    count = jnp.cumsum(jnp.bincount(x.ravel(), length=256))
    return jnp.round((count - count[0]) * 255.0 / (x.size - count[0])).astype("uint8")[x]


def _turns(n: int) -> tuple[Any, ...]:
    angles = numbers(n)
    return numbers(n, n), np.cos(angles), np.sin(angles)


def _lake(n: int) -> tuple[Any, ...]:
    return numbers(20 * n, n), numbers(20 * n, n, seed=1) > 0.3


def _pages(n: int) -> tuple[Any, ...]:
    start = places(n, 10 * n)
    return start, places(n, 10 * n, seed=1), np.bincount(start, minlength=n) + 1.0


def _picture(n: int) -> tuple[Any, ...]:
    return (places(200, n, n).astype(np.uint8),)


KERNELS = (
    Kernel("rotated", _turns, 200, 9, rotated, rotated_numpy, rotated_loops),
    Kernel("flooded", _lake, 100, 9, flooded, flooded_numpy, flooded_loops, flooded_jax),
    Kernel("totals", lambda n: (numbers(n, n),), 400, 9,
           totals, totals_numpy, totals_loops, totals_jax),
    Kernel("faded", lambda n: (numbers(n, 10 * n),), 100, 9,
           faded, faded_numpy, faded_loops, faded_jax),
    Kernel("ranked", _pages, 2000, 30, ranked, ranked_numpy, ranked_loops, ranked_jax),
    Kernel("density", lambda n: (numbers(n, 3),), 300, 20,
           density, density_numpy, density_loops, density_jax),
    Kernel("longest", lambda n: (places(2, n),), 100_000, 30, longest, None, longest_loops),
    Kernel("equalised", _picture, 400, 9,
           equalised, equalised_numpy, equalised_loops, equalised_jax),
)  # fmt: skip
