"""``symc``, or ``python -m symc``: the command line. `commands/` has a file for each command."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable, Sequence

from symc.cache.pipes import quietly
from symc.graph.other_libraries import meant
from symc.version import VERSION

COMMANDS = {
    "doctor": "what symc finds on this machine, and how to mend what is missing",
    "compile": "fill the cache ahead: compile the functions of a module",
    "bench": "measure symc against NumPy, JAX, PyTorch and Numba, where installed",
    "show": "the source, graph, loops or plan of a function",
    "run": "run a script on several processes, over MPI",
    "theano": "run a program that was written for Theano",
}
OTHERS = {
    "cache": "list, show, why, size, verify, prune and clear what is kept on disk",
    "demo": "train two networks on handwritten digits, compiled and in NumPy",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; returns its exit status.

    0: a good answer; 1: a bad one (something is broken or damaged); 2: there is no such command,
    or it cannot be answered; 141: nobody reads its output.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    return quietly(lambda: _run(given))


def _run(given: list[str]) -> int:
    if given[:1] == ["cache"]:
        from symc.cache import __main__ as cache

        return _unknown("symc cache", given[1:], cache.COMMANDS) or cache.main(given[1:])
    if given[:1] == ["demo"]:
        from symc.demo.__main__ import main as demo

        demo(given[1:])
        return 0
    if _unknown("symc", given, [*COMMANDS, *OTHERS]):
        return 2
    parser = argparse.ArgumentParser(prog="symc", description="symc's command line")
    parser.add_argument("--version", action="version", version=f"symc {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        module = importlib.import_module(f"symc.commands.{name}")
        command = commands.add_parser(name, help=text, description=text)
        module.add(command)
        command.set_defaults(run=module.run)
    for name, text in OTHERS.items():
        commands.add_parser(name, help=text, add_help=False)
    try:
        options = parser.parse_args(given)
    except SystemExit as stop:
        return int(stop.code or 0)
    status: int = options.run(options)
    return status


def _unknown(program: str, given: Sequence[str], known: Iterable[str]) -> int:
    """Says so if the first argument is no command; returns the exit status, 0 if it is one."""
    if not given or given[0].startswith("-") or given[0] in known:
        return 0
    near = meant(given[0], known) or f"; there are {', '.join(known)}"
    sys.stderr.write(f"{program}: no command {given[0]!r}{near}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
