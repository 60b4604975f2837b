"""Sparse matrices whose structure is computed: sums, products, parts, formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.near import assert_near
from tests.ops.test_sparse import COLUMNS, ROWS, matrix, symbol

sp: Any = pytest.importorskip("scipy.sparse")
RNG = np.random.default_rng(9)

OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "magnitudes of a difference": lambda a, b: abs(a - b * 2.0),
    "product": lambda a, b: a @ b.T,
}
OF_ONE: dict[str, Callable[[Any], Any]] = {
    "rows": lambda a: a[2:],
    "rows by number": lambda a: a[[4, 0, 4]],
    "both": lambda a: a[-4:, ::-2],
}


@pytest.mark.parametrize("name", OF_TWO)
def test_two_matrices(name: str) -> None:
    first, second = matrix("csc" if name == "product" else "csr"), matrix("csr")
    a, b, x, y = symbol(first, "a"), symbol(second, "b"), T.matrix("x"), T.matrix("y")
    made, whole = OF_TWO[name](a, b), OF_TWO[name](x, y)
    expected = OF_TWO[name](first.toarray(), second.toarray())
    weights = RNG.standard_normal(expected.shape)
    by_parts = symc.grad((made.toarray() * weights).sum(), [a.data, b.data])
    results: Any = symc.function([a, b], [made, *by_parts])(first, second)
    found, *slopes = results
    assert found.format == made.format
    assert_near(found.toarray(), expected, rtol=1e-12)
    places = list(zip(*found.tocoo().coords, strict=True))
    assert len(set(places)) == len(places)  # elements of one place are added up
    wanted = symc.function(
        [x, y], symc.grad((whole * weights).sum(), [x, y]), on_unused_input="ignore"
    )
    right = wanted(first.toarray(), second.toarray())
    for slope, value, full in zip(slopes, (first, second), right, strict=True):
        assert_near(slope, full[value.tocoo().coords], rtol=1e-12)


@pytest.mark.parametrize("name", OF_ONE)
def test_parts(name: str) -> None:
    value = matrix("csc" if name == "rows" else "csr")
    a = symbol(value)
    made = OF_ONE[name](a)
    results: Any = symc.function([a], [made, symc.grad((made.data**2).sum(), a.data)])(value)
    found, slope = results
    wanted = OF_ONE[name](value.toarray())
    assert (found.shape, found.format) == (wanted.shape, value.format)
    assert_near(found.toarray(), wanted, rtol=0)
    assert slope.shape == value.data.shape


def test_formats() -> None:
    value = matrix()
    a = symbol(value)
    for format, found in zip(
        "rc", symc.function([a], [a.T.tocsr(), a.tocsc()])(value), strict=True
    ):
        assert found.format == f"cs{format}"
        assert_near(
            found.toarray(), value.toarray().T if format == "r" else value.toarray(), rtol=0
        )


def test_structure_is_that_of_the_call() -> None:
    a, b, x = T.sparse.csr_matrix("a"), T.sparse.csr_matrix("b"), T.vector("x")
    f = symc.function([a, b, x], (a + b) @ x)
    for density in (0.0, 0.2, 1.0):
        one, two = (
            sp.random_array((ROWS, COLUMNS), density=density, format="csr", rng=RNG)
            for _ in range(2)
        )
        point = RNG.standard_normal(COLUMNS)
        assert_near(f(one, two, point), (one + two) @ point, rtol=1e-12, atol=1e-13)


def test_a_bug_two_structures_in_one_function_waited_for_each_other() -> None:
    """Conditions of one came after lengths of the other, and these after those: a KeyError."""
    a = T.sparse.csr_matrix("a")
    parts = [a[[4, 0, 4]], a.tocsc()]
    cost = (parts[0].data ** 2).sum() / 2 + (parts[1].data ** 2).sum() / 2
    f = symc.function([a], [*parts, symc.grad(cost, a.data)])
    value = sp.random(6, 5, 0.5, "csr", random_state=0)
    rows, turned, slope = f(value)
    np.testing.assert_array_equal(rows.toarray(), value[[4, 0, 4]].toarray())
    np.testing.assert_array_equal(turned.toarray(), value.toarray())
    times = np.repeat([2.0, 1, 1, 1, 3, 1], np.diff(value.indptr))  # each row, and the whole once
    np.testing.assert_array_equal(slope, value.data * times)
