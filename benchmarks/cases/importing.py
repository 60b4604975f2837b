"""The cost of `import symc` beyond that of `import numpy`."""

import os
import subprocess
import sys

from measure import Case, Contestant, Line, Once, Results, absent_text, show

LIMIT = 0.015
CODE = "from time import {} as t; a = t(); import {}; print(t() - a)"


def importing(package: str) -> Once:
    """The time of an import in a Python that has imported nothing else."""
    command = [sys.executable, "-c", CODE.format(os.environ["BENCHMARK_CLOCK"], package)]
    subprocess.run(command, check=True, capture_output=True)  # compiles bytecode, reads the disk
    return Once(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def judge(results: Results) -> list[Line]:
    """The difference of the minima."""
    target = f"numpy + {show(LIMIT)}"
    mine, numpy = results.times.get("symc"), results.times.get("numpy")
    if mine is None or numpy is None:
        return [Line("import", absent_text(results, "symc"), target=target, reached=False)]
    extra = mine.best - numpy.best
    pairs = sorted(a - b for a, b in zip(mine.rounds, numpy.rounds, strict=True))
    text = f"+{show(max(extra, 0))} ({show(max(pairs[len(pairs) // 2], 0))})"
    lines = [
        Line("import", show(mine.best), f"numpy {show(numpy.best)}", text, target, extra <= LIMIT)
    ]
    for name in ("jax", "torch", "pytensor", "numba"):
        if name in results.times:
            lines.append(Line("", "", f"{name} {show(results.times[name].best)}"))
        else:
            lines.append(Line("", "", f"{name} {absent_text(results, name)}"))
    return lines


def _contestant(package: str, needs: str | None = None) -> Contestant:
    return Contestant(lambda: importing(package), needs, fresh=True, most=2 if needs else None)


CASE = Case(
    "import",
    "import",
    {
        "symc": _contestant("symc"),
        "numpy": _contestant("numpy"),
        **{name: _contestant(name, name) for name in ("jax", "torch", "pytensor", "numba")},
    },
    judge,
)
