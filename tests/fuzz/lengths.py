"""Random programs of ops that derive lengths, with integers from the ends of the range of 64 bits.

A program is described by its seed alone: a vector that each step makes another of. Its result is
known from Python's integers: how long each vector is, and which element of the first stands where.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from symc import tensor as T
from symc.errors import SymcError
from symc.graph.node import Tensor

EXTREMES = (
    0, 1, 2, 3, 5, -1, -2, -7, 2**20, 2**31 - 1, 2**31, 2**32 + 1, 2**61 + 1, 2**62, 2**63 - 4,
    2**63 - 1, -(2**31), -(2**61) - 1, -(2**62), -(2**63) + 1, -(2**63),
)  # fmt: skip
HUGE = 2**57  # elements of 8 bytes: beyond, no memory is asked for


class Impossible(Exception):
    """The result of a program is an error: a length is negative, or a step is 0."""


@dataclass(frozen=True)
class Run:
    """A vector: how long it is, and its elements by their places."""

    length: int
    element: Callable[[int], float]


@dataclass
class RandomLengths:
    """Up to `steps` random steps from the vector `x`, with integers for the inputs after it.

    `error` is what building the program has raised. `run` has its result, None for an error.
    """

    seed: int
    steps: int = 4
    inputs: list[Tensor] = field(default_factory=list[Tensor])
    values: list[Any] = field(default_factory=list[Any])

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        start = np.arange(1.0, 1.0 + int(self.rng.integers(0, 6)))
        self.inputs.append(T.vector("x"))
        self.values.append(start)
        self.result = self.inputs[0]
        self.run: Run | None = Run(len(start), lambda i: float(start[i]))
        self.small = True
        self.error: Exception | None = None
        self.words: list[str] = [f"x of {len(start)}"]
        for _ in range(int(self.rng.integers(1, self.steps + 1))):
            self._step()

    @property
    def must_fail(self) -> bool:
        """Whether nothing can be the result: that is an error, or in no memory."""
        return self.run is None or self.run.length >= HUGE

    @property
    def must_succeed(self) -> bool:
        """Whether all that may be computed on the way is small; else an error is right, too."""
        return self.run is not None and self.small

    def expected(self) -> Any:
        """The result, where it is one."""
        assert self.run is not None
        return np.array([self.run.element(i) for i in range(self.run.length)], np.float64)

    # --- steps ------------------------------------------------------------------------------------

    def _number(self) -> tuple[Any, int]:
        """An integer for the program, known or given, and its value."""
        value = EXTREMES[int(self.rng.integers(len(EXTREMES)))]
        if self.rng.random() < 0.3:
            return value, value
        node = T.lscalar(f"n{len(self.inputs)}")
        self.inputs.append(node)
        self.values.append(value)
        return node, value

    def _step(self) -> None:
        if self.run is None or self.error is not None:
            return
        kinds = [self._pad, self._repeat, self._tile, self._slice, self._slice, self._slice,
                 self._roll, self._join, self._reshape, self._count]  # fmt: skip
        before, result = self.run, self.result
        word, build, after = kinds[int(self.rng.integers(len(kinds)))](before)
        self.words.append(word)
        try:
            self.run = after()
        except Impossible:
            self.run = None
        else:
            self.small = self.small and self.run.length <= 1 << 16
        try:
            self.result = build(result)
        except (SymcError, ValueError) as error:
            self.error = error

    def _pad(self, run: Run) -> Step:
        (before, b), (behind, a) = self._number(), self._number()

        def after() -> Run:
            if b < 0 or a < 0:
                raise Impossible
            return Run(
                b + run.length + a,
                lambda i: run.element(i - b) if b <= i < b + run.length else 0.0,
            )

        return f"pad {b}, {a}", lambda x: T.pad(x, (before, behind)), after

    def _repeat(self, run: Run) -> Step:
        times, n = self._number()

        def after() -> Run:
            if n < 0:
                raise Impossible
            return Run(run.length * n, lambda i: run.element(i // n))

        return f"repeat {n}", lambda x: T.repeat(x, times), after

    def _tile(self, run: Run) -> Step:
        times, n = self._number()

        def after() -> Run:
            if n < 0:
                raise Impossible
            return Run(run.length * n, lambda i: run.element(i % run.length))

        return f"tile {n}", lambda x: T.tile(x, times), after

    def _slice(self, run: Run) -> Step:
        parts, numbers = list[Any](), list[int | None]()
        for _ in range(3):
            part, number = (None, None) if self.rng.random() < 0.3 else self._number()
            parts.append(part)
            numbers.append(number)

        def after() -> Run:
            if numbers[2] == 0:
                raise Impossible
            first, end, step = slice(*numbers).indices(run.length)
            count = max(0, (end - first + step - (1 if step > 0 else -1)) // step)
            return Run(count, lambda i: run.element(first + i * step))

        return f"slice {numbers}", lambda x: x[slice(*parts)], after

    def _roll(self, run: Run) -> Step:
        by, n = self._number()

        def after() -> Run:
            return Run(run.length, lambda i: run.element((i - n) % run.length))

        return f"roll {n}", lambda x: T.roll(x, by), after

    def _join(self, run: Run) -> Step:
        first, n = self.values[0], run.length

        def element(i: int) -> float:
            if n <= i < n + len(first):
                return float(first[i - n])
            return run.element(i if i < n else i - n - len(first))

        after = partial(Run, 2 * n + len(first), element)
        return "concatenate", lambda x: T.concatenate([x, self.inputs[0], x]), after

    def _reshape(self, run: Run) -> Step:
        return "reshape", lambda x: T.reshape(x, (-1, 1)).ravel(), lambda: run

    def _count(self, run: Run) -> Step:
        after = partial(Run, run.length, lambda i: i + run.element(i))
        return "arange", lambda x: T.arange(x.shape[0]) + x, after


Step = tuple[str, Callable[[Tensor], Tensor], Callable[[], Run]]
"""The name of a step, its function of the vector, and its result."""
