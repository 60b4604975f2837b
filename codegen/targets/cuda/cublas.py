"""cuBLAS, where a wheel or the system has it. It weighs 0.6 GB, so nothing requires it: without it,
`runtime/gemm.cuh` multiplies matrices.
"""

from __future__ import annotations

from typing import Any

from symc.codegen.errors import CodegenError
from symc.codegen.record import record
from symc.codegen.targets._abi import ffi

_TF32 = 3  # CUBLAS_TF32_TENSOR_OP_MATH


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


def open_cublas(*, tf32: bool = False) -> Cublas | None:
    """A handle for the device whose context is current; None where there is no cuBLAS.

    With `tf32` float32 products may use tensor cores, which keep three digits.
    """
    from importlib import import_module  # pathfinder has no types

    try:
        found: Any = import_module("cuda.pathfinder").load_nvidia_dynamic_lib("cublas")
    except Exception:  # the versions of pathfinder have no common error for this
        return None
    return create(str(found.abs_path), tf32=tf32)


def create(path: str, *, tf32: bool = False) -> Cublas | None:
    """A handle of the library at `path`; None if it lacks a function. Never closes the library."""
    system: Any = ffi.dlopen(None)
    library = system.dlopen(path.encode(), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    if library == ffi.NULL:
        return None

    def address(name: str) -> Any:
        return system.dlsym(library, name.encode())

    names = ("cublasCreate_v2", "cublasSetMathMode", "cublasSetStream_v2",
             "cublasGemmStridedBatchedEx")  # fmt: skip
    start, set_mode, set_stream, gemm = found = [address(name) for name in names]
    if any(function == ffi.NULL for function in found):
        return None
    memory = ffi.new("int64_t[2]")
    status = ffi.cast("int (*)(void *)", start)(memory)
    if status == 0 and tf32:
        handle = ffi.cast("void *", memory[0])
        status = ffi.cast("int (*)(void *, int)", set_mode)(handle, _TF32)
    if status != 0:
        raise CodegenError(f"cuBLAS ({path}) does not start: status {status}")

    def number(pointer: Any) -> int:
        return int(ffi.cast("intptr_t", pointer))

    return Cublas(path, number(set_stream), number(gemm), number(memory), memory)
