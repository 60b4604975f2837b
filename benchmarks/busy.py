"""How much longer calls take on a machine that has something else to do.

    python benchmarks/busy.py                two minutes on two cores
    python benchmarks/busy.py --only lstm    one row

Other processes keep each processor busy, or rest; rounds of both alternate. For each call the table
has the median time with one thread and with all of them, on the quiet machine and on the busy one.
With as many busy processes as processors, a program that gets its half of the machine takes twice
its quiet time.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

import numpy as np
from measure import Repeated, show

GOAL = 2.5
SPIN = "while True: pass"


def case(name: str) -> Callable[[], Repeated]:
    """symc's call of a row of run.py."""

    def make() -> Repeated:
        from cases import CASES

        made = next(case for case in CASES if case.name == name).contestants["symc"].make()
        assert isinstance(made, Repeated)
        return made

    return make


def stencil() -> Repeated:
    """200 steps of heat on a plate of 512 by 512 points."""
    import symc
    import symc.tensor as T

    x = T.matrix("x")

    def step(u: Any) -> Any:
        inner = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u[1:-1, 1:-1].inc(0.1 * (around - 4 * inner))

    last, _ = symc.scan(step, outputs_info=[x], n_steps=200)
    f = symc.function([x], last[-1])
    return Repeated(f, (np.random.default_rng(0).random((512, 512)),))


def elementwise() -> Repeated:
    """A few operations on a vector of 20,000 elements: so little that threads cannot help."""
    import symc
    import symc.tensor as T

    x = T.vector("x")
    f = symc.function([x], T.tanh(x) * 2 + 1)
    return Repeated(f, (np.random.default_rng(0).random(20_000),))


WORKS: dict[str, Callable[[], Repeated]] = {
    "lstm": case("lstm"),
    "stencil": stencil,
    "network": case("network"),
    "lenet": case("lenet"),
    "black_scholes": case("black_scholes"),
    "softmax": case("softmax"),
    "elementwise": elementwise,
}


def worker(name: str) -> None:
    """Takes a round of times for each line that comes in; says their median and processor time."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    made = WORKS[name]()
    for _ in range(3):
        made.function(*made.args)
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        times: list[float] = []
        cpu, end = time.process_time(), time.monotonic() + float(line)
        while time.monotonic() < end or len(times) < 5:
            begin = time.perf_counter()
            made.function(*made.args)
            times.append(time.perf_counter() - begin)
        used = (time.process_time() - cpu) / len(times)
        most = sorted(times)[len(times) * 9 // 10]
        print(json.dumps([median(times), used, most]), file=out, flush=True)


class Worker:
    """A process that makes a call again and again."""

    def __init__(self, name: str, threads: int) -> None:
        command = [sys.executable, __file__, "--worker", name]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "SYMC_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)},
        )  # fmt: skip
        self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a worker has ended")
        return line

    def round(self, seconds: float) -> list[float]:
        """The median and the processor time of a call, and the 90th percentile."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        found: list[float] = json.loads(self._line())
        return found

    def end(self) -> None:
        """Ends the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@contextmanager
def others(count: int) -> Iterator[Callable[[bool], None]]:
    """Processes that keep processors busy, once they are told to."""
    found = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]

    def tell(busy: bool) -> None:
        for process in found:
            process.send_signal(signal.SIGCONT if busy else signal.SIGSTOP)
        time.sleep(0.05)

    tell(False)
    try:
        yield tell
    finally:
        for process in found:
            process.kill()
            process.wait()


def measure(name: str, rounds: int, seconds: float) -> dict[str, list[float]]:
    """The medians over the rounds, by threads and by the other work of the machine."""
    cores = len(os.sched_getaffinity(0))
    found: dict[str, list[list[float]]] = {}
    workers = {"one": Worker(name, 1), "all": Worker(name, cores)}
    with others(cores) as tell:
        for _ in range(rounds):
            for state in ("quiet", "busy"):
                tell(state == "busy")
                for threads, each in workers.items():
                    found.setdefault(f"{threads} {state}", []).append(each.round(seconds))
    for each in workers.values():
        each.end()
    return {
        key: [median(column) for column in zip(*rows, strict=True)] for key, rows in found.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 1 if a call with all threads takes more than GOAL times its quiet time."""
    parser = argparse.ArgumentParser(description="Measure symc beside busy processes.")
    parser.add_argument("--only", nargs="+", choices=list(WORKS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4, help="of a round")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        worker(options.worker)
        return 0
    head = ("one thread", "busy", "ratio", "all threads", "busy", "ratio", "9 of 10", "cpu, quiet")
    print(f"{'':<14}" + "".join(f"{title:>12}" for title in head))
    missed = False
    for name in options.only or WORKS:
        found = measure(name, options.rounds, options.seconds)
        one, one_busy = found["one quiet"][0], found["one busy"][0]
        several, busy = found["all quiet"][0], found["all busy"][0]
        missed |= busy > GOAL * several
        cells = (
            show(one), show(one_busy), f"{one_busy / one:.2f}", show(several), show(busy),
            f"{busy / several:.2f}", show(found["all busy"][2]), show(found["all quiet"][1]),
        )  # fmt: skip
        print(f"{name:<14}" + "".join(f"{cell:>12}" for cell in cells), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
