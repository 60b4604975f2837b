"""Sequences that are parts of arrays are read where the arrays have them (`loops/unsliced.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import LoopError

X = T.matrix("x")
PARTS = [
    slice(1, None), slice(2, None), slice(None, -1), slice(1, -2), slice(None, 3), slice(-4, None),
    slice(None, None, 2), slice(4, 1), slice(0, None), slice(-2, 5),
]  # fmt: skip


def rows(part: Any, start: Any, backwards: bool) -> list[np.ndarray[Any, Any]]:
    """The state after each step."""
    found, state = [], start
    for row in part[::-1] if backwards else part:
        state = np.maximum(state * 0.5, row)
        found.append(state)
    return found


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("part", PARTS, ids=str)
def test_rows_of_a_part(part: slice, backwards: bool) -> None:
    ys, _ = symc.scan(
        lambda row, state: T.maximum(state * 0.5, row), X[part], T.zeros_like(X[0]),
        go_backwards=backwards,
    )  # fmt: skip
    f = symc.function([X], ys)
    slope = symc.function([X], symc.grad((ys * T.arange(3.0)).sum(), X))
    plain = symc.function([X], symc.grad((ys * T.arange(3.0)).sum(), X), mode="python")
    for length in (1, 2, 3, 4, 5, 9):
        given = np.random.default_rng(length).normal(size=(length, 3))
        wanted = rows(given[part], np.zeros(3), backwards)
        np.testing.assert_array_equal(f(given), np.reshape(wanted, (-1, 3)))
        np.testing.assert_allclose(slope(given), plain(given))


def test_a_part_is_not_copied() -> None:
    """It took more than twice as long as the loop."""
    step = lambda row, state: T.maximum(state * 0.5, row)  # noqa: E731
    for part, backwards in ((X[1:], False), (X[:-1], False), (X[:-2], True), (X[3:], True)):
        final = symc.scan(step, part, X[0], go_backwards=backwards)[0][-1]
        program = symc.function([X], final).program
        assert "temp" not in program, program


def test_several_rows_of_parts() -> None:
    given = np.random.default_rng(0).normal(size=(7, 2))
    ys, _ = symc.scan(
        lambda a, b, c, s: s + a * b - c,
        [{"input": X[1:], "taps": [0, 1]}, X[:-2]], T.zeros_like(X[0]),
    )  # fmt: skip
    state, wanted = np.zeros(2), []
    for t in range(5):
        state = state + given[1 + t] * given[2 + t] - given[t]
        wanted.append(state)
    np.testing.assert_allclose(symc.function([X], ys)(given), wanted)


def test_too_few_rows_of_a_part_are_an_error_as_before() -> None:
    n = T.lscalar("n")
    f = symc.function(
        [X, n], symc.scan(lambda r, s: r + s, X[2:], T.zeros_like(X[0]), n_steps=n)[0]
    )
    given = np.ones((5, 2))
    assert f(given, 3).shape == (3, 2)
    with pytest.raises(LoopError, match="4 steps, but a sequence has rows for 3"):
        f(given, 4)


def test_a_shared_variable_that_steps_change_is_read_as_it_was() -> None:
    state = symc.shared(np.arange(6.0), "state")

    def step(x: Any, s: Any) -> Any:
        return s[1:].set(s[:-1] + x)

    (final,) = (symc.scan(step, state[1:], state)[0][-1],)
    f = symc.function([], [], updates=[(state, final)])
    f()
    wanted = np.arange(6.0)
    for x in np.arange(6.0)[1:]:
        before = wanted.copy()
        wanted[1:] = before[:-1] + x
    np.testing.assert_array_equal(state.get_value(), wanted)
