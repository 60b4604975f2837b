"""A million normal numbers, of float64 and of float32, on one core."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measure import Case, Contestant, Repeated, Results, WrongResult, compared, module

COUNT = 1_000_000


def verify(sample: object) -> None:
    """Raises unless mean and deviation are as those of so many normal numbers must be."""
    x = np.asarray(sample, dtype=np.float64)
    if x.shape != (COUNT,) or abs(x.mean()) > 5e-3 or abs(x.std() - 1) > 5e-3:
        raise WrongResult(f"mean {x.mean():.3g} and deviation {x.std():.3g} of {x.shape} numbers")


def symc(dtype: str) -> Repeated:
    """RandomStream.normal: Philox 4x32-10."""
    import symc as package
    import symc.tensor as T

    stream = T.random.RandomStream(0)
    with package.config.set(threads=1):
        function = package.function([], stream.normal(size=COUNT, dtype=dtype))
    verify(function())
    return Repeated(function)


def numpy(dtype: str, generator: Callable[[int], Any]) -> Repeated:
    """Generator.standard_normal."""
    function = np.random.Generator(generator(0)).standard_normal
    verify(function(COUNT, dtype=dtype))
    return Repeated(partial(function, COUNT, dtype=dtype))


def torch(dtype: str) -> Repeated:
    """torch.randn, on one thread: a Mersenne twister."""
    package = module("torch")

    package.set_num_threads(1)
    kind = getattr(package, dtype)
    verify(package.randn(COUNT, dtype=kind))
    return Repeated(partial(package.randn, COUNT, dtype=kind))


def judge(results: Results) -> list[Any]:
    """Half the time of NumPy with the same kind of generator."""
    return compared(results, ("NumPy, Philox", 0.5), ("NumPy, PCG64", None), ("PyTorch", None))


def _case(name: str, dtype: str) -> Case:
    return Case(
        name,
        f"{COUNT} normal numbers, {dtype}, one core",
        {
            "symc": Contestant(partial(symc, dtype)),
            "NumPy, Philox": Contestant(partial(numpy, dtype, np.random.Philox)),
            "NumPy, PCG64": Contestant(partial(numpy, dtype, np.random.PCG64)),
            "PyTorch": Contestant(partial(torch, dtype), "torch"),
        },
        judge,
    )


FLOAT64 = _case("normal_samples", "float64")
FLOAT32 = _case("normal_samples_float32", "float32")
