"""Kernels with their source, and the lines of the user's program."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from html import escape

from symc.codegen.cost.work import Work, Works
from symc.codegen.text import kernel_text
from symc.graph.node import Tensor
from symc.graph.provenance import Where
from symc.show.report.contents import Contents, Task
from symc.show.report.drawing import caption, line_place
from symc.show.report.highlight import highlighted
from symc.show.report.markup import Child, Html, facts, link, section, some, tag

MOST_COLOURED = 300_000  # characters


def kernels_section(contents: Contents) -> Html:
    """Every step that computes: its expressions, the nodes they are for, and its source."""
    works = Works(contents.compilation.optimised)
    shown = [_task(contents, task, works.of(task.step)) for task in contents.tasks]
    return section("kernels", "Kernels", *shown)


def source_section(contents: Contents) -> Html:
    """The whole text that was compiled; names of kernels lead to them."""
    links = {task.kernel.name: task.place for task in contents.tasks if task.kernel is not None}
    source = contents.compilation.source.text
    plain = len(source) > MOST_COLOURED
    text = Html(escape(source)) if plain else highlighted(source, links)
    words = [tag("p", "So long a text has neither colours nor links.")] if plain else []
    return section("source", "Source", *words, tag("pre", text, class_="source"))


def _task(contents: Contents, task: Task, work: Work) -> Html:
    nodes = [
        link(_after(contents, node), caption(node))
        for node in task.nodes
        if node in contents.places
    ]
    wheres = {
        line_place(contents, node): str(node.where)
        for node in task.nodes
        if node.where in contents.lines
    }
    rows: list[tuple[str, Child]] = [("computes", some(nodes))] if nodes else []
    if wheres:
        rows.append(("lines", some([link(place, text) for place, text in wheres.items()])))
    rows += _amounts(work)
    parts: list[Html] = [tag("h3", f"{task.number + 1}. {task.title}"), facts(rows)]
    if task.kernel is not None:
        source = contents.compilation.source.kernels.get(task.kernel.name, "")
        parts.append(tag("pre", highlighted(source, {}), class_="source"))
        loops = tag("pre", kernel_text(task.kernel))
        parts.append(tag("details", tag("summary", "as loops"), loops))
    return tag("article", *parts, id=task.place)


def _amounts(work: Work) -> list[tuple[str, Child]]:
    rows: list[tuple[str, Child]] = [
        ("reads", f"{work.read} bytes"), ("writes", f"{work.written} bytes"),
    ]  # fmt: skip
    return rows if work.operations is None else [*rows, ("operations", str(work.operations))]


def _after(contents: Contents, node: Tensor) -> str:
    """Where a node is drawn: if several graphs have it, not in the one before rewriting."""
    return contents.places[node][-1]


# --- the user's lines -----------------------------------------------------------------------------


def lines_section(contents: Contents) -> Html:
    """The user's lines with the steps made of each."""
    rows: list[Html] = []
    file = ""
    for number, (where, nodes) in enumerate(contents.lines.items()):
        if where.file != file:
            file = where.file
            rows.append(tag("h3", file.rpartition("/")[2]))
        rows.append(_line(contents, number, where, nodes))
    return section("lines", "Your lines", *rows)


def _line(contents: Contents, number: int, where: Where, nodes: Sequence[Tensor]) -> Html:
    tasks = {task.place: task.title for node in nodes for task in contents.tasks_of.get(node, ())}
    text = linecache.getline(where.file, where.line).strip()
    shown = [
        link(place, caption(node)) for node in nodes for place in contents.places.get(node, ())
    ]
    kernels = [link(place, title) for place, title in tasks.items()]
    return tag(
        "div",
        tag("code", f"{where.line:>5}  {text}"),
        tag("div", "nodes: ", some(shown), class_="small") if shown else "",
        tag("div", "kernels: ", some(kernels), class_="small") if kernels else "",
        id=f"line-{number}",
        class_="line",
    )
