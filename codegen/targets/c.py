"""The C compiler: how a function is compiled and loaded. (`c_language.py` is the language.)

Nothing here runs at import. `describe` starts a process only to ask an unknown compiler for its
version; the answer is kept in `memo`, so that the next Python process need not ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.errors import CompileFailed, CompilerMissing, CompileTimeout
from symc.codegen.record import record
from symc.codegen.targets import blas, compiler, openmp, team
from symc.codegen.targets.library import Library
from symc.codegen.targets.platforms import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from symc.codegen.dtypes import DType
    from symc.codegen.emit.units import ProgramText
    from symc.codegen.ir import Program
    from symc.codegen.targets.base import Lang, Pass, Source
    from symc.codegen.targets.processes import Ended

SOURCE = "function.c"
BINARY = PLATFORM.library("function")
MOST = 8  # compilers at a time

FLAGS = (
    "-std=gnu11",
    "-fno-math-errno", "-fno-trapping-math",  # nobody reads errno or the exception flags
    "-fwrapv",  # integers wrap, as in NumPy
    *PLATFORM.movable, "-w",
)  # fmt: skip


@record
class CTarget:
    """The C compiler of this machine."""

    memo: compiler.Memo | None = None  # where the version of the compiler is remembered
    options: tuple[str, ...] = ()  # for the compiler, besides its own and `FLAGS`
    timed: bool = False  # whether programs time their steps

    @property
    def name(self) -> str:
        """The name that it is found by."""
        return "c"

    @property
    def lang(self) -> Lang:
        """The table that programs are printed through."""
        from symc.codegen.targets.c_language import C  # late: functions in the cache are printed

        return C

    @property
    def on_device(self) -> bool:
        """Arrays are in the memory of the processor."""
        return False

    def available(self) -> bool:
        """Whether there is a compiler. Starts no process."""
        return compiler.find_compiler() is not None

    def has_routine(self, name: str) -> bool:
        """All of them."""
        del name
        return True

    def computes(self, dtype: DType) -> bool:
        """All of them."""
        del dtype
        return True

    def passes(self) -> tuple[Pass, ...]:
        """The passes over a program before it is printed, in order."""
        from symc.codegen.passes.order import PASSES

        return PASSES

    def emit(self, program: Program) -> Source:
        """The text of a program that has been through the passes."""
        from symc.codegen.emit.program import emit_text
        from symc.codegen.foreign import foreign_of
        from symc.codegen.targets.c_source import CSource
        from symc.codegen.targets.foreign import files

        foreign = foreign_of(program)
        parts = emit_text(program, self.lang, timed=self.timed)
        origins = {f.file_name: f.file for f in foreign}
        return CSource(((SOURCE, parts.text), *files(foreign)), {}, parts, origins)

    def describe(self, *, quick: bool = False) -> dict[str, str]:
        """Cache-key parts: everything besides the source that affects the binary."""
        found = self.compiler()
        model, features = compiler.cpu()
        return {
            "compiler": compiler.identity(found, self.memo),
            "flags": " ".join([*found.command[1:], *flags(found, quick=quick, memo=self.memo)]),
            "cpu": model,
            "features": features,
            "platform": compiler.platform(),
            **({"timed": "1"} if self.timed else {}),
            **({"team": team.digest()} if team.applies(found, self.options) else {}),
        }

    def compiler(self) -> compiler.Compiler:
        """The compiler with the target's options, or `CompilerMissing`."""
        found = compiler.find_compiler()
        if found is None:
            raise CompilerMissing(compiler.why_missing())
        return compiler.Compiler((*found.command, *self.options), found.path)

    def compile(
        self, source: Source, folder: Path, *, quick: bool = False, home: str | None = None
    ) -> None:
        """Leave ``function.c`` and ``function.so`` in `folder`, or raise `CompileFailed`.

        `home` is where the folder will be moved to: debuggers look for the source there, if the
        function is compiled for them.
        """
        from symc.codegen.targets.c_source import CSource

        assert isinstance(source, CSource)
        objects = [
            self.compile_foreign(name, text, source.origins[name], folder)
            for name, text in source.files[1:]
        ]
        self.compile_text(source.parts, folder, quick=quick, objects=objects, home=home)

    def compile_foreign(self, name: str, text: str, file: str, folder: Path) -> str:
        """Compile a user's file, its includes being beside it. Returns the object's name."""
        from symc.codegen.targets.foreign import FLAGS as OPTIONS
        from symc.codegen.targets.foreign import ForeignFailed

        (folder / name).write_text(text, encoding="utf-8")
        made = name.replace(".c", ".o")
        beside = file.rpartition("/")[0] or "/"
        options = [compiler.march(), *OPTIONS, "-iquote", beside]
        command = [*self.compiler().command, *options, "-c", name, "-o", made]
        try:
            run_all([command], [text], folder)
        except CompileTimeout:
            raise
        except CompileFailed as failed:
            raise ForeignFailed(text, command, failed.log) from None
        return made

    def compile_text(
        self,
        text: str | ProgramText,
        folder: Path,
        *,
        quick: bool = False,
        objects: Sequence[str] = (),
        home: str | None = None,
    ) -> None:
        """As `compile`, for a text from anywhere, to be linked with these objects."""
        from symc.codegen.runtime.load import PARALLEL  # late: loading needs none

        found = self.compiler()
        source = text if isinstance(text, str) else text.text
        parallel = PARALLEL in text if isinstance(text, str) else text.parallel
        shared = parallel and not objects and team.applies(found, self.options)
        (folder / SOURCE).write_text(source, encoding="utf-8")
        options = flags(found, quick=quick, memo=self.memo)
        threads = openmp.has_openmp(found, self.memo)
        libraries = [*objects, *compiler.libraries(found, threads=threads, team=shared)]
        if home is not None and compiler.DEBUG_SYMBOLS in self.options:
            options.append(f"-fdebug-prefix-map={folder}={home}")
        # A debugger needs the lines of one file that stays.
        most = 1 if compiler.DEBUG_SYMBOLS in self.options else min(compiler.cores(), MOST)
        parts = [source] if isinstance(text, str) else text.units(most)
        try:
            if len(parts) == 1:
                options += ["-include", team.FILE] if shared else []
                options += PLATFORM.shared
                command = [*found.command, *options, SOURCE, "-o", BINARY, *libraries]
                run_all([command], [source], folder)
            else:
                command = [*found.command, *PLATFORM.shared]
                parts[-1] += team.text() if shared else ""
                compile_units(found, parts, folder, options, libraries)
        except CompileTimeout:
            raise
        except CompileFailed as failed:
            raise compiler.with_hint(failed, found) from None
        if not is_library(folder / BINARY):
            raise CompileFailed(source, command, f"status 0, but {BINARY} is no library")

    def load(self, folder: str | Path) -> Library:
        """Open the function in `folder`."""
        return Library.open(f"{folder}/{BINARY}")


