"""cuBLAS, where a wheel or the system has it. It weighs 0.6 GB, so nothing requires it: without it,
`runtime/cuda/gemm.cuh` multiplies matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symc.codegen.errors import CodegenError
from symc.codegen.record import record
from symc.codegen.targets._abi import ffi

if TYPE_CHECKING:
    from collections.abc import Callable

_FUNCTIONS = ("cublasCreate_v2", "cublasSetStream_v2", "cublasGemmStridedBatchedEx")


@record
class Cublas:
    """An opened cuBLAS and a handle for one device: addresses, as `symc_device` has them."""

    path: str
    set_stream: int
    gemm: int
    blas: int
    """Of a `symc_cublas`: the handle and its lock."""
    memory: Any
    """Holds the `symc_cublas`; keep it while programs use it."""


def open_cublas() -> Cublas | None:
    """A handle for the device whose context is current; None where there is no cuBLAS."""
    path = find()
    look_up = None if path is None else functions(path)
    return None if path is None or look_up is None else create(path, look_up)


def find() -> str | None:
    """The library of NVIDIA's wheel or of the system."""
    from importlib import import_module  # pathfinder has no types

    try:
        found: Any = import_module("cuda.pathfinder").load_nvidia_dynamic_lib("cublas")
    except Exception:  # the versions of pathfinder have no common error for this
        return None
    return str(found.abs_path)


def functions(path: str) -> Callable[[str], int] | None:
    """A function that finds symbols of the library at `path`, or None. Never closes the library."""
    system: Any = ffi.dlopen(None)
    library = system.dlopen(path.encode(), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    if library == ffi.NULL:
        return None
    return lambda name: int(ffi.cast("intptr_t", system.dlsym(library, name.encode())))


def create(path: str, look_up: Callable[[str], int]) -> Cublas | None:
    """A handle of a library whose functions `look_up` finds; None if it lacks one.

    Handles start without TF32, and take alpha and beta from the host's memory.
    """
    start, set_stream, gemm = found = [look_up(name) for name in _FUNCTIONS]
    if not all(found):
        return None
    memory = ffi.new("int64_t[2]")
    status: int = ffi.cast("int (*)(void *)", start)(memory)
    if status:
        raise CodegenError(f"cuBLAS ({path}) does not start: status {status}")
    return Cublas(path, set_stream, gemm, int(ffi.cast("intptr_t", memory)), memory)
