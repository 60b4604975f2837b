"""``python -m symc bench``: symc against whoever else is installed, on this machine.

symc bench                                      the suite
symc bench physics.py:energy "ones((1000, 3))"  a function of yours, written with NumPy's names
symc bench --save; symc bench --compare         one version against the last
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from symc.commands.named import Unanswerable, attribute_named
from symc.measure.history import compared, runs, save
from symc.measure.plot import draw_bars, matplotlib
from symc.measure.rivals import work_of
from symc.measure.suite import WORK, Work, as_json, as_text, measure

HISTORY = "symc-bench.jsonl"
LARGE = Path(__file__).parents[2] / "benchmarks" / "run.py"


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    names = [work.name for work in WORK]
    parser.add_argument(
        "function", nargs="?", metavar="PROGRAM:FUNCTION",
        help="a function of arrays, written with NumPy's names, in place of the suite",
    )  # fmt: skip
    parser.add_argument(
        "arguments", nargs="*", metavar="ARRAY",
        help="its arguments, in Python with NumPy's names: 'random.rand(100, 3)'",
    )  # fmt: skip
    parser.add_argument(
        "--save", nargs="?", const=HISTORY, metavar="FILE",
        help=f"add the figures to a history ({HISTORY})",
    )  # fmt: skip
    parser.add_argument(
        "--compare", nargs="?", const=HISTORY, metavar="FILE",
        help=f"print them beside the last ones there ({HISTORY}); status 1 if a call is slower",
    )  # fmt: skip
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument(
        "--seconds", type=float, default=1.0, metavar="S", help="for each contestant (1)"
    )
    parser.add_argument("--json", metavar="FILE", help="write all figures there; - prints them")
    parser.add_argument("--plot", metavar="FILE", help="draw them there (needs matplotlib)")
    parser.add_argument(
        "--large", nargs=argparse.REMAINDER, metavar="...",
        help="run benchmarks/run.py of a checkout instead, with these arguments",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Measures and prints; 1 if somebody's result was wrong or did not come."""
    if options.large is not None:
        return _run_large(options.large)
    for path in (options.json, options.plot, options.save):  # before anything takes long
        if path is not None and not Path(path).absolute().parent.is_dir():
            sys.stderr.write(f"there is no folder for {path}\n")
            return 2
    if options.plot is not None:
        try:
            matplotlib()
        except ImportError as error:
            sys.stderr.write(f"{error}\n")
            return 2
    try:
        history = None if options.compare is None else runs(Path(options.compare))
        chosen = chosen_work(options)
    except (OSError, ValueError, Unanswerable) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    tick = progress(sum(len(work.makers) + 1 for work in chosen))
    outcomes = [measure(work, options.seconds, tick) for work in chosen]
    tick("")
    text = json.dumps(as_json(outcomes), indent=1) + "\n"
    sys.stdout.write(text if options.json == "-" else as_text(outcomes) + "\n")
    if options.json not in (None, "-"):
        Path(options.json).write_text(text, encoding="utf-8")
    if options.plot is not None:
        bars = {
            outcome.work: {name: entry.steady.median for name, entry in outcome.entries.items()}
            for outcome in outcomes
        }
        draw_bars(bars, options.plot)
    slower: list[str] = []
    if history is not None:
        words, slower = compared(as_json(outcomes), history)
        sys.stdout.write(words + "\n")
    if options.save is not None:
        save(as_json(outcomes), Path(options.save))
    # Not every library can do what a user's function asks for.
    failed = options.function is None and any(outcome.failures for outcome in outcomes)
    return 1 if failed or slower or any("symc" in o.failures for o in outcomes) else 0


def chosen_work(options: argparse.Namespace) -> list[Work]:
    """The user's function, or the pieces of the suite that were asked for.

    Raises `Unanswerable` for arguments that cannot be made.
    """
    if options.function is None:
        return [work for work in WORK if not options.only or work.name in options.only]
    arrays: list[Any] = []
    for text in options.arguments:
        try:
            arrays.append(np.asarray(eval(text, {**vars(np), "np": np, "random": np.random})))
        except Exception as error:
            raise Unanswerable(f"{text!r} is no array: {type(error).__name__}: {error}") from error
    function = attribute_named(options.function)
    try:
        return [work_of(function, arrays)]
    except Exception as error:
        raise Unanswerable(f"{options.function}: {type(error).__name__}: {error}") from error


def _run_large(arguments: list[str]) -> int:
    """The suite of a checkout, in a process of its own."""
    if not LARGE.exists():
        sys.stderr.write("--large needs a checkout of symc: there is no benchmarks/run.py here\n")
        return 2
    return subprocess.run([sys.executable, str(LARGE), *arguments], check=False).returncode


def progress(total: int) -> Callable[[str], None]:
    """A function that shows the present task; an empty text ends the bar."""
    try:
        from tqdm import tqdm
    except ImportError:
        return lambda text: None
    bar = tqdm(total=total, unit="step", leave=False, disable=None, file=sys.stderr)

    def tick(text: str) -> None:
        if text:
            bar.set_description(text)
            bar.update()
        else:
            bar.close()

    return tick
