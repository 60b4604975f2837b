"""Products that are cut into small ones, and small ones that no BLAS computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(11)


def numbers(*shape: int) -> Any:
    return RNG.standard_normal(shape)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_cut_into_small_ones(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips of few rows, cut along what is summed, too, and slabs of a few summands, alone and of
    a batch: sums into what is there, and what is infinite in one summand, are in each of them."""
    a, b, c = (T.tensor(dtype, (None, None)) for _ in range(3))
    left, right = T.tensor(dtype, (None, None, None)), T.tensor(dtype, (None, None, None))
    batched = symc.function([left, right], left @ T.swapaxes(right, 1, 2))
    limits = {"float32": 1e-6, "float64": 1e-14}
    for ta, tb in ((False, False), (False, True), (True, False), (True, True)):
        p, q = a.T if ta else a, b.T if tb else b
        f = symc.function([a, b, c], [p @ q, c - 2 * (p @ q)])
        for m, n, k in ((1, 600, 2100), (7, 2051, 333), (8, 700, 1030), (24, 333, 600),
                        (700, 2100, 3), (1001, 300, 16), (5, 31, 9000), (9, 4000, 31)):  # fmt: skip
            x, y, z = (numbers(*shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
            wanted = x.astype("float64") @ y.astype("float64")
            given = x.T.copy() if ta else x, y.T.copy() if tb else y, z
            found: list[Any] = []
            for threads in (1, 2):
                monkeypatch.setattr(symc.config, "threads", threads)
                found.append(f(*given))
            for one, other in zip(*found, strict=True):
                np.testing.assert_array_equal(one, other)
            plain, more = found[0]
            np.testing.assert_allclose(plain, wanted, rtol=0, atol=limits[dtype] * (k + 8))
            np.testing.assert_allclose(
                more, z - 2 * wanted, rtol=0, atol=limits[dtype] * (2 * k + 8)
            )
            if ta == (not tb) and m * n * k < 3e6:
                x[0, k - 1], y[0, n - 1] = np.inf, np.nan
                given = x.T.copy() if ta else x, y.T.copy() if tb else y, z
                plain = f(*given)[0]
                assert np.isnan(plain[:, n - 1]).all()
                assert np.isinf(plain[0, : n - 1]).all()
                assert np.isfinite(plain[1:, : n - 1]).all()
    for count, m, n, k in ((3, 8, 300, 1100), (2, 4, 5, 40), (2, 300, 700, 8)):
        x, y = numbers(count, m, k).astype(dtype), numbers(count, n, k).astype(dtype)
        wanted = x.astype("float64") @ y.swapaxes(1, 2).astype("float64")
        np.testing.assert_allclose(batched(x, y), wanted, rtol=0, atol=limits[dtype] * (k + 8))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_small_products_of_complex_numbers(dtype: str) -> None:
    """Those of a batch that are over before BLAS has begun, and some larger and empty ones."""
    a, b = (T.tensor(dtype, (None, None, None)) for _ in range(2))
    for ta, tb in ((False, False), (False, True), (True, False), (True, True)):
        p, q = T.swapaxes(a, 1, 2) if ta else a, T.swapaxes(b, 1, 2) if tb else b
        f = symc.function([a, b], p @ q)
        for m, n, k in (
            (1, 1, 1),
            (3, 3, 3),
            (5, 5, 5),
            (2, 7, 4),
            (6, 6, 6),
            (2, 3, 40),
            (2, 3, 0),
        ):
            x, y = (numbers(4, *s) + 1j * numbers(4, *s) for s in ((m, k), (k, n)))
            left, right = x.swapaxes(1, 2) if ta else x, y.swapaxes(1, 2) if tb else y
            got = f(np.ascontiguousarray(left, dtype), np.ascontiguousarray(right, dtype))
            np.testing.assert_allclose(
                got, x @ y, rtol=0, atol=1e-5 if dtype == "complex64" else 1e-13
            )
