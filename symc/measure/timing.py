"""Many times of one call, memory at its peak, and shared variables that stay as they were."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import numpy as np

from symc.codegen.record import record

if TYPE_CHECKING:
    from symc.calls.callable import Function

SAMPLE = 1e-3  # seconds that a sample takes at least, so that the clock's own time does not count
FEWEST = 5  # samples
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


@record
class Timing:
    """The times of one call, in seconds: each sample is the mean of `calls` calls."""

    samples: tuple[float, ...]
    calls: int

    @property
    def best(self) -> float:
        """The least."""
        return min(self.samples)

    @property
    def median(self) -> float:
        """As many samples are above as below."""
        return median(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        """Half of the samples lie between these."""
        if len(self.samples) == 1:
            return self.best, self.best
        low, _, high = quantiles(self.samples, n=4, method="inclusive")
        return low, high

    def as_json(self) -> dict[str, Any]:
        """The figures, for JSON."""
        low, high = self.quartiles
        return {
            "median": self.median, "quartiles": [low, high], "best": self.best,
            "samples": list(self.samples), "calls_per_sample": self.calls,
        }  # fmt: skip


def timed(
    calls: Mapping[str, Callable[[], object]],
    seconds: float,
    reset: Callable[[], None] = lambda: None,
    *,
    alone: bool = False,
) -> dict[str, Timing]:
    """The times of several calls that take turns for so many seconds each.

    So other work on the machine slows all alike. No garbage is collected meanwhile, and `reset`
    is called between samples, which are of one call each if that stands `alone`.
    """
    with collection_off():
        counts = {name: 1 if alone else calls_in_sample(call) for name, call in calls.items()}
        samples: dict[str, list[float]] = {name: [] for name in calls}
        end = time.perf_counter() + seconds * len(calls)
        while time.perf_counter() < end or len(next(iter(samples.values()))) < FEWEST:
            for name, call in calls.items():
                samples[name].append(sample(call, counts[name]))
                reset()
    return {name: Timing(tuple(samples[name]), counts[name]) for name in calls}


def sample(call: Callable[[], object], count: int) -> float:
    """The mean time of so many calls."""
    clock = time.perf_counter
    rounds: Iterable[int] = range(count)
    started = clock()
    for _ in rounds:
        call()
    return (clock() - started) / count


def calls_in_sample(call: Callable[[], object]) -> int:
    """How many calls take about `SAMPLE` seconds."""
    call()
    once = max(sample(call, 1), 1e-9)
    return max(1, round(SAMPLE / once))


@contextmanager
def collection_off() -> Generator[None]:
    """No garbage collection in the block."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# --- memory ---------------------------------------------------------------------------------------


def peak_growth(call: Callable[[], object]) -> int | None:
    """By how many bytes the process grows at the peak of a call; None where Linux is not there.

    Memory that was used before and is free counts as new, as far as the C library gives it back.
    """
    gc.collect()
    with suppress(AttributeError, OSError):
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
    try:
        _CLEAR.write_text("5")  # the peak begins anew
        before = _kilobytes("VmRSS")
        call()
        return max(0, _kilobytes("VmHWM") - before) * 1024
    except (OSError, KeyError):
        return None


def _kilobytes(name: str) -> int:
    lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    found = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(found[name].split()[0])


# --- state ----------------------------------------------------------------------------------------


@contextmanager
def kept(f: Function, arguments: Sequence[Any]) -> Generator[Callable[[], None]]:
    """Shared variables, and arguments that are given away, have the same values after the block.

    Gives a function that gives them these values at once: else thousands of steps of training
    would end at numbers so small that processors are slow with them.
    """
    before = [(variable, variable.get_value()) for variable in f.shared]
    given = [(array, array.copy()) for array in _given(f, arguments)]

    def reset() -> None:
        for variable, value in before:
            variable.set_value(value)
        for array, value in given:
            np.copyto(array, value)

    try:
        yield reset
    finally:
        reset()


def _given(f: Function, arguments: Sequence[Any]) -> list[Any]:
    """The arrays among the arguments that calls may overwrite."""
    pairs = zip(f.request.inputs, f.arguments(arguments), strict=True)
    arrays: list[Any] = [value for x, value in pairs if x in f.request.given]
    return [a for a in arrays if isinstance(a, np.ndarray) and a.flags.writeable]
