"""Running sums of four terms at a time: the same sums, in another order of additions.

Running extremes are exactly those of one after the other, also behind a NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(3)


def cumsum(dtype: str, ndim: int = 1, **kwargs: Any) -> Any:
    x = T.tensor(dtype, (None,) * ndim, "x")
    return symc.function([x], T.cumsum(x, **kwargs))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 103])
def test_sums_of_every_length(dtype: str, n: int) -> None:
    f = cumsum(dtype)
    assert "i_four" in f.source
    whole = RNG.integers(-100, 100, n).astype(dtype)  # exact in any order
    assert np.array_equal(f(whole), np.cumsum(whole))
    x = RNG.standard_normal(n).astype(dtype)
    np.testing.assert_allclose(
        f(x), np.cumsum(x), rtol=0, atol=1e-5 if dtype == "float32" else 1e-13
    )


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_reaches_the_sums_that_follow(place: int, value: float) -> None:
    x = np.ones(9)
    x[place] = value
    x[7] = -value
    with np.errstate(invalid="ignore"):
        wanted = np.cumsum(x)
    assert np.array_equal(cumsum("float64")(x), wanted, equal_nan=True)


def test_signs_of_zeros_stay() -> None:
    f = cumsum("float64")
    assert np.signbit(f(np.full(6, -0.0))).all()
    assert np.signbit(f(np.array([-0.0, 0.0, -0.0, -0.0, -0.0]))).tolist() == [
        True, False, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(8))
def test_sums_of_products_that_are_not_negative_never_fall(number: int) -> None:
    """A product that is rounded in some sums and not in others would let them fall by a unit."""
    x, y = T.vector("x"), T.vector("y")
    f = symc.function([x, y], T.cumsum(x * y))
    a, b = np.random.default_rng(number).random((2, 4000)) ** 8
    b[::3] = 0.0
    assert (np.diff(f(a, b)) >= 0).all()


def test_rows_and_whole_numbers() -> None:
    x = RNG.integers(-9, 9, (5, 13)).astype("float64")
    assert np.array_equal(cumsum("float64", 2, axis=1)(x), np.cumsum(x, axis=1))
    assert np.array_equal(cumsum("float64", 2, axis=0)(x), np.cumsum(x, axis=0))
    assert "i_four" not in cumsum("int64").source  # an addition of integers waits for nothing


def test_a_sum_that_reads_what_it_has_stored_stays_in_order() -> None:
    x = T.vector("x")
    f = symc.function(
        [x], symc.fori_loop(1, x.shape[0], lambda i, y: y[i].set(y[i] + y[i - 1] * 0.5), x)
    )
    given = RNG.random(11)
    wanted = given.copy()
    for i in range(1, 11):
        wanted[i] += wanted[i - 1] * 0.5
    np.testing.assert_allclose(f(given), wanted, rtol=1e-14)


EXTREMES = [(T.cummax, np.maximum), (T.cummin, np.minimum)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16", "uint8"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 103])
def test_extremes_of_every_length(dtype: str, n: int) -> None:
    given = (RNG.random(n) * 200).astype(dtype)
    for function, oracle in EXTREMES:
        x = T.tensor(dtype, (None,), "x")
        f = symc.function([x], function(x))
        assert "i_four" in f.source
        assert np.array_equal(f(given), oracle.accumulate(given))
        assert f(given[:0]).shape == (0,)


@pytest.mark.parametrize("place", range(10))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_extremes_pass_on_what_is_not_finite(place: int, value: float) -> None:
    given = RNG.standard_normal((3, 11))
    given[1, place] = value
    for function, oracle in EXTREMES:
        for dtype in ("float32", "float64"):
            x = T.tensor(dtype, (None, None), "x")
            rows = given.astype(dtype)
            f = symc.function([x], function(x, axis=1))
            assert np.array_equal(f(rows), oracle.accumulate(rows, axis=1), equal_nan=True)


def test_what_is_stored_may_be_made_of_the_extreme() -> None:
    """As a fall from the highest price so far."""
    x = T.matrix("x")
    f = symc.function([x], 1 - x / T.cummax(x * x, axis=1))
    given = RNG.random((4, 14)) + 0.5
    given[2, 6] = np.nan
    wanted = 1 - given / np.maximum.accumulate(given * given, axis=1)
    np.testing.assert_allclose(f(given), wanted, rtol=1e-14)
    assert "isnan" in f.source


def test_extremes_of_few_elements_keep_the_comparison_out_of_the_wait_for_nan() -> None:
    """What is left of a row, and of one of a known length, goes element by element."""
    x = T.tensor("float64", (None, 43), "x")
    f = symc.function([x], T.cummax(x, axis=1))
    assert "symc_maximum_step_f64" in f.source
    given = RNG.random((3, 43))
    given[1, 17] = np.nan
    assert np.array_equal(f(given), np.maximum.accumulate(given, axis=1), equal_nan=True)
