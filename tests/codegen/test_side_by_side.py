"""side_by_side: sums in four scalars mean the same as in one, and stand where they are faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Loop
from symc.codegen.passes.vectors.side_by_side import SHORT
from symc.codegen.passes.walk import statements

a, b = T.matrix("a"), T.vector("b")
k, short = T.vector("k", dtype="int64"), T.matrix("short", dtype="float32")


def solved(a: Any, b: Any) -> Any:
    """A triangular system, of which each step reads what those before have stored."""

    def row(i: Any, x: Any) -> Any:
        return x[i].set((b[i] - (a[i, :i] * x[:i]).sum()) / a[i, i])

    return symc.fori_loop(0, b.shape[0], row, T.zeros_like(b))


def gathered(k: Any, b: Any) -> Any:
    """For each number of elements, the sum of those that an array names."""

    def row(i: Any, y: Any) -> Any:
        return y[i].set((b[:i] * b[k[:i]]).sum())

    return symc.fori_loop(0, k.shape[0], row, T.zeros_like(b))


# What is computed, and in how many loops four at a time.
CASES: dict[str, tuple[list[Any], Any, Callable[..., Any], int]] = {
    "a column": ([a, b], (a[:, 1] * b).sum(), lambda a, b: a[:, 1] @ b, 1),
    "two columns": ([a, b], T.stack([a[:, 0].sum(), (a[:, 1] * b).sum()]),
                    lambda a, b: np.stack([a[:, 0].sum(), a[:, 1] @ b]), 1),
    "a column of float32": ([short], short[:, 0].sum(), lambda s: s[:, 0].sum(), 1),
    "a row": ([a, b], (a[1] * b).sum(), lambda a, b: a[1] @ b, 0),
    "exponentials of a column": ([a], T.exp(a[:, 1]).sum(), lambda a: np.exp(a[:, 1]).sum(), 0),
    "the greatest of a column": ([a], a[:, 1].max(), lambda a: a[:, 1].max(), 0),
    "what was just stored": ([a, b], solved(a, b), np.linalg.solve, 1),
    "tested": ([k, b], gathered(k, b),
               lambda k, b: np.array([b[:i] @ b[k[:i]] for i in range(len(k))]), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sums_side_by_side_mean_the_same(name: str) -> None:
    inputs, output, numpy, loops = CASES[name]
    f = symc.function(inputs, output)
    for n in (2, 3, 4, 5, 8, 11, 30):
        rng = np.random.default_rng(n)
        of = {
            a: np.tril(rng.normal(size=(n, n))) + n * np.eye(n),
            b: rng.normal(size=n),
            k: rng.integers(-n, n, n),
            short: rng.normal(size=(n, 3)).astype("float32"),
        }
        given = [of[x] for x in inputs]
        np.testing.assert_allclose(f(*given), numpy(*given), rtol=2e-6, atol=1e-12)
    assert fours(f) == loops


def test_a_sum_of_no_column_is_zero() -> None:
    f = symc.function([a, b], (a[:, 0] * b).sum())
    assert f(np.ones((0, 2)), np.ones(0)) == 0.0


def test_an_index_out_of_range_is_found_in_each_of_four_places() -> None:
    f = symc.function([k, b], gathered(k, b))
    for place in range(7):
        wrong = np.zeros(9, "int64")
        wrong[place] = 9
        with pytest.raises(IndexError):
            f(wrong, np.ones(9))


def fours(f: symc.Function) -> int:
    """How many loops add up four at a time."""
    program = f.runner.compilation().optimised
    return sum(
        isinstance(stmt, Loop) and stmt.var.name.endswith("_four")
        for kernel in program.kernels
        for stmt in statements(kernel.body)
    )


@pytest.mark.parametrize("n", [1, 5, SHORT - 1, SHORT, SHORT + 1, 2 * SHORT + 3])
def test_a_bug_long_sums_of_what_was_just_stored_took_a_third_more_time(n: int) -> None:
    """Only short ones wait for the cache: the others are added up in vector registers."""

    def step(i: Any, out: Any) -> Any:
        return out[i].set((b[i] - (a[i, :i] * out[:i]).sum()) / a[i, i])

    f = symc.function([a, b], symc.fori_loop(0, b.shape[0], step, T.zeros_like(b)))
    assert f"if (n < {SHORT})" in f.source
    rng = np.random.default_rng(n)
    lower = np.tril(rng.random((n, n))) + n * np.eye(n)
    given = rng.random(n)
    np.testing.assert_allclose(f(lower, given), np.linalg.solve(lower, given), rtol=1e-10)


DTYPES = ("float64", "float32", "int64")


def known(dtype: str, n: int) -> tuple[symc.Function, Any, Any]:
    """A loop whose steps add up rows of known length, with its arguments and their result."""
    x = T.tensor(dtype, shape=(7, n), name="x")
    w = T.tensor(dtype, shape=(n,), name="w")

    def step(i: Any, t: Any) -> Any:
        return T.cast(t - (x[i] * w).sum() + ((x[i] - t) * w).sum(), dtype)

    f = symc.function([x, w], symc.fori_loop(0, 7, step, T.zeros((), dtype)))
    rng = np.random.default_rng(n)
    rows, row = rng.integers(-3, 4, (7, n)).astype(dtype), rng.integers(-3, 4, n).astype(dtype)
    if dtype != "int64":
        row /= 3 * max(n, 1)
    t = np.zeros((), dtype)
    for i in range(7):
        t = (t - (rows[i] * row).sum() + ((rows[i] - t) * row).sum()).astype(dtype)
    return f, (rows, row), t


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 31, 32, 33, 47, 63, 100])
def test_a_bug_short_sums_of_known_length_went_through_memory(dtype: str, n: int) -> None:
    """With lengths declared, loops took up to six times as long as without."""
    f, given, wanted = known(dtype, n)
    rtol = 1e-12 if dtype != "float32" else 1e-4
    np.testing.assert_allclose(f(*given), wanted, rtol=rtol, atol=rtol)  # of numbers of up to 3


def test_sums_of_known_length_are_compiled_into_the_step() -> None:
    f, _, _ = known("float64", 6)
    assert "omp simd" not in f.source
    assert "always_inline" in f.source.split("/* ---- kernels ---- */")[1]
    f, _, _ = known("float64", 14)
    assert "#pragma GCC unroll 3" in f.source
    f, _, _ = known("float64", 100)
    assert "omp simd" in f.source


@pytest.mark.parametrize("n", [5, 12, 13, 20, 24, 40])
def test_rows_of_known_length_are_added_up_in_several_scalars_or_registers(n: int) -> None:
    for dtype, rtol in (("float64", 1e-12), ("float32", 1e-5)):
        rows = T.tensor(dtype, shape=(None, n), name="rows")
        f = symc.function([rows], [rows.sum(axis=1), (rows * rows).sum(axis=1)])
        given = np.random.default_rng(n).normal(size=(9, n)).astype(dtype)
        for found, wanted in zip(f(given), (given, given * given), strict=True):
            np.testing.assert_allclose(found, wanted.sum(axis=1), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 15, 16, 31, 32, 33, 40, 64, 70, 100])
def test_a_bug_short_extremes_of_known_length_went_through_memory(dtype: str, n: int) -> None:
    """With lengths declared, loops took up to ten times as long as without."""
    x = T.tensor(dtype, shape=(9, n), name="x")

    def step(i: Any, t: Any) -> Any:
        return T.cast(t - x[i].max() * x[i].min() + (x[i] - t).max(), dtype)

    f = symc.function([x], symc.fori_loop(0, 9, step, T.zeros((), dtype)))
    given = np.random.default_rng(n).integers(-9, 9, (9, n)).astype(dtype)
    t = np.zeros((), dtype)
    for row in given:
        t = (t - row.max() * row.min() + (row - t).max()).astype(dtype)
    assert f(given) == t
    if dtype != "int64":
        for place in range(n):
            wrong = given.copy()
            wrong[3, place] = np.nan
            assert np.isnan(f(wrong))


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 9])
def test_a_bug_few_columns_of_known_number_were_folded_in_memory(n: int) -> None:
    """The greatest of each of eight columns took three times as long as with lengths unknown."""
    x = T.tensor("float64", shape=(None, n), name="x")
    f = symc.function([x], [x.sum(axis=0), x.max(axis=0), x.prod(axis=0)])
    for rows in (1, 2, 5, 300):
        given = np.random.default_rng(n).uniform(0.9, 1.1, (rows, n))
        wanted = given.sum(axis=0), given.max(axis=0), given.prod(axis=0)
        for found, right in zip(f(given), wanted, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (5, 3), (2, 7)])
def test_a_bug_of_two_terms_of_an_iteration_the_first_was_lost(shape: tuple[int, int]) -> None:
    """Where the loop inside is written out, a scalar that began with the first began again."""
    x = T.tensor("float64", shape=(3, *shape), name="x")

    def step(i: Any, t: Any) -> Any:
        return t * 0.5 + x[i][:, ::-1].sum() + x[i][:, ::-1].max()

    f = symc.function([x], symc.fori_loop(0, 3, step, 0.0))
    given = np.random.default_rng(1).normal(size=(3, *shape))
    t = 0.0
    for part in given:
        t = t * 0.5 + part.sum() + part.max()
    np.testing.assert_allclose(f(given), t, rtol=1e-12)
