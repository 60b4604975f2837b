"""Factors, products and means a cell or a column at a time, as loops over elements have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers

RINGS = 32  # a power of two: some compilers multiply instead of dividing
STEPS = 40

# --- Cholesky's and Gauss' factors, a cell at a time ----------------------------------------------


def cholesky_cells(a: Any) -> Any:
    def row(i: Any, a: Any) -> Any:
        def cell(j: Any, a: Any) -> Any:
            return a[i, j].set((a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j])

        a = symc.fori_loop(0, i, cell, a)
        return a[i, i].set(T.sqrt(a[i, i] - (a[i, :i] ** 2).sum()))

    return symc.fori_loop(0, a.shape[0], row, a)


def cholesky_cells_loops(a: Any) -> Any:
    a = a.copy()
    for i in range(len(a)):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] ** 2
        a[i, i] = np.sqrt(a[i, i])
    return a


def lu_cells(a: Any) -> Any:
    def row(i: Any, a: Any) -> Any:
        def left(j: Any, a: Any) -> Any:
            return a[i, j].set((a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j])

        def right(j: Any, a: Any) -> Any:
            return a[i, j].inc(-(a[i, :i] @ a[:i, j]))

        return symc.fori_loop(i, a.shape[0], right, symc.fori_loop(0, i, left, a))

    return symc.fori_loop(0, a.shape[0], row, a)


def lu_twice(a: Any) -> Any:
    """As `lu_cells`, but that an element is changed, and then again, as NumPy's programs do."""

    def row(i: Any, a: Any) -> Any:
        def left(j: Any, a: Any) -> Any:
            a = a[i, j].inc(-(a[i, :j] @ a[:j, j]))
            return a[i, j].set(a[i, j] / a[j, j])

        def right(j: Any, a: Any) -> Any:
            return a[i, j].inc(-(a[i, :i] @ a[:i, j]))

        return symc.fori_loop(i, a.shape[0], right, symc.fori_loop(0, i, left, a))

    return symc.fori_loop(0, a.shape[0], row, a)


def lu_cells_loops(a: Any) -> Any:
    a, n = a.copy(), len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
    return a


# --- the lower half of a product of a matrix and its transpose ------------------------------------


def half_product(a: Any, c: Any) -> Any:
    def row(i: Any, c: Any) -> Any:
        def column(k: Any, c: Any) -> Any:
            return c[i, : i + 1].inc(a[i, k] * a[: i + 1, k])

        return symc.fori_loop(0, a.shape[1], column, c)

    return symc.fori_loop(0, a.shape[0], row, c)


def half_product_loops(a: Any, c: Any) -> Any:
    c = c.copy()
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += a[i, k] * a[j, k]
    return c


# --- orthogonal columns, one from the other -------------------------------------------------------


def orthogonal(a: Any) -> Any:
    n = a.shape[1]

    def column(k: Any, a: Any) -> Any:
        a = a[:, k].set(a[:, k] / T.sqrt((a[:, k] ** 2).sum()))

        def rest(j: Any, a: Any) -> Any:
            return a[:, j].inc(-a[:, k] * (a[:, k] @ a[:, j]))

        return symc.fori_loop(k + 1, n, rest, a)

    return symc.fori_loop(0, n, column, a)


