"""The table at the end: the cost of compiling, and its gain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from symc.demo.training import Result

Row = tuple[str, Callable[[Result], str]]


def table(results: Sequence[Result]) -> str:
    """One column for each model."""
    stages = list(dict.fromkeys(stage for r in results for stage in r.model.step.seconds))
    rows: list[Row] = [
        ("right on held-out digits", lambda r: f"{r.accuracy:.1%}"),
        ("graph nodes before rewriting", lambda r: _fact(r, "nodes_before")),
        ("graph nodes after rewriting", lambda r: _fact(r, "nodes_after")),
        ("kernels", lambda r: _fact(r, "kernels")),
        *((f"making it: {stage}", _stage(stage)) for stage in stages),
        ("making it: imports", lambda r: milliseconds(_unaccounted(r))),
        ("making it: total", lambda r: milliseconds(r.model.seconds)),
        ("a step, symc", lambda r: microseconds(r.seconds_per_step)),
        ("a step, NumPy", lambda r: microseconds(r.numpy_seconds_per_step)),
        ("NumPy's time / symc's", lambda r: f"{_ratio(r):.1f}"),
        ("difference of the losses", lambda r: f"{r.difference:.0e}"),
        ("steps trained", lambda r: f"{r.steps:,}"),
        ("steps until making it paid", _paid),
    ]
    lines = [["", *(r.model.name for r in results)]]
    lines += [[title, *(cell(r) for r in results)] for title, cell in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(_line(line, widths) for line in lines)


def origin(results: Sequence[Result]) -> str:
    """Which functions came from the cache, and where all of them lie."""
    functions = [f for r in results for f in (r.model.step, r.model.predict)]
    width = max(len(f.name) for f in functions)
    lines = ["The generated C, a folder for each function:"]
    lines += [f"  {f.name:{width}}  {f.folder or '(interpreted)'}" for f in functions]
    made = sum(not f.hit for f in functions)
    if made:
        lines.append(
            f"{made} of {len(functions)} functions were made; "
            "run this again, and everything comes from the cache."
        )
    else:
        lines.append(
            f"Everything came from the cache: {len(functions)} functions, and none was made."
        )
    return "\n".join(lines)


def milliseconds(seconds: float) -> str:
    """A time in ms."""
    return f"{seconds * 1e3:.1f} ms"


def microseconds(seconds: float) -> str:
    """A time in us."""
    return f"{seconds * 1e6:.0f} us"


def _fact(result: Result, name: str) -> str:
    return str(result.model.step.facts.get(name, "-"))


def _stage(stage: str) -> Callable[[Result], str]:
    def cell(result: Result) -> str:
        seconds = result.model.step.seconds.get(stage)
        return "-" if seconds is None else milliseconds(seconds)

    return cell


def _unaccounted(result: Result) -> float:
    """Time that no stage has counted: the first function imports the compiler."""
    return result.model.seconds - sum(result.model.step.seconds.values())


def _ratio(result: Result) -> float:
    return result.numpy_seconds_per_step / result.seconds_per_step


def _paid(result: Result) -> str:
    steps = result.steps_until_paid
    return "never" if steps == float("inf") else f"{math.ceil(steps):,}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    return "  ".join([f"{first[0]:<{first[1]}}", *(f"{cell:>{width}}" for cell, width in rest)])
