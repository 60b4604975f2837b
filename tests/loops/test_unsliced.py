"""Sequences that are parts of arrays are read where the arrays have them (`loops/unsliced.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex, LoopError, ShapeMismatch

X = T.matrix("x")
PARTS = [
    slice(1, None), slice(2, None), slice(None, -1), slice(1, -2), slice(None, 3), slice(-4, None),
    slice(None, None, 2), slice(4, 1), slice(0, None), slice(-2, 5), slice(None, None, -1),
    slice(-2, None, -1),
]  # fmt: skip


def rows(part: Any, start: Any, backwards: bool) -> list[np.ndarray[Any, Any]]:
    """The state after each step."""
    found, state = [], start
    for row in part[::-1] if backwards else part:
        state = np.maximum(state * 0.5, row)
        found.append(state)
    return found


@pytest.mark.sampled(3)
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
    whole = ((X[1:], False), (X[:-1], False), (X[:-2], True), (X[3:], True), (X[::-1], False))
    for part, backwards in whole:
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


# --- rows that steps choose -----------------------------------------------------------------------

N = T.lscalar("n")
Change = Callable[[Any], Any]
CHOSEN: dict[str, tuple[Change, Change]] = {
    "a part": (lambda x: x[1:-1, 2:], lambda x: x[1:-1, 2:]),
    "every other row": (lambda x: x[::2], lambda x: x[::2]),
    "reversed": (lambda x: x[::-1, 1:], lambda x: x[::-1, 1:]),
    "a promise": (lambda x: T.specify_shape(x, (None, 6)), lambda x: x),
    "another shape": (lambda x: x.reshape((-1, 3)), lambda x: x.reshape(-1, 3)),
}


def chosen_rows(y: Any) -> Any:
    """The rows of an array, the last one first, with half of the sum of those before."""
    last = y.shape[0] - 1
    return symc.fori_loop(0, last + 1, lambda i, s: s * 0.5 + y[last - i], T.zeros_like(y[0]))


def chosen_elements(y: Any) -> Any:
    def row(i: Any, s: Any) -> Any:
        return symc.fori_loop(0, y.shape[1], lambda j, s: s * 0.5 + y[i, j], s)

    return symc.fori_loop(0, y.shape[0], row, T.constant(0.0))


def while_small(y: Any) -> Any:
    return symc.while_loop(
        lambda i, s: (i < y.shape[0]) & (s < 1e9),
        lambda i, s: (i + 1, s * 0.5 + y[i].sum()),
        [T.constant(0), T.constant(0.0)],
    )[1]


def halved(terms: Iterable[Any]) -> Any:
    total: Any = 0.0
    for term in terms:
        total = total * 0.5 + term
    return total


LOOPS: dict[str, tuple[Change, Change]] = {
    "rows": (chosen_rows, lambda y: halved(y[::-1])),
    "elements": (chosen_elements, lambda y: halved(y.ravel())),
    "while": (while_small, lambda y: halved(y.sum(1))),
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", CHOSEN)
def test_rows_of_an_array_are_read_where_they_lie(name: str, loop: str) -> None:
    """Of the same array under another shape, or of a part, a copy was made: three times as long."""
    (change, in_numpy), (over, wanted) = CHOSEN[name], LOOPS[loop]
    out = over(change(X))
    f = symc.function([X], out)
    slope = symc.function([X], symc.grad(T.sum(out), X))
    plain = symc.function([X], symc.grad(T.sum(out), X), mode="python")
    for length in (3, 4, 7):
        given = np.random.default_rng(length).normal(size=(length, 6))
        found: Any = f(given)
        np.testing.assert_allclose(found, wanted(in_numpy(given)), rtol=1e-12)
        np.testing.assert_allclose(slope(given), plain(given), rtol=1e-12)
    assert not re.search(r"temp .*\[(n|x)_\d, \w+\]", f.program), f.program


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize("name", ["a promise", "another shape"])
def test_a_shape_that_does_not_fit_is_an_error_of_the_first_step(name: str, mode: str) -> None:
    y = CHOSEN[name][0](X)
    out = symc.fori_loop(0, N, lambda i, s: s + y[i].sum(), T.constant(0.0))
    f = symc.function([X, N], out, mode=mode)
    assert f(np.ones((4, 5)), 0) == 0
    with pytest.raises(ShapeMismatch):
        f(np.ones((4, 5)), 1)
    assert f(np.ones((4, 6)), 2) in (6, 12)
    with pytest.raises(BadIndex):
        f(np.ones((4, 6)), 9)


def test_a_state_and_a_part_of_it_as_it_was() -> None:
    """The steps read the rows as they were before the first one, and write into the same array."""
    y = X[1:]
    final = symc.fori_loop(0, X.shape[0] - 1, lambda i, x: x[i + 1].set(x[i] + y[i]), X)
    given = np.random.default_rng(0).normal(size=(5, 3))
    wanted = given.copy()
    for i in range(4):
        wanted[i + 1] = wanted[i] + given[i + 1]
    f = symc.function([symc.In(X, mutable=True)], final)
    np.testing.assert_allclose(f(given.copy()), wanted)
    kept = symc.shared(given.copy(), "kept")
    part = kept[1:]
    update = symc.fori_loop(0, 4, lambda i, x: x[i + 1].set(x[i] + part[i]), kept)
    symc.function([], [], updates=[(kept, update)])()
    np.testing.assert_allclose(np.asarray(kept.get_value()), wanted)
