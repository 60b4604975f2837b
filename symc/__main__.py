"""``python -m symc``: ``cache`` looks after compiled functions on disk, ``demo`` shows symc."""

from __future__ import annotations

import sys

USAGE = """\
usage: python -m symc cache list|show|why|size|verify|clear|prune ...
       python -m symc demo
"""


def main(argv: list[str]) -> int:
    """Runs a command; returns its exit status (2: there is no such command)."""
    match argv:
        case ["cache", *rest]:
            from symc.cache.__main__ import main as cache

            return cache(rest)
        case ["demo", *rest]:
            from symc.demo.__main__ import main as demo

            demo(rest)
            return 0
        case ["--help" | "-h"]:
            sys.stdout.write(USAGE)
            return 0
        case _:
            sys.stderr.write(USAGE)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
