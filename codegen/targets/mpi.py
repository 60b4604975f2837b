"""Where the functions of this process's MPI are, and its handles.

mpi4py has loaded an MPI and started it. Programs that exchange arrays between processes
(`runtime/host/mpi.h`) have a table of its functions and handles, which is filled in when they are
loaded: handles are not the same in every process, so they cannot stand in a program's text.
"""

from __future__ import annotations

import ctypes
import os
from importlib.util import find_spec
from typing import Any

from symc.codegen.errors import MpiMissing

FUNCTIONS = (
    "MPI_Allreduce", "MPI_Allgather", "MPI_Reduce_scatter_block", "MPI_Bcast", "MPI_Sendrecv",
    "MPI_Comm_rank", "MPI_Comm_size", "MPI_Iallreduce", "MPI_Wait",
)  # fmt: skip
KINDS = {
    "bool": "C_BOOL", "int8": "INT8_T", "int16": "INT16_T", "int32": "INT32_T",
    "int64": "INT64_T", "uint8": "UINT8_T", "uint16": "UINT16_T", "uint32": "UINT32_T",
    "uint64": "UINT64_T", "float32": "FLOAT", "float64": "DOUBLE",
    "complex64": "C_FLOAT_COMPLEX", "complex128": "C_DOUBLE_COMPLEX",
}  # fmt: skip
"""MPI's names of the element types, in the order in which programs number them."""
REDUCTIONS = {"sum": "SUM", "max": "MAX", "min": "MIN"}
MOST_GROUPS = 16
REMEDY = "in a checkout: pip install '.[mpi]'"

COMMUNICATORS: list[Any] = []
"""mpi4py's communicators by the number that programs have for them."""


def installed() -> None:
    """Raises `MpiMissing` where mpi4py is not installed."""
    if find_spec("mpi4py") is None:
        raise MpiMissing(f"programs on several processes need mpi4py and an MPI\n{REMEDY}")


def started() -> Any:
    """The module ``mpi4py.MPI``, which starts MPI. Raises `MpiMissing` where there is none."""
    installed()
    try:
        from mpi4py import MPI  # pyright: ignore[reportMissingImports]
    except (ImportError, RuntimeError) as error:
        raise MpiMissing(f"mpi4py finds no MPI: {error}\n{REMEDY}") from None
    return MPI


def fill(table: Any) -> None:
    """Write addresses and handles into a program's table. Raises `MpiMissing`."""
    from symc.codegen.targets._abi import ffi

    mpi = started()
    library = ctypes.CDLL(mpi.__file__, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    entries = [_address(library, name) for name in FUNCTIONS]
    entries += [int(mpi.PROC_NULL), int(mpi.IN_PLACE)]
    entries += [_handle(mpi, getattr(mpi, name)) for name in KINDS.values()]
    entries += [_handle(mpi, getattr(mpi, name)) for name in REDUCTIONS.values()]
    entries += [_handle(mpi, each) for each in COMMUNICATORS]
    for number, entry in enumerate(entries):
        table[number] = ffi.cast("void *", entry)


def _address(library: ctypes.CDLL, name: str) -> int:
    """A function of the MPI that mpi4py's module is linked with."""
    try:
        found = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    except AttributeError:
        found = None
    if found is None:
        raise MpiMissing(f"the MPI of mpi4py has no function {name}")
    return found


def _handle(mpi: Any, value: Any) -> int:
    """The handle in an object of mpi4py's: four bytes of MPICH's, eight of Open MPI's."""
    size = mpi._sizeof(value)
    return int.from_bytes(ctypes.string_at(mpi._addressof(value), size), "little", signed=True)
