"""Remainders of numbers of steps that are once round at most (`steps/around.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

X = T.lvector("x")
N = T.lscalar("n")

# The neighbour that step k reads, the number of steps less than n, and whether it is divided.
NEIGHBOURS: dict[str, tuple[Callable[[Any, Any], Any], int, bool]] = {
    "next": (lambda k, n: (k + 1) % n, 0, False),
    "before": (lambda k, n: (k - 1) % n, 0, False),
    "itself": (lambda k, n: k % n, 0, False),
    "the one after": (lambda k, n: (k + 2) % n, 0, True),
    "the one before": (lambda k, n: (k - 2) % n, 0, True),
    "two on": (lambda k, n: (k + 2) % n, 1, False),
    "two back": (lambda k, n: (k - 2) % n, 1, False),
    "four on": (lambda k, n: (k + 4) % n, 1, True),
    "twice": (lambda k, n: (2 * k) % n, 0, True),
    "more": (lambda k, n: (k + 1) % (n + 1), 0, False),
    "fewer": (lambda k, n: (k + 1) % (n - 1), 0, True),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_on_a_ring(name: str) -> None:
    """Two divisions took three quarters of a step; there is none where it is once round."""
    place, fewer, divides = NEIGHBOURS[name]
    n = X.shape[0]

    def step(k: Any, x: Any, total: Any) -> Any:
        x = x[k].inc(3 * x[T.minimum(place(k, n), n - 1)] + total)
        return x, (total + x[k]) % 1000

    out = symc.fori_loop(0, n - fewer, step, (X, T.constant(1)))
    f = symc.function([X], list(out))
    assert bool(re.search(r"symc_mod_i64\([^(]*step", f.source)) == divides, f.source
    for length in (1, 2, 3, 4, 7):
        if name == "fewer" and length == 1:
            continue
        given = np.random.default_rng(length).integers(0, 100, length)
        wanted, total = given.copy(), 1
        for k in range(length - fewer):
            wanted[k] += 3 * wanted[min(place(k, length), length - 1)] + total
            total = (total + wanted[k]) % 1000
        found = f(given)
        np.testing.assert_array_equal(found[0], wanted)
        assert found[1] == total


def test_a_length_that_changes_is_divided_by() -> None:
    def outer(i: Any, total: Any) -> Any:
        length = X[i]
        return symc.fori_loop(0, 3, lambda k, t: t * 2 + (k + 1) % length, total)

    f = symc.function([X], symc.fori_loop(0, X.shape[0], outer, T.constant(0)))
    given, total = np.array([1, 2, 5, 3]), 0
    for length in given:
        for k in range(3):
            total = total * 2 + (k + 1) % length
    assert f(given) == total
