"""Sums of bytes and of truth values in narrow lanes: of all lengths, and none of them wraps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(12)
WIDTHS = [
    *range(20), 31, 32, 33, 47, 48, 63, 64, 65, 95, 96, 127, 128, 129, 200, 401,
    4095, 4096, 4097, 8191, 8192, 8193, 8255, 8256, 8257, 8320, 16384, 16449,
]  # fmt: skip
"""All around a vector of 16 and of 64, and around the vectors that share lanes."""
BYTES = ["uint8", "int8", "uint16", "int16"]
FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, m: m.sum(x, axis=1),
    "count": lambda x, m: m.sum(x > 100, axis=1),
    "mean": lambda x, m: m.mean(x, axis=1),
    "backwards": lambda x, m: m.sum(x[:, ::-1], axis=1),
    "in floats": lambda x, m: m.sum(x, axis=1, dtype="float32"),
    "in two bytes": lambda x, m: m.sum(x, axis=1, dtype="int16"),
    "of two rows": lambda x, m: m.sum(m.minimum(x[1:], x[:-1]), axis=1),
    "not below the first": lambda x, m: m.sum(x >= x[:, :1], axis=1),
    "two": lambda x, m: m.sum(x, axis=1) * 3 + m.sum(x > 0, axis=1),
    "whole": lambda x, m: m.sum(x),
    "whole count": lambda x, m: m.sum(x > 3),
    "whole mean": lambda x, m: m.mean(x),
}
OF_SOME = ("mean", "whole mean", "not below the first")
OF_BOOLS = ("sum", "mean", "backwards", "in floats", "whole", "whole mean")


def rows(dtype: str, width: int) -> list[Any]:
    """Three rows of the lowest numbers, of the highest, and of any."""
    if dtype == "bool":
        return [np.ones((3, width), bool), RNG.random((3, width)) < 0.5]
    kind = np.iinfo(dtype)
    whole = [np.full((3, width), value, dtype) for value in (kind.min, kind.max)]
    return [*whole, RNG.integers(kind.min, kind.max + 1, (3, width)).astype(dtype)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [*BYTES, "bool"])
@pytest.mark.parametrize("name", FOLDS)
def test_rows_of_every_length(name: str, dtype: str) -> None:
    if dtype == "bool" and name not in OF_BOOLS:
        return
    x = T.tensor(dtype, (None, None), "x")
    f = symc.function([x], FOLDS[name](x, T))
    for width in WIDTHS:
        for value in rows(dtype, width) if width or name not in OF_SOME else ():
            wanted = FOLDS[name](value, np)
            got: Any = f(value)
            if name != "two":
                assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-6 if "float" in name else 0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("width", [3, 15, 16, 17, 50, 63, 64, 100, 128, 192, 8256, 8257, 20000])
@pytest.mark.parametrize("dtype", [*BYTES, "bool"])
def test_rows_of_known_length(dtype: str, width: int) -> None:
    x = T.tensor(dtype, (None, width), "x")
    f = symc.function([x], [x.sum(axis=1), x.mean(axis=1)])
    for value in rows(dtype, width):
        sums, means = f(value)
        np.testing.assert_array_equal(sums, value.sum(axis=1))
        np.testing.assert_allclose(means, value.mean(axis=1), rtol=1e-15)


@pytest.mark.parametrize("dtype", BYTES)
def test_extremes_beside_sums_have_loops_of_their_own(dtype: str) -> None:
    x = T.tensor(dtype, (None, None), "x")
    results = [x.sum(axis=1), x.max(axis=1), T.any(x > 100, axis=1), x.sum(), x.min()]
    f = symc.function([x], results)
    assert "reduction(+" not in f.source.partition("out")[2].partition("partial[")[0]
    for width in WIDTHS[1:]:
        for value in rows(dtype, width):
            wanted = [
                value.sum(axis=1), value.max(axis=1), (value > 100).any(axis=1), value.sum(),
                value.min(),
            ]  # fmt: skip
            for got, right in zip(f(value), wanted, strict=True):
                np.testing.assert_array_equal(got, right)


def test_sums_of_one_byte_wrap() -> None:
    x = T.tensor("uint8", (None, None), "x")
    f = symc.function([x], x.sum(axis=1, dtype="uint8"))
    for width in (7, 70, 700):
        value = RNG.integers(0, 256, (5, width)).astype("uint8")
        np.testing.assert_array_equal(f(value), value.sum(axis=1, dtype="uint8"))


def test_lanes_are_as_narrow_as_terms() -> None:
    x = T.tensor("uint8", (None, None), "x")
    assert "uint16_t lanes_2[64]" in symc.function([x], x.sum()).source
    assert "uint8_t lanes[16]" in symc.function([x], (x > 3).sum(axis=1)).source
    assert "reduction" not in symc.function([x], x.sum(axis=1)).source
    y = T.tensor("int16", (None, None), "y")
    assert "int32_t lanes[8]" in symc.function([y], y.sum(axis=1)).source
    assert "uint16_t lanes[8]" in symc.function([y], (y > 3).sum(axis=1)).source


def test_sums_of_wide_numbers_and_of_places_stay() -> None:
    for dtype in ("int32", "float32", "int64"):
        x = T.tensor(dtype, (None, None), "x")
        assert "lanes[64]" not in symc.function([x], (x > 0).sum(axis=1)).source
        value = RNG.integers(-5, 9, (4, 99)).astype(dtype)
        both = symc.function([x], [(x > 0).sum(axis=1), x.sum(axis=1)])
        for got, right in zip(
            both(value), [(value > 0).sum(axis=1), value.sum(axis=1)], strict=True
        ):
            np.testing.assert_allclose(got, right, rtol=1e-6)
    table, place = T.tensor("uint8", (None,), "table"), T.tensor("int64", (None, None), "place")
    f = symc.function([table, place], table[place].sum(axis=1))
    numbers, places = RNG.integers(0, 256, 50).astype("uint8"), RNG.integers(0, 50, (4, 99))
    np.testing.assert_array_equal(f(numbers, places), numbers[places].sum(axis=1))


def test_rows_in_steps_of_a_loop() -> None:
    x = T.tensor("uint8", (None, None), "x")
    f = symc.function([x], symc.scan(lambda row, m: m + row.sum(), x, np.uint64(0))[0])
    for width in (0, 5, 16, 83, 9000):
        value = RNG.integers(0, 256, (9, width)).astype("uint8")
        np.testing.assert_array_equal(f(value), np.cumsum(value.sum(axis=1)))
