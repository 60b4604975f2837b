"""Products of matrices that become other ops."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch

RNG = np.random.default_rng(0)
DTYPES = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3, "int64": 0, "complex128": 1e-12}


def given(dtype: str, shape: tuple[int, ...]) -> Any:
    return (RNG.standard_normal(shape) * 3).astype(dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_batches_of_matrices_times_vectors(dtype: str, *, trans_a: bool, trans_b: bool) -> None:
    """BLAS began for each of them: those of three numbers took three times JAX's time."""
    for (rows, columns), wrong in product([(5, 1), (1, 4), (1, 1)], [1, 4]):
        shape_a = (7, 3, rows) if trans_a else (7, rows, 3)
        shape_b = (7, columns, 3) if trans_b else (7, 3, columns)
        x, y = (
            T.tensor(dtype, (None, *(1 if n == 1 else None for n in shape[1:])))
            for shape in (shape_a, shape_b)
        )
        value = (x.mT if trans_a else x) @ (y.mT if trans_b else y)
        f = symc.function([x, y], value)
        assert "gemm" not in f.source
        a, b = given(dtype, shape_a), given(dtype, shape_b)
        with np.errstate(invalid="ignore"):  # OpenBLAS computes with what lies beside small ones
            wanted = (a.swapaxes(1, 2) if trans_a else a) @ (b.swapaxes(1, 2) if trans_b else b)
        found = f(a, b)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=DTYPES[dtype], atol=DTYPES[dtype])
        with pytest.raises(ShapeMismatch):
            f(a, given(dtype, (7, columns, wrong) if trans_b else (7, wrong, columns)))
        with pytest.raises(ShapeMismatch):
            f(a, given(dtype, (1, *shape_b[1:])))


def test_a_batch_whose_length_only_calls_bring_is_not_copied() -> None:
    """The second factor was copied, which took as long as the products."""
    a, b = T.tensor3("a"), T.tensor3("b")
    f = symc.function([a, b], a @ b)
    assert "_kernel" not in f.source
    left, right = given("float64", (6, 4, 3)), given("float64", (6, 3, 5))
    np.testing.assert_allclose(f(left, right), left @ right, rtol=1e-12)
    for wrong in (right[:1], right[:5], right[:0]):
        with pytest.raises(ShapeMismatch):
            f(left, wrong)
        with pytest.raises(ShapeMismatch):
            f(left[:1], right)


def test_a_batch_of_one_is_stretched() -> None:
    a, b = T.tensor("float64", (1, None, None)), T.tensor3("b")
    f = symc.function([a, b], [a @ b, b @ a])
    left, right = given("float64", (1, 3, 3)), given("float64", (6, 3, 3))
    for found, wanted in zip(f(left, right), (left @ right, right @ left), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_batches_of_small_products(dtype: str, *, trans_a: bool, trans_b: bool) -> None:
    """Vectors of columns, two at a time, of which the last has some of them."""
    x, y = T.tensor(dtype, (None, None, None)), T.tensor(dtype, (None, None, None))
    f = symc.function([x, y], (x.mT if trans_a else x) @ (y.mT if trans_b else y))
    for m, n, k in [
        *product(range(6), range(6), range(6)),
        *product((7, 9), (8, 15, 16, 17, 31, 33), (5, 8, 63)),
    ]:
        a = given(dtype, (3, k, m) if trans_a else (3, m, k))
        b = given(dtype, (3, n, k) if trans_b else (3, k, n))
        with np.errstate(invalid="ignore"):  # OpenBLAS computes with what lies beside small ones
            wanted = (a.swapaxes(1, 2) if trans_a else a) @ (b.swapaxes(1, 2) if trans_b else b)
        tolerance = 20 * DTYPES[dtype]
        np.testing.assert_allclose(f(a, b), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_small_products(dtype: str, *, trans_a: bool, trans_b: bool) -> None:
    """Of two rows and columns they took 80 ns in BLAS: a Kalman filter 20 times JAX's time."""
    x, y, v = T.matrix(dtype=dtype), T.matrix(dtype=dtype), T.vector(dtype=dtype)
    matrix = x.T if trans_a else x
    f = symc.function([x, y, v], [matrix @ (y.T if trans_b else y), matrix @ v, 3 - matrix @ v])
    tolerance = 20 * DTYPES[dtype]
    for m, n, k in [
        *product(range(5), range(5), range(5)),
        *product((1, 4, 7, 16, 17), (1, 8, 15, 17, 33), (5, 6, 8, 12, 63, 65)),
    ]:
        a = given(dtype, (k, m) if trans_a else (m, k))
        b, c = given(dtype, (n, k) if trans_b else (k, n)), given(dtype, (k,))
        left = a.T if trans_a else a
        with np.errstate(invalid="ignore"):
            wanted = left @ (b.T if trans_b else b), left @ c, 3 - left @ c
        for found, right in zip(f(a, b, c), wanted, strict=True):
            np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance)


def test_slopes_of_batches_of_matrices_times_vectors() -> None:
    a, v = T.tensor3("a"), T.matrix("v")
    f = symc.function([a, v], symc.grad(((a @ v[:, :, None])[:, :, 0] ** 2).sum(), [a, v]))
    matrices, vectors = given("float64", (6, 4, 3)), given("float64", (6, 3))
    bar = 2 * np.einsum("nij,nj->ni", matrices, vectors)
    to_a, to_v = f(matrices, vectors)
    np.testing.assert_allclose(to_a, bar[:, :, None] * vectors[:, None, :], rtol=1e-12)
    np.testing.assert_allclose(to_v, np.einsum("nij,ni->nj", matrices, bar), rtol=1e-12)
