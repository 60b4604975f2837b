"""Functions whose meaning stands beside the op that calls them, and mostly their C too.

`define` makes a row of `FUNCTIONS` from the text: name, number of arguments and types are those in
the C, and so are the functions it calls. `load.py` has the text among its symbols. Headers
are for long functions, for those shared by several, and for those of other types than floats;
`declare` makes the row of a long one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from textwrap import dedent

from symc.codegen.math import FUNCTIONS, MathFunction

DEFINED: dict[str, str] = {}
"""The texts by the name of the function."""

_HEAD = re.compile(r"^static inline (double|real) symc_(\w+)_(f64|fNN)\(([^)]*)\) \{$", re.M)
_CALLED = re.compile(r"\b(\w+)\(")
_BRANCH = re.compile(r"\b(?:if|for|while|switch|goto)\b")
REALS = (("f32", "float", "f"), ("f64", "double", ""))
_REAL = re.compile(r"\breal\b")
_LIBM = re.compile(r"\b([a-z0-9]+)NN\(")  # expNN(x) is expf(x) of floats


def define(text: str, python: Callable[..., float], cost: int) -> MathFunction:
    """Add a function by its text in C and its meaning, which interpreters use.

    The text is that of ``static inline double symc_NAME_f64(double x, ...)``. One whose name ends
    in ``_fNN`` stands for two: ``real`` becomes float or double, ``fNN`` f32 or f64, and ``expNN``
    expf or exp. Loops over a function vectorise if it has no branches and only calls such.
    """
    text = dedent(text).strip("\n") + "\n"
    head = _HEAD.search(text)
    if head is None:
        raise ValueError(f"not `static inline double symc_NAME_f64(...) {{`:\n{text}")
    name, real = head[2], head[3]
    if name in FUNCTIONS:
        raise ValueError(f"there is a function {name} already")
    DEFINED[name] = text
    single = f"symc_{name}_f32" if real == "fNN" else None
    arity, vectorises = head[4].count(",") + 1, _has_no_branch(text)
    row = MathFunction(name, arity, f"symc_{name}_f64", single, cost, vectorises, python)
    FUNCTIONS[name] = row
    return row


def declare(name: str, arity: int, python: Callable[..., float], cost: int) -> MathFunction:
    """Add a function whose text stands in a header, as ``symc_NAME_f64``, by its meaning.

    Functions in headers are long, and loops over them do not vectorise.
    """
    if name in FUNCTIONS:
        raise ValueError(f"there is a function {name} already")
    row = MathFunction(name, arity, f"symc_{name}_f64", None, cost, False, python)
    FUNCTIONS[name] = row
    return row


def _has_no_branch(text: str) -> bool:
    slow = {row.c64 for row in FUNCTIONS.values() if not row.vectorises}
    return not _BRANCH.search(text) and not slow & set(called(typed(text, *REALS[1])))


def called(text: str) -> list[str]:
    """The names of the functions that a text calls, and defines."""
    return sorted(set(_CALLED.findall(text)))


def typed(text: str, bits: str, real: str, suffix: str) -> str:
    """A text of ``fNN`` and ``real`` for one of `REALS`."""
    if "NN" not in text and "real" not in text:
        return text
    return _LIBM.sub(rf"\1{suffix}(", _REAL.sub(real, text.replace("fNN", bits)))


@cache
def typed_name(name: str, bits: str, real: str, suffix: str) -> str:
    """The name of a function, as `typed` has it where it is called."""
    return typed(f"{name}(", bits, real, suffix)[:-1]
