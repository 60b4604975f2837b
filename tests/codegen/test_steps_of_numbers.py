"""Steps of a few operations: extremes wait for one instruction, and several are written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

PLACES, X = T.lvector("places"), T.vector("x")
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan]


def running(function: Any, x: Any = X) -> Any:
    """The extreme of what comes to each of three places, one after the other."""

    def step(i: Any, best: Any) -> Any:
        return best[PLACES[i]].set(function(best[PLACES[i]], x[i]))

    first = T.zeros(3, x.dtype.name) + 0.5
    return symc.function([PLACES, x], symc.fori_loop(0, PLACES.shape[0], step, first))


@pytest.mark.parametrize("name", ["minimum", "maximum"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extremes_of_steps_keep_nan_and_zeros(name: str, dtype: str) -> None:
    x = T.tensor(dtype, (None,), "x")
    f = running(getattr(T, name), x)
    assert f"symc_{name}_step_f{dtype[-2:]}" in f.source
    for one in SPECIAL:
        for other in SPECIAL:
            best = getattr(np, name)(getattr(np, name)(np.array(0.5, dtype), one), other)
            got = f(np.array([1, 1]), np.array([one, other], dtype))
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, np.array([0.5, best, 0.5], dtype))


@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_of_equal_numbers_the_first_is_taken(name: str) -> None:
    """As in loops over vectors: of 0.0 and -0.0, which are equal."""

    def step(i: Any, best: Any) -> Any:
        return best[PLACES[i]].set(getattr(T, name)(best[PLACES[i]], X[i]))

    f = symc.function([PLACES, X], symc.fori_loop(0, PLACES.shape[0], step, T.zeros(1)))
    assert not np.signbit(f(np.array([0]), np.array([-0.0])))[0]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 255, 256, 257, 515])
def test_steps_that_are_written_out(count: int) -> None:
    f = running(T.maximum)
    assert "#pragma GCC unroll 4" in f.source
    generator = np.random.default_rng(count)
    places, x = generator.integers(0, 3, count), generator.standard_normal(count)
    wanted = np.full(3, 0.5)
    np.maximum.at(wanted, places, x)
    np.testing.assert_array_equal(f(places, x), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_that_no_integer_is_near(dtype: str) -> None:
    """Outside of vectors an instruction of the processor converts them, in vectors arithmetic."""
    x = T.vector("x", dtype=dtype)
    y = symc.fori_loop(
        0, x.shape[0],
        lambda i, y: y[i].set(T.cast(x[i], "int64") + y[T.maximum(i - 1, 0)] * 0),
        T.zeros(x.shape, "int64"),
    )  # fmt: skip
    f = symc.function([x], [y, T.cast(x, "int64")])
    given = [0.0, -0.0, 1.9, -1.9, np.nan, np.inf, -np.inf, 2.0**63, -(2.0**63), 2.0**62, 1e30]
    array = np.array([*given, -1e30, np.nextafter(2.0**63, 0), np.finfo(dtype).tiny], dtype)
    with np.errstate(invalid="ignore"):
        wanted = [int(value) if -(2**63) <= value < 2**63 else -(2**63) for value in array.tolist()]
    for got in f(array):
        np.testing.assert_array_equal(got, wanted)
