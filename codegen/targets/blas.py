"""Which BLAS this process uses, and where its functions are.

Two are looked for, by path: nothing is imported. NumPy's wheels bring an OpenBLAS with 64-bit
integers that is in memory already when symc runs: opening it again takes 0.1 ms, and there is one
pool of threads and one set of buffers in the process. `scipy-openblas32` takes 1 ms to open (20 ms
the first time after boot), starts threads of its own, and is the choice where NumPy brings none
(builds against a system's BLAS, or MKL). With neither, `blas.h` uses its own loops, which
are compiled only where NumPy's OpenBLAS is not there: they take a third of gcc's time.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any

from symc.codegen.record import record
from symc.codegen.targets.platforms import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = (
    "cblas_sgemm", "cblas_dgemm", "openblas_get_num_threads", "openblas_set_num_threads",
    "cblas_ssyrk", "cblas_dsyrk",
)  # fmt: skip


@record
class Blas:
    """An opened BLAS: addresses of `NAMES`, and the guard that all programs share."""

    path: str
    wide: bool
    addresses: tuple[int, ...]
    guard: Any


@functools.cache
def find() -> Blas | None:
    """The BLAS of this process, or None. Opened once, never closed."""
    for path, wide in candidates():
        found = opened(path, wide)
        if found is not None:
            return found
    return None


def is_wide() -> bool:
    """Whether `find` gives a BLAS with 64-bit integers; judged by its file until it is opened."""
    if find.cache_info().currsize:
        found = find()
        return found is not None and found.wide
    return bool(numpys())


def candidates() -> Iterator[tuple[str, bool]]:
    """Libraries that may be there, best first, and whether their integers have 64 bits."""
    yield from ((path, True) for path in numpys())
    wheel = package("scipy_openblas32")
    if wheel is not None:
        yield f"{wheel}/lib/{PLATFORM.blas}", False


@functools.cache
def numpys() -> tuple[str, ...]:
    """Where NumPy's wheels have their OpenBLAS."""
    numpy = package("numpy")
    folder = f"{os.path.dirname(numpy)}/{PLATFORM.numpy_libraries}" if numpy is not None else ""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple(
        f"{folder}/{name}"
        for name in names
        if name.startswith("libscipy_openblas64_") and PLATFORM.suffix in name
    )


def package(name: str) -> str | None:
    """The folder of a package, without importing it."""
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ is not None:
        return os.path.dirname(loaded.__file__)
    import importlib.util  # late: NumPy is loaded already where symc is used

    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else os.path.dirname(spec.origin)


def opened(path: str, wide: bool) -> Blas | None:
    """Open a library and look its functions up; None if something is missing."""
    from symc.codegen.targets._abi import ffi

    if not os.path.exists(path):
        return None
    system: Any = ffi.dlopen(None)
    handle = system.dlopen(os.fsencode(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    if handle == ffi.NULL:
        return None
    suffix = "64_" if wide else ""
    pointers = [system.dlsym(handle, f"scipy_{name}{suffix}".encode()) for name in NAMES]
    if any(pointer == ffi.NULL for pointer in pointers):
        return None
    addresses = tuple(int(ffi.cast("intptr_t", pointer)) for pointer in pointers)
    guard = ffi.new("int64_t[3]")
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _reset(guard))
    return Blas(path, wide, addresses, guard)


def _reset(guard: Any) -> None:
    """In the child of a fork: calls that other threads were in are not there any more."""
    guard[0] = guard[1] = 0