def orthogonal_loops(a: Any) -> Any:
    a = a.copy()
    m, n = a.shape
    for k in range(n):
        total = 0.0
        for i in range(m):
            total += a[i, k] ** 2
        norm = np.sqrt(total)
        for i in range(m):
            a[i, k] /= norm
        for j in range(k + 1, n):
            total = 0.0
            for i in range(m):
                total += a[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= a[i, k] * total
    return a


# --- heat in a cube, from one array to the other and back -----------------------------------------


def spread(x: Any) -> Any:
    middle = x[1:-1, 1:-1, 1:-1]
    along = x[2:, 1:-1, 1:-1] - 2.0 * middle + x[:-2, 1:-1, 1:-1]
    across = x[1:-1, 2:, 1:-1] - 2.0 * middle + x[1:-1, :-2, 1:-1]
    down = x[1:-1, 1:-1, 2:] - 2.0 * middle + x[1:-1, 1:-1, :-2]
    return middle + 0.125 * along + 0.125 * across + 0.125 * down


def two_cubes(a: Any, b: Any) -> Any:
    def step(_: Any, a: Any, b: Any) -> list[Any]:
        b = b[1:-1, 1:-1, 1:-1].set(spread(a))
        return [a[1:-1, 1:-1, 1:-1].set(spread(b)), b]

    return symc.fori_loop(0, STEPS // 2, step, [a, b])[0]


def two_cubes_numpy(a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    for _ in range(STEPS // 2):
        b[1:-1, 1:-1, 1:-1] = spread(a)
        a[1:-1, 1:-1, 1:-1] = spread(b)
    return a


def two_cubes_loops(a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    n, m, o = a.shape
    for _ in range(STEPS):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, o - 1):
                    along = a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k]
                    across = a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k]
                    down = a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1]
                    b[i, j, k] = a[i, j, k] + 0.125 * along + 0.125 * across + 0.125 * down
        a, b = b, a
    return a


def two_cubes_jax(a: Any, b: Any) -> Any:
    def step(_: Any, both: Any) -> Any:
        a, b = both
        b = b.at[1:-1, 1:-1, 1:-1].set(spread(a))
        return a.at[1:-1, 1:-1, 1:-1].set(spread(b)), b

    return module("jax").lax.fori_loop(0, STEPS // 2, step, (a, b))[0]


# --- means of what lies in each ring around a centre ----------------------------------------------


def rings(seen: Any, far: Any) -> Any:
    most = far.max()

    def ring(i: Any, means: Any) -> Any:
        inside = (most * i / RINGS <= far) & (far < most * (i + 1) / RINGS)
        count = T.cast(inside, "float64").sum()
        return means[i].set(T.where(inside, seen, 0.0).sum() / count)

    return symc.fori_loop(0, RINGS, ring, T.zeros(RINGS))


def rings_numpy(seen: Any, far: Any) -> Any:
    means, most = np.zeros(RINGS), far.max()
    for i in range(RINGS):
        means[i] = seen[(most * i / RINGS <= far) & (far < most * (i + 1) / RINGS)].mean()
    return means


def rings_loops(seen: Any, far: Any) -> Any:
    means, most = np.zeros(RINGS), far.max()
    for i in range(RINGS):
        low, high = most * i / RINGS, most * (i + 1) / RINGS
        total, count = 0.0, 0
        for k in range(len(far)):
            if low <= far[k] and far[k] < high:
                total += seen[k]
                count += 1
        means[i] = total / count
    return means


def rings_jax(seen: Any, far: Any) -> Any:
    jnp, most = module("jax.numpy"), far.max()

    def ring(i: Any) -> Any:
        inside = (most * i / RINGS <= far) & (far < most * (i + 1) / RINGS)
        return jnp.where(inside, seen, 0.0).sum() / inside.sum()

    return module("jax").lax.map(ring, jnp.arange(RINGS))


def _definite(n: int) -> Any:
    a = numbers(n, n)
    return a @ a.T + n * np.eye(n)


KERNELS = (
    Kernel("cholesky_cells", lambda n: (_definite(n),), 60, 9,
           cholesky_cells, None, cholesky_cells_loops),
    Kernel("lu_cells", lambda n: (_definite(n),), 60, 9, lu_cells, None, lu_cells_loops),
    Kernel("lu_twice", lambda n: (_definite(n),), 60, 9, lu_twice, None, lu_cells_loops),
    Kernel("half_product", lambda n: (numbers(n, n), numbers(n, n, seed=1)), 70, 9,
           half_product, None, half_product_loops),
    Kernel("orthogonal", lambda n: (numbers(n + 10, n),), 50, 7,
           orthogonal, None, orthogonal_loops),
    Kernel("two_cubes", lambda n: (numbers(n, n, n), numbers(n, n, n)), 20, 6,
           two_cubes, two_cubes_numpy, two_cubes_loops, two_cubes_jax),
    Kernel("rings", lambda n: (numbers(n), numbers(n, seed=1)), 20_000, 2000,
           rings, rings_numpy, rings_loops, rings_jax),
)  # fmt: skip
