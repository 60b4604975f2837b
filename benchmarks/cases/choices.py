"""function() of 250 elementwise operations, a quarter of them choices, and their gradient.

Choices make gradients ask for conditions far from where they are computed: bools, of one byte, are
kept beside doubles. A compiler that fills a register with each writes every operation eight times.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Once, Results, check, compared, detail, module

COUNT, LENGTH = 250, 1000


def cost(namespace: Any, x: Any, y: Any) -> Any:
    """The sum of the last ten operations; each takes an earlier one and one of the last five."""
    rng = random.Random(0)
    nodes = [x, y]
    kinds: tuple[Callable[[Any, Any], Any], ...] = (
        lambda a, b: namespace.tanh(a) + b,
        lambda a, b: a * b,
        lambda a, b: namespace.exp(-a * a) * b,
        lambda a, b: namespace.where(a > b, a, b),
    )
    for number in range(COUNT):
        a, b = rng.choice(nodes), rng.choice(nodes[-5:])
        nodes.append(kinds[number % len(kinds)](a, b))
    return sum(nodes[-9:], nodes[-10]).sum()


def vectors() -> list[Any]:
    """The two inputs."""
    rng = np.random.default_rng(0)
    return [rng.uniform(-1, 1, LENGTH) for _ in range(2)]


def verify(value: Any, bar: Any) -> None:
    """Compares the cost with NumPy's, and its derivative along a line with differences."""
    x, y = vectors()
    check(value, cost(np, x, y), rtol=1e-9)
    step = 1e-7 * np.ones(LENGTH)
    slope = (cost(np, x + step, y) - cost(np, x - step, y)) / 2e-7
    check(np.asarray(bar).sum(), slope, rtol=1e-4)


def symc() -> Once:
    """function(); the expressions are there already."""
    import symc as package
    import symc.tensor as T

    x, y = T.vector("x"), T.vector("y")
    total = cost(T, x, y)
    outputs = [total, package.grad(total, x)]
    start = time.perf_counter()
    function = package.function([x, y], outputs)
    seconds = time.perf_counter() - start
    assert not function.hit
    verify(*function(*vectors()))
    stages = function.seconds
    python = sum(taken for name, taken in stages.items() if name not in ("compile", "load"))
    return Once(seconds, {"python": python, "gcc and store": stages["compile"]})


def jax() -> Once:
    """Tracing and compiling; nothing is run."""
    package = module("jax")
    package.config.update("jax_enable_x64", True)
    derived = package.value_and_grad(lambda x, y: cost(package.numpy, x, y))
    given = [package.numpy.asarray(vector) for vector in vectors()]
    start = time.perf_counter()
    compiled = package.jit(derived).lower(*given).compile()
    seconds = time.perf_counter() - start
    verify(*compiled(*given))
    return Once(seconds)


def judge(results: Results) -> list[Line]:
    """Less than JAX."""
    return [
        *compared(results, ("JAX", 1.0)),
        *detail(results, "symc", "python", "gcc and store"),
    ]


CASE = Case(
    "choices",
    "250 operations with choices, and gradients: function(), empty cache",
    {
        "symc": Contestant(symc, fresh=True, cache="empty", most=4),
        "JAX": Contestant(jax, "jax", fresh=True, most=2),
    },
    judge,
)
