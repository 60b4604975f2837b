"""PyMC models compiled by symc and by PyTensor's own modes: `python benchmarks/pymc.py`.

In one process: builds log density and gradient of each model in each mode, compares the values,
then times calls, all modes in turn, round by round. symc's own part of a build, of which the table
has the part without a cache and with one, is what its linker takes: conversion, compilation, the C
compiler. In its place `--sample` times `pm.sample` in processes of their own, from the script's
start, with caches empty and then filled; `--rewrites` compares
`symc.pytensor.mode(rewrites="few")` with the mode "SYMC": builds from a filled cache, in turns, and
calls; `--fresh` gives symc's own part with a filled cache in new processes. Seconds are of
processor time, but for those of calls. Prints a table in Markdown; `--json FILE` writes all the
figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

# This file is called like the package that it measures, and Python looks here first.
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).parent]
sys.path.insert(0, str(Path(__file__).parent.parent))

import argparse  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402
import statistics  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

ROUNDS, SECONDS_A_ROUND = 60, 0.005
BUILDS = 3


def built(model: Any, mode: Any) -> tuple[Any, dict[str, float]]:
    """The compiled log density and gradient, and how long that took up to the first result."""
    start, cpu = time.perf_counter(), cpu_seconds()
    with linking_timed() as own:
        function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)._pytensor_function
    function.trust_input = True
    function(points(model)[0])
    figures = {"wall": time.perf_counter() - start, "cpu": cpu_seconds() - cpu}
    if mode == "SYMC":
        import symc.pytensor

        figures["own"] = sum(own)
        figures["hit"] = float(all(f.hit for f in symc.pytensor.functions(function)))
    return function, figures


@contextmanager
def linking_timed() -> Iterator[list[float]]:
    """Gives a list that receives the seconds of each graph that symc makes functions of."""
    from symc.pytensor import SymcLinker

    seconds: list[float] = []
    convert = SymcLinker.fgraph_convert

    def timed_convert(self: Any, fgraph: Any, **options: Any) -> Any:
        start = cpu_seconds()
        made = convert(self, fgraph, **options)
        seconds.append(cpu_seconds() - start)
        return made

    SymcLinker.fgraph_convert = timed_convert
    try:
        yield seconds
    finally:
        SymcLinker.fgraph_convert = convert


def cpu_seconds() -> float:
    """Processor time of this process and of those it has waited for, compilers among them."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def points(model: Any, count: int = 3) -> list[Any]:
    """Points near 0 to evaluate at."""
    start = model.initial_point(0)
    size = sum(np.size(start[v.name]) for v in model.continuous_value_vars)
    return [np.random.default_rng(seed).normal(size=size) * 0.3 for seed in range(count)]


def worst_difference(a: Any, b: Any, at: list[Any]) -> float:
    """The largest relative difference of values and gradients."""
    found = 0.0
    for x in at:
        for p, q in zip(a(x), b(x), strict=True):
            p, q = np.asarray(p, float), np.asarray(q, float)
            found = max(found, float(np.max(np.abs(p - q) / np.maximum(1.0, np.abs(p)))))
    return found


def timed(functions: dict[str, Any], x: Any) -> dict[str, float]:
    """Seconds of a call: the fastest round of each, the rounds taking turns."""
    counts: dict[str, int] = {}
    functions = {mode: _finished(f, x) for mode, f in functions.items()}
    for mode, f in functions.items():
        # As many as fit, not an estimate by the first few, which take many times as long.
        counts[mode], end = 0, time.perf_counter() + SECONDS_A_ROUND
        while counts[mode] < 2 or time.perf_counter() < end:
            f(x)
            counts[mode] += 1
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(ROUNDS):
        for mode, f in functions.items():
            start = time.perf_counter()
            for _ in range(counts[mode]):
                f(x)
            best[mode] = min(best[mode], (time.perf_counter() - start) / counts[mode])
    return best


def _finished(f: Any, x: Any) -> Any:
    """The function, or one that waits for its results: JAX gives arrays that are computed later."""
    if all(isinstance(made, np.ndarray | np.generic) for made in f(x)):
        return f
    return lambda x: [np.asarray(made) for made in f(x)]


def measured(make: Any, modes: list[str]) -> dict[str, Any]:
    """All figures of one model."""
    row: dict[str, Any] = {"model": make.__name__}
    functions: dict[str, Any] = {}
    for mode in modes:
        try:
            functions[mode], row[f"build {mode}"] = built(make(), mode)
        except Exception as problem:
            row[f"error {mode}"] = f"{type(problem).__name__}: {str(problem)[:200]}"
    model = make()
    if "SYMC" in functions:
        warm = [built(make(), "SYMC")[1] for _ in range(BUILDS)]
        row["warm SYMC"] = {key: min(figures[key] for figures in warm) for key in warm[0]}
    other = next((f for mode, f in functions.items() if mode != "SYMC"), None)
    if other is not None and "SYMC" in functions:
        row["difference"] = worst_difference(other, functions["SYMC"], points(model))
    row["call"] = timed(functions, points(model)[0])
    return row


