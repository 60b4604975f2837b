"""Axes that lie together are one loop, where rows are cut, shifted or turned round, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(3)

FORMS = {
    "cut": lambda x: x[1:-1, 2:-1],
    "shifted": lambda x: x[:, 1:] + 2 * x[:, :-1],
    "laplace": lambda x: x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - x[1:-1, 1:-1],
    "from a number": lambda x: x[:, 3:] - x[:, :1],
    "turned": lambda x: x[:, ::-1],
    "turned twice": lambda x: x[:, ::-1, ::-1],
    "all turned": lambda x: x[::-1, ::-1, ::-1] * 2,
    "turned and cut": lambda x: x[::-1, -2:0:-1, ::-1],
    "turned and not": lambda x: x[:, ::-1, ::-1] + x,
    "every other": lambda x: x[:, ::2],
    "of the last": lambda x: x[:, 1:, :-1],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("name", FORMS)
def test_pictures(name: str, dtype: str) -> None:
    x = T.tensor(dtype, (None, None, None), "x")
    form: Any = FORMS[name]
    f = symc.function([x], form(x))
    for shape in [(4, 5, 1), (5, 7, 2), (3, 9, 3), (6, 5, 4), (3, 4, 17), (2, 40, 3), (3, 4, 0)]:
        value = RNG.integers(0, 20, shape).astype(dtype)
        np.testing.assert_array_equal(f(value), form(value))


@pytest.mark.parametrize("name", ["cut", "shifted", "laplace", "turned twice"])
def test_a_row_of_pixels_is_one_loop(name: str) -> None:
    x = T.tensor("uint8", (None, None, None), "x")
    text = symc.function([x], FORMS[name](x)).source
    kernel = text.split("/* ---- kernels")[1].split("/* ---- host")[0]
    assert "for (int64_t k" not in kernel


def test_repeated_elements_are_not_divided_for() -> None:
    x = T.matrix("x")
    f = symc.function([x], T.repeat(T.repeat(x, 2, axis=0), 3, axis=1))
    value = RNG.normal(size=(5, 7))
    np.testing.assert_array_equal(f(value), np.repeat(np.repeat(value, 2, axis=0), 3, axis=1))
    assert "/ 3" not in f.source.split("/* ---- host")[0]
