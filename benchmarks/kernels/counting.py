"""Counting and finding: histograms, clusters, the largest, where something is."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc.tensor as T

from .kernel import Kernel, numbers, places

BINS = 64
MANY = 1000
LARGEST = 10

# --- histograms -----------------------------------------------------------------------------------


def histogram(x: Any) -> Any:
    return T.histogram(x, BINS, (0.0, 1.0))[0]


def histogram_numpy(x: Any) -> Any:
    return np.histogram(x, BINS, (0.0, 1.0))[0]


def histogram_loops(x: Any) -> Any:
    counts = np.zeros(BINS, np.int64)
    for i in range(len(x)):
        counts[min(int(x[i] * BINS), BINS - 1)] += 1
    return counts


def histogram_jax(x: Any) -> Any:
    return module("jax.numpy").histogram(x, BINS, (0.0, 1.0))[0]


def weights(x: Any, w: Any) -> Any:
    return T.bincount(x, w, minlength=MANY)


def weights_numpy(x: Any, w: Any) -> Any:
    return np.bincount(x, w, minlength=MANY)


def weights_loops(x: Any, w: Any) -> Any:
    sums = np.zeros(MANY)
    for i in range(len(x)):
        sums[x[i]] += w[i]
    return sums


def weights_jax(x: Any, w: Any) -> Any:
    return module("jax.numpy").bincount(x, w, length=MANY)


# --- a step of k-means ----------------------------------------------------------------------------


def k_means(x: Any, centres: Any) -> Any:
    far = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    of = T.argmin(far, axis=1)
    sums = T.zeros_like(centres)[of].inc(x)
    counts = T.zeros(centres.shape[0])[of].inc(1.0)
    return sums / T.maximum(counts, 1.0)[:, None]


def k_means_numpy(x: Any, centres: Any) -> Any:
    of = np.argmin(((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2), axis=1)
    sums, counts = np.zeros_like(centres), np.bincount(of, minlength=len(centres))
    np.add.at(sums, of, x)
    return sums / np.maximum(counts, 1)[:, None]


def k_means_loops(x: Any, centres: Any) -> Any:
    sums, counts = np.zeros_like(centres), np.zeros(len(centres))
    for i in range(len(x)):
        best, nearest = np.inf, 0
        for c in range(len(centres)):
            far = 0.0
            for k in range(x.shape[1]):
                far += (x[i, k] - centres[c, k]) ** 2
            if far < best:
                best, nearest = far, c
        counts[nearest] += 1
        for k in range(x.shape[1]):
            sums[nearest, k] += x[i, k]
    for c in range(len(centres)):
        sums[c] /= max(counts[c], 1.0)
    return sums


def k_means_jax(x: Any, centres: Any) -> Any:
    jnp = module("jax.numpy")
    of = jnp.argmin(((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2), axis=1)
    sums = jnp.zeros_like(centres).at[of].add(x)
    counts = jnp.zeros(len(centres)).at[of].add(1.0)
    return sums / jnp.maximum(counts, 1.0)[:, None]


# --- the largest ----------------------------------------------------------------------------------


def argmax(x: Any) -> Any:
    return T.argmax(x)


def argmax_numpy(x: Any) -> Any:
    return np.argmax(x)


def argmax_loops(x: Any) -> Any:
    best = 0
    for i in range(1, len(x)):
        if x[i] > x[best]:
            best = i
    return best


def argmax_jax(x: Any) -> Any:
    return module("jax.numpy").argmax(x)


def row_argmax(x: Any) -> Any:
    return T.argmax(x, axis=1)


def row_argmax_numpy(x: Any) -> Any:
    return np.argmax(x, axis=1)


def row_argmax_loops(x: Any) -> Any:
    result = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        for j in range(1, x.shape[1]):
            if x[i, j] > x[i, result[i]]:
                result[i] = j
    return result


def row_argmax_jax(x: Any) -> Any:
    return module("jax.numpy").argmax(x, axis=1)


def top(x: Any) -> Any:
    return T.topk(x, LARGEST)[0]


def top_numpy(x: Any) -> Any:
    return -np.sort(-np.partition(x, len(x) - LARGEST)[-LARGEST:])


def top_loops(x: Any) -> Any:
    best = np.full(LARGEST, -np.inf)
    for i in range(len(x)):
        value = x[i]
        if value > best[LARGEST - 1]:
            k = LARGEST - 1
            while k > 0 and best[k - 1] < value:
                best[k] = best[k - 1]
                k -= 1
            best[k] = value
    return best


def top_jax(x: Any) -> Any:
    return module("jax").lax.top_k(x, LARGEST)[0]


# --- where something is ---------------------------------------------------------------------------


def search(edges: Any, x: Any) -> Any:
    return T.searchsorted(edges, x)


def search_loops(edges: Any, x: Any) -> Any:
    result = np.empty(len(x), np.int64)
    for i in range(len(x)):
        low, high = 0, len(edges)
        while low < high:
            middle = (low + high) // 2
            if edges[middle] < x[i]:
                low = middle + 1
            else:
                high = middle
        result[i] = low
    return result


def search_jax(edges: Any, x: Any) -> Any:
    return module("jax.numpy").searchsorted(edges, x)


def found(x: Any) -> Any:
    return T.nonzero(T.gt(x, 0.5))[0]


def found_numpy(x: Any) -> Any:
    return np.nonzero(x > 0.5)[0]


def found_loops(x: Any) -> Any:
    count = 0
    for i in range(len(x)):
        count += x[i] > 0.5
    result = np.empty(count, np.int64)
    count = 0
    for i in range(len(x)):
        if x[i] > 0.5:
            result[count] = i
            count += 1
    return result


def wrapped(x: Any, y: Any) -> Any:
    return x // y + x % y


def wrapped_loops(x: Any, y: Any) -> Any:
    result = np.empty_like(x)
    for i in range(len(x)):
        result[i] = x[i] // y[i] + x[i] % y[i]
    return result


def _numbers(n: int) -> tuple[Any, ...]:
    return (numbers(n),)


KERNELS = (
    Kernel("histogram", _numbers, 100_000, 50,
           histogram, histogram_numpy, histogram_loops, histogram_jax),
    Kernel("weights", lambda n: (places(MANY, n), numbers(n)), 100_000, 50,
           weights, weights_numpy, weights_loops, weights_jax),
    Kernel("k_means", lambda n: (numbers(n, 8), numbers(16, 8, seed=1)), 5000, 40,
           k_means, k_means_numpy, k_means_loops, k_means_jax),
    Kernel("argmax", _numbers, 100_000, 50, argmax, argmax_numpy, argmax_loops, argmax_jax),
    Kernel("row_argmax", lambda n: (numbers(n, 50),), 2000, 5,
           row_argmax, row_argmax_numpy, row_argmax_loops, row_argmax_jax),
    Kernel("top", _numbers, 100_000, 50, top, top_numpy, top_loops, top_jax),
    Kernel("search", lambda n: (np.sort(numbers(1000)), numbers(n, seed=1)), 50_000, 9,
           search, np.searchsorted, search_loops, search_jax),
    Kernel("nonzero", _numbers, 100_000, 50, found, found_numpy, found_loops),
    Kernel("wrapped", lambda n: (20 * numbers(n) - 10, 0.5 + numbers(n, seed=1)), 100_000, 50,
           wrapped, wrapped, wrapped_loops, wrapped),
)  # fmt: skip
