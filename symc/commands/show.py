"""``python -m symc show module:function``: the stages of making a function."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

import symc.debug
from symc.calls.callable import Function
from symc.commands.named import Unanswerable, functions_named

VIEWS: dict[str, Callable[[Function], str]] = {
    "source": lambda f: f.source,
    "graph": lambda f: f.graph,
    "program": lambda f: f.program,
    "explain": lambda f: f.explain(),
    "stages": symc.debug.stages,
    "assembly": lambda f: f.assembly(),
    "report": lambda f: f"wrote {f.report(f'{f.name}.html')}",
}


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("name", metavar="MODULE:FUNCTION", help="as for compile")
    parser.add_argument(
        "view", nargs="?", default="source", choices=list(VIEWS), help="what to show of it"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def run(options: argparse.Namespace) -> int:
    """Prints a view of each function that is named."""
    try:
        found = functions_named(options.name)
    except Unanswerable as error:
        sys.stderr.write(f"{error}\n")
        return 2
    texts = [VIEWS[options.view](f) for f in found]
    if options.json:
        answer = [{"name": f.name, "text": text} for f, text in zip(found, texts, strict=True)]
        sys.stdout.write(json.dumps({"view": options.view, "functions": answer}, indent=1) + "\n")
    else:
        sys.stdout.write("\n\n".join(texts) + "\n")
    return 0
