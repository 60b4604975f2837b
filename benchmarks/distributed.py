"""What exchanging arrays costs, and what a model says of more processes than there are here.

    python benchmarks/distributed.py                         2 and 4 processes; a minute or two
    python benchmarks/distributed.py --quick                 fewer lengths
    python benchmarks/distributed.py --ranks 1000 --latency 2e-6 --bandwidth 25e9

First the collective operations are timed within compiled functions, for arrays of 8 bytes to 8 MB.
Then two numbers are fitted for each operation, alpha, the time that a message takes to start, and
beta, the time for each byte: t = alpha * m(p) + beta * b(p) * n, where m counts the messages that
one process sends after another and b the parts of n bytes that it sends; of the algorithms for
short and for long arrays the faster one counts. (Thakur, Rabenseifner and Gropp: Optimization of
Collective Communication Operations in MPICH, 2005.) The table shows measured and modelled times,
and how far apart they are. The last table is no measurement: it puts the
constants of a network that is given into the same formulas, for as many processes as are given.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np


class Algorithm(NamedTuple):
    """The messages one after the other, and the parts of n bytes sent, of p processes."""

    messages: Callable[[int], float]
    parts: Callable[[int], float]


# n is the number of bytes of the longest array that a process has: the gathered one of all_gather,
# the scattered one of reduce_scatter.
DOUBLING = Algorithm(math.log2, math.log2)
HALVING = Algorithm(math.log2, lambda p: (p - 1) / p)
MODELS = {
    "all_reduce": (DOUBLING, Algorithm(lambda p: 2 * math.log2(p), lambda p: 2 * (p - 1) / p)),
    "reduce_scatter": (HALVING,),
    "all_gather": (HALVING,),
    "broadcast": (
        DOUBLING,
        Algorithm(lambda p: math.log2(p) + p - 1, lambda p: 2 * (p - 1) / p),
    ),
    "shift": (Algorithm(lambda p: 1, lambda p: 1),),
}
LENGTHS = (1, 16, 256, 4096, 65536, 1048576)
"""Numbers in float64 of the longest array; rounded up to parts that are equally long."""


def measure(lengths: Sequence[int], seconds: float) -> dict[str, list[tuple[int, float]]]:
    """On each process: bytes and seconds of one operation, the slowest process's."""
    import symc
    import symc.distributed as D
    import symc.tensor as T

    communicator, found = D.world().communicator, {}
    for name in MODELS:
        rows: list[tuple[int, float]] = []
        for length in lengths:
            given = -(-length // D.size()) * (1 if name == "all_gather" else D.size())
            x = T.tensor("float64", (given,), "x")
            f = symc.function([x], getattr(D, name)(x), name=name)
            array = np.ones(given)
            f(array)
            count, took = 1, 0.0
            while True:
                communicator.Barrier()
                started = time.perf_counter()
                for _ in range(count):
                    f(array)
                took = communicator.allreduce(time.perf_counter() - started, max_of())
                if took > seconds:
                    break
                count *= 2
            best = min(took, *(timed(f, array, count, communicator) for _ in range(2)))
            longest = given * (D.size() if name == "all_gather" else 1)
            rows.append((8 * longest, best / count))
        found[name] = rows
    return found


def timed(f: Callable[..., Any], array: Any, count: int, communicator: Any) -> float:
    """Seconds of so many calls, on the process that is slowest."""
    communicator.Barrier()
    started = time.perf_counter()
    for _ in range(count):
        f(array)
    return float(communicator.allreduce(time.perf_counter() - started, max_of()))


def max_of() -> Any:
    """MPI's maximum."""
    from mpi4py import MPI

    return MPI.MAX


def started(processes: int, arguments: Sequence[str]) -> dict[str, list[tuple[int, float]]]:
    """The measurements of a job of so many processes."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "found.json")
        command = [sys.executable, "-m", "symc", "run", "-n", str(processes), __file__]
        environment = {"SYMC_THREADS": "1", "OMP_NUM_THREADS": "1"} | dict(os.environ)
        command += ["--worker", str(place), *arguments]
        subprocess.run(command, env=environment, check=True)
        found: dict[str, list[tuple[int, float]]] = json.loads(place.read_text())
        return found


Model: TypeAlias = Sequence[Algorithm]


def fitted(model: Model, rows: Sequence[tuple[int, int, float]]) -> tuple[float, float]:
    """Alpha and beta with the least squares of the logarithms of modelled over measured times."""
    logs = np.log([min(t for _, _, t in rows), max(t / n for _, n, t in rows)])
    times = np.array([t for _, _, t in rows])
    for _ in range(100):  # Gauss and Newton, by small steps
        alpha, beta = np.exp(logs)
        terms = np.array([terms_of(model, p, n, alpha, beta) for p, n, _ in rows])
        modelled = terms.sum(axis=1)
        slopes = terms / modelled[:, None]
        step = np.linalg.lstsq(slopes, np.log(times / modelled), rcond=1e-6)[0]
        logs += np.clip(step, -0.5, 0.5)
    alpha, beta = np.exp(logs)
    return float(alpha), float(beta)


def terms_of(model: Model, p: int, n: float, alpha: float, beta: float) -> tuple[float, float]:
    """The model's time for one operation: of starting messages, and of sending bytes."""
    ways = ((alpha * each.messages(p), beta * each.parts(p) * n) for each in model)
    return min(ways, key=sum)


def show(found: dict[int, dict[str, list[tuple[int, float]]]]) -> None:
    """Measured against modelled."""
    cores = len(os.sched_getaffinity(0))
    print(f"measured on one machine with {cores} processors, load {os.getloadavg()[0]:.1f}")
    if max(found) > cores:
        print("(more processes than processors: they wait for each other to be scheduled)")
    for name, model in MODELS.items():
        rows = [(p, n, t) for p, each in found.items() for n, t in each[name]]
        alpha, beta = fitted(model, rows)
        print(f"\n{name}: alpha {alpha * 1e6:.2f} us, {1e-9 / beta:.2f} GB/s")
        print("  processes     bytes  measured us  modelled us  ratio")
        for p, n, t in rows:
            modelled = sum(terms_of(model, p, n, alpha, beta))
            print(f"  {p:9} {n:9} {t * 1e6:12.2f} {modelled * 1e6:12.2f} {modelled / t:6.2f}")


def extrapolate(p: int, alpha: float, bandwidth: float) -> None:
    """The same formulas for another network and another number of processes."""
    print(f"\nA model, not a measurement: {p} processes, each with a link of its own that starts a")
    print(
        f"message in {alpha * 1e6:g} us and carries {bandwidth * 1e-9:g} GB/s, nothing else on it"
    )
    sizes = (8, 1 << 20, 100 << 20, 1 << 30)
    print(f"  {'':14}" + "".join(f"{each:>14,} B" for each in sizes))
    for name, model in MODELS.items():
        times = (sum(terms_of(model, p, n, alpha, 1 / bandwidth)) * 1e3 for n in sizes)
        print(f"  {name:14}" + "".join(f"{each:13.3f} ms" for each in times))


def main() -> None:
    """Measures, fits and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 4], help="default: 2 4")
    parser.add_argument("--quick", action="store_true", help="three lengths, short rounds")
    parser.add_argument("--ranks", type=int, default=1000, help="of the model; default: 1000")
    parser.add_argument("--latency", type=float, default=2e-6, help="seconds; default: 2e-6")
    parser.add_argument("--bandwidth", type=float, default=25e9, help="bytes/s; default: 25e9")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is None:
        quick = ["--quick"] * options.quick
        show({p: started(p, quick) for p in options.processes})
        extrapolate(options.ranks, options.latency, options.bandwidth)
        return
    import symc.distributed as D

    found = measure(LENGTHS[::2] if options.quick else LENGTHS, 0.02 if options.quick else 0.1)
    if D.rank() == 0:
        options.worker.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
