"""Layer normalisation with scale and shift, then gelu: 4096 x 1024 of float32."""

from __future__ import annotations

import ctypes
from typing import Any

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

Array = NDArray[Any]
ROWS, COLUMNS, EPSILON = 4096, 1024, 1e-5


def data() -> tuple[Array, Array, Array]:
    """The matrix, the scale and the shift."""
    rng = np.random.default_rng(0)
    x = rng.normal(loc=1.0, scale=3.0, size=(ROWS, COLUMNS)).astype(np.float32)
    scale = rng.uniform(0.5, 1.5, COLUMNS).astype(np.float32)
    return x, scale, rng.normal(size=COLUMNS).astype(np.float32)


def plain(erf: Any, x: Array, scale: Array, shift: Array) -> Array:
    """In NumPy."""
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    y = centred / np.sqrt(variance + x.dtype.type(EPSILON)) * scale + shift
    half = x.dtype.type(0.5)
    result: Array = y * (half + half * erf(y * x.dtype.type(0.5**0.5)))
    return result


def verify(got: object, some: int = 16) -> None:
    """Compares the first rows with NumPy in float64."""
    import math

    x, scale, shift = (array.astype(float) for array in data())
    erf = np.vectorize(math.erf, otypes=[float])
    given = np.asarray(got)
    check(given[:some], plain(erf, x[:some], scale, shift), rtol=1e-4, atol=2e-6)
    assert given.shape == (ROWS, COLUMNS)


def symc() -> Repeated:
    """mean, var and gelu."""
    import symc as package
    import symc.tensor as T

    x = T.matrix("x", dtype="float32")
    scale, shift = T.vector("scale", dtype="float32"), T.vector("shift", dtype="float32")
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    y = (x - mean) / T.sqrt(variance + EPSILON) * scale + shift
    function = package.function([x, scale, shift], T.gelu(y))
    verify(function(*data()))
    return Repeated(function, data(), launched(function))


def _c(fresh: bool) -> Repeated:
    lib = load("layer_norm_gelu")
    rows, columns = ctypes.c_int64(ROWS), ctypes.c_int64(COLUMNS)
    arrays = data()
    kept = np.empty_like(arrays[0])

    def call() -> Array:
        out = np.empty_like(kept) if fresh else kept
        lib.layer_norm_gelu(*map(pointer, arrays), pointer(out), rows, columns)
        return out

    verify(call())
    return Repeated(call)


def c() -> Repeated:
    """An OpenMP loop over rows with libmvec's erff, always into the same array."""
    return _c(fresh=False)


def c_new() -> Repeated:
    """The same, the result in a new array."""
    return _c(fresh=True)


def numpy() -> Repeated:
    """NumPy with SciPy's erf."""
    erf = module("scipy.special").erf

    return Repeated(lambda *args: plain(erf, *args), data())


def jax() -> Repeated:
    """jit of the same expressions."""
    package = module("jax")

    def formula(x: Any, scale: Any, shift: Any) -> Any:
        mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        y = (x - mean) / package.numpy.sqrt(variance + EPSILON) * scale + shift
        return package.nn.gelu(y, approximate=False)

    function = package.jit(formula)
    arrays = tuple(map(package.numpy.asarray, data()))
    verify(function(*arrays))
    return Repeated(lambda *args: function(*args).block_until_ready(), arrays)


def torch() -> Repeated:
    """layer_norm and gelu, two fused operations."""
    package = module("torch")
    gelu, layer_norm = package.nn.functional.gelu, package.nn.functional.layer_norm

    def formula(x: Any, scale: Any, shift: Any) -> Any:
        return gelu(layer_norm(x, (COLUMNS,), scale, shift, EPSILON))

    arrays = tuple(map(package.from_numpy, data()))
    verify(formula(*arrays))
    return Repeated(formula, arrays)


def judge(results: Results) -> list[Line]:
    """One kernel; against C that writes to the same array again and again."""
    others = ("C, new results", "NumPy", "JAX", "PyTorch")
    return [
        counted(results, "kernels", 1),
        *compared(results, ("C", 1.15), *((name, None) for name in others)),
    ]


CASE = Case(
    "layer_norm",
    "layer norm + gelu, 4096x1024 float32",
    {
        "symc": Contestant(symc),
        "C": Contestant(c),
        "C, new results": Contestant(c_new),
        "NumPy": Contestant(numpy, "scipy"),
        "JAX": Contestant(jax, "jax"),
        "PyTorch": Contestant(torch, "torch"),
    },
    judge,
)
