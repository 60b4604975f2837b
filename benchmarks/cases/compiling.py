"""function() where gcc has much to do: long elementwise graphs with gradients, equal kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measure import (
    Case,
    Contestant,
    Line,
    Once,
    Results,
    absent_text,
    at_most,
    check,
    compared,
    detail,
    module,
    show,
)

from cases.node_count import expression

FEW, MANY, GROWTH, LIMIT = 1_000, 4_000, 4.5, 3.0
LAYERS, ALL_LAYERS = 20, 4.0


def compiled(inputs: list[Any], outputs: list[Any]) -> tuple[Any, Once]:
    """A function that is in no cache, and how long it took."""
    import symc

    start = time.monotonic()
    function = symc.function(inputs, outputs)
    taken = time.monotonic() - start
    assert not function.hit
    facts = {f"stage {name}": seconds for name, seconds in function.seconds.items()}
    return function, Once(taken, {**facts, "kernels": function.facts["kernels"]})


def random_graph(count: int) -> Once:
    """A random elementwise graph with its gradient: see `node_count.py`."""
    import symc

    inputs, cost = expression(count)
    return compiled(inputs, [cost, *symc.grad(cost, inputs)])[1]


def softmaxes() -> Once:
    """One after the other, each of the sum of the last one and its input."""
    import symc.tensor as T

    x = T.matrix("x", dtype="float32")
    y = x
    for _ in range(LAYERS):
        y = T.softmax(y + x, axis=1)
    function, once = compiled([x], [y])
    given = np.random.default_rng(0).normal(size=(8, 50)).astype(np.float32)
    wanted = given
    for _ in range(LAYERS):
        powers = np.exp(wanted + given)
        wanted = powers / powers.sum(axis=1, keepdims=True)
    check(function(given)[0], wanted, rtol=1e-4)
    return once


def transforms(count: int) -> Once:
    """The last of so many functions with a Fourier transform each, and a convolution."""
    import symc.tensor as T

    for number in range(count):
        x, w = T.matrix("x"), T.matrix("w")
        spectrum = T.fft.rfft(x * (number + 1.0), axis=1)
        inputs, outputs = [x, w], [T.real(spectrum), T.nnet.conv2d(x[None, None], w[None, None])]
        _, once = compiled(inputs, outputs)
    return once


def jax_transforms(count: int) -> Once:
    """The same of JAX, up to the first result."""
    package = module("jax")
    package.config.update("jax_enable_x64", True)
    x, w = np.ones((16, 64)), np.ones((3, 3))
    for number in range(count):

        def both(x: Any, w: Any, scale: float = number + 1.0) -> Any:
            spectrum = package.numpy.fft.rfft(x * scale, axis=1)
            return spectrum.real, package.lax.conv(x[None, None], w[None, None], (1, 1), "VALID")

        start = time.monotonic()
        package.block_until_ready(package.jit(both)(x, w))
        taken = time.monotonic() - start
    return Once(taken, {})


def judge_transforms(results: Results) -> list[Line]:
    """The second function of a session, beside the first one and JAX's second one."""
    return compared(results, ("symc, the first", 0.5), ("JAX", None))


def judge_growth(results: Results) -> list[Line]:
    """The time of 1,000 nodes, and how many times that 4,000 take."""
    few, many = results.times.get("symc"), results.times.get(f"{MANY} nodes")
    lines = [at_most(results, LIMIT, what=f"{FEW} nodes")]
    what, target = f"{MANY} nodes", f"<= {GROWTH:g} times"
    if few is None or many is None:
        return [*lines, Line(what, absent_text(results, what), target=target, reached=False)]
    ratio = many.best / few.best
    lines.append(Line(what, show(many.best), "", f"{ratio:.2f}", target, ratio <= GROWTH))
    return lines


def judge_softmaxes(results: Results) -> list[Line]:
    """Four seconds, of which gcc takes most."""
    stages = ("stage schedule", "stage passes", "stage compile")
    return [at_most(results, ALL_LAYERS), *detail(results, "symc", *stages)]


def _cold(make: Callable[[], Once]) -> Contestant:
    return Contestant(make, fresh=True, cache="empty", most=2)


RANDOM_GRAPH = Case(
    "random_graph",
    "random elementwise graphs with gradients: function(), empty cache",
    {
        "symc": _cold(partial(random_graph, FEW)),
        f"{MANY} nodes": _cold(partial(random_graph, MANY)),
    },
    judge_growth,
)
SOFTMAXES = Case(
    "softmaxes",
    f"{LAYERS} softmaxes one after the other: function(), empty cache",
    {"symc": _cold(softmaxes)},
    judge_softmaxes,
)
TRANSFORMS = Case(
    "transforms",
    "the second function with a Fourier transform and a convolution: function(), empty cache",
    {
        "symc": _cold(partial(transforms, 2)),
        "symc, the first": _cold(partial(transforms, 1)),
        "JAX": Contestant(partial(jax_transforms, 2), "jax", fresh=True, most=2),
    },
    judge_transforms,
)
