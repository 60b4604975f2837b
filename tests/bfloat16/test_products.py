"""Sums of products of 16 bits are rounded once, as products of matrices are."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import symc
import symc.tensor as T

B: Any = ml_dtypes.bfloat16


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_sums_of_products_are_rounded_once(dtype: str) -> None:
    own = B if dtype == "bfloat16" else np.float16
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((7, 50)).astype(own) for _ in range(2))
    v = a[0]
    x, y, u = T.matrix("x", dtype=dtype), T.matrix("y", dtype=dtype), T.vector("u", dtype=dtype)
    built = [
        T.einsum("ij,ij->", x, y),
        T.tensordot(x, y, 2),
        T.einsum("ij,ij->i", x, y),
        T.vecdot(x, y),
        T.diagonal(x @ y.T),
        symc.vmap(lambda p, q: p @ q)(x.reshape((7, 10, 5)), y[:, :5]),
        u @ u,
    ]
    wide, other, line = (each.astype(np.float32) for each in (a, b, v))
    rows = (wide * other).sum(axis=1)
    batches = np.einsum("ijk,ik->ij", wide.reshape(7, 10, 5), other[:, :5])
    wanted = [rows.sum(), rows.sum(), rows, rows, rows, batches, line @ line]
    for got, expected in zip(symc.function([x, y, u], built)(a, b, v), wanted, strict=True):
        assert got.dtype == own
        # One rounding, and float32's order of sums where it decides a tie.
        error = np.abs(got.astype(np.float32) - expected)
        assert np.all(error <= half_ulp(expected, own) * 1.01)


def half_ulp(value: Any, own: Any) -> Any:
    """Half of the distance between the numbers of 16 bits around each of some."""
    bits = 8 if own is B else 11
    return 2.0 ** (np.floor(np.log2(np.abs(value))) - bits)
