"""Pixels become planes: few numbers that lie side by side go to rows of their own, in strips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(7)


def planes(x: Any) -> Any:
    return x.transpose((2, 0, 1)) * 3


def batches(x: Any) -> Any:
    return x.transpose((0, 3, 1, 2)) * 3


def turned(x: Any) -> Any:
    return x.T + x.T


def brightest(x: Any) -> Any:
    """The rows of planes do not begin where those of pixels do."""
    return x.transpose((2, 0, 1))[:, ::-1] * 2


DTYPES = ["uint8", "int16", "float32", "float64", "complex64"]
SHAPES = ((0, 3), (1, 1), (5, 7), (16, 128), (3, 683), (41, 100))


def check(dtype: str, last: int | None, counts: tuple[int, ...]) -> None:
    """Programs for a last axis of some length, or any, on pixels of some numbers."""
    x, y, z = (T.tensor(dtype, (*(None,) * rank, last)) for rank in (2, 3, 1))
    f = symc.function([x, y, z], [planes(x), batches(y), turned(z), brightest(x)])
    for count in counts:
        for shape in SHAPES:
            a, b, c = (
                RNG.integers(0, 80, (*lengths, count)).astype(dtype)
                for lengths in (shape, (2, *shape), (shape[0] * shape[1],))
            )
            wanted = [planes(a), batches(b), turned(c), brightest(a)]
            for got, right in zip(f(a, b, c), wanted, strict=True):
                assert got.dtype == right.dtype
                np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("dtype", DTYPES)
def test_planes_of_any_number(dtype: str) -> None:
    check(dtype, None, (0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 33))


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@pytest.mark.parametrize("count", [0, 1, 3, 16, 17])
def test_planes_of_a_known_number(dtype: str, count: int) -> None:
    check(dtype, count, (count,))


def source(dtype: str, last: int | None) -> str:
    """The program that makes planes of pixels."""
    x = T.tensor(dtype, (None, None, last), "x")
    return symc.function([x], planes(x)).source


def test_few_numbers_are_read_in_vectors() -> None:
    """They went in squares of 16, with a choice of the number in each row of each of them."""
    text = source("uint8", None)
    assert all(text.count(f"if (x_2 == {count}) {{") == 1 for count in (1, 2, 3, 4))
    assert "j_block_end = (x_0 * x_1 + 15) / 16" in text  # for all others
    assert "if (x_2 <= 8) {" in source("float64", None)


def test_few_numbers_of_known_count_go_in_strips() -> None:
    for dtype, length in (("uint8", 2048), ("float32", 512), ("float64", 256)):
        text = source(dtype, 3)
        assert f"/ {length}" in text
        assert "if (x_2" not in text
    assert "strip" not in source("uint8", 17)
