"""The errors of code generation.

CodegenError
  IRError           also ValueError     a program breaks a rule of the loop IR
  CompileFailed     also RuntimeError   the compiler rejected what was emitted
  CompilerMissing   also RuntimeError   there is no compiler here
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class CodegenError(Exception):
    """The base of all errors that code generation raises on purpose."""


class IRError(CodegenError, ValueError):
    """A program breaks a rule of the loop IR: a bug in whatever made the program.

    The message shows the program, with what is wrong under the offending line. `codegen/verify.py`
    lists the rules.
    """


class CompileFailed(CodegenError, RuntimeError):
    """The compiler rejected a generated program.

    The message shows the lines around the first error, what the compiler said, and its command.
    """

    def __init__(self, source: str, command: Sequence[str], log: str) -> None:
        """Keep the source that was compiled, the command, and what the compiler said."""
        super().__init__(source, command, log)
        self.source = source
        self.command = tuple(command)
        self.log = log

    @property
    def line(self) -> int | None:
        """The line of the first error in `source`, counted from 1."""
        import re  # late, as all that only failures need

        found = re.search(r"^[^\s:]+\.(?:c|cu):(\d+):(?:\d+:)? *(?:fatal )?error", self.log, re.M)
        return None if found is None else int(found[1])

    def __str__(self) -> str:
        """The whole message."""
        import shlex

        log = self.log.strip().split("\n")
        if len(log) > 40:
            log = [*log[:40], f"... and {len(log) - 40} more lines"]
        shown = self.excerpt()
        middle = f"\n\n{shown}" if shown else ""
        return f"the compiler failed\n  {shlex.join(self.command)}{middle}\n\n" + "\n".join(log)

    def excerpt(self, around: int = 5) -> str:
        """The numbered source around the first error, with a mark at it; empty if there is none."""
        line = self.line
        if line is None:
            return ""
        lines = self.source.split("\n")
        first = max(1, line - around)
        numbered = enumerate(lines[first - 1 : line + around], first)
        return "\n".join(f"{'>' if n == line else ' '} {n:5d}  {text}" for n, text in numbered)


class CompilerMissing(CodegenError, RuntimeError):
    """No compiler for the target was found."""
