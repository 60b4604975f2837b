"""Loops whose steps write into their states: rows, slices, columns, masks, places that repeat.

The step is text, one assignment a line, and runs three times: in NumPy, over symbols in a loop of
Python (the graph of all steps), and in a loop of symc's. Values are compared with NumPy's,
gradients with those of the graph of all steps, and these with differences of NumPy's values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.graph.node import Array, Tensor
from tests.fuzz.protocol import Compared, Wrong, settings, usual_modes
from tests.fuzz.written_steps import Kind, Step, drawn

STEP = 1e-6
FORMS = ("fori_loop", "while_loop", "scan")


class InNumPy:
    """`put` and `add` as new arrays, by NumPy."""

    @staticmethod
    def put(x: Array, index: Any, value: Any) -> Array:
        result = np.array(x)
        result[index] = value
        return result

    @staticmethod
    def add(x: Array, index: Any, value: Any) -> Array:
        result = np.array(x)
        np.add.at(result, index, value)
        return result


class InSymbols:
    """The same of tensors."""

    @staticmethod
    def put(x: Tensor, index: Any, value: Any) -> Tensor:
        return T.set_subtensor(x[index], value)

    @staticmethod
    def add(x: Tensor, index: Any, value: Any) -> Tensor:
        return T.inc_subtensor(x[index], value)


@dataclass(frozen=True)
class Writing:
    """A step, repeated by a kind of loop."""

    step: Step
    seed: int
    steps: int
    form: str
    known: bool
    """Whether lengths of inputs are known when the graph is built."""
    symbolic_steps: bool

    def run(self, mode: str) -> Compared:
        """Values of two calls, and the gradients of a cost."""
        asked = _Asked(self)
        function = symc.function(
            asked.inputs, [*asked.loop, *asked.gradients(asked.loop)],
            on_unused_input="ignore", **settings(mode),
        )  # fmt: skip
        wanted = [*asked.states(asked.values), *asked.checked_gradients()]
        before = [np.array(value) for value in asked.values]
        for call in ("first", "second"):
            for number, (value, right) in enumerate(
                zip(function(*asked.arguments), wanted, strict=True)
            ):
                _close(np.asarray(value), np.asarray(right), f"result {number}, {call} call")
        for value, old in zip(asked.values, before, strict=True):
            _close(value, old, "an argument has been written to")
        return Compared(2 * len(wanted))

    def smaller(self) -> Iterator[Writing]:
        """With fewer steps, as a plainer loop, without a line that no other needs."""
        for steps in range(self.steps):
            yield replace(self, steps=steps)
        if self.form != FORMS[0]:
            yield replace(self, form=FORMS[0])
        for step in self.step.smaller():
            yield replace(self, step=step)

    def script(self, mode: str) -> str:
        """The step as Python, the loop in this mode and in NumPy."""
        return "\n".join([
            "from tests.fuzz.writes import Writing",
                "from tests.fuzz.written_steps import Step",
            *(f"# {line}" for line in self.step.text().splitlines()),
            f"Writing({self.step!r},",
            f"    {self.seed}, {self.steps}, {self.form!r}, {self.known}, {self.symbolic_steps}",
            f").run({mode!r})",
        ])  # fmt: skip


class _Asked:
    """The symbols and numbers of a program."""

    def __init__(self, program: Writing) -> None:
        self.program = program
        self.count = len(program.step.states)
        rng = np.random.default_rng(program.seed)
        self.body = _compiled(program.step, rng)
        named = program.step.inputs()
        self.values = [_drawn_value(rng, program.step, kind) for _, kind in named]
        self.symbols = [
            T.tensor(
                "int64" if kind == "k" else "float64",
                shape if program.known else (None,) * len(shape),
                name=name,
            )
            for (name, kind) in named
            for shape in [program.step.shape(kind)]
        ]
        count = T.lscalar("count")
        self.inputs = [*self.symbols, *([count] if program.symbolic_steps else [])]
        self.arguments: list[Any] = [
            *self.values, *([program.steps] if program.symbolic_steps else [])
        ]  # fmt: skip
        self.weights = [rng.standard_normal(np.shape(v)) for v in self.values[: self.count]]
        self.floats = [s for s, (_, kind) in zip(self.symbols, named, strict=True) if kind != "k"]
        self.directions = [
            rng.standard_normal(np.shape(value)) * (kind != "k")
            for value, (_, kind) in zip(self.values, named, strict=True)
        ]
        self.loop = self._looped(count if program.symbolic_steps else program.steps)

    def states(self, values: Sequence[Any], library: Any = np, writer: Any = InNumPy) -> list[Any]:
        """The last states by a loop in Python."""
        states, rest = list(values[: self.count]), values[self.count :]
        for i in range(self.program.steps):
            states = self.body(library, writer, i, *states, *rest)
        return states

    def _looped(self, count: Any) -> list[Tensor]:
        """The last states by a loop of symc's."""
        start, rest = self.symbols[: self.count], self.symbols[self.count :]

        def step(i: Any, *states: Any) -> Any:
            return self.body(T, InSymbols, i, *states, *rest)

        if self.program.form == "fori_loop":
            return list(symc.fori_loop(0, count, step, start))
        if self.program.form == "while_loop":
            _, *last = symc.while_loop(
                lambda i, *_: i < count, lambda i, *states: [i + 1, *step(i, *states)], [0, *start]
            )
            return list(last)
        rows, _ = symc.scan(step, sequences=T.arange(count), outputs_info=start, return_list=True)
        whole = [T.concatenate([s[None], r]) for s, r in zip(start, rows, strict=True)]
        return [states[-1] for states in whole]

    def gradients(self, states: Sequence[Tensor]) -> list[Tensor]:
        """Those of a cost of the last states by all inputs but integers."""
        cost: Any = sum(
            (T.sin(state) * w).sum() for state, w in zip(states, self.weights, strict=True)
        )
        found: list[Tensor] = symc.grad(cost, self.floats, disconnected="zero")
        return found

    def checked_gradients(self) -> list[Array]:
        """Those of the graph of all steps, which are differences' unless there is a kink."""
        graph = self.gradients(self.states(self.symbols, T, InSymbols))
        found = symc.function(self.symbols, graph, mode="python", on_unused_input="ignore")(
            *self.values
        )
        moved = [d for s, d in zip(self.symbols, self.directions, strict=True) if s in self.floats]
        slope = sum((g * d).sum() for g, d in zip(found, moved, strict=True))
        wanted = (self._cost(STEP) - self._cost(-STEP)) / (2 * STEP)
        if not self.program.step.has_kinks() and abs(slope - wanted) > 1e-5 * (1 + abs(wanted)):
            raise Wrong(f"the gradient along a direction is {slope}, differences give {wanted}")
        return list(found)

    def _cost(self, step: float) -> float:
        pairs = zip(self.values, self.directions, strict=True)
        moved = [v + step * d if v.dtype.kind == "f" else v for v, d in pairs]
        states = self.states(moved)
        return float(sum((np.sin(s) * w).sum() for s, w in zip(states, self.weights, strict=True)))


