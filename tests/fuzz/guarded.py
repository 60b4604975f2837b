"""Elements at indexes that are in range only where branches are taken, against Python itself.

Programs are those of `branches.py`, but indexes are not reduced by a remainder: conditions say
where they are in range, and most statements that read or write there stand behind one. Where
Python reads in range, so does the function, and so do its gradients, whatever else of the program
they compute again. Programs that fail in Python are refused: what fails there may be needed for no
result.
"""

from __future__ import annotations

import numpy as np

from symc.graph.node import Array
from tests.fuzz.branches import STEP, Branching, InPython
from tests.fuzz.branching import Assign, Branch, Drawing, Statement, Write
from tests.fuzz.protocol import Compared, Refused, usual_modes


class Guarded(Branching):
    """Statements about states and constants, whose indexes are in range in most cases."""

    def run(self, mode: str) -> Compared:
        """As others do, where Python reads in range in both calls."""
        try:
            python = InPython(self.given())
            for _ in range(2):
                python.run(self.statements, outermost=True)
                python = InPython({**self.given(), **(python.names if self.kept else {})})
        except IndexError as error:
            raise Refused(str(error)) from error
        return super().run(mode)

    def slope(
        self, given: dict[str, Array], name: str, direction: Array, weights: dict[str, Array],
        step: float = STEP,
    ) -> float | None:  # fmt: skip
        """None also where differences read out of range, and where smaller ones are others."""
        try:
            found = super().slope(given, name, direction, weights, step)
            finer = super().slope(given, name, direction, weights, step / 4)
        except IndexError:
            return None
        if found is None or finer is None or not abs(found - finer) <= 1e-5 * (1 + abs(found)):
            return None
        return found

    def script(self, mode: str) -> str:
        """The statements as Python, and a run of them."""
        return "from tests.fuzz.guarded import Guarded\n" + super().script(mode)


class GuardedDrawing(Drawing):
    """Draws branches whose conditions are that indexes are in range."""

    def __init__(self, rng: np.random.Generator, height: int, width: int) -> None:
        super().__init__(rng, height, width)
        self.in_range: tuple[tuple[str, int], ...] = ()
        """Indexes that a condition around says to be in range, each with a length."""

    def branch(self, depth: int) -> Branch:
        if self.chance(0.25):
            return super().branch(depth)
        index, length = self.index(), int(self.pick([self.height, self.width]))
        if self.chance(0.5):
            condition = f"m.logical_and({index} < {length}, {index} >= {-length})"
        else:
            condition = f"m.less(m.abs({index}), {length})"
        outside, is_first = self.in_range, self.chance(0.75)
        if not is_first:
            condition = f"m.logical_not({condition})"
        if self.chance(0.2):
            joins = ("or", "and")[is_first]
            condition = f"m.logical_{joins}({condition}, {self.condition()})"
        self.in_range = (*outside, (index, length))
        inside = (*self.statements(depth, 2), self.reading())
        self.in_range = outside
        others = self.statements(depth, 2) if self.chance(0.5) else ()
        sides = (inside, others) if is_first else (others, inside)
        return Branch(condition, *sides, self.chance(0.7))

    def reading(self) -> Statement:
        """A statement that reads at an index of the conditions around."""
        element = self.element()
        name = self.pick(self.states)
        if name[0] == "s":
            return Assign(name, f"m.tanh({element}) + {self.number()} * 0.5")
        if name[0] == "k" and (integers := self.places("a")):
            return Assign(name, f"({self.pick(integers)} + {self.integer()}) % 7 - 2")
        if name[0] in "mvw":
            return Assign(name, f"m.sin({name}) * {element}")
        return self.statement(0)

    def element(self) -> str:
        """A number at an index of the conditions around."""
        found = [
            *self.places("v"), *self.places("w"), *(f"m.sum({row})" for row in self.places("m")),
            *(f"m.sin({place})" for place in self.places("v")),
        ]  # fmt: skip
        return str(self.pick(found)) if found else self.number()

    def places(self, kind: str) -> list[str]:
        """The elements of a kind of array at the indexes of the conditions around."""
        length = self.width if kind == "w" else self.height
        return [f"{self.name(kind)}[{index}]" for index, most in self.in_range if most <= length]

    def index(self) -> str:
        """An integer that may be out of range; where it is a constant no graph is made of it."""
        one = str(self.pick([self.name("k"), *self.counters, f"{self.name('a')}[0]"]))
        return str(self.pick([
            f"{one} + {int(self.rng.integers(0, 4))}", f"{one} * 2", f"{one} + {self.integer()}",
            one, f"{self.name('a')}[{one} % {self.height}]",
        ]))  # fmt: skip

    def number(self) -> str:
        return self.element() if self.in_range and self.chance(0.5) else super().number()

    def write(self, name: str) -> Write:
        found = super().write(name)
        length = self.width if name[0] == "w" else self.height
        indexes = [index for index, most in self.in_range if most <= length]
        if indexes and name[0] != "f" and self.chance(0.4):
            inner = {"m": "w", "v": "s", "w": "s", "a": "k"}[name[0]]
            return Write(name, self.pick(indexes), self.value(inner), found.adds)
        return found


class Guards:
    """The generator."""

    name = "guarded"

    def generate(self, seed: int) -> Guarded:
        """A loop with branches in it."""
        rng = np.random.default_rng([seed, 43])
        height, width = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        drawing = GuardedDrawing(rng, height, width)
        statements = drawing.program()
        known, kept = bool(rng.random() < 0.5), bool(rng.random() < 0.3)
        return Guarded(statements, drawing.states, height, width, seed, known, kept)

    def modes(self, seed: int) -> tuple[str, ...]:
        """Those that do not mind what is not finite."""
        return tuple(mode for mode in usual_modes(seed) if mode != "nanguard")


GENERATOR = Guards()
