"""`pm.sample` from the start of a script, by each mode: `python benchmarks/pymc.py --sample`.

A process of its own for each run: it imports PyMC, builds a model, draws 1,000 times in each of
four chains (after as many to adapt), and ends; `--draws` says another number. First with empty
caches, then with those that the first run has filled. A run of more than `--limit` seconds is
ended, and its mode left out. Seconds are of processor time of all its processes, as a machine with
one processor would take, whatever else is run meanwhile.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def compared(name: str, modes: list[str], draws: int, limit: float) -> dict[str, Any]:
    """The figures of one model by each mode. Why a mode is missing is written to stderr."""
    found: dict[str, Any] = {}
    for mode in modes:
        try:
            found[mode] = sampled(name, mode, draws, limit)
        except subprocess.TimeoutExpired as problem:
            print(f"{name} by {mode}: over {problem.timeout:.0f} s", file=sys.stderr)
        except subprocess.CalledProcessError as problem:
            print(f"{name} by {mode}: {problem.stderr[-500:]}", file=sys.stderr)
    return found


def sampled(name: str, mode: str, draws: int, limit: float) -> dict[str, Any]:
    """Seconds of one model by one mode: `cold`, `warm`, gradients evaluated by the second run."""
    with tempfile.TemporaryDirectory() as folder:
        caches = {
            "SYMC_CACHE_DIR": f"{folder}/symc",
            "NUMBA_CACHE_DIR": f"{folder}/numba",
            "PYTENSOR_FLAGS": f"base_compiledir={folder}/pytensor",
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": bytecode(),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        cold, warm = (_run([name, mode, str(draws)], caches, limit) for _ in range(2))
    return {"cold": cold["cpu"], "warm": warm["cpu"], "gradients": warm["gradients"]}


@functools.cache
def bytecode() -> str:
    """A folder with the bytecode of all packages, as `pip install` makes it, but not every tool."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    places = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(ROOT)}
    for mode in ("SYMC", "NUMBA", "JAX"):
        makes = "import symc.pytensor; " if mode == "SYMC" else ""
        makes += "from benchmarks.pymc_models import eight_schools; "
        makes += f"eight_schools().logp_dlogp_function(mode={mode!r})"
        command = [sys.executable, "-c", makes]
        subprocess.run(command, check=False, env=os.environ | places, cwd=folder, timeout=600)
    return folder


def _run(given: list[str], caches: dict[str, str], limit: float) -> dict[str, Any]:
    _adopt()
    before = _children_seconds()
    command = [sys.executable, __file__, *given]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # With a session of its own, so that its chains end with it where it takes too long.
    with subprocess.Popen(
        command, env=os.environ | caches, start_new_session=True, **pipes
    ) as started:
        try:
            output, errors = started.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            raise
    _wait_for_others()
    if started.returncode:
        raise subprocess.CalledProcessError(started.returncode, command, output, errors)
    return {"cpu": _children_seconds() - before} | json.loads(output.splitlines()[-1])


_PR_SET_CHILD_SUBREAPER = 36  # of Linux's <sys/prctl.h>


def _adopt() -> None:
    """Makes processes whose parents end children of this one, so that their time is counted.

    In the mode JAX chains are children of a server of processes, for which nobody waits.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _wait_for_others() -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def _children_seconds() -> float:
    """Processor time of the processes that have ended, and of those that these have waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shown(rows: list[dict[str, Any]], modes: list[str]) -> str:
    """The table: seconds of processor time, cold and warm, and gradients evaluated by each mode."""
    kinds = [f"{kind} {mode}" for kind in ("cold", "warm") for mode in modes]
    head = ["model", *kinds, "best other / SYMC, cold", "warm", "thousands of gradients"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        found = row["sample"]
        cells = [
            f"{found[mode][kind]:.1f}" if mode in found else "-"
            for kind in ("cold", "warm") for mode in modes
        ]  # fmt: skip
        for kind in ("cold", "warm"):
            others = [found[mode][kind] for mode in modes if mode in found and mode != "SYMC"]
            known = others and "SYMC" in found
            cells.append(f"{min(others) / found['SYMC'][kind]:.2f}" if known else "-")
        steps = [f"{found[mode]['gradients'] / 1000:.0f}" for mode in modes if mode in found]
        lines.append("| " + " | ".join([row["model"], *cells, ", ".join(steps)]) + " |")
    return "\n".join(lines)


def _sample(name: str, mode: str, draws: int) -> None:
    """What a user's script does."""
    import logging
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    import pymc as pm

    if mode == "SYMC":
        import symc.pytensor  # noqa: F401 -- registers the mode
    from benchmarks import pymc_models

    with getattr(pymc_models, name)():
        trace: Any = pm.sample(
            draws, tune=draws, chains=4, cores=4, backend=mode, nuts_sampler="pymc",
            progressbar=False, compute_convergence_checks=False, random_seed=1,
            discard_tuned_samples=False,
        )  # fmt: skip
    stats = [trace[group]["n_steps"] for group in ("sample_stats", "warmup_sample_stats")]
    print(json.dumps({"gradients": int(sum(float(steps.sum()) for steps in stats))}))


if __name__ == "__main__":
    sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).parent]
    _sample(sys.argv[1], sys.argv[2], int(sys.argv[3]))
