"""Programs that set or add to one element in each step of a loop, as loops in C are written."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

# --- the largest number of each window ------------------------------------------------------------


def pooled(x: Any) -> Any:
    n, m = x.shape[0] // 2, x.shape[1] // 2

    def cell(i: Any, j: Any, out: Any) -> Any:
        return out[i, j].set(T.max(x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2]))

    def row(i: Any, out: Any) -> Any:
        return symc.fori_loop(0, m, lambda j, out: cell(i, j, out), out)

    return symc.fori_loop(0, n, row, T.zeros((n, m)))


def pooled_numpy(x: Any) -> Any:
    n, m = x.shape[0] // 2, x.shape[1] // 2
    return x[: 2 * n, : 2 * m].reshape(n, 2, m, 2).max(axis=(1, 3))


def pooled_loops(x: Any) -> Any:
    n, m = x.shape[0] // 2, x.shape[1] // 2
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            most = x[2 * i, 2 * j]
            for k in range(2):
                for r in range(2):
                    most = max(most, x[2 * i + k, 2 * j + r])
            out[i, j] = most
    return out


def pooled_jax(x: Any) -> Any:
    n, m = x.shape[0] // 2, x.shape[1] // 2
    return x[: 2 * n, : 2 * m].reshape(n, 2, m, 2).max(axis=(1, 3))


# --- the same of pictures with channels -----------------------------------------------------------


def pictures(x: Any) -> Any:
    b, h, w, c = x.shape

    def cell(i: Any, j: Any, out: Any) -> Any:
        window = x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :]
        return out[:, i, j, :].set(T.max(window, axis=(1, 2)))

    def row(i: Any, out: Any) -> Any:
        return symc.fori_loop(0, w // 2, lambda j, out: cell(i, j, out), out)

    return symc.fori_loop(0, h // 2, row, T.zeros((b, h // 2, w // 2, c)))


def pictures_numpy(x: Any) -> Any:
    b, h, w, c = x.shape
    return x[:, : h // 2 * 2, : w // 2 * 2].reshape(b, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))


def pictures_loops(x: Any) -> Any:
    b, h, w, c = x.shape
    out = np.zeros((b, h // 2, w // 2, c))
    for n in range(b):
        for i in range(h // 2):
            for j in range(w // 2):
                for k in range(c):
                    first = max(x[n, 2 * i, 2 * j, k], x[n, 2 * i, 2 * j + 1, k])
                    second = max(x[n, 2 * i + 1, 2 * j, k], x[n, 2 * i + 1, 2 * j + 1, k])
                    out[n, i, j, k] = max(first, second)
    return out


# --- columns that are set one by one --------------------------------------------------------------


def columns(x: Any, scale: Any) -> Any:
    def column(j: Any, out: Any) -> Any:
        return out[:, j].set(x[:, j] * scale[j] + 1.0)

    return symc.fori_loop(0, x.shape[1], column, T.zeros_like(x))


def columns_numpy(x: Any, scale: Any) -> Any:
    return x * scale + 1.0


def columns_loops(x: Any, scale: Any) -> Any:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] * scale[j] + 1.0
    return out


# --- gravity, with a power ------------------------------------------------------------------------

STEPS = 10


def gravity(place: Any, speed: Any, mass: Any) -> Any:
    def step(_: Any, place: Any, speed: Any) -> Any:
        away = place[None, :, :] - place[:, None, :]
        near = ((away**2).sum(axis=2) + 0.01) ** -1.5
        speed = speed + 0.01 * (away * (mass * near)[:, :, None]).sum(axis=1)
        return place + 0.01 * speed, speed

    return symc.fori_loop(0, STEPS, step, (place, speed))[0]


def gravity_numpy(place: Any, speed: Any, mass: Any) -> Any:
    for _ in range(STEPS):
        away = place[None, :, :] - place[:, None, :]
        near = ((away**2).sum(axis=2) + 0.01) ** -1.5
        speed = speed + 0.01 * (away * (mass * near)[:, :, None]).sum(axis=1)
        place = place + 0.01 * speed
    return place


def gravity_loops(place: Any, speed: Any, mass: Any) -> Any:
    place, speed = place.copy(), speed.copy()
    for _ in range(STEPS):
        for i in range(len(place)):
            x = y = z = 0.0
            for j in range(len(place)):
                a = place[j, 0] - place[i, 0]
                b = place[j, 1] - place[i, 1]
                c = place[j, 2] - place[i, 2]
                near = mass[j] * (a * a + b * b + c * c + 0.01) ** -1.5
                x, y, z = x + near * a, y + near * b, z + near * c
            speed[i, 0] += 0.01 * x
            speed[i, 1] += 0.01 * y
            speed[i, 2] += 0.01 * z
        place += 0.01 * speed
    return place


# --- a sparse matrix in rows, times a vector ------------------------------------------------------


def row_sums(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    def row(i: Any, y: Any) -> Any:
        def add(k: Any, total: Any) -> Any:
            return total + values[k] * x[columns[k]]

        return y[i].set(symc.fori_loop(starts[i], starts[i + 1], add, T.constant(0.0)))

    count = starts.shape[0] - 1
    return symc.fori_loop(0, count, row, T.zeros((count,)))


def row_steps(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    def row(i: Any, y: Any) -> Any:
        def add(k: Any, y: Any) -> Any:
            return y[i].inc(values[k] * x[columns[k]])

        return symc.fori_loop(starts[i], starts[i + 1], add, y)

    count = starts.shape[0] - 1
    return symc.fori_loop(0, count, row, T.zeros((count,)))


def row_sums_loops(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    y = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]
    return y


# --- all shortest paths, and sums at places -------------------------------------------------------


def all_paths(d: Any) -> Any:
    n = d.shape[0]

    def cell(k: Any, i: Any, j: Any, d: Any) -> Any:
        return d[i, j].set(T.minimum(d[i, j], d[i, k] + d[k, j]))

    def row(k: Any, i: Any, d: Any) -> Any:
        return symc.fori_loop(0, n, lambda j, d: cell(k, i, j, d), d)

    def over(k: Any, d: Any) -> Any:
        return symc.fori_loop(0, n, lambda i, d: row(k, i, d), d)

    return symc.fori_loop(0, n, over, d)


def all_paths_loops(d: Any) -> Any:
    d, n = d.copy(), len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


PLACES = 300


def tally(at: Any, x: Any) -> Any:
    return symc.fori_loop(0, at.shape[0], lambda i, out: out[at[i]].inc(x[i]), T.zeros(PLACES))


def tally_numpy(at: Any, x: Any) -> Any:
    return np.bincount(at, x, PLACES)


def tally_loops(at: Any, x: Any) -> Any:
    out = np.zeros(PLACES)
    for i in range(len(at)):
        out[at[i]] += x[i]
    return out


def tally_jax(at: Any, x: Any) -> Any:
    return module("jax.numpy").zeros(PLACES).at[at].add(x)


def _bodies(n: int) -> tuple[Any, ...]:
    return numbers(n, 3), numbers(n, 3, seed=1), numbers(n, seed=2)


def _sparse(n: int) -> tuple[Any, ...]:
    starts = np.concatenate([[0], np.cumsum(places(12, n) + 2)])
    total = int(starts[-1])
    return starts, places(n, total, seed=1), numbers(total, seed=2), numbers(n, seed=3)


KERNELS = (
    Kernel("pooled", lambda n: (numbers(n, n),), 300, 11,
           pooled, pooled_numpy, pooled_loops, pooled_jax),
    Kernel("columns", lambda n: (numbers(n, n), numbers(n, seed=1)), 300, 9,
           columns, columns_numpy, columns_loops, columns_numpy),
    Kernel("pictures", lambda n: (numbers(4, n, n, 8),), 56, 7,
           pictures, pictures_numpy, pictures_loops, pictures_numpy),
    Kernel("gravity", _bodies, 100, 7, gravity, gravity_numpy, gravity_loops),
    Kernel("row_sums", _sparse, 2000, 9, row_sums, None, row_sums_loops),
    Kernel("row_steps", _sparse, 2000, 9, row_steps, None, row_sums_loops),
    Kernel("all_paths", lambda n: (numbers(n, n),), 60, 7, all_paths, None, all_paths_loops),
    Kernel("tally", lambda n: (places(PLACES, n), numbers(n, seed=1)), 10_000, 50,
           tally, tally_numpy, tally_loops, tally_jax),
)  # fmt: skip
