"""Which C compiler there is, and which of its properties affect the binary."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING

from symc.codegen.record import record
from symc.codegen.targets.platforms import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from symc.codegen.errors import CompileFailed

    class Memo(Protocol):
        """Where answers of compilers are kept for other processes: texts by name."""

        def read(self, name: str) -> str | None:
            """The kept value, if there is one."""
            ...

        def write(self, name: str, text: str) -> None:
            """Keep a text, if that is possible."""
            ...

        def __hash__(self) -> int: ...


DEBUG_SYMBOLS = "-g"
time_limit: list[Callable[[], float]] = []
"""Functions that tell how many seconds a compiler may take; the last counts: symc's settings."""
_FOR_AN_ANSWER = 20.0  # seconds that a compiler has to say its version


@record
class Compiler:
    """A compiler's command line, and which file it is."""

    command: tuple[str, ...]
    path: str

    @property
    def stamp(self) -> str:
        """A stamp that a replaced compiler changes: costs one `stat`, starts no process."""
        status = os.stat(self.path)
        return f"{self.path} {status.st_size} {status.st_mtime_ns}"


def find_compiler() -> Compiler | None:
    """The compiler that SYMC_CC or CC names, else cc, gcc, clang, or that of the package ziglang.

    None where there is none. A name given in SYMC_CC or CC is an order: nothing else is taken in
    its place.
    """
    order = os.environ.get("SYMC_CC") or os.environ.get("CC")
    found = _find(order, ("cc", "gcc", "clang"), os.environ.get("PATH", ""))
    return found if found is not None or order else packaged("cc")


def find_cxx_compiler() -> Compiler | None:
    """The C++ compiler that SYMC_CXX or CXX names, else c++, g++ or clang++; as `find_compiler`."""
    order = os.environ.get("SYMC_CXX") or os.environ.get("CXX")
    found = _find(order, ("c++", "g++", "clang++"), os.environ.get("PATH", ""))
    return found if found is not None or order else packaged("c++")


@functools.cache
def packaged(language: str) -> Compiler | None:
    """The clang that the Python package ziglang holds, if that is installed."""
    from importlib.util import find_spec  # late: who has a compiler does not come here

    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    program = os.path.join(os.path.dirname(spec.origin), "zig")
    if not os.access(program, os.X_OK):
        return None
    # Zig's own default is to check for undefined behaviour, which needs a runtime of its own.
    return Compiler((program, language, "-fno-sanitize=undefined"), program)


def _which(name: str, path: str) -> str | None:
    """As `shutil.which`, whose module takes longer to import than all the rest of a cache hit."""
    places = [""] if os.sep in name else path.split(os.pathsep)
    for place in places:
        found = f"{place.rstrip(os.sep)}{os.sep}{name}" if place else name
        if os.access(found, os.X_OK) and os.path.isfile(found):
            return found
    return None


@functools.cache
def _find(order: str | None, names: tuple[str, ...], path: str) -> Compiler | None:
    for words in [_split(order)] if order else [[name] for name in names]:
        found = _which(words[0], path) if words else None
        if found is not None:
            # the last word without a dash is the compiler itself in "ccache gcc -m64"
            inner = [
                _which(word, path)
                for word in words[1:]
                if not word.startswith("-") and not is_zig(found)  # "zig cc" runs no cc
            ]
            last = next((place for place in reversed(inner) if place is not None), found)
            return Compiler((found, *words[1:]), os.path.realpath(last))
    return None


def _split(order: str) -> list[str]:
    if not any(character in order for character in "'\"\\"):
        return order.split()
    import shlex  # late: few names of compilers have quotes

    try:
        return shlex.split(order)
    except ValueError:  # `why_missing` says so
        return []


def march() -> str:
    """The option that says which processors code is for: SYMC_MARCH, else this machine's.

    ``SYMC_MARCH=x86-64-v3`` gives code for all processors with AVX2; the names are the compiler's.
    """
    return f"-march={os.environ.get('SYMC_MARCH') or 'native'}"


def processor() -> list[str]:
    """`march`, and on x86 the options that say which registers code uses.

    Without AVX, gcc moves parts of vectors through MMX registers, and never gives them back: all
    long doubles of the process are NaN from then on.

    For Intel's processors with AVX-512 compilers take half of a register. gcc then has no vectors
    for loops with masks of bytes beside doubles, which run five times as long.
    """
    if PLATFORM.machine() != "x86_64":
        return [march()]
    return [march(), "-mno-mmx", "-mprefer-vector-width=512"]


def why_missing() -> str:
    """The error for a user who has no compiler."""
    order = os.environ.get("SYMC_CC") or os.environ.get("CC")
    if order:
        return f"no C compiler: {_why_none(order, 'SYMC_CC or CC')}"
    return (
        "no C compiler: found none of cc, gcc, clang in PATH. Install gcc, or the Python package "
        "ziglang, which holds a clang, or set SYMC_CC"
    )


