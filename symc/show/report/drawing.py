"""A graph as SVG, and the page's facts about each of its nodes."""

from __future__ import annotations

from symc.graph.dims import Dim
from symc.graph.inputs import Constant
from symc.graph.node import Tensor
from symc.show.report.contents import Contents, Graph, is_drawn
from symc.show.report.layout import Layout, Point, layout
from symc.show.report.markup import Child, Html, facts, join, link, some, tag
from symc.show.report.trace import step_link
from symc.tensor.notation import expression

HINT = "Click a node. Drag to move, turn the wheel to zoom, click twice to see everything."
LETTER = 7.2  # the width of a letter
HEIGHT = 34.0  # of a node


def graph_panel(contents: Contents, graph: Graph) -> Html:
    """A graph with, beside it, the facts about the selected node."""
    about = [_about(contents, graph, node) for node in graph.nodes]
    drawn = tag(
        "div",
        _svg(contents, graph),
        tag("aside", tag("p", HINT, class_="hint"), *about),
        class_="graph",
        id=graph.key,
        data_title=graph.title,
    )
    folded = len(graph.every) - len(graph.nodes)
    if not folded:
        return drawn
    words = (
        f"The graph {graph.title} has {len(graph.every):,} nodes. The {len(graph.nodes):,} nearest "
        f"to the results are drawn; {folded:,} are folded away, in the nodes with dashed lines."
    )
    return join((tag("p", words, class_="folded"), drawn))


def caption(node: Tensor) -> str:
    """The text in a node: its name or op, and the scalar constants that it is given."""
    label = node.op.label
    numbers = [
        str(arg.op.value) for arg in node.args if isinstance(arg.op, Constant) and not is_drawn(arg)
    ]
    if numbers:
        label += f" {', '.join(number[:8] for number in numbers)}"
    return f"{node.name}: {label}" if node.name else label


def short_type(node: Tensor) -> str:
    """The type with each length cut short."""
    return f"{node.dtype}[{', '.join(_short(dim) for dim in node.type.shape)}]"


def _short(dim: Dim) -> str:
    text = repr(dim)
    return text if len(text) <= 12 else "..."


def _svg(contents: Contents, graph: Graph) -> Html:
    numbers = graph.numbers
    edges = [
        (numbers[arg], number)
        for node, number in numbers.items()
        for arg in dict.fromkeys(node.args)
        if arg in numbers
    ]
    widths = [
        max(len(caption(node)), 0.8 * len(short_type(node))) * LETTER + 16 for node in graph.nodes
    ]
    drawn = layout(widths, edges)
    lines = [
        tag("path", d=_path(line), class_="edge", data_ends=f"{graph.key}-{a} {graph.key}-{b}")
        for (a, b), line in zip(edges, drawn.lines, strict=True)
    ]
    boxes = [
        _node(contents, graph, node, number, widths[number], drawn.places[number])
        for node, number in numbers.items()
    ]
    return tag("svg", tag("g", *lines, *boxes), **_frame(drawn))


def _frame(drawn: Layout) -> dict[str, str]:
    return {
        "viewBox": f"-10 -10 {drawn.width + 20:.0f} {drawn.height + 20:.0f}",
        "preserveAspectRatio": "xMidYMid meet",
        "role": "img",
    }


def _node(
    contents: Contents, graph: Graph, node: Tensor, number: int, width: float, at: Point
) -> Html:
    kinds = ["node", "given" if not node.args else "made" if node in contents.made_by else "kept"]
    if node in graph.results:
        kinds.append("result")
    if node in contents.compilation.plan.stored:
        kinds.append("stored")
    if graph.folded(node):
        kinds.append("cut")
    box = tag("rect", x=-width / 2, y=-HEIGHT / 2, width=width, height=HEIGHT, rx=5)
    words = tag("text", caption(node), y=-2), tag("text", short_type(node), y=12, class_="type")
    place = f"{graph.key}-{number}"
    group = tag("g", box, *words, transform=f"translate({at[0]:.1f},{at[1]:.1f})")
    return link(f"about-{place}", group, id=place, class_=" ".join(kinds))


def _path(points: tuple[Point, ...]) -> str:
    """A smooth line from below the first point to above the last."""
    (x, y), *_ = points
    text = [f"M{x:.1f} {y + HEIGHT / 2:.1f}"]
    before = (x, y + HEIGHT / 2)
    for number, (x, y) in enumerate(points[1:], 2):
        end = y - HEIGHT / 2 if number == len(points) else y
        half = (before[1] + end) / 2
        text.append(f"C{before[0]:.1f} {half:.1f} {x:.1f} {half:.1f} {x:.1f} {end:.1f}")
        before = (x, end)
    return "".join(text)


# --- the description of a node --------------------------------------------------------------------
# -----------------------------------------------------------------


def _about(contents: Contents, graph: Graph, node: Tensor) -> Html:
    place = graph.place(node)
    rows: list[tuple[str, Child]] = [
        ("value", tag("code", expression(node, 3))),
        ("type", tag("code", str(node.type))),
        ("line", link(line_place(contents, node), str(node.where))),
    ]
    for title, others in (("from", node.args), ("used by", graph.users.get(node, ()))):
        shown = [link(graph.place(o), caption(o)) for o in others if o in graph.numbers]
        if shown:
            rows.append((title, some(shown)))
    if graph.folded(node):
        rows.append(("folded", f"{graph.folded(node)} of its arguments are not drawn"))
    rows += _history(contents, place, node)
    tasks = [link(task.place, task.title) for task in contents.tasks_of.get(node, ())]
    if tasks:
        how = (
            "kept in memory" if node in contents.compilation.plan.stored else "computed in passing"
        )
        rows.append(("kernel", join((some(tasks), f" ({how})"))))
    return tag("div", tag("h3", caption(node)), facts(rows), id=f"about-{place}", class_="about")


def _history(contents: Contents, place: str, node: Tensor) -> list[tuple[str, Child]]:
    """Which rules made a node and replaced it, and where else it is drawn."""
    rows: list[tuple[str, Child]] = []
    made = contents.made_by.get(node)
    if made is not None:
        rows.append(("made by", step_link(contents.steps, made)))
    rows += [
        ("replaced by", step_link(contents.steps, number))
        for number in contents.touched.get(node, ())
    ]
    others = [other for other in contents.places[node] if other != place]
    if others:
        titles = {graph.key: graph.title for graph in contents.graphs}
        shown = [link(o, titles[o.rpartition("-")[0]]) for o in others]
        rows.append(("also", join(shown, ", ")))
    return rows


def line_place(contents: Contents, node: Tensor) -> str:
    """The element of the user's line that a node was written in."""
    return f"line-{contents.line_numbers[node.where]}"
