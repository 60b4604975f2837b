"""`symc.benchmark`: the cost of compiling a function, its gain, and when it pays."""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from symc.calls.callable import Function, compiled_function
from symc.calls.modes import mode_named
from symc.codegen.record import record
from symc.measure.timing import Timing, kept, peak_growth, timed
from symc.measure.words import duration, size, table
from symc.pipeline.library import store_at

if TYPE_CHECKING:
    from symc.measure.rivals import Comparison

Call: TypeAlias = Callable[..., Any]
STAGES = ("key", "rewrite", "schedule", "lower", "passes", "emit", "compile", "load")


@record
class Compiling:
    """The time of making a function: each stage, and from beginning to end, in seconds."""

    stages: dict[str, float]
    total: float


@record
class Benchmark:
    """The figures of `symc.benchmark`; print it, or `plot` it, or keep it as `json`.

    `cold` is making the function with an empty cache, `warm` from the cache. `first_call` is in
    seconds; `steady` has the calls after that, `against` those of the function it is compared with.
    `memory` and `against_memory` are bytes by which the process grew in a call, None where the
    system does not say.
    """

    name: str
    mode: str
    cold: Compiling
    warm: Compiling
    first_call: float
    steady: Timing
    memory: int | None
    against: Timing | None
    against_memory: int | None

    @property
    def speedup(self) -> float | None:
        """The other's time for a call divided by symc's, of medians."""
        return None if self.against is None else self.against.median / self.steady.median

    @property
    def break_even(self) -> int | None:
        """After how many calls compiling has paid; None: never, or there is nothing to compare."""
        return self._calls_that_pay(self.cold)

    @property
    def warm_break_even(self) -> int | None:
        """As `break_even`, of a function that is in the cache."""
        return self._calls_that_pay(self.warm)

    def _calls_that_pay(self, made: Compiling) -> int | None:
        if self.against is None or self.against.median <= self.steady.median:
            return None
        late = max(0.0, self.first_call - self.steady.median)
        return max(1, math.ceil((made.total + late) / (self.against.median - self.steady.median)))

    def as_json(self) -> dict[str, Any]:
        """All figures, in seconds and bytes, for JSON."""
        return {
            "name": self.name, "mode": self.mode,
            "cold": {"stages": self.cold.stages, "total": self.cold.total},
            "warm": {"stages": self.warm.stages, "total": self.warm.total},
            "first_call": self.first_call, "steady": self.steady.as_json(), "memory": self.memory,
            "against": None if self.against is None else self.against.as_json(),
            "against_memory": self.against_memory, "speedup": self.speedup,
            "break_even": self.break_even, "warm_break_even": self.warm_break_even,
        }  # fmt: skip

    @property
    def json(self) -> str:
        """All figures as JSON."""
        return json.dumps(self.as_json(), indent=1)

    def plot(self, path: str | PathLike[str]) -> Path:
        """Draws the time that is spent after so many calls, into a file; needs matplotlib."""
        from symc.measure.plot import draw_benchmark

        return draw_benchmark(self, path)

    def __str__(self) -> str:
        stages = [name for name in STAGES if name in self.cold.stages]
        rows = [["making it", "cold", "warm"]]
        rows += [
            [f"  {name}", duration(self.cold.stages[name]), _or_dash(self.warm.stages.get(name))]
            for name in stages
        ]
        rows.append(
            ["  from beginning to end", duration(self.cold.total), duration(self.warm.total)]
        )
        calls = [["calling it", self.name, "compared with"]]
        calls.append(["  first call", duration(self.first_call), "-"])
        for title, text in (("median", _median), ("quartiles", _quartiles)):
            calls.append([f"  {title}", text(self.steady), text(self.against)])
        calls.append(["  memory at the peak", _bytes(self.memory), _bytes(self.against_memory)])
        head = f"{self.name}, mode {self.mode!r}"
        return "\n".join([head, table(rows), table(calls), *self._verdict()])

    def _verdict(self) -> list[str]:
        if self.speedup is None:
            return []
        if self.break_even is None or self.warm_break_even is None:
            return [f"compiling does not pay: {self.speedup:.2g} times as fast"]
        calls = f"{self.break_even:,} calls, from the cache after {self.warm_break_even:,}"
        return [f"{self.speedup:.3g} times as fast; compiling pays after {calls}"]


@record
class Series:
    """Benchmarks of one function for several sizes, or in several modes."""

    what: str
    """The property that differs: "size" or "mode"."""
    points: tuple[tuple[Any, Benchmark], ...]

    @property
    def growth(self) -> float | None:
        """The power of the size that the time grows with, from the last two sizes."""
        if self.what != "size" or len(self.points) < 2:
            return None
        (small, before), (large, after) = self.points[-2:]
        if small <= 0 or large <= small:
            return None
        return math.log(after.steady.median / before.steady.median) / math.log(large / small)

    def as_json(self) -> dict[str, Any]:
        """All figures, for JSON."""
        points = [{self.what: what, **made.as_json()} for what, made in self.points]
        return {"growth": self.growth, "points": points}

    @property
    def json(self) -> str:
        """All figures as JSON."""
        return json.dumps(self.as_json(), indent=1)

    def plot(self, path: str | PathLike[str]) -> Path:
        """Draws the times into a file; needs matplotlib."""
        from symc.measure.plot import draw_series

        return draw_series(self, path)

    def __str__(self) -> str:
        rows = [
            [self.what, "cold", "median", "quartiles", "compared with", "speed-up", "pays after"]
        ]
        for what, made in self.points:
            speedup = "-" if made.speedup is None else f"{made.speedup:.3g}"
            calls = "-" if made.break_even is None else f"{made.break_even:,} calls"
            rows.append([
                str(what), duration(made.cold.total), _median(made.steady),
                _quartiles(made.steady), _median(made.against), speedup, calls,
            ])  # fmt: skip
        grows = self.growth
        remark = [] if grows is None else [f"at the end, time grows as size ** {grows:.2f}"]
        return "\n".join([table(rows), *remark])


