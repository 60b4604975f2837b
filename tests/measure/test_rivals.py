"""A user's function by everybody who is installed, and figures of one version beside another's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc.__main__ import main
from symc.errors import BadArgument
from symc.measure.history import compared
from symc.measure.suite import Entry, Outcome
from symc.measure.timing import Timing

HALF = 0.5
PACKAGES = {"NumPy": "numpy", "symc": "symc", "JAX": "no_jax", "PyTorch": "no", "Numba": "no"}
"""As if nobody else were installed, whatever there is: JAX takes seconds to import."""


def squared(v: Any) -> Any:
    return np.sum(v**2, axis=1)


def energy(v: Any, m: Any) -> Any:
    """Uses a number and a function that stand beside it."""
    return HALF * np.sum(m * squared(v))


def two(x: Any) -> Any:
    """Has two results."""
    return x, x


def test_a_function_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symc.measure.suite.PACKAGES", PACKAGES)
    found = symc.benchmark.compare(energy, np.ones((20, 3)), np.ones(20), seconds=0.01)
    assert {"symc", "NumPy"} <= set(found.outcome.entries)
    entry = found.outcome.entries["symc"]
    assert entry.first > entry.steady.median
    assert "pays after" in str(found)
    assert set(found.break_even) == set(found.outcome.entries) - {"NumPy"}
    assert found.as_json()["work"]["energy"]["seconds"]["symc"]["first"] == entry.first


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(BadArgument, match="written in Python with NumPy's names"):
        symc.benchmark.compare(np.sum, np.ones(2))
    with pytest.raises(BadArgument, match="two must give one array"):
        symc.benchmark.compare(two, np.ones(2))
    with pytest.raises(TypeError):
        symc.benchmark.compare(energy, np.ones(2))


def test_after_how_many_calls_compiling_pays() -> None:
    slow, quick = (Entry(first, Timing((call,), 1)) for first, call in ((1.0, 1.0), (11.0, 0.5)))
    outcome = Outcome("w", "w", {"NumPy": slow, "symc": quick}, {})
    calls = outcome.pays_after("symc")
    assert calls == 21
    spent = {name: e.first + (calls - 1) * e.steady.median for name, e in outcome.entries.items()}
    assert spent["symc"] <= spent["NumPy"]
    assert Outcome("w", "w", {"NumPy": quick, "symc": slow}, {}).pays_after("symc") is None


PROGRAM = """
import numpy as np

def energy(v):
    return 0.5 * np.sum(v**2)
"""


def test_the_command_takes_a_function_and_keeps_a_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("symc.measure.suite.PACKAGES", PACKAGES)
    Path("physics.py").write_text(PROGRAM, encoding="utf-8")
    command = ["bench", "physics.py:energy", "random.rand(100, 3)", "--seconds", "0.01"]
    assert main([*command, "--save"]) == 0
    assert "energy(float64[100, 3])" in capsys.readouterr().out
    run = json.loads(Path("symc-bench.jsonl").read_text(encoding="utf-8"))
    assert run["versions"]["symc"] == symc.__version__
    main([*command, "--compare"])
    assert f"{symc.__version__} of 20" in capsys.readouterr().out
    assert main(["bench", "physics.py:energy", "nonsense"]) == 2
    assert "'nonsense' is no array" in capsys.readouterr().err
    Path("bad.jsonl").write_text("{}\n", encoding="utf-8")
    assert main([*command, "--compare", "bad.jsonl"]) == 2
    assert "line 1 of bad.jsonl" in capsys.readouterr().err


def figures(median: float, machine: str = "this") -> dict[str, Any]:
    seconds = {"median": median, "first": 1.0, "quartiles": [0.9 * median, 1.1 * median]}
    return {
        "when": "2026-01-02T03:04:05", "versions": {"symc": "1"}, "machine": machine,
        "work": {"wave": {"seconds": {"symc": seconds}}},
    }  # fmt: skip


def test_slower_calls_are_found() -> None:
    assert compared(figures(2.0), [figures(9.0), figures(1.0)])[1] == ["wave"]
    assert compared(figures(1.1), [figures(1.0)])[1] == []
    words, slower = compared(figures(1.0), [])
    assert "wave" in words
    assert not slower
    assert "another machine" in compared(figures(1.0), [figures(1.0, "that")])[0]
