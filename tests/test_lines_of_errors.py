"""Errors of calls name the user's line: where the operation stands, not only its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph import conditions

INPUTS = T.vector("x"), T.vector("y"), T.matrix("m")
ARGUMENTS = np.ones(3), np.ones(2), np.ones((4, 5))

WRONG: dict[str, Callable[..., Any]] = {
    "add": lambda x, y, m: x + y,
    "product": lambda x, y, m: m @ x,
    "where": lambda x, y, m: T.where(x > 0, x, y[:2]),
    "concatenate": lambda x, y, m: T.concatenate([m, m.T]),
    "reshape": lambda x, y, m: x.reshape((2, 2)),
    "set": lambda x, y, m: m[1:].set(m[2:]),
    "ifelse": lambda x, y, m: symc.ifelse(x[0] > 0, x, y),
    "in a loop": lambda x, y, m: symc.scan(lambda row, state: state + row, m, x)[0],
    "solve": lambda x, y, m: T.linalg.solve(m, x),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("mode", ["python", "default"])
def test_lengths_that_differ_in_a_call_name_the_line_of_the_operation(name: str, mode: str) -> None:
    made = WRONG[name]
    line = made.__code__.co_firstlineno
    f = symc.function(INPUTS, made(*INPUTS), mode=mode, on_unused_input="ignore")
    with pytest.raises(symc.errors.ShapeMismatch, match=rf"test_lines_of_errors\.py:{line}(\n|$)"):
        f(*ARGUMENTS)


def test_an_update_that_changes_lengths_says_how_to_declare_them() -> None:
    w, x = symc.shared(np.zeros(0), name="w"), T.vector("x")
    f = symc.function([x], updates=[(w, T.concatenate([w, x]))])
    with pytest.raises(symc.errors.ShapeMismatch, match=r"shape=\(None, \.\.\.\)"):
        f([1.0])


def test_a_late_step_is_not_looked_for_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that was wrong after a million steps was explained for two minutes."""
    state, places = T.vector("state"), T.lvector("places")
    last = symc.fori_loop(0, places.shape[0], lambda i, s: s[places[i]].inc(1.0), state)
    f = symc.function([state, places], last)
    wrong = np.array([0, 1, 2, 9])
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with length 3"):
        f(np.zeros(3), wrong)
    monkeypatch.setattr(conditions, "PATIENCE", -1.0)
    with pytest.raises(IndexError, match="late step of a loop") as caught:
        f(np.zeros(3), wrong)
    assert "test_lines_of_errors.py:" in str(caught.value)


@pytest.mark.parametrize("mode", ["python", "default"])
def test_an_error_in_a_loop_names_the_loop_although_another_reads_the_same(mode: str) -> None:
    """``A[i + 1]`` of two loops is one node: the error of the second named only the first."""
    table = T.matrix("table")

    def twice(i: Any, table: Any) -> Any:
        return table[i, 0].set(2 * table[i + 1, 0])

    def thrice(i: Any, table: Any) -> Any:
        return table[i, 0].set(3 * table[i + 1, 0])

    loops = [
        symc.fori_loop(0, table.shape[0], twice, table),
        symc.fori_loop(0, table.shape[0], thrice, table),
    ]
    lines = [loop.where.line for loop in loops]
    assert lines[0] != lines[1]
    for loop, line in zip(loops, lines, strict=True):
        f = symc.function([table], loop, mode=mode)
        with pytest.raises(IndexError, match=rf"in     test_lines_of_errors\.py:{line}(\n|$)"):
            f(np.zeros((3, 3)))


def test_an_error_in_a_branch_within_a_loop_names_both() -> None:
    x = T.vector("x")
    chosen, _ = symc.scan(
        lambda k: symc.ifelse(k > 0, x[k], x[0] + 1),
        sequences=T.arange(5),
    )
    f = symc.function([x], chosen)
    branch = test_an_error_in_a_branch_within_a_loop_names_both.__code__.co_firstlineno + 3
    with pytest.raises(IndexError) as caught:
        f(np.zeros(2))
    lines = [line.strip() for line in str(caught.value).splitlines()]
    assert f"at     test_lines_of_errors.py:{branch}" in lines
    assert f"in     test_lines_of_errors.py:{chosen.where.line}" in lines


def test_a_late_step_of_a_loop_names_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "PATIENCE", -1.0)
    state, places = T.vector("state"), T.lvector("places")
    last = symc.fori_loop(0, places.shape[0], lambda i, s: s[places[i]].inc(2.0), state)
    with pytest.raises(IndexError, match=rf"test_lines_of_errors\.py:{last.where.line}(\n|$)"):
        symc.function([state, places], last)(np.zeros(3), np.array([0, 9]))


def test_a_bug_an_inner_while_loop_made_late_errors_of_indexes_nameless(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That its number of steps is not negative was a condition, of another class, that holds."""
    monkeypatch.setattr(conditions, "PATIENCE", -1.0)
    v, n = T.vector("v"), T.lscalar("n")

    def step(i: Any, total: Any) -> Any:
        def more(j: Any, total: Any) -> Any:
            return (j > 0) & (v[j] > 0)

        return symc.while_loop(more, lambda j, t: [j - 1, t + 1], [i, total])[1]

    f = symc.function([v, n], symc.fori_loop(0, n, step, 0))
    with pytest.raises(IndexError, match="late step of a loop"):
        f(np.ones(50), 51)
