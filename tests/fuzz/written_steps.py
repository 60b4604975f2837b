"""Steps that write into their states, as lines of text, drawn at random and made smaller.

Names end in a digit and begin with what they hold: m a matrix, v a column of it, w a row, s a
number, k an integer. `m` alone is NumPy or `symc.tensor`, `to` writes, `i` is the number of the
step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

Kind = Literal["m", "v", "w", "s", "k"]
CONSTANTS: tuple[tuple[str, Kind], ...] = (("m9", "m"), ("v9", "v"), ("w9", "w"), ("k9", "k"))
BOUNDS = ("i", "i + 1", "i - 1", "-i", "k9", "k9 - i", "-k9", "2 * i", "None", "1")


@dataclass(frozen=True)
class Step:
    """Lines that compute `results` from states and constants of a matrix's size."""

    height: int
    width: int
    states: tuple[str, ...]
    lines: tuple[str, ...]
    results: tuple[str, ...]

    def inputs(self) -> list[tuple[str, Kind]]:
        """The names of states and constants, and what they hold."""
        return [*((name, _kind(name)) for name in self.states), *CONSTANTS]

    def shape(self, kind: Kind) -> tuple[int, ...]:
        """The shape of what a name holds."""
        whole = (self.height, self.width)
        return {"m": whole, "v": whole[:1], "w": whole[1:], "s": (), "k": ()}[kind]

    def text(self) -> str:
        """A function of a library, a writer, the number of the step, states and constants."""
        names = ", ".join(name for name, _ in self.inputs())
        lines = [f"    {line}" for line in self.lines]
        head = f"def body(m, to, i, {names}):"
        return "\n".join([head, *lines, f"    return [{', '.join(self.results)}]"])

    def has_kinks(self) -> bool:
        """Whether a line compares numbers, so that differences may say nothing."""
        return any(">" in line for line in self.lines)

    def smaller(self) -> Iterator[Step]:
        """Without one of the lines, where no later one needs its name."""
        for number, line in enumerate(self.lines):
            name = line.split()[0]
            rest = " ".join([*self.lines[number + 1 :], *self.results])
            if name in self.states or not re.search(rf"\b{name}\b", rest):
                yield replace(self, lines=(*self.lines[:number], *self.lines[number + 1 :]))


def _kind(name: str) -> Kind:
    return cast("Kind", name[0])


def drawn(rng: np.random.Generator) -> Step:
    """A step of one to five lines."""
    return _Maker(rng).step()


