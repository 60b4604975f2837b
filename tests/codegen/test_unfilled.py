"""Arrays that loops overwrite before anything reads them are not filled before; others are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Launch, Routine

X = T.vector("x")
GIVEN = np.random.default_rng(2).random(9)


def fills(f: Any) -> int:
    """How many kernels compute nothing but zeros."""
    steps = every_step(f.runner.compilation().optimised.steps)
    return sum(isinstance(s, Launch) and s.kernel.startswith("broadcastto") for s in steps)


def copies(f: Any) -> list[Any]:
    steps = every_step(f.runner.compilation().optimised.steps)
    return [s.args[2] for s in steps if isinstance(s, Routine) and s.name == "copy_bytes"]


def steps_of_numbers(i: Any) -> Any:
    """Something that stays a loop of steps."""
    return symc.while_loop(lambda k, v: v < 4.0, lambda k, v: [k + 1, v * 2.0 + X[i]], [0, X[i]])[1]


def numbers(n: int) -> list[float]:
    found = []
    for i in range(n):
        value = float(GIVEN[i])
        while value < 4.0:
            value = value * 2.0 + GIVEN[i]
        found.append(value)
    return found


def test_an_array_of_which_each_step_sets_an_element() -> None:
    f = symc.function(
        [X],
        symc.fori_loop(0, X.shape[0], lambda i, y: y[i].set(steps_of_numbers(i)), T.zeros_like(X)),
    )
    assert fills(f) == 0
    np.testing.assert_allclose(f(GIVEN), numbers(9))
    assert f([]).tolist() == []


@pytest.mark.parametrize(("first", "last"), [(1, 0), (0, -1), (2, -3)])
def test_elements_that_no_step_sets_stay_zeros(first: int, last: int) -> None:
    f = symc.function(
        [X],
        symc.fori_loop(
            first, X.shape[0] + last, lambda i, y: y[i].set(steps_of_numbers(i)), T.zeros_like(X)
        ),
    )
    assert fills(f) == 1
    wanted = np.zeros(9)
    wanted[first : 9 + last] = numbers(9)[first : 9 + last]
    np.testing.assert_allclose(f(GIVEN), wanted)
    assert f(GIVEN[:1] * 8).tolist() == ([8 * GIVEN[0]] if first == last == 0 else [0.0])


def test_an_array_that_steps_add_to_is_filled() -> None:
    f = symc.function(
        [X],
        symc.fori_loop(0, X.shape[0], lambda i, y: y[i].inc(steps_of_numbers(i)), T.zeros_like(X)),
    )
    assert fills(f) == 1
    np.testing.assert_allclose(f(GIVEN), numbers(9))


def test_an_array_whose_later_elements_steps_read_is_filled() -> None:
    def step(i: Any, y: Any) -> Any:
        return y[i].set(steps_of_numbers(i) + y[T.minimum(i + 1, X.shape[0] - 1)])

    f = symc.function([X], symc.fori_loop(0, X.shape[0], step, T.zeros_like(X)))
    assert fills(f) == 1
    np.testing.assert_allclose(f(GIVEN), numbers(9))


def test_an_array_of_which_only_some_steps_set_elements_is_filled() -> None:
    def step(i: Any, y: Any) -> Any:
        return symc.ifelse(X[i] > 0.5, y[i].set(steps_of_numbers(i)), y)

    f = symc.function([X], symc.fori_loop(0, X.shape[0], step, T.zeros_like(X)))
    np.testing.assert_allclose(f(GIVEN), np.where(GIVEN > 0.5, numbers(9), 0.0))


def test_rows_begin_with_the_elements_that_steps_read_first() -> None:
    """The longest common subsequence: each row was copied from zeros, and then overwritten."""
    a, b = T.lvector("a"), T.lvector("b")

    def row(i: Any, before: Any) -> Any:
        def cell(j: Any, now: Any) -> Any:
            longer = T.where(T.eq(a[i], b[j]), before[j] + 1, T.maximum(before[j + 1], now[j]))
            return now[j + 1].set(longer)

        return symc.fori_loop(0, b.shape[0], cell, T.ones_like(before) * 2)

    first = T.ones(b.shape[0] + 1, "int64") * 2
    f = symc.function([a, b], symc.fori_loop(0, a.shape[0], row, first))
    assert 8 in [getattr(count, "value", None) for count in copies(f)]
    one, other = (np.random.default_rng(k).integers(0, 3, 11 + k) for k in range(2))
    before = np.full(len(other) + 1, 2)
    for i in one:
        now = np.full(len(other) + 1, 2)
        for j, letter in enumerate(other):
            now[j + 1] = before[j] + 1 if i == letter else max(before[j + 1], now[j])
        before = now
    assert f(one, other).tolist() == before.tolist()
    assert f(one, []).tolist() == [2]
    assert f([], other).tolist() == [2] * (len(other) + 1)


def test_a_matrix_whose_elements_loops_set() -> None:
    x = T.matrix("x")

    def row(i: Any, out: Any) -> Any:
        return symc.fori_loop(
            0, x.shape[1], lambda j, out: out[i, j].set(T.max(x[i, : j + 1])), out
        )

    f = symc.function([x], symc.fori_loop(0, x.shape[0], row, T.zeros_like(x)))
    given = np.random.default_rng(0).random((4, 6))
    np.testing.assert_array_equal(f(given), np.maximum.accumulate(given, 1))
