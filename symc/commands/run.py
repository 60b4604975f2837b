"""``python -m symc run -n 4 script.py``: run a script on several processes, over MPI.

By mpi4py's own runner, which ends the whole job with the traceback of the process that fails: the
others would wait for it for ever.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from symc.codegen.errors import MpiMissing
from symc.codegen.targets.mpi import installed

# Open MPI refuses more processes than processors unless told otherwise; MPICH does not ask.
_MORE_PROCESSES = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


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
    command = [launcher, "-n", str(options.count), sys.executable, "-m", "mpi4py"]
    command += ["-m"] * options.module + [options.program, *options.arguments]
    return subprocess.run(command, env=_MORE_PROCESSES | os.environ, check=False).returncode


def find_launcher() -> str:
    """The ``mpiexec`` beside this Python, as wheels bring it, else that in PATH."""
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        raise MpiMissing("there is no mpiexec\nin a checkout: pip install '.[mpi]'")
    return found
