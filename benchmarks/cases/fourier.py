"""Fourier transforms: of 256 rows of 1024 complex numbers, and of one row of 2^18 real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, check, compared, module
from numpy.typing import NDArray

ROWS, COLUMNS, LONG = 256, 1024, 1 << 18


def rows() -> NDArray[np.complex128]:
    """The matrix."""
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(2, ROWS, COLUMNS))
    values: NDArray[np.complex128] = parts[0] + 1j * parts[1]
    return values


def signal() -> NDArray[np.float64]:
    """The long row."""
    return np.random.default_rng(1).normal(size=LONG)


def transformed(numpy: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Both transforms by a library with NumPy's names."""
    return numpy.fft.fft(x), numpy.fft.rfft(y)


def verify(got: Any) -> None:
    """Compares with NumPy."""
    for value, wanted in zip(got, transformed(np, rows(), signal()), strict=True):
        check(value, wanted, rtol=1e-9, atol=1e-9)


def symc() -> Repeated:
    """T.fft."""
    import symc as package
    import symc.tensor as T

    x, y = T.zmatrix("x"), T.dvector("y")
    function = package.function([x, y], [T.fft.fft(x), T.fft.rfft(y)])
    verify(function(rows(), signal()))
    return Repeated(function, (rows(), signal()))


def numpy() -> Repeated:
    """numpy.fft."""
    return Repeated(transformed, (np, rows(), signal()))


def jax() -> Repeated:
    """jit of jax.numpy.fft."""
    package = module("jax")

    package.config.update("jax_enable_x64", True)
    function = package.jit(lambda x, y: transformed(package.numpy, x, y))
    x, y = package.numpy.asarray(rows()), package.numpy.asarray(signal())
    verify(function(x, y))
    return Repeated(lambda x, y: package.block_until_ready(function(x, y)), (x, y))


def torch() -> Repeated:
    """torch.fft."""
    package = module("torch")

    x, y = package.from_numpy(rows()), package.from_numpy(signal())
    verify(transformed(package, x, y))
    return Repeated(transformed, (package, x, y))


def judge(results: Results) -> list[Line]:
    """Against NumPy; the others use a library of many years' work."""
    return compared(results, ("NumPy", 1.5), ("JAX", None), ("PyTorch", None))


CASE = Case(
    "fourier",
    "FFT of 256 x 1024 complex and of 2^18 real numbers, float64",
    {
        "symc": Contestant(symc),
        "NumPy": Contestant(numpy),
        "JAX": Contestant(jax, "jax"),
        "PyTorch": Contestant(torch, "torch"),
    },
    judge,
)
