"""Where the LAPACK functions of this process's BLAS are.

OpenBLAS brings LAPACK along. Programs that factorise matrices (`lapack.h`) have a table of
its functions, which is filled in when they are loaded; the addresses are looked up once.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from symc.codegen.errors import BlasMissing
from symc.codegen.targets import blas

# As in `lapack.h`; after the bar the name of the complex functions, where it differs.
NAMES = (
    "gemm", "trsm", "trsv", "potrf", "getrf", "getri", "gelqf", "orglq|unglq", "syevd|heevd",
    "gesdd", "geev", "gees",
)  # fmt: skip

MISSING = (
    "this function needs LAPACK, for linear algebra or products of complex matrices, and none was "
    "found here\n"
    "install scipy-openblas32, or a NumPy that brings OpenBLAS; or use mode='python'"
)


def fill(table: Any, *, wide: bool) -> None:
    """Write the addresses into a program's table. `wide` says which integers it passes.

    Raises `BlasMissing` where there is no LAPACK with these.
    """
    from symc.codegen.targets._abi import ffi

    found = blas.find()
    known = None if found is None or found.wide != wide else addresses(found)
    if known is None:
        raise BlasMissing(MISSING)
    ffi.memmove(table, known, ffi.sizeof(known))


@functools.cache
def addresses(found: blas.Blas) -> Any:
    """The table for a BLAS, or None if some function is missing."""
    from symc.codegen.targets._abi import ffi

    system: Any = ffi.dlopen(None)
    handle = system.dlopen(os.fsencode(found.path), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    pointers = [system.dlsym(handle, name) for name in symbols(wide=found.wide)]
    if any(pointer == ffi.NULL for pointer in pointers):
        return None
    return ffi.new("void *[]", pointers)


def symbols(*, wide: bool) -> list[bytes]:
    """The names in the library: of each function for float32, float64, complex64, complex128."""
    suffix = "_64_" if wide else "_"
    found: list[bytes] = []
    for name in NAMES:
        real, _, other = name.partition("|")
        for letter in "sdcz":
            stem = real if letter in "sd" or not other else other
            found.append(f"scipy_{letter}{stem}{suffix}".encode())
    return found
