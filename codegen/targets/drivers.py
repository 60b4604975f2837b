"""Drivers that symc brings as C: compiled where they were not before, and opened once a process.

A driver is a folder of `codegen/runtime/drivers`. Its library has a function that lists the
addresses of all others, by the names that libcuda has for them.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from symc.codegen.errors import CompilerMissing
from symc.codegen.targets import compiler

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Iterator

DRIVER = "driver.so"
FLAGS = (
    "-std=gnu11",
    "-D_GNU_SOURCE",
    "-O1",
    "-w",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
)


def describe(sources: Path) -> dict[str, str]:
    """Cache-key parts: everything that affects the result of `build`."""
    found = _c_compiler()
    return {
        "driver": f"{digest(sources, '.h')} {digest(sources, '.c')}",
        "compiler": found.stamp,
        "flags": " ".join([*found.command, *FLAGS]),
    }


def build(sources: Path, folder: Path, *options: str) -> None:
    """Leave a driver as a shared library in `folder`, or raise `CompileFailed`."""
    from symc.codegen.targets import processes

    found = _c_compiler()
    # One text of all files: the compiler starts once.
    source = "".join(f'#include "{path.name}"\n' for path in sorted(sources.glob("*.c")))
    command = [
        *found.command, *FLAGS, *options, "-I", str(sources), "-x", "c", "-",
        "-o", DRIVER, "-lm", "-ldl", "-lpthread",
    ]  # fmt: skip
    processes.raise_first(processes.run([command], folder, given=source), [command], [source])


def entries(library: ctypes.CDLL, function: str) -> Iterator[tuple[str, int]]:
    """The names and addresses that a driver's function of this name lists."""
    import ctypes

    name, address = ctypes.c_char_p(), ctypes.c_void_p()
    number = 0
    while library[function](number, ctypes.byref(name), ctypes.byref(address)):
        yield (name.value or b"").decode(), address.value or 0
        number += 1


@functools.cache
def digest(sources: Path, suffix: str) -> str:
    """A hash of a driver's files that end so."""
    made = hashlib.sha256()
    for path in sorted(sources.glob(f"*{suffix}")):
        made.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()[:16]


def _c_compiler() -> compiler.Compiler:
    found = compiler.find_compiler()
    if found is None:
        raise CompilerMissing(compiler.why_missing())
    return found
