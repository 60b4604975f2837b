"""How long compiling took, stage by stage, and how long a call takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symc.codegen.amounts import Amount, sizes_of, work_of
from symc.codegen.ir import Launch
from symc.report.contents import Contents
from symc.report.markup import Child, Html, facts, link, section, tag

if TYPE_CHECKING:
    from symc.callable import Function

LONGEST = 500.0  # pixels
ENOUGH = 0.2  # seconds that calls are timed for


def compile_section(function: Function) -> Html:
    """A bar for each stage of making the function."""
    seconds = function.seconds
    if not seconds:
        return section("compiling", "Compiling", tag("p", "The interpreter runs this function."))
    longest = max(seconds.values())
    rows = [
        tag(
            "tr",
            tag("td", stage),
            tag("td", f"{1e3 * value:.1f} ms"),
            tag("td", _bar(LONGEST * value / longest)),
        )
        for stage, value in seconds.items()
    ]
    origin = "It came from the cache." if function.hit else "It was compiled in this process."
    total = f"{origin} {1e3 * sum(seconds.values()):.1f} ms in all."
    return section("compiling", "Compiling", tag("p", total), tag("table", *rows))


def _bar(width: float) -> Html:
    rect = tag("rect", width=max(width, 1.0), height=12, class_="bar")
    return tag("svg", rect, width=LONGEST, height=12)


def best_seconds(function: Function, example: Sequence[Any]) -> float:
    """The time of the fastest of several calls."""
    best, spent = float("inf"), 0.0
    while spent < ENOUGH:
        started = time.perf_counter()
        function(*example)
        taken = time.perf_counter() - started
        best, spent = min(best, taken), spent + taken
    return best


def calls_section(contents: Contents, example: Sequence[Any] | None) -> Html:
    """The time of a call, and what its kernels move and compute in it."""
    if example is None:
        words = "Give f.report an example=[...] of arguments to see what a call costs."
        return section("calls", "Calls", tag("p", words))
    function = contents.function
    arguments = function.arguments(example)
    best = best_seconds(function, arguments)
    sizes = sizes_of(contents.stages.optimised, _lengths(contents, arguments))
    rows = [tag("tr", *(tag("th", name) for name in ("kernel", "bytes", "operations", "per byte")))]
    moved = computed = 0.0
    for task in contents.tasks:
        if not isinstance(task.step, Launch):
            continue
        work = work_of(contents.stages.optimised, task.step)
        traffic, operations = (work.read + work.written).value(sizes), work.operations.value(sizes)
        if traffic is None or operations is None:
            continue
        moved, computed = moved + traffic, computed + operations
        cells: list[Child] = [link(task.place, task.title), f"{traffic:,.0f}", f"{operations:,.0f}"]
        cells.append(f"{operations / traffic:.2f}" if traffic else "-")
        rows.append(tag("tr", *(tag("td", cell) for cell in cells)))
    total: list[tuple[str, Child]] = [
        ("fastest call", f"{1e6 * best:.1f} us"),
        ("bytes that kernels move", f"{moved:,.0f}"),
        ("that is", f"{moved / best / 1e9:.2f} GB/s, {computed / best / 1e9:.2f} G operations/s"),
    ]
    return section("calls", "Calls", facts(total), tag("table", *rows))


def _lengths(contents: Contents, arguments: Sequence[Any]) -> dict[tuple[str, int], int]:
    """The lengths of the arrays that the program is given."""
    import numpy as np

    program = contents.stages.optimised
    given = [b.name for b in program.buffers if b.role == "input"]
    shared = [b.name for b in program.buffers if b.role == "shared"]
    arrays = [np.shape(value) for value in arguments]
    held = [np.shape(variable.get_value()) for variable in contents.function.shared]
    return {
        (name, axis): length
        for name, shape in zip([*given, *shared], [*arrays, *held], strict=True)
        for axis, length in enumerate(shape)
    }


__all__ = ["Amount", "best_seconds", "calls_section", "compile_section"]
