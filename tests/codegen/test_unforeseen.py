"""Integer choices that no processor foresees: their sides are computed before what decides them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(7)


def test_choices_by_the_bits_of_a_number_are_no_branches() -> None:
    """Of Collatz' numbers every other step went the wrong way, in half of its time."""
    start = T.lscalar("start")

    def step(steps: Any, k: Any) -> list[Any]:
        return [steps + 1, T.where(T.eq(k & 1, 0), k >> 1, 3 * k + 1)]

    steps, _ = symc.while_loop(lambda steps, k: k > 1, step, [0, start])
    f = symc.function([start], steps)
    assert f.source.count("= symc_apart_i64(") == 2
    assert [int(f(k)) for k in (1, 2, 27, 97)] == [0, 1, 111, 118]


def test_a_number_that_is_changed_or_left_is_not_computed_apart() -> None:
    bits = T.lscalar("bits")
    f = symc.function(
        [bits],
        symc.fori_loop(0, 8, lambda i, n: T.where(T.eq(n & 1, 1), (n >> 1) ^ 0x8408, n >> 1), bits),
    )
    assert "symc_apart" not in f.source
    wanted = 0xFF
    for _ in range(8):
        wanted = (wanted >> 1) ^ 0x8408 if wanted & 1 else wanted >> 1
    assert f(0xFF) == wanted


def search(x: Any, wanted: Any, *, right: bool) -> Any:
    """Where each of the numbers belongs among those of `x`, which are in order."""

    def one(v: Any) -> Any:
        def halve(low: Any, high: Any) -> list[Any]:
            if right:
                middle = low + (high - low) // 2
                above = v < x[middle]
                return [T.where(above, low, middle + 1), T.where(above, middle, high)]
            middle = (low + high) // 2
            below = x[middle] < v
            return [T.where(below, middle + 1, low), T.where(below, high, middle)]

        return symc.while_loop(lambda low, high: low < high, halve, [0, x.shape[0]])[0]

    return symc.map(one, wanted)[0]


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64", "uint8"])
def test_a_binary_search_chooses_between_computed_places(dtype: str, right: bool) -> None:
    """It went on at a branch, which was the wrong one half of the time."""
    x, wanted = T.tensor(dtype, (None,), "x"), T.tensor(dtype, (None,), "wanted")
    f = symc.function([x, wanted], search(x, wanted, right=right))
    assert f.source.count("= symc_apart_i64(") == 1
    side: Any = "right" if right else "left"
    for n in (0, 1, 2, 3, 8, 100):
        table = np.sort(RNG.integers(0, 60, n)).astype(dtype)
        sought = RNG.integers(0, 70, 50).astype(dtype)
        np.testing.assert_array_equal(f(table, sought), np.searchsorted(table, sought, side))


def test_numbers_that_cannot_be_compared_go_to_the_other_side() -> None:
    x, wanted = T.vector("x"), T.vector("wanted")
    f = symc.function([x, wanted], search(x, wanted, right=False))
    given = np.array([np.nan, -np.inf, np.inf])
    np.testing.assert_array_equal(f(np.arange(5.0), given), [0, 0, 5])


def test_a_search_outside_of_its_table_is_an_error() -> None:
    x = T.vector("x")

    def step(low: Any, high: Any) -> list[Any]:
        middle = (low + high) // 2
        below = x[middle] < 0.5
        return [T.where(below, middle + 1, low), T.where(below, high, middle - 1)]

    start = [T.constant(0), T.constant(8)]
    f = symc.function([x], symc.while_loop(lambda low, high: low < high, step, start)[0])
    assert f(np.zeros(8)) == 8
    with pytest.raises(IndexError):
        f(np.zeros(4))


def test_what_a_step_stores_before_it_chooses_is_seen_by_both_sides() -> None:
    """A place that is moved, and from which one of two goes on: no side is computed too early."""
    x = T.lvector("x")

    def step(i: Any, at: Any, seen: Any) -> list[Any]:
        larger = seen[at] < x[at]
        return [T.where(larger, (at * 5 + 1) % 8, (at * 3 + 2) % 8), seen[at].set(seen[at] + i)]

    start = [T.constant(0), T.zeros_like(x)]
    f = symc.function([x], list(symc.fori_loop(0, 40, step, start)))
    given = RNG.integers(0, 50, 8)
    at, seen = 0, np.zeros(8, np.int64)
    for i in range(40):
        new = (at * 5 + 1) % 8 if seen[at] < given[at] else (at * 3 + 2) % 8
        seen[at] += i
        at = new
    found, left = f(given)
    assert found == at
    np.testing.assert_array_equal(left, seen)
