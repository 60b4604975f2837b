"""Read the C functions of these folders by name: a program pastes in only those it uses.

    common          functions of numbers, of which every text is the same; what two kinds share
    host            how a program is called, takes threads, and goes over arrays
    products  convolutions  fourier  factorisations  sorting  random  nets
                    routines for arrays in the host's memory
    device          what host functions have instead if kernels run on a device
    cuda  opencl    what only kernels have
    drivers  export  guarded
                    programs of their own, which are not read here
    included        what only the compiler reads, before a program

A header is a list of symbols. A symbol starts at its marker and ends at the next one::

    // SYMBOL symc_sigmoid_f64
    // NEEDS exp fabs
    static inline double symc_sigmoid_f64(double x) { ... }

or, in a table of them, stands on one line: ``float expf(float x);  // SYMBOL expf NEEDS other``. A
symbol whose name ends in ``_fNN`` stands for two, of float and of double: in its text and in the
list of symbols it needs, ``fNN`` and ``real`` become ``f32`` and ``float``, or ``f64`` and
``double``, and ``expNN(x)`` becomes ``expf(x)`` or ``exp(x)``.

Functions that are defined beside their ops (`defined.py`) are symbols, too; they need the functions
they call.

The text above the first marker is for readers of the header. `host/base.h` has no symbols: it
starts every program. Where C has ``static inline`` before a function that loops over vectors call,
or that such a function needs, programs have ``SYMC_INLINE``: see there.

A program for a graphics card is two texts. Its host functions are C, but headers of `device/`
replace symbols of `host.h`, `blas.h` and `timers.h`. Its kernels are CUDA: `base.cuh` takes the
place of `base.h`, the functions that `libm.h` declares are built in, and `common/` is the same text
as in C. In kernels of OpenCL `*.clh` take the place of `*.cuh`, and `in_opencl` says what differs
in the text of the others. `*.table` are for both. `twofold.clh` replaces what needs doubles, for
devices that have none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

from symc.codegen.math import FUNCTIONS, OPERATORS
from symc.codegen.record import record, replace
from symc.codegen.runtime.defined import DEFINED, REALS, called, typed, typed_name

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

FOLDER = Path(__file__).parent

Dialect = Literal["c", "device host", "cuda", "opencl", "opencl single"]
"""A kind of text: a C program, or the host functions or the kernels of one for a device."""

_HOST = (
    "common", "host", "products", "convolutions", "fourier", "factorisations", "sorting", "random",
    "nets",
)  # fmt: skip

PARALLEL = "omp parallel"
"""What C that people write has where threads share a loop, in a pragma or a `_Pragma`."""

_BASES = {
    "cuda": ("cuda/base.cuh",),
    "opencl": ("opencl/base.clh", "opencl/doubles.clh"),
    "opencl single": ("opencl/base.clh", "opencl/singles.clh"),
}  # fmt: skip
_TWOFOLD = "opencl/twofold.clh"

_LIBM = "common/libm.h"

_MARKER, _NEEDS = "\n// SYMBOL ", "// NEEDS "
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\s", re.S)
_DOUBLE = re.compile(r"\bdouble\b")
_LONG = re.compile(r"\b((?:0x[0-9a-fA-F]+|[0-9]+)u?)ll\b")
_INLINE = re.compile(r"\bstatic inline (?:__attribute__\(\(always_inline\)\) )?")
_STATIC = re.compile(r"\bstatic (?=const \w+ \w+\[)")
_LINE = re.compile(r"^([^/\n]*;)  // SYMBOL (\w+)(?: NEEDS (.*))?\n", re.MULTILINE)


Change: TypeAlias = Callable[[str], str]


@record
class Symbol:
    """A C function, macro or declaration: its text, and the symbols it uses directly."""

    name: str
    file: str
    needs: tuple[str, ...]
    written: str
    """As the header has it, without marker lines, with its last newline; empty where the language
    has it built in."""
    changes: tuple[Change, ...] = ()
    """What makes its text of that; done when the text is asked for, as programs use few."""

    @property
    def text(self) -> str:
        """What a program pastes in."""
        text = self.written
        for change in self.changes:
            text = change(text)
        return text

    def changed(self, change: Change) -> Symbol:
        """The symbol whose text is changed once more."""
        return Symbol(self.name, self.file, self.needs, self.written, (*self.changes, change))

    @property
    def is_declaration(self) -> bool:
        """Whether this is one line, of a table of functions that are declared or defined."""
        return self.written.count("\n") == 1


@cache
def base(dialect: Dialect = "c") -> str:
    """The text every generated file starts with: integer types, INFINITY and NAN."""
    names = _BASES.get(dialect, ("host/base.h",))
    return "".join((FOLDER / name).read_text(encoding="utf-8") for name in names)


def symbols(dialect: Dialect = "c") -> dict[str, Symbol]:
    """All symbols by name, each after those it needs; the C library's come first."""
    return _symbols(dialect, len(DEFINED))


