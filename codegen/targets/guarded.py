"""Calling compiled functions in a process of their own, under AddressSanitizer.

That sanitizer must be in a process from its beginning, and ends it at the first mistake. So a small
program (`runtime/guarded/run.c`) loads a function that was compiled with `OPTIONS`, calls it once,
and its report is read here.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from symc.codegen.record import record
from symc.codegen.runtime.load import FOLDER
from symc.codegen.targets import blas, lapack, processes
from symc.codegen.targets.compiler import DEBUG_SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.targets.compiler import Compiler

OPTIONS = ("-fsanitize=address", "-fno-omit-frame-pointer", DEBUG_SYMBOLS)
RUNNER = "run"
SETTINGS = (  # arrays lie so far apart that an access beside one is not taken for another's
    "detect_leaks=0:exitcode=99:abort_on_error=0:allocator_may_return_null=1:color=never:redzone=256"
)

_ERROR = re.compile(r"ERROR: AddressSanitizer:? (\S+)")
_ACCESS = re.compile(r"^(?:The signal is caused by a )?(READ|WRITE)\b(?: of size (\d+))?", re.M)
_SIGNAL = re.compile(r"caused by a (READ|WRITE) memory access")
_FRAME = re.compile(r"^ +#\d+ 0x[0-9a-f]+ in (\S+) (.+?):(\d+)(?::\d+)?$", re.M)
_ADDRESS = re.compile(r"ERROR: AddressSanitizer: .* on (?:unknown )?address (0x[0-9a-f]+)")
_REGION = re.compile(r"-byte region \[(0x[0-9a-f]+),(0x[0-9a-f]+)\)")
_ARRAY = re.compile(r"^symc array (0x[0-9a-f]+|\(nil\))$", re.M)


@record
class GuardedCall:
    """The arguments of a call: given arrays as bytes, and rank and item of each output."""

    given: Sequence[bytes]
    lengths: Sequence[int]
    outputs: Sequence[tuple[int, int]]
    threads: int


@record
class TraceEntry:
    """A line of the stack trace: function, file and line number."""

    function: str
    file: str
    line: int


@record
class Report:
    """A fault: the kind of mistake, where, and which array it was beside.

    `array` has the number of the array, in the order of `symc_call.data`, the place that was
    touched in bytes from its begin, and its length in bytes.
    """

    kind: str
    access: str
    trace: tuple[TraceEntry, ...]
    array: tuple[int, int, int] | None
    text: str


def source() -> str:
    """The text of the program that calls functions, with the header that it includes."""
    program = Path(FOLDER, "guarded", "run.c").read_text(encoding="utf-8")
    header = Path(FOLDER, "host", "call.h").read_text(encoding="utf-8")
    return program.replace('#include "call.h"', header)


def build(compiler: Compiler, folder: Path) -> None:
    """Leave the program in `folder`, or raise `CompileFailed`."""
    command = [*compiler.command, *OPTIONS, "-O1", "-x", "c", "-", "-o", RUNNER, "-ldl"]
    processes.raise_first(processes.run([command], folder, given=source()), [command], [source()])


@functools.cache
def works(runner: str) -> bool:
    """Whether the program can run here: not every kernel gives the sanitizer the memory it maps."""
    try:
        return subprocess.run([runner], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def run(runner: str, library: str, call: GuardedCall) -> Report | None:
    """Call a function in `library`; the fault that was found, or None."""
    with tempfile.NamedTemporaryFile(prefix="symc-arrays-") as file:
        head = (call.threads, len(call.given), len(call.outputs), len(call.lengths))
        kinds = [number for kind in call.outputs for number in kind]
        numbers = [*head, *call.lengths, *kinds, *map(len, call.given)]
        file.write(array("q", numbers).tobytes())
        for values in call.given:
            file.write(values)
        file.flush()
        done = subprocess.run(
            [runner, library, file.name, *_blas()], capture_output=True, check=False,
            env={**os.environ, "ASAN_OPTIONS": SETTINGS, "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
    said = done.stderr.decode(errors="replace")
    return None if done.returncode in (0, 3) else read(said, done.returncode)


def _blas() -> list[str]:
    """How the program finds the BLAS of this process."""
    found = blas.find()
    if found is None:
        return []
    suffix = "64_" if found.wide else ""
    names = [f"scipy_{name}{suffix}" for name in blas.NAMES]
    names += [symbol.decode() for symbol in lapack.symbols(wide=found.wide)]
    return [found.path, str(int(found.wide)), *names]


def read(text: str, status: int) -> Report:
    """The report in the output of a process that ended with this status."""
    error = _ERROR.search(text)
    if error is None:
        kind = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return Report(kind, "", (), None, text.strip())
    access = _ACCESS.search(text) or _SIGNAL.search(text)
    words = "" if access is None else f"{access[1].lower()}s"
    if access is not None and access.re is _ACCESS and access[2]:
        words += f" {access[2]} bytes"
    first = text[error.start() :].partition("\n\n")[0]
    trace = tuple(TraceEntry(f, file, int(line)) for f, file, line in _FRAME.findall(first))
    return Report(error[1], words, trace, _touched(text), text.strip())


def _touched(text: str) -> tuple[int, int, int] | None:
    """The array that a report is about."""
    address, region, arrays = _ADDRESS.search(text), _REGION.search(text), _ARRAY.findall(text)
    if address is None or region is None or region[1] not in arrays:
        return None
    begin, end = int(region[1], 16), int(region[2], 16)
    return arrays.index(region[1]), int(address[1], 16) - begin, end - begin
