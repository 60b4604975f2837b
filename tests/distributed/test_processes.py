"""Programs on several processes, each started as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import symc

PROGRAMS = Path(__file__).with_name("programs.py")

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="mpi4py is not installed: pip install '.[mpi]'"
)


EVERYTHING = (
    "values", "gradients", "training", "without_rows", "meanwhile", "normalised",
    "elementwise_optimisers", "random", "loops", "refused", "streams_go_on", "checked", "saved",
)  # fmt: skip


def started(count: int, *names: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Programs of `programs.py`, in turn, on so many processes."""
    command = [sys.executable, "-m", "symc", "run", "-n", str(count), str(PROGRAMS), *names]
    environment = os.environ | variables
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=600
    )


def agree(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith("agreed")


@pytest.mark.parametrize(
    ("count", "names"),
    [(2, EVERYTHING), (4, ("values", "training", "without_rows"))],
    ids=["two", "four"],
)
def test_processes_compute_together(count: int, names: tuple[str, ...], tmp_path: Path) -> None:
    agree(started(count, *names, FOLDER=str(tmp_path)))


def test_an_exception_on_one_process_ends_the_job() -> None:
    done = started(3, "fails_on_one")
    assert done.returncode != 0
    assert "ArithmeticError: only here" in done.stderr + done.stdout


def test_a_killed_job_goes_on_with_another_number_of_processes(tmp_path: Path) -> None:
    """Three processes, of which one is killed; then two, which begin at the last file."""
    killed = started(3, "goes_on", FOLDER=str(tmp_path), UNTIL="7")
    assert killed.returncode != 0
    assert "0 begins at 0" in killed.stdout
    state = symc.load(tmp_path / "run.symc")()
    assert state["steps done"] == 6
    assert any(value.shape == (25,) for value in state.values()), "parts were put together"
    done = started(2, "goes_on", FOLDER=str(tmp_path), UNTIL="-1")
    agree(done)
    assert "0 begins at 6" in done.stdout
    assert "1 begins at 6" in done.stdout


def test_cold_and_warm_caches(tmp_path: Path) -> None:
    """One of several processes compiles a function and the others wait for it."""
    for _ in range(2):
        agree(started(2, "once_compiled", SYMC_CACHE_DIR=str(tmp_path)))
        assert len(list(tmp_path.rglob("function.txt"))) == 1
