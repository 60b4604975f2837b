"""Call and put prices of a million options, in float64."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, check_all, compared, counted, module
from native import load, pointer
from numpy.typing import NDArray

Array = NDArray[np.float64]
COUNT, RATE, SIGMA = 1_000_000, 0.03, 0.2


def data() -> tuple[Array, Array, Array]:
    """Spot prices, strikes and years."""
    rng = np.random.default_rng(0)
    return (
        rng.uniform(10, 50, COUNT), rng.uniform(10, 50, COUNT), rng.uniform(0.1, 2.0, COUNT)
    )  # fmt: skip


def price(lib: Any, erf: Any, s: Any, k: Any, t: Any) -> tuple[Any, Any]:
    """The formula, in the operations of a NumPy-like library."""
    spread = SIGMA * lib.sqrt(t)
    d1 = (lib.log(s / k) + (RATE + 0.5 * SIGMA * SIGMA) * t) / spread
    d2 = d1 - spread
    present = k * lib.exp(-RATE * t)
    n1 = 0.5 + 0.5 * erf(d1 * 0.5**0.5)
    n2 = 0.5 + 0.5 * erf(d2 * 0.5**0.5)
    call = s * n1 - present * n2
    return call, call - s + present


def _erf(x: Array) -> Array:
    """Abramowitz and Stegun 7.1.26 would be too coarse: math.erf, one by one."""
    import math

    return np.fromiter(map(math.erf, x.tolist()), float, x.size)


def verify(got: Any, some: int = 20_000) -> None:
    """Compares the first prices with NumPy's."""
    s, k, t = (array[:some] for array in data())
    wanted = price(np, _erf, s, k, t)
    check_all([np.asarray(g)[:some] for g in got], wanted, rtol=1e-10, atol=1e-10)


def symc() -> Repeated:
    """Two outputs of one function."""
    import symc as package
    import symc.tensor as T

    inputs = [T.vector(name, dtype="float64") for name in ("spot", "strike", "years")]
    function = package.function(inputs, list(price(T, T.erf, *inputs)))
    verify(function(*data()))
    return Repeated(function, data(), {"kernels": function.facts["kernels"]})


def _c(fresh: bool) -> Repeated:
    lib = load("black_scholes")
    n, rate, sigma = ctypes.c_int64(COUNT), ctypes.c_double(RATE), ctypes.c_double(SIGMA)
    inputs = [pointer(array) for array in data()]
    kept = np.empty(COUNT), np.empty(COUNT)

    def call() -> tuple[Array, Array]:
        out = (np.empty(COUNT), np.empty(COUNT)) if fresh else kept
        lib.black_scholes(*inputs, rate, sigma, pointer(out[0]), pointer(out[1]), n)
        return out

    verify(call())
    return Repeated(call)


def c() -> Repeated:
    """libmvec in an OpenMP loop, always into the same two arrays."""
    return _c(fresh=False)


def c_new() -> Repeated:
    """The same, the results in new arrays."""
    return _c(fresh=True)


def numpy() -> Repeated:
    """NumPy with SciPy's erf."""
    erf = module("scipy.special").erf

    return Repeated(lambda s, k, t: price(np, erf, s, k, t), data())


def numba() -> Repeated:
    """A parallel loop with math.erf."""
    import math

    numba_ = module("numba")
    njit, prange = numba_.njit, numba_.prange

    def loop(s: Any, k: Any, t: Any) -> Any:
        call, put = np.empty_like(s), np.empty_like(s)
        for i in prange(s.size):
            spread = SIGMA * math.sqrt(t[i])
            d1 = (math.log(s[i] / k[i]) + (RATE + 0.5 * SIGMA * SIGMA) * t[i]) / spread
            present = k[i] * math.exp(-RATE * t[i])
            n1 = 0.5 + 0.5 * math.erf(d1 * 0.5**0.5)
            n2 = 0.5 + 0.5 * math.erf((d1 - spread) * 0.5**0.5)
            call[i] = s[i] * n1 - present * n2
            put[i] = call[i] - s[i] + present
        return call, put

    function = njit(parallel=True)(loop)
    verify(function(*data()))
    return Repeated(function, data())


def jax() -> Repeated:
    """jit in float64."""
    package = module("jax")

    package.config.update("jax_enable_x64", True)
    function = package.jit(lambda s, k, t: price(package.numpy, package.lax.erf, s, k, t))
    arrays = tuple(map(package.numpy.asarray, data()))
    verify(function(*arrays))
    return Repeated(lambda *args: package.block_until_ready(function(*args)), arrays)


def torch() -> Repeated:
    """Eager PyTorch."""
    package = module("torch")

    arrays = tuple(map(package.from_numpy, data()))
    verify(price(package, package.erf, *arrays))
    return Repeated(lambda s, k, t: price(package, package.erf, s, k, t), arrays)


def judge(results: Results) -> list[Line]:
    """Against C that writes to the same arrays again and again: memory of dead results is kept."""
    others = ("C, new results", "NumPy", "numba", "JAX", "PyTorch")
    return [
        *compared(results, ("C", 1.15), *((name, None) for name in others)),
        counted(results, "kernels", 1),
    ]


CASE = Case(
    "black_scholes",
    "Black-Scholes, 10^6 doubles, two outputs",
    {
        "symc": Contestant(symc),
        "C": Contestant(c),
        "C, new results": Contestant(c_new),
        "NumPy": Contestant(numpy, "scipy"),
        "numba": Contestant(numba, "numba"),
        "JAX": Contestant(jax, "jax"),
        "PyTorch": Contestant(torch, "torch"),
    },
    judge,
)
