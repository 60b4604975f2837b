"""What the page's script draws from: graphs, links between the texts, machine code, passes.

It is JSON, compressed by zlib and written in base64: the page of a network would be several times
as long without. Browsers unpack it by `DecompressionStream`.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

from symc.codegen.errors import CompilerMissing
from symc.codegen.targets.assembly import Listing, listings, on_device
from symc.show.report.changes import PassChange
from symc.show.report.contents import Contents
from symc.show.report.correspondence import spans
from symc.show.report.diagram import diagram


def bundle(contents: Contents, passes: Sequence[PassChange]) -> dict[str, Any]:
    """All of it, as JSON has it."""
    code, why = machine_code(contents)
    return {
        "graphs": [diagram(contents, graph) for graph in contents.graphs],
        "tasks": [
            {"title": task.title, "kernel": "" if task.kernel is None else task.kernel.name}
            for task in contents.tasks
        ],
        "rules": [step.rule.name for step in contents.steps],
        "wheres": [str(where) for where in contents.lines],
        "spans": [
            [
                span.first,
                span.last,
                [place for node in span.nodes for place in contents.places.get(node, ())],
                list(span.lines),
            ]
            for span in spans(contents)
        ],
        "code": [[listing.name, listing.rows] for listing in code],
        "noCode": why,
        "passes": [change.rows for change in passes],
    }


def machine_code(contents: Contents) -> tuple[list[Listing], str]:
    """The function's instructions, or why there are none to be shown."""
    function = contents.function
    if function.device != "cpu":
        return [], f"The function is compiled for {function.device}: {on_device(function.device)}."
    if function.folder is None:
        return [], "The interpreter runs this function: there is no machine code."
    try:
        return listings(function.folder, quick=function.mode == "compile"), ""
    except CompilerMissing as missing:
        return [], str(missing)


def packed(data: dict[str, Any]) -> str:
    """As text for the page."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii")


def unpacked(text: str) -> dict[str, Any]:
    """The data of a page; for tests.

    >>> unpacked(packed({"tasks": []}))
    {'tasks': []}
    """
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text)))
    return found
