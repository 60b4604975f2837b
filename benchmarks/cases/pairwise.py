"""(exp(-((X[:, None] - X[None])**2).sum(-1)) * v).sum(1) of 2000 points in three dimensions."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, check, compared, counted, module
from native import load, pointer
from numpy.typing import NDArray

Array = NDArray[np.float64]
COUNT = 2000
MIB = 2.0**20


def data() -> tuple[Array, Array]:
    """Points and their weights."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(COUNT, 3)), rng.normal(size=COUNT)


def plain(x: Array, v: Array) -> Array:
    """In NumPy, with three arrays of n x n or more."""
    return (np.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) * v).sum(1)  # type: ignore[no-any-return]


def peak() -> float:
    """The most memory that this process has had since `forget_peak`, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return 1024.0 * int(line.split()[1])
    raise OSError("no VmHWM in /proc/self/status")


def forget_peak() -> None:
    """Makes the present memory the peak."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def growth(function: Any, *args: Any) -> float:
    """By how many MiB the memory of the process grew in a call."""
    forget_peak()
    before = peak()
    function(*args)
    return (peak() - before) / MIB


def symc() -> Repeated:
    """The same expression."""
    import symc as package
    import symc.tensor as T

    x, v = T.matrix("x", dtype="float64"), T.vector("v", dtype="float64")
    result = (T.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) * v).sum(1)
    function = package.function([x, v], result)
    few = data()[0][:4], data()[1][:4]
    check(function(*few), plain(*few), rtol=1e-12, atol=1e-12)  # starts the threads, too
    megabytes = growth(function, *data())
    check(function(*data()), plain(*data()), rtol=1e-9, atol=1e-9)
    facts = {"peak memory growth, MiB": megabytes, "kernels": function.facts["kernels"]}
    return Repeated(function, data(), facts)


def c() -> Repeated:
    """Two loops, the inner one with libmvec's exp."""
    lib = load("pairwise")
    x, v = data()
    n = ctypes.c_int64(COUNT)

    def call() -> Array:
        out = np.empty(COUNT)
        lib.pairwise(pointer(x), pointer(v), pointer(out), n)
        return out

    check(call(), plain(x, v), rtol=1e-9, atol=1e-9)
    return Repeated(call)


def numpy() -> Repeated:
    """The expression as it stands."""
    return Repeated(plain, data(), {"peak memory growth, MiB": growth(plain, *data())})


def jax() -> Repeated:
    """jit in float64."""
    package = module("jax")

    package.config.update("jax_enable_x64", True)
    exp = package.numpy.exp
    function = package.jit(lambda x, v: (exp(-((x[:, None] - x[None]) ** 2).sum(-1)) * v).sum(1))
    arrays = tuple(map(package.numpy.asarray, data()))
    check(function(*arrays), plain(*data()), rtol=1e-9, atol=1e-9)
    return Repeated(lambda *args: function(*args).block_until_ready(), arrays)


def torch() -> Repeated:
    """Eager PyTorch."""
    package = module("torch")

    def formula(x: Any, v: Any) -> Any:
        return (package.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) * v).sum(1)

    arrays = tuple(map(package.from_numpy, data()))
    check(formula(*arrays), plain(*data()), rtol=1e-9, atol=1e-9)
    return Repeated(formula, arrays)


def judge(results: Results) -> list[Line]:
    """No array of n x n (31 MiB), and five times as fast as NumPy."""
    others = ("C", "JAX", "PyTorch")
    lines = [
        counted(results, "peak memory growth, MiB", 2.0),
        *compared(results, ("NumPy", 0.2), *((name, None) for name in others)),
        counted(results, "kernels", 1),
    ]
    numpy_times = results.times.get("NumPy")
    if numpy_times is not None:
        grown = numpy_times.facts["peak memory growth, MiB"]
        lines[0] = Line(lines[0].what, lines[0].figure, f"NumPy {grown:.3g}", "", lines[0].target,
                        lines[0].reached)  # fmt: skip
    return lines


CASE = Case(
    "pairwise",
    "(exp(-((X[:,None]-X[None])**2).sum(-1)) * v).sum(1), 2000x3 float64",
    {
        "symc": Contestant(symc),
        "NumPy": Contestant(numpy),
        "C": Contestant(c),
        "JAX": Contestant(jax, "jax"),
        "PyTorch": Contestant(torch, "torch"),
    },
    judge,
)
