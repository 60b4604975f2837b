"""The suite of ``python -m symc bench``: the same work by symc, NumPy and who else is installed.

A piece of work is written once for each contestant, in its own words. Contestants run in this
process, in turns, on the same arrays; each must give NumPy's results. `benchmarks/` in a checkout
has the larger suite, with a process for each contestant and goals to reach.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from symc import tensor as T
from symc.calls.function import function
from symc.codegen.record import record
from symc.codegen.targets.compiler import cores, cpu
from symc.derivatives.grad import grad
from symc.graph.node import Array, Tensor
from symc.measure.timing import Timing, timed
from symc.measure.words import duration, table
from symc.version import VERSION

Call: TypeAlias = Callable[..., Any]
Tick: TypeAlias = Callable[[str], None]
PACKAGES = {"symc": "symc", "NumPy": "numpy", "JAX": "jax", "PyTorch": "torch", "Numba": "numba"}


@record
class Work:
    """Something to compute: its arguments, and who computes it how.

    Each maker imports its package and gives a function of the arrays.
    """

    name: str
    title: str
    arguments: Callable[[], Sequence[Array]]
    makers: Mapping[str, Callable[[], Call]]
    tolerance: float = 1e-9


@record
class Entry:
    """One contestant's figures: seconds until the first result, then of each call."""

    first: float
    steady: Timing


@record
class Outcome:
    """The figures of all who took part in a piece of work, and why others did not."""

    work: str
    title: str
    entries: dict[str, Entry]
    failures: dict[str, str]

    def pays_after(self, name: str) -> int | None:
        """After how many calls a contestant has taken less time in all than NumPy; None: never."""
        entry, plain = self.entries[name], self.entries.get("NumPy")
        if plain is None or entry.steady.median >= plain.steady.median:
            return None
        lost = entry.first - plain.first
        return max(1, 1 + math.ceil(lost / (plain.steady.median - entry.steady.median)))


def measure(work: Work, seconds: float, tick: Tick) -> Outcome:
    """Has all contestants that are installed do a piece of work, in turns."""
    arrays = list(work.arguments())
    right = np.asarray(work.makers["NumPy"]()(*arrays))
    calls: dict[str, Call] = {}
    first: dict[str, float] = {}
    failures: dict[str, str] = {}
    for name, maker in work.makers.items():
        tick(f"{work.name}: {name}")
        if importlib.util.find_spec(PACKAGES[name]) is None:
            continue
        started = time.perf_counter()
        try:
            call = maker()
            found = np.asarray(call(*arrays))
            first[name] = time.perf_counter() - started
            np.testing.assert_allclose(found, right, rtol=work.tolerance, atol=work.tolerance)
        except Exception as error:
            failures[name] = f"{type(error).__name__}: {error}".strip()
        else:
            calls[name] = call
    tick(f"{work.name}: in turns")
    steady = timed({name: _bound(call, arrays) for name, call in calls.items()}, seconds)
    entries = {name: Entry(first[name], steady[name]) for name in calls}
    return Outcome(work.name, work.title, entries, failures)


def _bound(call: Call, arrays: Sequence[Array]) -> Callable[[], object]:
    return lambda: call(*arrays)


def as_text(outcomes: Sequence[Outcome]) -> str:
    """A table: for each piece of work the median call and the first result of everybody."""
    rows = [["", "a call", "quartiles", "best", "times symc's", "first result", "pays after"]]
    for outcome in outcomes:
        rows.append([outcome.title, *[""] * 6])
        ours = outcome.entries.get("symc")
        for name, entry in outcome.entries.items():
            ratio = "-" if ours is None else f"{entry.steady.median / ours.steady.median:.2f}"
            between = " to ".join(map(duration, entry.steady.quartiles))
            rows.append([
                f"  {name}", duration(entry.steady.median), between,
                duration(entry.steady.best), ratio, duration(entry.first),
                _calls(outcome, name),
            ])  # fmt: skip
        rows += [
            [f"  {name}: {why.splitlines()[0]}"[:60], *[""] * 6]
            for name, why in outcome.failures.items()
        ]
    return table(rows)


def _calls(outcome: Outcome, name: str) -> str:
    """After how many calls compiling has paid, in words."""
    if name == "NumPy":
        return "-"
    calls = outcome.pays_after(name)
    return "never" if calls is None else f"{calls:,} calls"


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """All figures, in seconds, the versions of the packages, and the machine."""
    from importlib.metadata import version
    from platform import python_version

    installed = {n: p for n, p in PACKAGES.items() if importlib.util.find_spec(p) is not None}
    return {
        "versions": {
            name: VERSION if package == "symc" else version(package)
            for name, package in installed.items()
        },
        "machine": {"processor": cpu()[0], "cores": cores(), "python": python_version()},
        "work": {
            outcome.work: {
                "title": outcome.title,
                "failures": outcome.failures,
                "seconds": {
                    name: {"first": entry.first, **entry.steady.as_json()}
                    for name, entry in outcome.entries.items()
                },
            }
            for outcome in outcomes
        },
    }


# --- how contestants make functions ---------------------------------------------------------------

# A formula is a function of a module with NumPy's names, and of its arrays.
Formula: TypeAlias = Callable[..., Any]


def by_numpy(formula: Formula) -> Callable[[], Call]:
    """A maker of a function of NumPy."""
    return lambda: partial(formula, np)


