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
from symc.codegen.record import record
from symc.codegen.targets import processes
from symc.codegen.targets.c import BINARY, SOURCE, CTarget, flags

_HEAD = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
_LINKERS = re.compile(r"@plt|^_init$|^_fini$|_tm_clones$|__do_global|^frame_dummy$|^_start$")
_LOCATION = re.compile(r"^\s+\.loc\s+\d+\s+(\d+)")
_LABEL = re.compile(r"^([\w.$]+):")
_LOCAL = re.compile(r"\.L\w+")
_SECTION = re.compile(r"^\s+\.(?:(text)|data|bss|section\s+(\S+))")
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


def on_device(device: str) -> str:
    """Where the code of a function on a device can be seen.

    >>> on_device("opencl:0:0")
    "f.source has its kernels, and drivers of OpenCL keep the device's code to themselves"
    """
    if device.startswith("opencl"):
        return (
            "f.source has its kernels, and drivers of OpenCL keep the device's code to themselves"
        )
    return "f.ptx() and f.sass() have its code"


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
    said = _printed(source, (), quick=quick)
    return "\n".join(text for text in said.splitlines() if not _DIRECTIVE.match(text)) + "\n"


def _printed(source: Path, options: tuple[str, ...], *, quick: bool) -> str:
    """The compiler's assembly of a file."""
    found = CTarget().compiler()
    command = [*found.command, *flags(found, quick=quick), *options, "-S", str(source), "-o", "-"]
    (done,) = processes.run([command])
    processes.raise_first([done], [command], [source.read_text(encoding="utf-8")])
    return done.said


# --- each instruction with its line of the C ------------------------------------------------------


@record
class Listing:
    """A function in machine code: its name, and for each instruction its line of the C (0: none).

    Labels that something jumps to stand among the instructions.
    """

    name: str
    rows: tuple[tuple[int, str], ...]


def listings(folder: str | Path, *, quick: bool = False) -> list[Listing]:
    """The functions that the compiler makes of the ``function.c`` in `folder`.

    Raises `CompilerMissing` where there is no compiler. Tables of lines change no instruction.
    """
    return listed(_printed(Path(folder, SOURCE), ("-g1",), quick=quick))


def listed(text: str) -> list[Listing]:
    r"""The functions in a compiler's assembly with ``.loc`` directives.

    >>> listed("\t.text\nf:\n\t.loc 1 7 3\n\tret\n")
    [Listing(name='f', rows=((7, 'ret'),))]
    """
    found: list[tuple[str, list[tuple[int, str]]]] = []
    line, is_code = 0, True
    for row in text.splitlines():
        if section := _SECTION.match(row):
            is_code = bool(section[1]) or (section[2] or "").startswith(".text")
        elif not is_code or not row.strip():
            continue
        elif location := _LOCATION.match(row):
            line = int(location[1])
        elif label := _LABEL.match(row):
            if not label[1].startswith(".L"):
                found.append((label[1], []))
            elif found:
                found[-1][1].append((line, label[0]))
        elif found and not row.lstrip().startswith((".", "#")):
            found[-1][1].append((line, " ".join(row.split())))
    return [Listing(name, _with_targets(rows)) for name, rows in found if rows]


def _with_targets(rows: list[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Rows without the labels that no instruction names."""
    named = {label for _, text in rows if not text.endswith(":") for label in _LOCAL.findall(text)}
    return tuple(
        (line, text) for line, text in rows if not text.endswith(":") or text[:-1] in named
    )
