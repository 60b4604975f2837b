"""Branches that write arrays, in branches and loops of all kinds, against Python itself.

A program (`branching.py`) runs in Python over NumPy's arrays, where branches are ``if`` and writes
change arrays, and as a graph, where they are `symc.ifelse` and `set`. Values are compared, also
those that shared variables have after two calls, and gradients with differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, assert_never

import numpy as np

import symc
from symc import tensor as T
from symc.graph.node import Array, Tensor
from tests.fuzz.branching import (
    CONSTANTS,
    DTYPES,
    Assign,
    Branch,
    Drawing,
    Loop,
    Statement,
    Write,
    changed,
    smaller,
    text,
)  # fmt: skip
from tests.fuzz.protocol import Compared, Wrong, settings, usual_modes

STEP = 1e-6
Names = dict[str, Any]


class InPython:
    """Statements over arrays, which writes change."""

    def __init__(self, names: Names) -> None:
        self.names = {name: np.array(value) for name, value in names.items()}
        self.taken: list[Any] = []
        """What conditions and masks were: with others the result may jump."""
        self.rows: list[Array] = []
        """The states after each step of the scans that are in no other statement."""

    def value(self, words: str) -> Any:
        found = eval(words, {"m": np}, self.names)
        if getattr(found, "dtype", None) == np.dtype(bool):
            self.taken.append(np.array(found).tolist())
        return found

    def run(self, statements: tuple[Statement, ...], outermost: bool = False) -> None:
        for statement in statements:
            match statement:
                case Assign(name, value):
                    self.names[name] = np.array(self.value(value))
                case Write(name, place, value, adds):
                    where, given = self.value(place), np.array(self.value(value))
                    if adds:
                        np.add.at(self.names[name], where, given)
                    else:
                        self.names[name][where] = given
                case Branch(condition, then, otherwise):
                    self.run(then if self.value(condition) else otherwise)
                case Loop():
                    self.loop(statement, outermost and statement.form == "scan")
                case _:
                    assert_never(statement)

    def loop(self, loop: Loop, kept: bool) -> None:
        rows: list[list[Array]] = []
        for number in range(int(self.value(loop.count))):
            self.names[loop.counter] = np.asarray(number)
            if loop.form == "while_loop" and loop.end and self.value(loop.end):
                break
            self.run(loop.body)
            rows.append([np.array(self.names[name]) for name in sorted(changed(loop.body))])
            if loop.form == "scan" and loop.end and self.value(loop.end):
                break
        self.names.pop(loop.counter, None)
        if kept and rows:
            self.rows += [np.array(values) for values in zip(*rows, strict=True)]
        elif kept:
            self.rows += [self.names[name][None][:0] for name in sorted(changed(loop.body))]


class InSymbols:
    """Statements over tensors, which make new ones."""

    def __init__(self, names: Names) -> None:
        self.names = dict(names)
        self.rows: list[Tensor] = []

    def value(self, words: str) -> Any:
        return eval(words, {"m": T}, self.names)

    def run(self, statements: tuple[Statement, ...], outermost: bool = False) -> None:
        for statement in statements:
            match statement:
                case Assign(name, value):
                    self.names[name] = T.as_tensor(self.value(value))
                case Write(name, place, value, adds):
                    part = self.names[name][self.value(place)]
                    given = self.value(value)
                    self.names[name] = part.inc(given) if adds else part.set(given)
                case Branch():
                    self.branch(statement)
                case Loop():
                    self.loop(statement, outermost and statement.form == "scan")
                case _:
                    assert_never(statement)

    def side(self, statements: tuple[Statement, ...], names: list[str]) -> list[Tensor]:
        inner = InSymbols(self.names)
        inner.run(statements)
        return [inner.names[name] for name in names]

    def branch(self, branch: Branch) -> None:
        names = sorted(changed(branch.then) | changed(branch.otherwise))
        condition = self.value(branch.condition)
        if isinstance(condition, bool):
            condition = T.constant(condition)
        then, otherwise = self.side(branch.then, names), self.side(branch.otherwise, names)
        if branch.together:
            chosen = symc.ifelse(condition, then, otherwise)
        else:
            pairs = zip(then, otherwise, strict=True)
            chosen = [symc.ifelse(condition, one, other) for one, other in pairs]
        self.names.update(zip(names, chosen, strict=True))

    def loop(self, loop: Loop, kept: bool) -> None:
        names = sorted(changed(loop.body))
        start, count = [self.names[name] for name in names], self.value(loop.count)

        def inside(number: Any, states: Any) -> InSymbols:
            return InSymbols({
                **self.names, loop.counter: number, **dict(zip(names, states, strict=True))
            })  # fmt: skip

        def step(number: Any, *states: Any) -> list[Tensor]:
            inner = inside(number, states)
            inner.run(loop.body)
            return [inner.names[name] for name in names]

        def goes_on(number: Any, *states: Any) -> Any:
            if loop.end is None:
                return number < count
            ends = T.neq(inside(number, states).value(loop.end), 0)
            return T.logical_and(number < count, T.logical_not(ends))

        def scanned(number: Any, *states: Any) -> Any:
            last = step(number, *states)
            if loop.end is None:
                return last
            return last, symc.until(inside(number, last).value(loop.end))

        if not names:
            return
        match loop.form:
            case "fori_loop":
                last = symc.fori_loop(0, count, step, start)
            case "while_loop":
                _, *last = symc.while_loop(
                    goes_on, lambda number, *states: [number + 1, *step(number, *states)],
                    [0, *start],
                )  # fmt: skip
            case "scan":
                rows, _ = symc.scan(
                    scanned, sequences=T.arange(count), outputs_info=start, return_list=True
                )
                self.rows += rows if kept else []
                pairs = zip(start, rows, strict=True)
                last = [T.concatenate([s[None], r])[-1] for s, r in pairs]
            case _:
                assert_never(loop.form)
        self.names.update(zip(names, last, strict=True))


@dataclass(frozen=True)
class Branching:
    """Statements about states and constants of a size."""

    statements: tuple[Statement, ...]
    states: tuple[str, ...]
    height: int
    width: int
    seed: int
    known: bool
    """Whether lengths of inputs are known when the graph is built."""
    kept: bool
    """Whether the states are shared variables, which calls update."""

    def run(self, mode: str) -> Compared:
        """Values of two calls, and the gradients of a cost."""
        given = self.given()
        python, symbols, variables = InPython(given), self.symbols(given), {}
        if self.kept:
            variables = {name: symc.shared(given[name], name=name) for name in self.states}
        made = InSymbols({**symbols, **variables})
        made.run(self.statements, outermost=True)
        last = [made.names[name] for name in self.states]
        inputs = [symbols[name] for name in given if name not in variables]
        updates = list(zip(variables.values(), last, strict=True)) if self.kept else []
        function = symc.function(
            inputs, [*last, *made.rows], updates=updates, on_unused_input="ignore",
            **settings(mode),
        )  # fmt: skip
        compared = 0
        for call in ("first", "second"):
            python = InPython({**given, **(python.names if self.kept and call == "second" else {})})
            python.run(self.statements, outermost=True)
            arguments = {name: given[name].copy() for name in given if name not in variables}
            results = function(*arguments.values())
            wanted = [python.names[name] for name in self.states]
            kept = [variables[name].get_value() for name in variables]
            compared += self.compare(results[: len(last)], wanted, f"{call} call")
            compared += self.compare(kept, wanted[: len(kept)], f"variables after {call} call")
            if python.rows:
                compared += self.compare(results[len(last) :], python.rows, f"rows of {call} call")
            for name, value in arguments.items():
                if not np.array_equal(value, given[name]):
                    raise Wrong(f"{name} has been written to")
        return Compared(compared + self.check_gradients(given, symbols, mode))

    def given(self) -> dict[str, Array]:
        """The values of states and constants."""
        rng = np.random.default_rng([self.seed, 7])
        found: dict[str, Array] = {}
        for name in (*self.states, *CONSTANTS):
            shape = self.shape(name)
            if DTYPES.get(name[0]) == "int64":
                found[name] = np.asarray(rng.integers(-1, 5, shape))
            else:
                value = rng.standard_normal(shape)
                found[name] = np.asarray(value, DTYPES.get(name[0], "float64"))
        return found

    def shape(self, name: str) -> tuple[int, ...]:
        column, row = (self.height,), (self.width,)
        return {"m": column + row, "v": column, "f": column, "a": column, "w": row}.get(name[0], ())

    def symbols(self, given: dict[str, Array]) -> dict[str, Tensor]:
        """An input for each value."""
        return {
            name: T.tensor(
                str(value.dtype), value.shape if self.known else (None,) * value.ndim, name=name
            )
            for name, value in given.items()
        }

    def compare(self, results: list[Array], wanted: list[Array], what: str) -> int:
        for number, (value, right) in enumerate(zip(results, wanted, strict=True)):
            tolerance = 1e-4 if value.dtype == np.float32 else 1e-8
            close = value.shape == right.shape and value.dtype == right.dtype
            if not close or not np.allclose(value, right, rtol=tolerance, atol=tolerance):
                raise Wrong(f"{what}, result {number}: {value!r} and not {right!r}")
        return len(wanted)

    def check_gradients(
        self, given: dict[str, Array], symbols: dict[str, Tensor], mode: str
    ) -> int:
        """Those of a cost of the last states by each input, along a direction."""
        floats = [name for name in given if name[0] in "mvws"]
        if any(name[0] == "f" for name in self.states):
            return 0  # differences of float32 say little
        rng = np.random.default_rng([self.seed, 8])
        made = InSymbols(symbols)
        made.run(self.statements)
        weights = {name: rng.standard_normal(self.shape(name)) for name in self.states}
        costs = [(T.sin(made.names[n]) * weights[n]).sum() for n in self.states if n in floats]
        if not costs:
            return 0
        gradients = symc.grad(sum(costs[1:], costs[0]), [symbols[n] for n in floats],
                              disconnected="zero")  # fmt: skip
        found = symc.function(
            list(symbols.values()), gradients, on_unused_input="ignore", **settings(mode)
        )(*given.values())
        checked = 0
        for name, gradient in zip(floats, found, strict=True):
            direction = rng.standard_normal(self.shape(name))
            wanted = self.slope(given, name, direction, weights)
            slope = float((gradient * direction).sum())
            if wanted is not None and not abs(slope - wanted) <= 1e-5 * (1 + abs(wanted)):
                raise Wrong(f"by {name} the gradient is {slope}, differences give {wanted}")
            checked += wanted is not None
        return checked

    def slope(
        self, given: dict[str, Array], name: str, direction: Array, weights: dict[str, Array],
        step: float = STEP,
    ) -> float | None:  # fmt: skip
        """The cost's derivative by differences.

        None if other branches are taken on the way, or the sine is of numbers that go round it.
        """
        costs, ways, ends = [], [], []
        for signed in (step, -step):
            moved = InPython({**given, name: given[name] + signed * direction})
            moved.run(self.statements)
            floats = [n for n in self.states if n[0] in "mvws"]
            parts = [np.sin(moved.names[n]) * weights[n] for n in floats]
            costs.append(float(sum(part.sum() for part in parts)))
            ways.append(moved.taken)
            ends.append([moved.names[n] for n in floats])
        near = all(np.all(np.abs(one - other) < 1) for one, other in zip(*ends, strict=True))
        return (costs[0] - costs[1]) / (2 * step) if near and ways[0] == ways[1] else None

    def smaller(self) -> Iterator[Branching]:
        """With fewer statements, plainer loops, and no variables."""
        for statements in smaller(self.statements):
            yield replace(self, statements=statements)
        if self.kept:
            yield replace(self, kept=False)

    def script(self, mode: str) -> str:
        """The statements as Python, and a run of them."""
        return "\n".join([
            "from tests.fuzz.branches import Branching",
            "from tests.fuzz.branching import Assign, Branch, Loop, Write",
            *(f"# {line}" for line in text(self.statements)),
            f"{self!r}.run({mode!r})",
        ])  # fmt: skip


class Branches:
    """The generator."""

    name = "branches"

    def generate(self, seed: int) -> Branching:
        """A loop with branches in it."""
        rng = np.random.default_rng([seed, 41])
        height, width = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        drawing = Drawing(rng, height, width)
        statements = drawing.program()
        known, kept = bool(rng.random() < 0.5), bool(rng.random() < 0.4)
        return Branching(statements, drawing.states, height, width, seed, known, kept)

    def modes(self, seed: int) -> tuple[str, ...]:
        """Those that do not mind what is not finite."""
        return tuple(mode for mode in usual_modes(seed) if mode != "nanguard")


GENERATOR = Branches()
