"""Loops that go on while a condition holds: what it says of indexes is not checked in steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex

MODES = ["default", "python"]
LEAST, LARGEST = -(2**63), 2**63 - 1
N, START, BY = T.lscalar("n"), T.lscalar("start"), T.lscalar("by")
TABLE = T.lvector("table")


def loops_in(source: str) -> list[str]:
    """The texts of the loops of the host function that may stop."""
    return re.findall(r"(?:while \(done\w* < [^{}]*|for \(;;\) )\{[^{}]*\}", source)


def crossed(**given: Any) -> Any:
    """Adds 1 to every `by`-th element of a table from `start` on, below n."""

    def step(m: Any, table: Any) -> list[Any]:
        return [m + BY, table[m].inc(1)]

    m, table = symc.while_loop(lambda m, table: m < N, step, [START, TABLE])
    return symc.function([TABLE, START, N, BY], [m, table], **given)


def crossed_out(table: Any, start: int, n: int, by: int) -> tuple[int, Any]:
    table = table.copy()
    while start < n:
        table[start] += 1
        start = (start + by + 2**63) % 2**64 - 2**63
    return start, table


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("start", "n", "by"),
    [
        (0, 10, 1), (4, 10, 3), (0, 10, 10), (9, 10, 1), (10, 10, 1), (-3, 10, 2), (-10, 0, 1),
        (0, 0, 1), (5, 2, 1), (0, 10, LARGEST), (1, 2, LARGEST - 1),
    ],
)  # fmt: skip
def test_steps_of_a_length_that_is_given(start: int, n: int, by: int, mode: str) -> None:
    table = np.arange(10)
    wanted = crossed_out(table, start, n, by)
    for got, one in zip(crossed(mode=mode)(table, start, n, by), wanted, strict=True):
        np.testing.assert_array_equal(got, one)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("start", "n", "by", "index"),
    [
        (0, 11, 1, 10), (0, 10, -1, -11), (0, LARGEST, 4, 12), (-11, 3, 1, -11),
        (5, LARGEST, LARGEST - 4, LEAST), (0, 11, 5, 10), (3, 8, LEAST, LEAST + 3),
    ],
)  # fmt: skip
def test_the_first_index_out_of_bounds_is_named(
    start: int, n: int, by: int, index: int, mode: str
) -> None:
    """Also one that has wrapped around."""
    with pytest.raises(BadIndex, match=f"index {index} is out of bounds for axis 0 with length 10"):
        crossed(mode=mode)(np.arange(10), start, n, by)


def test_the_loop_has_no_check() -> None:
    unchecked, checked = loops_in(crossed(device="cpu").source)
    assert unchecked.count("return 1") == 0
    assert checked.count("return 1") == 1


def test_a_shared_table_is_as_it_was_after_an_error() -> None:
    table = symc.shared(np.zeros(6), "table")
    new = symc.while_loop(lambda m, t: m < N, lambda m, t: [m + 2, t[m].inc(1)], [START, table])[1]
    f = symc.function([START, N], [], updates={table: new})
    f(1, 6)
    np.testing.assert_array_equal(table.get_value(), [0, 1, 0, 1, 0, 1])
    with pytest.raises(BadIndex, match="index 6 is"):
        f(0, 7)
    np.testing.assert_array_equal(table.get_value(), [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize("mode", MODES)
def test_prime_numbers(mode: str) -> None:
    def cross_out(p: Any, prime: Any) -> Any:
        left = symc.while_loop(
            lambda m, prime: m < N, lambda m, prime: [m + p, prime[m].set(False)], [p * p, prime]
        )[1]
        return symc.ifelse(prime[p], left, prime)

    root = T.cast(T.sqrt(T.cast(N, "float64")), "int64") + 1
    prime = T.ones(N, dtype="bool")[:2].set(False)
    f = symc.function([N], symc.fori_loop(2, T.minimum(root, N), cross_out, prime), mode=mode)
    for n in (0, 1, 2, 3, 4, 9, 10, 200):
        wanted = [k > 1 and all(k % p for p in range(2, k)) for k in range(n)]
        np.testing.assert_array_equal(f(n), np.array(wanted, bool))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "goes_on", [lambda c, least: c >= least, lambda c, least: T.gt(c + 1, least)]
)
def test_a_row_from_its_end(goes_on: Callable[[Any, Any], Any], mode: str) -> None:
    """The best that fits into a knapsack: each element looks at one before it."""
    weights, values = T.lvector("weights"), T.lvector("values")

    def item(i: Any, best: Any) -> Any:
        def down(c: Any, best: Any) -> list[Any]:
            with_it = best[c - weights[i]] + values[i]
            return [c - 1, best[c].set(T.maximum(best[c], with_it))]

        return symc.while_loop(lambda c, best: goes_on(c, weights[i]), down, [N, best])[1]

    best = symc.fori_loop(0, weights.shape[0], item, T.zeros(N + 1, "int64"))
    f = symc.function([weights, values, N], best, mode=mode)
    generator = np.random.default_rng(0)
    for n in (0, 1, 30):
        w, v = generator.integers(0, 9, 12), generator.integers(1, 9, 12)
        wanted = np.zeros(n + 1, int)
        for weight, value in zip(w, v, strict=True):
            for c in range(n, weight - 1, -1):
                wanted[c] = max(wanted[c], wanted[c - weight] + value)
        np.testing.assert_array_equal(f(w, v, n), wanted)
    with pytest.raises(BadIndex, match="index 5 is out of bounds for axis 0 with length 4"):
        f(np.array([1, -2]), np.array([1, 1]), 3)


@pytest.mark.parametrize("mode", MODES)
def test_an_index_that_is_read_after_it_has_moved(mode: str) -> None:
    """The last one may lie behind all that is known of indexes before."""

    def step(m: Any, table: Any, last: Any) -> list[Any]:
        moved = m + BY
        return [moved, table[m].inc(1), table[T.minimum(moved, 3) - 3]]

    init = [START, TABLE, T.constant(0)]
    found = symc.while_loop(lambda m, *_: m < N, step, init)
    f = symc.function([TABLE, START, N, BY], found, mode=mode)
    for start, n, by in ((0, 5, 1), (0, 5, 2), (1, 5, 7), (3, 5, 4), (-2, 5, 3)):
        table, m, last = np.arange(5), start, 0
        while m < n:
            last = table[min(m + by, 3) - 3]
            table[m] += 1
            m += by
        for got, wanted in zip(f(np.arange(5), start, n, by), (m, table, last), strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("mode", MODES)
def test_two_indexes_towards_each_other(mode: str) -> None:
    def swap(i: Any, j: Any, x: Any) -> list[Any]:
        return [i + 1, j - 1, x[i].set(x[j])[j].set(x[i])]

    def goes_on(i: Any, j: Any, x: Any) -> Any:
        return i < j

    found = symc.while_loop(goes_on, swap, [T.constant(0), TABLE.shape[0] - 1, TABLE])[2]
    f = symc.function([TABLE], found, mode=mode)
    for n in range(6):
        np.testing.assert_array_equal(f(np.arange(n)), np.arange(n)[::-1])


@pytest.mark.parametrize("mode", MODES)
def test_searching_by_halves(mode: str) -> None:
    sorted_table = T.vector("sorted_table")
    x = T.scalar("x")

    def halve(low: Any, high: Any) -> list[Any]:
        middle = (low + high) // 2
        is_right = sorted_table[middle] < x
        return [T.where(is_right, middle + 1, low), T.where(is_right, high, middle)]

    ends = [T.constant(0), sorted_table.shape[0]]
    low, _ = symc.while_loop(lambda low, high: low < high, halve, ends)
    f = symc.function([sorted_table, x], low, mode=mode)
    for n in (0, 1, 2, 9):
        table = np.arange(n) * 2.0
        for x_value in range(-1, 2 * n + 1):
            assert f(table, float(x_value)) == np.searchsorted(table, x_value)


@pytest.mark.parametrize("mode", MODES)
def test_what_a_condition_says_of_an_older_number(mode: str) -> None:
    """The loop goes on by the number before, not by the one that is the next index."""

    def step(k: Any, before: Any, total: Any) -> list[Any]:
        return [k + BY, k, total + TABLE[k]]

    init = [START, T.constant(-1), T.constant(0)]
    found = symc.while_loop(lambda k, before, total: before < N, step, init)
    f = symc.function([TABLE, START, N, BY], found, mode=mode)
    table = np.arange(8) + 1
    for start, n, by in ((0, 3, 1), (0, 6, 2), (2, 2, 1)):
        k, before, total = start, -1, 0
        while before < n:
            k, before, total = k + by, k, total + table[k]
        assert [int(one) for one in f(table, start, n, by)] == [k, before, total]
    with pytest.raises(BadIndex, match="index 8 is"):
        f(table, 0, 7, 2)


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_that_is_not_begun(mode: str) -> None:
    f = crossed(mode=mode)
    for start in (10, 11, LARGEST):
        m, table = f(np.zeros(0, int), start, 10, 1)
        assert m == start
        assert table.shape == (0,)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("by", [1, 2, -1, -3])
def test_how_far_a_loop_has_come(by: int, mode: str) -> None:
    """The index follows from the number of steps, which is wanted behind the loop."""

    def goes_on(m: Any, table: Any) -> Any:
        return m < N if by > 0 else m >= N

    found = symc.while_loop(goes_on, lambda m, t: [m + by, t[m].inc(1)], [START, TABLE])
    f = symc.function([TABLE, START, N], [found[0] * 2, found[1]], mode=mode)
    for start, n in ((0, 7), (6, 0), (3, 3), (2, 5), (5, 2), (-7, 0), (7, -2)):
        table, m = np.zeros(7, int), start
        try:
            while m < n if by > 0 else m >= n:
                table[m] += 1
                m += by
        except IndexError:
            with pytest.raises(BadIndex, match=f"index {m} is"):
                f(np.zeros(7, int), start, n)
        else:
            got = f(np.zeros(7, int), start, n)
            assert got[0] == 2 * m
            np.testing.assert_array_equal(got[1], table)


# --- conditions of two sides ----------------------------------------------------------------------


def insertion(goes_on: Any, **given: Any) -> Any:
    x = T.vector("x")

    def insert(i: Any, x: Any) -> Any:
        value = x[i]
        init = [i, x]
        j, x = symc.while_loop(
            lambda j, x: goes_on(j, x, value), lambda j, x: [j - 1, x[j].set(x[j - 1])], init
        )
        return x[j].set(value)

    return symc.function([x], symc.fori_loop(1, x.shape[0], insert, x), **given)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "goes_on",
    [
        lambda j, x, value: T.logical_and(j > 0, x[j - 1] > value),
        lambda j, x, value: T.logical_and(x[j - 1] > value, T.logical_not(j < 1)),
        lambda j, x, value: T.logical_and(j >= 1, T.logical_and(x[j - 1] > value, x[0] > -9)),
    ],
)
def test_sorting_by_insertion(goes_on: Any, mode: str) -> None:
    f = insertion(goes_on, mode=mode)
    generator = np.random.default_rng(0)
    for n in (0, 1, 2, 3, 30):
        x = generator.normal(size=n)
        np.testing.assert_array_equal(f(x), np.sort(x))
        np.testing.assert_array_equal(f(-np.sort(x)), np.sort(-x))
    x = np.array([3.0, np.nan, 1.0, np.nan, 0.0, -np.inf, np.inf, 0.0])
    wanted = x.copy()
    for i in range(1, len(wanted)):
        value, j = wanted[i], i
        while j > 0 and wanted[j - 1] > value:
            wanted[j] = wanted[j - 1]
            j -= 1
        wanted[j] = value
    np.testing.assert_array_equal(f(x), wanted)


def test_the_element_before_the_first_is_not_looked_at() -> None:
    f = insertion(lambda j, x, value: T.logical_and(j > 0, x[j - 1] > value), device="cpu")
    source = f.source
    assert re.search(r"if \(t\w* > 0\) \{\s*logical_not\[0\] = !\(out\[t\w*\] > ", source)


@pytest.mark.parametrize("mode", MODES)
def test_an_element_that_the_first_side_does_not_reach(mode: str) -> None:
    """Below 2 x[j - 3] is an element from the end, and the loop may go on for it."""
    x = T.vector("x")

    def goes_on(j: Any, total: Any) -> Any:
        return T.logical_and(j > 0, x[j - 3] > total)

    def step(j: Any, total: Any) -> list[Any]:
        return [j - 1, total + 1.0]

    f = symc.function([x], symc.while_loop(goes_on, step, [x.shape[0], 0.0]), mode=mode)
    for given in (np.arange(9.0) + 9, np.arange(4.0)[::-1] + 2, np.full(3, 9.0)):
        j, total = len(given), 0.0
        while j > 0 and given[j - 3] > total:
            j, total = j - 1, total + 1
        assert [float(one) for one in f(given)] == [j, total]


@pytest.mark.parametrize("count", [0, 1, 4095, 4096, 4097, 8192, 8193, 20_000])
def test_loops_of_several_pieces(count: int) -> None:
    """Between them it is asked whether to stop."""
    found = symc.while_loop(lambda k, total: k < N, lambda k, t: [k + 1, t + k], [0, 0])
    assert [int(one) for one in symc.function([N], found)(count)] == [
        count,
        count * (count - 1) // 2,
    ]
    most = symc.while_loop(lambda k: k < N, lambda k: k + 3, T.constant(0), max_steps=START)
    f = symc.function([N, START], most)
    assert f(10**9, count) == 3 * count
    assert f(3 * count, 10**9) == 3 * count
