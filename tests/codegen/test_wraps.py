"""Loops that read round the end of an axis go in parts, with the results of before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

K, M = T.lscalar("k"), T.lscalar("m")
SHIFTS = [0, 1, -1, 3, -5, 31, 32, 1000, -1001, 20_000]


def kernels(f: Any) -> str:
    source: str = f.source
    return source.partition("/* ---- kernels ---- */")[2].partition("/* ---- host ---- */")[0]


def in_parts(f: Any) -> bool:
    verify(f.runner.compilation().optimised)
    return "for (int64_t part = 0" in kernels(f)


@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8", "int16", "bool", "complex64"])
def test_a_bug_rolled_elements_were_gathered(dtype: str) -> None:
    """It took ten times as long as a loop in C for bytes, and three times for doubles."""
    x = T.tensor(dtype, (None,), "x")
    f = symc.function([x, K], [T.roll(x, 1), T.roll(x, -3), T.roll(x, K)])
    assert in_parts(f)
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 3, 31, 32, 100, 16_384, 16_385, 100_000):
        given = rng.integers(0, 2 if dtype == "bool" else 100, n).astype(dtype)
        for k in SHIFTS:
            for got, shift in zip(f(given, k), (1, -3, k), strict=True):
                np.testing.assert_array_equal(got, np.roll(given, shift))


def test_selected_indexes_are_not_in_the_innermost_loop() -> None:
    x = T.vector("x")
    f = symc.function([x], T.roll(x, 1) * 2 + T.roll(x, -1))
    inner = kernels(f).rpartition("omp simd")[2].partition("}")[0]
    assert "?" not in inner
    assert "symc_place" not in inner
    assert "= x[" in inner


@pytest.mark.parametrize("count", [2, 3, 6, 9])
def test_sums_of_many_shifts(count: int) -> None:
    x = T.vector("x")
    rng = np.random.default_rng(count)
    shifts = [int(s) for s in rng.choice(np.arange(-40, 40), count, replace=False)]
    total: Any = sum(T.roll(x, s) * (k + 1) for k, s in enumerate(shifts))
    f = symc.function([x, K, M], [total, T.roll(total, K) - T.roll(x, M)])
    assert in_parts(f)
    for n in (0, 1, 5, 39, 40, 41, 200, 16_400):
        given = rng.integers(0, 1000, n).astype(float)
        wanted = sum((np.roll(given, s) * (k + 1) for k, s in enumerate(shifts)), np.zeros(n))
        for k, m in ((0, 0), (7, -7), (-3, 90), (16_390, 12)):
            first, second = f(given, k, m)
            np.testing.assert_array_equal(first, wanted)
            np.testing.assert_array_equal(second, np.roll(wanted, k) - np.roll(given, m))


SHAPES = [(0, 3), (3, 0), (1, 1), (1, 90), (2, 2), (7, 19), (5, 39), (5, 40), (4, 41), (30, 130)]


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_neighbours_on_a_torus(dtype: str) -> None:
    x = T.tensor(dtype, (None, None), "x")

    def neighbours(x: Any, roll: Any) -> Any:
        turned = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        return sum(roll(roll(x, i, axis=0), j, axis=1) for i, j in turned)

    f = symc.function([x], neighbours(x, T.roll))
    assert in_parts(f)
    assert kernels(f).count("for (int64_t place = 0") == 1  # one text for all parts
    for shape in SHAPES:
        given = np.random.default_rng(0).integers(0, 30, shape).astype(dtype)
        np.testing.assert_array_equal(f(given), neighbours(given, np.roll))


def test_rows_columns_and_whole_arrays() -> None:
    x = T.matrix("x")

    def rolled(x: Any, k: Any, m: Any, roll: Any) -> list[Any]:
        return [
            roll(x, k), roll(x, k, axis=0), roll(x, k, axis=1), roll(x, (k, m), axis=(0, 1)),
            roll(x.T, m, axis=1), roll(x[::-1, ::-1], m, axis=1), roll(x, k, axis=1)[:, ::-1],
            roll(roll(x, k, axis=1), m, axis=1), roll(x[:, ::2], k, axis=1),
            roll(x, k, axis=1)[:, ::2], roll(x, m, axis=1)[:, 1::3], roll(x, k, axis=1)[:, ::-2],
        ]  # fmt: skip

    f = symc.function([x, K, M], rolled(x, K, M, T.roll))
    assert in_parts(f)
    for shape in SHAPES:
        given = np.random.default_rng(0).standard_normal(shape)
        for k, m in ((0, 1), (1, -1), (-3, 45), (1000, -1000)):
            for got, wanted in zip(f(given, k, m), rolled(given, k, m, np.roll), strict=True):
                np.testing.assert_array_equal(got, wanted)


def test_sums_and_extremes_of_rolled_rows() -> None:
    x, y = T.matrix("x"), T.vector("y")

    def folded(x: Any, y: Any, roll: Any) -> list[Any]:
        there = roll(x, 1, axis=1)
        return [(x * there).sum(axis=1), (x - there).max(axis=1), (y * roll(y, 3)).sum(),
                (y > roll(y, -2)).sum(), roll(x, -1, axis=1).sum(axis=0)]  # fmt: skip

    f = symc.function([x, y], folded(x, y, T.roll))
    assert in_parts(f)
    for shape in ((3, 1), (2, 20), (4, 150), (3, 20_000)):
        a = np.random.default_rng(0).standard_normal(shape)
        for got, wanted in zip(f(a, a[0]), folded(a, a[0], np.roll), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-11)


def test_derivatives_of_rolled_elements() -> None:
    x = T.vector("x")
    f = symc.function([x], symc.grad((T.sin(T.roll(x, 2)) * x).sum(), x))
    assert in_parts(f)
    for n in (1, 2, 50, 1000):
        given = np.random.default_rng(n).standard_normal(n)
        wanted = np.sin(np.roll(given, 2)) + np.roll(given, -2) * np.cos(given)
        np.testing.assert_allclose(f(given), wanted, rtol=1e-13, atol=1e-14)


def test_lengths_that_are_known() -> None:
    for n in (8, 39, 40, 100, 20_000):
        x = T.tensor("float32", (n,), "x")
        f = symc.function([x], T.roll(x, 3) + T.roll(x, -1))
        assert in_parts(f) == (n >= 40)
        given = np.arange(n, dtype="float32")
        np.testing.assert_array_equal(f(given), np.roll(given, 3) + np.roll(given, -1))


# --- remainders -----------------------------------------------------------------------------------


def no_innermost_division(f: Any) -> bool:
    """Of long rows: where they are short it is."""
    inner = kernels(f).rpartition("omp simd")[2].partition("}")[0]
    return in_parts(f) and "symc_mod_i64" not in inner


def test_a_bug_loops_over_periodic_elements_divided_for_each_of_them() -> None:
    """It took twice as long as the same loop in C, and 16 times as long as in parts."""
    x = T.vector("x")
    n = x.shape[0]

    def step(i: Any, out: Any) -> Any:
        return out[i].set(x[(i - 1) % n] + 2 * x[(i + 1) % n] + 3 * x[(n - 3 - i) % n])

    f = symc.function([x], symc.fori_loop(0, n, step, T.zeros_like(x)))
    assert no_innermost_division(f)
    for length in (0, 1, 2, 19, 20, 39, 60, 61, 200, 16_400, 40_000):
        given = np.random.default_rng(length).integers(0, 100, length).astype(float)
        i = np.arange(length)
        wanted = given[(i - 1) % max(length, 1)] + 2 * given[(i + 1) % max(length, 1)]
        wanted += 3 * given[(length - 3 - i) % max(length, 1)]
        np.testing.assert_array_equal(f(given), wanted)


EXTREMES = [0, 1, -1, 19, -20, 12345, 2**61, -(2**61), 2**62 + 5, 2**63 - 1, 2**63 - 30, -(2**63)]


@pytest.mark.parametrize("dtype", ["float64", "uint8"])
def test_remainders_of_any_shift(dtype: str) -> None:
    x = T.tensor(dtype, (None,), "x")
    n = x.shape[0]
    f = symc.function([x, K, M], [x[(T.arange(M) + K) % n], x[(K - T.arange(M)) % n]])
    assert no_innermost_division(f)
    for length in (1, 3, 19, 20, 21, 50, 333):
        given = np.random.default_rng(length).integers(0, 100, length).astype(dtype)
        for k in EXTREMES:
            for m in (0, 1, 45, 700, 20_000):
                i = np.arange(m)
                with np.errstate(over="ignore"):
                    up, down = (np.int64(k) + i) % length, (np.int64(k) - i) % length
                for got, at in zip(f(given, k, m), (up, down), strict=True):
                    np.testing.assert_array_equal(got, given[at])


@pytest.mark.parametrize("by", [-300, -7, -1, 1, 7, 40, 300])
def test_remainders_that_are_values(by: int) -> None:
    x, n = T.vector("x"), T.lscalar("n")
    m = x.shape[0] + n
    f = symc.function([x, n, K], (T.arange(3000) - K) % m + (K - T.arange(3000)) % m)
    for k in (0, 5, -1000, 4000):
        i = np.arange(3000)
        wanted = (i - k) % by + (k - i) % by
        np.testing.assert_array_equal(f(np.ones(10), by - 10, k), wanted)


@pytest.mark.parametrize("by", [2**63 - 1, 2**63 - 39, 2**62, -(2**63) + 1, -(2**62)])
def test_a_bug_remainders_by_numbers_near_the_largest_stored_nothing(by: int) -> None:
    """How many parts there are, and where they end, left 64 bits."""
    x = T.vector("x")
    at = T.arange(x.shape[0])
    f = symc.function([x, K, M], [(at + K) % M, (K - at) % M, (at + 3) % M])
    given = np.arange(40.0)
    there = np.arange(len(given))
    for k in (-3, 0, 3):
        wanted = (there + k) % by, (k - there) % by, (there + 3) % by
        for one, two in zip(f(given, k, by), wanted, strict=True):
            np.testing.assert_array_equal(one, two)


def test_elements_taken_and_padded_round_the_end() -> None:
    x, y = T.matrix("x"), T.vector("y")
    there = T.arange(x.shape[1]) + 3

    f = symc.function([x, y], [
        T.take(x, there, axis=1, mode="wrap") * 2, T.pad(y, (50, 70), mode="wrap") + 1,
        T.take(y, there, mode="wrap").sum(),
    ])  # fmt: skip
    for shape in ((1, 1), (3, 8), (3, 100), (2, 20_000)):
        a = np.random.default_rng(0).integers(0, 9, shape).astype(float)
        i = np.arange(shape[1]) + 3
        taken, padded, total = f(a, a[0])
        np.testing.assert_array_equal(taken, np.take(a, i, axis=1, mode="wrap") * 2)
        np.testing.assert_array_equal(padded, np.pad(a[0], (50, 70), mode="wrap") + 1)
        assert total == np.take(a[0], i, mode="wrap").sum()


def test_a_periodic_grid() -> None:
    a = T.matrix("a")
    n, m = a.shape

    def cell(i: Any, j: Any, out: Any) -> Any:
        rows = a[(i - 1) % n, j] - 2 * a[(i + 1) % n, j]
        return out[i, j].set(rows + 3 * a[i, (j - 1) % m] + 4 * a[i, (j + 1) % m])

    def row(i: Any, out: Any) -> Any:
        return symc.fori_loop(0, m, lambda j, out: cell(i, j, out), out)

    f = symc.function([a], symc.fori_loop(0, n, row, T.zeros_like(a)))
    for shape in ((1, 1), (2, 3), (5, 39), (5, 40), (30, 90)):
        given = np.random.default_rng(0).integers(0, 9, shape).astype(float)
        wanted = np.roll(given, 1, 0) - 2 * np.roll(given, -1, 0)
        wanted += 3 * np.roll(given, 1, 1) + 4 * np.roll(given, -1, 1)
        np.testing.assert_array_equal(f(given), wanted)


def test_indexes_that_other_values_of_an_iteration_decide_stay_selected() -> None:
    """How far a row is rolled is another number in each iteration."""
    x, by = T.vector("x"), T.vector("by")
    n = x.shape[0]
    at = T.arange(n) - T.cast(T.sqrt(by), "int64")
    f = symc.function([x, by], [x[T.where(at < 0, at + n, at)], x[at % n]])
    for length in (1, 30, 100):
        given = np.arange(float(length))
        shifts = np.random.default_rng(0).integers(0, length, length)
        wanted = given[(np.arange(length) - shifts) % length]
        for got in f(given, shifts.astype(float) ** 2):
            np.testing.assert_array_equal(got, wanted)
