"""Products of vectors and matrices that are computed for them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(0)

MATRICES: list[Callable[[Any, Any, Any], Any]] = [
    lambda a, u, v: a + u[:, None] * v,
    lambda a, u, v: T.where(a > 0.3, a, 0.0),
    lambda a, u, v: T.exp(-((u[:, None] - v) ** 2)),
    lambda a, u, v: (a * 3).astype("int64").astype(a.dtype) - u[:, None],
]


def arguments(dtype: str, rows: int, columns: int, *, trans: bool) -> list[Any]:
    shapes: list[Any] = [(rows, columns), rows, columns, rows if trans else columns]
    return [RNG.standard_normal(shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("matrix", range(len(MATRICES)))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values(dtype: str, matrix: int, trans: bool) -> None:
    a, x = T.tensor(dtype, (None, None), "a"), T.tensor(dtype, (None,), "x")
    u, v = T.tensor(dtype, (None,), "u"), T.tensor(dtype, (None,), "v")
    computed = MATRICES[matrix](a, u, v)
    product = (computed.T if trans else computed) @ x
    f = symc.function([a, u, v, x], product, on_unused_input="ignore")
    both = symc.function([a, u, v, x], [product, computed], on_unused_input="ignore")
    expensive = matrix == 2 and trans
    assert ("symc_gemv" in f.source) == expensive
    assert "symc_gemv" in both.source  # the matrix is in memory anyway
    for rows, columns in ((0, 3), (3, 0), (1, 1), (7, 3), (40, 130)):
        given = arguments(dtype, rows, columns, trans=trans)
        got, stored = both(*given)
        wanted = (stored.T if trans else stored) @ given[3]
        most = 1e-4 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(got, wanted, rtol=most, atol=most)
        np.testing.assert_allclose(f(*given), wanted, rtol=most, atol=most)
        assert f(*given).dtype == dtype


def test_numbers_that_are_none_stay_so() -> None:
    a, x = T.matrix("a"), T.vector("x")
    f = symc.function([a, x], T.maximum(a, 0.0) @ x)
    given = np.array([[1.0, 2.0], [np.nan, 0.0], [np.inf, 0.0]])
    np.testing.assert_array_equal(f(given, np.array([0.0, 1.0])), [2.0, np.nan, np.nan])


def test_a_matrix_that_steps_share_is_stored() -> None:
    a, b, x = T.matrix("a"), T.matrix("b"), T.vector("x")
    f = symc.function([a, b, x], symc.fori_loop(0, 5, lambda i, y: (a + b) @ y, x))
    assert "symc_gemv" in f.source
    p, q, y = RNG.standard_normal((4, 4)), RNG.standard_normal((4, 4)), RNG.standard_normal(4)
    np.testing.assert_allclose(f(p, q, y), np.linalg.matrix_power(p + q, 5) @ y)


def test_a_matrix_that_each_step_computes_is_not() -> None:
    a, x = T.matrix("a"), T.vector("x")
    f = symc.function([a, x], symc.fori_loop(0, 5, lambda i, y: (a + y) @ y, x))
    assert "symc_gemv" not in f.source
    p, y = RNG.standard_normal((4, 4)), RNG.standard_normal(4)
    wanted = y
    for _ in range(5):
        wanted = (p + wanted) @ wanted
    np.testing.assert_allclose(f(p, y), wanted)


def test_no_bit_changes_where_none_may() -> None:
    a, x = T.matrix("a"), T.vector("x")
    f = symc.function([a, x], (a + 1) @ x, mode="compile")
    assert "symc_gemv" in f.source


def test_lengths_that_differ_raise() -> None:
    a, x = T.matrix("a"), T.vector("x")
    f = symc.function([a, x], (a + 1) @ x)
    with pytest.raises(symc.errors.ShapeMismatch, match="axis 1 is 3 on the left"):
        f(np.ones((2, 3)), np.ones(4))
