"""``python -m symc theano``: run a program that was written for Theano on `symc.theano`."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "--compat", action="store_true",
        help="also answer names that Python and NumPy dropped, such as np.float, and say which",
    )  # fmt: skip
    parser.add_argument("-m", dest="module", action="store_true", help="a module, not a script")
    parser.add_argument("program", help="the script, or with -m the module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def run(options: argparse.Namespace) -> int:
    """Runs the program as ``__main__``, where ``import theano`` gives symc's."""
    from symc.theano.imports import install

    install()
    if not options.compat:
        _program(options)
        return 0
    from symc.theano.dropped import ANSWERED, answer_dropped_names

    answer_dropped_names()
    try:
        _program(options)
    finally:
        if ANSWERED:
            sys.stderr.write(f"symc theano --compat answered: {', '.join(sorted(ANSWERED))}\n")
    return 0


def _program(options: argparse.Namespace) -> None:
    sys.argv = [options.program, *options.arguments]
    if options.module:
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(options.program).resolve().parent))
        runpy.run_path(options.program, run_name="__main__")
