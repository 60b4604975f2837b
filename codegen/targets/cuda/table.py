"""The functions of the CUDA driver that symc calls: their parameters, and where they are.

The addresses come from libcuda on a machine with a graphics card, or from the simulator
(`targets/sim.py`); everything that uses them cannot tell which.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from symc.codegen.errors import CudaMissing

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = 12000  # functions behave as in CUDA 12.0, whatever the driver's version
LEGACY_STREAM = 1  # stream 0 is the one that waits for all others, also in a thread of its own

# The parameters of each. A handle (context, module, stream ...) is a uintptr_t here: to C it is the
# same as a pointer, to Python it is a number. Each returns a status, 0 if all went well.
PARAMETERS = {
    "cuInit": "unsigned flags",
    "cuDriverGetVersion": "int *version",
    "cuGetErrorName": "int error, const char **text",
    "cuGetErrorString": "int error, const char **text",
    "cuDeviceGetCount": "int *count",
    "cuDeviceGet": "int *device, int ordinal",
    "cuDeviceGetName": "char *name, int room, int device",
    "cuDeviceGetAttribute": "int *value, int attribute, int device",
    "cuDeviceTotalMem": "size_t *bytes, int device",
    "cuDevicePrimaryCtxRetain": "uintptr_t *context, int device",
    "cuCtxPushCurrent": "uintptr_t context",
    "cuCtxPopCurrent": "uintptr_t *context",
    "cuCtxGetCurrent": "uintptr_t *context",
    "cuCtxSynchronize": "void",
    "cuModuleLoadData": "uintptr_t *module, const void *image",
    "cuModuleUnload": "uintptr_t module",
    "cuModuleGetFunction": "uintptr_t *function, uintptr_t module, const char *name",
    "cuFuncGetAttribute": "int *value, int attribute, uintptr_t function",
    "cuFuncSetAttribute": "uintptr_t function, int attribute, int value",
    "cuLaunchKernel": "uintptr_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,"
    " unsigned by, unsigned bz, unsigned shared, uintptr_t stream, void **params, void **extra",
    "cuMemAlloc": "uint64_t *address, size_t bytes",
    "cuMemFree": "uint64_t address",
    "cuMemAllocAsync": "uint64_t *address, size_t bytes, uintptr_t stream",
    "cuMemAllocFromPoolAsync": "uint64_t *address, size_t bytes, uintptr_t pool, uintptr_t stream",
    "cuMemFreeAsync": "uint64_t address, uintptr_t stream",
    "cuMemGetInfo": "size_t *free, size_t *total",
    "cuMemPoolCreate": "uintptr_t *pool, const void *properties",
    "cuMemPoolSetAttribute": "uintptr_t pool, int attribute, void *value",
    "cuMemPoolTrimTo": "uintptr_t pool, size_t keep",
    "cuMemcpyHtoDAsync": "uint64_t to, const void *from, size_t bytes, uintptr_t stream",
    "cuMemcpyDtoHAsync": "void *to, uint64_t from, size_t bytes, uintptr_t stream",
    "cuMemcpyDtoDAsync": "uint64_t to, uint64_t from, size_t bytes, uintptr_t stream",
    "cuMemsetD8Async": "uint64_t to, unsigned char value, size_t bytes, uintptr_t stream",
    "cuPointerGetAttribute": "void *value, int attribute, uint64_t address",
    "cuStreamCreate": "uintptr_t *stream, unsigned flags",
    "cuStreamDestroy": "uintptr_t stream",
    "cuStreamQuery": "uintptr_t stream",
    "cuStreamSynchronize": "uintptr_t stream",
    "cuStreamWaitEvent": "uintptr_t stream, uintptr_t event, unsigned flags",
    "cuStreamBeginCapture": "uintptr_t stream, int mode",
    "cuStreamEndCapture": "uintptr_t stream, uintptr_t *graph",
    "cuStreamIsCapturing": "uintptr_t stream, int *status",
    "cuEventCreate": "uintptr_t *event, unsigned flags",
    "cuEventDestroy": "uintptr_t event",
    "cuEventQuery": "uintptr_t event",
    "cuEventRecord": "uintptr_t event, uintptr_t stream",
    "cuEventSynchronize": "uintptr_t event",
    "cuEventElapsedTime": "float *milliseconds, uintptr_t start, uintptr_t end",
    "cuGraphInstantiateWithFlags": "uintptr_t *ready, uintptr_t graph, unsigned long long flags",
    "cuGraphLaunch": "uintptr_t ready, uintptr_t stream",
    "cuGraphDestroy": "uintptr_t graph",
    "cuGraphExecDestroy": "uintptr_t ready",
}


def c_type(name: str) -> str:
    """The C type of a pointer to the function."""
    return f"int(*)({PARAMETERS[name]})"


def addresses() -> dict[str, int]:
    """Where libcuda's functions are, from the CUDA bindings or from libcuda itself.

    Raises `CudaMissing`, which says why there are none. Nothing is initialised by this.
    """
    try:
        find = by_bindings()
    except Exception as problem:  # the exception without a driver differs between versions
        find = by_libcuda(f"{type(problem).__name__}: {problem}".partition("\n")[0])
    found = {name: find(name) for name in PARAMETERS}
    missing = [name for name, address in found.items() if not address]
    if missing:
        raise CudaMissing(f"the CUDA driver is too old: it has no {missing[0]} of CUDA 12.0")
    return found


def by_bindings() -> Callable[[str], int]:
    """Look functions up through cuda-python; raises its exceptions where there is no driver."""
    bindings: Any = importlib.import_module("cuda.bindings.driver")  # late: it takes 70 ms

    def find(name: str) -> int:
        status, address, _ = bindings.cuGetProcAddress(name.encode(), VERSION, LEGACY_STREAM)
        return 0 if int(status) else int(address)

    find("cuInit")
    return find


def by_libcuda(reason: str) -> Callable[[str], int]:
    """Look functions up in libcuda.so.1; `reason` is why the bindings could not."""
    import os

    from symc.codegen.targets._abi import ffi

    system: Any = ffi.dlopen(None)
    library = system.dlopen(b"libcuda.so.1", os.RTLD_NOW | os.RTLD_GLOBAL)
    entry = system.dlsym(library, b"cuGetProcAddress_v2") if library != ffi.NULL else ffi.NULL
    if entry == ffi.NULL:
        raise CudaMissing(f"there is no CUDA driver (libcuda.so.1) here: {reason}")
    parameters = "const char *, void **, int, uint64_t, int *"
    get: Any = ffi.cast(f"int(*)({parameters})", entry)

    def find(name: str) -> int:
        place, status = ffi.new("void **"), ffi.new("int *")
        failed = get(name.encode(), place, VERSION, LEGACY_STREAM, status)
        return 0 if failed else int(ffi.cast("uintptr_t", place[0]))

    return find