class _Maker:
    """Draws names, values and indexes."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.height, self.width = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        self.names = [name for name, _ in CONSTANTS]

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def step(self) -> Step:
        count = int(self.rng.integers(1, 4))
        states = tuple(f"{self.pick('mmvvws')}{number}" for number in range(count))
        self.names += states
        lines: list[str] = []
        for number in range(int(self.rng.integers(1, 6))):
            old = self.pick(states)
            new = old if self.chance(0.7) else f"{_kind(old)}{count + number}"
            lines.append(f"{new} = {self.written(old)}")
            if new not in self.names:
                self.names.append(new)
        results = tuple(
            name if self.chance(0.7) else self.name(_kind(name), but=("9",)) for name in states
        )
        if self.chance(0.3):
            lines += self.exchanged(self.pick(states))
        return Step(self.height, self.width, states, tuple(lines), results)

    def name(self, kind: Kind, but: tuple[str, ...] = ()) -> str:
        """A name that holds such a thing."""
        found: str = self.pick(
            [name for name in self.names if _kind(name) == kind and name[1:] not in but]
        )
        return found

    def span(self) -> str:
        """A slice between numbers of the step and of the call, of whatever length."""
        step = self.pick(["", "", ", -1", ", 2"])
        return f"slice({self.pick(BOUNDS)}, {self.pick(BOUNDS)}{step})"

    def number(self) -> str:
        m, v, w = self.name("m"), self.name("v"), self.name("w")
        return str(self.pick([
            f"m.sum({v}[{self.span()}]) * 0.3", f"m.sum({m}[{self.span()}, {self.span()}]) * 0.2",
            f"{m}[i % {self.height}, {int(self.rng.integers(self.width))}]", f"m.sum({w}) * 0.2",
            f"{v}[i % {self.height}]", f"{v}[-1]", "1.0 / (i + 1)",
        ]))  # fmt: skip

    def value(self, kind: Kind) -> str:
        """An expression of this shape."""
        if kind == "s":
            return self.number()
        own, m, v, w = self.name(kind), self.name("m"), self.name("v"), self.name("w")
        n, k = self.height, self.width
        special: dict[Kind, list[str]] = {
            "v": [f"{m}[:, i % {k}]", f"{v}[order{n}]", f"m.dot({m}, {w}) * 0.3",
                  f"m.sin({m}).sum(axis=1) * 0.4"],
            "w": [f"{m}[i % {n}]", f"{w}[(some{k} + i) % {k}]", f"m.dot({v}, {m}) * 0.3",
                  f"m.cos({m}).sum(axis=0) * 0.4"],
            "m": [f"{m}[order{n}]", f"m.outer({v}, {w}) * 0.2", f"{m}[:, ::-1]",
                  f"m.where({m} > 0.1, {m}, 0.5)"],
        }  # fmt: skip
        plain = [
            own,
            own,
            f"m.tanh({own})",
            f"{own}[::-1]",
            f"{own} * 0.5 + {self.name(kind)} * 0.3",
        ]
        return str(self.pick([*plain, *special[kind]]))

    def place(self, length: int) -> tuple[str, str]:
        """An index along an axis; whether it is of one element, all, one fewer, or any number."""
        found: tuple[str, str] = self.pick([
            (f"{int(self.rng.integers(-length, length))}", "one"), (f"i % {length}", "one"),
            (f"-1 - i % {length}", "one"), ("slice(None)", "all"), (f"order{length}", "all"),
            ("slice(None, None, -1)", "all"), (f"some{length}", "repeats"),
            (f"(some{length} + i) % {length}", "repeats"), ("slice(1, None)", "fewer"),
            ("slice(None, -1)", "fewer"), (self.span(), "span"),
        ])  # fmt: skip
        return found

    def part(self, kind: Kind, extent: str, inner: Kind, how: str) -> str:
        """Values for a part of something."""
        if extent == "repeats" and how == "put" and inner != "s":
            return self.value(kind)  # the last of them stays
        if extent in ("one", "span") or self.chance(0.2):
            return self.value(inner)
        return (
            self.value(kind)
            if extent != "fewer"
            else f"{self.name(kind)}[{self.pick(['1:', ':-1'])}]"
        )

    def exchanged(self, name: str) -> list[str]:
        """Two rows, columns or elements that are set from each other."""
        kind = _kind(name)
        if kind == "s":
            return []
        across = kind == "m" and self.chance(0.5)
        length = self.width if across or kind == "w" else self.height
        inner = "s" if kind != "m" else "v" if across else "w"
        one, other = (
            self.pick([
                f"i % {length}", f"-1 - i % {length}", f"(k9 + i) % {length}",
                f"{int(self.rng.integers(-length, length))}", f"i % {length} - {length}",
            ])
            for _ in range(2)
        )  # fmt: skip
        if across:
            one, other = f"(slice(None), {one})", f"(slice(None), {other})"
        p, q = f"{inner}18", f"{inner}19"
        new = self.pick([(q, p), (f"{p} * 0.6 - {q} * 0.8", f"{p} * 0.8 + {q} * 0.6")])
        return [
            f"{p} = {name}[{one}]",
            f"{q} = {name}[{other}]",
            f"{name} = to.put({name}, {one}, {new[0]})",
            f"{name} = to.put({name}, {other}, {new[1]})",
        ]

    def written(self, name: str) -> str:
        """Something with a part of it set or added to."""
        kind, how = _kind(name), self.pick(["put", "put", "add"])
        if kind == "s":
            return f"{name} * 0.5 + {self.number()}"
        if kind != "m" and self.chance(0.12):
            return f"to.{how}({name}, {name} > 0.1, {self.number()})"
        rows, extent = self.place(self.width if kind == "w" else self.height)
        if kind != "m":
            return f"to.{how}({name}, {rows}, {self.part(kind, extent, 's', how)})"
        columns, across = self.place(self.width)
        column = self.value("v") if across == "one" else self.number()
        one = int(self.rng.integers(self.width))
        parts = [
            f"{rows}, {self.part(kind, extent, 'w', how)}",
            f"{rows}, {self.part(kind, extent, 'w', how)}",
            f"(slice(None), {columns}), {column}",
            f"(i % {self.height}, {one}), {self.number()}",
            f"({rows}, {one}), {self.number()}",
        ]
        return f"to.{how}({name}, {self.pick(parts)})"
