"""Routines of the runtime that are compiled once on a machine, for all programs that call them.

A program with a Fourier transform or a convolution is mostly routines, the same in each, and gcc
takes a second third for them. So long ones are units of their own: the object is kept in the cache,
and linked with the next program that calls the routine. People who read a program see it whole.

    *.h ---> RoutineText.definition -> a unit, with those of others -> an object in the cache
             RoutineText.declaration -> the program's unit, in the routine's place

Routines that a program finds missing are compiled together where they share code, and the object is
kept for each of them. So a routine may be in several objects that are linked: they are weak.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from symc.codegen.encodable import encodable
from symc.codegen.record import record
from symc.codegen.runtime import load

LONG = 3000
"""Characters of C that gcc takes as long for as to begin a unit of its own, and to end it."""

_STATE = ("symc_imports", "symc_lapack", "symc_mpi")
"""Variables that whoever loads a program fills in: one for all its units."""

_HEAD = (
    r"^ *static\s+(?:inline\s+|__attribute__\(\(\w+\)\)\s+)?(?P<type>void|int64_t|int|bool)\s+"
    r"%s\((?P<parameters>[^()]*)\)\s*\{"
)
_MACRO = re.compile(r"^(?P<macro>SYMC_DEFINE_\w+)\((?P<values>[^()]*)\)$", re.M)
_CONTINUED = re.compile(r" *\\\n *")
_WORD = re.compile(r"\w+")
_CALLED = '__attribute__((visibility("hidden")))'
_DEFINED = '__attribute__((weak, visibility("hidden")))'


@record
class RoutineText:
    """A routine: as programs that are linked with it declare it, and what its unit ends with."""

    name: str
    declaration: str
    definition: str

    @property
    def unit(self) -> str:
        """The routine as a unit of its own, which also says which routine it is."""
        return _alone(self)


@cache
def routine_text(name: str) -> RoutineText | None:
    """The routine that this symbol defines; None for what is short, or no function of C's types."""
    source = load.source_of([name])
    if len(source) < LONG or load.code_length(source) < LONG or (head := _head(name)) is None:
        return None
    kind, parameters = head
    passed = ", ".join(_WORD.findall(parameter)[-1] for parameter in parameters.split(","))
    back = "" if kind == "void" else "return "
    declared = f"{kind} {name}({parameters})"
    return RoutineText(
        name,
        f"{_CALLED} {declared};\n",
        f"{_DEFINED} {declared}\n{{\n    {back}{name}_inside({passed});\n}}\n",
    )


@cache
def _alone(routine: RoutineText) -> str:
    """Kept: each program that calls a routine asks for it by this text."""
    return unit_of([routine])


def unit_of(routines: Sequence[RoutineText]) -> str:
    """The text of a unit with these routines."""
    names = [routine.name for routine in routines]
    states = [name for name in _STATE if name in load.needed(names)]
    # A routine stays a function of its unit, like those that it calls: other units may have them,
    # too. What programs call has its name, and becomes one with it.
    parts = [
        *(f"#define {name} {name}_inside\n" for name in names), load.base(), "\n",
        load.source_of(names), "\n",
        *(f"#pragma weak {name}\n" for name in states),
        *(f"#undef {name}\n" for name in names),
        *(routine.definition for routine in routines),
    ]  # fmt: skip
    return encodable("".join(parts))


def sharing(routines: Sequence[RoutineText]) -> list[list[RoutineText]]:
    """Routines in groups: with others of which half of the code is their own, too."""
    groups: list[list[RoutineText]] = []
    for routine in routines:
        near = [group for group in groups if any(_share(routine, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), routine])
    return groups


def _share(one: RoutineText, other: RoutineText) -> bool:
    first, second = load.needed([one.name]), load.needed([other.name])
    return 2 * _length(first & second) >= min(_length(first), _length(second))


def _length(names: Iterable[str]) -> int:
    known = load.symbols()
    return sum(load.code_length(known[name].text) for name in names)


def _head(name: str) -> tuple[str, str] | None:
    """The type and the parameters of a function, which a macro may define."""
    symbol = load.symbols()[name]
    text, named, values = symbol.text, name, {}
    for made in _MACRO.finditer(text):
        given = [value.strip() for value in made["values"].split(",")]
        if name in given:
            text = _CONTINUED.sub("\n", load.symbols()[made["macro"]].text)
            defined = re.search(rf"^#define {made['macro']}\(([^()]*)\)", text, re.M)
            assert defined is not None
            values = dict(zip(map(str.strip, defined[1].split(",")), given, strict=True))
            named = next(parameter for parameter, value in values.items() if value == name)
            break
    head = re.search(_HEAD % named, text, re.M)
    if head is None:
        return None
    written = " ".join(head["parameters"].split())
    parameters = _WORD.sub(lambda word: values.get(word[0], word[0]), written)
    types = {word for word in _WORD.findall(parameters) if word in load.symbols()}
    return None if types else (head["type"], parameters)