def is_library(path: Path) -> bool:
    """Whether a file looks like a shared library: a compiler may claim success and leave none."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError:
        return False
    return PLATFORM.is_library(start)


def flags(found: compiler.Compiler, *, quick: bool, memo: compiler.Memo | None = None) -> list[str]:
    """The options of one compilation. For `memo`, see `openmp.py`."""
    # Our loops say themselves whether they may be vectorised. The rest of -O2 takes gcc a quarter
    # of its time, for code that is no faster. clang vectorises from -O2 on. But a loop that asks
    # now and then whether to stop, by a call, keeps nothing in vector registers otherwise.
    level = ["-O1", "-fexpensive-optimizations", "-fcaller-saves"]
    if not compiler.is_gcc(found):
        level = ["-O2"]
    if quick:
        level = ["-O1"]
    # gcc 12 duplicates stores for both sides of a condition, and then vectorises `omp simd` loops
    # as if stores of one of them were not read back by the other: elements are lost.
    # To follow single bits of integers takes it a fifth of its time in bodies of some thousand
    # operations, for nothing: our loops run as fast without.
    # A pipe to the assembler, which then works meanwhile, takes 3 ms less than a file.
    if compiler.is_gcc(found):
        level += ["-fno-thread-jumps", "-fno-tree-bit-ccp", "-pipe"]
    mvec = ["-DSYMC_LIBMVEC"] if compiler.has_libmvec(found) else []
    # Without it, a program that multiplies matrices also has loops for where there is no BLAS.
    wide = ["-DSYMC_BLAS64"] if blas.is_wide() else []
    return [*level, *compiler.processor(), *FLAGS, openmp.option(found, memo), *mvec, *wide]


def compile_units(
    found: compiler.Compiler,
    parts: Sequence[str],
    folder: Path,
    options: Sequence[str],
    libraries: Sequence[str],
) -> None:
    """Compile units of a function side by side, and link them."""
    names = [f"unit{number}" for number in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        (folder / f"{name}.c").write_text(part, encoding="utf-8")
    try:
        run_all(
            [[*found.command, *options, "-c", f"{name}.c", "-o", f"{name}.o"] for name in names],
            parts,
            folder,
        )
        objects = [f"{name}.o" for name in names]
        link = [*found.command, *PLATFORM.shared, *objects, "-o", BINARY, *libraries]
        run_all([link], [""], folder)
    finally:
        for name in names:
            (folder / f"{name}.c").unlink(missing_ok=True)
            (folder / f"{name}.o").unlink(missing_ok=True)


def run_all(commands: Sequence[Sequence[str]], sources: Sequence[str], folder: Path) -> None:
    """Run compilers side by side; raise `CompileFailed` for the first that fails."""
    from symc.codegen.targets import processes  # late: a function from the cache needs none

    raise_first(processes.run(commands, folder), commands, sources)


def raise_first(
    ended: Sequence[Ended], commands: Sequence[Sequence[str]], sources: Sequence[str]
) -> None:
    """Raise `CompileFailed` for the first compiler that failed."""
    for end, command, source in zip(ended, commands, sources, strict=True):
        if end.status != 0:
            raise CompileFailed(source, list(command), end.said or f"status {end.status}")
