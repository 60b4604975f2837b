"""The cost of one call: x**2 + 1 of a scalar."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, at_most, check, compared, module


def symc_float() -> Repeated:
    """Called with a Python number."""
    return Repeated(_symc(), (3.0,))


def symc_array() -> Repeated:
    """Called with an array of rank 0."""
    return Repeated(_symc(), (np.array(3.0),))


def _symc() -> Any:
    import symc
    import symc.tensor as T

    x = T.scalar("x")
    function = symc.function([x], x**2 + 1)
    check(function(3.0), 10.0, rtol=0)
    return function


def numpy() -> Repeated:
    """The expression itself, of an array of rank 0."""
    return Repeated(lambda x: x**2 + 1, (np.array(3.0),))


def jax() -> Repeated:
    """jit, called with an array that JAX made."""
    package = module("jax")

    package.config.update("jax_enable_x64", True)
    function = package.jit(lambda x: x**2 + 1)
    check(function(3.0), 10.0, rtol=0)
    return Repeated(lambda x: function(x).block_until_ready(), (package.numpy.array(3.0),))


def numba() -> Repeated:
    """njit, called with a Python number, which it gives back as one."""
    njit = module("numba").njit

    function = njit(lambda x: x**2 + 1)
    check(function(3.0), 10.0, rtol=0)
    return Repeated(function, (3.0,))


def pytensor() -> Repeated:
    """pytensor.function in its default mode, trusting its input."""
    package = module("pytensor")

    x = package.tensor.dscalar("x")
    function = package.function([x], x**2 + 1)
    check(function(3.0), 10.0, rtol=0)
    return Repeated(function, (np.array(3.0),))


def judge(results: Results) -> list[Line]:
    """The goal: one microsecond; and others' times."""
    others = ("symc, 0-d array", "NumPy", "JAX", "numba", "PyTensor")
    return [
        at_most(results, 1e-6, what="called with a float"),
        *compared(results, *((name, None) for name in others)),
    ]


CASE = Case(
    "scalar",
    "x**2 + 1 of a scalar, one call",
    {
        "symc": Contestant(symc_float),
        "symc, 0-d array": Contestant(symc_array),
        "NumPy": Contestant(numpy),
        "JAX": Contestant(jax, "jax"),
        "numba": Contestant(numba, "numba"),
        "PyTensor": Contestant(pytensor, "pytensor"),
    },
    judge,
)
