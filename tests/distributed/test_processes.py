"""Programs on several processes, each started as a user starts them."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("programs.py")

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="mpi4py is not installed: pip install '.[mpi]'"
)


TOGETHER = ("values", "gradients", "training", "random", "loops", "refused")


def started(count: int, *names: str) -> subprocess.CompletedProcess[str]:
    """Programs of `programs.py`, in turn, on so many processes."""
    command = [sys.executable, "-m", "symc", "run", "-n", str(count), str(PROGRAMS), *names]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_processes_compute_together(count: int) -> None:
    done = started(count, *TOGETHER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith("agreed")


def test_an_exception_on_one_process_ends_the_job() -> None:
    done = started(2, "fails_on_one")
    assert done.returncode != 0
    assert "ArithmeticError: only here" in done.stderr + done.stdout
