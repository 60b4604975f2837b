"""Norms, powers and condition numbers where nothing is left: no elements, zeros, infinities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch


@pytest.mark.parametrize("order", [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3])
@pytest.mark.parametrize("values", [[], [0.0, 0.0], [np.inf, np.inf], [np.inf, 1.0], [0.0, 3.0]])
def test_norms_of_negative_orders_of_nothing_and_of_infinities(
    values: list[float], order: float
) -> None:
    """A sum of powers that is 0 gave the norm 0, where its negative power is infinite."""
    x, v = T.vector("x"), np.array(values)
    with np.errstate(all="ignore"):
        wanted: Any = np.linalg.norm(v, order)
    for mode in ("default", "python"):
        result = symc.function([x], T.linalg.norm(x, order), mode=mode)(v)
        np.testing.assert_allclose(result, wanted, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
def test_a_matrix_to_the_power_of_0_has_to_be_square_too(dtype: str) -> None:
    a = T.tensor(dtype, (None, None), name="a")
    f = symc.function([a], T.linalg.matrix_power(a, 0))
    np.testing.assert_array_equal(f(np.zeros((2, 2), dtype)), np.eye(2))
    with pytest.raises(ShapeMismatch, match="matrix_power"):
        f(np.zeros((2, 3), dtype))


@pytest.mark.parametrize("order", [None, 2, -2])
def test_matrices_of_zeros_have_an_infinite_condition_number(order: int | None) -> None:
    """It was 0 by 0, which is NaN."""
    a = T.tensor("float64", (None, None, None), name="a")
    stack = np.stack([np.zeros((2, 3)), np.eye(2, 3), np.ones((2, 3))])
    result = symc.function([a], T.linalg.cond(a, order))(stack)
    assert result[0] == np.inf
    np.testing.assert_allclose(result[1:2], np.linalg.cond(stack[1:2], order), rtol=1e-12)