@cache
def _symbols(dialect: Dialect, defined: int) -> dict[str, Symbol]:
    """The symbols, when so many functions have been defined beside ops."""
    found: dict[str, Symbol] = {}
    of_opencl = dialect in ("opencl", "opencl single")
    in_kernels = dialect == "cuda" or of_opencl
    for file in _headers(dialect):
        built_in = in_kernels and file == _LIBM
        for symbol in _parse(file):
            found[symbol.name] = replace(symbol, needs=(), written="") if built_in else symbol
    found |= {symbol.name: symbol for symbol in [*_of_ops(found)]}
    match dialect:
        case "opencl" | "opencl single":
            found = {name: each.changed(in_opencl) for name, each in found.items()}
        case "c" | "device host":
            for name in _with_needs(_of_vectors(found), found):
                found[name] = found[name].changed(_marked_inline)
        case "cuda":
            pass
        case _:
            assert_never(dialect)
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


def _marked_inline(text: str) -> str:
    return _INLINE.sub("SYMC_INLINE ", text)


def _of_vectors(found: Iterable[str]) -> list[str]:
    """The symbols that are called in loops which are vectorised: of rows, operators and casts."""
    rows = [row for row in FUNCTIONS.values() if row.vectorises]
    whole = {name for row in rows for name in (row.c64, row.c32)}
    typed = {
        *(row.integer for row in rows),
        *OPERATORS.values(),
        *(f"symc_{kind}_to" for kind, *_ in REALS),
    }
    return [name for name in found if name in whole or name.rpartition("_")[0] in typed]


def _headers(dialect: Dialect) -> list[str]:
    """The headers of a dialect. A symbol of a later one replaces the same one of an earlier."""
    match dialect:
        case "c":
            return _listed(*_HOST)
        case "device host":
            return [*_listed(*_HOST), *_listed("device")]
        case "cuda":
            return [*_listed("common"), *_listed("cuda", ending=".cuh"), *_tables()]
        case "opencl":
            shared = _listed("opencl", ending=".clh")
            shared.remove(_TWOFOLD)
            return [*_listed("common"), *shared, *_tables()]
        case "opencl single":
            return [*_headers("opencl"), _TWOFOLD]
        case _:
            assert_never(dialect)


def _listed(*folders: str, ending: str = ".h") -> list[str]:
    """The files of folders, by their own names; what the C library declares comes first."""
    found = [
        f"{folder}/{name}"
        for folder in folders
        for name in os.listdir(f"{FOLDER}/{folder}")  # noqa: PTH208 -- `Path` takes as long again
        if name.endswith(ending)
    ]
    return sorted(found, key=lambda path: (path != _LIBM, path.rpartition("/")[2]))


def _tables() -> list[str]:
    return _listed("common", ending=".table")


def source_of(names: Iterable[str], dialect: Dialect = "c", *, present: Iterable[str] = ()) -> str:
    """The text of these symbols and of all they need, each once, in an order that compiles.

    It is the same text for the same set of names, and goes after ``base(dialect)``. Those
    that are there already, for the symbols in `present`, are left out.
    """
    known = symbols(dialect)
    wanted = _with_needs(names, known) - _with_needs(present, known)
    texts = [(symbol, symbol.text) for symbol in known.values() if symbol.name in wanted]
    parts = (text if s.is_declaration else "\n" + text for s, text in texts if text)
    return "".join(parts).lstrip("\n")


