"""Windows: gcc or clang of MinGW, or that of ziglang; Microsoft's cannot read symc's C."""

from __future__ import annotations

import os

from symc.codegen.targets.platforms.base import Platform


def machine() -> str:
    """x86_64 or aarch64, under the names that other systems have for them."""
    found = os.environ.get("PROCESSOR_ARCHITECTURE", "").lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(found, found)


WINDOWS = Platform(
    suffix=".dll",
    magic=(b"MZ",),
    shared=("-shared",),
    movable=(),  # all code is, and gcc warns of the option
    openmp=("libgomp-1.dll", "libomp.dll"),
    blas="libscipy_openblas.dll",
    numpy_libraries="numpy.libs",
    simulates=False,
    machine=machine,
    processor=lambda: (machine(), os.environ.get("PROCESSOR_IDENTIFIER", "unknown")),
    c_library=lambda: "",
    file_of_c=lambda _: False,
    has_vector_math=lambda: False,
)
