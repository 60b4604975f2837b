"""One training step of a logistic regression: how long until the first result is there."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import (
    Case,
    Contestant,
    Line,
    Once,
    Repeated,
    Results,
    at_most,
    check,
    compared,
    detail,
    module,
)
from numpy.typing import NDArray

Array = NDArray[Any]
RATE = 0.1


def data() -> tuple[Array, Array]:
    """600 rows of 784 numbers, and their classes."""
    rng = np.random.default_rng(0)
    return rng.random((600, 784), dtype=np.float32), rng.integers(0, 10, 600)


def reference(x: Array, y: Array) -> tuple[float, Array, Array]:
    """Loss, weights and offsets after one step from zeros, in float64."""
    rows = np.arange(len(y))
    p = np.full((len(y), 10), 0.1)
    bar = p.copy()
    bar[rows, y] -= 1
    bar /= len(y)
    loss = -float(np.log(p[rows, y]).mean())
    return loss, -RATE * (x.astype(float).T @ bar), -RATE * bar.sum(0)


def verify(loss: object, w: object, b: object, x: Array, y: Array) -> None:
    """Compares a first step with NumPy's."""
    wanted = reference(x, y)
    check(loss, wanted[0], rtol=1e-5)
    check(w, wanted[1], rtol=1e-4, atol=1e-6)
    check(b, wanted[2], rtol=1e-4, atol=1e-6)


def symc_first() -> tuple[Any, Once]:
    """The function and the time from having imported symc to its first result."""
    import symc
    import symc.tensor as T

    x_value, y_value = data()
    start = time.perf_counter()
    x, y = T.matrix("x", dtype="float32"), T.vector("y", dtype="int64")
    w = symc.shared(np.zeros((784, 10), np.float32), name="w")
    b = symc.shared(np.zeros(10, np.float32), name="b")
    p = T.softmax(x @ w + b)
    loss = -T.log(p)[T.arange(y.shape[0]), y].mean()
    to_w, to_b = symc.grad(loss, [w, b])
    built = time.perf_counter()
    step = symc.function([x, y], loss, updates=[(w, w - RATE * to_w), (b, b - RATE * to_b)])
    made = time.perf_counter()
    first = step(x_value, y_value)
    end = time.perf_counter()
    verify(first, w.get_value(), b.get_value(), x_value, y_value)
    facts: dict[str, Any] = {
        "expressions": built - start, "function": made - built, "call": end - made,
        "whole": end - start, "hit": step.hit, "kernels": step.facts["kernels"],
    }  # fmt: skip
    if not step.hit:
        facts |= {f"stage {name}": seconds for name, seconds in step.seconds.items()}
        facts["python"] = sum(v for k, v in step.seconds.items() if k not in ("compile", "load"))
        facts["gcc and store"] = step.seconds["compile"]
    return step, Once(end - built, facts)


def symc_cold() -> Once:
    """function() and the first call."""
    once = symc_first()[1]
    assert not once.facts["hit"]
    return once


def symc_warm() -> Once:
    """Building the expressions, function() and the first call."""
    once = symc_first()[1]
    return Once(once.facts["whole"], once.facts)


def bare_compiler() -> Repeated:
    """The compiler alone on the file that symc emits, with the same options."""
    from symc.codegen.targets import c, compiler

    step, _ = symc_first()
    found = compiler.find_compiler()
    assert found is not None
    folder = Path(tempfile.mkdtemp(dir=os.environ["BENCHMARK_CACHE"]))
    (folder / c.SOURCE).write_text(step.source, encoding="utf-8")
    options = c.flags(found, quick=False)
    libraries = compiler.libraries(found)
    command = [*found.command, *options, "-shared", c.SOURCE, "-o", c.BINARY, *libraries]
    return Repeated(lambda: subprocess.run(command, cwd=folder, check=True))


def jax_first() -> Once:
    """Tracing, compiling and running a step of grad and update."""
    jax = module("jax")
    jnp = jax.numpy

    x_value, y_value = data()

    def cost(parameters: Any, x: Any, y: Any) -> Any:
        w, b = parameters
        return -jax.nn.log_softmax(x @ w + b)[jnp.arange(y.shape[0]), y].mean()

    def step(parameters: Any, x: Any, y: Any) -> Any:
        loss, bars = jax.value_and_grad(cost)(parameters, x, y)
        return loss, [p - RATE * bar for p, bar in zip(parameters, bars, strict=True)]

    parameters = [jnp.zeros((784, 10), jnp.float32), jnp.zeros(10, jnp.float32)]
    x, y = jax.block_until_ready((jnp.asarray(x_value), jnp.asarray(y_value)))
    start = time.perf_counter()
    loss, (w, b) = jax.block_until_ready(jax.jit(step)(parameters, x, y))
    end = time.perf_counter()
    verify(loss, w, b, x_value, y_value)
    return Once(end - start)


def jax_cached() -> Once:
    """The same with JAX's own cache on disk, filled."""
    jax = module("jax")

    folder = Path(os.environ["BENCHMARK_CACHE"]) / "jax"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    return jax_first()


def pytensor_first() -> Once:
    """PyTensor's function() and first call, in its default mode."""
    pytensor, pt = module("pytensor"), module("pytensor.tensor")
    x_value, y_value = data()
    x, y = pt.matrix("x", dtype="float32"), pt.vector("y", dtype="int64")
    w = pytensor.shared(np.zeros((784, 10), np.float32), name="w")
    b = pytensor.shared(np.zeros(10, np.float32), name="b")
    p = pt.special.softmax(x @ w + b, axis=-1)
    loss = -pt.log(p)[pt.arange(y.shape[0]), y].mean(dtype="float32")
    to_w, to_b = pytensor.grad(loss, [w, b])
    rate = np.float32(RATE)
    updates = [(w, w - rate * to_w), (b, b - rate * to_b)]
    start = time.perf_counter()
    step = pytensor.function([x, y], loss, updates=updates)
    loss = step(x_value, y_value)
    end = time.perf_counter()
    verify(loss, w.get_value(), b.get_value(), x_value, y_value)
    return Once(end - start)


def judge_cold(results: Results) -> list[Line]:
    """Against the bare compiler, JAX and PyTensor."""
    return [
        *compared(results, ("gcc", 2.5), ("JAX", 1.0), ("PyTensor", None)),
        *detail(results, "symc", "python", "gcc and store", "stage load", "call"),
    ]


def judge_warm(results: Results) -> list[Line]:
    """Against 15 ms."""
    mine = results.times.get("symc")
    if mine is not None and not mine.facts["hit"]:
        return [Line("function()", "compiled again", target="<= 15 ms", reached=False)]
    return [
        at_most(results, 0.015, what="expressions, function(), call"),
        *detail(results, "symc", "expressions", "function", "call"),
        *compared(results, ("JAX, disk cache", None)),
    ]


COLD = Case(
    "logistic",
    "logistic regression step (784x10, 600 rows, float32): function() and first call, empty cache",
    {
        "symc": Contestant(symc_cold, fresh=True, cache="empty"),
        "gcc": Contestant(bare_compiler),
        "JAX": Contestant(jax_first, "jax", fresh=True, most=4),
        "PyTensor": Contestant(pytensor_first, "pytensor", fresh=True, cache="empty", most=1),
    },
    judge_cold,
)
WARM = Case(
    "cached",
    "the same in a new process, cache filled",
    {
        "symc": Contestant(symc_warm, fresh=True),
        "JAX, disk cache": Contestant(jax_cached, "jax", fresh=True, most=3),
    },
    judge_warm,
)
