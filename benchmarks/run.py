"""Measures symc against its goals and its peers, and prints one table.

    python benchmarks/run.py                 everything: about four minutes on two cores
    python benchmarks/run.py --only softmax  one row
    python benchmarks/run.py --quick         fewer and shorter rounds

README.md explains the rows.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cases import CASES
from measure import Case, Contestant, Facts, Line, Results, Times, module
from one_thread import ONE_THREAD

HERE = Path(__file__).resolve().parent
WORKER = HERE / "worker.py"


class Failed(Exception):
    """A contestant's process ended without an answer."""


@dataclass(frozen=True, slots=True)
class Options:
    """How long to measure."""

    rounds: int
    length: float  # seconds of a round
    clock: str  # "wall", or "cpu" with one thread each


def main() -> int:
    """Runs the cases of the command line; 1 if a contestant failed or symc missed a goal."""
    options = parser().parse_args()
    chosen = [case for case in CASES if not options.only or case.name in options.only]
    how = Options(
        options.repeat or (3 if options.quick else 7),
        0.05 if options.quick else 0.15,
        "cpu" if options.one_thread else "wall",
    )
    machine = describe_machine()
    if options.one_thread:
        machine["times"] = "of the processor, with one thread each"
    tick = progress(sum(steps(case, how) for case in chosen))
    judged: list[tuple[Case, Results, list[Line]]] = []
    for case in chosen:
        results = measure(case, how, tick)
        judged.append((case, results, case.judge(results)))
    tick("")
    machine["load after"] = load()
    print(table([(case, lines) for case, _, lines in judged], machine))
    if options.json:
        report = {
            "machine": machine,
            "cases": {
                case.name: {
                    "title": case.title,
                    "lines": [asdict(line) for line in lines],
                    "seconds": {
                        name: {"best": t.best, "median": t.median, "rounds": t.rounds, **t.facts}
                        for name, t in results.times.items()
                    },
                    "absent": dict(results.absent),
                }
                for case, results, lines in judged
            },
        }
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    failed = any(reason != "not installed" for _, r, _ in judged for reason in r.absent.values())
    missed = any(line.reached is False for _, _, lines in judged for line in lines)
    return 1 if failed or missed else 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description="Measure symc against its goals and its peers.")
    names = [case.name for case in CASES]
    made.add_argument("--only", nargs="+", choices=names, metavar="NAME",
                      help="measure only these rows: " + ", ".join(names))  # fmt: skip
    made.add_argument("--repeat", type=int, metavar="N", help="rounds for each row (7)")
    made.add_argument("--quick", action="store_true", help="3 rounds, shorter ones")
    steadier = "processor time, one thread each: steadier on a busy machine"
    made.add_argument("--one-thread", action="store_true", help=steadier)
    made.add_argument("--json", metavar="FILE", help="write all figures there as well")
    return made


# --- measuring ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Entrant:
    """A contestant that takes part: its process, if it has one for all rounds, and its times."""

    name: str
    contestant: Contestant
    rounds: list[float] = field(default_factory=list)
    facts: Facts = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None


def measure(case: Case, how: Options, tick: Callable[[str], None]) -> Results:
    """Lets the contestants of a case take turns."""
    absent: dict[str, str] = {}
    with ExitStack() as stack:
        cache = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="symc-bench-")))
        entrants: list[Entrant] = []
        for name, contestant in case.contestants.items():
            tick(f"{case.name}: {name}")
            if contestant.needs and importlib.util.find_spec(contestant.needs) is None:
                absent[name] = "not installed"
                continue
            entrant = Entrant(name, contestant)
            try:
                prepare(case, entrant, cache, how, stack)
            except Failed as failure:
                absent[name] = f"FAILED: {failure}"
            else:
                entrants.append(entrant)
        for number in range(how.rounds):
            for entrant in list(entrants):
                if number >= most_rounds(entrant.contestant, how):
                    continue
                tick(f"{case.name}: {entrant.name}")
                try:
                    one_round(case, entrant, cache, how)
                except Failed as failure:
                    absent[entrant.name] = f"FAILED: {failure}"
                    entrants.remove(entrant)
    return Results({e.name: Times(e.rounds, e.facts) for e in entrants}, absent)


def steps(case: Case, how: Options) -> int:
    """How many times `measure` ticks."""
    return sum(1 + most_rounds(contestant, how) for contestant in case.contestants.values())


def most_rounds(contestant: Contestant, how: Options) -> int:
    """In how many rounds a contestant takes part."""
    return min(how.rounds, contestant.most or how.rounds)


def prepare(case: Case, entrant: Entrant, cache: Path, how: Options, stack: ExitStack) -> None:
    """Starts the process of a contestant that keeps one, and fills caches."""
    if entrant.contestant.fresh:
        if entrant.contestant.cache == "filled":
            with started(case, entrant.name, cache, how) as process:
                answer(process)
        return
    process = stack.enter_context(started(case, entrant.name, cache, how))
    entrant.facts = answer(process)["facts"]
    entrant.process = process


