"""One contestant in a process of its own: ``worker.py CASE CONTESTANT SECONDS_PER_ROUND CLOCK``.

CLOCK is "wall", or "cpu" for the time that the process spends on processors.

Speaks in lines of JSON. First the report of `make`; then, for each line read, a round of calls and
the best time of one. Whatever libraries print goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
import timeit
from typing import TextIO

REST = 0.1  # seconds: idle threads of who was timed before go on spinning, OpenBLAS's for 30 ms


def main() -> None:
    """Sets up, then takes times until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    name, contestant, length = sys.argv[1], sys.argv[2], float(sys.argv[3])
    if sys.argv[4] == "cpu":
        time.perf_counter = processor_time  # the clock of all cases, and of symc's own stages

    from cases import CASES
    from measure import Once, stay_on_one_processor

    if sys.argv[4] == "cpu":
        stay_on_one_processor()
    case = next(case for case in CASES if case.name == name)
    made = case.contestants[contestant].make()
    if isinstance(made, Once):
        say(out, {"seconds": made.seconds, "facts": made.facts})
        return
    names = [f"a{number}" for number in range(len(made.args))]
    scope = {"function": made.function, **dict(zip(names, made.args, strict=True))}
    timer = timeit.Timer(f"function({', '.join(names)})", timer=time.perf_counter, globals=scope)
    timer.timeit(2)
    batch = max(1, int(1e-3 / max(timer.timeit(1), 1e-8)))
    say(out, {"facts": made.facts})
    while sys.stdin.readline():
        say(out, {"seconds": one_round(timer, batch, length)})


def processor_time() -> float:
    """The seconds that this process and those that it waited for spent on processors."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


def one_round(timer: timeit.Timer, batch: int, length: float) -> float:
    """The best time of a call, in seconds; calls for at least `length` seconds."""
    time.sleep(REST)
    timer.timeit(1)
    end = time.monotonic() + length
    best = timer.timeit(batch) / batch
    while time.monotonic() < end:
        best = min(best, timer.timeit(batch) / batch)
    return best


def say(out: TextIO, what: dict[str, object]) -> None:
    """Writes one line."""
    out.write(json.dumps(what) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
