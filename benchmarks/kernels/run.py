"""Runs kernels of scientific codes in symc, NumPy, numba and JAX, and prints one table.

    python benchmarks/kernels/run.py                     all: about two minutes
    python benchmarks/kernels/run.py --only lu knapsack  some
    python benchmarks/kernels/run.py --quick             fewer and shorter rounds

Each contestant has one thread, all take turns, and times are those of the processor. A peer that is
not installed is left out. The exit status is 1 if a goal was missed or a contestant failed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import geometric_mean, median

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from one_thread import ONE_THREAD

if __name__ == "__main__":  # before NumPy is imported: its BLAS starts threads at once
    os.environ.update(ONE_THREAD | {"JAX_PLATFORMS": "cpu"})

from measure import Line, Results, Times, show, stay_on_one_processor
from run import describe_machine, load, progress

EACH = 1.3  # times the best peer
MEANS = {"JAX": 0.5, "numba": 0.8}  # geometric means over all kernels, times the peer
PEERS = ("NumPy", "numba", "JAX")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the kernels of the command line; 1 if a contestant failed or symc missed a goal."""
    stay_on_one_processor()
    with tempfile.TemporaryDirectory(prefix="symc-bench-") as cache:
        os.environ["SYMC_CACHE_DIR"] = cache
        return measured(arguments)


def measured(arguments: Sequence[str] | None) -> int:
    """`main`, with its environment."""
    from kernels import KERNELS
    from kernels.contest import Effort, contest

    options = parser([kernel.name for kernel in KERNELS]).parse_args(arguments)
    effort = Effort(3, 0.02) if options.quick else Effort(7, 0.05)
    chosen = [kernel for kernel in KERNELS if not options.only or kernel.name in options.only]
    machine = describe_machine()
    tick = progress(len(chosen))
    results: dict[str, Results] = {}
    for kernel in chosen:
        tick(kernel.name)
        results[kernel.name] = contest(kernel, effort, small=options.small)
    tick("")
    machine["load after"] = load()
    lines = {name: judged(result) for name, result in results.items()}
    total = means(results)
    print(table(results, lines))
    print("\n".join(["", *map(said, total), ""]))
    missed = [name for name, line in lines.items() if line.reached is False]
    print(f"{len(missed)} of {len(lines)} over {EACH} times the best peer: {', '.join(missed)}")
    print("\n".join(f"{name}: {value}" for name, value in machine.items()))
    if options.json:
        report = {
            "machine": machine,
            "means": [asdict(line) for line in total],
            "cases": {
                name: {
                    "title": name,
                    "lines": [asdict(lines[name])],
                    "seconds": {
                        who: {"best": t.best, "median": t.median, "rounds": t.rounds}
                        for who, t in result.times.items()
                    },
                    "absent": dict(result.absent),
                }
                for name, result in results.items()
            },
        }
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    failed = any(why.startswith("FAILED") for r in results.values() for why in r.absent.values())
    return 1 if failed or missed or any(line.reached is False for line in total) else 0


def parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description="Measure symc on kernels of scientific codes.")
    made.add_argument("--only", nargs="+", choices=names, metavar="NAME",
                      help="measure only these: " + ", ".join(names))  # fmt: skip
    made.add_argument("--quick", action="store_true", help="3 rounds, shorter ones")
    made.add_argument("--small", action="store_true", help="few numbers, as tests have them")
    made.add_argument("--json", metavar="FILE", help="write all figures there as well")
    return made


# --- judging --------------------------------------------------------------------------------------


def judged(results: Results) -> Line:
    """symc against the best of its peers, by the best times; in brackets the median of rounds."""
    mine, target = results.times.get("symc"), f"<= {EACH}"
    peers = {name: results.times[name] for name in PEERS if name in results.times}
    if mine is None:
        return Line("", results.absent["symc"], target=target, reached=False)
    if not peers:
        return Line("", show(mine.best), target=target)
    name = min(peers, key=lambda who: peers[who].best)
    ratio, middle = mine.best / peers[name].best, median(ratios(mine, peers[name]))
    return Line("", show(mine.best), name, f"{ratio:.2f} ({middle:.2f})", target, ratio <= EACH)


def ratios(mine: Times, other: Times) -> list[float]:
    """Of each round."""
    return [a / b for a, b in zip(mine.rounds, other.rounds, strict=True)]


def means(results: Mapping[str, Results]) -> list[Line]:
    """The geometric mean of the ratios to each peer, over the kernels that both have."""
    lines: list[Line] = []
    for peer in PEERS:
        pairs = [(r.times["symc"], r.times[peer]) for r in results.values()
                 if "symc" in r.times and peer in r.times]  # fmt: skip
        if not pairs:
            continue
        mean = geometric_mean([mine.best / other.best for mine, other in pairs])
        limit = MEANS.get(peer)
        lines.append(
            Line(
                f"geometric mean over {len(pairs)}",
                f"{mean:.2f}",
                peer,
                target="" if limit is None else f"<= {limit}",
                reached=None if limit is None else mean <= limit,
            )
        )
    return lines


# --- showing --------------------------------------------------------------------------------------


def table(results: Mapping[str, Results], lines: Mapping[str, Line]) -> str:
    """A row for each kernel: all times, and symc's divided by that of the best peer."""
    rows = [("", "symc", *PEERS, "ratio (median)", "best peer", "")]
    for name, line in lines.items():
        result = results[name]
        times = (result.times.get(peer) for peer in PEERS)
        peers = [show(t.best) if t else result.absent[p] for p, t in zip(PEERS, times, strict=True)]
        verdict = "NOT REACHED" if line.reached is False else ""
        rows.append((name, line.figure, *peers, line.ratio, line.against, verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def said(line: Line) -> str:
    """A mean and its goal."""
    verdict = {None: "", True: "reached", False: "NOT REACHED"}[line.reached]
    return f"{line.what} of symc / {line.against}: {line.figure}  {line.target}  {verdict}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
