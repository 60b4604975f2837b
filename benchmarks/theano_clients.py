"""How long programs written for Theano take on symc, and on Theano where that installs.

    python benchmarks/theano_clients.py                      four programs, a minute on two cores
    python benchmarks/theano_clients.py --theano python3.7   and on Theano, by that interpreter
    python benchmarks/theano_clients.py --suite DIRECTORY    and a client's tests, cold and warm

Each program (`theano_programs.py`) runs in a process of its own, first with an empty cache and then
with what that left. The interpreter for Theano needs ``theano==1.0.5 numpy==1.19.5 scipy==1.5.4``;
without it, or where it cannot import Theano, those columns are empty. ``--suite`` runs pytest
through ``symc theano --compat``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from theano_programs import PROGRAMS

HERE = Path(__file__).parent
FLAGS = "floatX=float32,device=cpu"


def times(provider: str, interpreter: str, program: str, cache: str) -> list[float] | None:
    """Seconds to import, to the first result, and of a step; None where it cannot run."""
    environment = {
        **os.environ, "SYMC_CACHE_DIR": cache, "THEANO_FLAGS": f"{FLAGS},base_compiledir={cache}",
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    command = [interpreter, str(HERE / "theano_programs.py"), provider, program]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        return None
    return [float(word) for word in run.stdout.split()[-3:]]


def row(provider: str, interpreter: str, program: str) -> list[str]:
    """The cells of a program: first result with an empty and a filled cache, and a step."""
    with tempfile.TemporaryDirectory() as cache:
        cold = times(provider, interpreter, program, cache)
        warm = times(provider, interpreter, program, cache)
    if cold is None or warm is None:
        return ["", "", ""]
    return [f"{cold[1]:.2f} s", f"{warm[1]:.2f} s", f"{1e3 * min(cold[2], warm[2]):.2f} ms"]


def suite(directory: str) -> None:
    """Runs a client's tests twice, with an empty cache and with what the first run left."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "SYMC_CACHE_DIR": cache, "THEANO_FLAGS": FLAGS}
        for name in ("empty cache", "filled cache"):
            begin = time.perf_counter()
            command = [sys.executable, "-m", "symc", "theano", "--compat", "-m", "pytest", "-q"]
            subprocess.run([*command, directory], env=environment, check=False)
            print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--theano", metavar="PYTHON", help="an interpreter that has Theano 1.0.5")
    parser.add_argument("--only", choices=sorted(PROGRAMS), help="one program")
    parser.add_argument("--suite", metavar="DIRECTORY", help="the tests of a client, run twice")
    options = parser.parse_args()
    print("| program | symc: first, empty cache | first, filled | a step "
          "| Theano: first, empty cache | first, filled | a step |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for program in [options.only] if options.only else PROGRAMS:
        cells = row("symc", sys.executable, program)
        cells += row("theano", options.theano, program) if options.theano else ["", "", ""]
        print(f"| {program} | {' | '.join(cells)} |", flush=True)
    if options.suite:
        suite(options.suite)


if __name__ == "__main__":
    main()
