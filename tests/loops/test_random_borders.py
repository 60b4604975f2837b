"""Random loops that sweep over the inside of a state and then set borders, by NumPy.

The sweep is written into the other of two arrays, computed beside, or written where it lies: which
one depends on lengths, on all writes of a step, and on what reads the old state after it.
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

Place = tuple[int | slice, ...]


@dataclass(frozen=True)
class Term:
    """What a place of a state reads, moved along an axis, times a number."""

    state: int
    place: Place
    factor: float
    old: bool  # of the state as the step finds it


@dataclass(frozen=True)
class Statement:
    """``state[place] = sum of the terms``, or ``+=``."""

    state: int
    place: Place
    terms: tuple[Term, ...]
    adds: bool


@dataclass(frozen=True)
class Program:
    """The steps of a loop over some states of so many axes."""

    ndim: int
    states: int
    statements: tuple[Statement, ...]
    stops: bool


def drawn(draw: random.Random) -> Program:
    ndim, states = draw.choice([1, 2, 2, 2, 3]), draw.choice([1, 1, 1, 2])
    statements: list[Statement] = []
    for number in range(draw.randint(1, 5)):
        state = draw.randrange(states)
        is_sweep = number == 0 or draw.random() < 0.2
        place = inside(draw, ndim) if is_sweep else border(draw, ndim)
        terms = [term(draw, place, states) for _ in range(draw.randint(0, 4 if is_sweep else 2))]
        statements.append(Statement(state, place, tuple(terms), draw.random() < 0.1))
    return Program(ndim, states, tuple(statements), draw.random() < 0.15)


def inside(draw: random.Random, ndim: int) -> Place:
    same = draw.random() < 0.6
    found = [draw.choice([(1, -1), (1, -1), (0, -1), (1, 0), (2, -1), (0, 0), (1, -2)])
             for _ in range(ndim)]  # fmt: skip
    return tuple(slice(1, -1) if same else slice(low, high or None) for low, high in found)


def border(draw: random.Random, ndim: int) -> Place:
    """A row, a column, a corner, or two rows; of most axes all or all but the ends."""
    axes = draw.sample(range(ndim), draw.choice([1, 1, 1, ndim]))
    whole = draw.choice([slice(None), slice(None), slice(1, -1)])
    place: list[int | slice] = [whole for _ in range(ndim)]
    for axis in axes:
        choices: list[int | slice] = [0, -1, 0, -1, 1, -2, slice(0, 2), slice(-2, None)]
        place[axis] = draw.choice(choices)
    return tuple(place)


def term(draw: random.Random, place: Place, states: int) -> Term:
    moved = list(place)
    axis, move = draw.randrange(len(place)), draw.choice([-1, 0, 1])
    match moved[axis]:
        case slice(start=None):
            pass
        case slice(start=int() as low, stop=high):
            end = high or 0
            if low + move >= 0 and end + move <= 0 and low >= 0 and end <= 0:
                moved[axis] = slice(low + move, (end + move) or None)
        case number:
            assert isinstance(number, int)
            if -2 <= number + move < 0 or (number >= 0 and number + move >= 0):
                moved[axis] = number + move
    return Term(
        draw.randrange(states), tuple(moved), draw.randint(-40, 40) / 100, draw.random() < 0.3
    )


def step(program: Program, states: Sequence[Any]) -> list[Any]:
    """The states behind one step, of tensors or of arrays."""
    now = list(states)
    for each in program.statements:
        value: Any = 0.5
        for one in each.terms:
            value = value + (states if one.old else now)[one.state][one.place] * one.factor
        now[each.state] = written(now[each.state], each.place, value, adds=each.adds)
    return now


def written(state: Any, place: Place, value: Any, *, adds: bool) -> Any:
    if isinstance(state, symc.Tensor):
        return state[place].inc(value) if adds else state[place].set(value)
    new = state.copy()
    new[place] = new[place] + value if adds else value
    return new


def in_numpy(program: Program, states: Sequence[Any], count: int) -> Sequence[Any]:
    for _ in range(count):
        states = step(program, states)
        if program.stops and abs(states[0]).sum() > LIMIT:
            break
    return states


LIMIT = 30.0
"""Loops that stop do so where the sum of the first state is above."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "seed", [*range(24), *(pytest.param(n, marks=pytest.mark.slow) for n in range(24, 800))]
)
def test_random_borders(seed: int) -> None:
    check(seed)


def check(seed: int) -> None:
    """Compares a loop with NumPy's, of lengths that are known or not, and in two dtypes."""
    draw = random.Random(seed)
    program, count = drawn(draw), draw.choice([0, 1, 3, 4, 5, 6, 9])
    count = max(count, 1) if program.stops else count  # the last of no rows is an error
    dtype = draw.choice(["float64", "float64", "float32"])
    sizes = tuple(draw.choice([3, 4, 5, 6, 9, 17]) for _ in range(program.ndim))
    normal = np.random.default_rng(seed).standard_normal
    arrays = [normal(sizes).astype(dtype) for _ in range(program.states)]
    shape = tuple(size if draw.random() < 0.3 else None for size in sizes)
    begin = [T.tensor(dtype, shape, f"state{k}") for k in range(program.states)]
    number = T.lscalar("number") if draw.random() < 0.6 else count
    if program.stops:
        result = until_large(program, begin, number)
    else:
        result = symc.fori_loop(0, number, lambda _, *now: step(program, now), begin)
    more = [begin[0] * 2] if draw.random() < 0.3 else []
    given = [*begin, *([number] if isinstance(number, symc.Tensor) else [])]
    f = symc.function(given, [*result, *more], on_unused_input="ignore")
    for lengths in [sizes, tuple(draw.choice([3, 4, 33]) if n is None else n for n in shape)]:
        arrays = [normal(lengths).astype(dtype) for _ in arrays]
        kept = [array.copy() for array in arrays]
        wanted = [*in_numpy(program, arrays, count), arrays[0] * 2]
        got = f(*arrays, *([count] if isinstance(number, symc.Tensor) else []))
        rtol, atol = (1e-9, 1e-11) if dtype == "float64" else (1e-3, 1e-3)
        for one, other in zip(got, wanted, strict=False):
            message = f"{program} {lengths}"
            np.testing.assert_allclose(one, other, rtol, atol, err_msg=message)
        for one, other in zip(arrays, kept, strict=True):
            np.testing.assert_array_equal(one, other)


def until_large(program: Program, begin: Sequence[Any], count: Any) -> list[Any]:
    def one(*now: Any) -> Any:
        new = step(program, now)
        return new, symc.until(T.abs(new[0]).sum() > LIMIT)

    rows, _ = symc.scan(one, outputs_info=list(begin), n_steps=count)
    return [row[-1] for row in (rows if isinstance(rows, list) else [rows])]
