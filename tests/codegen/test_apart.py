"""Steps that add a product to what the step before has made: the product is computed apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

A, X = T.matrix("a"), T.vector("x")
RNG = np.random.default_rng(5)


def substitution(a: Any, b: Any) -> Any:
    """A triangular system. Each step looks at what is left of a row, so that it is no sum."""

    def row(i: Any, x: Any) -> Any:
        def cell(j: Any, left: Any, least: Any) -> list[Any]:
            return [left - a[i, j] * x[j], T.minimum(left, least)]

        left, least = symc.fori_loop(0, i, cell, [b[i], b[i]])
        return x[i].set(T.where(least > -1e30, left / a[i, i], 0.0))

    return symc.fori_loop(0, b.shape[0], row, T.zeros_like(b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sum_of_products_waits_for_additions_alone(dtype: str) -> None:
    a, b = T.tensor(dtype, (None, None), "a"), T.tensor(dtype, (None,), "b")
    f = symc.function([a, b], substitution(a, b))
    assert f.source.count(f"- symc_apart_f{dtype[-2:]}(") == 1
    matrix = np.tril(RNG.uniform(0.5, 1, (9, 9))).astype(dtype)
    right = RNG.uniform(0.5, 1, 9).astype(dtype)
    wanted = np.linalg.solve(matrix.astype(float), right)
    np.testing.assert_allclose(f(matrix, right), wanted, rtol=1e-9 if dtype == "float64" else 1e-2)


def test_a_product_of_the_number_itself_stays_in_one_instruction() -> None:
    f = symc.function([X], symc.fori_loop(0, X.shape[0], lambda i, s: 0.5 * s + X[i], 1.0))
    assert "symc_apart" not in f.source
    np.testing.assert_allclose(f([1.0, 2.0]), 2.75)


def test_an_element_that_steps_add_to_stays_in_a_register() -> None:
    """It was stored and loaded in each step, which took four times as long as the sum."""

    def row(i: Any, a: Any) -> Any:
        def cell(j: Any, a: Any) -> Any:
            return symc.fori_loop(0, j, lambda k, a: a[i, j].inc(-a[i, k] * a[j, k]), a)

        return symc.fori_loop(0, i, cell, a)

    f = symc.function([A], symc.fori_loop(0, A.shape[0], row, A))
    assert "double out_sum = out[step * a_1 + step_2];" in f.source
    given = RNG.standard_normal((7, 7))
    wanted = given.copy()
    for i in range(7):
        for j in range(i):
            for k in range(j):
                wanted[i, j] -= wanted[i, k] * wanted[j, k]
    np.testing.assert_allclose(f(given), wanted)


def test_steps_that_change_no_array_are_compiled_as_all_else() -> None:
    f = symc.function([X], symc.fori_loop(0, X.shape[0], lambda i, s: s + X[i] * X[i], 1.0))
    assert "SYMC_STEPS" not in f.source
    np.testing.assert_allclose(f([1.0, 2.0]), 6.0)


def test_conditions_that_one_step_stores_and_the_next_one_tests_are_jumps() -> None:
    """Insertion stored each of its conditions as a byte, and took 1.5 times as long."""

    def insert(i: Any, x: Any) -> Any:
        def move(j: Any, x: Any) -> list[Any]:
            return [j - 1, x[j].set(x[j - 1])]

        larger = lambda j, y: T.logical_and(j > 0, y[j - 1] > x[i])  # noqa: E731
        j, moved = symc.while_loop(larger, move, [i, x])
        return moved[j].set(x[i])

    f = symc.function([X], symc.fori_loop(1, X.shape[0], insert, X))
    assert "SYMC_JUMPS int64_t symc_run" in f.source
    given = RNG.standard_normal(50)
    np.testing.assert_array_equal(f(given), np.sort(given))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_product_of_what_is_only_passed_on_waits_for_nothing(dtype: str) -> None:
    """A filter of second order: the last output but one is there before the last one."""
    x = T.tensor(dtype, (None,), "x")

    def step(i: Any, y: Any, last: Any, before: Any) -> list[Any]:
        new = x[i] + 0.5 * last - 0.25 * before
        return [y[i].set(new), new, last]

    zero = T.constant(np.zeros((), dtype))
    f = symc.function([x], symc.fori_loop(0, x.shape[0], step, [T.zeros_like(x), zero, zero])[0])
    assert f"symc_apart_f{dtype[-2:]}(" in f.source
    for n in (0, 1, 2, 9):
        given = RNG.normal(size=n).astype(dtype)
        wanted, last, before = [], 0.0, 0.0
        for value in given:
            last, before = float(value) + 0.5 * last - 0.25 * before, last
            wanted.append(last)
        np.testing.assert_allclose(f(given), wanted, rtol=1e-5 if dtype == "float32" else 1e-14)
