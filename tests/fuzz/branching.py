"""Programs of assignments, writes, branches and loops in each other, drawn and made smaller.

They are trees of statements whose expressions are text. Names end in a digit and begin with what
they hold: m a matrix, v and f a column of it in float64 and float32, w a row, a integers as long as
a column, s a number, k an integer. `m` alone is NumPy or `symc.tensor`; i, j and l are the numbers
of steps, from the outermost loop inwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

Form = Literal["fori_loop", "while_loop", "scan"]
FORMS: tuple[Form, ...] = ("fori_loop", "while_loop", "scan")
COUNTERS = ("i", "j", "l")
CONSTANTS = ("m9", "v9", "w9", "a9", "s9", "k9")
DTYPES = {"f": "float32", "a": "int64", "k": "int64"}


@dataclass(frozen=True)
class Assign:
    """``name = value``."""

    name: str
    value: str


@dataclass(frozen=True)
class Write:
    """``name[place] = value``, or with ``+=``, which adds to a place that is there twice twice."""

    name: str
    place: str
    value: str
    adds: bool


@dataclass(frozen=True)
class Branch:
    """``if condition: then ... else: otherwise ...``."""

    condition: str
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    together: bool
    """Whether all values that differ are chosen by one `ifelse`."""


@dataclass(frozen=True)
class Loop:
    """``for counter in range(count): body``, which may end before a step, or after one."""

    counter: str
    count: str
    body: tuple[Statement, ...]
    form: Form
    end: str | None = None
    """While loops end before a step with this condition, scans after one."""


Statement = Assign | Write | Branch | Loop


def changed(statements: tuple[Statement, ...]) -> set[str]:
    """The names that statements assign or write."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case Assign(name) | Write(name):
                found.add(name)
            case Branch(_, then, otherwise):
                found |= changed(then) | changed(otherwise)
            case Loop(_, _, body):
                found |= changed(body)
    return found


def text(statements: tuple[Statement, ...], indent: str = "") -> Iterator[str]:
    """The statements as lines of Python."""
    inside = indent + "    "
    for statement in statements:
        match statement:
            case Assign(name, value):
                yield f"{indent}{name} = {value}"
            case Write(name, place, value, adds):
                yield f"{indent}{name}[{place}] {'+=' if adds else '='} {value}"
            case Branch(condition, then, otherwise, together):
                yield f"{indent}if {condition}:  # {'together' if together else 'one by one'}"
                yield from text(then, inside) if then else [f"{inside}pass"]
                if otherwise:
                    yield f"{indent}else:"
                    yield from text(otherwise, inside)
            case Loop(counter, count, body, form, end):
                yield f"{indent}for {counter} in range({count}):  # {form}, until {end}"
                yield from text(body, inside) if body else [f"{inside}pass"]


