"""C functions from users' own files. Programs call them like the functions of symc's runtime.

`declare` makes a row of `FUNCTIONS` (for one that gives a number) or of `ROUTINES` (for one that
fills arrays), under a name that has a digest of the file in it. The file is compiled beside the
programs that call it, and linked into them.
"""

from __future__ import annotations

from typing import Literal

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import DType
from symc.codegen.ir import Call, Program, Routine
from symc.codegen.math import FUNCTIONS, MathFunction
from symc.codegen.passes.walk import expressions, parts, statements
from symc.codegen.record import record
from symc.codegen.routines import ROUTINES, ArgumentKind, Signature

Passing = Literal["value", "read", "write"]
"""How an argument is passed: by value, or as a pointer to elements that are read or written."""


@record
class Foreign:
    """A C function: its symbol, its file with the text, and its type."""

    symbol: str
    file: str
    text: str
    arguments: tuple[tuple[DType, Passing], ...]
    result: DType | None

    @property
    def file_name(self) -> str:
        """The name of its file beside a program."""
        return f"user_{_digest(self.text)}.c"

    @property
    def name(self) -> str:
        """Its name in programs: unlike any other function's."""
        return f"{self.symbol}_{_digest(repr((self.text, self.arguments, self.result)))}"


FOREIGN: dict[str, Foreign] = {}
"""By name, all that were declared in this process."""


def declare(foreign: Foreign) -> str:
    """Let programs call a function; returns its name."""
    name = foreign.name
    if name in FOREIGN:
        return name
    FOREIGN[name] = foreign
    if foreign.result is None:
        kinds: dict[Passing, ArgumentKind] = {"value": "number", "read": "read", "write": "write"}
        arguments: list[tuple[str, ArgumentKind]] = []
        for number, (_, passing) in enumerate(foreign.arguments):
            arguments.append((f"a{number}", kinds[passing]))
        ROUTINES[name] = Signature(name, name, tuple(arguments), threads=False, on_device=False)
    else:
        arity = len(foreign.arguments)
        FUNCTIONS[name] = MathFunction(name, arity, name, name, 20, False, _no_meaning)
    return name


def foreign_of(program: Program) -> list[Foreign]:
    """The functions of users that a program calls."""
    if not FOREIGN:
        return []
    names = [step.name for step in every_step(program.steps) if isinstance(step, Routine)]
    for kernel in program.kernels:
        pending = [expr for stmt in statements(kernel.body) for expr in expressions(stmt)]
        while pending:
            expr = pending.pop()
            pending += parts(expr)
            if isinstance(expr, Call):
                names.append(expr.function)
    return [FOREIGN[name] for name in sorted(set(names)) if name in FOREIGN]


def _no_meaning(*args: float) -> float:
    raise NotImplementedError("a function in C, which only compiled programs can call")


def _digest(text: str) -> str:
    import hashlib  # late: it loads OpenSSL, which takes 4 ms

    return hashlib.sha256(text.encode()).hexdigest()[:10]
