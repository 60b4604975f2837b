"""A campaign: programs of all generators in all modes, for as long as asked; failures are kept."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.generators import generator
from tests.fuzz.protocol import MODES, Compared, Program
from tests.fuzz.shrink import shrunk
from tests.fuzz.workers import Outcome, Task, Worker

ALIKE = 2  # failures of one signature that are made small and kept; others are counted
PROGRESS = 60.0  # seconds between two lines


@dataclass(frozen=True)
class CampaignSettings:
    """The programs to run: seeds from `first` on, until `seconds` are over, or a single one."""

    names: tuple[str, ...]
    first: int
    seconds: float
    jobs: int
    folder: Path
    only_seed: bool = False
    modes: tuple[str, ...] | None = None


@dataclass
class Tally:
    """The counts of runs and comparisons, by generator and mode."""

    programs: Counter[str] = field(default_factory=Counter)
    runs: Counter[tuple[str, str]] = field(default_factory=Counter)
    compared: dict[tuple[str, str], Compared] = field(default_factory=dict)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: Counter[tuple[str, tuple[str, str]]] = field(default_factory=Counter)

    def add(self, name: str, mode: str, outcome: Outcome) -> None:
        """Counts one run."""
        key = name, mode
        self.runs[key] += 1
        self.compared[key] = self.compared.get(key, Compared(0)) + outcome.compared
        if outcome.kind == "refused":
            self.refused[name, outcome.head] += 1
        if outcome.failed:
            self.failures[name, outcome.signature] += 1

    @property
    def outputs(self) -> int:
        """All results that were compared."""
        return sum(compared.outputs for compared in self.compared.values())

    @property
    def counts(self) -> str:
        """Programs, runs and results in a few words."""
        programs, runs = sum(self.programs.values()), sum(self.runs.values())
        return f"{programs} programs, {runs} runs, {self.outputs} results compared"

    def table(self, names: Sequence[str]) -> str:
        """A row for each generator: programs, and in each mode runs and results compared."""
        modes = [mode for mode in MODES if any(self.runs[name, mode] for name in names)]
        rows = [["", "programs", *modes, "unjudged", "refused", "failed", "minutes"]]
        for name in names:
            found = [self.compared.get((name, mode), Compared(0)) for mode in modes]
            whole = sum(found, Compared(0))
            rows.append([
                name, f"{self.programs[name]}",
                *(f"{self.runs[name, m]}/{c.outputs}" for m, c in zip(modes, found, strict=True)),
                f"{whole.unjudged / max(whole.elements, 1):.1%}",
                str(sum(n for (who, _), n in self.refused.items() if who == name)),
                str(sum(n for (who, _), n in self.failures.items() if who == name)),
                f"{self.seconds[name] / 60:.1f}",
            ])  # fmt: skip
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if not number else cell.rjust(width)
                for number, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        total = sum(self.seconds.values()) / 3600
        lines += [
            "(in each mode: runs/results compared; minutes of processors, compilers' included)",
            f"{self.counts}, {total:.2f} processor hours",
        ]
        return "\n".join(lines)


class Campaign:
    """Runs a plan on several workers at once."""

    def __init__(self, plan: CampaignSettings) -> None:
        self.plan = plan
        self.tally = Tally()
        self.lock = threading.Lock()
        self.next_seed = dict.fromkeys(plan.names, plan.first)
        self.started = time.monotonic()
        self.told = self.started
        self.stopping = False

    def run(self) -> bool:
        """Runs everything, prints the outcome; whether nothing failed."""
        threads = [threading.Thread(target=self._work) for _ in range(self.plan.jobs)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self.stopping = True
            _say("stopping when the programs that run now are done")
            for thread in threads:
                thread.join()
        self._conclude()
        return not self.tally.failures

    def _conclude(self) -> None:
        print(self.tally.table(self.plan.names))
        for (name, head), count in self.tally.refused.most_common(12):
            print(f"refused {count} of {name}: {head}")
        for (name, (kind, head)), count in self.tally.failures.most_common():
            print(f"failed {count} of {name}: {kind}: {head}")
        if self.tally.failures:
            print(f"failing programs are in {self.plan.folder}")

    def _work(self) -> None:
        worker = Worker()
        try:
            for name, seed in self._seeds():
                self._one_seed(worker, name, seed)
                self._progress()
        finally:
            worker.close()

    def _seeds(self) -> Iterator[tuple[str, int]]:
        """The generator that has had the least time so far, and its next seed."""
        while True:
            with self.lock:
                left = [
                    name for name in self.plan.names
                    if not self.plan.only_seed or self.next_seed[name] == self.plan.first
                ]  # fmt: skip
                over = time.monotonic() - self.started > self.plan.seconds
                if self.stopping or not left or (over and not self.plan.only_seed):
                    return
                name = min(left, key=lambda n: (self.tally.seconds[n], self.next_seed[n]))
                seed = self.next_seed[name]
                self.next_seed[name] += 1
                self.tally.seconds[name] += 1e-3  # two workers do not choose the same
            yield name, seed

    def _one_seed(self, worker: Worker, name: str, seed: int) -> None:
        modes = self.plan.modes
        if modes is None:
            modes = MODES if self.plan.only_seed else generator(name).modes(seed)
        found: dict[tuple[str, str], Program] = {}
        for mode in modes:
            outcome = worker.run(Task((name, seed), mode))
            with self.lock:
                self.tally.add(name, mode, outcome)
                self.tally.seconds[name] += outcome.seconds
                known = self.tally.failures[name, outcome.signature]
            if outcome.failed and known <= ALIKE:
                small = self._keep(worker, (name, seed), mode, outcome, found)
                found |= {} if small is None else {outcome.signature: small}
        with self.lock:
            self.tally.programs[name] += 1

    def _keep(
        self, worker: Worker, what: tuple[str, int], mode: str, outcome: Outcome,
        found: Mapping[tuple[str, str], Program],
    ) -> Program | None:  # fmt: skip
        """Makes a failing program small, writes it down, and returns it.

        `found` has the small program that other modes have left of the same seed: it most likely
        fails in this one.
        """
        name, seed = what
        program = outcome.program or worker.run(Task(what, None)).program
        again = f"scripts/fuzz --only {name} --seed {seed} --mode {mode}"
        text = f"# {again}\n# {outcome.kind}: {outcome.head}\n"
        if program is not None:

            def attempt(candidate: Program) -> Outcome:
                return worker.run(Task(candidate, mode))

            if (small := found.get(outcome.signature)) is not None:
                last = attempt(small)
                if last.signature == outcome.signature:
                    program, outcome = small, last
            program, outcome = shrunk(program, outcome, attempt)
            text += _script(program, mode)
        said = "\n".join(f"# {line}" for line in outcome.message.splitlines())
        path = self.plan.folder / f"{name}-{seed}-{mode.replace(':', '-')}.py"
        with self.lock:
            self.plan.folder.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n\n{said}\n", encoding="utf-8")
            _say(f"{outcome.kind} ({outcome.head}): {again}\n  kept as {path}")
        return program

    def _progress(self) -> None:
        with self.lock:
            now = time.monotonic()
            if now - self.told < PROGRESS:
                return
            self.told = now
            failed = sum(self.tally.failures.values())
            minutes = (now - self.started) / 60
            _say(f"{minutes:.0f} min: {self.tally.counts}, {failed} failed")


def _script(program: Program, mode: str) -> str:
    """The program's script; where its own texts cannot be evaluated, its parts."""
    try:
        return program.script(mode)
    except Exception as error:
        return f"# no script: {error!r}\n# {program!r}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
