"""The threads that parallel loops of this process share: those of `symc/calls/_team.c`.

A program compiled by gcc then has the functions of `runtime/host/team.h` with it, and does not need
libgomp. Everywhere else (clang, no extension, a user's own C with OpenMP in it) programs use
OpenMP's runtime.
"""

from __future__ import annotations

import os
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

from symc.codegen.targets.compiler import Compiler, is_gcc

if TYPE_CHECKING:
    from collections.abc import Sequence

# Options of a target that do not move a program to another process: symbols, digits.
PLAIN = frozenset({"-g", "-ffp-contract=off"})

FILE = f"{os.path.dirname(os.path.dirname(__file__))}/runtime/host/team.h"

_table = [0]


def use(address: int) -> None:
    """From now on, programs are made for the table of functions at this address."""
    _table[0] = address


def applies(found: Compiler, options: Sequence[str]) -> bool:
    """Whether programs compiled with these options get the functions."""
    return _table[0] != 0 and is_gcc(found) and PLAIN.issuperset(options)


@cache
def digest() -> str:
    """A stamp that changes with the text of the functions."""
    with open(FILE, "rb") as file:
        return f"{zlib.crc32(file.read()):x}"


def text() -> str:
    """The functions."""
    from symc.codegen.runtime.load import source_of

    return source_of(["symc_team"])


def fill(handle: Any) -> bool:
    """Tell a program where the table is. Whether it was compiled with the functions."""
    from symc.codegen.targets._abi import ffi

    try:
        handle.symc_team = ffi.cast("void *", _table[0])
    except ffi.error:
        return False
    return True
