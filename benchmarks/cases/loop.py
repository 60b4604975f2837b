"""The cost of a step of a loop: ``h = 0.99 * h + x[t]`` over a million numbers, which all stay."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, at_most, check, compared, module

STEPS, DECAY = 1_000_000, 0.99
GOAL = 100e-9 * STEPS


def numbers() -> Any:
    """The numbers that are added."""
    return np.random.default_rng(0).standard_normal(STEPS)


def verify(found: Any, x: Any) -> None:
    """Compares the end with the sum that it is."""
    last = 2000
    powers = DECAY ** np.arange(last)[::-1]
    check(np.asarray(found)[-1], (powers * x[-last:]).sum(), rtol=1e-6)


def symc() -> Repeated:
    """scan, in a compiled function."""
    import symc as package
    import symc.tensor as T

    x = T.vector("x")

    def step(x: Any, h: Any) -> Any:
        return DECAY * h + x

    h, _ = package.scan(step, x, T.zeros(()))
    function = package.function([x], h)
    given = numbers()
    verify(function(given), given)
    return Repeated(function, (given,))


def jax() -> Repeated:
    """lax.scan, jitted."""
    package = module("jax")
    package.config.update("jax_enable_x64", True)

    def step(h: Any, x: Any) -> Any:
        h = DECAY * h + x
        return h, h

    def loop(x: Any) -> Any:
        return package.lax.scan(step, 0.0, x)[1]

    function = package.jit(loop)

    def ready(x: Any) -> Any:
        return function(x).block_until_ready()

    given = package.numpy.array(numbers())
    verify(function(given), numbers())
    return Repeated(ready, (given,))


def numba() -> Repeated:
    """A loop, compiled by njit."""

    def loop(x: Any) -> Any:
        found = np.empty_like(x)
        h = 0.0
        for t in range(len(x)):
            h = DECAY * h + x[t]
            found[t] = h
        return found

    function = module("numba").njit(loop)
    given = numbers()
    verify(function(given), given)
    return Repeated(function, (given,))


def judge(results: Results) -> list[Line]:
    """The goal: a tenth of a microsecond for a step; and others' times."""
    return [
        at_most(results, GOAL, what="a million steps"),
        *compared(results, *((name, None) for name in ("numba", "JAX"))),
    ]


CASE = Case(
    "loop",
    "a loop of a million steps, h = 0.99*h + x[t]",
    {
        "symc": Contestant(symc),
        "JAX": Contestant(jax, "jax"),
        "numba": Contestant(numba, "numba"),
    },
    judge,
)
