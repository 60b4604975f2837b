"""Sorting: 10^6 numbers of float64 and of float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, check, compared, module

LENGTH = 1_000_000


def numbers() -> tuple[Any, Any]:
    """Normal numbers of both types."""
    x = np.random.default_rng(0).normal(size=LENGTH)
    return x, x.astype(np.float32)


def verify(got: Any) -> None:
    """Compares with NumPy."""
    for value, x in zip(got, numbers(), strict=True):
        check(value, np.sort(x), rtol=0, atol=0)


def symc() -> Repeated:
    """T.sort."""
    import symc as package
    import symc.tensor as T

    x, y = T.dvector("x"), T.fvector("y")
    function = package.function([x, y], [T.sort(x), T.sort(y)])
    verify(function(*numbers()))
    return Repeated(function, numbers())


def numpy() -> Repeated:
    """numpy.sort, which need not be stable."""
    return Repeated(lambda x, y: (np.sort(x), np.sort(y)), numbers())


def jax() -> Repeated:
    """jit of jax.numpy.sort."""
    package = module("jax")

    package.config.update("jax_enable_x64", True)
    function = package.jit(lambda x, y: (package.numpy.sort(x), package.numpy.sort(y)))
    given = tuple(map(package.numpy.asarray, numbers()))
    verify(function(*given))
    return Repeated(lambda x, y: package.block_until_ready(function(x, y)), given)


def torch() -> Repeated:
    """torch.sort."""
    package = module("torch")

    given = tuple(map(package.from_numpy, numbers()))
    return Repeated(lambda x, y: (package.sort(x), package.sort(y)), given)


def judge(results: Results) -> list[Line]:
    """Against NumPy."""
    return compared(results, ("NumPy", 1.0), ("JAX", None), ("PyTorch", None))


CASE = Case(
    "sort",
    "sort 10^6 numbers, float64 and float32",
    {
        "symc": Contestant(symc),
        "NumPy": Contestant(numpy),
        "JAX": Contestant(jax, "jax"),
        "PyTorch": Contestant(torch, "torch"),
    },
    judge,
)
