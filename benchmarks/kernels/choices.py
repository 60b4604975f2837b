"""Programs that choose: by masks, by which of two numbers is larger, by tables of choices."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

# --- elements of either of two arrays, as a mask says ---------------------------------------------


def chosen(mask: Any, x: Any, y: Any) -> Any:
    return T.where(mask, x, y)


def chosen_numpy(mask: Any, x: Any, y: Any) -> Any:
    return np.where(mask, x, y)


def chosen_loops(mask: Any, x: Any, y: Any) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] if mask[i] else y[i]
    return out


def chosen_jax(mask: Any, x: Any, y: Any) -> Any:
    return module("jax").numpy.where(mask, x, y)


# --- the mean of what a mask leaves ---------------------------------------------------------------


def left(mask: Any, x: Any) -> Any:
    return T.sum(T.where(mask, x, 0.0)) / T.sum(mask)


def left_numpy(mask: Any, x: Any) -> Any:
    return x[mask].mean()


def left_loops(mask: Any, x: Any) -> Any:
    total, count = 0.0, 0
    for i in range(len(x)):
        if mask[i]:
            total += x[i]
            count += 1
    return total / count


def left_jax(mask: Any, x: Any) -> Any:
    jnp = module("jax").numpy
    return jnp.sum(jnp.where(mask, x, 0.0)) / jnp.sum(mask)


# --- neighbours that are in the wrong order, exchanged --------------------------------------------


def bubble(x: Any) -> Any:
    n = x.shape[0]

    def exchange(j: Any, x: Any) -> Any:
        one, other = x[j], x[j + 1]
        return symc.ifelse(one > other, x[j].set(other)[j + 1].set(one), x)

    return symc.fori_loop(0, n, lambda i, x: symc.fori_loop(0, n - 1 - i, exchange, x), x)


def bubble_loops(x: Any) -> Any:
    x = x.copy()
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


# --- distances from one place, the nearest that is left first -------------------------------------


def nearest(lengths: Any) -> Any:
    n = lengths.shape[0]

    def visit(_: Any, distance: Any, done: Any) -> Any:
        place = T.argmin(T.where(done, np.inf, distance))
        done = done[place].set(True)
        through = T.minimum(distance, distance[place] + lengths[place])
        return T.where(done, distance, through), done

    first = (T.zeros(n) + np.inf)[0].set(0.0)
    return symc.fori_loop(0, n, visit, [first, T.zeros(n, "bool")])[0]


def nearest_numpy(lengths: Any) -> Any:
    n = len(lengths)
    distance, done = np.full(n, np.inf), np.zeros(n, np.bool_)
    distance[0] = 0.0
    for _ in range(n):
        place = np.argmin(np.where(done, np.inf, distance))
        done[place] = True
        through = np.minimum(distance, distance[place] + lengths[place])
        distance = np.where(done, distance, through)
    return distance


def nearest_loops(lengths: Any) -> Any:
    n = len(lengths)
    distance, done = np.full(n, np.inf), np.zeros(n, np.bool_)
    distance[0] = 0.0
    for _ in range(n):
        least, place = np.inf, 0
        for i in range(n):
            if not done[i] and distance[i] < least:
                least, place = distance[i], i
        done[place] = True
        for i in range(n):
            if not done[i]:
                distance[i] = min(distance[i], least + lengths[place, i])
    return distance


# --- the most likely path: a table of choices, and back along it ----------------------------------


def path(moves: Any, seen: Any, observed: Any) -> Any:
    states, count = moves.shape[0], observed.shape[0]

    def forward(t: Any, score: Any, choice: Any) -> Any:
        sums = score[t - 1][:, None] + moves
        best = T.max(sums, axis=0) + seen[:, observed[t]]
        return score[t].set(best), choice[t].set(T.argmax(sums, axis=0))

    first = T.zeros((count, states))[0].set(seen[:, observed[0]])
    score, choice = symc.fori_loop(1, count, forward, [first, T.zeros((count, states), "int64")])
    last = T.zeros((count,), "int64")[count - 1].set(T.argmax(score[count - 1]))

    def back(k: Any, path: Any) -> Any:
        t = count - 2 - k
        return path[t].set(choice[t + 1, path[t + 1]])

    return symc.fori_loop(0, count - 1, back, last)


def path_numpy(moves: Any, seen: Any, observed: Any) -> Any:
    score = seen[:, observed[0]]
    choice = np.zeros((len(observed), len(moves)), np.int64)
    for t in range(1, len(observed)):
        sums = score[:, None] + moves
        choice[t] = sums.argmax(0)
        score = sums.max(0) + seen[:, observed[t]]
    found = np.zeros(len(observed), np.int64)
    found[-1] = score.argmax()
    for t in range(len(observed) - 2, -1, -1):
        found[t] = choice[t + 1, found[t + 1]]
    return found


def path_loops(moves: Any, seen: Any, observed: Any) -> Any:
    states, count = len(moves), len(observed)
    score, choice = np.zeros((count, states)), np.zeros((count, states), np.int64)
    score[0] = seen[:, observed[0]]
    for t in range(1, count):
        for j in range(states):
            best, at = -np.inf, 0
            for i in range(states):
                if score[t - 1, i] + moves[i, j] > best:
                    best, at = score[t - 1, i] + moves[i, j], i
            choice[t, j], score[t, j] = at, best + seen[j, observed[t]]
    found = np.zeros(count, np.int64)
    found[-1] = np.argmax(score[-1])
    for t in range(count - 2, -1, -1):
        found[t] = choice[t + 1, found[t + 1]]
    return found


def _mask(n: int) -> Any:
    return numbers(n, seed=3) < 0.5


KERNELS = (
    Kernel("chosen", lambda n: (_mask(n), numbers(n), numbers(n, seed=1)), 100_000, 50,
           chosen, chosen_numpy, chosen_loops, chosen_jax),
    Kernel("left", lambda n: (_mask(n), numbers(n)), 100_000, 50,
           left, left_numpy, left_loops, left_jax),
    Kernel("bubble", lambda n: (numbers(n),), 300, 20, bubble, None, bubble_loops),
    Kernel("nearest", lambda n: (numbers(n, n),), 200, 9, nearest, nearest_numpy, nearest_loops),
    Kernel("path", lambda n: (numbers(20, 20), numbers(20, 10, seed=1), places(10, n)), 300, 9,
           path, path_numpy, path_loops),
)  # fmt: skip
