"""Loops whose steps are independent become loops of kernels, with the results of before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

X, Y, A = T.vector("x"), T.vector("y"), T.matrix("a")
PICTURES = T.tensor("float64", (None,) * 4, "pictures")


def is_kernel(f: Any) -> bool:
    """Whether no loop of the host function is left."""
    return "for (int64_t step" not in f.source[f.source.index("int64_t symc_run") :]


def pooled(i: Any, j: Any, window: int = 2) -> Any:
    k, m = window * i, window * j
    return T.max(A[k : k + window, m : m + window])


def test_maxima_of_windows() -> None:
    n, m = A.shape[0] // 2, A.shape[1] // 2

    def row(i: Any, out: Any) -> Any:
        return symc.fori_loop(0, m, lambda j, out: out[i, j].set(pooled(i, j)), out)

    f = symc.function([A], symc.fori_loop(0, n, row, T.zeros((n, m))))
    assert is_kernel(f)
    for shape in ((0, 4), (1, 1), (2, 2), (7, 11), (40, 30)):
        a = np.random.default_rng(0).standard_normal(shape)
        if a.size > 9:
            a[1, 1] = np.nan
        wanted = np.zeros((shape[0] // 2, shape[1] // 2))
        for i in range(shape[0] // 2):
            for j in range(shape[1] // 2):
                wanted[i, j] = a[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max()
        assert np.array_equal(f(a), wanted, equal_nan=True)


def test_maxima_of_windows_of_pictures() -> None:
    """What a step computes is an array: it is not stored."""
    n, m = PICTURES.shape[1] // 2, PICTURES.shape[2] // 2

    def cell(i: Any, j: Any, out: Any) -> Any:
        window = PICTURES[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :]
        return out[:, i, j, :].set(T.max(window, axis=(1, 2)))

    def row(i: Any, out: Any) -> Any:
        return symc.fori_loop(0, m, lambda j, out: cell(i, j, out), out)

    shape = (PICTURES.shape[0], n, m, PICTURES.shape[3])
    f = symc.function([PICTURES], symc.fori_loop(0, n, row, T.zeros(shape)))
    assert is_kernel(f)
    for lengths in ((3, 6, 8, 5), (1, 2, 2, 1), (2, 0, 4, 3), (0, 4, 4, 2)):
        x = np.random.default_rng(1).standard_normal(lengths)
        b, h, w, c = lengths
        wanted = x.reshape(b, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))
        assert np.array_equal(f(x), wanted)


def test_numbers_between_kernels_of_a_step() -> None:
    def step(i: Any, y: Any) -> Any:
        t = T.exp(X[i]) + 1
        return y[i].set(t * t + T.sin(t))

    f = symc.function([X], symc.fori_loop(0, X.shape[0], step, T.zeros(X.shape)))
    assert is_kernel(f)
    for n in (0, 1, 5, 1000):
        x = np.linspace(-1, 1, n)
        t = np.exp(x) + 1
        np.testing.assert_allclose(f(x), t * t + np.sin(t), rtol=1e-14)


@pytest.mark.parametrize("distance", [1, 2, 5])
def test_steps_that_read_what_others_wrote_stay_in_order(distance: int) -> None:
    def step(i: Any, y: Any) -> Any:
        return y[i + distance].set(y[i] * 0.5 + X[i])

    n = X.shape[0]
    f = symc.function([X], symc.fori_loop(0, n - distance, step, T.zeros(n)))
    x = np.random.default_rng(0).random(40)
    wanted = np.zeros(40)
    for i in range(40 - distance):
        wanted[i + distance] = wanted[i] * 0.5 + x[i]
    assert np.array_equal(f(x), wanted)


def test_steps_that_write_one_place_stay_in_order() -> None:
    f = symc.function([X], symc.fori_loop(0, X.shape[0], lambda i, y: y[i // 2].set(X[i]), X))
    x = np.arange(9.0)
    wanted = x.copy()
    for i in range(9):
        wanted[i // 2] = x[i]
    assert np.array_equal(f(x), wanted)


def test_a_column_and_a_row_of_one_matrix() -> None:
    def step(i: Any, j: Any, d: Any) -> Any:
        return d[i, j].set(T.minimum(d[i, j], d[i, 1] + d[1, j]))

    def row(i: Any, d: Any) -> Any:
        return symc.fori_loop(0, d.shape[1], lambda j, d: step(i, j, d), d)

    f = symc.function([A], symc.fori_loop(0, A.shape[0], row, A))
    a = np.random.default_rng(3).random((9, 9))
    wanted = a.copy()
    for i in range(9):
        for j in range(9):
            wanted[i, j] = min(wanted[i, j], wanted[i, 1] + wanted[1, j])
    assert np.array_equal(f(a), wanted)


def test_results_of_a_scan() -> None:
    """Steps without a state of their own."""
    out = symc.scan(lambda a, b: a * b + 1, sequences=[X, Y])[0]
    f = symc.function([X, Y], out)
    x, y = np.arange(5.0), np.arange(7.0)
    assert np.array_equal(f(x, y), x * y[:5] + 1)


def added(i: Any, total: Any) -> Any:
    return total + X[i] * Y[i]


def taken(i: Any, total: Any) -> Any:
    return total - A[i, 1] * X[i]


@pytest.mark.parametrize("step", [added, taken])
def test_a_bug_numbers_that_each_step_adds_something_to_waited_for_each_other(step: Any) -> None:
    """They took four times as long as the same sum without a loop."""
    f = symc.function([X, Y, A], symc.fori_loop(0, X.shape[0], step, 0.5), on_unused_input="ignore")
    assert "_total += " in f.source or "_total_lanes[" in f.source
    for n in (0, 1, 3, 16, 100, 1000):
        x, y = np.random.default_rng(n).standard_normal((2, n))
        a = np.random.default_rng(1).standard_normal((n, 2))
        wanted = 0.5 + x @ y if step is added else 0.5 - a[:, 1] @ x
        np.testing.assert_allclose(f(x, y, a), wanted, rtol=1e-12, atol=1e-12)


def test_sums_of_steps_that_also_write_elements() -> None:
    """The sum of the lower part of a row, beside what is added to a column."""

    def row(i: Any, a: Any, x: Any) -> Any:
        def cell(j: Any, a: Any, total: Any) -> Any:
            return a[j, i].inc(a[i, j]), total + a[i, j]

        a, total = symc.fori_loop(0, i, cell, [a, 0.0])
        return a, x[i].set(total)

    f = symc.function([A, X], symc.fori_loop(0, X.shape[0], row, [A, X]))
    a = np.random.default_rng(0).standard_normal((40, 40))
    got, sums = f(a, np.zeros(40))
    np.testing.assert_allclose(got, a + np.triu(a.T, 1), rtol=1e-12)
    np.testing.assert_allclose(sums, np.tril(a, -1).sum(axis=1), rtol=1e-12, atol=1e-12)


OTHERS: dict[str, Any] = {
    "the running sum is stored": lambda i, total, y: (total + X[i], y[i].set(total)),
    "the sum decides what is added": lambda i, total, y: (total + T.where(total > 0, X[i], 1.0), y),
    "a sum is added to another": lambda i, total, y: (total + X[i], y + total),
    "a sum is multiplied": lambda i, total, y: (0.5 * total + X[i], y),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_numbers_of_steps_are_what_they_were(name: str) -> None:
    step, start = OTHERS[name], 0.0 if "another" in name else T.zeros_like(X)
    f = symc.function([X], symc.fori_loop(0, X.shape[0], step, [0.0, start]))
    g = symc.function([X], symc.fori_loop(0, X.shape[0], step, [0.0, start]), mode="python")
    x = np.random.default_rng(3).standard_normal(37)
    for got, wanted in zip(f(x), g(x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_indexes_of_sums_are_checked() -> None:
    f = symc.function([X, Y], symc.fori_loop(0, X.shape[0], added, 0.5))
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        f(np.ones(4), np.ones(3))
