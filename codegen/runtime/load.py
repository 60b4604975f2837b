"""Read the C functions of this folder by name: a program pastes in only what it uses.

A header is a list of symbols. A symbol starts at its marker and ends at the next one::

    // SYMBOL symc_sigmoid_f64
    // NEEDS exp fabs
    static inline double symc_sigmoid_f64(double x) { ... }

or, for a declaration, stands on one line: ``float expf(float x);  // SYMBOL expf NEEDS other``.
What stands above the first marker is for whoever reads the header. `base.h` has no symbols: it
starts every program.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from symc.codegen.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent

_MARKER = re.compile(r"^// SYMBOL (\w+)\n((?:// NEEDS .*\n)*)", re.MULTILINE)
_LINE = re.compile(r"^([^/\n]*;)  // SYMBOL (\w+)(?: NEEDS (.*))?\n", re.MULTILINE)


@record
class Symbol:
    """A C function, macro or declaration: its text, and the symbols it uses directly."""

    name: str
    file: str
    needs: tuple[str, ...]
    text: str
    """Without marker lines, with its last newline."""

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
    """All symbols by name, each behind those it needs; the C library's come first."""
    files = sorted(FOLDER.glob("*.h"), key=lambda path: (path.name != "libm.h", path.name))
    found = {symbol.name: symbol for path in files for symbol in _parse(path)}
    ordered: dict[str, Symbol] = {}
    waiting = [*reversed(found)]
    while waiting:
        symbol = found[waiting[-1]]
        missing = [need for need in symbol.needs if need not in ordered]
        if not missing:
            ordered.setdefault(waiting.pop(), symbol)
        elif len(waiting) > len(found) ** 2:
            raise RecursionError(f"{symbol.file}: {symbol.name} needs itself")
        waiting += reversed(missing)
    return ordered


def source_of(names: Iterable[str]) -> str:
    """The text of these symbols and of all they need, each once, in an order that compiles.

    It is the same text for the same set of names, and goes after ``base()``.
    """
    known, wanted, waiting = symbols(), set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in known:
            raise LookupError(f"codegen/runtime has no symbol {name!r}")
        if name not in wanted:
            wanted.add(name)
            waiting += known[name].needs
    chosen = (symbol for symbol in known.values() if symbol.name in wanted)
    return "".join(s.text if s.is_declaration else "\n" + s.text for s in chosen).lstrip("\n")


def _parse(path: Path) -> Iterable[Symbol]:
    text = path.read_text(encoding="utf-8")
    if ";  // SYMBOL " in text:
        for match in _LINE.finditer(text):
            yield Symbol(match[2], path.name, tuple((match[3] or "").split()), match[1] + "\n")
        text = _LINE.sub("", text)
    _, *pieces = _MARKER.split(text)
    for name, needs, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        needed = tuple(needs.replace("// NEEDS", "").split())
        yield Symbol(name, path.name, needed, body.strip("\n") + "\n")
