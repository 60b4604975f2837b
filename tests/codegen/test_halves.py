"""Conditions of loops whose first side says that an index is one: it is decided first."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.codegen.test_rejoin import pushed

X = T.vector("x")
RNG = np.random.default_rng(11)
LENGTHS = (0, 1, 2, 3, 9, 60)


def inserted(x: Any, *, at_least: bool) -> Any:
    """Sorts by insertion: an element moves down as long as there is a larger one below."""

    def insert(i: Any, x: Any) -> Any:
        value = x[i]

        def is_larger(j: Any, x: Any) -> Any:
            if at_least:
                return T.logical_and(j >= 0, x[T.maximum(j, 0)] > value)
            return T.logical_and(j > -1, x[j] > value)

        j, x = symc.while_loop(is_larger, lambda j, x: [j - 1, x[j + 1].set(x[j])], [i - 1, x])
        return x[j + 1].set(value)

    return symc.fori_loop(1, x.shape[0], insert, x)


@pytest.mark.parametrize("at_least", [False, True])
def test_an_index_that_is_not_below_zero(at_least: bool) -> None:
    f = symc.function([X], inserted(X, at_least=at_least))
    assert "& (out[symc_maximum_i64(" not in f.source
    for n in LENGTHS:
        given = RNG.standard_normal(n)
        np.testing.assert_array_equal(f(given), np.sort(given))
    given = np.array([3.0, np.nan, 1.0, np.inf, -np.inf, 2.0])
    wanted = given.copy()
    for i in range(1, 6):
        value, j = wanted[i], i - 1
        while j >= 0 and wanted[j] > value:
            wanted[j + 1] = wanted[j]
            j -= 1
        wanted[j + 1] = value
    np.testing.assert_array_equal(f(given), wanted)


def test_half_of_an_index_that_is_not_below_zero() -> None:
    f = symc.function([X], pushed(X))
    assert "= !(out[(next_value + -1) >> 1] > " in f.source
    for n in LENGTHS:
        given = RNG.standard_normal(n)
        wanted: list[float] = []
        for value in given:
            heapq.heappush(wanted, value)
        np.testing.assert_array_equal(f(given), wanted)


def test_an_index_that_may_be_below_what_it_is_taken_for_is_still_selected() -> None:
    def step(j: Any, total: Any) -> list[Any]:
        return [j - 1, total + X[T.maximum(j, 2)]]

    def going(j: Any, total: Any) -> Any:
        return T.logical_and(j > 0, X[T.maximum(j, 2)] > total - 100)

    f = symc.function([X], symc.while_loop(going, step, [4, T.constant(0.0)])[1])
    assert f(np.arange(1.0, 6.0)) == 5 + 4 + 3 + 3


def test_lengths_that_a_loop_does_not_need_are_not_computed_in_it() -> None:
    f = symc.function([X], inserted(X, at_least=True))
    assert "too_large" not in f.source.split("if (fine[0])")[1].split("} else {")[0]
