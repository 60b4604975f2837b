"""One step of Adam for a million parameters, in float32: three arrays are changed in place."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, check, compared, counted, module
from native import load, pointer
from numpy.typing import NDArray

Array = NDArray[Any]
COUNT, RATE = 1_000_000, 1e-3


def data() -> tuple[Array, Array]:
    """Parameters, and a gradient."""
    rng = np.random.default_rng(0)
    value, gradient = (rng.standard_normal(COUNT, dtype=np.float32) for _ in range(2))
    return value, gradient


class NumPyAdam:
    """The step in NumPy, in the type of the data that it is given."""

    def __init__(self, dtype: type[np.floating[Any]]) -> None:
        value, gradient = data()
        self.value, self.gradient = value.astype(dtype), gradient.astype(dtype)
        self.mean, self.squares = np.zeros_like(self.value), np.zeros_like(self.value)
        self.count = 0

    def __call__(self) -> Array:
        """The parameters after a step."""
        self.count += 1
        self.mean += 0.1 * (self.gradient - self.mean)
        self.squares += 0.001 * (self.gradient**2 - self.squares)
        root = np.sqrt(self.squares / (1 - 0.999**self.count))
        self.value -= RATE * self.mean / (1 - 0.9**self.count) / (root + 1e-8)
        return self.value


def checked(step: Callable[[], Any], value: Callable[[], Any], **facts: Any) -> Repeated:
    """The step, if three of them do what NumPy's do in float64."""
    wanted = NumPyAdam(np.float64)
    for _ in range(3):
        step()
        wanted()
    check(value(), wanted.value, rtol=1e-4, atol=1e-5)
    return Repeated(step, (), facts)


def symc() -> Repeated:
    """symc.optim.adam, of a loss whose gradient is given."""
    import symc as package
    import symc.tensor as T

    value, gradient = data()
    g, w = T.vector("g", dtype="float32"), package.shared(value, name="w")
    updates = package.optim.adam((w * g).sum(), [w], learning_rate=RATE)
    step = package.function([g], updates=updates)
    kernels = step.facts["kernels"]
    return checked(lambda: step(gradient), w.get_value, kernels=kernels)


def c() -> Repeated:
    """An OpenMP loop."""
    lib = load("adam")
    value, gradient = data()
    mean, squares = np.zeros_like(value), np.zeros_like(value)
    arrays = [pointer(array) for array in (value, mean, squares, gradient)]
    count = 0

    def call() -> None:
        nonlocal count
        count += 1
        factors = [RATE, 1 / (1 - 0.9**count), 1 / (1 - 0.999**count)]
        lib.adam(*arrays, *map(ctypes.c_float, factors), ctypes.c_int64(COUNT))

    return checked(call, lambda: value)


def numpy() -> Repeated:
    """NumPy, half of it in place."""
    step = NumPyAdam(np.float32)
    return checked(step, lambda: step.value)


def jax() -> Repeated:
    """jit with donated arrays."""
    package = module("jax")
    jnp = package.numpy

    def formula(state: Any, gradient: Any) -> Any:
        value, mean, squares, count = state
        count = count + 1
        mean = 0.9 * mean + 0.1 * gradient
        squares = 0.999 * squares + 0.001 * gradient**2
        root = jnp.sqrt(squares / (1 - 0.999**count))
        return value - RATE * mean / (1 - 0.9**count) / (root + 1e-8), mean, squares, count

    compiled = package.jit(formula, donate_argnums=0)
    value, gradient = map(jnp.asarray, data())
    state: Any = value, jnp.zeros_like(value), jnp.zeros_like(value), jnp.float32(0)

    def call() -> None:
        nonlocal state
        state = package.block_until_ready(compiled(state, gradient))

    return checked(call, lambda: state[0])


def judge(results: Results) -> list[Line]:
    """Against C, and the number of kernels."""
    others = ("NumPy", "JAX")
    return [
        *compared(results, ("C", 1.15), *((name, None) for name in others)),
        counted(results, "kernels"),
    ]


CASE = Case(
    "adam",
    "a step of Adam for 10^6 parameters, float32",
    {
        "symc": Contestant(symc),
        "C": Contestant(c),
        "NumPy": Contestant(numpy),
        "JAX": Contestant(jax, "jax"),
    },
    judge,
)
