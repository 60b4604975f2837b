"""The protocol of generators of random programs, so that one campaign can run them all.

A generator makes a `Program` of a seed. A program is data (it travels to worker processes), runs in
any mode against its own oracle, can be made smaller, and can be written down as a Python script
that shows the same without any of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

MODES = ("default", "fast", "compile", "python", "debug", "nanguard", "cuda:sim")

# One program in so many runs in a mode; programs that take long to compile or to run, seldom.
EVERY = {
    "default": 1, "fast": 3, "compile": 3, "python": 2, "debug": 40, "nanguard": 15, "cuda:sim": 25,
}  # fmt: skip


class Wrong(AssertionError):
    """A result that differs from the oracle's."""


class Refused(Exception):
    """symc raised one of its own errors where it may: the program shows nothing."""


@dataclass(frozen=True)
class Compared:
    """How much one run has shown: results, and elements of them that could not be judged.

    (A number that rounding alone could make anything, such as the difference of two that are
    nearly equal, or an integer that was made of one.)
    """

    outputs: int
    elements: int = 0
    unjudged: int = 0

    def __add__(self, other: Compared) -> Compared:
        return Compared(
            self.outputs + other.outputs,
            self.elements + other.elements,
            self.unjudged + other.unjudged,
        )


class Program(Protocol):
    """A random program; picklable, and never changed."""

    def run(self, mode: str) -> Compared:
        """Compiles, calls and compares.

        Raises `Wrong` for a wrong result, `Refused` where nothing was to be expected; whatever else
        is raised is a failure, too.
        """
        ...

    def smaller(self) -> Iterator[Program]:
        """Programs with one part less, the smallest first; none where nothing can be left out."""
        ...

    def script(self, mode: str) -> str:
        """Lines of Python that show the program's results in a mode, and the right ones."""
        ...


class Generator(Protocol):
    """Makes programs. The same seed always makes the same one."""

    @property
    def name(self) -> str:
        """The word after ``--only``."""
        ...

    def generate(self, seed: int) -> Program:
        """The program of a seed."""
        ...

    def modes(self, seed: int) -> tuple[str, ...]:
        """The modes to run the program of a seed in."""
        ...


def usual_modes(seed: int, every: Mapping[str, int] = EVERY) -> tuple[str, ...]:
    """The default mode, and each of the others for some seeds."""
    return tuple(
        mode for mode in MODES if mode in every and (seed % every[mode]) == every[mode] // 2
    )


def settings(mode: str) -> dict[str, Any]:
    """The arguments of `symc.function` for a mode; devices count as modes."""
    if mode.startswith("cuda"):
        return {"mode": "default", "device": mode}
    return {"mode": mode, "device": "cpu"}
