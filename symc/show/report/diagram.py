"""The graphs as data: the page's script lays them out and draws them.

Nodes are drawn by dagre, which is shipped in the page, as only a browser knows how wide a text is
and which groups a reader has collapsed.
"""

from __future__ import annotations

from typing import Any

from symc.graph.dims import Dim
from symc.graph.inputs import Constant
from symc.graph.node import Tensor
from symc.show.report.contents import Contents, Graph, is_drawn
from symc.tensor.notation import expression

DEPTH = 3  # how much of an expression a node shows


def diagram(contents: Contents, graph: Graph) -> dict[str, Any]:
    """A graph: its nodes, each with the numbers of its arguments among them."""
    return {
        "key": graph.key,
        "title": graph.title,
        "folded": len(graph.every) - len(graph.nodes),
        "nodes": [_node(contents, graph, node) for node in graph.nodes],
    }


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


def _node(contents: Contents, graph: Graph, node: Tensor) -> dict[str, Any]:
    """What is drawn and said of a node; facts that are not so are left out."""
    place = graph.place(node)
    said: dict[str, Any] = {
        "label": caption(node),
        "short": short_type(node),
        "type": str(node.type),
        "value": expression(node, DEPTH),
        "line": contents.line_numbers[node.where],
        "args": [graph.numbers[arg] for arg in dict.fromkeys(node.args) if arg in graph.numbers],
        "kind": "given" if not node.args else "made" if node in contents.made_by else "kept",
        "result": node in graph.results,
        "stored": node in contents.compilation.plan.stored,
        "copied": contents.copied.get(node),
        "cut": graph.folded(node),
        "tasks": [task.number for task in contents.tasks_of.get(node, ())],
        "made": contents.made_by.get(node),
        "replaced": contents.touched.get(node, []),
        "also": [other for other in contents.places[node] if other != place],
        "inside": contents.inside(node),
    }
    return {key: value for key, value in said.items() if value not in (None, False, [], 0)} | {
        "line": said["line"]
    }
