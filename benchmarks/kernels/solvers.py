"""Solvers: factors of matrices, systems of equations, shortest paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers

STEPS = 20


# --- a triangular system --------------------------------------------------------------------------


def forward_substitution(a: Any, b: Any) -> Any:
    def row(i: Any, x: Any) -> Any:
        return x[i].set((b[i] - a[i, :i] @ x[:i]) / a[i, i])

    return symc.fori_loop(0, b.shape[0], row, T.zeros_like(b))


def forward_substitution_numpy(a: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def forward_substitution_loops(a: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    for i in range(len(b)):
        total = b[i]
        for j in range(i):
            total -= a[i, j] * x[j]
        x[i] = total / a[i, i]
    return x


def forward_substitution_jax(a: Any, b: Any) -> Any:
    def row(i: Any, x: Any) -> Any:  # lengths are fixed there; elements from i on are 0
        return x.at[i].set((b[i] - a[i] @ x) / a[i, i])

    return module("jax").lax.fori_loop(0, len(b), row, module("jax.numpy").zeros_like(b))


# --- Cholesky's and Gauss' factors ----------------------------------------------------------------


def cholesky(a: Any) -> Any:
    n = a.shape[0]

    def column(j: Any, a: Any) -> Any:
        a = a[j, j].set(T.sqrt(a[j, j] - (a[j, :j] ** 2).sum()))
        below = a[j + 1 :, j] - a[j + 1 :, :j] @ a[j, :j]
        return a[j + 1 :, j].set(below / a[j, j])

    return T.tril(symc.fori_loop(0, n, column, a))


def cholesky_numpy(a: Any) -> Any:
    a = a.copy()
    for j in range(len(a)):
        a[j, j] = np.sqrt(a[j, j] - (a[j, :j] ** 2).sum())
        a[j + 1 :, j] = (a[j + 1 :, j] - a[j + 1 :, :j] @ a[j, :j]) / a[j, j]
    return np.tril(a)


def cholesky_loops(a: Any) -> Any:
    n = len(a)
    a = a.copy()
    for j in range(n):
        for k in range(j):
            a[j, j] -= a[j, k] ** 2
        a[j, j] = np.sqrt(a[j, j])
        for i in range(j + 1, n):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            a[i, j] = total / a[j, j]
    return np.tril(a)


def lu(a: Any) -> Any:
    def step(k: Any, a: Any) -> Any:
        a = a[k + 1 :, k].set(a[k + 1 :, k] / a[k, k])
        return a[k + 1 :, k + 1 :].inc(-a[k + 1 :, k][:, None] * a[k, k + 1 :][None, :])

    return symc.fori_loop(0, a.shape[0] - 1, step, a)


def lu_numpy(a: Any) -> Any:
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k][:, None] * a[k, k + 1 :]
    return a


def lu_loops(a: Any) -> Any:
    a = a.copy()
    n = len(a)
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


# --- three diagonals ------------------------------------------------------------------------------


def tridiagonal(low: Any, mid: Any, up: Any, b: Any) -> Any:
    n = b.shape[0]

    def down(i: Any, mid: Any, b: Any) -> Any:
        factor = low[i] / mid[i - 1]
        return mid[i].inc(-factor * up[i - 1]), b[i].inc(-factor * b[i - 1])

    def back(k: Any, x: Any) -> Any:
        i = n - 2 - k
        return x[i].set((x[i] - up[i] * x[i + 1]) / mid[i])

    mid, b = symc.fori_loop(1, n, down, (mid, b))
    return symc.fori_loop(0, n - 1, back, b[n - 1].set(b[n - 1] / mid[n - 1]))


def tridiagonal_loops(low: Any, mid: Any, up: Any, b: Any) -> Any:
    n = len(b)
    mid, x = mid.copy(), b.copy()
    for i in range(1, n):
        factor = low[i] / mid[i - 1]
        mid[i] -= factor * up[i - 1]
        x[i] -= factor * x[i - 1]
    x[n - 1] /= mid[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - up[i] * x[i + 1]) / mid[i]
    return x


def tridiagonal_jax(low: Any, mid: Any, up: Any, b: Any) -> Any:
    loop, n = module("jax").lax.fori_loop, len(b)

    def down(i: Any, both: Any) -> Any:
        mid, b = both
        factor = low[i] / mid[i - 1]
        return mid.at[i].add(-factor * up[i - 1]), b.at[i].add(-factor * b[i - 1])

    def back(k: Any, x: Any) -> Any:
        i = n - 2 - k
        return x.at[i].set((x[i] - up[i] * x[i + 1]) / mid[i])

    mid, b = loop(1, n, down, (mid, b))
    return loop(0, n - 1, back, b.at[n - 1].divide(mid[n - 1]))


# --- conjugate gradients --------------------------------------------------------------------------


def conjugate_gradient(a: Any, b: Any) -> Any:
    def step(_: Any, x: Any, r: Any, p: Any) -> Any:
        ap, old = a @ p, r @ r
        size = old / (p @ ap)
        new = r - size * ap
        return x + size * p, new, new + (new @ new) / old * p

    return symc.fori_loop(0, STEPS, step, (T.zeros_like(b), b, b))[0]


def conjugate_gradient_numpy(a: Any, b: Any) -> Any:
    x, r, p = np.zeros_like(b), b.copy(), b.copy()
    for _ in range(STEPS):
        ap, old = a @ p, r @ r
        size = old / (p @ ap)
        x, r = x + size * p, r - size * ap
        p = r + (r @ r) / old * p
    return x


def conjugate_gradient_jax(a: Any, b: Any) -> Any:
    def step(_: Any, state: Any) -> Any:
        x, r, p = state
        ap, old = a @ p, r @ r
        size = old / (p @ ap)
        new = r - size * ap
        return x + size * p, new, new + (new @ new) / old * p

    zeros = module("jax.numpy").zeros_like(b)
    return module("jax").lax.fori_loop(0, STEPS, step, (zeros, b, b))[0]


# --- shortest paths between all places ------------------------------------------------------------


def floyd_warshall(d: Any) -> Any:
    def step(k: Any, d: Any) -> Any:
        return T.minimum(d, d[:, k][:, None] + d[k, :][None, :])

    return symc.fori_loop(0, d.shape[0], step, d)


def floyd_warshall_numpy(d: Any) -> Any:
    for k in range(len(d)):
        d = np.minimum(d, d[:, k][:, None] + d[k])
    return d


def floyd_warshall_loops(d: Any) -> Any:
    d = d.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


def floyd_warshall_jax(d: Any) -> Any:
    def step(k: Any, d: Any) -> Any:
        return module("jax.numpy").minimum(d, d[:, k][:, None] + d[k][None, :])

    return module("jax").lax.fori_loop(0, len(d), step, d)


def _definite(n: int) -> Any:
    a = numbers(n, n)
    return a @ a.T + n * np.eye(n)


def _triangle(n: int) -> tuple[Any, ...]:
    return np.tril(numbers(n, n)) + n * np.eye(n), numbers(n, seed=1)


def _diagonals(n: int) -> tuple[Any, ...]:
    low, up, b = numbers(3, n)
    return low, 4 + numbers(n, seed=1), up, b


KERNELS = (
    Kernel("forward_substitution", _triangle, 600, 9, forward_substitution,
           forward_substitution_numpy, forward_substitution_loops, forward_substitution_jax),
    Kernel("cholesky", lambda n: (_definite(n),), 200, 9, cholesky, cholesky_numpy, cholesky_loops),
    Kernel("lu", lambda n: (_definite(n),), 200, 9, lu, lu_numpy, lu_loops),
    Kernel("tridiagonal", _diagonals, 20_000, 9,
           tridiagonal, None, tridiagonal_loops, tridiagonal_jax),
    Kernel("conjugate_gradient", lambda n: (_definite(n), numbers(n, seed=1)), 400, 9,
           conjugate_gradient, conjugate_gradient_numpy, conjugate_gradient_numpy,
           conjugate_gradient_jax, rtol=1e-7),
    Kernel("floyd_warshall", lambda n: (numbers(n, n),), 160, 9,
           floyd_warshall, floyd_warshall_numpy, floyd_warshall_loops, floyd_warshall_jax),
)  # fmt: skip
