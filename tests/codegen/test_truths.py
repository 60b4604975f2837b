"""Faults of gcc 12 with bytes: places that truth values make, and kernels without effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

# Places in a table of two numbers, which follow from two rows of bools.
PLACES: dict[str, Callable[[Any, Any], Any]] = {
    "and": lambda a, b: T.cast(a & b, "int64"),
    "or": lambda a, b: T.cast(a | b, "int64"),
    "equal": lambda a, b: T.cast(T.eq(a, b), "int64"),
    "and of a number": lambda a, b: T.cast(a & b, "int64") & 1,
    "a product": lambda a, b: T.cast(a, "int64") * T.cast(b, "int64"),
    "a sum": lambda a, b: (T.cast(a, "int64") + T.cast(b, "int64")) % 2,
    "a selection": lambda a, b: T.where(a & ~b, 1, 0),
    "a fold": lambda a, b: T.cast(T.all(T.stack([a, b]), 0), "int64"),
    "itself": lambda a, b: T.cast(a, "int8"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("name", PLACES)
def test_elements_at_places_that_truth_values_make(name: str, dtype: str) -> None:
    """gcc 12 took true for -1 and read before the table."""
    a, b = (T.tensor("bool", (None,), name) for name in "ab")
    rng = np.random.default_rng(0)
    table = np.array([0, 1]).astype(dtype)
    for length in (2, None):
        w = T.tensor(dtype, (length,), "w")
        chosen = w[PLACES[name](a, b)]
        out = [chosen, 2.0 * chosen]
        f, plain = (
            [symc.function([w, a, b], one, on_unused_input="ignore", mode=mode) for one in out]
            for mode in ("default", "python")
        )
        for count in (1, 7, 64, 129):
            one, other = rng.random((2, count)) < 0.5
            for found, wanted in zip(f, plain, strict=True):
                np.testing.assert_array_equal(found(table, one, other), wanted(table, one, other))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64"])
@pytest.mark.parametrize("source", ["int8", "int64", "float32", "float64"])
def test_elements_at_places_that_comparisons_make(source: str, dtype: str) -> None:
    x, y = (T.tensor(source, (None,), name) for name in "xy")
    w = T.tensor(dtype, (None,), "w")
    rng = np.random.default_rng(0)
    table = np.array([0, 1, 1]).astype(dtype)
    one, other = (rng.random((2, 129)) * 2).astype(source)
    places = [(x < y) & (x > 0), (x < y) | T.eq(y, 0), ~(x < y)]
    indexes = [T.cast(place, "int64") for place in places]
    indexes.append(T.cast(x < y, "int8") + T.cast(T.eq(y, 0), "int8"))
    for index in indexes:
        for out in (w[index], 2.0 * w[index]):
            f, plain = (
                symc.function([w, x, y], out, mode=mode, on_unused_input="ignore")
                for mode in ("default", "python")
            )
            np.testing.assert_array_equal(f(table, one, other), plain(table, one, other))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "float32"])
def test_two_numbers_set_from_two_in_strides(dtype: str) -> None:
    """The kernel was taken for one without effect, and its call dropped: nothing changed."""
    rng = np.random.default_rng(1)
    x, c = T.tensor(dtype, (4, None), "x"), T.tensor("bool", (), "c")
    f = symc.function([x, c], symc.ifelse(c, x[2:, 0].set(x[0::2, 23]), x))
    s = symc.shared(np.zeros((4, 63), dtype), shape=(4, None))
    update = symc.function([], [], updates=[(s, s[2:, 0].set(s[0::2, 23]))])
    for _ in range(8):
        given = (rng.random((4, 63)) < 0.5).astype(dtype)
        wanted = given.copy()
        wanted[2:, 0] = given[0::2, 23]
        np.testing.assert_array_equal(f(given, True), wanted)
        s.set_value(given)
        update()
        np.testing.assert_array_equal(np.asarray(s.get_value()), wanted)
