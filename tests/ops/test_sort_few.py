"""Rows of a few elements, of known number, sorted by exchanges of neighbours (`sorting/few.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

DTYPES = ["float64", "float32", "float16", "int64", "int8", "uint8", "uint64", "bool"]
COUNTS = range(1, 11)


def rows(dtype: str, count: int) -> Any:
    """Rows with many equal elements, zeros of both signs, infinities and NaN."""
    rng, kind = np.random.default_rng(count), np.dtype(dtype)
    values: list[float] = [False, True]
    if kind.kind == "f":
        values = [-1.0, 2.0, 0.0, -0.0, np.nan, np.inf, -np.inf]
    elif kind.kind in "iu":
        values = [0, 1, np.iinfo(kind).min, np.iinfo(kind).max]
    return rng.choice(np.array(values, kind), (200, count))


def same(found: Any, wanted: Any, *, signs: bool = True) -> None:
    np.testing.assert_array_equal(found, wanted)
    if signs and wanted.dtype.kind == "f":
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorted_rows_and_places(dtype: str, count: int) -> None:
    x = T.tensor(dtype, (None, count))
    down = [T.sort(x, descending=True), T.argsort(x, descending=True)]
    f = symc.function([x], [T.sort(x), T.argsort(x), *down])
    plain = symc.function([x], [T.sort(x), T.argsort(x), *down], mode="python")
    given = rows(dtype, count)
    for found, wanted in zip(f(given), plain(given), strict=True):
        same(found, wanted, signs=False)
    same(f(given)[0], np.sort(given, kind="stable"), signs=count <= 4)
    same(f(given)[1], np.argsort(given, kind="stable"))
    assert ("symc_sort" in f.source) == (count > 4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_elements_of_sorted_neighbours(dtype: str, count: int) -> None:
    """The median of nine pixels was sorted with all of them, pixel by pixel."""
    x = T.tensor(dtype, (None, None))
    stacked = T.stack([x[:, k : x.shape[1] - count + k] for k in range(count)], -1)
    picked = [T.sort(stacked)[..., count // 2], T.argsort(stacked)[:, 1:, -1]]
    f = symc.function([x], [*picked, T.median(stacked, -1)])
    assert ("symc_sort" in f.source) == (count > 9)
    given = rows(dtype, 37)
    every = np.stack([given[:, k : 37 - count + k] for k in range(count)], -1)
    with np.errstate(all="ignore"):
        wanted = np.median(every.astype("float64"), -1)
    found = f(given)
    same(found[0], np.sort(every, kind="stable")[..., count // 2], signs=count <= 9)
    same(found[1], np.argsort(every, kind="stable")[:, 1:, -1])
    finite = np.isfinite(wanted)
    np.testing.assert_allclose(found[2][finite], wanted[finite], rtol=1e-6)


def test_slopes_of_a_median_of_three() -> None:
    x = T.dvector("x")
    middle = T.median(T.stack([x[:-2], x[1:-1], x[2:]]), 0)
    weights = T.arange(middle.shape[0]) + 1.0
    f = symc.function([x], symc.grad((middle * weights).sum(), x))
    plain = symc.function([x], symc.grad((middle * weights).sum(), x), mode="python")
    given = np.random.default_rng(0).normal(size=30)
    np.testing.assert_allclose(f(given), plain(given))
