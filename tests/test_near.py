"""Comparison of numbers in tests: at the ends of the range, where tolerances used to vanish."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.near import assert_near, is_near, near, size_of, unit_at

INF, NAN = math.inf, math.nan
BITS: dict[str, Any] = {"float16": np.uint16, "float32": np.uint32, "float64": np.uint64}


@pytest.mark.parametrize("dtype", BITS)
@given(data=st.data())
def test_neighbours_are_near_and_others_are_not(dtype: str, data: st.DataObject) -> None:
    limits = np.finfo(dtype)
    kind = BITS[dtype]
    x = kind(data.draw(st.integers(0, int(np.iinfo(kind).max)))).view(dtype)
    assume(np.isfinite(x))
    rtol = 4 * float(limits.eps)
    with np.errstate(all="ignore"):
        beside = np.nextafter(x, np.asarray(0 if x else 1, dtype))
        far = np.asarray(x + x / 2 if abs(x) < limits.max / 2 else x / 2)
    assert near(beside, x, rtol)
    assert near(x, beside, rtol)
    if abs(x) > 16 * limits.smallest_subnormal:
        assert not near(far, x, rtol)
        assert not near(-x, x, rtol)
        assert not near(np.zeros((), dtype), x, rtol)
    for wrong in (NAN, INF, -INF):
        assert not near(np.asarray(wrong, dtype), x, rtol)
        assert not near(x, np.asarray(wrong, dtype), rtol)


def test_tiny_numbers_are_near_though_their_product_is_zero() -> None:
    assert is_near(1e-300, 9.999999999999999e-301, 1e-13)
    assert is_near(-5e-324, -1e-323, 1e-13)
    assert not is_near(1e-300, -1e-300, 1e-13)
    assert not is_near(1e-300, 0.0, 1e-13)


@pytest.mark.parametrize(
    ("value", "wanted", "answer"),
    [
        (0.0, 0.0, True), (-0.0, 0.0, False), (0.0, -0.0, False), (NAN, NAN, True),
        (-NAN, NAN, True), (NAN, 1.0, False), (1.0, NAN, False), (INF, INF, True),
        (INF, -INF, False), (1.7e308, INF, False), (INF, 1.7e308, False),
        (1.7e308, -1.7e308, False), (1.0, 1 + 1e-14, True), (1.0, 1 + 1e-12, False),
        (3, 3.0, True),         (-0.0, 5e-324, False),
    ],
)  # fmt: skip
def test_one_number(value: float, wanted: float, answer: bool) -> None:
    assert is_near(value, wanted, 1e-13) is answer


def test_an_infinity_does_not_excuse_the_numbers_beside_it() -> None:
    wanted: Any = np.array([INF, NAN, 1.0, -2.0])
    assert size_of(wanted) == 2.0
    with pytest.raises(AssertionError, match=r"1 of 4 numbers are off"):
        assert_near(np.array([INF, NAN, 5.0, -2.0]), wanted, 1e-9, 1e-9 * size_of(wanted, 1.0))
    with pytest.raises(AssertionError, match="no part in a tolerance"):
        assert_near(wanted, wanted, 1e-9, atol=float(np.abs(wanted[:1]).max()))


def test_shapes_are_not_broadcast() -> None:
    with pytest.raises(AssertionError):
        assert_near(np.ones(3), 1.0, 1e-9)
    with pytest.raises(AssertionError):
        assert_near(np.ones((1, 3)), np.ones(3), 1e-9)
    assert_near(np.ones(0), np.zeros(0), 1e-9)


def test_limits_of_narrow_types_are_not_rounded() -> None:
    tiny = np.float32(1e-44)  # in float32, 1e-6 * 1e-44 is 0
    assert near(tiny, np.nextafter(tiny, np.float32(1)), 1e-6)
    big: Any = np.array([60000], "f2")
    assert not near(big, -big, 2e-3)
    whole = np.array([2**63 - 1], np.int64)  # in float64, this is 2**63
    assert not near(whole, whole - 1, 0.0)


def test_complex_numbers() -> None:
    value = np.array([1 + 1e-12j, complex(INF, 1), complex(NAN, 2), 3])
    assert near(value, np.array([1, complex(INF, 1), complex(NAN, 2), 3]), 1e-9).all()
    other = near(value, np.array([1j, complex(INF, 2), complex(2, NAN), complex(NAN, 3)]), 1e-9)
    assert not other.any()
    large = np.array([1e200 + 1e200j])  # the squares of the parts overflow
    assert near(large, large * (1 + 1e-12), 1e-9).all()
    assert not near(large, large * (1 + 1e-6), 1e-9).any()


def test_units() -> None:
    assert unit_at(1.0) == 2.0**-52
    assert unit_at(-1.0, "float32") == 2.0**-23
    assert unit_at(0.0) == 5e-324
    assert unit_at(1e300, "float32") == unit_at(3e38, "float32") == 2.0**104
