"""Random loops over numbers, vectors and matrices of 1 to 4, with slopes by all that they read.

Such states are taken apart, joined, counted and added up after the loop, one change after the
other. Values and slopes are compared with those of the graph of all steps, in the interpreter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

KINDS = "svm"  # a number, a vector, a matrix
FORMS = ("scan", "fori_loop", "while_loop")


@dataclass(frozen=True)
class Small:
    """A step as text, of names whose first letters are kinds, and how it is repeated."""

    length: int
    steps: int
    form: str
    known: bool  # whether lengths are when the graph is built
    counted: bool  # whether the number of steps is an argument
    states: tuple[str, ...]
    rows: tuple[str, ...]  # of sequences
    others: tuple[str, ...]
    lines: tuple[str, ...]
    results: tuple[str, ...]
    outputs: tuple[str, ...]

    def shape(self, name: str) -> tuple[int, ...]:
        return (self.length,) * KINDS.index(name[0])

    def body(self) -> Callable[..., tuple[list[Any], list[Any]]]:
        """The step: rows, states and others to the new states and the outputs."""
        names = ", ".join((*self.rows, *self.states, *self.others))
        ends = f"return [{', '.join(self.results)}], [{', '.join(self.outputs)}]"
        space: dict[str, Any] = {"T": T}
        exec("\n    ".join((f"def body({names}):", *self.lines, ends)), space)
        made: Callable[..., tuple[list[Any], list[Any]]] = space["body"]
        return made


class Drawing:
    """Expressions over the names so far."""

    def __init__(self, draw: random.Random, length: int) -> None:
        self.draw = draw
        self.length = length
        self.names: list[str] = []

    def new(self, count: int, kinds: str, letter: str) -> tuple[str, ...]:
        made = tuple(f"{self.draw.choice(kinds)}_{letter}{number}" for number in range(count))
        self.names += made
        return made

    def name(self, kind: str) -> str:
        known = [name for name in self.names if name[0] == kind]
        n = self.length
        fixed = {"s": "T.constant(0.7)", "v": f"T.ones({n})", "m": f"T.eye({n})"}
        return self.draw.choice(known) if known else fixed[kind]

    def place(self) -> int:
        return self.draw.randrange(self.length)

    def expression(self, kind: str, depth: int) -> str:
        if not depth:
            return self.name(kind)
        s, v, m, own = (self.expression(other, depth - 1) for other in (*KINDS, kind))
        again, k = self.expression(kind, depth - 1), self.place()
        usual = [
            f"{own} + {again}", f"{own} * {s}", f"{own} * {again}", f"{own} - 0.5 * {again}",
            f"T.tanh({own})", f"T.sin({own})", f"T.where({own} > 0.1, {again}, {own} * 2)",
        ]  # fmt: skip
        special = {
            "s": [f"{v}.sum() * 0.3", f"T.dot({v}, {self.name('v')}) * 0.2", f"{v}[{k}]",
                  f"{m}[{k}, {self.place()}]", f"T.max({v})"],
            "v": [f"T.dot({m}, {v}) * 0.3", f"T.dot({v}, {m}) * 0.3", f"{v}[::-1]",
                  f"T.stack([{', '.join(self.name('s') for _ in range(self.length))}])",
                  f"T.concatenate([{v}[{k}:], {v}[:{k}]])", f"T.set_subtensor({v}[{k}], {s})",
                  f"T.inc_subtensor({v}[{k}:], {s})", f"{m}.sum({k % 2}) * 0.3", f"{m}[{k}]",
                  f"T.cumsum({v}) * 0.4"],
            "m": [f"T.outer({v}, {self.name('v')}) * 0.2", f"{m}.T", f"{m} * {v}",
                  f"{v}[:, None] * {m}", f"T.dot({m}, {self.name('m')}) * 0.2",
                  f"T.set_subtensor({m}[{k}], {v})"],
        }  # fmt: skip
        return f"({self.draw.choice([*usual, *special[kind]])})"

    def result(self, state: str) -> str:
        """What becomes of a state: it stays, something is added to it, or it is a new one."""
        new = self.expression(state[0], self.draw.choice([0, 1, 2]))
        return self.draw.choice([state, f"{state} + {new}", f"{state} * 0.5 + {new}", new, new])


def drawn(draw: random.Random) -> Small:
    length = draw.randint(1, 4)
    made = Drawing(draw, length)
    states = made.new(draw.randint(1, 3), "svvvm", "x")
    rows = made.new(draw.randint(0, 2), "sv", "q")
    others = made.new(draw.randint(1, 3), "svvm", "c")
    lines = []
    for number in range(draw.randint(0, 2)):
        name = f"{draw.choice('svvm')}_t{number}"
        lines.append(f"{name} = {made.expression(name[0], 2)}")
        made.names.append(name)
    return Small(
        length, draw.randint(0, 4), draw.choice(FORMS), draw.random() < 0.7, draw.random() < 0.5,
        states, rows, others, tuple(lines), tuple(map(made.result, states)),
        tuple(made.expression(draw.choice("sv"), 1) for _ in range(draw.randint(0, 1))),
    )  # fmt: skip


def straight(program: Small, states: list[Any], rows: list[Any], others: list[Any]) -> Any:
    """The last states, and all values of the outputs, of the graph of all steps."""
    body, outputs = program.body(), [list[Any]() for _ in program.outputs]
    for step in range(program.steps):
        states, found = body(*(row[step] for row in rows), *states, *others)
        for collected, one in zip(outputs, found, strict=True):
            collected.append(one)
    return states, [T.stack(collected) for collected in outputs if collected]


def looped(
    program: Small, states: list[Any], rows: list[Any], others: list[Any], count: Any
) -> Any:
    """The same by a loop."""
    body = program.body()

    def step(i: Any, *now: Any) -> list[Any]:
        return body(*(row[i] for row in rows), *now, *others)[0]

    if program.form == "fori_loop":
        return list(symc.fori_loop(0, count, step, states)), []
    if program.form == "while_loop":
        first = T.constant(0, dtype="int64")
        _, *last = symc.while_loop(
            lambda i, *_: i < count, lambda i, *now: [i + 1, *step(i, *now)], [first, *states]
        )
        return list(last), []

    def row_by_row(*given: Any) -> list[Any]:
        new, outputs = body(*given)
        return [*new, *outputs]

    found, _ = symc.scan(
        row_by_row, sequences=rows, outputs_info=[*states, *[None] * len(program.outputs)],
        non_sequences=others, n_steps=count, return_list=True,
    )  # fmt: skip
    begun = zip(states, found, strict=False)
    last = [T.concatenate([begin[None], values])[-1] for begin, values in begun]
    return last, found[len(states) :] if program.steps else []


def asked(ends: list[Any], outputs: Sequence[Any], given: list[Any], weights: list[Any]) -> Any:
    """Values, and the slopes of a sum of their sines."""
    cost: Any = sum((T.sin(end) * weight).sum() for end, weight in zip(ends, weights, strict=True))
    cost = cost + sum(T.cos(output).sum() for output in outputs)
    return [*ends, *outputs, *symc.grad(cost, given, disconnected="zero")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "seed", [*range(24), *(pytest.param(n, marks=pytest.mark.slow) for n in range(24, 1000))]
)
def test_random_small_states(seed: int) -> None:
    draw = random.Random(seed)
    program = drawn(draw)
    normal = np.random.default_rng(seed).standard_normal
    names = [*program.states, *program.rows, *program.others]
    shapes = [
        (*((program.steps,) if name in program.rows else ()), *program.shape(name))
        for name in names
    ]
    values = [normal(shape) for shape in shapes]
    symbols = [
        T.tensor("float64", shape if program.known else (None,) * len(shape), name)
        for name, shape in zip(names, shapes, strict=True)
    ]
    weights = [normal(program.shape(name)) for name in program.states]
    cut = len(program.states), len(program.states) + len(program.rows)
    parts = [symbols[: cut[0]], symbols[cut[0] : cut[1]], symbols[cut[1] :]]
    ends, outputs = straight(program, parts[0], parts[1], parts[2])
    if program.form != "scan":
        outputs = []
    wanted: Any = symc.function(
        symbols, asked(ends, outputs, symbols, weights), mode="python", on_unused_input="ignore"
    )(*values)
    count: Any = T.lscalar("count") if program.counted else program.steps
    ends, outputs = looped(program, parts[0], parts[1], parts[2], count)
    inputs: list[Any] = [*symbols, *([count] if program.counted else [])]
    f = symc.function(
        inputs, asked(ends, outputs, symbols, weights), on_unused_input="ignore",
        mode=draw.choice(["default", "default", "compile"]),
    )  # fmt: skip
    for _ in range(2):
        got: Any = f(*values, *([program.steps] if program.counted else []))
        for one, right in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-7, atol=1e-8)
