"""The page: every section, its style and its script in one file that needs no other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from symc.codegen.encodable import encodable
from symc.show.report.contents import Contents
from symc.show.report.drawing import graph_panel
from symc.show.report.listing import kernels_section, lines_section, source_section
from symc.show.report.markup import Html, join, link, section, tag
from symc.show.report.timeline import memory_section
from symc.show.report.times import calls_section, compile_section
from symc.show.report.trace import trace_section

if TYPE_CHECKING:
    from os import PathLike

    from symc.calls.callable import Function

HERE = Path(__file__).parent


def report(
    function: Function, path: str | PathLike[str], example: Sequence[Any] | None = None
) -> Path:
    """Writes the page of a function, and returns where it is.

    With an `example`, a list of arguments, the function is called with it to be timed.
    """
    if example is not None and not isinstance(cast("object", example), list | tuple):
        raise TypeError(f"example must be a list of arguments, not {example!r:.60}")
    target = Path(path)
    target.write_text(encodable(page(function, example)), encoding="utf-8")
    return target


def page(function: Function, example: Sequence[Any] | None = None) -> str:
    """The text of the page."""
    contents = Contents(function)
    sections = [
        section("graphs", "Graphs", *(graph_panel(contents, graph) for graph in contents.graphs)),
        trace_section(contents.steps, contents.places),
        kernels_section(contents),
        lines_section(contents),
        memory_section(contents),
        compile_section(function),
        calls_section(contents, example),
        source_section(contents),
    ]
    title = f"{function.name}: a report by symc"
    body = tag("body", _header(contents), tag("main", *sections), _script())
    return "<!doctype html>\n" + tag("html", _head(title), body, lang="en").text + "\n"


def _head(title: str) -> Html:
    style = Html((HERE / "page.css").read_text(encoding="utf-8"))
    # With scripts all but one graph and no node's description are shown. Said before the body, it
    # spares the browser from laying out all of them first.
    early = 'document.documentElement.classList.add("scripted");'
    return tag(
        "head",
        Html('<meta charset="utf-8">'),
        # Whatever a name in a graph may contain: the page asks for nothing outside of itself.
        Html(
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
        ),
        tag("title", title),
        tag("style", style),
        tag("script", Html(early)),
    )


def _script() -> Html:
    return tag("script", Html((HERE / "page.js").read_text(encoding="utf-8")))


def _header(contents: Contents) -> Html:
    function = contents.function
    before, after = (len(graph.every) for graph in contents.graphs[:2])
    words = [
        f"mode {function.mode}, on {function.device}",
        f"{before} nodes before rewriting, {after} after",
        f"{len(contents.steps)} rewrites",
        f"{len(contents.tasks)} steps that compute",
    ]
    names = ("graphs", "rewrites", "kernels", "lines", "memory", "compiling", "calls", "source")
    menu = join([link(name, name) for name in names], " ")
    return tag("header", tag("h1", repr(function)), tag("p", "; ".join(words)), tag("nav", menu))
