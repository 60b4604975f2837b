"""Random programs of extreme lengths run against Python's integers, as a generator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import symc
from symc.errors import SymcError
from tests.fuzz.lengths import RandomLengths
from tests.fuzz.protocol import Compared, Wrong, settings, usual_modes


@dataclass(frozen=True)
class LengthsProgram:
    """A chain of ops that derive lengths, by its seed."""

    seed: int
    steps: int = 4

    def run(self, mode: str) -> Compared:
        """A shared variable counts calls that succeed: one that fails leaves it as it was."""
        program, calls = RandomLengths(self.seed, self.steps), symc.shared(0.0)
        what = f"{self} {mode}: {', '.join(program.words)}"
        try:
            if program.error is not None:  # known lengths were refused before there is a function
                raise program.error
            function = symc.function(
                program.inputs, program.result, updates=[(calls, calls + 1)],
                on_unused_input="ignore", **settings(mode),
            )  # fmt: skip
            found: Any = function(*program.values)
        except (SymcError, ValueError) as error:
            found = error
        failed = isinstance(found, Exception)
        if failed and "array is too big" in str(found):
            raise Wrong(f"{what}: {found!r} is NumPy's")
        if failed and program.must_succeed:
            raise Wrong(f"{what}: {found!r}")
        if not failed and program.must_fail:
            raise Wrong(f"{what}: there is no such result")
        if not failed and not np.array_equal(found, program.expected()):
            raise Wrong(f"{what}: {found}, not {program.expected()}")
        if float(calls.get_value()) != (not failed):
            raise Wrong(f"{what}: the variable is {calls.get_value()} after {found!r}")
        return Compared(1 if failed else 2)

    def smaller(self) -> Iterator[LengthsProgram]:
        """With fewer steps at most."""
        for steps in range(1, self.steps):
            yield replace(self, steps=steps)

    def script(self, mode: str) -> str:
        """What it does, in words, and how to run it here."""
        words = ", ".join(RandomLengths(self.seed, self.steps).words)
        lines = ["from tests.fuzz.run_lengths import LengthsProgram", f"# {words}"]
        return "\n".join([*lines, f"{self}.run({mode!r})"])


class Lengths:
    """The generator."""

    name = "lengths"

    def generate(self, seed: int) -> LengthsProgram:
        """A chain of at most four steps."""
        return LengthsProgram(seed)

    def modes(self, seed: int) -> tuple[str, ...]:
        """The usual ones; what is too large for the processor need not be tried on a device."""
        return tuple(mode for mode in usual_modes(seed) if mode not in ("cuda:sim", "nanguard"))


GENERATOR = Lengths()
