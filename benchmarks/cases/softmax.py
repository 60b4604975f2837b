"""Softmax over the rows of a 4096 x 1000 matrix of float32."""

from __future__ import annotations

import ctypes

import numpy as np
from measure import (
    Case,
    Contestant,
    Line,
    Repeated,
    Results,
    check,
    compared,
    counted,
    launched,
    module,
)
from native import load, pointer
from numpy.typing import NDArray

Array = NDArray[np.float32]
ROWS, COLUMNS = 4096, 1000


def data() -> Array:
    """The matrix."""
    rng = np.random.default_rng(0)
    return rng.normal(scale=3.0, size=(ROWS, COLUMNS)).astype(np.float32)


def plain(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """In NumPy."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    result: NDArray[np.floating] = e / e.sum(axis=1, keepdims=True)
    return result


def verify(got: object) -> None:
    """Compares with NumPy in float64."""
    check(got, plain(data().astype(float)), rtol=1e-5, atol=1e-9)


def symc() -> Repeated:
    """T.softmax."""
    import symc as package
    import symc.tensor as T

    x = T.matrix("x", dtype="float32")
    function = package.function([x], T.softmax(x, axis=-1))
    verify(function(data()))
    return Repeated(function, (data(),), launched(function))


def _c(fresh: bool) -> Repeated:
    lib = load("softmax")
    rows, columns = ctypes.c_int64(ROWS), ctypes.c_int64(COLUMNS)
    x, kept = data(), np.empty((ROWS, COLUMNS), np.float32)

    def call() -> Array:
        out = np.empty_like(x) if fresh else kept
        lib.softmax(pointer(x), pointer(out), rows, columns)
        return out

    verify(call())
    return Repeated(call)


def c() -> Repeated:
    """An OpenMP loop with an exponential of its own, always into the same array."""
    return _c(fresh=False)


def c_new() -> Repeated:
    """The same, the result in a new array."""
    return _c(fresh=True)


def numpy() -> Repeated:
    """Four operations."""
    return Repeated(plain, (data(),))


def jax() -> Repeated:
    """jit of jax.nn.softmax."""
    package = module("jax")

    function = package.jit(lambda x: package.nn.softmax(x, axis=-1))
    x = package.numpy.asarray(data())
    verify(function(x))
    return Repeated(lambda x: function(x).block_until_ready(), (x,))


def torch() -> Repeated:
    """torch.softmax."""
    package = module("torch")

    x = package.from_numpy(data())
    verify(package.softmax(x, -1))
    return Repeated(package.softmax, (x, -1))


def judge(results: Results) -> list[Line]:
    """Against C that writes to the same array again and again, and the number of kernels."""
    others = ("C, new results", "NumPy", "JAX", "PyTorch")
    return [
        *compared(results, ("C", 1.15), *((name, None) for name in others)),
        counted(results, "kernels", 1),
    ]


CASE = Case(
    "softmax",
    "softmax over rows, 4096x1000 float32",
    {
        "symc": Contestant(symc),
        "C": Contestant(c),
        "C, new results": Contestant(c_new),
        "NumPy": Contestant(numpy),
        "JAX": Contestant(jax, "jax"),
        "PyTorch": Contestant(torch, "torch"),
    },
    judge,
)
