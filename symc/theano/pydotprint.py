"""`pydotprint`: a graph as a picture, drawn by Graphviz."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from symc.theano.gof.graph import Constant, io_toposort

default_colorCodes = {
    "GpuFromHost": "red", "HostFromGpu": "red", "Scan": "yellow", "Shape": "brown",
    "IfElse": "magenta", "Elemwise": "#FFAABB", "Subtensor": "#FFAAFF", "Alloc": "#FFAA22",
    "Output": "blue",
}  # fmt: skip

pydot_imported = shutil.which("dot") is not None


def dot_source(fct: Any, high_contrast: bool = True, var_with_name_simple: bool = False) -> str:
    """The graph in the language of Graphviz."""
    from symc.theano.debugprint import _graphs  # pyright: ignore[reportPrivateUsage]

    outputs, _ = _graphs(fct)
    names: dict[Any, str] = {}
    lines = ["digraph {"]

    def named(thing: Any, label: str, shape: str, color: str | None = None) -> str:
        if thing not in names:
            names[thing] = f"n{len(names)}"
            text = label.replace("\\", "\\\\").replace('"', '\\"')
            style = f', style=filled, fillcolor="{color}"' if color and high_contrast else ""
            lines.append(f'{names[thing]} [label="{text}", shape={shape}{style}];')
        return names[thing]

    def leaf(variable: Any) -> str:
        if isinstance(variable, Constant):
            return named(variable, str(variable), "box")
        shown = str(variable.name) if var_with_name_simple and variable.name else str(variable)
        return named(variable, shown, "box", "limegreen")

    for node in io_toposort([], outputs):
        color = next(
            (c for k, c in default_colorCodes.items() if k in type(node.op).__name__), None
        )
        target = named(node, str(node.op), "ellipse", color)
        for position, each in enumerate(node.inputs):
            source = leaf(each) if each.owner is None else names[each.owner]
            label = f"{position} {each.type}" if len(node.inputs) > 1 else str(each.type)
            lines.append(f'{source} -> {target} [label="{label}"];')
    for each in outputs:
        source = leaf(each) if each.owner is None else names[each.owner]
        shown = f"{each.name or ''} {each.type}".strip()
        lines.append(f"{source} -> {named(('output', each), shown, 'box', 'dodgerblue')};")
    return "\n".join([*lines, "}"])


def pydotprint(
    fct: Any, outfile: Any = None, compact: bool = True, format: str = "png",
    with_ids: bool = False, high_contrast: bool = True, cond_highlight: Any = None,
    colorCodes: Any = None, max_label_size: int = 70, scan_graphs: bool = False,
    var_with_name_simple: bool = False, print_output_file: bool = True, return_image: bool = False,
) -> Any:  # fmt: skip
    """Writes a picture of a graph to a file; with `return_image` gives its bytes.

    The formats that Graphviz has, or "dot", which needs no Graphviz.
    """
    del compact, with_ids, cond_highlight, colorCodes, max_label_size, scan_graphs
    source = dot_source(fct, high_contrast, var_with_name_simple)
    if format == "dot" or str(outfile).endswith(".dot"):
        data = source.encode()
    else:
        program = shutil.which("dot")
        if program is None:
            raise RuntimeError(
                "Failed to import pydot. You must install graphviz and either pydot or pydot-ng "
                "for `pydotprint` to work; outfile='graph.dot' needs neither."
            )
        run = subprocess.run(
            [program, f"-T{format}"], input=source.encode(), capture_output=True, check=True
        )
        data = run.stdout
    if return_image:
        return data
    path = Path(str(outfile or f"theano.pydotprint.{format}"))
    path.write_bytes(data)
    if print_output_file:
        print("The output file is available at", path)  # noqa: T201 -- as Theano does
    return None


def pydotprint_variables(vars: Any, outfile: str = "variables.png", **kwargs: Any) -> None:
    """As `pydotprint`, for variables."""
    pydotprint(vars, outfile=outfile, **{k: v for k, v in kwargs.items() if k == "format"})
