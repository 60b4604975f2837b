"""Loops over slices that have another length in each step, and over states of several arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

# --- a sparse matrix times a vector, row by row ---------------------------------------------------


def sparse_rows(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    def row(i: Any, y: Any) -> Any:
        begin, end = starts[i], starts[i + 1]
        return y[i].set((values[begin:end] * x[columns[begin:end]]).sum())

    count = starts.shape[0] - 1
    return symc.fori_loop(0, count, row, T.zeros(count))


def sparse_rows_numpy(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    y = np.empty(len(starts) - 1)
    for i in range(len(y)):
        begin, end = starts[i], starts[i + 1]
        y[i] = (values[begin:end] * x[columns[begin:end]]).sum()
    return y


def sparse_rows_loops(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    y = np.empty(len(starts) - 1)
    for i in range(len(y)):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y


# --- how a strand pairs with itself ---------------------------------------------------------------


def pairing(strand: Any) -> Any:
    n = strand.shape[0]

    def ends(k: Any, table: Any) -> Any:
        i = n - 1 - k

        def cell(step: Any, table: Any) -> Any:
            j = i + 1 + step
            pair = T.cast(T.eq(strand[i] + strand[j], 3), "int64")
            apart = T.maximum(table[i, j - 1], table[i + 1, j])
            best = T.maximum(apart, table[i + 1, j - 1] + T.where(T.gt(step, 0), pair, 0))
            split = table[i, i + 1 : j] + table[i + 2 : j + 1, j]
            best = T.maximum(best, T.max(T.concatenate([T.zeros((1,), "int64"), split])))
            return table[i, j].set(best)

        return symc.fori_loop(0, k, cell, table)

    return symc.fori_loop(1, n, ends, T.zeros((n, n), "int64"))


def pairing_loops(strand: Any) -> Any:
    n = len(strand)
    table = np.zeros((n, n), np.int64)
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j])
            pair = 1 if j > i + 1 and strand[i] + strand[j] == 3 else 0
            best = max(best, table[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


# --- equations of Toeplitz matrices (N. Levinson 1946, J. Durbin 1960) ----------------------------


def toeplitz(r: Any) -> Any:
    def step(k: Any, y: Any, alpha: Any, beta: Any) -> list[Any]:
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + (r[:k][::-1] * y[:k]).sum()) / beta
        return [y[:k].inc(alpha * y[:k][::-1])[k].set(alpha), alpha, beta]

    first = [T.zeros_like(r)[0].set(-r[0]), -r[0], T.constant(1.0)]
    return symc.fori_loop(1, r.shape[0], step, first)[0]


def toeplitz_numpy(r: Any) -> Any:
    y = np.zeros_like(r)
    y[0], alpha, beta = -r[0], -r[0], 1.0
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + (r[:k][::-1] * y[:k]).sum()) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return y


def toeplitz_loops(r: Any) -> Any:
    n = len(r)
    y, z = np.zeros(n), np.zeros(n)
    y[0], alpha, beta = -r[0], -r[0], 1.0
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        total = 0.0
        for i in range(k):
            total += r[k - 1 - i] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - 1 - i]
        y[:k] = z[:k]
        y[k] = alpha
    return y


# --- orthogonal columns, one after the other ------------------------------------------------------


def gram_schmidt(a: Any) -> Any:
    n = a.shape[1]

    def column(k: Any, a: Any, r: Any) -> list[Any]:
        norm = T.sqrt((a[:, k] * a[:, k]).sum())
        q = a[:, k] / norm
        row = q @ a[:, k + 1 :]
        return [a[:, k + 1 :].inc(-q[:, None] * row), r[k, k].set(norm)[k, k + 1 :].set(row)]

    return symc.fori_loop(0, n, column, [a, T.zeros((n, n))])[1]


def gram_schmidt_numpy(a: Any) -> Any:
    a, n = a.copy(), a.shape[1]
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt((a[:, k] ** 2).sum())
        q = a[:, k] / r[k, k]
        r[k, k + 1 :] = q @ a[:, k + 1 :]
        a[:, k + 1 :] -= q[:, None] * r[k, k + 1 :]
    return r


def gram_schmidt_loops(a: Any) -> Any:
    a = a.copy()
    m, n = a.shape
    r = np.zeros((n, n))
    for k in range(n):
        total = 0.0
        for i in range(m):
            total += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(total)
        for i in range(m):
            for j in range(k + 1, n):
                r[k, j] += a[i, k] / r[k, k] * a[i, j]
        for i in range(m):
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] / r[k, k] * r[k, j]
    return r


# --- shortest paths, an edge at a time ------------------------------------------------------------

NODES = 300


def edges(tails: Any, heads: Any, lengths: Any) -> Any:
    def relax(i: Any, far: Any) -> Any:
        return far[heads[i]].set(T.minimum(far[heads[i]], far[tails[i]] + lengths[i]))

    def sweep(_: Any, far: Any) -> Any:
        return symc.fori_loop(0, tails.shape[0], relax, far)

    return symc.fori_loop(0, 10, sweep, (T.zeros(NODES) + 1e9)[0].set(0.0))


def edges_loops(tails: Any, heads: Any, lengths: Any) -> Any:
    far = np.full(NODES, 1e9)
    far[0] = 0.0
    for _ in range(10):
        for i in range(len(tails)):
            far[heads[i]] = min(far[heads[i]], far[tails[i]] + lengths[i])
    return far


def edges_jax(tails: Any, heads: Any, lengths: Any) -> Any:
    loop, jnp = module("jax").lax.fori_loop, module("jax.numpy")

    def relax(i: Any, far: Any) -> Any:
        return far.at[heads[i]].min(far[tails[i]] + lengths[i])

    first = jnp.full(NODES, 1e9).at[0].set(0.0)
    return loop(0, 10, lambda _, far: loop(0, len(tails), relax, far), first)


# --- how often a series had a new maximum ---------------------------------------------------------


def records(x: Any) -> Any:
    def step(now: Any, most: Any, count: Any) -> list[Any]:
        return [T.maximum(most, now), count + T.gt(now, most)]

    first = [T.constant(-1.0), T.constant(0)]
    return symc.scan(step, sequences=[x], outputs_info=first)[0][1]


def records_numpy(x: Any) -> Any:
    before = np.concatenate([[-1.0], np.maximum.accumulate(x)[:-1]])
    return np.cumsum(x > before)


def records_loops(x: Any) -> Any:
    result = np.empty(len(x), np.int64)
    most, count = -1.0, 0
    for i in range(len(x)):
        if x[i] > most:
            count += 1
            most = x[i]
        result[i] = count
    return result


def _sparse(n: int) -> tuple[Any, ...]:
    lengths = places(28, n) + 2
    starts = np.concatenate([[0], np.cumsum(lengths)])
    total = int(starts[-1])
    return starts, places(n, total, seed=1), numbers(total, seed=2), numbers(n, seed=3)


def _edges(n: int) -> tuple[Any, ...]:
    return places(NODES, n), places(NODES, n, seed=1), numbers(n, seed=2)


KERNELS = (
    Kernel("sparse_rows", _sparse, 2000, 9,
           sparse_rows, sparse_rows_numpy, sparse_rows_loops),
    Kernel("pairing", lambda n: (places(4, n),), 120, 9, pairing, None, pairing_loops),
    Kernel("toeplitz", lambda n: (numbers(n) / n,), 400, 9,
           toeplitz, toeplitz_numpy, toeplitz_loops),
    Kernel("gram_schmidt", lambda n: (numbers(2 * n, n),), 80, 7,
           gram_schmidt, gram_schmidt_numpy, gram_schmidt_loops),
    Kernel("edges", _edges, 3000, 50, edges, None, edges_loops, edges_jax),
    Kernel("records", lambda n: (numbers(n),), 20_000, 50,
           records, records_numpy, records_loops),
)  # fmt: skip
