"""``python -m symc bench``: its output, and its exit statuses."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symc.__main__ import main
from symc.commands import bench
from symc.measure import suite
from symc.measure.suite import WORK, Work, measure


def test_all_contestants_are_in_the_table_and_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    command = ["bench", "--only", "slope", "--seconds", "0.01", "--json", str(file)]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "gradient of logistic regression" in printed
    assert "times symc's" in printed
    figures = json.loads(file.read_text())
    assert {"symc", "NumPy"} <= figures["work"]["slope"]["seconds"].keys()
    assert {"symc", "NumPy"} <= figures["versions"].keys()
    assert figures["work"]["slope"]["seconds"]["symc"]["median"] > 0


def made(name: str, call: Any) -> Work:
    """Twice an array, by NumPy and by somebody else."""
    makers = {"NumPy": lambda: np.positive, name: lambda: call}
    return Work("twice", "twice", lambda: [np.ones(3)], makers)


def test_wrong_results_are_failures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = measure(made("symc", np.zeros_like), 0.0, lambda text: None)
    assert list(outcome.entries) == ["NumPy"]
    assert outcome.failures["symc"].startswith("AssertionError")
    monkeypatch.setattr(bench, "WORK", (made("symc", np.zeros_like),))
    assert main(["bench", "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["work"]["twice"]["failures"].keys() == {"symc"}


def test_what_numba_is_given_says_the_same_without_it() -> None:
    work = {work.name: work.arguments()[:2] for work in WORK}
    x, y = work["nearest"]
    few = x[:9], y[:7]
    np.testing.assert_allclose(suite.nearest_in_loops(*few), suite.nearest(np, *few), rtol=1e-12)
    (x,) = work["wave"]
    np.testing.assert_allclose(suite.wave_in_loops(x[:9]), suite.wave(np, x[:9]), rtol=1e-12)


def test_a_picture_needs_matplotlib(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "picture.png"
    command = ["bench", "--only", "wave", "--seconds", "0", "--plot", str(file)]
    if importlib.util.find_spec("matplotlib") is None:
        assert main(command) == 2
        assert "pip install" in capsys.readouterr().err
    else:
        assert main(command) == 0
        assert file.read_bytes().startswith(b"\x89PNG")


def test_what_there_is_not_cannot_be_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["bench", "--only", "nothing"]) == 2
    for option in ("--json", "--plot"):
        assert main(["bench", option, str(tmp_path / "missing" / "file")]) == 2
        assert "there is no folder for" in capsys.readouterr().err
    monkeypatch.setattr(bench, "LARGE", tmp_path / "run.py")
    assert main(["bench", "--large"]) == 2
    assert "checkout" in capsys.readouterr().err


def test_the_large_suite_is_that_of_the_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert bench.LARGE.exists()
    script = tmp_path / "run.py"
    script.write_text("import sys; sys.exit(3 if sys.argv[1:] == ['--quick'] else 4)")
    monkeypatch.setattr(bench, "LARGE", script)
    assert main(["bench", "--large", "--quick"]) == 3
