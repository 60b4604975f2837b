"""Stencils: each element from its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers

STEPS = 50

# --- heat in a rod --------------------------------------------------------------------------------


def heat_1d(u: Any) -> Any:
    def step(_: Any, u: Any) -> Any:
        return u[1:-1].set(0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:])

    return symc.fori_loop(0, STEPS, step, u)


def heat_1d_numpy(u: Any) -> Any:
    u = u.copy()
    for _ in range(STEPS):
        u[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
    return u


def heat_1d_loops(u: Any) -> Any:
    u, v = u.copy(), u.copy()
    for _ in range(STEPS):
        for i in range(1, len(u) - 1):
            v[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1]
        u, v = v, u
    return u


def heat_1d_jax(u: Any) -> Any:
    def step(_: Any, u: Any) -> Any:
        return u.at[1:-1].set(0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:])

    return module("jax").lax.fori_loop(0, STEPS, step, u)


# --- Jacobi's iteration on a plate ----------------------------------------------------------------


def jacobi_2d(u: Any) -> Any:
    def step(_: Any, u: Any) -> Any:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u[1:-1, 1:-1].set(0.2 * (u[1:-1, 1:-1] + around))

    return symc.fori_loop(0, STEPS, step, u)


def jacobi_2d_numpy(u: Any) -> Any:
    u = u.copy()
    for _ in range(STEPS):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + around)
    return u


def jacobi_2d_loops(u: Any) -> Any:
    u, v = u.copy(), u.copy()
    n, m = u.shape
    for _ in range(STEPS):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                v[i, j] = 0.2 * (u[i, j] + around)
        u, v = v, u
    return u


def jacobi_2d_jax(u: Any) -> Any:
    def step(_: Any, u: Any) -> Any:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u.at[1:-1, 1:-1].set(0.2 * (u[1:-1, 1:-1] + around))

    return module("jax").lax.fori_loop(0, STEPS, step, u)


# --- diffusion in space ---------------------------------------------------------------------------


def diffusion_3d(u: Any) -> Any:
    c = u[1:-1, 1:-1, 1:-1]
    around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    around = around + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
    return u[1:-1, 1:-1, 1:-1].set(c + 0.1 * (around - 6 * c))


def diffusion_3d_numpy(u: Any) -> Any:
    c, result = u[1:-1, 1:-1, 1:-1], u.copy()
    around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    around = around + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
    result[1:-1, 1:-1, 1:-1] = c + 0.1 * (around - 6 * c)
    return result


def diffusion_3d_loops(u: Any) -> Any:
    result = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for k in range(1, u.shape[2] - 1):
                around = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k]
                around += u[i, j, k - 1] + u[i, j, k + 1]
                result[i, j, k] = u[i, j, k] + 0.1 * (around - 6 * u[i, j, k])
    return result


def diffusion_3d_jax(u: Any) -> Any:
    c = u[1:-1, 1:-1, 1:-1]
    around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    around = around + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
    return u.at[1:-1, 1:-1, 1:-1].set(c + 0.1 * (around - 6 * c))


# --- Gauss and Seidel: new values are read at once ------------------------------------------------


def gauss_seidel(u: Any) -> Any:
    def row(i: Any, u: Any) -> Any:
        def cell(j: Any, u: Any) -> Any:
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            return u[i, j].set(0.25 * around)

        return symc.fori_loop(1, u.shape[1] - 1, cell, u)

    return symc.fori_loop(1, u.shape[0] - 1, row, u)


def gauss_seidel_loops(u: Any) -> Any:
    u = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def gauss_seidel_jax(u: Any) -> Any:
    loop = module("jax").lax.fori_loop

    def row(i: Any, u: Any) -> Any:
        def cell(j: Any, u: Any) -> Any:
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            return u.at[i, j].set(0.25 * around)

        return loop(1, u.shape[1] - 1, cell, u)

    return loop(1, u.shape[0] - 1, row, u)


# --- waves, and their old and new heights ---------------------------------------------------------


def wave_2d(old: Any, now: Any) -> Any:
    def step(_: Any, old: Any, now: Any) -> Any:
        c = now[1:-1, 1:-1]
        bend = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * c
        return now, old[1:-1, 1:-1].set(2 * c - old[1:-1, 1:-1] + 0.1 * bend)

    return symc.fori_loop(0, STEPS, step, (old, now))[1]


def wave_2d_numpy(old: Any, now: Any) -> Any:
    old, now = old.copy(), now.copy()
    for _ in range(STEPS):
        c = now[1:-1, 1:-1]
        bend = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * c
        old[1:-1, 1:-1] = 2 * c - old[1:-1, 1:-1] + 0.1 * bend
        old, now = now, old
    return now


def wave_2d_loops(old: Any, now: Any) -> Any:
    old, now = old.copy(), now.copy()
    n, m = old.shape
    for _ in range(STEPS):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                c = now[i, j]
                bend = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1] - 4 * c
                old[i, j] = 2 * c - old[i, j] + 0.1 * bend
        old, now = now, old
    return now


def wave_2d_jax(old: Any, now: Any) -> Any:
    def step(_: Any, both: Any) -> Any:
        old, now = both
        c = now[1:-1, 1:-1]
        bend = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * c
        return now, old.at[1:-1, 1:-1].set(2 * c - old[1:-1, 1:-1] + 0.1 * bend)

    return module("jax").lax.fori_loop(0, STEPS, step, (old, now))[1]


# --- edges of pictures ----------------------------------------------------------------------------


def sobel(x: Any) -> Any:
    p = T.pad(x, 1, mode="edge")
    across = p[:-2, 2:] - p[:-2, :-2] + 2 * (p[1:-1, 2:] - p[1:-1, :-2]) + p[2:, 2:] - p[2:, :-2]
    down = p[2:, :-2] - p[:-2, :-2] + 2 * (p[2:, 1:-1] - p[:-2, 1:-1]) + p[2:, 2:] - p[:-2, 2:]
    return T.sqrt(across**2 + down**2)


def sobel_numpy(x: Any) -> Any:
    p = np.pad(x, 1, mode="edge")
    across = p[:-2, 2:] - p[:-2, :-2] + 2 * (p[1:-1, 2:] - p[1:-1, :-2]) + p[2:, 2:] - p[2:, :-2]
    down = p[2:, :-2] - p[:-2, :-2] + 2 * (p[2:, 1:-1] - p[:-2, 1:-1]) + p[2:, 2:] - p[:-2, 2:]
    return np.sqrt(across**2 + down**2)


def sobel_loops(x: Any) -> Any:
    n, m = x.shape
    result = np.empty((n, m))
    for i in range(n):
        up, low = max(i - 1, 0), min(i + 1, n - 1)
        for j in range(m):
            left, right = max(j - 1, 0), min(j + 1, m - 1)
            across = x[up, right] - x[up, left] + 2 * (x[i, right] - x[i, left])
            across += x[low, right] - x[low, left]
            down = x[low, left] - x[up, left] + 2 * (x[low, j] - x[up, j])
            down += x[low, right] - x[up, right]
            result[i, j] = np.sqrt(across**2 + down**2)
    return result


def sobel_jax(x: Any) -> Any:
    jnp = module("jax.numpy")
    p = jnp.pad(x, 1, mode="edge")
    across = p[:-2, 2:] - p[:-2, :-2] + 2 * (p[1:-1, 2:] - p[1:-1, :-2]) + p[2:, 2:] - p[2:, :-2]
    down = p[2:, :-2] - p[:-2, :-2] + 2 * (p[2:, 1:-1] - p[:-2, 1:-1]) + p[2:, 2:] - p[:-2, 2:]
    return jnp.sqrt(across**2 + down**2)


def _plate(n: int) -> tuple[Any, ...]:
    return (numbers(n, n),)


KERNELS = (
    Kernel("heat_1d", lambda n: (numbers(n),), 20_000, 30,
           heat_1d, heat_1d_numpy, heat_1d_loops, heat_1d_jax),
    Kernel("jacobi_2d", _plate, 250, 9,
           jacobi_2d, jacobi_2d_numpy, jacobi_2d_loops, jacobi_2d_jax),
    Kernel("diffusion_3d", lambda n: (numbers(n, n, n),), 80, 6,
           diffusion_3d, diffusion_3d_numpy, diffusion_3d_loops, diffusion_3d_jax),
    Kernel("gauss_seidel", _plate, 300, 9,
           gauss_seidel, None, gauss_seidel_loops, gauss_seidel_jax),
    Kernel("wave_2d", lambda n: (numbers(n, n), numbers(n, n, seed=1)), 250, 9,
           wave_2d, wave_2d_numpy, wave_2d_loops, wave_2d_jax),
    Kernel("sobel", _plate, 500, 9, sobel, sobel_numpy, sobel_loops, sobel_jax),
)  # fmt: skip