def by_jax(formula: Formula) -> Callable[[], Call]:
    """A maker of a jitted function in JAX, in float64."""

    def make() -> Call:
        jax: Any = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
        jitted = jax.jit(partial(formula, importlib.import_module("jax.numpy")))

        def call(*arrays: Array) -> Any:
            return jitted(*arrays).block_until_ready()

        return call

    return make


def by_torch(formula: Formula) -> Callable[[], Call]:
    """A maker of a function of PyTorch, not compiled."""

    def make() -> Call:
        torch: Any = importlib.import_module("torch")

        def call(*arrays: Array) -> Any:
            return formula(torch, *map(torch.from_numpy, arrays)).numpy()

        return call

    return make


def by_numba(loops: Call) -> Callable[[], Call]:
    """A maker of a function that Numba compiles."""

    def make() -> Call:
        numba: Any = importlib.import_module("numba")
        compiled: Call = numba.njit(loops)
        return compiled

    return make


# --- the work -------------------------------------------------------------------------------------


def wave(xp: Any, x: Any) -> Any:
    """Elementwise."""
    return xp.exp(-x * x) * xp.sin(3 * x) + xp.log1p(xp.abs(x))


def wave_by_symc() -> Call:
    """As `wave`."""
    x = T.vector("x")
    found: Tensor = wave(T, x)
    return function([x], found, name="wave")


def wave_in_loops(x: Any) -> Any:
    """As `wave`."""
    result = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        a = x[i]
        result[i] = np.exp(-a * a) * np.sin(3 * a) + np.log1p(abs(a))
    return result


def softmax(xp: Any, x: Any) -> Any:
    """Of each row."""
    powers = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def softmax_by_symc() -> Call:
    """As `softmax`."""
    x = T.matrix("x")
    return function([x], T.softmax(x, axis=1), name="softmax")


def softmax_by_torch(torch: Any, x: Any) -> Any:
    """As `softmax`."""
    return torch.softmax(x, dim=1)


def slope(xp: Any, x: Any, y: Any, w: Any) -> Any:
    """The gradient of logistic regression, by hand."""
    return x.T @ (1 / (1 + xp.exp(-(x @ w))) - y) / y.shape[0]


def slope_by_symc() -> Call:
    """As `slope`, by `symc.grad`."""
    x, y, w = T.matrix("x"), T.vector("y"), T.vector("w")
    p = T.sigmoid(x @ w)
    cost = -(y * T.log(p) + (1 - y) * T.log(1 - p)).mean()
    return function([x, y, w], grad(cost, w), name="slope")


def slope_in_numba(x: Any, y: Any, w: Any) -> Any:
    """As `slope`."""
    return x.T @ (1 / (1 + np.exp(-(x @ w))) - y) / y.shape[0]


def nearest(xp: Any, x: Any, y: Any) -> Any:
    """The distance from each point of x to the nearest of y."""
    return xp.amin(xp.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(2)), 1)


def nearest_by_symc() -> Call:
    """As `nearest`."""
    x, y = T.matrix("x"), T.matrix("y")
    squares = ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)
    return function([x, y], T.sqrt(squares).min(axis=1), name="nearest")


def nearest_in_loops(x: Any, y: Any) -> Any:
    """As `nearest`."""
    result = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        best = np.inf
        for j in range(y.shape[0]):
            square = 0.0
            for k in range(x.shape[1]):
                square += (x[i, k] - y[j, k]) ** 2
            best = min(best, square)
        result[i] = np.sqrt(best)
    return result


def normal(*shapes: tuple[int, ...]) -> Callable[[], Sequence[Array]]:
    """Makes arrays of these shapes, the same ones each time."""
    return lambda: [np.random.default_rng(n).standard_normal(s) for n, s in enumerate(shapes)]


def samples() -> Sequence[Array]:
    """Points, on which side of a plane they are, and the plane."""
    x, w = normal((2000, 50), (50,))()
    return [x, (x @ w > 0).astype(float), w]


WORK = (
    Work(
        "wave", "exp(-x*x) * sin(3*x) + log1p(|x|), 100,000 numbers", normal((100_000,)),
        {
            "symc": wave_by_symc, "NumPy": by_numpy(wave), "JAX": by_jax(wave),
            "PyTorch": by_torch(wave), "Numba": by_numba(wave_in_loops),
        },
    ),
    Work(
        "softmax", "softmax of each row, 1,000 x 100", normal((1000, 100)),
        {
            "symc": softmax_by_symc, "NumPy": by_numpy(softmax), "JAX": by_jax(softmax),
            "PyTorch": by_torch(softmax_by_torch),
        },
    ),
    Work(
        "slope", "gradient of logistic regression, 2,000 x 50", samples,
        {
            "symc": slope_by_symc, "NumPy": by_numpy(slope), "JAX": by_jax(slope),
            "PyTorch": by_torch(slope), "Numba": by_numba(slope_in_numba),
        },
    ),
    Work(
        "nearest", "distance to the nearest of 200 points, 500 x 3", normal((500, 3), (200, 3)),
        {
            "symc": nearest_by_symc, "NumPy": by_numpy(nearest), "JAX": by_jax(nearest),
            "PyTorch": by_torch(nearest), "Numba": by_numba(nearest_in_loops),
        },
    ),
)  # fmt: skip