def smaller(statements: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """Without one statement; with one side of a branch in its place; with a plainer loop."""
    for number, statement in enumerate(statements):
        before, after = statements[:number], statements[number + 1 :]
        yield before + after
        match statement:
            case Branch(_, then, otherwise):
                yield from (before + side + after for side in (then, otherwise) if side)
                for side in smaller(then):
                    yield (*before, replace(statement, then=side), *after)
                for side in smaller(otherwise):
                    yield (*before, replace(statement, otherwise=side), *after)
            case Loop():
                if statement.end is not None:
                    yield (*before, replace(statement, end=None), *after)
                if statement.form != FORMS[0]:
                    yield (*before, replace(statement, form=FORMS[0], end=None), *after)
                for body in smaller(statement.body):
                    yield (*before, replace(statement, body=body), *after)
            case Assign() | Write():
                pass


class Drawing:
    """Draws statements about states and constants of a size."""

    def __init__(self, rng: np.random.Generator, height: int, width: int) -> None:
        self.rng, self.height, self.width = rng, height, width
        count = int(rng.integers(2, 5))
        kinds = "mmvvvffwsskka" if self.chance(0.4) else "mmvvvwsska"
        self.states = tuple(f"{self.pick(kinds)}{number}" for number in range(count))
        self.names = (*self.states, *CONSTANTS)
        self.counters: tuple[str, ...] = ()

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def program(self) -> tuple[Statement, ...]:
        """A loop, with other statements before and after it now and then."""
        before = self.statements(2, 1) if self.chance(0.3) else ()
        after = self.statements(2, 1) if self.chance(0.3) else ()
        return (*before, self.loop(3), *after)

    def statements(self, depth: int, most: int = 3) -> tuple[Statement, ...]:
        """One to so many statements, with others in them to this depth."""
        return tuple(self.statement(depth) for _ in range(int(self.rng.integers(1, most + 1))))

    def statement(self, depth: int) -> Statement:
        if depth and self.chance(0.5):
            return self.branch(depth - 1)
        if depth and len(self.counters) < len(COUNTERS) and self.chance(0.25):
            return self.loop(depth - 1)
        name = self.pick(self.states)
        if name[0] in "sk" or self.chance(0.15):
            return Assign(name, self.value(name[0]))
        return self.write(name)

    def branch(self, depth: int) -> Branch:
        then = self.statements(depth, 2)
        otherwise = self.statements(depth, 2) if self.chance(0.6) else ()
        return Branch(self.condition(), then, otherwise, self.chance(0.7))

    def loop(self, depth: int) -> Loop:
        count = self.pick([
            "3", "4", "k9", "1", "k9 + 1", "m.abs(a9[0]) % 4",
            *(f"{c} + 1" for c in self.counters), *(f"3 - {c}" for c in self.counters),
        ])  # fmt: skip
        form = self.pick(FORMS)
        counter = COUNTERS[len(self.counters)]
        self.counters += (counter,)
        body = self.statements(depth)
        end = self.condition() if form != "fori_loop" and self.chance(0.3) else None
        self.counters = self.counters[:-1]
        return Loop(counter, count, body, form, end)

    def name(self, kinds: str) -> str:
        return str(self.pick([name for name in self.names if name[0] in kinds]))

    def integer(self) -> str:
        """One that may be negative."""
        return str(self.pick([
            self.name("k"), *self.counters, *self.counters, f"{self.name('a')}[0]",
            f"{self.name('a')}[{self.pick(self.counters or ('1',))} % {self.height}]",
            str(int(self.rng.integers(-2, 4))),
        ]))  # fmt: skip

    def condition(self) -> str:
        """A condition that rounding does not change."""
        bound = float(np.round(self.rng.normal() * 0.5, 3))
        plain = str(self.pick([
            f"{self.number()} > {bound}", f"{self.integer()} > {int(self.rng.integers(-1, 3))}",
            f"m.equal({self.integer()} % 2, {int(self.rng.integers(2))})",
            f"m.any({self.name('vw')} > {abs(bound) + 0.5})", f"{self.integer()} % 3",
            f"m.sum({self.name('a')}) > {int(self.rng.integers(-2, 5))}",
        ]))  # fmt: skip
        if self.chance(0.15):
            joins = self.pick(["and", "or"])
            return f"m.logical_{joins}({plain}, {self.integer()} < {self.integer()})"
        return plain

    def number(self) -> str:
        m, v, w = self.name("m"), self.name("v"), self.name("w")
        h, n = self.height, self.width
        return str(self.pick([
            self.name("s"), f"{v}[{self.integer()} % {h}]", f"{v}[-1]", f"m.sum({v}) * 0.2",
            f"{m}[{self.integer()} % {h}, {self.integer()} % {n}]", f"m.sum({m}[0]) * 0.2",
            f"{w}[{self.integer()} % {n}]", f"m.sin({self.name('s')})", "0.75",
            f"m.max({m}) * 0.3", f"m.dot({v}, {self.name('v')}) * 0.1",
        ]))  # fmt: skip

    def value(self, kind: str) -> str:
        """An expression of this kind."""
        if kind == "s":
            return f"m.tanh({self.number()}) * 0.7 + {self.number()} * 0.5"
        if kind == "k":
            return f"({self.integer()} * 3 + {self.integer()}) % 7 - 2"
        own, other = self.name(kind), self.name(kind)
        if kind == "a":
            return f"({own} + {other} * 2 + {self.integer()}) % 5 - 1"
        row, column = self.name("w"), self.name("v")
        matrix, places = self.name("m"), f"{self.name('a')} % {self.height}"
        special = {
            "v": [f"{matrix}[:, {self.integer()} % {self.width}]",
                  f"m.dot({matrix}, {row}) * 0.3", f"{own}[{places}]"],
            "w": [f"{matrix}[{self.integer()} % {self.height}]",
                  f"m.sin({matrix}).sum(axis=0) * 0.4"],
            "m": [f"m.outer({column}, {row}) * 0.3", f"{own}[{places}]"],
            "f": [f"m.cos({own})"],
        }  # fmt: skip
        return str(self.pick([
            own, f"{own}[::-1]", f"{own} * 0.5 + {other} * 0.4", f"m.tanh({own})", *special[kind]
        ]))  # fmt: skip

    def span(self) -> tuple[str, str]:
        """A slice, and one of the same length."""
        i, step = self.integer(), self.pick(["", "", ", -1", ", 2"])
        plain = f"slice({i}, {self.pick(['None', self.integer()])}{step})"
        other = self.pick(
            [("slice(1, None)", "slice(None, -1)"), ("slice(None, -1)", "slice(1, None)")]
        )
        found: tuple[str, str] = self.pick([(plain, plain), other])
        return found

    def write(self, name: str) -> Write:
        """A write into a part."""
        kind, adds = name[0], self.chance(0.4)
        inner = {"m": "w", "v": "s", "w": "s", "f": "f", "a": "k"}[kind]
        length = self.width if kind == "w" else self.height
        way = self.pick(["element", "element", "span", "span", "mask", "places", "cell", "column"])
        if kind == "f":
            way = "span"
        if kind != "m" and way in ("cell", "column"):
            way = "element"
        if kind == "m" and way == "mask":
            way = "cell"
        match way:
            case "element":
                return Write(name, f"{self.integer()} % {length}", self.value(inner), adds)
            case "span":
                here, there = self.span()
                source = f"{self.name(kind)}[{there}]"
                by = "2" if kind == "a" else "0.5"
                given = self.pick([source, f"{name}[{there}] * {by}", f"m.sin({source}) * 0.7"])
                return Write(name, here, given if kind != "a" else f"{source} % 5", adds)
            case "mask":
                bound = "1" if kind == "a" else "0.2"
                return Write(name, f"{name} > {bound}", self.value(inner), adds)
            case "places":
                scalar = self.integer() if kind == "a" else self.number()
                return Write(name, f"{self.name('a')} % {length}", scalar, adds)
            case "cell":
                place = f"({self.integer()} % {length}, {self.integer()} % {self.width})"
                return Write(name, place, self.value("s"), adds)
            case _:
                place = f"(slice(None), {self.integer()} % {self.width})"
                return Write(name, place, self.value("v"), adds)
