"""Pictures, rows of bytes, points that pull at each other, columns beside rows, sin(x) / x."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

BRIGHT, SMALL, SOFT = 100, 1e-3, 0.01

# --- means of 3 by 3 pixels of three bytes --------------------------------------------------------


def _neighbours(x: Any, height: Any, width: Any) -> Any:
    return sum(x[a : height - 2 + a, b : width - 2 + b] for a in range(3) for b in range(3))


def boxed(picture: Any) -> Any:
    wide = T.cast(picture, "uint16")
    return T.cast(_neighbours(wide, picture.shape[0], picture.shape[1]) // 9, "uint8")


def boxed_numpy(picture: Any) -> Any:
    wide = picture.astype(np.uint16)
    return (_neighbours(wide, *picture.shape[:2]) // 9).astype(np.uint8)


def boxed_loops(picture: Any) -> Any:
    height, width, depth = picture.shape
    found = np.empty((height - 2, width - 2, depth), np.uint8)
    for i in range(height - 2):
        for j in range(width - 2):
            for k in range(depth):
                total = 0
                for a in range(3):
                    for b in range(3):
                        total += picture[i + a, j + b, k]
                found[i, j, k] = total // 9
    return found


def boxed_jax(picture: Any) -> Any:
    wide = picture.astype("uint16")
    return (_neighbours(wide, *picture.shape[:2]) // 9).astype("uint8")


# --- each pixel as a square of four ---------------------------------------------------------------


def enlarged(x: Any) -> Any:
    return T.repeat(T.repeat(x, 2, axis=0), 2, axis=1)


def enlarged_numpy(x: Any) -> Any:
    return np.repeat(np.repeat(x, 2, axis=0), 2, axis=1)


def enlarged_loops(x: Any) -> Any:
    found = np.empty((2 * x.shape[0], 2 * x.shape[1]))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            found[2 * i, 2 * j] = found[2 * i, 2 * j + 1] = x[i, j]
            found[2 * i + 1, 2 * j] = found[2 * i + 1, 2 * j + 1] = x[i, j]
    return found


def enlarged_jax(x: Any) -> Any:
    jnp = module("jax.numpy")
    return jnp.repeat(jnp.repeat(x, 2, axis=0), 2, axis=1)


# --- bright bytes of each row ---------------------------------------------------------------------


def bright(x: Any) -> Any:
    return (x > BRIGHT).sum(axis=1)


def bright_loops(x: Any) -> Any:
    found = np.zeros(x.shape[0], np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            found[i] += x[i, j] > BRIGHT
    return found


# --- points that pull at each other, by differences of all pairs ----------------------------------


def pulled(p: Any, masses: Any) -> Any:
    apart = p[None] - p[:, None]
    squared = (apart * apart).sum(axis=2) + SOFT
    weights = masses[None, :] / (squared * squared**0.5)
    return (weights[:, :, None] * apart).sum(axis=1)


def pulled_loops(p: Any, masses: Any) -> Any:
    found = np.zeros_like(p)
    for i in range(len(p)):
        for j in range(len(p)):
            squared = SOFT
            for k in range(p.shape[1]):
                squared += (p[j, k] - p[i, k]) ** 2
            weight = masses[j] / (squared * np.sqrt(squared))
            for k in range(p.shape[1]):
                found[i, k] += weight * (p[j, k] - p[i, k])
    return found


# --- shortest ways over one more place, whose ways are columns ------------------------------------


def detours(ways: Any) -> Any:
    return T.minimum(ways, ways[:, 0][:, None] + ways[:, 1][None, :])


def detours_numpy(ways: Any) -> Any:
    return np.minimum(ways, ways[:, 0][:, None] + ways[:, 1][None, :])


def detours_loops(ways: Any) -> Any:
    found = np.empty_like(ways)
    for i in range(ways.shape[0]):
        for j in range(ways.shape[1]):
            found[i, j] = min(ways[i, j], ways[i, 0] + ways[j, 1])
    return found


def detours_jax(ways: Any) -> Any:
    return module("jax.numpy").minimum(ways, ways[:, 0][:, None] + ways[:, 1][None, :])


# --- sin(x) / x, by a series near 0 ---------------------------------------------------------------


def waves(x: Any) -> Any:
    small = abs(x) < SMALL
    return T.where(small, 1 - x * x / 6, T.sin(x) / T.where(small, 1, x))


def waves_numpy(x: Any) -> Any:
    small = abs(x) < SMALL
    return np.where(small, 1 - x * x / 6, np.sin(x) / np.where(small, 1, x))


def waves_loops(x: Any) -> Any:
    found = np.empty_like(x)
    for i in range(len(x)):
        found[i] = 1 - x[i] * x[i] / 6 if abs(x[i]) < SMALL else np.sin(x[i]) / x[i]
    return found


def waves_jax(x: Any) -> Any:
    jnp = module("jax.numpy")
    small = abs(x) < SMALL
    return jnp.where(small, 1 - x * x / 6, jnp.sin(x) / jnp.where(small, 1, x))


# --- how likely what was seen is, of a hidden chain of few states ---------------------------------


def likely(start: Any, turns: Any, seen: Any) -> Any:
    def step(row: Any, share: Any, total: Any) -> Any:
        share = (share @ turns) * row
        size = share.sum()
        return share / size, total + T.log(size)

    states, _ = symc.scan(step, seen, [start, T.constant(0.0)])
    return states[1][-1]


def likely_numpy(start: Any, turns: Any, seen: Any) -> Any:
    share, total = start, 0.0
    for row in seen:
        share = (share @ turns) * row
        total += np.log(share.sum())
        share = share / share.sum()
    return np.float64(total)


def likely_loops(start: Any, turns: Any, seen: Any) -> Any:
    share, after, total = start.copy(), np.empty_like(start), 0.0
    for t in range(len(seen)):
        size = 0.0
        for j in range(len(share)):
            after[j] = 0.0
            for i in range(len(share)):
                after[j] += share[i] * turns[i, j]
            after[j] *= seen[t, j]
            size += after[j]
        for j in range(len(share)):
            share[j] = after[j] / size
        total += np.log(size)
    return np.float64(total)


def likely_jax(start: Any, turns: Any, seen: Any) -> Any:
    jnp = module("jax.numpy")

    def step(state: Any, row: Any) -> Any:
        share, total = state
        share = (share @ turns) * row
        size = share.sum()
        return (share / size, total + jnp.log(size)), None

    return module("jax.lax").scan(step, (start, 0.0), seen)[0][1]


def _chain(n: int) -> tuple[Any, ...]:
    states = 10
    turns = numbers(states, states, seed=1)
    return np.full(states, 1 / states), turns / turns.sum(1, keepdims=True), numbers(n, states)


KERNELS = (
    Kernel("boxed", lambda n: (places(256, n, n, 3).astype(np.uint8),), 100, 7,
           boxed, boxed_numpy, boxed_loops, boxed_jax),
    Kernel("enlarged", lambda n: (numbers(n, n),), 150, 7,
           enlarged, enlarged_numpy, enlarged_loops, enlarged_jax),
    Kernel("bright", lambda n: (places(256, n, 50).astype(np.uint8),), 4000, 9,
           bright, bright, bright_loops, bright),
    Kernel("pulled", lambda n: (numbers(n, 3), numbers(n, seed=1)), 200, 9,
           pulled, pulled, pulled_loops, pulled),
    Kernel("detours", lambda n: (numbers(n, n),), 300, 9,
           detours, detours_numpy, detours_loops, detours_jax),
    Kernel("waves", lambda n: ((numbers(n) * 20 - 10).astype(np.float32),), 30_000, 60,
           waves, waves_numpy, waves_loops, waves_jax, rtol=1e-5),
    Kernel("likely", _chain, 1000, 20, likely, likely_numpy, likely_loops, likely_jax),
)  # fmt: skip
