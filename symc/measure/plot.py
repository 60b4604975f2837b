"""Pictures of benchmarks, by matplotlib, where it is installed."""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symc.measure.benchmark import Benchmark, Series


def draw_benchmark(found: Benchmark, path: str | PathLike[str]) -> Path:
    """The time that is spent after so many calls: cold, from the cache, and by the other."""
    figure, axes = _picture()
    pays = found.break_even or 1000
    calls = [10 ** (k / 8) for k in range(8 * max(3, len(str(pays)) + 1) + 1)]
    late = found.first_call - found.steady.median
    lines = {
        "compiled": found.cold.total + late, "from the cache": found.warm.total + late,
    }  # fmt: skip
    for label, start in lines.items():
        axes.plot(calls, [start + n * found.steady.median for n in calls], label=label)
    if found.against is not None:
        axes.plot(calls, [n * found.against.median for n in calls], "--", label="compared with")
        if found.break_even is not None:
            axes.axvline(found.break_even, color="gray", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="calls", ylabel="seconds", title=found.name)
    return _saved(figure, axes, path)


def draw_series(series: Series, path: str | PathLike[str]) -> Path:
    """The median of each size or mode, with its quartiles."""
    figure, axes = _picture()
    names = [what for what, _ in series.points]
    places = names if series.what == "size" else list(range(len(names)))
    for label, timings in (
        ("symc", [made.steady for _, made in series.points]),
        ("compared with", [made.against for _, made in series.points]),
    ):
        known = [(place, t) for place, t in zip(places, timings, strict=True) if t is not None]
        if known:
            middles = [t.median for _, t in known]
            low = [t.median - t.quartiles[0] for _, t in known]
            high = [t.quartiles[1] - t.median for _, t in known]
            axes.errorbar([p for p, _ in known], middles, yerr=[low, high], fmt="o-", label=label)
    axes.set(yscale="log", xlabel=series.what, ylabel="seconds a call")
    if series.what == "size":
        axes.set_xscale("log")
    else:
        axes.set_xticks(places, names)
    return _saved(figure, axes, path)


def draw_bars(rows: Mapping[str, Mapping[str, float]], path: str | PathLike[str]) -> Path:
    """For each row of names and figures a group of bars."""
    figure, axes = _picture()
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    width = 0.8 / max(1, len(names))
    for number, name in enumerate(names):
        places = [k + number * width for k, row in enumerate(rows.values()) if name in row]
        axes.bar(places, [row[name] for row in rows.values() if name in row], width, label=name)
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(rows))], list(rows))
    axes.set(yscale="log", ylabel="seconds a call")
    return _saved(figure, axes, path)


def matplotlib() -> Any:
    """The module that makes figures which no window shows."""
    try:
        return importlib.import_module("matplotlib.figure")
    except ImportError:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install matplotlib"
        ) from None


def _picture() -> tuple[Any, Any]:
    """A figure and its axes."""
    figure = matplotlib().Figure(figsize=(7, 4.5), layout="constrained")
    return figure, figure.subplots()


def _saved(figure: Any, axes: Any, path: str | PathLike[str]) -> Path:
    axes.grid(visible=True, which="major", linewidth=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)
    return Path(path)