def _drawn_value(rng: np.random.Generator, step: Step, kind: Kind) -> Array:
    if kind == "k":
        return np.asarray(rng.integers(-2, 6))
    return np.asarray(rng.standard_normal(step.shape(kind)))


def _compiled(step: Step, rng: np.random.Generator) -> Callable[..., list[Any]]:
    """The step as a function of a library, a writer, the step's number, states and constants."""
    space: dict[str, Any] = {}
    for length in (step.height, step.width):
        space[f"order{length}"] = rng.permutation(length)
        space[f"some{length}"] = rng.integers(0, length, length)
    exec(step.text(), space)
    made: Callable[..., list[Any]] = space["body"]
    return made


def _close(value: Array, wanted: Array, what: str) -> None:
    if value.shape != wanted.shape or not np.allclose(value, wanted, rtol=1e-8, atol=1e-9):
        raise Wrong(f"{what}:\n{value}\nand not\n{wanted}")


class Writes:
    """The generator."""

    name = "writes"

    def generate(self, seed: int) -> Writing:
        """A step of one to five writes, and a loop around it."""
        rng = np.random.default_rng([seed, 31])
        step = drawn(rng)
        form = FORMS[int(rng.integers(len(FORMS)))]
        steps = int(rng.choice([0, 1, 2, 3, 5]))
        return Writing(step, seed, steps, form, bool(rng.random() < 0.5), bool(rng.random() < 0.5))

    def modes(self, seed: int) -> tuple[str, ...]:
        """Those that do not mind what is not finite."""
        return tuple(mode for mode in usual_modes(seed) if mode != "nanguard")


GENERATOR = Writes()
