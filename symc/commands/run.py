"""``python -m symc run -n 4 script.py``: run a script on several processes, over MPI.

By mpi4py's own runner, which ends the whole job when one process fails: the others would wait for
it for ever. In it `symc/distributed/process.py` runs the script, and says which process it was.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from symc.codegen import processors
from symc.codegen.errors import MpiMissing
from symc.codegen.targets.mpi import installed

PROCESS = Path(__file__).parent.parent / "distributed" / "process.py"

# Open MPI refuses more processes than processors unless told otherwise; MPICH does not ask. Both
# wait for messages in loops that keep a processor busy, and leave it to others only where told.
_MORE_PROCESSES = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
_WAIT_IDLY = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("-n", dest="count", type=int, required=True, help="how many processes")
    parser.add_argument("-m", dest="module", action="store_true", help="a module, not a script")
    parser.add_argument("program", help="the script, or with -m the module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def run(options: argparse.Namespace) -> int:
    """Starts the processes, and returns the job's exit status."""
    if options.count < 1:
        sys.stderr.write(f"symc run: -n {options.count} is not a number of processes\n")
        return 2
    try:
        installed()
        launcher = find_launcher()
    except MpiMissing as missing:
        sys.stderr.write(f"symc run: {missing}\n")
        return 2
    command = [launcher, "-n", str(options.count), sys.executable, "-m", "mpi4py", str(PROCESS)]
    command += ["-m"] * options.module + [options.program, *options.arguments]
    environment = settings(options.count) | os.environ
    return subprocess.run(command, env=environment, check=False).returncode


def settings(count: int) -> dict[str, str]:
    """Variables for so many processes on this machine; those that are set already count more.

    The processes share its processors: together they have as many threads as there are.

    >>> settings(10_000)["OMP_NUM_THREADS"]
    '1'
    """
    cores = processors.find({}).count
    threads = {"OMP_NUM_THREADS": str(max(1, cores // count))}
    return _MORE_PROCESSES | threads | (_WAIT_IDLY if count > cores else {})


def find_launcher() -> str:
    """The ``mpiexec`` beside this Python, as wheels bring it, else that in PATH."""
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        raise MpiMissing("there is no mpiexec\nin a checkout: pip install '.[mpi]'")
    return found
