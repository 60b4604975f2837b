"""States that are another's row of the step before: one ring of rows, and no copy in a step."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import repeated_kernels
from symc.codegen.ir import Store
from symc.codegen.passes.walk import statements

STEPS = 7

# New rows from a ring of old ones, the oldest first: each for symbolic and for NumPy's arrays.
Rule = Callable[[list[Any], Callable[[Any, Any, Any], Any]], Any]
INNER = slice(1, -1)
RULES: dict[str, Rule] = {
    "sum of all": lambda rows, put: sum(rows[1:], 0.5 * rows[0]),
    "in the oldest": lambda rows, put: put(rows[0], INNER, 0.3 * rows[-1][:-2] - rows[0][INNER]),
    "in the newest": lambda rows, put: put(rows[-1], INNER, 0.3 * rows[0][2:] + rows[0][INNER]),
    "in the newest, the oldest in that part": lambda rows, put: put(
        rows[-1], INNER, 0.3 * rows[-1][2:] + sum(row[INNER] for row in rows[:-1])
    ),
    "the oldest beside itself": lambda rows, put: put(rows[0], INNER, rows[0][2:] - rows[-1][:-2]),
    "turned round": lambda rows, put: 0.5 * rows[0][::-1] + rows[-1],
    "one row of it": lambda rows, put: put(rows[0], 2, 0.5 * rows[-1][1] + rows[0][0]),
    "twice": lambda rows, put: put(put(rows[0], INNER, rows[-1][2:]), slice(0, 1), rows[0][1:2]),
    "the oldest again": lambda rows, put: 1.0 * rows[0],
}


def _set(array: Any, at: Any, value: Any) -> Any:
    if isinstance(array, np.ndarray):
        new = array.copy()
        new[at] = value
        return new
    return array[at].set(value)


def _expected(rule: Rule, given: list[Any], steps: int) -> list[list[Any]]:
    """The rows of all steps, oldest first, with those that were given."""
    rows = list(given)
    for _ in range(steps):
        rows.append(rule(rows[-len(given) :], _set))
    return [rows[number : number + steps + 1] for number in range(len(given))]


def _arrays(count: int, seed: int) -> list[Any]:
    return list(np.random.default_rng(seed).normal(size=(count, 6, 4)))


def _step(rule: Rule, order: list[int]) -> Callable[..., list[Any]]:
    """The step, of states in a given order: `order` has for each how old it is."""

    def step(_: Any, *states: Any) -> list[Any]:
        rows = [states[order.index(age)] for age in range(len(order))]
        new = [*rows[1:], rule(rows, _set)]
        return [new[age] for age in order]

    return step


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_rows_of_earlier_steps(name: str, count: int) -> None:
    rng = random.Random(f"{name} {count}")
    order = rng.sample(range(count), count)
    given = _arrays(count, count)
    inputs = [T.matrix(f"x{number}") for number in range(count)]
    for steps in (0, 1, count, STEPS):
        expected = _expected(RULES[name], given, steps)
        states = symc.fori_loop(0, steps, _step(RULES[name], order), [inputs[age] for age in order])
        wanted = rng.sample(range(count), rng.randint(1, count))
        results = [states[order.index(age)] for age in wanted]
        f = symc.function(inputs, results, on_unused_input="ignore")
        for age, result in zip(wanted, f(*given), strict=True):
            np.testing.assert_allclose(result, expected[age][-1], rtol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_rows_of_all_steps(name: str) -> None:
    """Of one state all rows are wanted, of others the last ones, or none."""
    rng = random.Random(name)
    count = rng.randint(2, 3)
    order = rng.sample(range(count), count)
    given = _arrays(count, 1)
    inputs = [T.matrix(f"x{number}") for number in range(count)]
    n = T.scalar("n", dtype="int64")
    step = _step(RULES[name], order)
    rows, _ = symc.scan(
        lambda *states: step(None, *states), outputs_info=[inputs[age] for age in order], n_steps=n
    )
    for kept in range(count):
        wanted = [rows[order.index(age)] for age in range(count)]
        results = [row if age == kept else row[-1].sum() for age, row in enumerate(wanted)]
        f = symc.function([*inputs, n], results)
        for steps in (1, STEPS):
            expected = _expected(RULES[name], given, steps)
            for age, result in enumerate(f(*given, steps)):
                whole = np.array(expected[age][1:])
                want = whole if age == kept else whole[-1].sum()
                np.testing.assert_allclose(result, want, rtol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_derivatives(name: str) -> None:
    given = _arrays(2, 2)
    inputs = [T.matrix("old"), T.matrix("now")]
    states = symc.fori_loop(0, 4, _step(RULES[name], [0, 1]), inputs)
    cost = (states[1] ** 2).sum() + states[0][1].sum()
    f = symc.function(inputs, [cost, *symc.grad(cost, inputs)])
    value, *slopes = f(*given)
    direction = _arrays(2, 3)
    slope = sum(np.vdot(a, b) for a, b in zip(slopes, direction, strict=True))
    h = 1e-6
    ends = [
        f(*(x + sign * h * d for x, d in zip(given, direction, strict=True)))[0] for sign in (1, -1)
    ]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-7)
    assert np.isfinite(value)


def test_a_leapfrog_copies_nothing() -> None:
    """The wave equation: the new row is written over the oldest one, rows change places."""

    def step(_: Any, old: Any, now: Any) -> list[Any]:
        bend = now[:-2] + now[2:] - 2 * now[1:-1]
        return [now, old[1:-1].set(2 * now[1:-1] - old[1:-1] + 0.1 * bend)]

    old, now = T.vector("old"), T.vector("now")
    f = symc.function([old, now], symc.fori_loop(0, 20, step, [old, now])[1])
    loop = f.source[f.source.index("/* scan(") :]
    assert loop[: loop.index("symc_stops")].count("_kernel") == 1
    assert "copied" not in f.explain()


@pytest.mark.parametrize("steps", [0, 1, 2, 20])
def test_a_bug_a_leapfrog_that_sets_a_part_of_the_newest_row_copied_the_rest(steps: int) -> None:
    """The rest is the same in all steps; it took half as long as the part."""

    def step(_: Any, old: Any, now: Any) -> list[Any]:
        new = 0.5 * (now[:-2, 1:-1] + now[2:, 1:-1]) - old[1:-1, 1:-1]
        return [now, _set(now, (INNER, INNER), new)]

    old, now, n = T.matrix("old"), T.matrix("now"), T.lscalar("n")
    f = symc.function([old, now, n], symc.fori_loop(0, n, step, [old, now])[1])
    program = f.runner.compilation().optimised
    repeated = [k for k in program.kernels if k.name in repeated_kernels(program)]
    assert [sum(isinstance(s, Store) for s in statements(k.body)) for k in repeated] == [1]
    a, b = given = _arrays(2, 5)
    for _ in range(steps):
        a, b = step(None, a, b)
    np.testing.assert_allclose(f(*given, steps), b, rtol=1e-12)
    with pytest.raises(symc.errors.SymcError, match="length"):
        f(given[0][:-1], given[1], steps)


def test_numbers_that_are_others_of_the_step_before_stay_in_registers() -> None:
    f = symc.function([], symc.fori_loop(0, 50, lambda _, a, b: [b, a + b], [0, 1])[0])
    assert f() == 12586269025
    assert "% 2" not in f.source


def test_states_that_only_change_places() -> None:
    x, y = T.vector("x"), T.vector("y")
    f = symc.function([x, y], symc.fori_loop(0, 5, lambda _, a, b: [b, a], [x, y]))
    given = np.arange(3.0), np.arange(4.0, 7.0)
    np.testing.assert_array_equal(f(*given), given[::-1])


def test_rows_of_other_lengths_are_refused() -> None:
    x, y = T.vector("x"), T.vector("y")
    f = symc.function([x, y], symc.fori_loop(0, 5, lambda _, a, b: [b, 0.5 * b], [x, y])[1])
    with pytest.raises(symc.errors.SymcError, match="length"):
        f(np.ones(3), np.ones(4))


def test_shared_variables_that_are_others_of_the_step_before() -> None:
    old, now = symc.shared(np.ones((3, 4)), "old"), symc.shared(np.full((3, 4), 2.0), "now")
    states = symc.fori_loop(0, 3, lambda _, a, b: [b, 0.5 * a + b], [old, now])
    f = symc.function([], [], updates={old: states[0], now: states[1]})
    a, b = np.ones((3, 4)), np.full((3, 4), 2.0)
    for _ in range(2):
        f()
        for _ in range(3):
            a, b = b, 0.5 * a + b
        np.testing.assert_allclose(old.get_value(), a)
        np.testing.assert_allclose(now.get_value(), b)
