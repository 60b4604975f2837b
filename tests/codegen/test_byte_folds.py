"""Extremes of rows of bytes in whole vectors, the last of which overlaps the one before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(9)
WIDTHS = [*range(1, 20), 31, 32, 33, 47, 48, 63, 64, 65, 95, 96, 127, 128, 129, 200, 401]
FOLDS = {
    "max": lambda x, m: m.max(x, axis=1),
    "min": lambda x, m: m.min(x, axis=1),
    "any": lambda x, m: m.any(x > 100, axis=1),
    "all": lambda x, m: m.all(x < 100, axis=1),
    "any number": lambda x, m: m.any(x, axis=1),
    "all numbers": lambda x, m: m.all(x, axis=1),
    "backwards": lambda x, m: m.max(x[:, ::-1], axis=1),
    "range": lambda x, m: m.max(x, axis=1) - m.min(x, axis=1),
    "of two rows": lambda x, m: m.max(m.minimum(x[1:], x[:-1]), axis=1),
    "from the first": lambda x, m: m.max(x[:, :1] // 2 - x // 2, axis=1),
    "both": lambda x, m: m.where(m.any(x > 100, axis=1), m.max(x, axis=1), m.min(x, axis=1)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "bool"])
@pytest.mark.parametrize("name", FOLDS)
def test_rows_of_every_length(name: str, dtype: str) -> None:
    if dtype == "bool" and name not in ("max", "min", "any number", "all numbers", "backwards"):
        return
    x = T.tensor(dtype, (None, None), "x")
    f = symc.function([x], FOLDS[name](x, T))
    for width in WIDTHS:
        value: Any = RNG.integers(0, 2, (5, width)).astype(dtype)
        if dtype != "bool":  # an extreme at each place, and rows that have none
            value = RNG.integers(1, 100, (5, width)).astype(dtype)
            value[0, :] = value[4, :] = 5
            value[1, RNG.integers(width)] = 0
            value[2, RNG.integers(width)] = 120
            value[3, -1] = 127
        wanted = FOLDS[name](value, np)
        got = f(value)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("width", [3, 15, 16, 50, 64, 100, 192])
def test_rows_of_known_length(width: int) -> None:
    x = T.tensor("int16", (None, width), "x")
    f = symc.function([x], [x.max(axis=1), x.min(axis=1), T.all(x > -90, axis=1)])
    value = RNG.integers(-100, 100, (40, width)).astype("int16")
    wanted = [value.max(axis=1), value.min(axis=1), np.all(value > -90, axis=1)]
    for got, right in zip(f(value), wanted, strict=True):
        np.testing.assert_array_equal(got, right)


def test_what_is_left_of_a_row_is_no_loop_of_single_bytes() -> None:
    x = T.tensor("uint8", (None, None), "x")
    source = symc.function([x], x.max(axis=1)).source
    assert "lanes[16]" in source
    assert "[64]" in source
    assert "reduction" not in source


def test_extremes_of_wide_numbers_stay() -> None:
    """What is left of wider elements is short."""
    for dtype, name in [("float32", "max"), ("int64", "max")]:
        x = T.tensor(dtype, (None, None), "x")
        f = symc.function([x], getattr(x, name)(axis=1))
        value = RNG.integers(0, 200, (7, 77)).astype(dtype)
        np.testing.assert_array_equal(f(value), getattr(value, name)(axis=1))
        assert " lanes[" not in f.source


def test_rows_in_steps_of_a_loop() -> None:
    x = T.tensor("uint8", (None, None), "x")
    f = symc.function([x], symc.scan(lambda row, m: T.maximum(m, row.max()), x, np.uint8(0))[0])
    value = RNG.integers(0, 200, (9, 83)).astype("uint8")
    np.testing.assert_array_equal(f(value), np.maximum.accumulate(value.max(axis=1)))
