"""Sums of whole arrays in the steps of a loop: with threads for long ones, without for others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T


def normalised(x: Any, sums: Any) -> Any:
    """A vector divided by its sum three times, and increased in between."""

    def step(_: Any, x: Any) -> Any:
        return x / sums(x) + 1.0

    return step(0, step(0, step(0, x)))


@pytest.mark.parametrize("length", [1, 5, 16384, 16385, 40_000, 700_000])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_sum_in_each_step(length: int, threads: int) -> None:
    x = T.vector("x")
    loop = symc.fori_loop(0, 3, lambda _, x: x / x.sum() + 1.0, x)
    function = symc.function([x], loop)
    given = np.random.default_rng(length).random(length)
    with symc.config.set(threads=threads):
        found = function(given)
    np.testing.assert_allclose(found, normalised(given, np.sum), rtol=1e-12)


def test_a_sum_of_a_column_in_each_step() -> None:
    """Each step paid for a team of one thread: orthogonal columns took 1.9 times numba's time."""
    a = T.matrix("a")
    loop = symc.fori_loop(
        0, a.shape[1] - 1, lambda i, a: a[:, i + 1].inc(a[:, i] * (a[:, i] * a[:, i + 1]).sum()), a
    )
    function = symc.function([a], loop)
    for length in (3, 7, 20_000):
        given = np.random.default_rng(0).normal(size=(length, 4)) / length
        wanted = given.copy()
        for i in range(3):
            wanted[:, i + 1] += wanted[:, i] * (wanted[:, i] @ wanted[:, i + 1])
        np.testing.assert_allclose(function(given), wanted, rtol=1e-9)
    if symc.config.device == "cpu":
        short = function.source.split("#pragma omp parallel")[0].rstrip().splitlines()[-2]
        assert short.lstrip().startswith("if (chunks > 1 && ")
        assert ">= 262144" in short


def test_a_bug_rows_of_short_steps_paid_for_teams_of_one_thread() -> None:
    """Joined parts of a picture in each step took seven times as long as numba's loops."""
    a = T.matrix("a")

    def step(_: Any, a: Any) -> Any:
        return 0.5 * (T.concatenate([a[:, 1:], a[:, :1]], 1) + T.concatenate([a[1:], a[:1]], 0))

    function = symc.function([a], symc.fori_loop(0, 5, step, a))
    for shape in ((1, 1), (7, 3), (700, 800)):
        given = np.random.default_rng(0).random(shape)
        wanted = given
        for _ in range(5):
            wanted = 0.5 * (np.roll(wanted, -1, 1) + np.roll(wanted, -1, 0))
        for threads in (1, 3):
            with symc.config.set(threads=threads):
                np.testing.assert_allclose(function(given), wanted, rtol=1e-12)
    if symc.config.device == "cpu":
        run = function.source
        assert run.count("#pragma omp parallel") > 0
        for line in run.split("#pragma omp parallel")[:-1]:
            tail = line.rstrip().splitlines()[-3:]
            assert any("threads" in one or ">= 262144" in one for one in tail), tail
