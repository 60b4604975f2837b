"""`benchmarks/gpu.py` on the simulator: it runs, and failures are named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.devices import needs_simulator

pytestmark = needs_simulator
ROOT = Path(__file__).parents[2]


def run(*words: str) -> Any:
    command = [sys.executable, "benchmarks/gpu.py", "--device", "cuda:sim", "--tiny", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_lines_are_printed_and_written(tmp_path: Path) -> None:
    done = run("--only", "calls", "--json", str(tmp_path / "figures.json"))
    assert done.stderr == ""
    figures = json.loads((tmp_path / "figures.json").read_text())
    names = [line["name"] for line in figures["lines"]]
    assert names[0] == "one small function, to return"
    assert [name.partition(", ")[2] for name in names[1:]] == ["launched", "as a graph"]
    assert not any(line["notes"] for line in figures["lines"])  # such as that there was no graph
    assert figures["failed"] == []
    assert figures["facts"][1] == "cuBLAS: not found, own kernels"
    assert all(name in done.stdout for name in names)
    assert "3 rows, " in done.stdout
    assert ", 0 groups failed" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seconds", "5"], "FAILED  calls: no time is left"),
        (["--repeat", "none"], "invalid int value"),
    ],
)
def test_what_cannot_be_measured_is_named(words: list[str], said: str) -> None:
    done = run("--only", "calls", *words)
    assert said in done.stdout + done.stderr
    assert done.returncode != 0