class Benchmarks:
    """Measures compiled functions: call `symc.benchmark` with one and arguments, or its methods.

    It gives a `Benchmark`: the time of compiling beside those of calls, of a `Function` and of
    another function for the same arrays, and after how many calls compiling has paid.

    >>> import numpy as np, symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> f = symc.function([x], T.exp(x).sum(), name="f")
    >>> found = symc.benchmark(f, np.ones(1000), against=np.sum, seconds=0.01)
    >>> found.cold.total > found.warm.total > 0
    True
    >>> print(found)  # doctest: +ELLIPSIS
    f, mode 'default'
    making it ... cold ... warm
    ...
    """

    def __call__(
        self, f: Function, *args: Any, against: Call | None = None, seconds: float = 0.3
    ) -> Benchmark:
        """The times of making and calling a function: compiling against running.

        The function is made anew in a cache of its own, once with nothing in it and once from it;
        then it is called with these arguments for about so many seconds, in turns with `against`,
        a function of NumPy arrays (or whatever else) that computes the same. Shared variables and
        arguments that are given away have their values back afterwards. The cold time is that of a
        process that has compiled before: the first time, importing the compiler comes on top. A
        call on a device is measured until the device is done with it; its memory is not.
        """
        compiled_function(f, "symc.benchmark")
        cold, warm, made = _made_twice(f)
        with kept(f, args) as reset:
            memory = peak_growth(lambda: made(*args)) if f.device == "cpu" else None
            reset()
            fresh = _finished(_again(f))
            started = time.perf_counter()
            fresh(*args)
            first = time.perf_counter() - started
            reset()
            calls: dict[str, Call] = {"symc": lambda: fresh(*args)}
            if against is not None:
                calls["against"] = lambda: against(*args)
            other = None if against is None else peak_growth(calls["against"])
            found = timed(calls, seconds, reset, alone=bool(f.request.given))
        return Benchmark(
            f.name, f.mode, cold, warm, first, found["symc"], memory, found.get("against"), other
        )

    def sizes(
        self,
        f: Function,
        arguments: Callable[[int], Sequence[Any]],
        sizes: Sequence[int],
        *,
        against: Call | None = None,
        seconds: float = 0.3,
    ) -> Series:
        """How time grows: the function on ``arguments(n)`` for each size n.

        >>> import numpy as np, symc, symc.tensor as T
        >>> x = T.vector("x")
        >>> f = symc.function([x], T.exp(x).sum(), name="f")
        >>> found = symc.benchmark.sizes(f, lambda n: [np.ones(n)], [10, 100], seconds=0.01)
        >>> [size for size, _ in found.points]
        [10, 100]
        """
        points: list[tuple[int, Benchmark]] = []
        for n in sizes:
            given = arguments(n)
            if not isinstance(given, list | tuple):
                raise TypeError(f"arguments({n}) must be a list of arguments, not {given!r:.60}")
            points.append((n, self(f, *given, against=against, seconds=seconds)))
        return Series("size", tuple(points))

    def compare(self, f: Call, *arrays: Any, seconds: float = 0.3) -> Comparison:
        """A function written with NumPy's names, by symc, NumPy, JAX, PyTorch and Numba.

        Who is not installed is left out; see `symc.measure.rivals.compare`.
        """
        from symc.measure.rivals import compare

        return compare(f, *arrays, seconds=seconds)

    def modes(
        self,
        f: Function,
        *args: Any,
        modes: Sequence[str] = ("default", "fast", "compile"),
        against: Call | None = None,
        seconds: float = 0.3,
    ) -> Series:
        """The function in several modes: those of `symc.function`, by its names or Theano's."""
        compiled_function(f, "symc.benchmark.modes")
        return Series("mode", tuple(
            (mode, self(_again(f, mode), *args, against=against, seconds=seconds))
            for mode in map(mode_named, modes)
        ))  # fmt: skip


benchmark = Benchmarks()


def _again(f: Function, mode: str | None = None) -> Function:
    """The same function, made anew."""
    return Function(f.request, f.ins, f.form, f.keys, mode or f.mode, takes=f.takes, gives=f.gives)


def _finished(f: Function) -> Call:
    """The function, waiting for its device to be done with a call."""
    if f.device == "cpu":
        return f
    from symc.cuda.devices import device

    found = device(f.device)

    def call(*args: Any) -> Any:
        results = f(*args)
        found.synchronize()
        return results

    return call


def _made_twice(f: Function) -> tuple[Compiling, Compiling, Function]:
    """The function made with an empty cache, and from the cache."""
    with tempfile.TemporaryDirectory(prefix="symc-benchmark-") as folder, store_at(Path(folder)):
        cold, _ = _made(f)
        warm, made = _made(f)
    return cold, warm, made


def _made(f: Function) -> tuple[Compiling, Function]:
    started = time.perf_counter()
    made = _again(f)
    return Compiling(dict(made.seconds), time.perf_counter() - started), made


def _or_dash(seconds: float | None) -> str:
    return "-" if seconds is None else duration(seconds)


def _median(timing: Timing | None) -> str:
    return "-" if timing is None else duration(timing.median)


def _quartiles(timing: Timing | None) -> str:
    return "-" if timing is None else " to ".join(map(duration, timing.quartiles))


def _bytes(count: int | None) -> str:
    return "-" if count is None else size(count)
