"""``python -m symc show module:function``: what symc made of a function."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import symc.debug
from symc.callable import Function
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


def run(options: argparse.Namespace) -> int:
    """Prints a view of each function that is named."""
    try:
        found = functions_named(options.name)
    except Unanswerable as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write("\n\n".join(VIEWS[options.view](f) for f in found) + "\n")
    return 0
