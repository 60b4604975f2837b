"""Gauss' hypergeometric function."""

from __future__ import annotations

import math
from collections.abc import Iterable

from symc.tensor.elementwise import elementwise
from symc.tensor.libm import each
from symc.tensor.reference_values import Floats, gamma_of, real_power, vectorised
from symc.tensor.rows import IN_HEADER
from symc.tensor.signatures import FunctionOfFour
from symc.tensor.unknown import unknown

__all__ = ["hyp2f1"]


def _sum(terms: Iterable[float]) -> float:
    """`math.fsum`, NaN where that raises: of infinities of both signs, or in between."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return math.nan


def _series(a: float, b: float, c: float, z: float) -> float:
    """DLMF 15.2.1, for 0 <= z <= 3/4 or where it ends."""
    term, terms = 1.0, [1.0]
    for k in range(3000):
        if a + k == 0 or b + k == 0:
            break  # a polynomial, of which c + k may be 0 from here on
        term *= (a + k) / (c + k) * (b + k) / (k + 1) * z
        terms.append(term)
        if term == 0 or (k > 40 and abs(term) < 1e-20 * abs(terms[0])):
            break
    return _sum(terms)


def _followed(a: float, b: float, c: float, z: float, w: float) -> float:
    """F at z = 1 - w by Taylor series of the differential equation 15.10.1, from z = 1/2 on.

    Each reaches to a third of the way to the singularity at 1, and less far than to that at 0 where
    rounding errors have a part that grows like z^(1 - c); in powers of w0 - w.
    """
    huge = abs(c) > 1e6 * max(1.0, abs(a), abs(b)) ** 2  # the coefficients below would overflow
    if z <= 0.5 or (huge and z <= 0.75):
        return _series(a, b, c, z)
    value, here = _series(a, b, c, 0.5), 0.5
    slope = a * b / c * _series(a + 1, b + 1, c + 1, 0.5)
    while here > w:
        following = max(w, here * 2 / 3)
        s = here - following
        u = [value, slope * s]  # each coefficient times its power of s
        for k in range(90):
            x = 1 - here
            pull = k * (k - 1) + k * (a + b + 1) + a * b
            push = (k + 1) * (k * (here - x) + c - (a + b + 1) * x)
            u.append((pull * u[k] * s - push * u[k + 1]) * s / ((k + 2) * (k + 1) * here * x))
        value, slope = _sum(u), _sum(k * v for k, v in enumerate(u)) / s
        here = following
    return value


def _is_whole(x: float) -> bool:
    return math.isinf(x) or x == math.floor(x)


def _gauss(a: float, b: float, c: float, z: float) -> float:
    if any(math.isnan(v) for v in (a, b, c, z)):
        return math.nan
    if z == 0 or a == 0 or b == 0:
        return 1.0
    ends = [-v for v in (a, b) if v < 0 and _is_whole(v)]
    if c <= 0 and _is_whole(c) and not (ends and min(ends) <= -c):
        return math.inf
    if ends and (z < 0 or z > 1 or min(ends) < 20):
        return _series(a, b, c, z)
    if z > 1:
        return math.nan
    s = c - a - b
    if z == 1:
        if s <= 0:
            return math.inf
        parts = [_gamma(v) for v in (c, s, c - a, c - b)]
        return parts[0] * parts[1] / (parts[2] * parts[3])
    if z == -math.inf:
        return 0.0 if a > 0 and b > 0 else math.nan
    if z < 0:
        a, b = sorted((a, b))
        return real_power(1 - z, -a) * _followed(a, c - b, c, z / (z - 1), 1 / (1 - z))
    if s < 0 and z > 0.5:
        return real_power(1 - z, s) * _followed(c - a, c - b, c, z, 1 - z)
    return _followed(a, b, c, z, 1 - z)


def _gamma(x: float) -> float:
    return math.inf if x <= 0 and _is_whole(x) else gamma_of(x)


@vectorised
def _hyp2f1(a: Floats, b: Floats, c: Floats, z: Floats) -> Floats:
    return each(_gauss, a, b, c, z)


def _known_of(z: str) -> str:
    return f"the derivative of hyp2f1 by its {z} argument"


hyp2f1: FunctionOfFour = elementwise(
    "hyp2f1", _hyp2f1, IN_HEADER,
    """Gauss' hypergeometric function F(a, b; c; z) of real numbers, z <= 1 (DLMF 15.2.1).

    NaN for z > 1, where it is complex, unless it is a polynomial; inf where c is a pole. There is a
    derivative by z alone.

    >>> import symc.tensor as T
    >>> T.hyp2f1(1.0, 1.0, 2.0, [0.5, -3.0]).eval()
    array([1.38629436, 0.46209812])
    """,
    lambda g, a, b, c, z, y: unknown(_known_of("first"), g),
    lambda g, a, b, c, z, y: unknown(_known_of("second"), g),
    lambda g, a, b, c, z, y: unknown(_known_of("third"), g),
    lambda g, a, b, c, z, y: g * a * b / c * hyp2f1(a + 1, b + 1, c + 1, z), cost=1000,
)  # fmt: skip
