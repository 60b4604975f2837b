"""C: the table of the language, and how a function is compiled and loaded.

Nothing here runs at import. `describe` starts a process only to ask an unknown compiler for its
version; the answer is kept in the file `memo`, so that the next Python process need not ask.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from symc.codegen.errors import CompileFailed, CompilerMissing
from symc.codegen.record import record
from symc.codegen.targets import blas, compiler
from symc.codegen.targets.base import Lang, Pass
from symc.codegen.targets.library import Library

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SOURCE = "function.c"
BINARY = "function.so"
MOST = 8  # compilers at a time

FLAGS = (
    "-std=gnu11", "-march=native",
    "-fno-math-errno", "-fno-trapping-math",  # nobody reads errno or the exception flags
    "-fwrapv",  # integers wrap, as in NumPy
    "-fopenmp", "-fPIC", "-w",
)  # fmt: skip

KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if"
    " inline int long register restrict return short signed sizeof static struct switch typedef"
    " union unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic"
    " _Imaginary _Noreturn _Static_assert _Thread_local _Float16 asm typeof linux unix i386 bool"
    " true false nullptr int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t"
    " INFINITY NAN NULL"
)

C = Lang(
    name="c",
    types={
        "bool": "bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t",
        "int64": "int64_t", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t",
        "uint64": "uint64_t", "float16": "_Float16", "float32": "float", "float64": "double",
    },
    suffixes={
        "int8": "", "int16": "", "int32": "", "int64": "", "uint8": "", "uint16": "",
        "uint32": "u", "uint64": "ull", "float16": "f", "float32": "f", "float64": "",
    },
    infinity={
        "float16": "__builtin_inff()", "float32": "__builtin_inff()",
        "float64": "__builtin_inf()",
    },
    nan={
        "float16": '__builtin_nanf("")', "float32": '__builtin_nanf("")',
        "float64": '__builtin_nan("")',
    },
    kernel="static __attribute__((noinline)) void",
    restrict="restrict",
    local=" __attribute__((aligned(64)))",
    simd="#pragma omp simd{clauses}",
    parallel="#pragma omp parallel for{simd} schedule({schedule}) num_threads(threads)"
    " if(parallel: {test})",
    unroll="#pragma GCC unroll {count}",
    thread="omp_get_thread_num()",
    reserved=frozenset(KEYWORDS.split()),
)  # fmt: skip


@record
class CTarget:
    """The C compiler of this machine."""

    memo: Path | None = None  # where the version of the compiler is remembered
    lang: Lang = C

    def available(self) -> bool:
        """Whether there is a compiler. Starts no process."""
        return compiler.find_compiler() is not None

    def passes(self) -> tuple[Pass, ...]:
        """What to do to a program before it is printed, in order."""
        from symc.codegen.passes import PASSES

        return PASSES

    def describe(self, *, quick: bool = False) -> dict[str, str]:
        """What decides besides the source what compiling gives: the parts of a cache key."""
        found = self.compiler()
        return {
            "compiler": compiler.identity(found, self.memo),
            "flags": " ".join([*found.command[1:], *flags(found, quick=quick)]),
            "cpu": compiler.cpu(),
            "platform": compiler.platform(),
        }

    def compiler(self) -> compiler.Compiler:
        """The compiler, or `CompilerMissing`."""
        found = compiler.find_compiler()
        if found is None:
            raise CompilerMissing(compiler.why_missing())
        return found

    def compile(self, source: str, folder: Path, *, quick: bool = False) -> None:
        """Leave ``function.c`` and ``function.so`` in `folder`, or raise `CompileFailed`."""
        from symc.codegen.targets.pieces import pieces

        found = self.compiler()
        (folder / SOURCE).write_text(source, encoding="utf-8")
        options = flags(found, quick=quick)
        libraries = compiler.libraries(found)
        parts = pieces(source, min(compiler.cores(), MOST))
        if len(parts) == 1:
            command = [*found.command, *options, "-shared", SOURCE, "-o", BINARY, *libraries]
            run_all([command], [source], folder)
        else:
            command = [*found.command, "-shared"]
            compile_pieces(found, parts, folder, options, libraries)
        if not is_library(folder / BINARY):
            raise CompileFailed(source, command, f"status 0, but {BINARY} is no library")

    def load(self, folder: Path) -> Library:
        """Open the function in `folder`."""
        return Library.open(folder / BINARY)


def is_library(path: Path) -> bool:
    """Whether a file looks like a shared library: what a compiler leaves that claims success."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError:
        return False
    return start == b"\x7fELF" or not sys.platform.startswith("linux")


def flags(found: compiler.Compiler, *, quick: bool) -> list[str]:
    """The options of one compilation."""
    # -O3 adds only transformations of unmarked loops, which ours are not, and takes longer.
    level = "-O1" if quick else "-O2"
    mvec = ["-DSYMC_LIBMVEC"] if compiler.has_libmvec(found) else []
    # Without it, a program that multiplies matrices also has loops for where there is no BLAS.
    wide = ["-DSYMC_BLAS64"] if blas.is_wide() else []
    return [level, *FLAGS, *mvec, *wide]


def compile_pieces(
    found: compiler.Compiler,
    parts: Sequence[str],
    folder: Path,
    options: Sequence[str],
    libraries: Sequence[str],
) -> None:
    """Compile parts of a function side by side, and link them."""
    names = [f"piece{number}" for number in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        (folder / f"{name}.c").write_text(part, encoding="utf-8")
    try:
        run_all(
            [[*found.command, *options, "-c", f"{name}.c", "-o", f"{name}.o"] for name in names],
            parts,
            folder,
        )
        objects = [f"{name}.o" for name in names]
        link = [*found.command, "-shared", *objects, "-o", BINARY, *libraries]
        run_all([link], [""], folder)
    finally:
        for name in names:
            (folder / f"{name}.c").unlink(missing_ok=True)
            (folder / f"{name}.o").unlink(missing_ok=True)


def run_all(commands: Sequence[Sequence[str]], sources: Sequence[str], folder: Path) -> None:
    """Run compilers side by side; raise `CompileFailed` for the first that fails."""
    import subprocess  # late: a function from the cache needs no process

    running = [
        subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
        )
        for command in commands
    ]  # fmt: skip
    logs = [process.communicate()[0] for process in running]
    for process, command, source, log in zip(running, commands, sources, logs, strict=True):
        if process.returncode != 0:
            raise CompileFailed(source, list(command), log or f"status {process.returncode}")
