"""Particles: forces between all of them, energies, paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers

STEPS = 5000

# --- gravity --------------------------------------------------------------------------------------


def n_body(x: Any, mass: Any) -> Any:
    return n_body_numpy(T.specify_shape(x, (None, 3)), mass)


def n_body_numpy(x: Any, mass: Any) -> Any:
    apart = x[None, :, :] - x[:, None, :]
    near = (apart**2).sum(axis=2) + 0.01
    return (apart * (mass / (near * near**0.5))[:, :, None]).sum(axis=1)


def n_body_loops(x: Any, mass: Any) -> Any:
    n = len(x)
    force = np.zeros_like(x)
    for i in range(n):
        for j in range(n):
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            near = dx * dx + dy * dy + dz * dz + 0.01
            pull = mass[j] / (near * np.sqrt(near))
            force[i, 0] += dx * pull
            force[i, 1] += dy * pull
            force[i, 2] += dz * pull
    return force


# --- Lennard-Jones, within a distance -------------------------------------------------------------


def lennard_jones(x: Any) -> Any:
    x = T.specify_shape(x, (None, 3))
    square = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2) + T.eye(x.shape[0])
    sixth = 1 / square**3
    close = T.lt(square, 0.3) & T.neq(T.arange(x.shape[0])[:, None], T.arange(x.shape[0]))
    return 2 * T.where(close, sixth**2 - sixth, 0.0).sum()


def lennard_jones_numpy(x: Any) -> Any:
    square = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2) + np.eye(len(x))
    sixth = 1 / square**3
    close = (square < 0.3) & ~np.eye(len(x), dtype=bool)
    return 2 * np.where(close, sixth**2 - sixth, 0.0).sum()


def lennard_jones_loops(x: Any) -> Any:
    total, n = 0.0, len(x)
    for i in range(n):
        for j in range(n):
            dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            square = dx * dx + dy * dy + dz * dz
            if i != j and square < 0.3:
                sixth = 1 / (square * square * square)
                total += sixth * sixth - sixth
    return 2 * total


def lennard_jones_jax(x: Any) -> Any:
    jnp = module("jax.numpy")
    square = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2) + jnp.eye(len(x))
    sixth = 1 / square**3
    close = (square < 0.3) & ~jnp.eye(len(x), dtype=bool)
    return 2 * jnp.where(close, sixth**2 - sixth, 0.0).sum()


# --- a pendulum, by Verlet's steps ----------------------------------------------------------------


def pendulum(angle: Any) -> Any:
    def step(q: Any, p: Any) -> Any:
        p = p - 0.005 * T.sin(q)
        q = q + 0.01 * p
        return q, p - 0.005 * T.sin(q)

    return symc.scan(step, outputs_info=[angle[0], angle[1]], n_steps=STEPS)[0][0]


def pendulum_loops(angle: Any) -> Any:
    q, p = angle[0], angle[1]
    result = np.empty(STEPS)
    for t in range(STEPS):
        p -= 0.005 * np.sin(q)
        q += 0.01 * p
        p -= 0.005 * np.sin(q)
        result[t] = q
    return result


def pendulum_jax(angle: Any) -> Any:
    jnp = module("jax.numpy")

    def step(state: Any, _: Any) -> Any:
        q, p = state
        p = p - 0.005 * jnp.sin(q)
        q = q + 0.01 * p
        return (q, p - 0.005 * jnp.sin(q)), q

    return module("jax").lax.scan(step, (angle[0], angle[1]), None, length=STEPS)[1]


# --- predators and prey, many at once -------------------------------------------------------------


def populations(prey: Any, hunters: Any) -> Any:
    def step(_: Any, a: Any, b: Any) -> Any:
        return a + 0.01 * a * (1 - b), b + 0.01 * b * (a - 1)

    return T.stack(symc.fori_loop(0, 100, step, (prey, hunters)))


def populations_numpy(a: Any, b: Any) -> Any:
    for _ in range(100):
        a, b = a + 0.01 * a * (1 - b), b + 0.01 * b * (a - 1)
    return np.stack((a, b))


def populations_loops(prey: Any, hunters: Any) -> Any:
    result = np.empty((2, len(prey)))
    for i in range(len(prey)):
        a, b = prey[i], hunters[i]
        for _ in range(100):
            a, b = a + 0.01 * a * (1 - b), b + 0.01 * b * (a - 1)
        result[0, i], result[1, i] = a, b
    return result


def populations_jax(prey: Any, hunters: Any) -> Any:
    def step(_: Any, both: Any) -> Any:
        a, b = both
        return a + 0.01 * a * (1 - b), b + 0.01 * b * (a - 1)

    return module("jax.numpy").stack(module("jax").lax.fori_loop(0, 100, step, (prey, hunters)))


KERNELS = (
    Kernel("n_body", lambda n: (numbers(n, 3), numbers(n, seed=1)), 500, 7,
           n_body, n_body_numpy, n_body_loops, n_body_numpy),
    Kernel("lennard_jones", lambda n: (numbers(n, 3) * n ** (1 / 3),), 500, 30,
           lennard_jones, lennard_jones_numpy, lennard_jones_loops, lennard_jones_jax),
    Kernel("pendulum", lambda n: (numbers(2),), 2, 2,
           pendulum, None, pendulum_loops, pendulum_jax, rtol=1e-7),
    Kernel("populations", lambda n: (numbers(n), numbers(n, seed=1)), 3000, 5,
           populations, populations_numpy, populations_loops, populations_jax),
)  # fmt: skip
