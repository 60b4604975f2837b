"""A step length that satisfies the strong Wolfe conditions.

Nocedal and Wright, Numerical optimization, 2nd edition, algorithms 3.5 and 3.6, with the minimum of
a cubic as next guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DECREASE = 1e-4
CURVATURE = 0.9
_MOST = 25


@dataclass(frozen=True, slots=True)
class LinePoint:
    """A step length, the value and the slope there, and whatever else was found out about it."""

    length: float
    value: float
    slope: float
    rest: Any = None


Line = Callable[[float], LinePoint]


def strong_wolfe(line: Line, start: LinePoint, first: float) -> LinePoint | None:
    """A point with enough decrease and a flat enough slope; None if there is none to be found.

    `line` evaluates a step length; `start` is the point of length 0, whose slope is negative.
    """
    before, length = start, first
    for number in range(_MOST):
        here = line(length)
        if not math.isfinite(here.value) or not math.isfinite(here.slope):
            length = (before.length + length) / 2  # out of the function's domain
            continue
        if not _decreases(here, start) or (number and here.value >= before.value):
            return _zoom(line, start, before, here)
        if _is_flat(here, start):
            return here
        if here.slope >= 0:
            return _zoom(line, start, here, before)
        before, length = here, 2 * length
    return None


def _zoom(line: Line, start: LinePoint, low: LinePoint, high: LinePoint) -> LinePoint | None:
    """Narrows an interval that has a good point in it; `low` is its end with the lower value."""
    for _ in range(_MOST):
        length = _between(low, high)
        if length in (low.length, high.length):
            break
        here = line(length)
        if not _decreases(here, start) or here.value >= low.value:
            high = here
        else:
            if _is_flat(here, start):
                return here
            if here.slope * (high.length - low.length) >= 0:
                high = low
            low = here
    return low if low.length > 0 and _decreases(low, start) else None


def _decreases(here: LinePoint, start: LinePoint) -> bool:
    """The first condition: the value is lower by a part of the slope's promise."""
    return here.value <= start.value + DECREASE * here.length * start.slope


def _is_flat(here: LinePoint, start: LinePoint) -> bool:
    """The second: the slope is less steep."""
    return abs(here.slope) <= -CURVATURE * start.slope


def _between(low: LinePoint, high: LinePoint) -> float:
    """The minimum of the cubic through both points (3.59), or the middle if that is near an end."""
    gap = high.length - low.length
    middle = low.length + gap / 2
    if not (math.isfinite(high.value) and math.isfinite(high.slope)):
        return middle
    bend = low.slope + high.slope - 3 * (high.value - low.value) / gap
    inside = bend * bend - low.slope * high.slope
    if inside < 0:
        return middle
    root = math.copysign(math.sqrt(inside), gap)
    bottom = high.slope - low.slope + 2 * root
    if bottom == 0:
        return middle
    length = high.length - gap * (high.slope + root - bend) / bottom
    ends = sorted((low.length + gap / 10, high.length - gap / 10))
    return length if ends[0] <= length <= ends[1] else middle
