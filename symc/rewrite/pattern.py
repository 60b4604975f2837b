"""The language rules are written in: both sides of a rule are ordinary expressions of patterns.

    Pattern = Variable(name, kind)            any tensor; in a pattern twice: the same tensor
            | Number(value)                   a constant, perhaps stretched, with this value
            | Call(function, arguments, parameters)
    Parameter                                 an argument that is no tensor, such as axes

Names of elementwise functions are imported from this module as they are needed:
``from symc.rewrite.pattern import exp, log, x``. Matching is in `match.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from symc.codegen.record import record

PatternLike: TypeAlias = "Pattern | bool | int | float"

#   any      every tensor
#   mask     bool
#   integer  integers and bool
#   float    floats
#   number   everything but bool
#   scalar   0-d
#   constant a known number, perhaps stretched; binds the number
#   power    a constant that is a power of two, as is its reciprocal
Kind: TypeAlias = Literal[
    "any", "mask", "integer", "float", "number", "scalar", "constant", "power"
]


class Pattern:
    """Either side of a rule. Supports the operators of tensors."""

    __slots__ = ()

    def __add__(self, other: PatternLike) -> Pattern:
        return call("add", self, other)

    def __radd__(self, other: PatternLike) -> Pattern:
        return call("add", other, self)

    def __sub__(self, other: PatternLike) -> Pattern:
        return call("sub", self, other)

    def __rsub__(self, other: PatternLike) -> Pattern:
        return call("sub", other, self)

    def __mul__(self, other: PatternLike) -> Pattern:
        return call("mul", self, other)

    def __rmul__(self, other: PatternLike) -> Pattern:
        return call("mul", other, self)

    def __truediv__(self, other: PatternLike) -> Pattern:
        return call("div", self, other)

    def __rtruediv__(self, other: PatternLike) -> Pattern:
        return call("div", other, self)

    def __neg__(self) -> Pattern:
        return call("neg", self)


@record(eq=False)
class Variable(Pattern):
    """Stands for any tensor of its kind."""

    name: str
    kind: Kind = "any"

    def __repr__(self) -> str:
        return self.name


@record(eq=False)
class Number(Pattern):
    """Stands for a known number, -0.0 and 0.0 being two; has the dtype of the other argument."""

    value: bool | int | float

    def __repr__(self) -> str:
        return repr(self.value)


@record(eq=False)
class Parameter:
    """Stands for an argument of a function that is no tensor."""

    name: str

    def __repr__(self) -> str:
        return self.name


@record(eq=False)
class Call(Pattern):
    """Stands for a function's result."""

    function: str
    args: tuple[Pattern, ...]
    parameters: tuple[Parameter, ...] = ()

    def __repr__(self) -> str:
        parts = [_inside(self, number) for number in range(len(self.args))]
        if self.function == "neg":
            return f"-{parts[0]}"
        if self.function in _SIGNS:
            return f" {_SIGNS[self.function][0]} ".join(parts)
        return f"{self.function}({', '.join([*parts, *map(repr, self.parameters)])})"


_SIGNS = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2), "neg": ("-", 3)}


def _inside(outer: Call, number: int) -> str:
    """An argument's text, in parentheses where an operator would take it apart."""
    arg = outer.args[number]
    text = repr(arg)
    if not isinstance(arg, Call) or outer.function not in _SIGNS or arg.function not in _SIGNS:
        return text
    weak = _SIGNS[arg.function][1] < _SIGNS[outer.function][1] + (number > 0)
    return f"({text})" if weak else text


def as_pattern(value: PatternLike) -> Pattern:
    """A pattern as it is, a number as the pattern of that number."""
    return value if isinstance(value, Pattern) else Number(value)


def call(function: str, *args: PatternLike | Parameter) -> Call:
    """The pattern of a function's result."""
    patterns = tuple(as_pattern(arg) for arg in args if not isinstance(arg, Parameter))
    return Call(function, patterns, tuple(arg for arg in args if isinstance(arg, Parameter)))


def __getattr__(name: str) -> Callable[..., Pattern]:
    if name.startswith("__"):
        raise AttributeError(name)

    def function(*args: Any) -> Pattern:
        return call(name, *args)

    return function


x, y, z, w = (Variable(name) for name in "xyzw")
m = Variable("m", "mask")
i, j = Variable("i", "integer"), Variable("j", "integer")
f, g = Variable("f", "float"), Variable("g", "float")
r = Variable("r", "number")
s = Variable("s", "scalar")
c, d = Variable("c", "constant"), Variable("d", "constant")
p = Variable("p", "power")
A = Parameter("A")
