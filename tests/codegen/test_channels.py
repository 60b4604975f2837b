"""Loops over points and pixels, whose numbers lie side by side: versions for few of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(11)


def weighted(x: Any, m: Any) -> Any:
    del m
    return x[:, :, 0] * 3 + x[:, :, 1] * 5


def last(x: Any, m: Any) -> Any:
    del m
    return x[:, :, -1]


def neighbours(x: Any, m: Any) -> Any:
    return m.maximum(x[:, 1:, 0], x[:, :-1, 1])


FORMULAS = {"weighted": weighted, "last": last, "neighbours": neighbours}


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("name", FORMULAS)
def test_pixels_of_any_number(name: str, dtype: str) -> None:
    x = T.tensor(dtype, (None, None, None), "x")
    f = symc.function([x], FORMULAS[name](x, T))
    for count in (2, 3, 4, 5, 7):
        for shape in ((1, 1), (3, 5), (2, 33), (7, 70), (40, 300)):
            value = RNG.integers(0, 16, (*shape, count)).astype(dtype)
            got, wanted = f(value), FORMULAS[name](value, np)
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


def test_pixels_of_bytes_are_read_in_vectors() -> None:
    """They were gathered one by one: seven times as long for grey from red, green and blue."""
    x = T.tensor("uint8", (None, None, None), "x")
    source = symc.function([x], weighted(x, T)).source
    assert all(f"if (x_2 == {count}) {{" in source for count in (2, 3, 4))
    known = T.tensor("uint8", (None, None, 3), "known")
    assert "== 3" not in symc.function([known], weighted(known, T)).source
    y = T.tensor("float64", (None, None, None), "y")
    assert "y_2 == 3" not in symc.function([y], weighted(y, T)).source


def test_one_of_the_numbers_is_set() -> None:
    points = symc.shared(RNG.random((50, 3)).astype("float32"), name="points")
    before = points.get_value()
    f = symc.function([], updates=[(points, points[:, 1].set(points[:, 0] + points[:, 2]))])
    f()
    before[:, 1] = before[:, 0] + before[:, 2]
    np.testing.assert_array_equal(points.get_value(), before)
