"""The machine code of a compiled function as text, for people: objdump's, or else the compiler's.

Only what belongs to the function is shown: its kernels, each with its note above it, and the
functions that call them; not the linker's additions.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from symc.codegen.errors import CompilerMissing
from symc.codegen.targets import processes
from symc.codegen.targets.c import BINARY, SOURCE, CTarget, flags, raise_first

_HEAD = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
_LINKERS = re.compile(r"@plt|^_init$|^_fini$|_tm_clones$|__do_global|^frame_dummy$|^_start$")
_DIRECTIVE = re.compile(r"^\s+\.(?!string|long|quad|double|float)")


def assembly(folder: str | Path, notes: Mapping[str, str], *, quick: bool = False) -> str:
    """The machine code of the library that `CTarget.compile` left in `folder`.

    `notes` says of each kernel which nodes it computes. Raises `CompilerMissing` where there is
    neither objdump nor a compiler.
    """
    program = shutil.which("objdump")
    if program is not None:
        return _disassembled(program, Path(folder, BINARY), notes)
    if CTarget().available():
        return _compiled(Path(folder, SOURCE), quick=quick)
    raise CompilerMissing(
        "there is no objdump to read the machine code with, and no C compiler to print it. "
        "objdump comes with GNU binutils, as gcc's linker does"
    )


def _disassembled(program: str, binary: Path, notes: Mapping[str, str]) -> str:
    command = [program, "--disassemble", "--no-show-raw-insn", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    shown: list[str] = []
    for block in done.stdout.split("\n\n"):
        first, _, rest = block.strip().partition("\n")
        head = _HEAD.match(first)
        if head is None or _LINKERS.search(head[1]):
            continue
        name = head[1]
        shown.append("\n".join([*_title(name, notes), f"{name}:", rest]))
    return "\n\n".join(shown) + "\n"


def _title(name: str, notes: Mapping[str, str]) -> list[str]:
    """Comments above a function: a part of a kernel that gcc moved out is of that kernel."""
    kernel = name.partition(".")[0]
    return [f"# {line}" for line in notes.get(kernel, "").splitlines()]


def _compiled(source: Path, *, quick: bool) -> str:
    found = CTarget().compiler()
    command = [*found.command, *flags(found, quick=quick), "-S", str(source), "-o", "-"]
    (done,) = processes.run([command])
    raise_first([done], [command], [source.read_text(encoding="utf-8")])
    return "\n".join(text for text in done.said.splitlines() if not _DIRECTIVE.match(text)) + "\n"
