"""Comparisons of integers that no common dtype holds are exact, as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RELATIONS: dict[str, Any] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
FAR = {
    "uint8": [-1, 255, 256, 10**30],
    "int8": [-129, -128, 128],
    "int64": [-(2**63) - 1, 2**63],
    "uint64": [-1, 2**64],
    "bool": [-1, 2],
}


@pytest.mark.parametrize("dtype", FAR)
def test_python_integers_beyond_the_dtype_are_above_or_below_all(dtype: str) -> None:
    x = T.vector("x", dtype=dtype)
    value = np.array([0, 1], dtype)
    if dtype != "bool":
        value = np.array([np.iinfo(dtype).min, 0, np.iinfo(dtype).max], dtype)
    calls = [(name, number) for name in RELATIONS for number in FAR[dtype]]
    left = [getattr(T, name)(x, number) for name, number in calls]
    right = [getattr(T, name)(number, x) for name, number in calls]
    got = symc.function([x], left + right)(value)
    wanted = [RELATIONS[name](value, number) for name, number in calls]
    wanted += [RELATIONS[name](number, value) for name, number in calls]
    for given, expected in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(given, expected)


def test_operators_and_constants_compare_so_too() -> None:
    x = T.vector("x", dtype="uint8")
    np.testing.assert_array_equal((x < 300).eval({x: [1, 2]}), [True, True])
    np.testing.assert_array_equal(T.gt(-1, x).eval({x: [1, 2]}), [False, False])
    np.testing.assert_array_equal(T.lt(np.array([1, 2], np.int8), 128).eval(), [True, True])


@pytest.mark.parametrize("mode", ["default", "python"])
def test_unsigned_and_signed_integers_are_compared_exactly(mode: str) -> None:
    unsigned = np.array([0, 1, 2**63, 2**64 - 1, 2**53 + 1, 2**53], np.uint64)
    signed = np.array([-1, 1, -(2**63), 2**63 - 1, 2**53, 2**53 + 1])
    q, i = T.vector("q", dtype="uint64"), T.vector("i", dtype="int64")
    both = [getattr(T, name) for name in RELATIONS]
    f = symc.function([q, i], [r(q, i) for r in both] + [r(i, q) for r in both], mode=mode)
    wanted = [r(unsigned, signed) for r in RELATIONS.values()]
    wanted += [r(signed, unsigned) for r in RELATIONS.values()]
    for given, expected in zip(f(unsigned, signed), wanted, strict=True):
        np.testing.assert_array_equal(given, expected)


def test_slices_of_one_stretch_where_unsigned_meets_signed() -> None:
    q, i = T.vector("q", dtype="uint64"), T.vector("i", dtype="int32")
    got = T.le(i[:1], q).eval({i: np.array([1, 5], np.int32), q: np.array([0, 1, 2], np.uint64)})
    np.testing.assert_array_equal(got, [False, True, True])


def test_a_clip_without_limits_is_the_array() -> None:
    x = T.vector("x")
    np.testing.assert_array_equal(T.clip(x, None, None).eval({x: [1.0, 2.0]}), [1.0, 2.0])
    np.testing.assert_array_equal(x.clip().eval({x: [1.0, 2.0]}), [1.0, 2.0])


def test_conjugates_of_bool_are_int8_as_for_numpy() -> None:
    b = T.vector("b", dtype="bool")
    got = T.conj(b).eval({b: [True, False]})
    assert got.dtype == np.int8
    assert got.tolist() == [1, 0]
