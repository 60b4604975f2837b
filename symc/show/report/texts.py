"""The texts that are linked to the graph: the user's lines, the C, and kernels in a table."""

from __future__ import annotations

import linecache
from collections.abc import Sequence

from symc.codegen.cost.work import Works
from symc.codegen.text import kernel_text
from symc.graph.provenance import NOWHERE, Where
from symc.measure.profile import StepTimes
from symc.measure.words import duration
from symc.show.report.contents import Contents, Task
from symc.show.report.diagram import caption
from symc.show.report.highlight import highlighted_lines
from symc.show.report.markup import Child, Html, join, link, section, some, tag

MOST_COLOURED = 300_000  # characters
GAP = 3  # lines between two of the user's that are shown, too


def lines_pane(contents: Contents) -> Html:
    """The user's lines, and the few between them; those that made nodes can be chosen."""
    rows: list[Html] = []
    before: Where | None = None
    for number, where in enumerate(contents.lines):
        if where == NOWHERE:
            rows.append(tag("div", "no line of yours", id=f"line-{number}", class_="row left-out"))
            continue
        if before is None or where.file != before.file:
            rows.append(tag("h3", where.file.rpartition("/")[2]))
        elif where.line - before.line <= GAP + 1:
            rows += [_line(where.file, n, None) for n in range(before.line + 1, where.line)]
        else:
            rows.append(tag("div", "…", class_="row left-out"))
        rows.append(_line(where.file, where.line, number))
        before = where
    return tag("div", *rows, class_="code")


def _line(file: str, line: int, number: int | None) -> Html:
    text = linecache.getline(file, line).rstrip("\n") or ("" if number is None else f"line {line}")
    kind = "row" if number is not None else "row left-out"
    place = None if number is None else f"line-{number}"
    return tag("div", tag("b", line), text, id=place, class_=kind)


def source_pane(contents: Contents) -> Html:
    """The whole text that was compiled, a row for each line."""
    links = {task.kernel.name: task.place for task in contents.tasks if task.kernel is not None}
    source = contents.compilation.source.text
    plain = len(source) > MOST_COLOURED
    lines = [Html("")] if plain else highlighted_lines(source, links)
    if plain:
        lines = [join((text,)) for text in source.split("\n")]
    rows = [tag("p", line, id=f"c{number}") for number, line in enumerate(lines, 1)]
    return tag("div", *rows, class_="code source")


def kernels_section(
    contents: Contents, timed: Sequence[tuple[Task, StepTimes]], machine_bandwidth: float | None
) -> Html:
    """A row for each step that computes: what it computes, its work, its time, its loops."""
    works = Works(contents.compilation.optimised)
    whole = sum(step.seconds for _, step in timed) or 1.0
    times = {task.number: step for task, step in timed}
    head = ["", "step", "computes", "reads, bytes", "writes, bytes", "operations"]
    if timed:
        head += ["time", "of all", "GB/s", *(["of memory's"] if machine_bandwidth else []), "Gop/s"]
    rows = [tag("tr", *(tag("th", name, scope="col") for name in head))]
    for task in contents.tasks:
        work = works.of(task.step)
        operations = "" if work.operations is None else str(work.operations)
        cells: list[Child] = [
            task.number + 1, _title(task), _computed(contents, task),
            str(work.read), str(work.written), operations,
        ]  # fmt: skip
        if timed:
            cells += _times(times.get(task.number), whole, machine_bandwidth)
        rows.append(tag("tr", *(tag("td", cell) for cell in cells), id=task.place))
    return section("kernels", "Kernels", tag("div", tag("table", *rows), class_="wide"))


def _title(task: Task) -> Child:
    """The name of a step; that of a kernel opens to its loops."""
    if task.kernel is None:
        return task.title
    loops = tag("pre", kernel_text(task.kernel))
    return tag("details", tag("summary", task.title), loops)


def _computed(contents: Contents, task: Task) -> Html:
    nodes = [node for node in task.nodes if node in contents.places]
    stored = [node for node in nodes if node in contents.compilation.plan.stored] or nodes
    shown = some([link(contents.places[n][-1], caption(n)) for n in stored], 6)
    wheres = dict.fromkeys(n.where for n in nodes if n.where in contents.lines)
    lines = some([link(f"line-{contents.line_numbers[w]}", str(w)) for w in wheres], 4)
    return join((shown, " ", tag("span", lines, class_="faint")))


def _times(step: StepTimes | None, whole: float, bandwidth: float | None) -> list[Child]:
    if step is None:
        return [""] * (5 if bandwidth else 4)
    share = step.seconds / whole
    bar = tag("div", style=f"width:{100 * share:.0f}px", class_="share")
    return [
        duration(step.seconds), tag("div", bar, f" {share:.0%}", class_="shares"),
        f"{step.bandwidth / 1e9:.3g}",
        *([f"{step.bandwidth / bandwidth:.0%}"] if bandwidth else []),
        f"{step.rate / 1e9:.3g}" if step.rate else "",
    ]  # fmt: skip