def one_round(case: Case, entrant: Entrant, cache: Path, how: Options) -> None:
    """Takes one time."""
    if entrant.process is not None:
        assert entrant.process.stdin is not None
        entrant.process.stdin.write("go\n")
        entrant.process.stdin.flush()
        entrant.rounds.append(answer(entrant.process)["seconds"])
        return
    with ExitStack() as stack:
        if entrant.contestant.cache == "empty":
            cache = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="symc-bench-")))
        process = stack.enter_context(started(case, entrant.name, cache, how))
        said = answer(process)
    if not entrant.rounds or said["seconds"] < min(entrant.rounds):
        entrant.facts = said["facts"]
    entrant.rounds.append(said["seconds"])


@contextmanager
def started(case: Case, name: str, cache: Path, how: Options) -> Iterator[subprocess.Popen[str]]:
    """A worker process, which is ended at the end."""
    environment = {**os.environ, "SYMC_CACHE_DIR": str(cache / "symc"), "JAX_PLATFORMS": "cpu"}
    environment["BENCHMARK_CACHE"] = str(cache)
    environment["PYTENSOR_FLAGS"] = f"base_compiledir={cache / 'pytensor'}"
    environment["BENCHMARK_CLOCK"] = "process_time" if how.clock == "cpu" else "perf_counter"
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if how.clock == "cpu":
        environment |= ONE_THREAD
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, str(WORKER), case.name, name, str(how.length), how.clock],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            env=environment,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.communicate()
            if process.returncode != 0:
                errors.seek(0)
                print(f"\n{case.name}: {name} failed:\n{errors.read()}", file=sys.stderr)


def answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The next line of a worker, or `Failed`; its errors are printed when it is ended."""
    assert process.stdout is not None
    text = process.stdout.readline()
    if not text:
        raise Failed(f"ended with status {process.wait()}, see above")
    said: dict[str, Any] = json.loads(text)
    return said


# --- showing --------------------------------------------------------------------------------------


def progress(total: int) -> Callable[[str], None]:
    """A function that shows the present measurement; an empty text ends the bar."""
    try:
        tqdm = module("tqdm").tqdm
    except ImportError:
        return lambda text: print(text, file=sys.stderr) if text else None
    bar = tqdm(total=total, unit="step", leave=False, disable=None)

    def tick(text: str) -> None:
        if text:
            bar.set_description(text)
            bar.update()
        else:
            bar.close()

    return tick


HEADINGS = ("", "symc", "compared with", "ratio (median)", "target", "")


def table(judged: Sequence[tuple[Case, list[Line]]], machine: dict[str, Any]) -> str:
    """All lines, in columns as wide as they need."""
    rows: list[Sequence[str]] = []
    for case, lines in judged:
        rows.append((case.title, "", "", "", "", ""))
        before = ""
        for line in lines:
            figure = "" if line.figure == before and not line.what else line.figure
            before = line.figure
            verdict = {None: "", True: "reached", False: "NOT REACHED"}[line.reached]
            what = f"  {line.what}"
            rows.append((what, figure, line.against, line.ratio, line.target, verdict))
    narrow = [row for row in [HEADINGS, *rows] if any(row[2:])]
    widths = [max(len(row[column]) for row in narrow) for column in range(6)]
    texts = [_row(HEADINGS, widths), *(_row(row, widths) for row in rows)]
    lines_of = [f"{name}: {value}" for name, value in machine.items()]
    remark = "ratio: symc's time / the other's; of minima (and the median of the rounds' ratios)"
    return "\n".join([*texts, "", remark, *lines_of])


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    if not any(cells[1:]):
        return f"\n{cells[0]}"
    if not any(cells[2:]):
        return f"{cells[0]:<{widths[0]}}  {cells[1]}"
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def describe_machine() -> dict[str, Any]:
    """The machine and versions of the figures; no names of hosts or folders."""
    peers = ("numpy", "jax", "torch", "pytensor", "numba")
    versions = [f"{name} {version(name) or 'not installed'}" for name in peers]
    held = os.environ.get("OPENBLAS_CORETYPE")  # an older processor, for NumPy and symc alone
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "?",
        "compiler": compiler(),
        "python": platform.python_version(),
        "packages": ", ".join(versions),
        **({"not comparable": f"OPENBLAS_CORETYPE={held} is set"} if held else {}),
        "load before": load(),
    }


def version(package: str) -> str | None:
    """The version of a package, without importing it."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The model that the system names."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def compiler() -> str:
    """The first line of gcc's description of itself."""
    path = shutil.which("gcc")
    if path is None:
        return "no gcc"
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return said.stdout.partition("\n")[0]


def load() -> str:
    """How many processes want to run: above the number of cores, times are not worth much."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?"


if __name__ == "__main__":
    sys.exit(main())
