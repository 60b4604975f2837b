"""Two result files of run.py: what became slower, what became faster, which goals changed.

    python benchmarks/run.py --one-thread --json old.json   # before a change
    python benchmarks/run.py --one-thread --json new.json   # after it, on the same machine
    python benchmarks/compare.py old.json new.json

The best times of symc are compared, row by row. A busy hour slows all contestants; so the change is
divided by the median change of the row's peers, where both files have some. The exit status is 1 if
a row lost more than `--limit`, or a goal that was reached is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from measure import show

OWN = "symc"
LIMIT = 1.1


@dataclass(frozen=True, slots=True)
class Change:
    """A contestant of symc's in both files. `machine` is the change of the row's peers."""

    name: str
    old: float
    new: float
    machine: float | None
    goals_lost: tuple[str, ...]
    goals_won: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """How much longer it takes, the machine's own change taken out."""
        return self.new / self.old / (self.machine or 1.0)


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """All that both files have, the greatest loss first."""
    found: list[Change] = []
    for name, before in old["cases"].items():
        after = new["cases"].get(name)
        if after is None:
            continue
        times, later = before["seconds"], after["seconds"]
        peers = [
            later[peer]["best"] / times[peer]["best"]
            for peer in times
            if peer in later and not peer.startswith(OWN)
        ]
        lost, won = _goals(before["lines"], after["lines"])
        for own in times:
            if own.startswith(OWN) and own in later:
                title = name if own == OWN else f"{name}: {own}"
                mine = lost if own == OWN else (), won if own == OWN else ()
                found.append(
                    Change(
                        title, times[own]["best"], later[own]["best"],
                        median(peers) if peers else None, *mine,
                    )
                )  # fmt: skip
    return sorted(found, key=lambda change: -change.ratio)


def _goals(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The goals that were reached and are missed, and the other way round."""
    reached = {_goal(line): line["reached"] for line in before}
    both = [(_goal(line), line["reached"]) for line in after if _goal(line) in reached]
    lost = tuple(goal for goal, now in both if reached[goal] is True and now is False)
    won = tuple(goal for goal, now in both if reached[goal] is False and now is True)
    return lost, won


def _goal(line: Mapping[str, Any]) -> str:
    """A line of the table without its figures."""
    words = [word for word in line["against"].split() if not word[0].isdigit()]
    against = " ".join(word for word in words if word not in ("s", "ms", "us", "ns"))
    return " ".join(filter(None, [line["what"], against, line["target"]]))


def text(found: Sequence[Change], limit: float) -> str:
    """A line for each change beyond the limit, and how many there are not."""
    lines = [_line(change) for change in found if _is_worth_saying(change, limit)]
    same = len(found) - len(lines)
    return "\n".join([*lines, f"{same} of {len(found)} within {100 * (limit - 1):.0f} %"])


def _is_worth_saying(change: Change, limit: float) -> bool:
    goals = change.goals_lost or change.goals_won
    return bool(goals) or not 1 / limit <= change.ratio <= limit


def _line(change: Change) -> str:
    machine = "" if change.machine is None else f", peers x {change.machine:.2f}"
    goals = "".join(f"\n    no longer reached: {goal}" for goal in change.goals_lost)
    goals += "".join(f"\n    now reached: {goal}" for goal in change.goals_won)
    times = f"{show(change.old)} -> {show(change.new)}"
    return f"x {change.ratio:<5.2f} {change.name}: {times}{machine}{goals}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the changes; 1 if something was lost."""
    parser = argparse.ArgumentParser(description="Compare two result files of run.py.")
    parser.add_argument("old", type=Path, help="what run.py --json wrote before")
    parser.add_argument("new", type=Path, help="what it wrote later, on the same machine")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"what counts ({LIMIT})")
    options = parser.parse_args(arguments)
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (options.old, options.new))
    for key in ("processor", "cores", "compiler", "times"):
        if old["machine"].get(key) != new["machine"].get(key):
            print(f"not comparable: {key} was {old['machine'].get(key)}, "
                  f"is {new['machine'].get(key)}")  # fmt: skip
    found = changes(old, new)
    print(text(found, options.limit))
    return int(any(change.ratio > options.limit or change.goals_lost for change in found))


if __name__ == "__main__":
    sys.exit(main())
