"""Calls under AddressSanitizer, for ``mode="debug"``: in processes of their own, before real ones.

So an access beside an array, or a crash, becomes an error that says whose it is. A function that
calls Python on its way cannot run there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from symc.codegen.errors import CompileFailed, CompileTimeout, note_above
from symc.codegen.targets import guarded
from symc.codegen.targets.c import BINARY, SOURCE, CTarget
from symc.codegen.targets.guarded import GuardedCall, Report
from symc.config import thread_count
from symc.errors import Mismatch
from symc.graph.node import Array
from symc.graph.request import Request
from symc.pipeline.library import compiled_once, find_or_build, target
from symc.tensor.broadcast import describe
from symc.tensor.notation import described

if TYPE_CHECKING:
    from symc.pipeline.compile import Compilation


RUN = "symc_run"  # stack entries below it are not the function's


def runner() -> str | None:
    """The program that calls functions under the sanitizer; None where there is none."""
    c = target(options=guarded.OPTIONS)
    assert isinstance(c, CTarget)
    try:
        path = compiled_once(
            guarded.source(), c, lambda folder: guarded.build(c.compiler(), folder), guarded.RUNNER
        )
    except CompileTimeout:
        raise
    except CompileFailed:
        return None
    return path if guarded.works(path) else None


class Guarded:
    """A function compiled for that process. `name` is the one that errors use.

    `compilation` makes its program.
    """

    def __init__(
        self, request: Request, mode: str, compilation: Callable[[], Compilation], name: str
    ) -> None:
        self.request = request
        self.name = name
        self.mode = mode
        self.compilation = compilation
        self.target = target(options=guarded.OPTIONS)

    def check(self, runner: str, arrays: Sequence[Array], shared: Sequence[Array]) -> None:
        """One call; raises `Mismatch` for accesses to memory that is not its own."""
        compilation = self.compilation()
        outputs = [b for b in compilation.optimised.buffers if b.role == "output"]
        call = GuardedCall(
            [array.tobytes() for array in (*arrays, *shared, *compilation.constants)],
            [length for array in (*arrays, *shared) for length in array.shape],
            [(len(buffer.shape), buffer.dtype.bytes) for buffer in outputs],
            thread_count(),
        )
        folder, report = find_or_build(
            self.request, self.mode, self.target,
            lambda entry: (entry.folder, guarded.run(runner, f"{entry.folder}/{BINARY}", call)), {},
        )  # fmt: skip
        if report is not None:
            raise Mismatch(self._told(report, folder))

    def _told(self, report: Report, folder: str) -> str:
        """The fault, its place, and the expression computed there."""
        head = f"the compiled code of {self.name} uses memory that is not its own"
        lines = [f"{head}: {', '.join(filter(None, (report.kind, report.access)))}"]
        if report.array is not None:
            lines.append(f"  array  {self._beside(*report.array)}")
        names = [entry.function for entry in report.trace]
        trace = report.trace[: names.index(RUN) + 1 if RUN in names else None]
        source = Path(folder, SOURCE).read_text(encoding="utf-8")
        notes = [note for entry in trace if (note := note_of(entry.file, entry.line, source))]
        lines += [f"  node   {line}" for note in notes[:1] for line in note.split("\n")]
        lines += [f"  code   {entry.function}   {entry.file}:{entry.line}" for entry in trace]
        return "\n".join(lines if trace else [*lines, report.text])

    def _beside(self, number: int, offset: int, size: int) -> str:
        """Which array an access was near to, and where."""
        compilation, known = self.compilation(), (*self.request.inputs, *self.request.shared)
        if number < len(known):
            name = describe(known[number])
        else:
            buffers = compilation.optimised.buffers
            rest = [b.name for role in ("constant", "output") for b in buffers if b.role == role]
            name = rest[number - len(known)]
            name = next((described(node) for node in compilation.holds.get(name, ())), name)
        if 0 <= offset < size:
            return f"{name}, in its byte {offset}"
        far = -offset if offset < 0 else offset - size
        where = "before its begin" if offset < 0 else "after its end"
        return f"{name}, {f'{far} bytes' if far else 'right'} {where} ({size} bytes)"


def note_of(file: str, line: int, source: str) -> str:
    """The expression computed at a place of generated code, with the user's line; or ""."""
    return note_above(source, line) if Path(file).name == SOURCE else ""


__all__ = ["Guarded", "note_of", "runner"]
