"""macOS: Apple's clang, which has no OpenMP runtime of its own, and no vector math for loops."""

from __future__ import annotations

import os

from symc.codegen.targets.platforms.base import Platform


def machine() -> str:
    """arm64 or x86_64."""
    return os.uname().machine


MACOS = Platform(
    suffix=".dylib",
    magic=(b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"),  # Mach-O of 64 bits, and of several machines
    shared=("-shared",),
    movable=("-fPIC",),
    openmp=("libomp.dylib", "libgomp.1.dylib"),
    blas="libscipy_openblas.dylib",
    numpy_libraries="numpy/.dylibs",
    simulates=False,
    machine=machine,
    processor=lambda: (machine(), "unknown"),
    c_library=lambda: "",
    file_of_c=lambda _: False,
    has_vector_math=lambda: False,
)
