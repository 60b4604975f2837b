"""symc's own part of a build in a new process: `python benchmarks/pymc.py --fresh`.

Of each model the log density and gradient are built in processes of their own: the first one fills
symc's cache, and of those that follow the fastest is given. All modules are there as bytecode.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PROCESSES = 4


def measured(name: str, bytecode: str) -> dict[str, Any]:
    """Milliseconds of the first build in a new process, and of the next one in the same."""
    environment = {
        "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": "",
    }  # fmt: skip
    found: list[list[float]] = []
    for _ in range(1 + PROCESSES):
        made = subprocess.run(
            [sys.executable, str(ROOT / "benchmarks/pymc_fresh.py"), name],
            check=True, env=os.environ | environment, capture_output=True, text=True,
        )  # fmt: skip
        found.append(json.loads(made.stdout.splitlines()[-1]))
    first, again = (min(row[k] for row in found[1:]) for k in (0, 1))
    return {"model": name, "first": 1000 * first, "again": 1000 * again}


def shown(rows: list[dict[str, Any]]) -> str:
    """The table, in milliseconds of processor time."""
    lines = ["| model | new process ms | next build ms |", "|---|---|---|"]
    lines += [f"| {row['model']} | {row['first']:.0f} | {row['again']:.0f} |" for row in rows]
    return "\n".join(lines)


def _build(name: str) -> None:
    from benchmarks import pymc, pymc_models

    make = getattr(pymc_models, name)
    print(json.dumps([pymc.built(make(), "SYMC")[1]["own"] for _ in range(2)]))


if __name__ == "__main__":
    sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).parent]
    import symc.pytensor  # noqa: F401 -- registers the mode

    _build(sys.argv[1])
