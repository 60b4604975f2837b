"""`benchmarks/compare.py`: losses between two result files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import compare  # type: ignore[import-not-found,unused-ignore]  # pyright: ignore

    yield compare
    for name in ("compare", "measure"):
        sys.modules.pop(name, None)


def written(path: Path, reached: bool, cases: dict[str, dict[str, float]]) -> Path:
    line = {"what": "", "against": f"C {len(path.name)} ms", "target": "<= 1.15"}
    report = {
        "machine": {"processor": "one"},
        "cases": {
            name: {
                "lines": [{**line, "reached": reached}],
                "seconds": {who: {"best": seconds} for who, seconds in times.items()},
            }
            for name, times in cases.items()
        },
    }
    path.write_text(json.dumps(report), encoding="utf-8")
    return path


def test_losses_gains_and_goals(
    compare: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = written(
        tmp_path / "old.json",
        True,
        {"softmax": {"symc": 1e-3, "C": 1e-3}, "sort": {"symc": 1.0}, "gone": {"symc": 1.0}},
    )
    new = written(
        tmp_path / "newer.json",
        False,
        {"softmax": {"symc": 3e-3, "C": 2e-3}, "sort": {"symc": 0.5}},
    )
    assert compare.main([str(old), str(new)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "x 1.50  softmax: 1 ms -> 3 ms, peers x 2.00"
    assert said[1] == "    no longer reached: C <= 1.15"
    assert said[2].startswith("x 0.50  sort")
    assert said[-1] == "0 of 2 within 10 %"


def test_a_busy_hour_is_no_loss(
    compare: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = written(tmp_path / "old.json", True, {"softmax": {"symc": 1e-3, "C": 1e-3}})
    new = written(tmp_path / "new.json", True, {"softmax": {"symc": 2e-3, "C": 2e-3}})
    assert compare.main([str(old), str(new)]) == 0
    assert capsys.readouterr().out == "1 of 1 within 10 %\n"
