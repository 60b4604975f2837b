"""``python -m symc compile module:function``: fills the cache ahead of time."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from symc.commands.named import Unanswerable, functions_named


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "names", nargs="+", metavar="MODULE:FUNCTION",
        help="a function made by symc.function, or one without arguments that returns some",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def run(options: argparse.Namespace) -> int:
    """Compiles the functions that are named and reports the outcome of each."""
    answers: list[dict[str, Any]] = []
    try:
        for name in _with_progress(options.names, quiet=options.json):
            answers += [
                {"name": f.name, "cached": f.hit, "seconds": sum(f.seconds.values()),
                 "folder": None if f.folder is None else str(f.folder)}
                for f in functions_named(name)
            ]  # fmt: skip
    except Unanswerable as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.json:
        sys.stdout.write(json.dumps(answers, indent=1) + "\n")
        return 0
    for answer in answers:
        how = "was in the cache" if answer["cached"] else "compiled"
        sys.stdout.write(f"{answer['name']:<24} {how:<17} {answer['seconds']:.3f} s\n")
    return 0


def _with_progress(names: list[str], *, quiet: bool) -> Iterable[str]:
    """The names, with a bar where there is a terminal and something to wait for."""
    if quiet or len(names) < 2 or not sys.stderr.isatty():
        return names
    try:
        from tqdm import tqdm
    except ImportError:
        return names
    return tqdm(names, desc="compiling", unit="function")