def in_opencl(text: str) -> str:
    """A text of C as OpenCL has it: ``long`` has 64 bits, and functions keep no variables.

    >>> in_opencl("static const int n[1] = {1}; x ^= 1ull << 63;")
    'const int n[1] = {1}; x ^= 1ul << 63;'
    """
    return _STATIC.sub("", _LONG.sub(r"\1l", text))


def code_length(text: str) -> int:
    """The characters of C that are neither comment nor white space.

    >>> code_length("int x; /* wide */  // or not")
    5
    """
    return len(_COMMENT.sub("", text))


def runs_on_threads(names: Iterable[str]) -> bool:
    """Whether one of these symbols, or of those that they need, has a loop that threads share."""
    known = symbols()
    return any(PARALLEL in known[name].text for name in _with_needs(names, known))


def needed(names: Iterable[str], dialect: Dialect = "c") -> set[str]:
    """These symbols, and all that they need; names of others' functions need nothing."""
    known = symbols(dialect)
    return _with_needs((name for name in names if name in known), known)


@cache
def has_doubles(name: str) -> bool:
    """Whether a function that devices without double precision have, too, needs it.

    >>> has_doubles("symc_gamma_f64"), has_doubles("symc_sigmoid_f32")
    (True, False)
    """
    known = symbols("opencl single")
    return any(
        _DOUBLE.search(_COMMENT.sub(" ", known[n].text)) for n in needed([name], "opencl single")
    )


def _with_needs(names: Iterable[str], known: Mapping[str, Symbol]) -> set[str]:
    """These symbols, and all that they need."""
    wanted, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in known:
            raise LookupError(f"codegen/runtime has no symbol {name!r}")
        if name not in wanted:
            wanted.add(name)
            waiting += known[name].needs
    return wanted


def _parse(file: str) -> Iterable[Symbol]:
    with open(f"{FOLDER}/{file}", encoding="utf-8") as opened:  # noqa: PTH123 -- see `_listed`
        text = opened.read()
    if ";  // SYMBOL " in text:
        for match in _LINE.finditer(text):
            yield Symbol(match[2], file, tuple((match[3] or "").split()), match[1] + "\n")
        text = _LINE.sub("", text)
    for piece in f"\n{text}".split(_MARKER)[1:]:  # a regular expression takes as long as all else
        name, _, body = piece.partition("\n")
        needed: tuple[str, ...] = ()
        while body.startswith(_NEEDS):
            line, _, body = body.partition("\n")
            needed += tuple(line.removeprefix(_NEEDS).split())
        symbol = Symbol(name, file, needed, body.strip("\n") + "\n")
        if name.endswith("_fNN"):
            yield from (_typed(symbol, *kind) for kind in REALS)
        else:
            yield symbol


def _typed(symbol: Symbol, *kind: str) -> Symbol:
    """A symbol of a type out of one that stands for several."""
    name, *needs = [typed_name(each, *kind) for each in (symbol.name, *symbol.needs)]
    change = partial(typed, bits=kind[0], real=kind[1], suffix=kind[2])
    return Symbol(name, symbol.file, tuple(needs), symbol.written, (change,))


def _of_ops(known: Container[str]) -> Iterable[Symbol]:
    """The functions that are defined beside their ops, in the order of their names.

    They need what they call of each other's and of the symbols that are known.
    """
    for name, text in sorted(DEFINED.items()):
        kinds = REALS if f"symc_{name}_fNN(" in text else REALS[1:]
        symbol = Symbol(f"symc_{name}_fNN", "defined.py", tuple(called(text)), text)
        for made in (_typed(symbol, *kind) for kind in kinds):
            needs = sorted(
                need
                for need in set(made.needs) - {made.name}
                if need in known or need.startswith("symc_")
            )
            yield Symbol(made.name, made.file, tuple(needs), made.written, made.changes)
