"""Modes of `pad`, against NumPy: statistics, ramps, reflections longer than the array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(5)
FLOATS = RNG.standard_normal((3, 4))
INTEGERS = RNG.integers(-9, 9, (3, 4))
WIDTHS: list[Any] = [2, (1, 3), ((0, 2), (3, 0)), ((7, 0), (5, 11))]
CASES: list[dict[str, Any]] = [
    *({"mode": mode} for mode in ("edge", "wrap", "reflect", "symmetric", "linear_ramp")),
    *({"mode": mode, "reflect_type": "odd"} for mode in ("reflect", "symmetric")),
    *(
        {"mode": mode, **given}
        for mode in ("maximum", "minimum", "mean", "median")
        for given in ({}, {"stat_length": 2}, {"stat_length": ((1, 2), (9, 1))})
    ),
    {"mode": "linear_ramp", "end_values": ((1, -2), (30, 4))},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_modes_are_numpys(case: dict[str, Any]) -> None:
    for widths in WIDTHS:
        for array in (FLOATS, INTEGERS, FLOATS.astype("float32"), FLOATS[:1]):
            found = symc.function([], T.pad(array, widths, **case), mode="python")()
            right = np.pad(array, widths, **case)
            assert found.dtype == right.dtype
            digits = 1e-6 if array.dtype == np.float32 else 1e-13
            np.testing.assert_allclose(found, right, rtol=digits, atol=digits)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_widths_and_lengths_that_are_not_known(case: dict[str, Any]) -> None:
    x, n = T.matrix("x"), T.lscalar("n")
    f = symc.function([x, n], T.pad(x, ((n, 1), (2, n + 1)), **case), mode="python")
    for count in (0, 1, 6):
        right = np.pad(FLOATS, ((count, 1), (2, count + 1)), **case)
        np.testing.assert_allclose(f(FLOATS, count), right, rtol=1e-13, atol=1e-13)


def test_widths_by_axis_and_what_pad_refuses() -> None:
    np.testing.assert_array_equal(
        T.pad(INTEGERS, {-1: (1, 2)}).eval(), np.pad(INTEGERS, {-1: (1, 2)})
    )
    assert T.pad([1.0, 2.0], 1, "empty").eval().shape == (4,)
    with pytest.raises(ValueError, match="no maximum"):
        T.pad([1.0, 2.0], 1, "maximum", stat_length=0)
    with pytest.raises(ValueError, match="'even' or 'odd'"):
        T.pad([1.0, 2.0], 1, "reflect", reflect_type="neither")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot be -1"):
        T.pad([1.0, 2.0], -1, "mean")


@pytest.mark.parametrize("mode", ["mean", "median", "maximum", "minimum", "linear_ramp"])
def test_bools_at_the_ends_are_what_is_not_zero(mode: Any) -> None:
    """A mean of one half was rounded to False, and numbers of a ramp were rounded down."""
    for array in (np.array([True, False]), INTEGERS > 2, np.zeros(3, bool)):
        ends: dict[str, Any] = {"end_values": 1} if mode == "linear_ramp" else {}
        x = T.tensor("bool", array.shape)
        for how in ("default", "python"):
            found = symc.function([x], T.pad(x, (2, 1), mode, **ends), mode=how)(array)
            np.testing.assert_array_equal(found, np.pad(array, (2, 1), mode, **ends), strict=True)


@pytest.mark.parametrize("mode", ["edge", "wrap", "reflect", "mean", "maximum", "linear_ramp"])
def test_an_empty_axis_is_made_longer_by_constants_alone(mode: Any) -> None:
    """What failed was a step on the way, such as a division by the length."""
    k = T.lscalar("k")
    for how in ("default", "python"):
        for x in (T.vector("x"), T.vector("x", shape=(0,))):
            with pytest.raises(ValueError, match="axis 0 is empty"):
                symc.function([x], T.pad(x, (0, 2), mode), mode=how)(np.zeros(0))
        x = T.vector("x")
        f = symc.function([x, k], T.pad(x, (k, 0), mode), mode=how)
        with pytest.raises(ValueError, match=r"axis 0 is empty|no elements"):
            f(np.zeros(0), 1)
        assert f(np.array([7.0]), 1).shape == (2,)
        x = T.matrix("x")
        f = symc.function([x], T.pad(x, ((0, 0), (1, 1)), mode), mode=how)
        assert f(np.zeros((0, 3))).shape == (0, 5)  # that axis stays as it is
