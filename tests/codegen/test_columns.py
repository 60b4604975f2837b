"""Steps that go along columns, done for a few rows after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

A, B, X = T.matrix("a"), T.matrix("b"), T.vector("x")
SHAPES = [(0, 5), (1, 9), (5, 0), (3, 2), (7, 4), (33, 12), (70, 40), (40, 70)]
RNG = np.random.default_rng(5)


def loop(start: Any, stop: Any, body: Any, state: Any) -> Any:
    return symc.fori_loop(start, stop, body, state)


def goes_in_strips(f: Any) -> bool:
    return "row_in_strip" in f.source


@pytest.mark.parametrize("shape", SHAPES)
def test_a_recurrence_along_rows_from_the_left(shape: tuple[int, int]) -> None:
    f = symc.function(
        [A, B], loop(1, A.shape[1], lambda k, y: y[:, k].set(y[:, k - 1] * 0.5 + B[:, k]), A)
    )
    assert goes_in_strips(f)
    verify(f.runner.compilation().optimised)
    a, b = RNG.random(shape), RNG.random(shape)
    wanted = a.copy()
    for k in range(1, shape[1]):
        wanted[:, k] = wanted[:, k - 1] * 0.5 + b[:, k]
    np.testing.assert_allclose(f(a, b), wanted, rtol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_recurrence_along_rows_from_the_right(shape: tuple[int, int]) -> None:
    n = A.shape[1]

    def step(k: Any, y: Any, x: Any) -> Any:
        x = x * B[:, n - 2 - k] + y[:, n - 1 - k]
        return y[:, n - 2 - k].set(x), x

    f = symc.function([A, B], loop(0, n - 1, step, (A, T.zeros_like(A[:, 0]))))
    assert goes_in_strips(f)
    a, b = RNG.random(shape), RNG.random(shape)
    y, x = a.copy(), np.zeros(shape[0])
    for k in range(shape[1] - 1):
        x = x * b[:, -2 - k] + y[:, shape[1] - 1 - k]
        y[:, -2 - k] = x
    for found, wanted in zip(f(a, b), (y, x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_that_are_written_and_columns_that_are_read(shape: tuple[int, int]) -> None:
    """What is written lies along rows, and each step's row comes from the one before."""
    f = symc.function(
        [A, B], loop(1, A.shape[0], lambda k, y: y[k].set(y[k - 1] * 0.5 + B[:, k]), A)
    )
    assert goes_in_strips(f)
    a, b = RNG.random(shape), RNG.random(shape[::-1])
    wanted = a.copy()
    for k in range(1, shape[0]):
        wanted[k] = wanted[k - 1] * 0.5 + b[:, k]
    np.testing.assert_allclose(f(a, b), wanted, rtol=1e-14)


def test_rows_that_meet_are_done_step_by_step() -> None:
    """A flat array as one of rows: what is beyond the end of a row is in the next one."""

    def step(k: Any, x: Any) -> Any:
        rows = 5 * T.arange(8)
        return x[rows + k].set(x[rows + k + 3] + x[rows + k] * 0.5)

    f = symc.function([X], loop(0, 6, step, X))
    x = RNG.random(60)
    wanted, rows = x.copy(), 5 * np.arange(8)
    for k in range(6):
        wanted[rows + k] = wanted[rows + k + 3] + wanted[rows + k] * 0.5
    np.testing.assert_allclose(f(x), wanted, rtol=1e-14)


def test_rows_that_read_the_row_above_are_done_step_by_step() -> None:
    f = symc.function(
        [A],
        loop(1, A.shape[1], lambda k, y: y[1:, k].set(y[:-1, k - 1] * 0.5 + y[1:, k]), A),
    )
    assert not goes_in_strips(f)
    a = RNG.random((40, 9))
    wanted = a.copy()
    for k in range(1, 9):
        wanted[1:, k] = wanted[:-1, k - 1] * 0.5 + wanted[1:, k]
    np.testing.assert_allclose(f(a), wanted, rtol=1e-14)


@pytest.mark.parametrize("threads", [1, 2])
def test_strips_on_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symc.config, "threads", threads)
    f = symc.function([A], loop(1, A.shape[1], lambda k, y: y[:, k].inc(T.sin(y[:, k - 1])), A))
    a = RNG.random((2000, 60))
    wanted = a.copy()
    for k in range(1, 60):
        wanted[:, k] += np.sin(wanted[:, k - 1])
    np.testing.assert_allclose(f(a), wanted, rtol=1e-13)


def test_a_bug_long_steps_on_one_thread_were_not_asked_whether_to_stop() -> None:
    """Outside of regions of threads they ran on: two hundred of a second each could not be
    interrupted."""

    def column(k: Any, y: Any) -> Any:
        return y[:, k].set(T.tanh(y[:, k - 1]))

    def step(_: Any, y: Any) -> Any:
        return loop(1, A.shape[1], column, y)

    f = symc.function([A], loop(0, 200, step, A))
    assert goes_in_strips(f)
    assert "if(parallel: threads > 1 &&" in f.source
    assert "if (threads > 1 &&" not in f.source
