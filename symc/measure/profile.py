"""`symc.profile`: where the time of a call goes, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from symc.calls.callable import Function, compiled_function
from symc.codegen import ir
from symc.codegen.cost.work import Works, sizes_of
from symc.codegen.record import record
from symc.codegen.targets.c import BINARY
from symc.codegen.targets.host.timers import TABLE
from symc.errors import FunctionError
from symc.measure.timing import Timing, collection_off, kept, sample
from symc.measure.words import duration, size, table
from symc.pipeline.library import target

if TYPE_CHECKING:
    from symc.calls.modes import Runner

COLUMNS = 4  # of `symc_timer` in timers.h: calls, nanoseconds, bytes, and one more


@record
class StepTimes:
    """A step of a program: its kind, and its times in a call.

    `calls` is how often it ran in a call (more than once in a loop, less in a branch); `seconds`
    (the median of all calls), `bytes` and `operations` are of all these together. The bytes are
    those of the arrays that it reads and of those that it writes, each counted once, as if caches
    held all that is read again.
    Operations are those on elements, those of routines by the usual counts (a product of matrices
    has ``2*m*n*k``); None where nobody knows them.
    """

    kind: str
    name: str
    note: str
    depth: int
    calls: float
    seconds: float
    bytes: float
    operations: float | None = None

    @property
    def bandwidth(self) -> float:
        """Bytes a second."""
        return self.bytes / self.seconds if self.seconds else 0.0

    @property
    def rate(self) -> float | None:
        """Operations a second."""
        known = self.operations is not None and self.seconds
        return (self.operations or 0.0) / self.seconds if known else None


@record
class Profile:
    """The figures of `symc.profile`: print it, or keep it as `json`.

    `call` has the times of whole calls of the program with timers; `steps` are in order, those of
    loops and branches after the loop or branch, which includes them.
    """

    name: str
    call: Timing
    steps: tuple[StepTimes, ...]

    @property
    def outside(self) -> float:
        """Seconds of a call outside of all steps: arguments, lengths, memory for results."""
        inside = sum(step.seconds for step in self.steps if not step.depth)
        return max(0.0, self.call.median - inside)

    def share(self, seconds: float) -> float:
        """Which part of a call this is."""
        whole = self.outside + sum(step.seconds for step in self.steps if not step.depth)
        return seconds / whole if whole else 0.0

    @property
    def kernels(self) -> dict[str, float]:
        """The seconds of each kernel and routine in a call, the longest first."""
        found: dict[str, float] = {}
        for step in self.steps:
            if step.kind in ("kernel", "routine", "Python"):
                found[step.name] = found.get(step.name, 0.0) + step.seconds
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def as_json(self) -> dict[str, Any]:
        """All figures, in seconds and bytes, for JSON."""
        steps = [
            {
                "kind": step.kind, "name": step.name, "note": step.note, "depth": step.depth,
                "calls": step.calls, "seconds": step.seconds, "bytes": step.bytes,
                "operations": step.operations, "bandwidth": step.bandwidth, "rate": step.rate,
                "share": self.share(step.seconds),
            }
            for step in self.steps
        ]  # fmt: skip
        return {
            "name": self.name, "call": self.call.as_json(), "outside": self.outside,
            "kernels": self.kernels, "steps": steps,
        }  # fmt: skip

    @property
    def json(self) -> str:
        """All figures as JSON."""
        return json.dumps(self.as_json(), indent=1)

    def __str__(self) -> str:
        rows = [["step", "calls", "time", "share", "bytes", "GB/s", "Gop/s", ""]]
        for step in self.steps:
            moves = bool(step.bytes)
            rows.append([
                "  " * step.depth + f"{step.kind} {step.name}".rstrip(), f"{step.calls:g}",
                duration(step.seconds), f"{self.share(step.seconds):.1%}",
                size(step.bytes) if moves else "", f"{step.bandwidth / 1e9:.3g}" if moves else "",
                f"{step.rate / 1e9:.3g}" if step.rate else "", step.note,
            ])  # fmt: skip
        outside = [duration(self.outside), f"{self.share(self.outside):.1%}"]
        rows.append(["outside of steps", "", *outside, "", "", "", ""])
        notes = [row.pop() for row in rows]
        lines = table(rows).split("\n")
        width = max(map(len, lines))
        texts = [
            f"{line:{width}}  {note}".rstrip() for line, note in zip(lines, notes, strict=True)
        ]
        head = f"{self.name}: {duration(self.call.median)} a call, with timers"
        return "\n".join([head, *texts])


def profile(f: Function, *args: Any, repeat: int = 20) -> Profile:
    """Where the time of a call goes: time, bytes, operations and rates of each step.

    A program with timers around its steps is compiled for this, beside the ordinary one, which is
    none the slower. It is called with these arguments so many times; shared variables have their
    values back afterwards. On a device, events on its stream tell the times of kernels; as the
    program waits for them, the time between kernels is longer than otherwise.
    Raises `FunctionError` for a function that the interpreter runs, in ``mode="debug"``, and on a
    device for arrays of more than 2^30 elements.

    >>> import numpy as np, symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> f = symc.function([x], T.exp(x).sum(), name="f")
    >>> found = symc.profile(f, np.ones(1000))
    >>> [(step.kind, step.calls, step.bytes // 1000, step.operations) for step in found.steps]
    [('kernel', 1.0, 8.0, 2001.0)]
    """
    compiled_function(f, "symc.profile")
    if f.folder is None or f.mode == "debug":
        raise FunctionError(
            f"symc.profile needs a compiled function; {f.name} runs in mode {f.mode!r}"
        )
    if repeat < 1:
        raise ValueError(f"repeat: how many calls to time, at least 1, not {repeat}")
    runner, given = _timed(f), f.arguments(args)
    program = runner.compilation().optimised
    steps = list(_nested(program.steps, 0))
    numbers = _numbers(f"{runner.folder}/{BINARY}", len(steps))
    with kept(f, args) as reset, collection_off():
        _called(f, runner, given)
        reset()
        tables = [list(numbers)]
        samples: list[float] = []
        for _ in range(repeat):
            samples.append(sample(lambda: runner.call(*given), 1))
            tables.append(list(numbers))
            reset()
        sizes = sizes_of(program, _lengths(f, program, given))
    works = Works(program)
    found: list[StepTimes] = []
    for row, (step, depth) in enumerate(steps):
        if isinstance(step, ir.Check | ir.Measure):
            continue
        calls, nanoseconds, moved = (
            [after[n] - before[n] for before, after in pairwise(tables)]
            for n in range(row * COLUMNS, row * COLUMNS + 3)
        )
        each = sum(calls) / repeat
        once = None
        if not isinstance(step, ir.Repeat | ir.Branch):
            count = works.of(step).operations
            once = None if count is None else count.value(sizes)
        found.append(
            StepTimes(
                *_described(step, program), depth, each, median(nanoseconds) / 1e9,
                sum(moved) / repeat, None if once is None else once * each,
            )
        )  # fmt: skip
    return Profile(f.name, Timing(tuple(samples), 1), tuple(found))


def _timed(f: Function) -> Runner:
    """The function compiled with timers."""
    downcast = [item.allow_downcast for item in f.ins]
    form = "list" if f.form == "dict" else f.form
    if f.device == "cpu":
        from symc.calls.modes import compiled

        return compiled(f.request, f.mode, form, downcast, target(timed=True))
    from symc.calls.modes import on_device

    return on_device(f.request, f.mode, form, downcast, timed=True)


def _called(f: Function, runner: Runner, given: Sequence[Any]) -> None:
    """The first call, which may be one too many."""
    if f.device == "cpu":
        runner.call(*given)
        return
    from symc.cuda.caller import TooLong

    try:
        runner.call(*given)
    except TooLong:
        raise FunctionError(
            f"symc.profile cannot time {f.name} here: an array has more than 2^30 elements"
        ) from None


def _lengths(
    f: Function, program: ir.Program, arguments: Sequence[Any]
) -> dict[tuple[str, int], int]:
    """The lengths of the arrays that the program is given."""
    names = [b.name for role in ("input", "shared") for b in program.buffers if b.role == role]
    shapes = [np.shape(value) for value in arguments]
    shapes += [shared.op.cell[0].shape for shared in f.shared]
    return {
        (name, axis): length
        for name, shape in zip(names, shapes, strict=True)
        for axis, length in enumerate(shape)
    }


def _nested(steps: Sequence[ir.Step], depth: int) -> Iterator[tuple[ir.Step, int]]:
    """The steps in the order of the text, with the number of loops and branches they stand in."""
    for step in steps:
        yield step, depth
        if isinstance(step, ir.Repeat):
            yield from _nested(step.steps, depth + 1)
        elif isinstance(step, ir.Branch):
            yield from _nested((*step.then, *step.otherwise), depth + 1)


def _described(step: ir.Step, program: ir.Program) -> tuple[str, str, str]:
    """The kind of a step, its name, and the first line of its note."""
    match step:
        case ir.Launch(kernel):
            note = next(k.note for k in program.kernels if k.name == kernel)
            return "kernel", kernel, _first_line(note)
        case ir.Routine(name, _, note):
            return "routine", name, _first_line(note)
        case ir.PythonCall(_, name, _, note):
            return "Python", name, _first_line(note)
        case ir.Repeat(note=note):
            return "loop", "", _first_line(note)
        case ir.Branch(note=note):
            return "branch", "", _first_line(note)
        case ir.Check(_, _, note):
            return "check", "", _first_line(note)
        case ir.Measure(name):
            return "length", name, ""
        case _:
            assert_never(step)


def _first_line(note: str) -> str:
    lines = note.strip().splitlines()
    more = " ..." if len(lines) > 1 else ""
    return lines[0] + more if lines else ""


def _numbers(library: str, count: int) -> Any:
    """The numbers of the program's own table, `COLUMNS` for each step: they change as it runs."""
    import ctypes

    kind: Any = ctypes.c_int64 * (COLUMNS * max(count, 1))
    return kind.in_dll(ctypes.CDLL(library), TABLE)
