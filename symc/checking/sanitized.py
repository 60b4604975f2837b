"""The sanitizers of the C compiler in this process, for ``mode="debug"``, and their reports.

That for undefined behaviour can be loaded at any time; it writes to standard error and goes on.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from symc.codegen.errors import note_above
from symc.codegen.targets.c import BINARY, SOURCE
from symc.codegen.targets.compiler import find_compiler, is_gcc

_REPORT = re.compile(r"(\S+):(\d+):\d+: runtime error:")
_lock = threading.RLock()  # standard error is the whole process's
_said: dict[tuple[int, int], list[str]] = {}
"""The reports of each library in this process: each is given once only."""


@functools.cache
def sanitizers() -> tuple[str, ...]:
    """The options of the sanitizers that can be used in this process.

    That for undefined behaviour, where gcc has its library. That for addresses must be there from
    the beginning: ``LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0``.
    Without, `guarded.py` uses it in processes of their own.
    """
    from symc.codegen.targets import processes

    found = find_compiler()
    if found is None or not is_gcc(found):
        return ()
    command = [*found.command, "-print-file-name=libubsan.so"]
    said = processes.run([command])[0].said.strip()
    # To copy no bytes from nowhere is defined since C2y; `memcpy`'s declaration says otherwise.
    both = ("-fsanitize=undefined", "-fno-sanitize=nonnull-attribute")
    undefined = both if os.sep in said else ()
    return (*undefined, *(("-fsanitize=address",) if has_address_sanitizer() else ()))


@functools.cache
def has_address_sanitizer() -> bool:
    """Whether the sanitizer for addresses is in this process."""
    import ctypes

    return hasattr(ctypes.CDLL(None), "__asan_init")


def reports_of(folder: str) -> list[str]:
    """The reports about the library in a folder, whatever function calls it."""
    library = Path(folder, BINARY).stat()
    return _said.setdefault((library.st_dev, library.st_ino), [])


@contextmanager
def reported(reports: list[str]) -> Generator[None]:
    """Adds the lines that sanitizers write to standard error in the block to the reports."""
    with _lock, tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            for line in file.read().decode(errors="replace").splitlines(keepends=True):
                if "runtime error:" in line:
                    reports.append(line.strip())
                else:
                    os.write(2, line.encode())


def explained(report: str, folder: str) -> str:
    """A report, and the expression that generated code computes there."""
    found = _REPORT.search(report)
    if found is None or Path(found[1]).name != SOURCE:
        return f"  code   {report}"
    note = note_above(Path(folder, SOURCE).read_text(encoding="utf-8"), int(found[2]))
    nodes = [f"  node   {line}" for line in note.split("\n") if line]
    return "\n".join([*nodes, f"  code   {folder}/{report}"])
