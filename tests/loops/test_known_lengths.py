"""Lengths that are known where a body is written are known inside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T


@pytest.mark.parametrize("mode", ["python", "default"])
def test_gradients_of_loops_in_loops_whose_last_row_is_taken(mode: str) -> None:
    """All states of the inner loop are ``max(k, 0) + 1`` rows, so that there is a first one."""
    x, s, k = T.scalar("x"), T.scalar("s"), T.lscalar("k")

    def inner(i: Any, state: Any) -> Any:
        rows, _ = symc.scan(lambda _, s: T.sin(s) * x, T.arange(k), state)
        return T.concatenate([state[None], rows])[-1]

    last = symc.fori_loop(0, 3, inner, s)
    f = symc.function([x, s, k], symc.grad(last, [x, s]), mode=mode)

    def value(x: float, s: float, k: int) -> float:
        for _ in range(3 * k):
            s = float(np.sin(s)) * x
        return s

    for count in (0, 1, 2):
        by_x, by_s = f(1.1, 0.3, count)
        step = 1e-6
        at = (value(1.1 + step, 0.3, count) - value(1.1 - step, 0.3, count)) / (2 * step)
        assert np.isclose(by_x, at, atol=1e-8)
        at = (value(1.1, 0.3 + step, count) - value(1.1, 0.3 - step, count)) / (2 * step)
        assert np.isclose(by_s, at, atol=1e-8)


@pytest.mark.parametrize("mode", ["python", "default"])
def test_the_first_row_of_what_is_not_empty_broadcasts_in_a_branch(mode: str) -> None:
    k, y, m = T.lscalar("k"), T.matrix("y"), T.matrix("m")
    rows = T.concatenate([m[0][None], T.zeros((T.maximum(k, 0), 2))])
    chosen = symc.ifelse(y[0, 0] > 0, rows.cumsum(axis=0)[:1] * y, y)
    f = symc.function([k, y, m], [chosen, symc.grad(chosen.sum(), y)], mode=mode)
    given = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    value, slope = f(2, given, [[2.0, 3.0]])
    np.testing.assert_array_equal(value, given * [2.0, 3.0])
    np.testing.assert_array_equal(slope, np.ones((3, 2)) * [2.0, 3.0])


def test_steps_of_a_loop_that_a_condition_on_other_loops_comes_from() -> None:
    """The condition is rewritten as a length, and its loops had steps that nobody measured."""
    x, b, z = T.vectors("x", "b", "z")
    k, s = T.lscalar("k"), T.scalar("s")

    def stays(z: Any) -> Any:
        return symc.ifelse(s, symc.fori_loop(-1, k, lambda i, z: z + 0, z), z)

    some = T.neq(symc.fori_loop(1, k, lambda i, z: stays(z), z).sum(), 0)

    def chosen(q: Any) -> Any:
        return symc.while_loop(lambda i, q: some, lambda i, q: [i + 1, x], [0, q], max_steps=1)[1]

    q = symc.fori_loop(-1, 2, lambda i, q: chosen(q), x)
    total = symc.ifelse(q.sum(), symc.fori_loop(0, k, lambda i, b: b + 1, b), b)
    f = symc.function([x, b, z, k, s], total)
    assert f([1.0], [1.0, 2.0], [1.0], 2, 1.0).tolist() == [3, 4]
    assert f([0.0], [0.0, 0.0], [1.0], 2, 0.0).tolist() == [0, 0]


def test_a_length_from_constants_that_the_program_measures_and_a_loop_in_a_branch_needs() -> None:
    """It was measured nowhere in the branch: a length without a variable did not compile."""
    v, x, k = T.vector("v"), T.vector("x"), T.lvector("k")

    def step(i: Any, v: Any, x: Any) -> Any:
        r = symc.scan(lambda j, v: v[k[j]].inc(1.0), T.arange(3 - i), v)[0][-1]
        return symc.ifelse(k.sum() > 0, r, v), x[:i].inc(1.0)

    (r, q), _ = symc.scan(step, T.arange(1), [v, x])
    f = symc.function([v, x, k], [r[-1], q[-1]])
    counts, same = f(np.zeros(4), np.zeros(2), [0, 1, 1])
    assert counts.tolist() == [1, 2, 0, 0]
    assert same.tolist() == [0, 0]


def test_a_number_of_steps_from_constants_that_is_found_in_a_loop() -> None:
    """No step of the outer loop but the first: the inner one's steps follow from its number."""
    x, k = T.vector("x"), T.lvector("k")

    def outer(i: Any, s: Any) -> Any:
        some = symc.fori_loop(0, T.where(T.lt(i, k[0]), 1, 0), lambda j, s: s + x[k[j]], s)
        none = symc.fori_loop(0, T.where(T.lt(i, i), 1, 0), lambda j, s: s + x[k[j] + 100], some)
        return symc.ifelse(k.sum() > 3, none, some * 2)

    f = symc.function([x, k], symc.fori_loop(0, 1, outer, x[0]))
    assert f([1.0, 2.0, 4.0], [2, 2]) == 5
    assert f([1.0, 2.0, 4.0], [1, 1]) == 6
    assert f([1.0, 2.0, 4.0], [0, 1]) == 2
