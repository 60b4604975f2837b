"""Dynamic programming: tables whose entries come from earlier ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

CAPACITY = 1000

# --- how many letters to change -------------------------------------------------------------------


def edit_distance(a: Any, b: Any) -> Any:
    n, m = a.shape[0], b.shape[0]
    table = T.zeros((n + 1, m + 1), "int64")
    table = table[0, :].set(T.arange(m + 1))[:, 0].set(T.arange(n + 1))

    def row(i: Any, d: Any) -> Any:
        def cell(j: Any, d: Any) -> Any:
            cost = T.cast(T.neq(a[i], b[j]), "int64")
            least = T.minimum(T.minimum(d[i, j + 1], d[i + 1, j]) + 1, d[i, j] + cost)
            return d[i + 1, j + 1].set(least)

        return symc.fori_loop(0, m, cell, d)

    return symc.fori_loop(0, n, row, table)


def edit_distance_loops(a: Any, b: Any) -> Any:
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1), np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(n):
        for j in range(m):
            cost = 1 if a[i] != b[j] else 0
            d[i + 1, j + 1] = min(min(d[i, j + 1], d[i + 1, j]) + 1, d[i, j] + cost)
    return d


def edit_distance_jax(a: Any, b: Any) -> Any:
    loop, jnp = module("jax").lax.fori_loop, module("jax.numpy")
    table = jnp.zeros((len(a) + 1, len(b) + 1), "int64")
    table = table.at[0, :].set(jnp.arange(len(b) + 1)).at[:, 0].set(jnp.arange(len(a) + 1))

    def row(i: Any, d: Any) -> Any:
        def cell(j: Any, d: Any) -> Any:
            cost = (a[i] != b[j]).astype("int64")
            least = jnp.minimum(jnp.minimum(d[i, j + 1], d[i + 1, j]) + 1, d[i, j] + cost)
            return d.at[i + 1, j + 1].set(least)

        return loop(0, len(b), cell, d)

    return loop(0, len(a), row, table)


# --- the longest common subsequence, a row at a time ----------------------------------------------


def subsequence(a: Any, b: Any) -> Any:
    m = b.shape[0]

    def row(i: Any, before: Any) -> Any:
        def cell(j: Any, now: Any) -> Any:
            longer = T.where(T.eq(a[i], b[j]), before[j] + 1, T.maximum(before[j + 1], now[j]))
            return now[j + 1].set(longer)

        return symc.fori_loop(0, m, cell, T.zeros_like(before))

    return symc.fori_loop(0, a.shape[0], row, T.zeros(m + 1, "int64"))


def subsequence_loops(a: Any, b: Any) -> Any:
    m = len(b)
    before, now = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    for i in range(len(a)):
        for j in range(m):
            if a[i] == b[j]:
                now[j + 1] = before[j] + 1
            else:
                now[j + 1] = max(before[j + 1], now[j])
        before, now = now, before
    return before


# --- what to pack ---------------------------------------------------------------------------------


def knapsack(weight: Any, value: Any) -> Any:
    def item(i: Any, best: Any) -> Any:
        w = weight[i]
        return best[w:].set(T.maximum(best[w:], best[: CAPACITY + 1 - w] + value[i]))

    return symc.fori_loop(0, weight.shape[0], item, T.zeros(CAPACITY + 1))


def knapsack_numpy(weight: Any, value: Any) -> Any:
    best = np.zeros(CAPACITY + 1)
    for w, v in zip(weight, value, strict=True):
        best[w:] = np.maximum(best[w:], best[: CAPACITY + 1 - w] + v)
    return best


def knapsack_loops(weight: Any, value: Any) -> Any:
    best = np.zeros(CAPACITY + 1)
    for i in range(len(weight)):
        w, v = weight[i], value[i]
        for c in range(CAPACITY, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best


def knapsack_jax(weight: Any, value: Any) -> Any:
    jnp = module("jax.numpy")
    capacity = jnp.arange(CAPACITY + 1)

    def item(i: Any, best: Any) -> Any:
        w = weight[i]
        taken = best[jnp.maximum(capacity - w, 0)] + value[i]
        return jnp.where(capacity >= w, jnp.maximum(best, taken), best)

    return module("jax").lax.fori_loop(0, len(weight), item, jnp.zeros(CAPACITY + 1))


# --- the likeliest hidden states ------------------------------------------------------------------


def viterbi(start: Any, change: Any, seen: Any) -> Any:
    def step(now: Any, before: Any) -> Any:
        return (before[:, None] + change).max(axis=0) + now

    return symc.scan(step, sequences=[seen], outputs_info=[start])[0]


def viterbi_numpy(start: Any, change: Any, seen: Any) -> Any:
    result = np.empty_like(seen)
    for t in range(len(seen)):
        start = (start[:, None] + change).max(axis=0) + seen[t]
        result[t] = start
    return result


def viterbi_loops(start: Any, change: Any, seen: Any) -> Any:
    steps, n = seen.shape
    result = np.empty_like(seen)
    for t in range(steps):
        before = result[t - 1] if t > 0 else start
        for j in range(n):
            best = -np.inf
            for i in range(n):
                best = max(best, before[i] + change[i, j])
            result[t, j] = best + seen[t, j]
    return result


def viterbi_jax(start: Any, change: Any, seen: Any) -> Any:
    def step(before: Any, now: Any) -> Any:
        after = (before[:, None] + change).max(axis=0) + now
        return after, after

    return module("jax").lax.scan(step, start, seen)[1]


def _words(n: int) -> tuple[Any, ...]:
    return places(4, n), places(4, n + 3, seed=1)


KERNELS = (
    Kernel("edit_distance", _words, 300, 9,
           edit_distance, None, edit_distance_loops, edit_distance_jax),
    Kernel("subsequence", _words, 300, 9, subsequence, None, subsequence_loops),
    Kernel("knapsack", lambda n: (places(100, n) + 1, numbers(n, seed=1)), 200, 9,
           knapsack, knapsack_numpy, knapsack_loops, knapsack_jax),
    Kernel("viterbi", lambda n: (numbers(24), numbers(24, 24, seed=1), numbers(n, 24, seed=2)),
           500, 9, viterbi, viterbi_numpy, viterbi_loops, viterbi_jax),
)  # fmt: skip
