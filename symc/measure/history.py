"""Figures of one version kept beside those of others: a file with a line of JSON for each run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias, cast

from symc.measure.words import duration, table

Figures: TypeAlias = dict[str, Any]  # as suite.as_json has them
SLOWER = 1.25  # times an old median that count as slower


class BadHistory(ValueError):
    """A file of figures cannot be read."""


def save(figures: Figures, path: Path) -> None:
    """Adds a run to a file, which is made if it is not there."""
    line = json.dumps({"when": datetime.now(UTC).isoformat(timespec="seconds"), **figures})
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def runs(path: Path) -> list[Figures]:
    """All runs in a file, the oldest first. Raises `BadHistory` for a file that holds others."""
    found: list[Figures] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            run: Any = json.loads(line)
        except ValueError:
            run = None
        if not (isinstance(run, dict) and {"work", "versions", "machine"} <= run.keys()):
            raise BadHistory(f"line {number} of {path} is no run that `--save` wrote")
        found.append(cast("Figures", run))
    return found


def last_with(work: str, history: list[Figures]) -> Figures | None:
    """The last run that has figures of symc's for this work."""
    having = (run for run in reversed(history) if "symc" in _seconds(run, work))
    return next(having, None)


def compared(now: Figures, history: list[Figures]) -> tuple[str, list[str]]:
    """Symc's figures beside those of the last run with the same work; the work that is slower.

    A call counts as slower from 1.25 times the old median on, if the quartiles lie apart as well.
    """
    rows = [["", "version", "a call", "now", "ratio", "first result", "now"]]
    slower: list[str] = []
    remarks: list[str] = []
    for name in now["work"]:
        old, mine = last_with(name, history), _seconds(now, name).get("symc")
        if mine is None:
            continue
        if old is None:
            rows.append(
                [name, "-", "-", duration(mine["median"]), "-", "-", duration(mine["first"])]
            )
            continue
        before = _seconds(old, name)["symc"]
        ratio = mine["median"] / before["median"]
        rows.append([
            name, f"{old['versions'].get('symc', '?')} of {old.get('when', '?')[:10]}",
            duration(before["median"]), duration(mine["median"]), f"{ratio:.2f}",
            duration(before["first"]), duration(mine["first"]),
        ])  # fmt: skip
        if ratio > SLOWER and mine["quartiles"][0] > before["quartiles"][1]:
            slower.append(name)
        if old["machine"] != now["machine"]:
            remarks.append(f"{name}: the old figures are of another machine: {old['machine']}")
    return "\n".join([table(rows), *remarks]), slower


def _seconds(run: Figures, work: str) -> dict[str, Any]:
    found: dict[str, Any] = run["work"].get(work, {}).get("seconds", {})
    return found
