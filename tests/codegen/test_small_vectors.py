"""Products of small matrices and vectors: all lengths around vector widths, and what is by a page.

In a step of a loop they had taken 80 to 170 ns for 10 x 10, most of it to begin with.
"""

from __future__ import annotations

import mmap

import numpy as np
import pytest

import symc
from symc import tensor as T

LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 63, 64, 65, 127, 128)
DTYPES = ("float32", "float64")


def close(found: np.ndarray, expected: np.ndarray) -> bool:
    bound = 2e-4 if found.dtype == np.float32 else 1e-12
    return found.shape == expected.shape and np.allclose(found, expected, bound, bound)


def wide(*arrays: np.ndarray) -> list[np.ndarray]:
    return [x.astype(float) for x in arrays]


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_lengths(dtype: str) -> None:
    a, x, y = (T.tensor(dtype, (None,) * ndim) for ndim in (2, 1, 1))
    f = symc.function([a, x, y], [a @ x, y @ a])
    rng = np.random.default_rng(0)
    for m in (*LENGTHS, 129, 300):
        for n in (*LENGTHS, 129, 300):
            given = [rng.standard_normal(shape).astype(dtype) for shape in ((m, n), n, m)]
            matrix, right, left = wide(*given)
            found = f(*given)
            assert close(found[0], matrix @ right), (m, n)
            assert close(found[1], left @ matrix), (m, n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_of_matrices_and_sums(dtype: str) -> None:
    """Rows that are longer than what is read of them; what is added to the product."""
    a, x, y = (T.tensor(dtype, (None,) * ndim) for ndim in (2, 1, 1))
    f = symc.function([a, x, y], [a[1:, 2:] @ x[2:], 3 * (y[1:] @ a[1:, :-1]) + x[:-1]])
    rng = np.random.default_rng(1)
    for m in LENGTHS[2:]:
        for n in LENGTHS[3:]:
            given = [rng.standard_normal(shape).astype(dtype) for shape in ((m, n), n, m)]
            matrix, right, left = wide(*given)
            found = f(*given)
            assert close(found[0], matrix[1:, 2:] @ right[2:]), (m, n)
            assert close(found[1], 3 * (left[1:] @ matrix[1:, :-1]) + right[:-1]), (m, n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("known", [False, True])
def test_in_steps_of_loops(dtype: str, known: bool) -> None:
    for n in (1, 2, 3, 4, 5, 8, 10, 16, 17, 24, 33):
        shape = n if known else None
        a, x, count = T.tensor(dtype, (shape, shape)), T.tensor(dtype, (shape,)), T.lscalar()
        right = symc.fori_loop(0, count, lambda _, x, a=a: a @ x, x)
        left = symc.fori_loop(0, count, lambda _, x, a=a: x @ a, x)
        f = symc.function([a, x, count], [right, left])
        rng = np.random.default_rng(n)
        matrix = rng.uniform(0, 2 / n, (n, n)).astype(dtype)
        vector = rng.standard_normal(n).astype(dtype)
        power = np.linalg.matrix_power(matrix.astype(float), 7)
        found = f(matrix, vector, 7)
        assert close(found[0], power @ vector), n
        assert close(found[1], vector @ power), n


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices_anywhere_in_memory(dtype: str) -> None:
    """Vectors begin where those of the memory do, if they do so in all rows alike."""
    a, x, y = (T.tensor(dtype, (None,) * ndim) for ndim in (2, 1, 1))
    f = symc.function([a, x, y], [a @ x, 3 * (y @ a) + x, a[1:, 5:] @ x[5:]])
    rng = np.random.default_rng(4)
    room = np.empty(1 << 22, np.uint8)
    for m in (1, 3, 8, 13, 140):
        for n in (31, 32, 40, 48, 64, 72, 96, 128, 136, 144, 600, 1040, 2096):
            for beyond in (0, 1, 2, 3, 7, 8, 11, 15):
                values = [rng.standard_normal(shape).astype(dtype) for shape in ((m, n), n, m)]
                begin = -room.ctypes.data % 64 + beyond * values[0].itemsize
                given = room[begin : begin + values[0].nbytes].view(dtype).reshape(m, n)
                given[...] = values[0]
                given[m - 1, n - 1] = np.nan if beyond == 11 else given[m - 1, n - 1]
                matrix, right, left = wide(given, *values[1:])
                found = f(given, *values[1:])
                wanted = matrix @ right, 3 * (left @ matrix) + right, matrix[1:, 5:] @ right[5:]
                for one, other in zip(found, wanted, strict=True):
                    assert np.allclose(one, other, 1e-3, 1e-3, equal_nan=True), (m, n, beyond)
                    if dtype == "float64":
                        assert np.allclose(one, other, 1e-11, 1e-11, equal_nan=True), (m, n, beyond)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_that_are_no_numbers_stay_in_their_rows(dtype: str) -> None:
    a, x, y = (T.tensor(dtype, (None,) * ndim) for ndim in (2, 1, 1))
    f = symc.function([a, x, y], [a @ x, y @ a])
    rng = np.random.default_rng(2)
    for m in LENGTHS[2:]:
        for n in LENGTHS[2:]:
            matrix = rng.uniform(1, 2, (m, n)).astype(dtype)
            matrix[m // 2, n - 1] = np.nan
            matrix[m - 1, n // 2] = np.inf
            right, left = np.ones(n, dtype), np.ones(m, dtype)
            found = f(matrix, right, left)
            assert np.array_equal(np.isfinite(found[0]), np.isfinite(matrix.sum(1))), (m, n)
            assert np.array_equal(np.isnan(found[1]), np.isnan(matrix.sum(0))), (m, n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_that_end_with_a_page(dtype: str) -> None:
    """The page after may not be in memory; a product there has the same bits as elsewhere."""
    a, x, y = (T.tensor(dtype, (None,) * ndim) for ndim in (2, 1, 1))
    f = symc.function([a, x, y], [a @ x, y @ a])
    rng = np.random.default_rng(3)
    kept = [mmap.mmap(-1, 1 << 16) for _ in range(3)]

    def at_end(value: np.ndarray, page: mmap.mmap, before: int) -> np.ndarray:
        begin = (1 << 16) - value.nbytes - before * value.itemsize
        there = np.frombuffer(page, dtype, value.size, begin).reshape(value.shape)
        there[...] = value
        return there

    for before in (0, 1, 5, 20):
        for m, n in ((3, 3), (10, 10), (7, 17), (16, 33), (8, 16)):
            values = [rng.standard_normal(shape).astype(dtype) for shape in ((m, n), n, m)]
            given = [at_end(*pair, before) for pair in zip(values, kept, strict=True)]
            matrix, right, left = wide(*values)
            found = f(*given)
            assert close(found[0], matrix @ right), (m, n)
            assert close(found[1], left @ matrix), (m, n)
            for one, other in zip(found, f(*values), strict=True):
                assert np.array_equal(one, other), (m, n)
            del given
