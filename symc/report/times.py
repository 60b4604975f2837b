"""How long compiling took, stage by stage, and what a call and each of its kernels take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from symc.codegen.amounts import sizes_of, work_of
from symc.codegen.ir import Launch
from symc.codegen.record import record
from symc.measure.profile import Step, profile
from symc.measure.timing import collection_off, kept, sample
from symc.measure.words import duration
from symc.report.contents import Contents, Task
from symc.report.markup import Child, Html, facts, link, section, tag
from symc.report.roofline import Machine, Point, measured_machine, roofline

if TYPE_CHECKING:
    from symc.callable import Function

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


@record
class Timed:
    """What a task took in a call, all its runs together; operations None where nobody knows."""

    task: Task
    step: Step
    operations: float | None


def calls_section(contents: Contents, example: Sequence[Any] | None) -> Html:
    """The time of a call, and what each of its kernels took, moved and computed."""
    if example is None:
        words = "Give f.report an example=[...] of arguments to see what a call costs."
        return section("calls", "Calls", tag("p", words))
    function = contents.function
    arguments = function.arguments(example)
    whole = tag("p", f"The fastest of {CALLS} calls took {duration(fastest(function, arguments))}.")
    if function.device != "cpu" or function.folder is None:
        return section("calls", "Calls", whole)
    found = timed_tasks(contents, arguments)
    machine = measured_machine()
    points = [
        Point(
            t.task.title, t.task.place, t.operations / t.step.bytes, t.operations / t.step.seconds
        )
        for t in found
        if t.operations and t.step.bytes and t.step.seconds
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


def timed_tasks(contents: Contents, arguments: Sequence[Any]) -> list[Timed]:
    """What each step that computes took."""
    measured = profile(contents.function, *arguments, repeat=CALLS)
    steps = [step for step in measured.steps if step.kind in ("kernel", "routine", "Python")]
    program = contents.stages.optimised
    sizes = sizes_of(program, _lengths(contents, arguments))

    def timed(task: Task, step: Step) -> Timed:
        if not isinstance(task.step, Launch):
            return Timed(task, step, None)
        once = work_of(program, task.step).operations.value(sizes)
        return Timed(task, step, None if once is None else once * step.calls)

    return list(starmap(timed, zip(contents.tasks, steps, strict=True)))


def _lengths(contents: Contents, arguments: Sequence[Any]) -> dict[tuple[str, int], int]:
    """The lengths of the arrays that the program is given."""
    program = contents.stages.optimised
    names = [b.name for role in ("input", "shared") for b in program.buffers if b.role == role]
    shapes = [np.shape(value) for value in arguments]
    shapes += [np.shape(shared.get_value(borrow=True)) for shared in contents.function.shared]
    return {
        (name, axis): length
        for name, shape in zip(names, shapes, strict=True)
        for axis, length in enumerate(shape)
    }


def _table(found: Sequence[Timed], machine: Machine) -> Html:
    whole = sum(t.step.seconds for t in found) or 1.0
    names = ("kernel", "runs", "time", "", "GB/s", "of this memory", "G operations/s")
    rows = [tag("tr", *(tag("th", name) for name in names))]
    for t in found:
        step = t.step
        rate = t.operations / step.seconds / 1e9 if t.operations and step.seconds else None
        cells: list[Child] = [
            link(t.task.place, t.task.title),
            f"{step.calls:g}",
            duration(step.seconds),
            tag("div", style=f"width:{100 * step.seconds / whole:.0f}px", class_="share"),
            f"{step.bandwidth / 1e9:.3g}",
            f"{step.bandwidth / machine.bandwidth:.0%}",
            "" if rate is None else f"{rate:.3g}",
        ]
        rows.append(tag("tr", *(tag("td", cell) for cell in cells)))
    return tag("table", *rows)
