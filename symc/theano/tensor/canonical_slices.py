"""Slices of any bounds and steps as slices from the left, and the direction to read them in."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.gof.graph import Constant, Variable
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable


def _plain(x: Any) -> Any:
    """A number where one is known, else a variable."""
    if isinstance(x, Constant):
        return None if x.data is None else int(np.asarray(x.data))
    if isinstance(x, Variable) or x is None:
        return x
    return int(x)


def _switch(condition: Any, then: Any, otherwise: Any) -> Any:
    if isinstance(condition, bool | np.bool_):
        return then if condition else otherwise
    return math.switch(condition, then, otherwise)


def _least(a: Any, b: Any) -> Any:
    return _switch(a < b, a, b)


def _most(a: Any, b: Any) -> Any:
    return _switch(a > b, a, b)


def get_canonical_form_slice(theslice: Any, length: Any) -> tuple[Any, Any]:
    """A slice with bounds from 0 to `length` and a step above 0, and 1 or -1: its direction.

    ``x[slice]`` read in that direction is ``x[theslice]``. A number gives one that is not negative.
    """
    length = _plain(length)
    if not isinstance(theslice, slice):
        value = _plain(theslice)
        return _switch(value < 0, value + length, value), 1
    start, stop, step = (_plain(each) for each in (theslice.start, theslice.stop, theslice.step))
    step = 1 if step is None else step
    if isinstance(step, int):
        if step == 0:
            raise ValueError("slice step cannot be zero")
        return _towards(start, stop, step, length)
    right, _ = _towards(start, stop, step, length, up=True)
    left, _ = _towards(start, stop, step, length, up=False)
    up = math.gt(step, 0)
    start, stop = (
        math.switch(up, as_tensor_variable(a), as_tensor_variable(b))
        for a, b in ((right.start, left.start), (right.stop, left.stop))
    )
    return slice(start, stop, abs(step)), math.switch(up, 1, -1)


def _towards(
    start: Any, stop: Any, step: Any, length: Any, up: bool | None = None
) -> tuple[slice, int]:
    """The slice for a step of known sign."""
    up = step > 0 if up is None else up
    size = step if up else -step
    first, last = (0, length) if up else (-1, length - 1)

    def bound(value: Any, absent: Any) -> Any:
        if value is None:
            return absent
        value = _switch(value < 0, value + length, value)
        return _least(_most(value, first), last)

    begin = bound(start, first if up else last)
    end = bound(stop, last if up else first)
    if up:
        return slice(begin, _most(begin, end), size), 1
    count = _most(begin - end + size - 1, 0) // size
    lowest = _switch(count > 0, begin - (count - 1) * size, 0)
    return slice(lowest, _switch(count > 0, begin + 1, 0), size), -1
