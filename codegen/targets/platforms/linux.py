"""Linux, and other systems with ELF: glibc where it is there, whose vector math is used."""

from __future__ import annotations

import functools
import os

from symc.codegen.targets.platforms.base import Platform

FOLDERS = (
    "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib",
)  # fmt: skip
_ONE_PROCESSOR = 8192  # bytes of /proc/cpuinfo, at most
OLDEST_VECTORS = (2, 35)
"""The first glibc whose libmvec has all functions that `libm.h` declares."""


@functools.cache
def glibc() -> str:
    """The C library and its version, such as ``glibc 2.36``; "" for another one, such as musl."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def machine() -> str:
    """As `platform.machine`, whose module takes long to import."""
    return os.uname().machine


def cpuinfo() -> tuple[str, str]:
    """The processor's model and its features, from the kernel."""
    model, features = machine(), "unknown"
    try:
        # The kernel writes no more of this file than is asked for; one processor is enough.
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(_ONE_PROCESSOR).decode(errors="replace")
    except OSError:
        return model, features
    for line in text.partition("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        match name.strip():
            case "model name" | "CPU part":
                model = value.strip()
            case "flags" | "Features":
                features = value.strip()
            case _:
                pass
    return model, features


def file_of_c(name: str) -> bool:
    """Whether a file is in one of the folders of libraries."""
    return any(os.path.exists(f"{folder}/{name}") for folder in FOLDERS)


def has_libmvec() -> bool:
    """Whether glibc's vector math can be used."""
    if machine() != "x86_64" or not glibc():
        return False
    numbers = glibc().split()[-1].split(".")
    return tuple(map(int, numbers[:2])) >= OLDEST_VECTORS and file_of_c("libmvec.so.1")


LINUX = Platform(
    suffix=".so",
    magic=(b"\x7fELF",),
    shared=("-shared",),
    movable=("-fPIC",),
    openmp=("libgomp.so.1", "libomp.so", "libomp.so.5"),
    blas="libscipy_openblas.so",
    numpy_libraries="numpy.libs",
    simulates=True,
    machine=machine,
    processor=cpuinfo,
    c_library=glibc,
    file_of_c=file_of_c,
    has_vector_math=has_libmvec,
)
