"""What the beta function and its logarithm mean in NumPy, also far below zero.

Other special functions stand in `reference_values`. Numbers in brackets are those of DLMF.
"""

from __future__ import annotations

import math

import numpy as np

from symc.tensor.reference_values import Floats, gamma, stirling, vectorised


def _beta(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The beta function and the logarithm of its size, for low <= high and no poles.

    B(a, b) = B(a + 1, b) (a + b) / a (5.12.1, 5.5.1) until both are at least 10, then Stirling.
    The factors are kept as a fraction and a power of two.
    """
    a, b, factor, power = low, high, np.ones_like(low), np.zeros_like(low)
    for _ in range(400):
        a, b = np.minimum(a, b), np.maximum(a, b)
        step = a < 10
        if not step.any():
            break
        factor, up = np.frexp(factor * np.where(step, a + b, 1))
        divisor, less = np.frexp(np.where(step, a, 1))
        factor, down = np.frexp(factor / divisor)
        a, b, power = b, np.where(step, a + 1, a), power + up + down - less
    log = -a * np.log1p(b / a) - b * np.log1p(a / b) + stirling(a) + stirling(b)
    log = log - stirling(a + b) + 0.5 * np.log(2 * math.pi * (1 / a + 1 / b))
    twos = np.clip(np.round(log / math.log(2)), -1e6, 1e6)
    value = np.ldexp(factor * np.exp(log - twos * math.log(2)), (power + twos).astype(np.int64))
    return value, np.log(np.abs(factor)) + power * math.log(2) + log


def sinpi_sum(a: Floats, b: Floats | float = 0.0) -> Floats:
    """sin(pi (a + b)), also where the sum rounds."""
    total = a + b
    other = total - a
    lost = (a - (total - other)) + (b - other)
    lost = math.pi * (lost - 2 * np.round(lost / 2))
    r = total - 2 * np.round(total / 2)
    sine = np.sin(math.pi * np.where(np.abs(r) > 0.5, np.copysign(1, r) - r, r))
    result: Floats = sine * np.cos(lost) + np.sin(math.pi * (0.5 - np.abs(r))) * np.sin(lost)
    return result


def _reflected_beta(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """As `_beta`; far below 0 by the reflection 5.5.3 of low, high or their sum."""
    far = low < -20
    a, b = np.where(far, low, -20.5), np.where(far, high, 0.5)
    up, down = a + b > 0, b > 0
    c, d = np.where(up, a + b, np.where(down, b, 1 - a)), np.where(up, -a, 1 - b)
    d = np.where(~up & down, 1 - (a + b), d)
    once = np.where(down, 1.0, math.pi / (1 - (a + b)) / sinpi_sum(b))
    factor = np.where(up, -math.pi / (a * sinpi_sum(a)), once * sinpi_sum(a, b) / sinpi_sum(a))
    c, d = np.where(far, c, low), np.where(far, d, high)
    value, log = _beta(np.minimum(c, d), np.maximum(c, d))
    quotient, size = far & (up | ~down), np.log(np.abs(factor))
    far_log = np.where(factor == 0, -np.inf, size + np.where(quotient, -log, log))
    far_value = np.where(quotient, factor / value, factor * value)
    # Of a value that is no normal number the digits are in its logarithm.
    tiny = (value < 1e-300) | (factor == 0)
    far_value = np.where(tiny, np.copysign(np.exp(far_log), factor), far_value)
    # Beside a tiny one only the pole 1 / high of gamma(high) is left, which a sine would lose.
    pole = far & (np.abs(high) < 1e-290)
    far_log = np.where(pole, -np.log(np.abs(high)), far_log)
    far_value = np.where(pole, 1 / high, far_value)
    return np.where(far, far_value, value), np.where(far, far_log, log)


def _any_beta(a: Floats, b: Floats, logarithm: bool) -> Floats:
    low, high = np.minimum(a, b), np.maximum(a, b)
    whole, high_whole = (low <= 0) & (low == np.floor(low)), high == np.floor(high)
    whole = whole & np.isfinite(low)
    mirrored = whole & high_whole & (high > 0) & (1 - low - high > 0)
    sign = np.where(mirrored & (high % 2 == 1), -1.0, 1.0)
    low = np.where(mirrored, 1 - low - high, low)
    pole = (whole & ~mirrored) | ((high <= 0) & high_whole)
    ends = np.isinf(low) | np.isinf(high)
    fine = ~(pole | ends | np.isnan(low))
    value, log = _reflected_beta(*(np.where(fine, v, 1.0) for v in (low, high)))
    at_end = np.where(low > 0, 0.0, np.where(np.isinf(low), np.nan, gamma(low) * np.inf))
    at_pole = np.where(np.isinf(low), np.nan, np.inf)
    rest = np.where(pole, at_pole, np.where(ends, at_end, np.nan))
    special = np.log(np.abs(rest)) if logarithm else rest
    return np.where(fine, log if logarithm else sign * value, special)


@vectorised
def beta(a: Floats, b: Floats) -> Floats:
    """gamma(a) gamma(b) / gamma(a + b) (5.12.1).

    Where an argument is 0 or a negative whole number it is inf, but for a whole b with
    1 - a - b > 0 it is (-1)^b beta(1 - a - b, b).
    """
    return _any_beta(a, b, logarithm=False)


@vectorised
def betaln(a: Floats, b: Floats) -> Floats:
    """log |beta(a, b)|."""
    return _any_beta(a, b, logarithm=True)
