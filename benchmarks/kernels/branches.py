"""Loops with branches, and loops that end when a condition says so: an element at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

POLYNOMIAL = 0x8408
MOST = 100

# --- check sums of messages, bit by bit (CCITT's CRC-16) ------------------------------------------


def crc16(message: Any) -> Any:
    def byte(i: Any, crc: Any) -> Any:
        def bit(k: Any, crc: Any) -> Any:
            is_odd = T.eq((crc ^ (message[i] >> k)) & 1, 1)
            return symc.ifelse(is_odd, (crc >> 1) ^ POLYNOMIAL, crc >> 1)

        return symc.fori_loop(0, 8, bit, crc)

    return symc.fori_loop(0, message.shape[0], byte, T.constant(0xFFFF))


def crc16_loops(message: Any) -> Any:
    crc = 0xFFFF
    for i in range(len(message)):
        for k in range(8):
            is_odd = (crc ^ (message[i] >> k)) & 1 == 1
            crc >>= 1
            if is_odd:
                crc ^= POLYNOMIAL
    return crc


def crc16_jax(message: Any) -> Any:
    lax = module("jax").lax

    def byte(i: Any, crc: Any) -> Any:
        def bit(k: Any, crc: Any) -> Any:
            is_odd = ((crc ^ (message[i] >> k)) & 1) == 1
            return lax.cond(is_odd, lambda: (crc >> 1) ^ POLYNOMIAL, lambda: crc >> 1)

        return lax.fori_loop(0, 8, bit, crc)

    return lax.fori_loop(0, len(message), byte, module("jax.numpy").int64(0xFFFF))


# --- prime numbers (Eratosthenes) -----------------------------------------------------------------


def sieve(number: Any) -> Any:
    n = number.shape[0]

    def cross_out(p: Any, prime: Any) -> Any:
        left = prime[p * p :: p].set(T.zeros((), "bool"))
        return symc.ifelse(prime[p], left, prime)

    root = T.cast(T.sqrt(T.cast(n, "float64")), "int64") + 1
    prime = T.ones(n, dtype="bool")[:2].set(T.zeros((), "bool"))
    return symc.fori_loop(2, root, cross_out, prime).sum()


def sieve_numpy(number: Any) -> Any:
    n = len(number)
    prime = np.ones(n, np.bool_)
    prime[:2] = False
    for p in range(2, int(np.sqrt(n)) + 1):
        if prime[p]:
            prime[p * p :: p] = False
    return prime.sum()


def sieve_loops(number: Any) -> Any:
    n = len(number)
    prime = np.ones(n, np.bool_)
    prime[:2] = False
    for p in range(2, int(np.sqrt(n)) + 1):
        if prime[p]:
            for multiple in range(p * p, n, p):
                prime[multiple] = False
    return prime.sum()


# --- how a strand pairs with itself (R. Nussinov), each pair by itself ----------------------------


def pairs(strand: Any) -> Any:
    n = strand.shape[0]

    def ends(step: Any, table: Any) -> Any:
        i = n - 1 - step

        def cell(j: Any, table: Any) -> Any:
            def split(k: Any, best: Any) -> Any:
                return T.maximum(best, table[i, k] + table[k + 1, j])

            pair = T.cast(T.eq(strand[i] + strand[j], 3), "int64")
            best = T.maximum(table[i, j - 1], table[i + 1, j])
            inner = symc.ifelse(T.lt(i, j - 1), table[i + 1, j - 1] + pair, table[i + 1, j - 1])
            return table[i, j].set(symc.fori_loop(i + 1, j, split, T.maximum(best, inner)))

        return symc.fori_loop(i + 1, n, cell, table)

    return symc.fori_loop(1, n, ends, T.zeros((n, n), "int64"))


def pairs_loops(strand: Any) -> Any:
    n = len(strand)
    table = np.zeros((n, n), np.int64)
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            pair = 1 if strand[i] + strand[j] == 3 else 0
            best = max(table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                best = max(best, table[i + 1, j - 1] + pair)
            else:
                best = max(best, table[i + 1, j - 1])
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


# --- sorting by insertion -------------------------------------------------------------------------


def insertion(x: Any) -> Any:
    def insert(i: Any, x: Any) -> Any:
        value = x[i]

        def is_larger(j: Any, x: Any) -> Any:
            return T.logical_and(T.gt(j, 0), T.gt(x[j - 1], value))

        def move(j: Any, x: Any) -> list[Any]:
            return [j - 1, x[j].set(x[j - 1])]

        j, x = symc.while_loop(is_larger, move, [i, x])
        return x[j].set(value)

    return symc.fori_loop(1, x.shape[0], insert, x)


def insertion_loops(x: Any) -> Any:
    x = x.copy()
    for i in range(1, len(x)):
        value, j = x[i], i
        while j > 0 and x[j - 1] > value:
            x[j] = x[j - 1]
            j -= 1
        x[j] = value
    return x


def insertion_jax(x: Any) -> Any:
    lax = module("jax").lax

    def insert(i: Any, x: Any) -> Any:
        value = x[i]

        def is_larger(state: Any) -> Any:
            j, x = state
            return (j > 0) & (x[j - 1] > value)

        def move(state: Any) -> Any:
            j, x = state
            return j - 1, x.at[j].set(x[j - 1])

        j, x = lax.while_loop(is_larger, move, (i, x))
        return x.at[j].set(value)

    return lax.fori_loop(1, len(x), insert, x)


# --- how many steps Collatz' numbers take to 1 ----------------------------------------------------


def collatz(start: Any) -> Any:
    def number(i: Any, found: Any) -> Any:
        def step(steps: Any, k: Any) -> list[Any]:
            return [steps + 1, T.where(T.eq(k & 1, 0), k >> 1, 3 * k + 1)]

        steps, _ = symc.while_loop(lambda steps, k: T.gt(k, 1), step, [0, start[i]])
        return found[i].set(steps)

    return symc.fori_loop(0, start.shape[0], number, T.zeros_like(start))


def collatz_loops(start: Any) -> Any:
    found = np.zeros_like(start)
    for i in range(len(start)):
        k = start[i]
        while k > 1:
            k = k >> 1 if k & 1 == 0 else 3 * k + 1
            found[i] += 1
    return found


def collatz_jax(start: Any) -> Any:
    jax, jnp = module("jax"), module("jax.numpy")

    def number(first: Any) -> Any:
        def step(state: Any) -> Any:
            steps, k = state
            return steps + 1, jnp.where((k & 1) == 0, k >> 1, 3 * k + 1)

        return jax.lax.while_loop(lambda state: state[1] > 1, step, (0, first))[0]

    return jax.lax.map(number, start)


# --- Mandelbrot's set, a point at a time ----------------------------------------------------------


def escapes(a: Any, b: Any) -> Any:
    def point(i: Any, found: Any) -> Any:
        def stays(x: Any, y: Any, count: Any) -> Any:
            return T.logical_and(T.lt(count, MOST), x * x + y * y <= 4.0)

        def step(x: Any, y: Any, count: Any) -> list[Any]:
            return [x * x - y * y + a[i], 2 * x * y + b[i], count + 1]

        first = [T.constant(0.0), T.constant(0.0), T.constant(0)]
        return found[i].set(symc.while_loop(stays, step, first)[2])

    return symc.fori_loop(0, a.shape[0], point, T.zeros(a.shape, "int64"))


def escapes_loops(a: Any, b: Any) -> Any:
    found = np.zeros(len(a), np.int64)
    for i in range(len(a)):
        x = y = 0.0
        count = 0
        while count < MOST and x * x + y * y <= 4.0:
            x, y = x * x - y * y + a[i], 2 * x * y + b[i]
            count += 1
        found[i] = count
    return found


def escapes_jax(a: Any, b: Any) -> Any:
    lax = module("jax").lax

    def point(at: Any) -> Any:
        def stays(state: Any) -> Any:
            x, y, count = state
            return (count < MOST) & (x * x + y * y <= 4.0)

        def step(state: Any) -> Any:
            x, y, count = state
            return x * x - y * y + at[0], 2 * x * y + at[1], count + 1

        return lax.while_loop(stays, step, (0.0, 0.0, 0))[2]

    return lax.map(point, (a, b))


# --- the same of all points at once: a mask chooses those that are still inside -------------------


def inside(a: Any, b: Any) -> Any:
    def step(k: Any, x: Any, y: Any, count: Any) -> list[Any]:
        stays = x * x + y * y <= 4.0
        x, y = (
            x[stays].set(x[stays] * x[stays] - y[stays] * y[stays] + a[stays]),
            y[stays].set(2 * x[stays] * y[stays] + b[stays]),
        )
        return [x, y, count[stays].inc(1)]

    first = [T.zeros_like(a), T.zeros_like(a), T.zeros(a.shape, "int64")]
    return symc.fori_loop(0, MOST, step, first)[2]


def inside_numpy(a: Any, b: Any) -> Any:
    x, y, count = np.zeros_like(a), np.zeros_like(a), np.zeros(a.shape, np.int64)
    for _ in range(MOST):
        stays = x * x + y * y <= 4.0
        one, other = x[stays], y[stays]
        x[stays] = one * one - other * other + a[stays]
        y[stays] = 2 * one * other + b[stays]
        count[stays] += 1
    return count


def inside_loops(a: Any, b: Any) -> Any:
    x, y, count = np.zeros_like(a), np.zeros_like(a), np.zeros(a.shape, np.int64)
    for _ in range(MOST):
        for i in range(len(a)):
            if x[i] * x[i] + y[i] * y[i] <= 4.0:
                x[i], y[i] = x[i] * x[i] - y[i] * y[i] + a[i], 2 * x[i] * y[i] + b[i]
                count[i] += 1
    return count


def inside_jax(a: Any, b: Any) -> Any:
    package = module("jax")
    where = package.numpy.where

    def step(k: Any, state: Any) -> Any:
        x, y, count = state
        stays = x * x + y * y <= 4.0
        return (
            where(stays, x * x - y * y + a, x), where(stays, 2 * x * y + b, y), count + stays
        )  # fmt: skip

    zeros = package.numpy.zeros_like
    return package.lax.fori_loop(0, MOST, step, (zeros(a), zeros(a), zeros(a, dtype="int64")))[2]


def _points(n: int) -> tuple[Any, ...]:
    return 2.5 * numbers(n) - 2.0, 2.4 * numbers(n, seed=1) - 1.2


KERNELS = (
    Kernel("crc16", lambda n: (places(256, n),), 2000, 20, crc16, None, crc16_loops, crc16_jax),
    Kernel("sieve", lambda n: (numbers(n),), 50_000, 50, sieve, sieve_numpy, sieve_loops),
    Kernel("pairs", lambda n: (places(4, n),), 120, 9, pairs, None, pairs_loops),
    Kernel("insertion", lambda n: (numbers(n),), 500, 20,
           insertion, None, insertion_loops, insertion_jax),
    Kernel("collatz", lambda n: (places(10_000, n) + 1,), 1000, 20,
           collatz, None, collatz_loops, collatz_jax),
    Kernel("escapes", _points, 3000, 20, escapes, None, escapes_loops, escapes_jax),
    Kernel("inside", _points, 3000, 20,
           inside, inside_numpy, inside_loops, inside_jax),
)  # fmt: skip
