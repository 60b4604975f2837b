"""Whether numbers are near the right ones: the one place where tests compare with a tolerance.

A relative tolerance counts roundings: `rtol` is so many units in the last place. Below the smallest
normal number units stay as large as they are there, so that tolerances do, too. Differences and
limits are computed in a wider type than that of the numbers, where they cannot overflow, vanish, or
be rounded themselves. Numbers that are not finite have to be the same: NaN where NaN is wanted, of
either sign (it has no meaning, and processors differ in it), and infinities with their signs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def is_near(value: float, wanted: float, rtol: float) -> bool:
    """Whether one number is near another, and on the same side of zero: -0.0 is not near 0.0."""
    if math.isnan(wanted):
        return math.isnan(value)
    same_side = math.copysign(1.0, value) == math.copysign(1.0, wanted)
    return same_side and bool(near(value, wanted, rtol))


def near(value: Any, wanted: Any, rtol: float, atol: float = 0.0) -> Array:
    """For each number of two arrays of one shape, whether the first is near the second.

    Within ``rtol * abs(wanted) + atol``; zeros are alike whatever their signs.
    """
    value, wanted = np.asarray(value), np.asarray(wanted)
    assert value.shape == wanted.shape, (value.shape, wanted.shape)
    assert math.isfinite(rtol)
    assert math.isfinite(atol), "what is not finite has no part in a tolerance; see size_of"
    found, aim = _wide(value), _wide(wanted)
    with np.errstate(all="ignore"):
        limits = rtol * np.maximum(np.abs(aim), _smallest(value, wanted)) + atol
        close: Array = np.where(np.isfinite(aim), np.abs(found - aim) <= limits, _alike(found, aim))
    return close


def assert_near(value: Any, wanted: Any, rtol: float, atol: float = 0.0, what: str = "") -> None:
    """Fails with all of both arrays' numbers that are not near each other; shapes must be equal."""
    bad = ~near(value, wanted, rtol, atol)
    if not bad.any():
        return
    places = np.argwhere(bad)
    lines = [
        f"{tuple(map(int, at))}: {np.asarray(value)[tuple(at)]!r}, not "
        f"{np.asarray(wanted)[tuple(at)]!r}"
        for at in places[:10]
    ]
    head = f"{len(places)} of {bad.size} numbers are off ({rtol=}, {atol=})"
    raise AssertionError("\n".join([*filter(None, [what]), head, *lines]))


def size_of(array: Any, least: float = 0.0) -> float:
    """The largest size of a finite number in an array, or `least`: the unit of errors."""
    array = np.asarray(array)
    return float(np.abs(_wide(array[np.isfinite(array)])).max(initial=least))


def unit_at(size: float, dtype: Any = "float64") -> float:
    """The unit in the last place of a dtype's number of this size, at most that of its largest."""
    largest = np.finfo(dtype).max
    most = np.nextafter(largest, np.zeros((), dtype))  # beyond the largest there is no neighbour
    return float(np.spacing(np.asarray(min(abs(size), float(most)), dtype)))


def _wide(array: Array) -> Array:
    """Numbers in a type with more digits and a larger range, as far as there is one."""
    match array.dtype.kind, array.dtype.itemsize:
        case "c", 8:
            return array.astype(np.complex128)
        case "c", _:
            return array.astype(np.clongdouble)
        case "f", 2 | 4:
            return array.astype(np.float64)
        case _:  # also integers: a long double holds all of 64 bits
            return array.astype(np.longdouble)


def _smallest(*arrays: Array) -> float:
    """The smallest normal number of the least precise type among these."""
    found = [np.finfo(array.dtype) for array in arrays if array.dtype.kind in "fc"]
    return max((float(limits.tiny) for limits in found), default=0.0)


def _alike(found: Array, aim: Array) -> Array:
    """Whether numbers are equal, NaN and NaN too, in both parts if they are complex."""
    if aim.dtype.kind == "c":
        return _alike(np.real(found), np.real(aim)) & _alike(np.imag(found), np.imag(aim))
    same: Array = (found == aim) | (np.isnan(found) & np.isnan(aim))
    return same
