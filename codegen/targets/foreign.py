"""C functions of users in C: how programs declare them, and how their files are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symc.codegen.errors import CompileFailed
from symc.codegen.foreign import Foreign
from symc.codegen.targets.c_language import C
from symc.codegen.targets.platforms import PLATFORM

if TYPE_CHECKING:
    from symc.codegen.dtypes import DType
    from symc.codegen.foreign import Passing

FLAGS = ("-std=gnu11", "-O2", "-ftree-vectorize", "-fopenmp", *PLATFORM.movable, "-w")


class ForeignFailed(CompileFailed):
    """The compiler rejected a user's file. The message has the compiler's own, and the command."""

    def __str__(self) -> str:
        import shlex

        return f"{self.log.strip()}\n\nthis was the command:\n  {shlex.join(self.command)}"


def declaration(foreign: Foreign) -> str:
    """The line that declares a function to a program, under its name there."""
    return f'extern {_prototype(foreign, foreign.name)} __asm__("{foreign.symbol}");'


def _prototype(foreign: Foreign, name: str) -> str:
    result = "void" if foreign.result is None else _type(foreign.result)
    arguments = ", ".join(_passed(dtype, passing) for dtype, passing in foreign.arguments)
    return f"{result} {name}({arguments or 'void'})"


def _passed(dtype: DType, passing: Passing) -> str:
    const = "const " if passing == "read" else ""
    return _type(dtype) if passing == "value" else f"{const}{_type(dtype)} *"


def _type(dtype: DType) -> str:
    """A type without the names of stdint.h, which the user's file may not include."""
    name = C.types[dtype.name]
    return f"__{name.upper().removesuffix('_T')}_TYPE__" if name.endswith("_t") else name


def files(found: Sequence[Foreign]) -> list[tuple[str, str]]:
    """The files of some functions, by their names beside a program.

    Messages name the user's own file. Declarations follow the text, so that the compiler
    compares them with the definitions.
    """
    texts: dict[str, list[str]] = {}
    for foreign in found:
        name = foreign.file_name
        place = foreign.file.replace("\\", "\\\\").replace('"', '\\"')
        head = [f'#line 1 "{place}"', foreign.text, '#line 1 "the types that symc was told"']
        texts.setdefault(name, head).append(f"extern {_prototype(foreign, foreign.symbol)};")
    return [(name, "\n".join([*lines, ""])) for name, lines in texts.items()]
