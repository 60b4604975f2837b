"""Read the C functions of this folder by name: a program pastes in only what it uses.

A header is a list of symbols. A symbol starts at its marker and ends at the next one::

    // SYMBOL symc_sigmoid_f64
    // NEEDS exp fabs
    static inline double symc_sigmoid_f64(double x) { ... }

or, for a declaration, stands on one line: ``float expf(float x);  // SYMBOL expf NEEDS other``.
A symbol may need only symbols above it: in its own file, or in an earlier file of ``FILES``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent
FILES = (
    "libm.h", "integer.h", "float.h", "cast.h", "stable.h",
    "errorfunction.h", "gamma.h", "beta.h", "incompletegamma.h", "bessel.h",
)  # fmt: skip

_LINE = re.compile(r"^(.*;)  // SYMBOL (\w+)(?: NEEDS (.*))?$")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A C function, macro or declaration: its text, and the symbols it uses directly."""

    name: str
    file: str
    needs: tuple[str, ...]
    text: str
    """With its final newline, without the marker lines."""

    @property
    def is_declaration(self) -> bool:
        """Whether this is one line that declares a function of the C library."""
        return self.text.count("\n") == 1


@cache
def base() -> str:
    """The text every generated C file starts with: integer types, INFINITY and NAN."""
    return (FOLDER / "base.h").read_text(encoding="utf-8")


@cache
def symbols() -> dict[str, Symbol]:
    """All symbols by name, each after those it needs."""
    return {symbol.name: symbol for file in FILES for symbol in _parse(file)}


def source_of(names: Iterable[str]) -> str:
    """The text of these symbols and of all they need, each once, in an order that compiles.

    It is the same text for the same set of names, and goes after ``base()``.
    """
    wanted = _closure(names)
    text = ""
    for symbol in symbols().values():
        if symbol.name in wanted:
            text += symbol.text if symbol.is_declaration else "\n" + symbol.text
    return text.lstrip("\n")


def _closure(names: Iterable[str]) -> set[str]:
    known = symbols()
    wanted: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in known:
            raise LookupError(f"codegen/runtime has no symbol {name!r}")
        if name not in wanted:
            wanted.add(name)
            waiting.extend(known[name].needs)
    return wanted


def _parse(file: str) -> list[Symbol]:
    found: list[Symbol] = []
    head, *blocks = re.split(r"^// SYMBOL ", (FOLDER / file).read_text(encoding="utf-8"), flags=re.M)
    found.extend(_declarations(file, head))
    for block in blocks:
        name, _, rest = block.partition("\n")
        needs: tuple[str, ...] = ()
        if rest.startswith("// NEEDS "):
            first, _, rest = rest.partition("\n")
            needs = tuple(first.removeprefix("// NEEDS ").split())
        after = _declarations(file, rest)
        text = rest.partition("\n\n")[0] if after else rest
        found.append(Symbol(name, file, needs, text.strip("\n") + "\n"))
        found.extend(after)
    return found


def _declarations(file: str, text: str) -> list[Symbol]:
    matches = (_LINE.match(line) for line in text.splitlines())
    return [
        Symbol(match[2], file, tuple((match[3] or "").split()), match[1] + "\n")
        for match in matches
        if match
    ]
