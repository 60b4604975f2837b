"""Products of complex matrices and vectors, which had been loops that shuffled each element."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T

ROWS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 64, 65, 130, 257)
COLUMNS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 17, 31, 32, 33, 65, 300, 511, 512, 513, 700, 1025)
DTYPES = ("complex64", "complex128")
Numbers = np.ndarray[Any, np.dtype[Any]]


def numbers(rng: np.random.Generator, dtype: str, *shape: int) -> Numbers:
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def close(found: Numbers, expected: Numbers) -> bool:
    bound = 1e-3 if found.dtype == np.complex64 else 1e-11
    return found.shape == expected.shape and np.allclose(found, expected, bound, bound)


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_lengths(dtype: str) -> None:
    a, x, y = (T.tensor(dtype, (None,) * ndim) for ndim in (2, 1, 1))
    f = symc.function([a, x, y], [a @ x, y @ a])
    assert "symc_complex_gemv" in f.source
    rng = np.random.default_rng(0)
    for m in ROWS:
        for n in COLUMNS:
            matrix, right, left = (numbers(rng, dtype, *shape) for shape in ((m, n), (n,), (m,)))
            found = f(matrix, right, left)
            assert close(found[0], matrix @ right), (m, n)
            assert close(found[1], left @ matrix), (m, n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_conjugates_and_transposes(dtype: str) -> None:
    a, x, y = (T.tensor(dtype, (None,) * ndim) for ndim in (2, 1, 1))
    results = (a.conj() @ x, a.conj().T @ y, y[::-1] @ a, a[::2] @ x, a[:, 1:] @ x[1:], (2 * a) @ x)
    f = symc.function([a, x, y], results)
    rng = np.random.default_rng(1)
    for m in (1, 3, 8, 33, 70):
        for n in (1, 2, 5, 17, 40, 600):
            p, u, v = (numbers(rng, dtype, *shape) for shape in ((m, n), (n,), (m,)))
            expected = (p.conj() @ u, p.conj().T @ v, v[::-1] @ p, p[::2] @ u, p[:, 1:] @ u[1:])
            for found, wanted in zip(f(p, u, v), (*expected, 2 * p @ u), strict=True):
                assert close(found, wanted), (m, n)


def test_a_conjugated_matrix_is_not_stored() -> None:
    a, x = T.tensor("complex128", (None, None)), T.tensor("complex128", (None,))
    f = symc.function([a, x], a.conj() @ x)
    matrix, vector = np.ones((400, 400), complex), np.ones(400, complex)
    assert np.allclose(f(matrix, vector), 400)
    assert "symc_complex_gemv" in f.source
    assert "[x_0, x_1]" not in f.source.partition("symc_run")[2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_change_no_digits(dtype: str) -> None:
    a, x, y = (T.tensor(dtype, (None,) * ndim) for ndim in (2, 1, 1))
    rng = np.random.default_rng(2)
    given = [numbers(rng, dtype, *shape) for shape in ((300, 1100), (1100,), (300,))]
    results = []
    for threads in (1, 3):
        with symc.config.set(threads=threads):
            results.append(symc.function([a, x, y], [a @ x, y @ a])(*given))
    for found, wanted in zip(*results, strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_that_are_no_numbers_stay_in_their_rows(dtype: str) -> None:
    """An overlapping last vector reads them twice, and a mask leaves them out."""
    a, x, y = (T.tensor(dtype, (None,) * ndim) for ndim in (2, 1, 1))
    f = symc.function([a, x, y], [a @ x, y @ a])
    for m in (1, 4, 9, 33, 40):
        for n in (1, 2, 5, 9, 33, 39, 70):
            matrix = np.ones((m, n), dtype)
            matrix[m // 2, n - 1] = np.nan
            matrix[m - 1, max(0, n - 2)] = np.inf
            found = f(matrix, np.ones(n, dtype), np.ones(m, dtype))
            for got, expected in zip(found, (matrix.sum(1), matrix.sum(0)), strict=True):
                assert np.array_equal(np.isnan(np.real(got)), np.isnan(np.real(expected))), (m, n)
                assert np.array_equal(np.isinf(np.real(got)), np.isinf(np.real(expected))), (m, n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_steps_and_at_the_end_of_a_page(dtype: str) -> None:
    a, x, count = T.tensor(dtype, (None, None)), T.tensor(dtype, (None,)), T.lscalar()
    right = symc.fori_loop(0, count, lambda _, x: a @ x, x)
    left = symc.fori_loop(0, count, lambda _, x: x @ a, x)
    f = symc.function([a, x, count], [right, left])
    rng = np.random.default_rng(3)
    page = mmap.mmap(-1, 1 << 16)
    for n in (1, 2, 3, 4, 5, 8, 10, 16, 17, 33):
        matrix, vector = numbers(rng, dtype, n, n) / n, numbers(rng, dtype, n)
        there = np.frombuffer(page, dtype, n * n, (1 << 16) - matrix.nbytes).reshape(n, n)
        there[...] = matrix
        power = np.linalg.matrix_power(matrix.astype(complex), 3)
        found = f(there, vector, 3)
        assert close(found[0], power @ vector), n
        assert close(found[1], vector @ power), n
        del there


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_that_begin_anywhere_in_a_line(dtype: str) -> None:
    """Vectors of rows begin where lines of the cache do, and rows are added that begin alike."""
    a, y = T.tensor(dtype, (None, None)), T.tensor(dtype, (None,))
    f = symc.function([a, y], y @ a)
    rng = np.random.default_rng(4)
    for n in (33, 34, 36, 40, 41, 48, 64, 519):
        memory = numbers(rng, dtype, 140 * n + 8)
        for m in (33, 64, 67, 131, 140):
            left = numbers(rng, dtype, m)
            for start in range(8):
                matrix = memory[start : start + m * n].reshape(m, n)
                assert close(f(matrix, left), left @ matrix), (m, n, start)
