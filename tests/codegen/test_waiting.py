"""Steps wait briefly for the number of the step before (`passes/steps/waiting.py`)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

A, B, C = T.lvector("a"), T.lvector("b"), T.lvector("c")
EDGES = np.array([-(2**63), 2**63 - 1, 0, 1, -1, 5, 2**62])


@pytest.mark.parametrize(
    ("extreme", "swapped", "or_else"),
    list(itertools.product(["maximum", "minimum"], [False, True], [False, True])),
)
def test_a_value_or_an_extreme(extreme: str, swapped: bool, or_else: bool) -> None:
    """Longest common subsequences took 1.4 times as long without jumps."""

    def step(i: Any, row: Any) -> Any:
        sides = (B[i], row[i]) if swapped else (row[i], B[i])
        most = getattr(T, extreme)(*sides)
        test = T.eq(C[i], 0)
        return row[i + 1].set(T.where(test, most, A[i]) if or_else else T.where(test, A[i], most))

    n = A.shape[0]
    f = symc.function([A, B, C], symc.fori_loop(0, n, step, T.zeros((n + 1,), "int64")))
    assert "edge" in f.source
    assert f"symc_{extreme}_i64(row" not in f.source
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.choice(EDGES, 30), rng.choice(EDGES, 30)
        c = rng.integers(0, 2, 30)
        wanted = np.zeros(31, "int64")
        for i in range(30):
            most = getattr(np, extreme)(wanted[i], b[i])
            wanted[i + 1] = most if (c[i] == 0) == or_else else a[i]
        np.testing.assert_array_equal(f(a, b, c), wanted)


def test_a_test_that_waits_itself_is_left_as_it_is() -> None:
    def step(i: Any, row: Any) -> Any:
        return row[i + 1].set(T.where(row[i] > 3, A[i], T.maximum(row[i], B[i])))

    n = A.shape[0]
    f = symc.function([A, B], symc.fori_loop(0, n, step, T.zeros((n + 1,), "int64")))
    a, b = np.random.default_rng(0).integers(0, 6, (2, 40))
    wanted = np.zeros(41, "int64")
    for i in range(40):
        wanted[i + 1] = a[i] if wanted[i] > 3 else max(wanted[i], b[i])
    np.testing.assert_array_equal(f(a, b), wanted)


def test_selections_by_one_condition_are_no_jump() -> None:
    """gcc made one of them where it looks for conditions that are tested again."""
    x = T.dvector("x")

    def exchange(j: Any, x: Any) -> Any:
        return symc.ifelse(x[j] > x[j + 1], x[j].set(x[j + 1])[j + 1].set(x[j]), x)

    n = x.shape[0]
    f = symc.function(
        [x], symc.fori_loop(0, n, lambda i, x: symc.fori_loop(0, n - 1 - i, exchange, x), x)
    )
    assert "SYMC_JUMPS int64_t symc_run" not in f.source
    given = np.random.default_rng(0).normal(size=50)
    np.testing.assert_array_equal(f(given), np.sort(given))
    y = T.dvector("y")  # lengths that are compared before the loop are no condition of its steps
    outer = symc.fori_loop(0, n, lambda i, x: symc.fori_loop(0, n - 1 - i, exchange, x), x + y)
    checked = symc.function([x, y], outer)
    assert "if (" in checked.source.split("int64_t symc_prepare")[1]
    assert "SYMC_JUMPS int64_t symc_run" not in checked.source
    np.testing.assert_array_equal(checked(given, given), np.sort(given + given))
