"""``scripts/fuzz``: random programs in all modes, against NumPy and the interpreter."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.campaign import Campaign, CampaignSettings
from tests.fuzz.generators import PLACES
from tests.fuzz.protocol import MODES

KEEP = Path("fuzz-failures")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a campaign; 1 if something failed."""
    names = tuple(PLACES)
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=10.0, metavar="N", help="how long to run (10)")
    add("--jobs", type=int, metavar="N", help="programs at a time (default: one for each core)")
    add("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    add("--mode", nargs="+", choices=MODES, metavar="MODE", help=", ".join(MODES))
    add("--seed", type=int, metavar="S", help="run this seed alone, in all modes")
    add("--from-seed", type=int, metavar="S", help="where to start (default: the time of day)")
    add("--keep", type=Path, default=KEEP, metavar="DIR", help=f"for what fails ({KEEP})")
    options = parser.parse_args(argv)
    if options.seed is not None and options.from_seed is not None:
        parser.error("--seed runs one program, --from-seed all that follow: give one of them")
    first = options.seed if options.seed is not None else options.from_seed
    plan = CampaignSettings(
        names=tuple(options.only or names),
        first=int(time.time()) if first is None else first,
        seconds=60 * options.minutes,
        jobs=options.jobs or len(os.sched_getaffinity(0)),
        folder=options.keep,
        only_seed=options.seed is not None,
        modes=None if options.mode is None else tuple(options.mode),
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the table is printed in any case
    print(f"{', '.join(plan.names)}: seeds from {plan.first}, {plan.jobs} at a time", flush=True)
    return 0 if Campaign(plan).run() else 1


if __name__ == "__main__":
    sys.exit(main())
