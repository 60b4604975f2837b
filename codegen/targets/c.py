"""The C compiler: how a function is compiled and loaded. (`c_language.py` is the language.)

Nothing here runs at import. `describe` starts a process only to ask an unknown compiler for its
version; the answer is kept in `memo`, so that the next Python process need not ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.errors import CompileFailed, CompilerMissing, CompileTimeout
from symc.codegen.record import record
from symc.codegen.targets import beyond, blas, compiler, openmp, team
from symc.codegen.targets.library import Library
from symc.codegen.targets.platforms import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from symc.codegen.dtypes import DType
    from symc.codegen.emit.units import ProgramText
    from symc.codegen.ir import Program
    from symc.codegen.targets.base import Lang, Pass, Source
    from symc.codegen.targets.units import Objects

SOURCE = "function.c"
BINARY = PLATFORM.library("function")
MOST = 8  # compilers at a time

FLAGS = (
    "-std=gnu11",
    "-fno-math-errno", "-fno-trapping-math",  # nobody reads errno or the exception flags
    "-fwrapv",  # integers wrap, as in NumPy
    # gcc makes one call of sin(x) and cos(x), which has no vector form: ten times the time of both.
    *(f"-fno-builtin-{name}" for name in ("sin", "cos", "sinf", "cosf")),
    *PLATFORM.movable, "-w",
)  # fmt: skip


@record
class CTarget:
    """The C compiler of this machine."""

    memo: compiler.Memo | None = None  # where the version of the compiler is remembered
    options: tuple[str, ...] = ()  # for the compiler, besides its own and `FLAGS`
    timed: bool = False  # whether programs time their steps
    objects: Objects | None = None  # where routines are kept that have been compiled

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
            **({"beyond": beyond.digest()} if beyond.applies(found) else {}),
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
        from symc.codegen.targets.processes import run_all  # late: loading needs none

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
        # Late: loading needs none of these.
        from symc.codegen.emit.units import ProgramText
        from symc.codegen.runtime.load import PARALLEL
        from symc.codegen.runtime.routines import RoutineText
        from symc.codegen.targets.processes import run_all
        from symc.codegen.targets.units import Linking

        found = self.compiler()
        source = text.text if isinstance(text, ProgramText) else text
        parallel = text.parallel if isinstance(text, ProgramText) else PARALLEL in text
        shared = parallel and not objects and team.applies(found, self.options)
        (folder / SOURCE).write_text(source, encoding="utf-8")
        options = [*flags(found, quick=quick, memo=self.memo), *beyond.options(found, source)]
        threads = openmp.has_openmp(found, self.memo)
        libraries = [*objects, *compiler.libraries(found, threads=threads, team=shared)]
        if home is not None and compiler.DEBUG_SYMBOLS in self.options:
            options.append(f"-fdebug-prefix-map={folder}={home}")
        units, routines = [source], list[RoutineText]()
        # A debugger needs the lines of one file that stays.
        if isinstance(text, ProgramText) and compiler.DEBUG_SYMBOLS not in self.options:
            routines = text.routines() if self.objects is not None else []
            units = text.units(min(compiler.cores(), MOST), routines)
        try:
            if len(units) > 1 or routines:
                units[-1] += team.text() if shared else ""
                linking = Linking(found, tuple(options), tuple(libraries), folder)
                linking.link(units, routines, self.objects, self.describe(quick=quick))
            else:
                options += ["-include", team.FILE] if shared else []
                options += PLATFORM.shared
                command = [*found.command, *options, SOURCE, "-o", BINARY, *libraries]
                run_all([command], [source], folder)
        except CompileTimeout:
            raise
        except CompileFailed as failed:
            raise compiler.with_hint(failed, found) from None
        if not is_library(folder / BINARY):
            said = f"status 0, but {BINARY} is no library"
            raise CompileFailed(source, list(found.command), said)

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
    # Selections of a few operations are no jumps, as far as gcc allows: nobody knows how often they
    # go which way. A selection takes up to 1.4 times a jump that is guessed right, one that is
    # guessed wrong every other time up to seven times a selection.
    # A pipe to the assembler, which then works meanwhile, takes 3 ms less than a file.
    if compiler.is_gcc(found):
        level += ["-fno-thread-jumps", "-fno-tree-bit-ccp", "-pipe"]
        level += ["--param=max-rtl-if-conversion-unpredictable-cost=80"]
    mvec = ["-DSYMC_LIBMVEC"] if compiler.has_libmvec(found) else []
    # Without it, a program that multiplies matrices also has loops for where there is no BLAS.
    wide = ["-DSYMC_BLAS64"] if blas.is_wide() else []
    return [*level, *compiler.processor(), *FLAGS, openmp.option(found, memo), *mvec, *wide]
