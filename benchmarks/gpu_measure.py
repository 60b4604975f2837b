"""How `gpu.py` measures: arrays, checks, and times of kernels and of calls.

Times of kernels are taken by events on the default stream, which is PyTorch's as well. Before each
batch of calls the device is given something to do, so that the host is ahead of it and no time
passes between the kernels; a batch takes milliseconds, so that the cache's contents before it do
not matter. Contestants take turns, batch by batch.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from statistics import median
from typing import Any

import numpy as np

import symc
import symc.cuda

MIB = 1 << 20
BATCH = 2e-3  # seconds
Call = Callable[[], object]


@dataclass
class Line:
    """One row: symc's time, the one it is compared with, and the goal for the ratio."""

    name: str
    seconds: float
    against: str
    ratio: float
    goal: str
    reached: bool
    more: dict[str, float] = field(default_factory=dict[str, float])
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Setting:
    """The device to measure on, and the amount of work."""

    device: symc.cuda.Device
    tiny: bool
    repetitions: int

    def elements(self, count: int) -> int:
        """A number of elements, on the simulator a small one."""
        return min(count, 4096) if self.tiny else count

    def array(self, *shape: int, seed: int = 0) -> symc.cuda.DeviceArray:
        """A device array of float32 between -1 and 1."""
        values = np.random.default_rng(seed).random(shape, np.float32) * 2 - 1
        return symc.cuda.asarray(values, device=self.device)

    def compiled(self, inputs: Sequence[Any], outputs: Any, **more: Any) -> Any:
        """A function whose arrays stay on the device."""
        return symc.function(list(inputs), outputs, device=self.device.name, on_device=True, **more)

    def poison(self, size: int) -> None:
        """Fill the memory that the next result of so many bytes gets with NaN."""
        memory = self.device.allocate(size)
        with self.device:
            self.device.driver.fill(memory.address, 0xFF, size, self.device.stream)


@cache
def copies(setting: Setting, count: int) -> list[Call]:
    """Copies within the device, each of so many numbers of float32, between different places."""
    pairs = [(setting.array(count, seed=k), setting.array(count, seed=k + 9)) for k in range(2)]

    def copy(source: symc.cuda.DeviceArray, target: symc.cuda.DeviceArray) -> None:
        with setting.device as device:
            device.driver.copy(target.ptr, source.ptr, source.nbytes, device.stream)

    return [partial(copy, *pair) for pair in pairs]


def check(name: str, got: Any, wanted: Any, tolerance: float = 2e-5) -> None:
    """Raise unless a result is NumPy's in float64."""
    value, wanted = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
    if value.shape != wanted.shape:
        raise AssertionError(f"{name}: a result of shape {value.shape}, not {wanted.shape}")
    scale = float(np.abs(wanted).max()) or 1.0
    error = float(np.abs(value - wanted).max()) / scale
    if not error <= tolerance:
        raise AssertionError(f"{name}: wrong result, error {error}")


# --- time on the device ---------------------------------------------------------------------------


def compare(setting: Setting, contestants: Mapping[str, Sequence[Call]]) -> dict[str, list[float]]:
    """For each contestant the seconds of one call, on the device, of each batch.

    The calls of a contestant are its work on several sets of arrays, in turn.
    """
    device, driver = setting.device, setting.device.driver
    filler = device.allocate(4096 if setting.tiny else 1024 * MIB)
    for calls in contestants.values():
        warm_up(setting, calls)
    found: dict[str, list[float]] = {name: [] for name in contestants}
    with device:
        start, end = driver.event_create(timing=True), driver.event_create(timing=True)

        def batch(calls: Sequence[Call], count: int) -> float:
            for _ in range(2):
                driver.fill(filler.address, 0, filler.size, device.stream)
            driver.event_record(start, device.stream)
            for number in range(count):
                calls[number % len(calls)]()
            driver.event_record(end, device.stream)
            driver.event_synchronize(end)
            return driver.milliseconds(start, end) / 1e3 / count

        counts: dict[str, int] = {}
        for name, calls in contestants.items():
            once = batch(calls, len(calls))
            counts[name] = max(len(calls), 1 if setting.tiny else min(int(BATCH / once), 200))
        for _ in range(setting.repetitions):
            for name, calls in contestants.items():
                found[name].append(batch(calls, counts[name]))
        driver.event_destroy(start)
        driver.event_destroy(end)
    return found


def warm_up(setting: Setting, calls: Sequence[Call]) -> None:
    """Call until code is loaded, memory is had, and the card runs at the clock of its work."""
    started = time.perf_counter()
    for call in calls:
        call()
        setting.device.synchronize()
    while not setting.tiny and time.perf_counter() - started < 0.1:
        for call in calls:
            call()
        setting.device.synchronize()


def spread(seconds: Sequence[float]) -> float:
    """How far the times are apart, but for the tenth at either end, as a part of their median."""
    ordered = sorted(seconds)
    cut = len(ordered) // 10
    return (ordered[-1 - cut] - ordered[cut]) / median(ordered)


def bandwidth(
    setting: Setting, name: str, function: Any, inputs: Sequence[Sequence[Any]], moved: int,
    goal: float, peers: Mapping[str, Sequence[Call]] | None = None,
) -> tuple[Line, dict[str, float]]:  # fmt: skip
    """A row for a function that memory should limit, and the seconds of the peers.

    `moved` counts the bytes that must be read and written once. The copy is of arrays as long as
    the first input, read and written.
    """
    count = int(inputs[0][0].size)
    contestants = {
        "symc": [partial(function, *arrays) for arrays in inputs],
        "copy": copies(setting, count), **(peers or {}),
    }  # fmt: skip
    found = compare(setting, contestants)
    seconds = {who: median(times) for who, times in found.items()}
    rate, copied = moved / seconds["symc"], 8 * count / seconds["copy"]
    more = {"GB/s": rate / 1e9, "copy GB/s": copied / 1e9, "spread": spread(found["symc"])}
    reached = rate >= goal * copied
    text = f">= {goal:.0%} of a copy"
    line = Line(name, seconds["symc"], "device copy", rate / copied, text, reached, more)
    return line, {who: seconds[who] for who in peers or {}}


# --- time of the host -----------------------------------------------------------------------------


def wall(setting: Setting, call: Call, times: int) -> float:
    """Seconds of the host until a call returns, the median of rounds that are then waited for."""
    found: list[float] = []
    for _ in range(max(3, setting.repetitions // 2)):
        call()
        setting.device.synchronize()
        started = time.perf_counter()
        for _ in range(times):
            call()
        found.append((time.perf_counter() - started) / times)
        setting.device.synchronize()
    return median(found)


def in_turn(setting: Setting, contestants: Mapping[str, Call], times: int) -> dict[str, float]:
    """Seconds of a call of each that waits for the device itself: medians of rounds in turn."""
    for call in contestants.values():
        for _ in range(1 if setting.tiny else 5):
            call()
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(max(3, setting.repetitions // 2)):
        for name, call in contestants.items():
            started = time.perf_counter()
            for _ in range(times):
                call()
            found[name].append((time.perf_counter() - started) / times)
    return {name: median(times) for name, times in found.items()}


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """Raises TimeoutError in a block that takes longer, such as a peer's compilation."""

    def late(*_: object) -> None:
        raise TimeoutError(f"took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
