"""How long compiling took, stage by stage, and the times of a call and of each of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symc.codegen.record import record
from symc.measure.profile import StepTimes, profile
from symc.measure.timing import collection_off, kept, sample
from symc.measure.words import duration
from symc.show.report.contents import Contents, Task
from symc.show.report.markup import Child, Html, facts, section, tag
from symc.show.report.roofline import Machine, RooflinePoint, measured_machine, roofline

if TYPE_CHECKING:
    from symc.calls.callable import Function

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
            tag("td", tag("div", style=f"width:{100 * value / longest:.1f}%", class_="share")),
        )
        for stage, value in seconds.items()
    ]
    origin = "It came from the cache." if function.hit else "It was compiled in this process."
    total = f"{origin} {duration(sum(seconds.values()))} in all."
    return section("compiling", "Compiling", tag("p", total), tag("table", *rows, class_="bars"))


# --- calls ----------------------------------------------------------------------------------------


@record
class CallTimes:
    """What calling the function took: a call, each of its steps, and this machine's limits."""

    call: float
    steps: Sequence[tuple[Task, StepTimes]]
    machine: Machine | None


def measured(contents: Contents, example: Sequence[Any] | None) -> CallTimes | None:
    """The times of calls with these arguments; None without any."""
    if example is None:
        return None
    function = contents.function
    call = fastest(function, example)
    if function.folder is None or function.mode == "debug":
        return CallTimes(call, (), None)
    steps = timed_tasks(contents, example)
    return CallTimes(call, steps, measured_machine() if function.device == "cpu" else None)


def calls_section(found: CallTimes | None) -> Html:
    """The time of a call, and how near its kernels come to the limits of this machine."""
    if found is None:
        words = "Give f.report an example=[...] of arguments to see what a call costs."
        return section("calls", "Calls", tag("p", words))
    whole = tag("p", f"The fastest of {CALLS} calls took {duration(found.call)}.")
    if found.machine is None:
        return section("calls", "Calls", whole)
    machine = found.machine
    points = [
        RooflinePoint(task.title, task.place, step.operations / step.bytes, step.rate)
        for task, step in sorted(found.steps, key=lambda timed: -timed[1].seconds)
        if step.operations and step.bytes and step.rate
    ]
    here: list[tuple[str, Child]] = [
        ("memory here", f"{machine.bandwidth / 1e9:.3g} GB/s (NumPy copies an array)"),
        ("arithmetic here", f"{machine.operations / 1e9:.3g} G operations/s (NumPy's matmul)"),
    ]
    return section("calls", "Calls", whole, facts(here), roofline(points, machine))


def fastest(function: Function, arguments: Sequence[Any]) -> float:
    """Seconds of the fastest of several calls. Shared variables and arguments keep their values."""
    times: list[float] = []
    with kept(function, arguments) as reset, collection_off():
        for _ in range(CALLS):
            times.append(sample(lambda: function(*arguments), 1))
            reset()
    return min(times)


def timed_tasks(contents: Contents, arguments: Sequence[Any]) -> list[tuple[Task, StepTimes]]:
    """The time of each step that computes."""
    measured = profile(contents.function, *arguments, repeat=CALLS)
    steps = [step for step in measured.steps if step.kind in ("kernel", "routine", "Python")]
    return list(zip(contents.tasks, steps, strict=True))
