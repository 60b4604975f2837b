"""The page: every section, its style and its script in one file that needs no other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from symc.codegen.encodable import encodable
from symc.show.report.bundle import bundle, packed
from symc.show.report.changes import changes, passes_section
from symc.show.report.contents import Contents
from symc.show.report.markup import Child, Html, join, link, tag
from symc.show.report.texts import kernels_section, lines_pane, source_pane
from symc.show.report.timeline import memory_section
from symc.show.report.times import calls_section, compile_section, measured
from symc.show.report.trace import trace_section

if TYPE_CHECKING:
    from os import PathLike

    from symc.calls.callable import Function

HERE = Path(__file__).parent
SCRIPTS = ("data.js", "layout.js", "graph.js", "links.js", "panes.js", "search.js", "start.js")
SECTIONS = ("kernels", "passes", "rewrites", "memory", "calls", "compiling")


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
    passes = changes(contents)
    times = measured(contents, example)
    machine = None if times is None else times.machine
    sections = [
        kernels_section(
            contents, () if times is None else times.steps,
            None if machine is None else machine.bandwidth,
        ),
        passes_section(passes),
        trace_section(contents.steps, contents.places),
        memory_section(contents),
        calls_section(times),
        compile_section(function),
    ]  # fmt: skip
    data = tag("script", packed(bundle(contents, passes)), type="text/plain", id="bundle")
    main = tag("main", _explorer(contents), *sections)
    body = tag("body", _header(contents), main, data, *_scripts())
    title = f"{function.name}: a report by symc"
    return "<!doctype html>\n" + tag("html", _head(title), body, lang="en").text + "\n"


def _head(title: str) -> Html:
    return tag(
        "head",
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        # Whatever a name in a graph may contain: the page asks for nothing outside of itself.
        Html(
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
        ),
        tag("title", title),
        tag("style", Html((HERE / "page" / "page.css").read_text(encoding="utf-8"))),
    )


def _scripts() -> list[Html]:
    """dagre, under its licence, and the page's own script."""
    licence = (HERE / "dagre" / "LICENSE").read_text(encoding="utf-8")
    library = (HERE / "dagre" / "dagre.min.js").read_text(encoding="utf-8")
    library = library.partition("\n/*!")[0]  # what follows names files that are not here
    own = [(HERE / "page" / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return [
        tag("script", Html(f"/* dagre\n{licence}*/\n{library}\n")),
        tag("script", Html('"use strict";\n' + "\n".join(own))),
    ]


def _header(contents: Contents) -> Html:
    function = contents.function
    before, after = (len(graph.every) for graph in contents.graphs[:2])
    words = (
        f"mode {function.mode}, on {function.device}; "
        f"{before} nodes before rewriting, {after} after; "
        f"{len(contents.steps)} rewrites; {len(contents.tasks)} steps that compute"
    )
    menu = join([link(name, name) for name in SECTIONS], " ")
    search = tag(
        "div",
        Html(
            '<input id="search" type="search" placeholder="search  /" autocomplete="off" '
            'aria-label="search nodes, lines, C and assembly" aria-controls="found">'
        ),
        tag("ul", id="found", class_="hidden", aria_label="what was found"),
        class_="search",
    )
    theme = tag("button", "dark", id="theme", type="button", aria_label="light or dark")
    return tag(
        "header",
        tag("h1", function.name),
        tag("p", words),
        tag("nav", menu, aria_label="sections"),
        search,
        theme,
    )


def _explorer(contents: Contents) -> Html:
    """The graph beside the user's lines, the C and the assembly, all of them linked."""
    hint = (
        "Point at a line or a node: what belongs to it lights up in all four. Click to hold it. "
        "Arrow keys walk along the graph, / searches, + - 0 zoom."
    )
    graph = (
        tag("div", class_="tools"),
        _noscript("The graph needs a script."),
        tag("div", class_="canvas"),
        tag("aside", tag("p", hint, class_="hint"), id="facts", aria_live="polite"),
    )
    code = tag("div", class_="code source", id="listing")
    return tag(
        "section",
        _pane("graph", "Graph", *graph),
        _pane("lines", "Your lines", lines_pane(contents)),
        _pane("source", "C", source_pane(contents)),
        _pane("assembly", "Assembly", code),
        id="explorer",
        aria_label="graph, lines, C and assembly",
    )


def _pane(identity: str, title: str, *children: Child) -> Html:
    return tag("div", tag("h2", title), *children, class_="pane", id=identity)


def _noscript(words: str) -> Html:
    return tag("noscript", tag("p", words))
