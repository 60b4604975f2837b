"""Bounds of slices that are data: any 64 bits, and counted from either end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.fenced import fenced

X, A, B = T.vector("x"), T.lscalar("a"), T.lscalar("b")
BOUNDS, STEPS = T.lmatrix("bounds"), (1, 2, -1, -3)
VALUES = (-(2**63), 1 - 2**63, -7, -5, -4, -1, 0, 1, 4, 5, 6, 2**62, 2**63 - 1)
PAIRS = np.array([(a, b) for a in VALUES for b in VALUES])


def total(x: Any, step: int) -> float:
    """Of each slice its sum, the first element twice, and its length."""
    slices = [x[a:b:step] for a, b in PAIRS.tolist()]
    return float(sum(part.sum() + part[:1].sum() + len(part) for part in slices))


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("length", [0, 1, 5])
def test_slices_in_steps_of_a_loop_are_numpys(length: int, step: int, mode: str) -> None:
    def each(i: Any, found: Any) -> Any:
        part = X[BOUNDS[i, 0] : BOUNDS[i, 1] : step]
        return found + part.sum() + part[:1].sum() + part.shape[0]

    f = symc.function([X, BOUNDS], symc.fori_loop(0, BOUNDS.shape[0], each, 0.0), mode=mode)
    x = np.arange(1.0, length + 1)
    assert f(x, PAIRS) == total(x, step)


@pytest.mark.parametrize("step", STEPS)
def test_slices_are_numpys(step: int) -> None:
    f = symc.function([X, A, B], [X[A:B:step], X[A::step], X[:B:step]])
    x = np.arange(1.0, 6)
    for a, b in PAIRS.tolist():
        for found, wanted in zip(f(x, a, b), (x[a:b:step], x[a::step], x[:b:step]), strict=True):
            assert np.array_equal(found, wanted), (a, b)


def test_lengths_of_slices_are_computed_without_tests() -> None:
    """Neither a bound that counts from the end nor a difference of places can be too large."""
    f = symc.function([X, A, B], X[A:B] * 2)
    assert "too_large" not in f.source
    assert ">> 63 & " in f.source
    assert "symc_length_" not in f.source


@pytest.mark.parametrize("length", [0, 1])
def test_slices_of_nothing_that_would_stretch_are_not_read(length: int) -> None:
    """The element that stretches over a loop is not loaded before it: perhaps there is none."""
    places, w = T.lvector("places"), T.tensor("float64", (length,), name="w")
    table, starts, stops = T.dmatrix("table"), T.lvector("starts"), T.lvector("stops")
    sums, _ = symc.map(
        lambda a, b: T.sum(table[places[a:b]] * w[a:b, None], axis=0), [starts, stops]
    )
    f = symc.function([table, places, w, starts, stops], sums)
    bounds = np.array([0, length, 5])
    found = f(np.ones((3, 2)), np.zeros(length, int), fenced(np.full(length, 7.0)), bounds, bounds)
    assert found.tolist() == [[0.0, 0.0]] * 3
