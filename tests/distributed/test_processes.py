"""Programs on several processes, each started as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import symc
from symc.distributed import groups

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
    said = done.stderr + done.stdout
    assert 'process 2:\nTraceback (most recent call last):\n  File "' + str(PROGRAMS) in said
    assert "ArithmeticError: only here" in said


def test_a_bug_a_process_that_took_fewer_steps_ended_without_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others waited for it for ever, and nobody knew for whom."""
    answers = [False, False, True]

    arrival = SimpleNamespace(Test=lambda: answers.pop(0))
    ending = SimpleNamespace(Ibarrier=lambda: arrival)
    monkeypatch.setattr(groups, "_ending", [ending])
    monkeypatch.setattr(groups, "rank", lambda: 3)
    groups.wait_for_others(patience=0)
    assert answers == []
    assert capsys.readouterr().err.count("process 3 has ended, and waits for the others") == 1


def test_processes_run_modules_and_stop_with_a_status(tmp_path: Path) -> None:
    (tmp_path / "stops.py").write_text("import sys\nsys.exit(int(sys.argv[1]))\n")
    for status in (0, 3):
        command = [sys.executable, "-m", "symc", "run", "-n", "2", "-m", "stops", str(status)]
        path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True,
            text=True, check=False, timeout=600,
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr


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