def rewrites_compared(make: Any) -> dict[str, Any]:
    """One model with all of PyTensor's rewrites and with few: the best of builds, and calls."""
    import symc.pytensor

    modes = {"all": "SYMC", "few": symc.pytensor.mode(rewrites="few")}
    functions = {name: built(make(), mode)[0] for name, mode in modes.items()}  # fills the cache
    build = dict.fromkeys(modes, float("inf"))
    for _ in range(BUILDS):
        for name, mode in modes.items():
            build[name] = min(build[name], built(make(), mode)[1]["cpu"])
    at = points(make())
    call = timed(functions, at[0])
    difference = worst_difference(functions["all"], functions["few"], at)
    return {"model": make.__name__, "difference": difference, "build": build, "call": call}


def rewrites_shown(rows: list[dict[str, Any]]) -> str:
    """The table of `rewrites_compared`, and what comes out for all models together."""
    head = ["model", "difference", "build all s", "build few s", "few / all"]
    head += ["call all us", "call few us", "few / all"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    ratios: dict[str, list[float]] = {"build": [], "call": []}
    for row in rows:
        cells = [row["model"], f"{row['difference']:.0e}"]
        for what, unit, digits in (("build", 1.0, 2), ("call", 1e6, 1)):
            both = row[what]
            ratios[what].append(both["few"] / both["all"])
            cells += [f"{unit * both[name]:.{digits}f}" for name in ("all", "few")]
            cells.append(f"{ratios[what][-1]:.2f}")
        lines.append("| " + " | ".join(cells) + " |")
    sums = {name: sum(row["build"][name] for row in rows) for name in ("all", "few")}
    lines.append(f"\nbuilds together, few / all: {sums['few'] / sums['all']:.2f}")
    for what, found in ratios.items():
        mean = statistics.geometric_mean(found)
        lines.append(f"{what}: {min(found):.2f} to {max(found):.2f}, geometric mean {mean:.2f}")
    return "\n".join(lines)


def shown(rows: list[dict[str, Any]], modes: list[str]) -> str:
    """The table: seconds of processor time for builds, microseconds for calls."""
    others = [m for m in modes if m != "SYMC"]
    head = ["model", "difference", "own cold s", "own warm ms", "build warm SYMC s"]
    head += [f"build {m} s" for m in modes]
    head += [f"call {m} us" for m in modes] + ["best other / SYMC"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    ratios: list[float] = []
    for row in rows:
        call = row["call"]
        best = min((call[m] for m in others if m in call), default=float("nan"))
        ratio = best / call["SYMC"] if "SYMC" in call else float("nan")
        ratios += [ratio] if ratio == ratio else []
        cells = [row["model"], f"{row.get('difference', float('nan')):.0e}"]
        for k, key, unit, digits in (
            ("build SYMC", "own", 1, 2), ("warm SYMC", "own", 1000, 0), ("warm SYMC", "cpu", 1, 2)
        ):  # fmt: skip
            cells.append(f"{unit * row[k][key]:.{digits}f}" if k in row else "-")
        cells += [f"{row[f'build {m}']['cpu']:.2f}" if f"build {m}" in row else "-" for m in modes]
        cells += [f"{1e6 * call[m]:.1f}" if m in call else "-" for m in modes]
        lines.append("| " + " | ".join([*cells, f"{ratio:.2f}"]) + " |")
    if ratios:
        lines.append(
            f"\ngeometric mean of the last column: {statistics.geometric_mean(ratios):.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measures what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="names of models (default: all)")
    parser.add_argument("--modes", default="SYMC,NUMBA,CVM,JAX")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--draws", type=int, default=1000, help="of a chain, with --sample")
    parser.add_argument("--limit", type=float, default=300, help="seconds of a run of --sample")
    parser.add_argument("--rewrites", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    modes: list[str] = given.modes.split(",")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYMC_CACHE_DIR"] = folder  # so that the first build is a cold one
        import symc.pytensor  # noqa: F401 -- registers the mode
        from benchmarks import pymc_fresh, pymc_sampling
        from benchmarks.pymc_models import MODELS

        wanted = [m for m in MODELS if not given.models or m.__name__ in given.models]
        rows: list[dict[str, Any]] = []
        for make in wanted:
            if given.sample:
                name = make.__name__
                sample = pymc_sampling.compared(name, modes, given.draws, given.limit)
                row = {"model": name, "sample": sample}
            elif given.rewrites:
                row = rewrites_compared(make)
            elif given.fresh:
                row = pymc_fresh.measured(make.__name__, pymc_sampling.bytecode())
            else:
                row = measured(make, modes)
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    if given.sample:
        print(pymc_sampling.shown(rows, modes))
    elif given.fresh:
        print(pymc_fresh.shown(rows))
    else:
        print(rewrites_shown(rows) if given.rewrites else shown(rows, modes))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
