"""The contestants of a kernel: made, compared with the oracle, and timed in turns."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from measure import Results, Times, WrongResult, module

import symc
import symc.tensor as T

from .kernel import Kernel, Program

Call: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    rounds: int
    length: float  # seconds of a round


@dataclass(slots=True)
class Timed:
    """A contestant whose result was right."""

    call: Call
    batch: int
    rounds: list[float] = field(default_factory=list)


def contest(kernel: Kernel, effort: Effort, *, small: bool) -> Results:
    """The times of all that take part; who fails or is wrong has its reason in `absent`."""
    arrays = kernel.given(kernel.small if small else kernel.size)
    wanted = kernel.oracle(*(array.copy() for array in arrays))
    timed: dict[str, Timed] = {}
    absent: dict[str, str] = {}
    for name, (package, make, form) in CONTESTANTS.items():
        program: Program | None = getattr(kernel, form)
        if program is None or importlib.util.find_spec(package) is None:
            absent[name] = "not installed" if program else ""
            continue
        try:
            call = make(kernel, program, arrays)
            agree(call(), wanted, kernel.rtol)
        except Exception as error:  # whatever a library raises: the others go on
            print(f"\n{kernel.name}: {name}: {error!r}", file=sys.stderr)
            absent[name] = f"FAILED: {type(error).__name__}"
            continue
        call()
        timed[name] = Timed(call, max(1, int(1e-3 / max(taken(call, 1), 1e-8))))
    for _ in range(effort.rounds):
        for one in timed.values():
            one.rounds.append(best(one, effort.length))
    return Results({name: Times(one.rounds, {}) for name, one in timed.items()}, absent)


def best(one: Timed, length: float) -> float:
    """The best time of a call, in seconds; calls for at least `length` seconds."""
    end = time.monotonic() + length
    least = taken(one.call, one.batch)
    while time.monotonic() < end:
        least = min(least, taken(one.call, one.batch))
    return least


def taken(call: Call, times: int) -> float:
    """Seconds on a processor for one of so many calls."""
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def agree(got: object, wanted: object, rtol: float) -> None:
    """Raises `WrongResult` unless no number differs by more than `rtol` of the largest."""
    given, right = np.asarray(got), np.asarray(wanted)
    if given.shape != right.shape:
        raise WrongResult(f"the shape is {given.shape}, not {right.shape}")
    allowed = rtol * float(np.max(np.abs(right), initial=0.0))
    if not np.allclose(given, right, rtol=0, atol=allowed):
        raise WrongResult(f"differs by up to {np.max(np.abs(given - right)):.3g} of {allowed:.3g}")


# --- who takes part -------------------------------------------------------------------------------


def made_by_symc(kernel: Kernel, program: Program, arrays: tuple[Any, ...]) -> Call:
    """The program compiled, for arrays of any lengths."""
    compiled = compiled_by_symc(kernel, program, arrays)
    return lambda: compiled(*arrays)


def compiled_by_symc(
    kernel: Kernel, program: Program, arrays: tuple[Any, ...], *, declared: bool = False
) -> Any:
    """The function itself, to look into; with `declared` for arrays of these lengths alone."""
    shapes = [x.shape if declared else (None,) * x.ndim for x in arrays]
    pairs = enumerate(zip(arrays, shapes, strict=True))
    inputs = [T.tensor(str(x.dtype), shape, f"x{k}") for k, (x, shape) in pairs]
    unused = "ignore" if declared else "raise"  # of some only the length is used
    return symc.function(inputs, program(*inputs), name=kernel.name, on_unused_input=unused)


def made_by_numpy(kernel: Kernel, program: Program, arrays: tuple[Any, ...]) -> Call:
    """The program as it is."""
    return lambda: program(*arrays)


def made_by_numba(kernel: Kernel, program: Program, arrays: tuple[Any, ...]) -> Call:
    """The loops, compiled for the types of these arrays."""
    compiled = module("numba").njit(program)
    return lambda: compiled(*arrays)


def made_by_jax(kernel: Kernel, program: Program, arrays: tuple[Any, ...]) -> Call:
    """The program compiled, for arrays of these lengths that are JAX's own already."""
    jax = module("jax")
    jax.config.update("jax_enable_x64", True)
    compiled, own = jax.jit(program), [jax.device_put(x) for x in arrays]
    return lambda: compiled(*own).block_until_ready()


Make: TypeAlias = Callable[[Kernel, Program, tuple[Any, ...]], Call]

# The package, how a call is made of a form, and the form.
CONTESTANTS: dict[str, tuple[str, Make, str]] = {
    "symc": ("symc", made_by_symc, "symc"),
    "NumPy": ("numpy", made_by_numpy, "numpy"),
    "numba": ("numba", made_by_numba, "loops"),
    "JAX": ("jax", made_by_jax, "jax"),
}
