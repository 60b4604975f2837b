"""A function as notebooks show it: its inputs and results, and how it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.graph.node import Tensor
from symc.show.report.highlight import highlighted
from symc.show.report.markup import Child, Html, facts, tag
from symc.tensor.notation import expression

if TYPE_CHECKING:
    from symc.calls.callable import Function


def summary(function: Function) -> str:
    """The function in a few lines of HTML; its source is folded away."""
    request = function.request
    rows: list[tuple[str, Child]] = [
        ("takes", ", ".join(_declared(variable) for variable in request.inputs) or "nothing"),
        *(("gives", tag("code", expression(output))) for output in request.outputs),
        *(
            ("updates", tag("code", f"{shared.name or 'shared'} = {expression(new)}"))
            for shared, new in request.updates
        ),
        ("mode", f"{function.mode}, on {function.device}"),
    ]
    if function.seconds:
        spent = 1e3 * sum(function.seconds.values())
        origin = "from the cache" if function.hit else "compiled"
        rows.append(("made", f"{function.facts['kernels']} kernels, {origin} in {spent:.1f} ms"))
    source: Html | str = ""
    if function.folder is not None:
        text = tag("pre", highlighted(function.source, {}))
        source = tag("details", tag("summary", "generated source"), text)
    return tag("div", tag("b", function.name), facts(rows), source).text


def _declared(variable: Tensor) -> str:
    return f"{variable.name or '?'}: {variable.type}"
