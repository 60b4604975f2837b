"""Random loops whose steps write parts of some states from others and from themselves, by NumPy.

States lie in place, in two arrays in turn or in arrays that are copied: which one depends on all
writes of a step together, and on what reads what they overwrite.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T


@dataclass(frozen=True)
class Term:
    """A part of a state, moved along an axis, times a number."""

    state: int
    axis: int
    move: int
    factor: float
    old: bool  # of the state as the step finds it


@dataclass(frozen=True)
class Statement:
    """``state[low : high or end] = sum of the terms``, or ``+=``, along all axes."""

    state: int
    low: int
    high: int  # from the end on
    terms: tuple[Term, ...]
    adds: bool


@dataclass(frozen=True)
class Program:
    """A step: its statements, and in which order the states are handed on."""

    ndim: int
    states: int
    statements: tuple[Statement, ...]
    order: tuple[int, ...]


def drawn(draw: random.Random) -> Program:
    ndim, states = draw.choice([1, 1, 2]), draw.choice([1, 1, 2, 2, 3])
    statements: list[Statement] = []
    for _ in range(draw.randint(1, 4)):
        low, high = draw.choice([(1, -1), (1, 0), (0, -1), (2, -1), (1, -2), (0, 0)])
        terms: list[Term] = []
        for _ in range(draw.randint(1, 3)):
            move = draw.choice([-1, 0, 1])
            move = move if low + move >= 0 and high + move <= 0 else 0
            factor, old = draw.randint(-40, 40) / 100, draw.random() < 0.3
            terms.append(Term(draw.randrange(states), draw.randrange(ndim), move, factor, old))
        adds = draw.random() < 0.25
        statements.append(Statement(draw.randrange(states), low, high, tuple(terms), adds))
    order = list(range(states))
    if draw.random() < 0.25:
        draw.shuffle(order)
    return Program(ndim, states, tuple(statements), tuple(order))


def step(program: Program, states: Sequence[Any]) -> list[Any]:
    """The states behind one step, of tensors or of arrays."""
    now = list(states)
    for each in program.statements:
        whole = slice(each.low, each.high or None)
        value = 0.0
        for term in each.terms:
            place = [whole] * program.ndim
            place[term.axis] = slice(each.low + term.move, (each.high + term.move) or None)
            value = value + (states if term.old else now)[term.state][tuple(place)] * term.factor
        now[each.state] = written(now[each.state], (whole,) * program.ndim, value, each.adds)
    return [now[number] for number in program.order]


def written(state: Any, place: tuple[slice, ...], value: Any, adds: bool) -> Any:
    if isinstance(state, symc.Tensor):
        return state[place].inc(value) if adds else state[place].set(value)
    new = state.copy()
    new[place] = new[place] + value if adds else value
    return new


@pytest.mark.parametrize(
    "seed", [*range(24), *(pytest.param(n, marks=pytest.mark.slow) for n in range(24, 600))]
)
def test_random_stencils(seed: int) -> None:
    draw = random.Random(seed)
    program, count, size = drawn(draw), draw.choice([0, 1, 2, 3, 5, 6, 7]), draw.choice([5, 6, 9])
    normal = np.random.default_rng(seed).standard_normal
    arrays = [normal((size,) * program.ndim) for _ in range(program.states)]
    wanted = arrays
    for _ in range(count):
        wanted = step(program, wanted)

    shape = (size if draw.random() < 0.4 else None,) * program.ndim
    begin = [T.tensor("float64", shape, f"state{k}") for k in range(program.states)]
    number = T.lscalar("number") if draw.random() < 0.6 else count
    result = symc.fori_loop(0, number, lambda _, *now: step(program, now), begin)
    more = [begin[0] * 2] if draw.random() < 0.4 else []
    f = symc.function(
        [*begin, *([number] if isinstance(number, symc.Tensor) else [])], [*result, *more],
        on_unused_input="ignore",
    )  # fmt: skip
    given = [array.copy() for array in arrays]
    for _ in range(2):
        got = f(*given, *([count] if isinstance(number, symc.Tensor) else []))
        for one, other in zip(got, [*wanted, arrays[0] * 2], strict=False):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=str(program))
    for one, other in zip(given, arrays, strict=True):
        np.testing.assert_array_equal(one, other)
