"""Runs the kernels with the lengths of their arrays unknown and declared, and prints the ratios.

    python benchmarks/kernels/declared.py                     all: about a minute
    python benchmarks/kernels/declared.py --only lu knapsack  some

Who declares lengths says more, and should get programs that are no slower. Both take turns on one
thread. The exit status is 1 if one is slower by more than the goal, or gives other numbers.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import geometric_mean

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from one_thread import ONE_THREAD

if __name__ == "__main__":  # before NumPy is imported: its BLAS starts threads at once
    os.environ.update(ONE_THREAD)

from measure import stay_on_one_processor
from run import progress

EACH = 1.15  # times the time with lengths unknown
ROUNDS = 5
LENGTH = 0.02  # seconds of a round


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the kernels of the command line; 1 if declared lengths made one slower."""
    stay_on_one_processor()
    with tempfile.TemporaryDirectory(prefix="symc-bench-") as cache:
        os.environ["SYMC_CACHE_DIR"] = cache
        return measured(arguments)


def measured(arguments: Sequence[str] | None) -> int:
    """`main`, with its environment."""
    from kernels import KERNELS
    from kernels.contest import Timed, agree, best, compiled_by_symc, taken

    names = [kernel.name for kernel in KERNELS]
    parser = argparse.ArgumentParser(description="Measure kernels with their lengths declared.")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME",
                        help="measure only these: " + ", ".join(names))  # fmt: skip
    parser.add_argument("--small", action="store_true", help="few numbers, as tests have them")
    options = parser.parse_args(arguments)
    chosen = [kernel for kernel in KERNELS if not options.only or kernel.name in options.only]
    tick = progress(len(chosen))
    ratios: dict[str, tuple[float, float]] = {}
    for kernel in chosen:
        tick(kernel.name)
        arrays = kernel.given(kernel.small if options.small else kernel.size)
        wanted = kernel.oracle(*(array.copy() for array in arrays))
        both: list[Timed] = []
        for declared in (False, True):
            function = compiled_by_symc(kernel, kernel.symc, arrays, declared=declared)
            agree(function(*arrays), wanted, kernel.rtol)
            call = partial(function, *arrays)
            both.append(Timed(call, max(1, int(1e-3 / max(taken(call, 1), 1e-8)))))
        for _ in range(ROUNDS):
            for one in both:
                one.rounds.append(best(one, LENGTH))
        unknown, known = (min(one.rounds) for one in both)
        ratios[kernel.name] = unknown, known
    tick("")
    missed = [name for name, (unknown, known) in ratios.items() if known > EACH * unknown]
    width = max(map(len, ratios))
    for name, (unknown, known) in ratios.items():
        verdict = "  NOT REACHED" if name in missed else ""
        figures = f"{unknown * 1e6:10.1f} us {known * 1e6:10.1f} us  {known / unknown:.2f}"
        print(f"{name:<{width}} {figures}{verdict}")
    mean = geometric_mean([known / unknown for unknown, known in ratios.values()])
    print(f"geometric mean over {len(ratios)} of declared / unknown: {mean:.2f}")
    print(f"{len(missed)} of {len(ratios)} over {EACH}: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
