"""Sums of functions along rows end with a whole vector that overlaps the one before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(12)
WIDTHS = [*range(20), 31, 32, 33, 40, 47, 48, 49, 60, 63, 64, 65, 70, 100, 127, 128, 250]


def powers(x: Any, m: Any) -> Any:
    return m.exp(-x * x).sum(1)


def log_sums(x: Any, m: Any) -> Any:
    most = x.max(1)
    return m.log(m.exp(x - most[:, None]).sum(1)) + most


def products(x: Any, m: Any) -> Any:
    return m.exp(x * 0.01).prod(1)


def kept(x: Any, m: Any) -> Any:
    """Terms that are stored, too."""
    e = m.exp(x - 1)
    return e / e.sum(1, keepdims=True)


def largest(x: Any, m: Any) -> Any:
    return m.sin(x).max(1)


def two(x: Any, m: Any) -> Any:
    """Two sums of the same rows."""
    y = m.tanh(x)
    return m.log1p(y * y).sum(1) + 3 * (y * y).sum(1)


def of_vectors(x: Any, m: Any) -> Any:
    """Terms of what is the same in each row, and of what is the same in each column."""
    return (m.log1p(x * x) * abs(x[:1]) + abs(x[:, :1])).sum(1)


def from_the_end(x: Any, m: Any) -> Any:
    return (m.exp(x[:, ::-1]) * abs(x)).sum(1)


OF_ANY = {
    "powers": powers, "products": products, "kept": kept, "two": two, "from the end": from_the_end
}  # fmt: skip
OF_SOME = {"log sums": log_sums, "largest": largest, "of vectors": of_vectors}
"""Of rows that are not empty."""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [*OF_ANY, *OF_SOME])
def test_rows_of_every_length(name: str, dtype: str) -> None:
    x = T.tensor(dtype, (None, None), "x")
    form = (OF_ANY | OF_SOME)[name]
    f = symc.function([x], form(x, T))
    for width in WIDTHS:
        if width == 0 and name in OF_SOME:
            continue
        value = RNG.normal(size=(5, width)).astype(dtype)
        wanted = form(value.astype("float64"), np)
        np.testing.assert_allclose(f(value), wanted, rtol=2e-6 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("width", [3, 8, 15, 16, 20, 60, 100])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_of_known_length(width: int, dtype: str) -> None:
    x = T.tensor(dtype, (None, width), "x")
    f = symc.function([x], [powers(x, T), kept(x, T)])
    value = RNG.normal(size=(6, width)).astype(dtype)
    for got, form in zip(f(value), (powers, kept), strict=True):
        wanted = form(value.astype("float64"), np)
        np.testing.assert_allclose(got, wanted, rtol=2e-6 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("at", [0, 54, 55, 56, 59])
def test_a_nan_and_an_infinity_count_once(at: int, dtype: str) -> None:
    x = T.tensor(dtype, (None, None), "x")
    f = symc.function([x], T.exp(x).sum(1))
    value = np.zeros((3, 60), dtype)
    value[0, at], value[1, at] = np.nan, np.inf
    got = f(value)
    assert np.isnan(got[0])
    assert np.isposinf(got[1])
    assert got[2] == 60


def test_a_sum_whose_rows_lie_in_what_it_writes() -> None:
    """Its own terms are written over what they are made of: none may be made twice."""
    s = symc.shared(RNG.normal(size=(5, 61)), name="s")
    before = s.get_value()
    new = T.exp(s * 0.1)
    f = symc.function([], new.sum(1), updates={s: new})
    np.testing.assert_allclose(f(), np.exp(before * 0.1).sum(1), rtol=1e-13)
    np.testing.assert_allclose(s.get_value(), np.exp(before * 0.1), rtol=1e-13)


def test_what_is_left_is_one_vector() -> None:
    x = T.matrix("x")
    text = symc.function([x], powers(x, T)).source
    assert "& -8" in text
    assert ">= before ?" in text
