"""The errors of code generation.

CodegenError
  IRError           also ValueError     a program breaks a rule of the loop IR
  CompileFailed     also RuntimeError   the compiler rejected the emitted source
    CompileTimeout                      it took longer than the setting allows, and was stopped
  CompilerMissing   also RuntimeError   there is no compiler here
  CudaMissing       also RuntimeError   there is no CUDA here
  OpenclMissing     also RuntimeError   there is no such device of OpenCL, or it lacks something
  DoublesMissing    also TypeError      a device without double precision is to compute in it
  DriverError       also RuntimeError   a function of the CUDA driver failed
  BlasMissing       also RuntimeError   a compiled program needs a BLAS that is not here
  MpiMissing        also RuntimeError   there is no MPI here, or mpi4py is not installed
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class CodegenError(Exception):
    """The base of all errors that code generation raises on purpose."""


class IRError(CodegenError, ValueError):
    """A program breaks a rule of the loop IR: a bug in whatever made the program.

    The message shows the program, with the fault under the offending line.
    `codegen/verify/program.py` lists the rules.
    """


class CompileFailed(CodegenError, RuntimeError):
    """The compiler rejected a generated program.

    The message shows the compiler's command, the comment above the first error (the expression
    there, and the user's line), the lines around it, and the compiler's message.
    """

    def __init__(self, source: str, command: Sequence[str], log: str) -> None:
        """Keep the source that was compiled, the command, and the compiler's message."""
        super().__init__(source, command, log)
        self.source = source
        self.command = tuple(command)
        self.log = log

    @property
    def line(self) -> int | None:
        """The line of the first error in `source`, counted from 1."""
        import re  # late, as all that only failures need

        error = r"^[^\s:(]+\.(?:c|cu)[:(](\d+)\)?(?::\d+)?: *(?:fatal |catastrophic )?error"
        found = re.search(error, self.log, re.M)
        return None if found is None else int(found[1])

    @property
    def note(self) -> str:
        """The comment nearest above the first error in the same C function, or ``""``.

        It names the expression computed there, and the user's line of it.
        """
        return "" if self.line is None else note_above(self.source, self.line)

    def __str__(self) -> str:
        """The whole message."""
        import shlex

        log = self.log.strip().split("\n")
        if len(log) > 40:
            log = [*log[:40], f"... and {len(log) - 40} more lines"]
        parts = [f"the compiler failed\n  {shlex.join(self.command)}"]
        if self.note:
            parts.append("what it failed on\n  " + self.note.replace("\n", "\n  "))
        if self.line is not None:
            parts.append(self.excerpt())
        if "_Float16 is not supported" in self.log:
            parts.append("float16 needs gcc 12 or clang 15, or a later one: name it by SYMC_CC")
        return "\n\n".join([*parts, "\n".join(log)])

    def excerpt(self, around: int = 5) -> str:
        """The numbered source around the first error, with a mark at it; empty if there is none."""
        line = self.line
        if line is None:
            return ""
        lines = self.source.split("\n")
        first = max(1, line - around)
        numbered = enumerate(lines[first - 1 : line + around], first)
        return "\n".join(f"{'>' if n == line else ' '} {n:5d}  {text}" for n, text in numbered)


class CompileTimeout(CompileFailed):
    """The compiler took longer than `symc.config.compile_timeout` allows, and was stopped.

    One that runs inside this process, NVRTC, cannot be stopped, and is not waited for any more.
    """

    def __init__(self, command: Sequence[str], seconds: float, *, stopped: bool = True) -> None:
        """Keep the command, how many seconds it had, and whether it runs no more."""
        super().__init__("", command, f"it did not end within {seconds:g} seconds")
        self.seconds = seconds
        self.stopped = stopped

    def __str__(self) -> str:
        """The command that ran, for how long, and the remedy."""
        import shlex

        how = "was stopped" if self.stopped else "goes on in a thread, which cannot be stopped"
        return (
            f"the compiler did not end within {self.seconds:g} seconds, and {how}\n"
            f"  {shlex.join(self.command)}\n"
            "If it hangs, set SYMC_CC to another one; if it only needs longer, set "
            "symc.config.compile_timeout, or SYMC_COMPILE_TIMEOUT, to more seconds"
        )


def note_above(source: str, line: int) -> str:
    """The comment nearest above a line in the same C function, or ``""``."""
    import re

    text = "\n".join(source.split("\n")[:line])
    function = text.rpartition("\n}\n")[2]
    comments = re.findall(r"/\* (?!---- )(.*?) \*/", function, re.S)
    return re.sub(r"\n *\* ", "\n", comments[-1]) if comments else ""


class CompilerMissing(CodegenError, RuntimeError):
    """No compiler for the target was found."""


class CudaMissing(CodegenError, RuntimeError):
    """No CUDA driver was found, or it has no device."""


class OpenclMissing(CodegenError, RuntimeError):
    """No such device of OpenCL was found, or it lacks what symc needs."""


class DoublesMissing(CodegenError, TypeError):
    """A program for a device without double precision computes in it."""


class DriverError(CodegenError, RuntimeError):
    """A function of the CUDA driver failed: its message, and its code."""

    def __init__(self, code: int, message: str) -> None:
        """Keep the driver's code beside the message."""
        super().__init__(message)
        self.code = code


class BlasMissing(CodegenError, RuntimeError):
    """A program was compiled where a BLAS was found that this process does not have.

    `Target.describe` has changed by now: compiled anew, the program runs without.
    """


class MpiMissing(CodegenError, RuntimeError):
    """A program for several processes finds no MPI: mpi4py is not installed, or lacks one."""
