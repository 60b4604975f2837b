"""What programs are compiled with to stay in vectors beyond libmvec's range: `included/beyond.h`.

The text of a program declares the functions as for any compiler. The options define which of them
gcc reads from the header, before it reads the program.
"""

from __future__ import annotations

import os
import zlib
from functools import cache

from symc.codegen.targets.compiler import Compiler, has_libmvec, is_gcc
from symc.codegen.targets.platforms import PLATFORM

FILE = f"{os.path.dirname(os.path.dirname(__file__))}/runtime/included/beyond.h"

_DECLARED = r"(?m)^SYMC_VECTOR (?:double|float) ((?:exp|exp2|log|log2|log10)f?)\("


def applies(found: Compiler) -> bool:
    """Whether programs that this compiler makes get the functions."""
    return is_gcc(found) and has_libmvec(found) and PLATFORM.machine() == "x86_64"


def options(found: Compiler, source: str) -> list[str]:
    """The options for a program with this text: ``-DSYMC_BEYOND_exp`` if it declares exp."""
    import re  # late: functions in the cache need no options

    declared = sorted(set(re.findall(_DECLARED, source))) if applies(found) else []
    defined = [f"-DSYMC_BEYOND_{name}" for name in declared]
    return [*defined, "-include", FILE] if declared else []


@cache
def digest() -> str:
    """A stamp that changes with the text of the functions."""
    with open(FILE, "rb") as file:
        return f"{zlib.crc32(file.read()):x}"
