"""Norms, powers and condition numbers where nothing is left: no elements, zeros, infinities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import LinAlgError, ShapeMismatch


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


@pytest.mark.parametrize("order", [None, -2, 1, np.inf, "fro"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 0)])
def test_matrices_without_elements_have_no_condition_number(
    shape: tuple[int, ...], order: Any
) -> None:
    """It was the error of an index into singular values that are not there."""
    with pytest.raises(LinAlgError, match="no elements"):
        T.linalg.cond(T.tensor("float64", shape=shape), order)
    x = T.tensor("float64", shape=(None,) * len(shape))
    for mode in ("default", "python"):
        f = symc.function([x], T.linalg.cond(x, order), mode=mode)
        with pytest.raises(np.linalg.LinAlgError, match="no elements"):
            f(np.zeros(shape))


def test_no_matrices_have_no_condition_numbers() -> None:
    x = T.tensor3("x")
    none = np.zeros((0, 2, 2))
    found = symc.function([x], T.linalg.cond(x))(none)
    np.testing.assert_array_equal(found, np.linalg.cond(none))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 3), (0, 2, 3)])
def test_pseudoinverses_of_matrices_without_elements(shape: tuple[int, ...]) -> None:
    x = T.tensor("float64", shape=(None,) * len(shape))
    for mode in ("default", "python"):
        found = symc.function([x], T.linalg.pinv(x), mode=mode)(np.zeros(shape))
        assert found.shape == np.linalg.pinv(np.zeros(shape)).shape


@pytest.mark.parametrize("power", [0, 1, 2, 3, 7])
def test_powers_of_matrices_of_float16_are_products(power: int) -> None:
    """They were refused as what LAPACK lacks, which only inverses are made of."""
    values = np.array([[1.0, 0.5], [-0.25, 1.5]], np.float16)
    x = T.matrix("x", dtype="float16")
    f = symc.function([x], T.linalg.matrix_power(x, power), on_unused_input="ignore")
    found, wanted = f(values), np.linalg.matrix_power(values, power)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=2e-3)
    with pytest.raises(TypeError, match="cannot compute in float16"):
        T.linalg.matrix_power(x, -1)
    with pytest.raises(ShapeMismatch):
        f(np.ones((2, 3), np.float16))
