"""function() of a network of 30 layers and all its gradients, empty cache."""

from __future__ import annotations

import time
from typing import Any

from measure import (
    Case,
    Contestant,
    Line,
    Once,
    Results,
    at_most,
    check,
    check_all,
    compared,
    detail,
    module,
)

from cases import layers

WIDTHS, ROWS = (100,) * 30 + (10,), 32
RATE = 1.0  # parameters before - after = gradients


def verify(loss: object, bars: Any) -> None:
    """Compares the gradients with NumPy's in float64."""
    start = layers.parameters(WIDTHS)
    wanted, after = layers.reference(start, *layers.batch(ROWS, WIDTHS), RATE)
    check(loss, wanted, rtol=1e-4)
    gradients = [a - b for a, b in zip(start, after, strict=True)]
    check_all(list(bars), gradients, rtol=1e-2, atol=2e-5)


def symc() -> Once:
    """function(); the expressions are there already."""
    import symc as package

    start = time.perf_counter()
    inputs, shared, loss = layers.symc_parts(layers.parameters(WIDTHS))
    outputs = [loss, *package.grad(loss, shared)]
    built = time.perf_counter()
    function = package.function(inputs, outputs)
    end = time.perf_counter()
    assert not function.hit
    first, *bars = function(*layers.batch(ROWS, WIDTHS))
    verify(first, bars)
    stages = function.seconds
    facts: dict[str, Any] = {f"stage {name}": seconds for name, seconds in stages.items()}
    facts |= {
        "expressions before": built - start,
        "python": sum(v for k, v in stages.items() if k not in ("compile", "load")),
        "gcc and store": stages["compile"], "kernels": function.facts["kernels"],
    }  # fmt: skip
    return Once(end - built, facts)


def jax() -> Once:
    """Tracing and compiling; nothing is run."""
    package = module("jax")
    jnp = package.numpy

    values = [jnp.array(value) for value in layers.parameters(WIDTHS)]
    batch = tuple(map(jnp.asarray, layers.batch(ROWS, WIDTHS)))
    start = time.perf_counter()
    compiled = package.jit(package.value_and_grad(layers.jax_loss)).lower(values, *batch).compile()
    end = time.perf_counter()
    verify(*compiled(values, *batch))
    return Once(end - start)


def judge(results: Results) -> list[Line]:
    """1.5 s."""
    return [
        at_most(results, 1.5),
        *detail(results, "symc", "expressions before", "python", "gcc and store"),
        *compared(results, ("JAX", None)),
    ]


CASE = Case(
    "deep_network",
    "30-layer MLP with gradients: function(), empty cache",
    {
        "symc": Contestant(symc, fresh=True, cache="empty", most=4),
        "JAX": Contestant(jax, "jax", fresh=True, most=2),
    },
    judge,
)