def why_cxx_missing() -> str:
    """The error for a user who has no C++ compiler."""
    order = os.environ.get("SYMC_CXX") or os.environ.get("CXX")
    if order:
        return f"no C++ compiler: {_why_none(order, 'SYMC_CXX or CXX')}"
    return "no C++ compiler: found none of c++, g++, clang++ in PATH. Install g++ or set SYMC_CXX"


def _why_none(order: str, variables: str) -> str:
    """The error for a compiler that the environment names and that cannot be used."""
    import shlex

    try:
        words = shlex.split(order)
    except ValueError as error:
        return f"{order!r}, which {variables} is, cannot be read as a command: {error}"
    if words and os.path.isdir(words[0]):
        return f"{order!r}, which {variables} names, is a folder"
    return f"{order!r}, which {variables} names, is not a program in PATH"


def identity(found: Compiler, memo: Memo | None) -> str:
    """The compiler's file and version. The version is asked for once for each file, see `memo`."""
    stamp = found.stamp
    return f"{remembered('compiler', stamp, memo, lambda: _version(found))} ({stamp})"


def remembered(name: str, stamp: str, memo: Memo | None, ask: Callable[[], str]) -> str:
    """The answer of `ask` about the file that `stamp` stands for: asked once, kept in `memo`."""
    if memo is not None:
        known, _, answer = (memo.read(name) or "").partition("\n")
        if known == stamp and answer:
            return answer
    answer = ask()
    if memo is not None:
        memo.write(name, f"{stamp}\n{answer}")
    return answer


@functools.cache
def _version(found: Compiler) -> str:
    from symc.codegen.errors import CompileTimeout
    from symc.codegen.targets import processes  # late: with a version remembered, none is started

    try:
        (ended,) = processes.run([[*found.command, "--version"]], most=_FOR_AN_ANSWER)
    except (OSError, CompileTimeout):
        return "unknown version"
    lines = ended.said.splitlines()
    return lines[0].strip() if lines and lines[0].strip() else "unknown version"


@functools.cache
def cpu() -> tuple[str, str]:
    """The processor's model and its features, as ``-march=native`` sees them."""
    return PLATFORM.processor()


def platform() -> str:
    """The operating system, the machine's architecture and the C library."""
    return f"{sys.platform} {PLATFORM.machine()} {PLATFORM.c_library()}".strip()


@functools.cache
def has_libmvec(found: Compiler) -> bool:
    """Whether glibc's vector math can be used; clang does not call it for symc's loops."""
    return not is_clang(found) and PLATFORM.has_vector_math()


def cores() -> int:
    """How many compilers to run at a time: as many as processors that this process may use."""
    from symc.codegen.processors import find  # late: few programs are cut into pieces

    return find({}).count


def is_zig(path: str) -> bool:
    """Whether a program is Zig's, by its name."""
    return os.path.basename(path) == "zig"


def is_clang(found: Compiler) -> bool:
    """Whether a compiler is clang, under its own name or as ``zig cc``."""
    return "clang" in found.path or is_zig(found.path)


def is_gcc(found: Compiler) -> bool:
    """Whether a compiler is gcc, by the name of the file that all links lead to."""
    return "gcc" in os.path.basename(found.path)


def with_hint(failed: CompileFailed, found: Compiler) -> CompileFailed:
    """The error, and for a compiler that symc does not know the alternatives."""
    name = os.path.basename(found.path)
    if any(known in name for known in ("gcc", "clang", "icx", "cc1", "zig")) or name == "cc":
        return failed
    hint = (
        f"symc's C needs gcc or clang, and this is {name}: set SYMC_CC=gcc or install one of them"
    )
    return type(failed)(failed.source, failed.command, f"{hint}\n\n{failed.log}")


def libraries(found: Compiler, *, threads: bool = True, team: bool = False) -> list[str]:
    """The linker's options; `team` for programs that need no OpenMP runtime (`team.py`).

    libmvec only where its development file is: libm pulls it in elsewhere.

    With glibc, gcc's own list is left out: reading the C library takes more than half of the
    linker's time, and all we use of it (``malloc``, ``memcpy``) is in every process. Options of
    the user's, such as a sanitizer, may need the whole list.
    """
    mvec = has_libmvec(found) and PLATFORM.file_of_c("libmvec.so")
    math = ["-lmvec", "-lm"] if mvec else ["-lm"]
    if len(found.command) > 1 or not is_gcc(found) or not PLATFORM.c_library():
        return ["-fopenmp", *math] if threads else math
    runtime = [] if team else ["-lgomp"]
    return ["-nostdlib", "-Wl,--as-needed", *runtime, *math, "-lgcc"]
