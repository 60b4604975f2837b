"""A user's function by symc, NumPy, JAX, PyTorch and Numba, made from its one text.

The function is written with NumPy's names. symc gets its inputs as tensors, which NumPy's functions
take; Numba compiles it as it is; for JAX and PyTorch it is the same code with their module in the
place of NumPy's. Whoever cannot do it is listed with the reason.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from symc import tensor as T
from symc.calls.callable import Function
from symc.calls.function import Outputs, function
from symc.codegen.record import record
from symc.errors import BadArgument
from symc.measure.suite import Call, Outcome, Work, as_json, as_text, by_numba, measure
from symc.pipeline.library import store_at


@record
class Comparison:
    """The figures of `symc.benchmark.compare`; print it, or keep it by `as_json`.

    `outcome.entries` has for each contestant the seconds until its first result, compiling
    included, and the times of the calls after that; `outcome.failures` why others have none.
    """

    outcome: Outcome

    @property
    def break_even(self) -> dict[str, int | None]:
        """For each who compiles: after how many calls that has paid, against NumPy; None: never."""
        return {
            name: self.outcome.pays_after(name) for name in self.outcome.entries if name != "NumPy"
        }

    def as_json(self) -> dict[str, Any]:
        """All figures, in seconds, with versions and machine, for JSON."""
        return as_json([self.outcome])

    def __str__(self) -> str:
        return as_text([self.outcome])


def compare(f: Callable[..., Any], *arrays: Any, seconds: float = 0.3) -> Comparison:
    """A function of arrays, written with NumPy's names, by everybody who is installed.

    NumPy's result counts as right. symc makes its function in an empty cache, so that its first
    result has the whole cost of compiling. Raises `BadArgument` for what is no function of Python,
    or has another result than one array; errors of `f` itself come as they are.

    >>> import numpy as np, symc
    >>> def energy(v, m):
    ...     return 0.5 * np.sum(m * np.sum(v**2, axis=1))
    >>> found = symc.benchmark.compare(energy, np.ones((100, 3)), np.ones(100), seconds=0.01)
    >>> found.outcome.entries["symc"].first > found.outcome.entries["symc"].steady.median
    True
    >>> print(found)  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
             a call ... first result   pays after
    energy...
      symc ...
    """
    return Comparison(measure(work_of(f, arrays), seconds, lambda _: None))


def work_of(f: Callable[..., Any], arrays: Sequence[Any]) -> Work:
    """A user's function as work for the contestants of the suite."""
    if isinstance(f, Function) or not isinstance(f, FunctionType):
        raise BadArgument(
            "symc.benchmark.compare takes a function of arrays that is written in Python with "
            f"NumPy's names, not {f!r:.60}; symc.benchmark(f, *args, against=g) measures symc's"
        )
    given = [np.asarray(array) for array in arrays]
    right = f(*given)
    if isinstance(right, list | tuple | dict) or np.asarray(right).dtype == object:
        raise BadArgument(f"{f.__name__} must give one array or number, not {right!r:.60}")
    makers: dict[str, Callable[[], Call]] = {
        "symc": lambda: by_symc(f, given),
        "NumPy": lambda: f,
        "JAX": lambda: by_jax(f),
        "PyTorch": lambda: by_torch(f),
        "Numba": by_numba(f),
    }
    shapes = ", ".join(f"{array.dtype}{list(array.shape)}" for array in given)
    tolerance = 1e-4 if np.asarray(right).dtype.name in ("float32", "complex64") else 1e-9
    return Work(f.__name__, f"{f.__name__}({shapes})", lambda: given, makers, tolerance)


def by_symc(f: Call, arrays: Sequence[Any]) -> Function:
    """symc's function of inputs that are like these arrays, compiled with an empty cache."""
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    inputs = [
        T.tensor(array.dtype.name, (None,) * array.ndim, name)
        for name, array in zip(names, arrays, strict=True)
    ]
    with tempfile.TemporaryDirectory(prefix="symc-bench-") as folder, store_at(Path(folder)):
        outputs: Outputs = f(*inputs)
        return function(inputs, outputs, name=f.__name__)


def by_jax(f: Call) -> Call:
    """The function with JAX's module in the place of NumPy's, jitted; float64 stays so."""
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jitted = jax.jit(speaking(f, importlib.import_module("jax.numpy")))
    return lambda *arrays: jitted(*arrays).block_until_ready()


def by_torch(f: Call) -> Call:
    """The function with PyTorch's module in the place of NumPy's, not compiled."""
    torch: Any = importlib.import_module("torch")
    spoken = speaking(f, torch)
    return lambda *arrays: spoken(*map(torch.from_numpy, arrays)).numpy()


def speaking(f: Call, module: ModuleType) -> Call:
    """The same code where NumPy, under whatever name it is there, is another module.

    >>> import math
    >>> speaking(eval("lambda x: np.sin(x)", {"np": np}), math)(0.0)
    0.0
    """
    names = {key: module if value is np else value for key, value in f.__globals__.items()}
    for key, value in names.items():  # functions beside it speak the same
        if isinstance(value, FunctionType) and value.__globals__ is f.__globals__:
            names[key] = FunctionType(
                value.__code__, names, key, value.__defaults__, value.__closure__
            )
    return FunctionType(f.__code__, names, f.__name__, f.__defaults__, f.__closure__)
