"""What all steps of a loop ask of arrays that it does not change is asked once (`unvarying.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Check, Repeat
from symc.errors import BadIndex

X, AT, N = T.dvector("x"), T.lvector("at"), T.lscalar("n")
RNG = np.random.default_rng(0)


def checks_in_loops(f: Any) -> int:
    steps = f.runner.compilation().optimised.steps
    repeats = [step for step in every_step(steps) if isinstance(step, Repeat)]
    return sum(isinstance(step, Check) for step in every_step(repeats))


def test_places_are_looked_at_once() -> None:
    """A page rank spent an eighth of its time on them."""
    f = symc.function([X, AT, N], symc.fori_loop(0, N, lambda _, x: x + 0.001 * x[AT].sum(), X))
    assert checks_in_loops(f) == 0
    x, at = RNG.normal(size=9), RNG.integers(-9, 9, 50)
    for steps in (0, 1, 3):
        wanted = x
        for _ in range(steps):
            wanted = wanted + 0.001 * wanted[at].sum()
        np.testing.assert_allclose(f(x, at, steps), wanted)


@pytest.mark.parametrize("bad", [9, -10, 2**62])
def test_errors_are_those_of_the_first_step(bad: int) -> None:
    f = symc.function([X, AT, N], symc.fori_loop(0, N, lambda _, x: x + x[AT].sum(), X))
    at = np.array([0, bad, 1])
    np.testing.assert_array_equal(f(np.ones(9), at, 0), np.ones(9))
    with pytest.raises(BadIndex, match=f"index {bad} is out of bounds"):
        f(np.ones(9), at, 2)


def test_an_earlier_error_of_a_step_comes_first() -> None:
    other = T.lvector("other")

    def step(i: Any, x: Any) -> Any:
        return x[other[i]].inc(1.0) + x[AT].sum()

    f = symc.function([X, AT, other, N], symc.fori_loop(0, N, step, X))
    plain = symc.function([X, AT, other, N], symc.fori_loop(0, N, step, X), mode="python")
    x, good = np.ones(4), np.array([0, 3])
    for at, places in ((good, good), (good + 4, good), (good, good + 4), (good + 4, good + 8)):
        for steps in (0, 1, 2):
            said = []
            for each in (f, plain):
                try:
                    said.append(each(x, at, places, steps).tolist())
                except BadIndex as problem:
                    said.append(str(problem).split("\n")[0])
            assert said[0] == said[1]


def test_loops_in_loops_ask_once() -> None:
    def row(i: Any, x: Any) -> Any:
        return symc.fori_loop(0, N, lambda _, x: x * 0.5 + x[AT].sum(), x + i)

    f = symc.function([X, AT, N], symc.fori_loop(0, 3, row, X))
    assert checks_in_loops(f) == 0
    x, at = RNG.normal(size=5), RNG.integers(-5, 5, 7)
    for steps in (0, 2):
        wanted = x
        for i in range(3):
            wanted = wanted + i
            for _ in range(steps):
                wanted = wanted * 0.5 + wanted[at].sum()
        np.testing.assert_allclose(f(x, at, steps), wanted)
    np.testing.assert_allclose(f(x, at + 5, 0), x + 3)
    with pytest.raises(BadIndex):
        f(x, at + 5, 1)


def test_places_that_steps_change_are_looked_at_in_each() -> None:
    def step(i: Any, x: Any, at: Any) -> Any:
        return x + x[at].sum(), at + 1

    f = symc.function([X, AT, N], symc.fori_loop(0, N, step, [X, AT])[0])
    assert checks_in_loops(f) > 0
    with pytest.raises(BadIndex, match="index 3 is out of bounds"):
        f(np.ones(3), np.array([0, 1]), 3)
    assert f(np.ones(3), np.array([0, 1]), 2).shape == (3,)


def test_places_in_the_row_of_a_step() -> None:
    rows = T.lmatrix("rows")
    f = symc.function([X, rows], symc.scan(lambda at, x: x + x[at].sum(), rows, X)[0][-1])
    assert checks_in_loops(f) > 0
    np.testing.assert_array_equal(f(np.ones(2), np.array([[0, 1], [1, 1]])), [9.0, 9.0])
    with pytest.raises(BadIndex, match="index 2"):
        f(np.ones(2), np.array([[0, 1], [1, 2]]))


def test_places_in_a_state_of_two_arrays() -> None:
    """Each step reads the places that the step before has made."""

    def step(i: Any, at: Any) -> Any:
        return T.concatenate([at[1:], at[:1]]) + AT[at]

    f = symc.function([AT, N], symc.fori_loop(0, N, step, AT))
    assert checks_in_loops(f) > 0
    wanted = at = np.array([0, 1, 0])
    for _ in range(2):
        wanted = np.roll(wanted, -1) + at[wanted]
    np.testing.assert_array_equal(f(at, 2), wanted)
    with pytest.raises(BadIndex):
        f(at, 9)


def test_shared_variables_stay_as_they_were() -> None:
    state = symc.shared(np.ones(4), "state")
    new = symc.fori_loop(0, N, lambda _, x: x + x[AT].sum(), state)
    f = symc.function([AT, N], [], updates=[(state, new)])
    with pytest.raises(BadIndex):
        f(np.array([0, 4]), 2)
    np.testing.assert_array_equal(state.get_value(), np.ones(4))
    f(np.array([0, 3]), 2)
    np.testing.assert_array_equal(state.get_value(), np.full(4, 9.0))


def test_what_is_read_at_places_stays_behind_their_check() -> None:
    """Whether ``at[at]`` lies in `x` can be asked only if `at` lies in itself."""
    f = symc.function([X, AT, N], symc.fori_loop(0, N, lambda _, x: x + x[AT[AT]].sum(), X))
    for bad in ([0, 2], [0, 10**9], [-(10**9), 0]):
        with pytest.raises(BadIndex):
            f(np.ones(2), np.array(bad), 1)
    np.testing.assert_array_equal(f(np.ones(2), np.array([0, 1]), 1), [3.0, 3.0])


def test_of_a_while_loop() -> None:
    grown = symc.while_loop(lambda x: x.sum() < 100.0, lambda x: x + x[AT].sum(), [X])
    f = symc.function([X, AT], grown[0])
    given = np.ones(3)
    np.testing.assert_array_equal(f(given, np.array([0, 1])), np.full(3, 81.0))
    np.testing.assert_array_equal(f(given * 50, np.array([0, 7])), given * 50)
    with pytest.raises(BadIndex, match="index 7"):
        f(given, np.array([0, 7]))
