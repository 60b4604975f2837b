"""Factorisations in blocks: sizes about the block's, all kinds, pivots, failures, threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import LinAlgError

L: Any = T.linalg
SIZES = [17, 63, 64, 65, 96, 131, 200, 333]
DTYPES = ["float32", "float64", "complex64", "complex128"]


def numbers(shape: tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if "complex" in dtype else x).astype(dtype)


def definite(n: int, dtype: str) -> Any:
    a = numbers((n, n), dtype)
    return (a @ a.conj().T / n + np.eye(n)).astype(dtype)


def assert_close(got: Any, wanted: Any, dtype: str) -> None:
    """Within some units of the last place of the largest element, for matrices this regular."""
    assert got.dtype == dtype
    eps = np.finfo(dtype).eps
    assert np.abs(got - wanted).max() <= 500 * eps * max(1, np.abs(wanted).max())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [0, 1, 2])
def test_triangles_of_all_sizes(lower: bool, trans: int, dtype: str) -> None:
    a, b = T.tensor(dtype, (None, None), "a"), T.tensor(dtype, (None, None), "b")
    solve = symc.function([a, b], L.solve_triangular(a, b, lower, trans))
    unit = symc.function([a, b], L.solve_triangular(a, b, lower, trans, unit_diagonal=True))
    for n in SIZES:
        given = numbers((n, n), dtype) / np.asarray(2 * n, dtype)  # beyond the triangle, too
        given += np.eye(n, dtype=dtype)
        for m in (1, 2, 3, 65, 200):
            right = numbers((n, m), dtype)
            for function, diagonal in ((solve, given.diagonal()), (unit, np.ones(n, dtype))):
                triangle = np.tril(given, -1) if lower else np.triu(given, 1)
                triangle = triangle + np.diag(diagonal)
                turned = (triangle, triangle.T, triangle.conj().T)[trans]
                wanted = np.linalg.solve(turned.astype("complex128"), right)
                assert_close(function(given, right), wanted, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_systems_and_inverses_of_all_sizes(dtype: str) -> None:
    a, b = T.tensor(dtype, (None, None), "a"), T.tensor(dtype, (None, None), "b")
    both = symc.function([a, b], [L.solve(a, b), L.solve(a.T, b), L.inv(a), L.slogdet(a)[1]])
    factor = symc.function([a], L.cholesky(a))
    for n in SIZES:
        given, right = numbers((n, n), dtype), numbers((n, 70), dtype)
        given += 2 * np.sqrt(n).astype(given.real.dtype) * np.eye(n, dtype=dtype)[::-1]
        wide = given.astype("complex128")
        x, y, inverse, size = both(given, right)
        assert_close(x, np.linalg.solve(wide, right), dtype)
        assert_close(y, np.linalg.solve(wide.T, right), dtype)
        assert_close(inverse, np.linalg.inv(wide), dtype)
        assert_close(size, np.linalg.slogdet(wide)[1], given.real.dtype.name)
        matrix = definite(n, dtype)
        garbage = np.triu(np.full((n, n), np.nan, dtype), 1)
        read = np.tril(matrix) + garbage  # only the lower triangle is read
        assert_close(factor(read), np.linalg.cholesky(matrix.astype("complex128")), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_inverses_by_cholesky_of_all_sizes(dtype: str) -> None:
    a = T.tensor(dtype, (None, None), "a")
    one = T.eye(a.shape[0], dtype=dtype)
    factor = L.cholesky(a)
    upper = L.solve_triangular(T.conj(factor).T, one)
    made = symc.function([a], [L.solve(a, one, assume_a="pos"), L.inv(factor), upper])
    stack = T.tensor(dtype, (None, None, None), "stack")
    several = symc.function([stack], L.inv(L.cholesky(stack)))
    for n in [1, 2, 5, *SIZES]:
        matrix = definite(n, dtype)
        wide = matrix.astype("complex128")
        wanted = np.linalg.inv(np.linalg.cholesky(wide))
        whole, lower, turned = made(matrix)
        assert_close(whole, np.linalg.inv(wide), dtype)
        np.testing.assert_array_equal(np.triu(lower, 1), 0)
        assert_close(lower, wanted, dtype)
        assert_close(turned, wanted.conj().T, dtype)
        assert_close(several(np.stack([matrix, matrix]))[1], wanted, dtype)
        if "complex" not in dtype:
            np.testing.assert_array_equal(whole, whole.T)


@pytest.mark.parametrize("dtype", DTYPES)
def test_which_minor_or_pivot_fails(dtype: str) -> None:
    a = T.tensor(dtype, (None, None), "a")
    factor, inverse = symc.function([a], L.cholesky(a)), symc.function([a], L.inv(a))
    for n in SIZES:
        for at in {0, n // 2, n - 1}:
            matrix = np.eye(n, dtype=dtype)
            matrix[at, at] = -1
            with pytest.raises(LinAlgError, match=rf"order {at + 1} is not positive"):
                factor(matrix)
            matrix[at, at] = 0
            with pytest.raises(LinAlgError, match=rf"pivot {at + 1} is 0"):
                inverse(matrix)


def test_a_factor_of_nan_is_nan_at_every_size() -> None:
    """Matrices up to 16 x 16 raised, with a text about memory; all others gave NaN, as NumPy."""
    a = T.matrix("a")
    factor = symc.function([a], L.cholesky(a))
    for n in (2, 10, 20, 150):
        for at in {0, n // 2, n - 1}:
            matrix = definite(n, "float64")
            matrix[at, at] = np.nan
            wanted = np.linalg.cholesky(matrix)
            np.testing.assert_array_equal(np.isnan(factor(matrix)), np.isnan(wanted))


def test_pivots_are_the_largest_numbers() -> None:
    """Without exchanges the growth of elements would leave no digit."""
    a, b = T.matrix("a"), T.matrix("b")
    solve = symc.function([a, b], L.solve(a, b))
    for n in (40, 300):
        matrix = numbers((n, n), "float64")
        matrix[np.arange(n), np.arange(n)] = 1e-13
        right = numbers((n, 5), "float64")
        x = solve(matrix, right)
        size = np.abs(matrix).sum(1).max() * np.abs(x).max()  # the error that its digits allow
        assert np.abs(matrix @ x - right).max() < 50 * np.finfo("float64").eps * size


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_permutation_is_no_solution_of_a_system(dtype: str) -> None:
    stack = T.tensor(dtype, (None, None, None), "stack")
    one = symc.function([stack], list(L.lu(stack)))
    mapped = symc.function([stack], list(symc.vmap(lambda a: tuple(L.lu(a)))(stack)))
    made = one.runner.compilation().optimised.steps
    assert "lu_solve" not in {getattr(step, "name", "") for step in made}
    given = np.stack([numbers((90, 90), dtype), numbers((90, 90), dtype)[::-1]])
    for p, lower, upper in (one(given), mapped(given)):
        np.testing.assert_array_equal(p.sum(-1), 1)
        np.testing.assert_array_equal((p != 0).sum(-2), 1)
        assert_close(p @ lower @ upper, given, dtype)


PROGRAM = """
import hashlib
import numpy as np
import symc
import symc.tensor as T
L = T.linalg
a, b = T.matrix("a"), T.matrix("b")
l = L.cholesky(a @ a.T + T.eye(a.shape[0]))
given = [L.solve(a, b), L.inv(a), l, L.inv(l), L.solve_triangular(l, b, lower=True), L.det(a / 20),
         symc.grad((l * b).sum(), a)]
made = symc.function([a, b], given)
x, y = np.random.default_rng(0).standard_normal((2, 500, 500))
print(hashlib.sha256(b"".join(np.asarray(each).tobytes() for each in made(x, y))).hexdigest())
"""


def test_bits_do_not_depend_on_threads() -> None:
    def run(threads: int) -> str:
        environment = {**os.environ, "SYMC_THREADS": str(threads)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=Path(__file__).parents[2], text=True,
            capture_output=True, check=True, env=environment,
        )  # fmt: skip
        return done.stdout

    assert run(1) == run(2) == run(3)
