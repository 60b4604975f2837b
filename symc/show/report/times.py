"""How long compiling took, stage by stage, and the times of a call and of each of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symc.measure.profile import StepTimes, profile
from symc.measure.timing import collection_off, kept, sample
from symc.measure.words import duration
from symc.show.report.contents import Contents, Task
from symc.show.report.markup import Child, Html, facts, link, section, tag
from symc.show.report.roofline import Machine, RooflinePoint, measured_machine, roofline

if TYPE_CHECKING:
    from symc.calls.callable import Function

LONGEST = 500.0  # pixels
CALLS = 20


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
            tag("td", duration(value)),
            tag("td", _bar(LONGEST * value / longest)),
        )
        for stage, value in seconds.items()
    ]
    origin = "It came from the cache." if function.hit else "It was compiled in this process."
    total = f"{origin} {duration(sum(seconds.values()))} in all."
    return section("compiling", "Compiling", tag("p", total), tag("table", *rows))


def _bar(width: float) -> Html:
    rect = tag("rect", width=max(width, 1.0), height=12, class_="bar")
    return tag("svg", rect, width=LONGEST, height=12)


# --- calls ----------------------------------------------------------------------------------------


def calls_section(contents: Contents, example: Sequence[Any] | None) -> Html:
    """The time of a call, and the time, bytes and operations of each of its kernels."""
    if example is None:
        words = "Give f.report an example=[...] of arguments to see what a call costs."
        return section("calls", "Calls", tag("p", words))
    function = contents.function
    arguments = function.arguments(example)
    whole = tag("p", f"The fastest of {CALLS} calls took {duration(fastest(function, arguments))}.")
    if function.folder is None or function.mode == "debug":
        return section("calls", "Calls", whole)
    found = timed_tasks(contents, arguments)
    if function.device != "cpu":
        return section("calls", "Calls", whole, _table(found, None))
    machine = measured_machine()
    points = [
        RooflinePoint(task.title, task.place, step.operations / step.bytes, step.rate)
        for task, step in found
        if step.operations and step.bytes and step.rate
    ]
    here: list[tuple[str, Child]] = [
        ("memory here", f"{machine.bandwidth / 1e9:.3g} GB/s (NumPy copies an array)"),
        ("arithmetic here", f"{machine.operations / 1e9:.3g} G operations/s (NumPy's matmul)"),
    ]
    table = _table(found, machine)
    return section("calls", "Calls", whole, table, facts(here), roofline(points, machine))


def fastest(function: Function, arguments: Sequence[Any]) -> float:
    """Seconds of the fastest of several calls. Shared variables keep their values."""
    times: list[float] = []
    with kept(function.shared) as reset, collection_off():
        for _ in range(CALLS):
            times.append(sample(lambda: function(*arguments), 1))
            reset()
    return min(times)


def timed_tasks(contents: Contents, arguments: Sequence[Any]) -> list[tuple[Task, StepTimes]]:
    """The time of each step that computes."""
    measured = profile(contents.function, *arguments, repeat=CALLS)
    steps = [step for step in measured.steps if step.kind in ("kernel", "routine", "Python")]
    return list(zip(contents.tasks, steps, strict=True))


def _table(found: Sequence[tuple[Task, StepTimes]], machine: Machine | None) -> Html:
    """A row for each task; `machine` has the rates to compare with."""
    whole = sum(step.seconds for _, step in found) or 1.0
    compared = () if machine is None else ("of this memory",)
    names = ("kernel", "runs", "time", "", "GB/s", *compared, "G operations/s")
    rows = [tag("tr", *(tag("th", name) for name in names))]
    for task, step in found:
        cells: list[Child] = [
            link(task.place, task.title),
            f"{step.calls:g}",
            duration(step.seconds),
            tag("div", style=f"width:{100 * step.seconds / whole:.0f}px", class_="share"),
            f"{step.bandwidth / 1e9:.3g}",
            *([] if machine is None else [f"{step.bandwidth / machine.bandwidth:.0%}"]),
            f"{step.rate / 1e9:.3g}" if step.rate else "",
        ]
        rows.append(tag("tr", *(tag("td", cell) for cell in cells)))
    return tag("table", *rows)
