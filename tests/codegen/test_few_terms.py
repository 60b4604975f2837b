"""Rows of a few numbers, which no vector register folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import If
from symc.codegen.passes.walk import statements

a, b = T.tensor("float64", (None, None)), T.tensor("float32", (None, None))
k = T.tensor("int32", (None, None))

CASES: dict[str, tuple[Any, Any, Callable[..., Any]]] = {
    "largest": (a, a.max(axis=1), lambda a: a.max(1)),
    "largest of float32": (b, b.max(axis=1), lambda b: b.max(1)),
    "smallest": (b, (2 * b).min(axis=1), lambda b: (2 * b).min(1)),
    "integers": (k, k.max(axis=1), lambda k: k.max(1)),
    "product": (a, a.prod(axis=1), lambda a: a.prod(1)),
    "true in all": (a, (a > 1.5).all(axis=1), lambda a: (a > 1.5).all(1)),
    "two": (a, a.max(axis=1) - a.min(axis=1), lambda a: a.max(1) - a.min(1)),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_of_each_length(name: str) -> None:
    x, output, numpy = CASES[name]
    f = symc.function([x], output)
    kernels = f.runner.compilation().optimised.kernels
    assert any(isinstance(stmt, If) for kernel in kernels for stmt in statements(kernel.body))
    for n in (1, 2, 3, 7, 8, 9, 15, 16, 17, 33):
        rng = np.random.default_rng(n)
        given = (rng.uniform(1, 2, (21, n)) * (100 if x is k else 1)).astype(x.dtype.name)
        np.testing.assert_allclose(f(given), numpy(given), rtol=1e-13 if x is a else 1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_that_is_not_a_number_is_the_largest_of_its_row(dtype: str) -> None:
    """And of no other, whichever is the first or the last; so are infinities and zeros kept."""
    x = T.tensor(dtype, (None, None))
    f = symc.function([x], [x.max(axis=1), x.min(axis=1)])
    for n in (1, 2, 5, 7, 11, 15, 16, 20):
        for place in range(n):
            for value in (np.nan, np.inf, -np.inf, -0.0):
                given = np.linspace(-1, 1, 3 * n, dtype=dtype).reshape(3, n)
                given[1, place] = value
                most, least = f(given)
                np.testing.assert_array_equal(most, given.max(1))
                np.testing.assert_array_equal(least, given.min(1))


def test_rows_without_numbers() -> None:
    x = T.dmatrix()
    f = symc.function([x], [x.prod(axis=1), T.any(x > 0, axis=1)])
    ones, none = f(np.zeros((4, 0)))
    np.testing.assert_array_equal(ones, np.ones(4))
    np.testing.assert_array_equal(none, np.zeros(4, bool))
