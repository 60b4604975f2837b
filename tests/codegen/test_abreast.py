"""Columns folded four rows at a time: the same bits as row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 8, 23])
@pytest.mark.parametrize("columns", [1, 7, 300])
def test_folds_of_columns(rows: int, columns: int, dtype: str) -> None:
    values = RNG.standard_normal((rows, columns)) * 3
    x = (values > 0 if dtype == "bool" else values).astype(dtype)
    a = T.matrix("a", dtype=dtype)
    f = symc.function([a], [a.sum(0), (a * a).sum(0), a.prod(0), (a > 0).sum(0)])
    wide = np.float64 if dtype.startswith("f") else np.int64
    total, squares, product, positive = f(x)
    wanted = np.zeros(columns, wide)
    for row in x:
        wanted += row
    np.testing.assert_array_equal(total, wanted.astype(total.dtype))
    np.testing.assert_array_equal(positive, (x > 0).sum(0))
    np.testing.assert_allclose(squares, (x * x).sum(0, dtype=wide), rtol=1e-6)
    np.testing.assert_allclose(product, x.prod(0, dtype=wide), rtol=1e-6)


@pytest.mark.parametrize("rows", [0, 1, 4, 6, 11])
@pytest.mark.parametrize("columns", [1, 70])
def test_truth_of_columns(rows: int, columns: int) -> None:
    x = RNG.random((rows, columns))
    a, b = T.matrix("a"), T.matrix("b", dtype="bool")
    f = symc.function([a, b], [(a < 0.9).all(0), (a > 0.9).any(0), b.all(0), b.any(0)])
    results = zip(f(x, x < 0.8), [x < 0.9, x > 0.9, x < 0.8, x < 0.8], strict=True)
    for number, (got, truth) in enumerate(results):
        np.testing.assert_array_equal(got, truth.any(0) if number % 2 else truth.all(0))


@pytest.mark.parametrize("rows", [1, 4, 6, 11])
def test_extremes_of_columns_with_nan(rows: int) -> None:
    x = RNG.standard_normal((rows, 50))
    x[RNG.random(x.shape) < 0.05] = np.nan
    a = T.matrix("a")
    got: Any = symc.function([a], [(2 * a).max(0), abs(a).min(0)])(x)
    np.testing.assert_array_equal(got[0], (2 * x).max(0))
    np.testing.assert_array_equal(got[1], abs(x).min(0))


def test_four_rows_share_a_loop() -> None:
    a = T.matrix("a")
    source = symc.function([a], a.sum(0)).source
    assert source.count("sums[i_2_2] += a[") == 4
