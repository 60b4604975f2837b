"""`benchmarks/gpu.py` on the simulator: it runs, and what fails is named."""

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
    command = [
        sys.executable,
        str(ROOT / "benchmarks" / "gpu.py"),
        "--device",
        "cuda:sim",
        "--tiny",
    ]
    return subprocess.run(
        [*command, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip


def test_lines_are_printed_and_written(tmp_path: Path) -> None:
    done = run("--only", "matmul", "mlp", "--json", str(tmp_path / "figures.json"))
    assert done.stderr == ""
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [line["name"] for line in figures["lines"]] == [
        "matmul, own kernel",
        "MLP step, batch 8",
    ]
    assert figures["failed"] == []
    assert figures["facts"][1] == "cuBLAS: not found, own kernels"
    assert all(line["name"] in done.stdout for line in figures["lines"])
    assert "2 rows, 2 goals not reached, 0 groups failed" in done.stdout
    assert done.returncode == 1


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
