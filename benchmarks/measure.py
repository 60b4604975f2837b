"""The parts of a measurement. `run.py`, `worker.py` and the cases share these types.

A case has contestants: symc, and its peers. Each runs in processes of its own, which
`run.py` starts and lets take turns, so that other work on the machine slows all alike.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal, TypeAlias

import numpy as np

Facts: TypeAlias = dict[str, Any]


class WrongResult(Exception):
    """A contestant computed something else than NumPy."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """A call to be timed again and again in the same process."""

    function: Callable[..., object]
    args: tuple[object, ...] = ()
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Once:
    """A time that can be taken only once in a process, such as that of a first call."""

    seconds: float
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contestant:
    """Somebody who does the work of a case.

    - `make`: sets up, checks the result against NumPy, names the call to time. Runs in a process
      with the packages of that process for itself.
    - `needs`: the package without which it cannot run.
    - `fresh`: each time is taken in a new process; `make` then returns `Once`.
    - `cache`: the state of symc's cache directory, which is always a temporary one.
    - `most`: take part in no more than this many rounds.
    """

    make: Callable[[], Repeated | Once]
    needs: str | None = None
    fresh: bool = False
    cache: Literal["empty", "filled"] = "filled"
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """The times of one contestant, in seconds: the best of each round."""

    rounds: list[float]
    facts: Facts

    @property
    def best(self) -> float:
        """The least of all rounds."""
        return min(self.rounds)

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return median(self.rounds)


@dataclass(frozen=True, slots=True)
class Results:
    """The times of a case's contestants; those in `absent` took no part, for the reason given."""

    times: Mapping[str, Times]
    absent: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table. `reached` is None where nothing is demanded."""

    what: str
    figure: str
    against: str = ""
    ratio: str = ""
    target: str = ""
    reached: bool | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table of goals."""

    name: str
    title: str
    contestants: Mapping[str, Contestant]
    judge: Callable[[Results], list[Line]]


def stay_on_one_processor() -> None:
    """Keeps this process, the threads and the processes that it starts on one processor.

    Linux's clock of a process misses what its threads are doing on other processors at the moment:
    JAX, which computes on a thread of its own, was charged a tenth of its time. Where affinity
    cannot be set, nothing is done.
    """
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {allowed[os.getpid() % len(allowed)]})  # not all on the same one


def module(name: str) -> Any:
    """A package that may be missing, so that the types of its functions are not looked at."""
    return importlib.import_module(name)


# --- lines ----------------------------------------------------------------------------------------


def show(seconds: float) -> str:
    """A time with its unit and three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def compared(results: Results, *limits: tuple[str, float | None], what: str = "") -> list[Line]:
    """symc's time divided by that of others, each with the largest ratio allowed.

    Two ratios are given: of the minima, which decides, and the median of those of single rounds.
    """
    return [_versus(results, other, limit, what) for other, limit in limits]


def _versus(results: Results, other: str, limit: float | None, what: str) -> Line:
    target = "" if limit is None else f"<= {limit:.3g}"
    mine, theirs = results.times.get("symc"), results.times.get(other)
    figure = absent_text(results, "symc") if mine is None else show(mine.best)
    if theirs is None or mine is None:
        missing = f"{other}: {absent_text(results, other)}" if theirs is None else other
        return Line(what, figure, missing, "", target, None if mine is not None else False)
    ratio = mine.best / theirs.best
    pairs = [a / b for a, b in zip(mine.rounds, theirs.rounds, strict=False)]
    against = f"{other} {show(theirs.best)}"
    reached = None if limit is None else ratio <= limit
    return Line(what, figure, against, f"{ratio:.2f} ({median(pairs):.2f})", target, reached)


def absent_text(results: Results, name: str) -> str:
    """Why a contestant has no time."""
    return results.absent.get(name, "not measured")


def at_most(results: Results, limit: float, *, what: str = "") -> Line:
    """symc's time against a fixed one, in seconds."""
    mine = results.times.get("symc")
    target = f"<= {show(limit)}"
    if mine is None:
        return Line(what, absent_text(results, "symc"), target=target, reached=False)
    return Line(what, show(mine.best), target=target, reached=mine.best <= limit)


def launched(function: Any) -> dict[str, Any]:
    """How many kernels a call runs: of two forms of one, for long rows and for short, one runs."""
    return {"kernels": function.explain().count(". kernel, ")}


def counted(results: Results, fact: str, limit: float | None = None) -> Line:
    """A number that symc's contestant reported, against the largest allowed."""
    mine = results.times.get("symc")
    target = "" if limit is None else f"<= {limit:g}"
    if mine is None:
        return Line(
            fact,
            absent_text(results, "symc"),
            target=target,
            reached=None if limit is None else False,
        )
    value = mine.facts[fact]
    reached = None if limit is None else value <= limit
    return Line(fact, f"{value:.3g}", target=target, reached=reached)


def detail(results: Results, name: str, *facts: str) -> list[Line]:
    """Times that a contestant reported besides, as one line."""
    times = results.times.get(name)
    if times is None:
        return []
    parts = [f"{fact} {show(times.facts[fact])}" for fact in facts if fact in times.facts]
    return [Line("of this", ", ".join(parts))]


# --- checks ---------------------------------------------------------------------------------------


def check(got: object, want: object, *, rtol: float, atol: float = 0.0) -> None:
    """Raises `WrongResult` unless both are equal within the tolerances."""
    given, wanted = np.asarray(got), np.asarray(want)
    if given.shape != wanted.shape:
        raise WrongResult(f"the shape is {given.shape}, not {wanted.shape}")
    if not np.allclose(given, wanted, rtol=rtol, atol=atol):
        worst = float(np.max(np.abs(given.astype(float) - wanted.astype(float))))
        raise WrongResult(f"differs from NumPy by up to {worst:.3g}")


def check_all(got: Sequence[object], want: Sequence[object], *, rtol: float, atol: float) -> None:
    """`check` for several arrays."""
    for given, wanted in zip(got, want, strict=True):
        check(given, wanted, rtol=rtol, atol=atol)
