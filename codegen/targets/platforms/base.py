"""The facts that symc needs of an operating system."""

from __future__ import annotations

from collections.abc import Callable

from symc.codegen.record import record


@record
class Platform:
    """How libraries are called and made on a system, and what its C library has."""

    suffix: str
    """Of shared libraries."""
    magic: tuple[bytes, ...]
    """How the file of a shared library begins."""
    shared: tuple[str, ...]
    """The compiler's options for a shared library."""
    movable: tuple[str, ...]
    """Those for code that may lie anywhere in memory, as that of shared libraries does."""
    openmp: tuple[str, ...]
    """Files that OpenMP's runtimes may have; one that is loaded stays."""
    blas: str
    """The library in the package `scipy_openblas32`."""
    numpy_libraries: str
    """Where NumPy's wheels have their libraries, from the folder that NumPy's own is in."""
    simulates: bool
    """Whether the simulator of CUDA runs here: its driver is ELF's."""
    machine: Callable[[], str]
    """The processor's architecture."""
    processor: Callable[[], tuple[str, str]]
    """Its model and its features, which tell binaries apart that were made for this very one."""
    c_library: Callable[[], str]
    """The C library and its version, where compilers' results depend on it; "" elsewhere."""
    file_of_c: Callable[[str], bool]
    """Whether the C library has come with a file of this name."""
    has_vector_math: Callable[[], bool]
    """Whether the C library computes exp, sin and so on of vectors, as `libm.h` declares them."""

    def library(self, name: str) -> str:
        """The file of a shared library."""
        return f"{name}{self.suffix}"

    def is_library(self, start: bytes) -> bool:
        """Whether a file that begins so looks like a shared library."""
        return start.startswith(self.magic)
