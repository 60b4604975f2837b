"""A compiled function in memory: its addresses, through cffi in ABI mode without parsing."""

from __future__ import annotations

import os
from typing import Any

from symc.codegen.errors import BlasMissing
from symc.codegen.record import record
from symc.codegen.targets import team
from symc.codegen.targets.platforms import PLATFORM

_pinned: list[Any] = []


@record(eq=False)
class Library:
    """An opened function. The addresses are valid as long as this object lives."""

    prepare: int
    run: int
    counts: tuple[int, int, int, int]
    """How many arrays, lengths, shapes, and the room that `symc_call.sizes` needs."""
    handle: Any
    team: bool
    """Whether its loops run on the threads of `team.py`, which a child of fork has as well."""

    @classmethod
    def open(cls, path: str) -> Library:
        """Open a shared library that `compile` made, and fill in the BLAS functions it calls."""
        from symc.codegen.targets._abi import ffi

        handle: Any = _opened(path)
        has_team = team.fill(handle)
        if not has_team:
            pin_openmp()
        fill_imports(handle)
        fill_mpi(handle)
        arrays, lengths, shapes, room = handle.symc_counts
        return cls(
            int(ffi.cast("intptr_t", handle.symc_prepare)),
            int(ffi.cast("intptr_t", handle.symc_run)),
            (arrays, lengths, shapes, room),
            handle,
            has_team,
        )


def _opened(path: str) -> Any:
    from symc.codegen.targets._abi import ffi

    how = ffi.RTLD_NOW | ffi.RTLD_LOCAL
    try:
        path.encode()
    except UnicodeEncodeError:  # cffi takes no bytes, and makes UTF-8 of text
        system: Any = ffi.dlopen(None)
        handle = system.dlopen(os.fsencode(path), how)
        if handle == ffi.NULL:
            raise OSError(f"cannot load library {path!r}") from None
        return ffi.dlopen(handle, how)
    return ffi.dlopen(path, how)


def pin_openmp() -> None:
    """Keep the OpenMP runtime loaded once a library has brought it in.

    Were it unloaded with the last function that needs it, its idle threads would wake up in memory
    that is gone.
    """
    from symc.codegen.targets._abi import ffi

    if _pinned or not hasattr(os, "RTLD_NOLOAD"):
        return
    system: Any = ffi.dlopen(None)
    for name in PLATFORM.openmp:
        # Not ffi.dlopen: it reads an error message, and there is none for a library that is not
        # loaded.
        handle = system.dlopen(name.encode(), os.RTLD_NOW | os.RTLD_NOLOAD | os.RTLD_NODELETE)
        if handle != ffi.NULL:
            _pinned.append(handle)
            return


def fill_imports(handle: Any) -> None:
    """Give a library that calls BLAS the addresses of its functions."""
    from symc.codegen.targets import blas
    from symc.codegen.targets._abi import ffi

    try:
        imports = handle.symc_imports
    except ffi.error:
        return  # it calls none

    wide, found = bool(imports.wide), blas.find()
    if wide and (found is None or not found.wide):
        raise BlasMissing("compiled for NumPy's OpenBLAS, which this process does not have")
    fill_lapack(handle, wide=wide)
    if found is None:
        return  # the wrappers in blas.h have loops of their own
    for number, address in enumerate(found.addresses):
        imports.functions[number] = ffi.cast("void *", address)
    imports.wide = found.wide
    imports.guard = found.guard


def fill_mpi(handle: Any) -> None:
    """Give a library that other processes take part in the functions and handles of MPI."""
    from symc.codegen.targets._abi import ffi

    try:
        table = handle.symc_mpi
    except ffi.error:
        return  # it has no collective operations

    from symc.codegen.targets import mpi  # late: it starts MPI

    mpi.fill(table)


def fill_lapack(handle: Any, *, wide: bool) -> None:
    """Give a library that calls LAPACK the addresses of its functions, or raise `BlasMissing`."""
    from symc.codegen.targets._abi import ffi

    try:
        table = handle.symc_lapack
    except ffi.error:
        return  # it calls none

    from symc.codegen.targets import lapack  # late: few functions call any

    lapack.fill(table, wide=wide)
