"""Rows of bytes in whole vectors: the last overlaps the one before, so that nothing is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(7)
WIDTHS = [*range(1, 20), 31, 32, 33, 47, 48, 49, 63, 64, 65, 79, 80, 127, 128, 129, 190, 200]


def dilated(x: Any, m: Any) -> Any:
    out = x[1:-1, 1:-1]
    for i in range(3):
        for j in range(3):
            out = m.maximum(out, x[i : x.shape[0] - 2 + i, j : x.shape[1] - 2 + j])
    return out


def as_numbers(x: Any, m: Any) -> Any:
    del m
    return x[:, :-1].astype("float32") * 2 + x[:, 1:].astype("float32")


def chosen(x: Any, m: Any) -> Any:
    return m.where(x[1:, 1:] > x[:-1, :-1], x[1:, :-1], x[:-1, 1:])


def doubled(x: Any, m: Any) -> Any:
    """Widened, so that a store is of other bytes than the loads."""
    del m
    return x[:, 1:].astype("float64") - x[:, :-1]


FORMULAS = {"dilated": dilated, "as numbers": as_numbers, "chosen": chosen, "doubled": doubled}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "float32", "int32"])
@pytest.mark.parametrize("name", FORMULAS)
def test_rows_of_every_length(name: str, dtype: str) -> None:
    x = T.tensor(dtype, (None, None), "x")
    f = symc.function([x], FORMULAS[name](x, T))
    for width in WIDTHS:
        value = RNG.integers(0, 120, (5, width + 2)).astype(dtype)
        wanted = FORMULAS[name](value, np)
        got = f(value)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("width", [15, 16, 50, 64, 100, 192])
def test_rows_of_known_length(width: int) -> None:
    x = T.tensor("uint8", (None, width), "x")
    f = symc.function([x], chosen(x, T))
    value = RNG.integers(0, 9, (6, width)).astype("uint8")
    np.testing.assert_array_equal(f(value), chosen(value, np))


def test_what_is_left_of_a_row_is_no_loop_of_single_bytes() -> None:
    x, y = T.tensor("uint8", (None, None), "x"), T.tensor("float64", (None, None), "y")
    source = symc.function([x], chosen(x, T)).source
    assert "+ -64)" in source
    assert "+ -16)" in source
    assert "+ -64)" not in symc.function([y], chosen(y, T)).source


def test_rows_that_read_what_they_write_stay() -> None:
    """An element that is computed twice must be the same: here the second time is another one."""
    table = symc.shared(RNG.integers(0, 9, (4, 100)).astype("uint8"), name="table")
    before = table.get_value()
    f = symc.function([], updates=[(table, table * 3 + 1)])
    f()
    np.testing.assert_array_equal(table.get_value(), before * 3 + 1)
    g = symc.function([], updates=[(table, table[:, 1:90].inc(table[:, 3:92]))])
    g()
    wanted = before * 3 + 1
    old = wanted.copy()
    wanted[:, 1:90] += old[:, 3:92]
    np.testing.assert_array_equal(table.get_value(), wanted)
