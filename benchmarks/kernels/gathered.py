"""Rows that are chosen and added up, pixels, windows of a signal, shifts, patterns in texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

RED, GREEN, BLUE = 77, 150, 29  # shares of 256 that eyes have of grey
WINDOWS = 12
DIGIT = 3  # the base of Halton's numbers

# --- sums of embeddings, a bag of words each ------------------------------------------------------


def bags(table: Any, words: Any) -> Any:
    return table[words].sum(axis=1)


def bags_loops(table: Any, words: Any) -> Any:
    found = np.zeros((len(words), table.shape[1]))
    for i in range(len(words)):
        for k in range(words.shape[1]):
            for j in range(table.shape[1]):
                found[i, j] += table[words[i, k], j]
    return found


# --- grey of red, green and blue ------------------------------------------------------------------


def grey(picture: Any) -> Any:
    red, green, blue = (picture[:, :, k].astype("uint32") for k in range(3))
    return ((red * RED + green * GREEN + blue * BLUE) >> 8).astype("uint8")


def grey_loops(picture: Any) -> Any:
    found = np.empty(picture.shape[:2], np.uint8)
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            red, green = np.uint32(picture[i, j, 0]), np.uint32(picture[i, j, 1])
            share = red * np.uint32(RED) + green * np.uint32(GREEN)
            found[i, j] = (share + np.uint32(picture[i, j, 2]) * np.uint32(BLUE)) >> np.uint32(8)
    return found


# --- the largest around each pixel ----------------------------------------------------------------


def _around(picture: Any, larger: Any) -> Any:
    rows, columns = picture.shape
    found = picture[1:-1, 1:-1]
    for i in range(3):
        for j in range(3):
            found = larger(found, picture[i : rows - 2 + i, j : columns - 2 + j])
    return found


def dilated(picture: Any) -> Any:
    return _around(picture, T.maximum)


def dilated_numpy(picture: Any) -> Any:
    return _around(picture, np.maximum)


def dilated_loops(picture: Any) -> Any:
    found = np.empty((picture.shape[0] - 2, picture.shape[1] - 2), picture.dtype)
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            most = picture[i, j]
            for a in range(3):
                for b in range(3):
                    most = max(most, picture[i + a, j + b])
            found[i, j] = most
    return found


def dilated_jax(picture: Any) -> Any:
    return _around(picture, module("jax.numpy").maximum)


# --- means of windows, stacked --------------------------------------------------------------------


def _windows(x: Any) -> list[Any]:
    return [x[k : x.shape[0] - WINDOWS + 1 + k] for k in range(WINDOWS)]


def windows(x: Any) -> Any:
    return T.stack(_windows(x)).mean(axis=0)


def windows_numpy(x: Any) -> Any:
    return np.stack(_windows(x)).mean(axis=0)


def windows_loops(x: Any) -> Any:
    found = np.empty(len(x) - WINDOWS + 1)
    for i in range(len(found)):
        total = 0.0
        for k in range(WINDOWS):
            total += x[i + k]
        found[i] = total / WINDOWS
    return found


def windows_jax(x: Any) -> Any:
    jnp = module("jax.numpy")
    return jnp.stack(_windows(x)).mean(axis=0)


# --- differences from the number before -----------------------------------------------------------


def changes(x: Any) -> Any:
    return x - T.concatenate([T.zeros(1), x[:-1]])


def changes_numpy(x: Any) -> Any:
    return x - np.concatenate([np.zeros(1), x[:-1]])


def changes_loops(x: Any) -> Any:
    found = np.empty(len(x))
    found[0] = x[0]
    for i in range(1, len(x)):
        found[i] = x[i] - x[i - 1]
    return found


def changes_jax(x: Any) -> Any:
    jnp = module("jax.numpy")
    return x - jnp.concatenate([jnp.zeros(1), x[:-1]])


# --- rows that a gate lets through ----------------------------------------------------------------


def gated(x: Any, gate: Any) -> Any:
    return T.where(gate[:, None], T.exp(x) / (1 + x), x)


def gated_numpy(x: Any, gate: Any) -> Any:
    return np.where(gate[:, None], np.exp(x) / (1 + x), x)


def gated_loops(x: Any, gate: Any) -> Any:
    found = np.empty(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            found[i, j] = np.exp(x[i, j]) / (1 + x[i, j]) if gate[i] else x[i, j]
    return found


def gated_jax(x: Any, gate: Any) -> Any:
    jnp = module("jax.numpy")
    return jnp.where(gate[:, None], jnp.exp(x) / (1 + x), x)


# --- how often a pattern is in a text, by Knuth, Morris and Pratt ---------------------------------


def occurring(text: Any, pattern: Any) -> Any:
    m = pattern.shape[0]

    def back(table: Any, k: Any, letter: Any) -> Any:
        """The length of the longest start of the pattern before a letter that does not fit."""
        differs = lambda k: (k > 0) & T.ne(pattern[T.minimum(k, m - 1)], letter)  # noqa: E731
        return symc.while_loop(differs, lambda k: table[k - 1], k)

    def fill(i: Any, table: Any) -> Any:
        k = back(table, table[i - 1], pattern[i])
        return table[i].set(k + T.eq(pattern[k], pattern[i]))

    table = symc.fori_loop(1, m, fill, T.zeros(m, "int64"))

    def letter(i: Any, k: Any, count: Any) -> Any:
        k = back(table, k, text[i])
        k = k + T.eq(pattern[k], text[i])
        is_whole = T.eq(k, m)
        return T.where(is_whole, table[m - 1], k), count + is_whole

    zero = T.constant(0)
    return symc.fori_loop(0, text.shape[0], letter, (zero, zero))[1]


def occurring_loops(text: Any, pattern: Any) -> Any:
    table = np.zeros(len(pattern), np.int64)
    k = 0
    for i in range(1, len(pattern)):
        k = table[i - 1]
        while k > 0 and pattern[k] != pattern[i]:
            k = table[k - 1]
        table[i] = k + (pattern[k] == pattern[i])
    k = count = 0
    for i in range(len(text)):
        while k > 0 and pattern[k] != text[i]:
            k = table[k - 1]
        if pattern[k] == text[i]:
            k += 1
        if k == len(pattern):
            count += 1
            k = table[k - 1]
    return np.int64(count)


# --- numbers turned around their point, digit by digit --------------------------------------------


def turned(numbers: Any) -> Any:
    def one(i: Any, found: Any) -> Any:
        def digit(k: Any, share: Any, total: Any) -> Any:
            return k // DIGIT, share / DIGIT, total + share * (k % DIGIT)

        first = [numbers[i], T.constant(1.0 / DIGIT), T.constant(0.0)]
        _, _, total = symc.while_loop(lambda k, share, total: k > 0, digit, first)
        return found[i].set(total)

    return symc.fori_loop(0, numbers.shape[0], one, T.zeros(numbers.shape[0]))


def turned_loops(numbers: Any) -> Any:
    found = np.zeros(len(numbers))
    for i in range(len(numbers)):
        k, share, total = numbers[i], 1.0 / DIGIT, 0.0
        while k > 0:
            total += share * (k % DIGIT)
            share /= DIGIT
            k //= DIGIT
        found[i] = total
    return found


def _bytes(*shape: int) -> Any:
    return places(256, *shape).astype(np.uint8)


KERNELS = (
    Kernel("bags", lambda n: (numbers(5000, 32), places(5000, n, 20)), 1000, 5,
           bags, bags, bags_loops, bags),
    Kernel("grey", lambda n: (_bytes(n, n, 3),), 400, 9, grey, grey, grey_loops, grey),
    Kernel("dilated", lambda n: (_bytes(n, n),), 316, 9,
           dilated, dilated_numpy, dilated_loops, dilated_jax),
    Kernel("windows", lambda n: (numbers(n),), 20_000, 40,
           windows, windows_numpy, windows_loops, windows_jax),
    Kernel("changes", lambda n: (numbers(n),), 20_000, 9,
           changes, changes_numpy, changes_loops, changes_jax),
    Kernel("gated", lambda n: (numbers(n, 200), numbers(n, seed=1) > 0.5), 500, 5,
           gated, gated_numpy, gated_loops, gated_jax),
    Kernel("occurring", lambda n: (places(2, n), places(2, 40, seed=1)), 20_000, 90,
           occurring, None, occurring_loops),
    Kernel("turned", lambda n: (np.arange(n),), 2000, 40, turned, None, turned_loops),
)  # fmt: skip
