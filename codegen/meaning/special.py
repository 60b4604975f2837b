"""Special functions of one number in plain Python, by other methods than `codegen/runtime` uses.

Slow and simple, so that agreeing with the C functions means something. Relative errors are about
1e-13 away from zeros, except for `beta` and the incomplete gammas of large arguments (1e-10).
"""

from __future__ import annotations

import math

_TINY = 1e-300


def gamma(x: float) -> float:
    """Gamma(x), with the signs of infinity at zero and NaN at negative whole numbers."""
    if x == 0:
        return math.copysign(math.inf, x)
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def gammaln(x: float) -> float:
    """``log(abs(Gamma(x)))``, infinite at the poles."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def digamma(x: float) -> float:
    """The derivative of gammaln."""
    if x == 0:
        return math.copysign(math.inf, -x)
    if x < 0:
        if not math.isfinite(x) or x == math.floor(x):
            return math.nan
        return digamma(1 - x) - math.pi / math.tan(math.pi * (x - round(x)))
    total = 0.0
    while x < 16:
        total -= 1 / x
        x += 1
    z = 1 / (x * x)
    tail = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z / 132))))
    return total + math.log(x) - 0.5 / x - tail


def trigamma(x: float) -> float:
    """The derivative of digamma."""
    if x <= 0:
        if not math.isfinite(x) or x == math.floor(x):
            return math.inf
        return (math.pi / math.sin(math.pi * (x - round(x)))) ** 2 - trigamma(1 - x)
    total = 0.0
    while x < 16:
        total += 1 / (x * x)
        x += 1
    z = 1 / (x * x)
    tail = z * (1 / 6 - z * (1 / 30 - z * (1 / 42 - z * (1 / 30 - z * 5 / 66))))
    return total + (1 + 0.5 / x + tail) / x


def tetragamma(x: float) -> float:
    """The derivative of trigamma."""
    if x == 0:
        return math.copysign(math.inf, -x)
    if x < 0:
        if not math.isfinite(x) or x == math.floor(x):
            return math.nan
        angle = math.pi * (x - round(x))
        return tetragamma(1 - x) - 2 * math.pi**3 / math.tan(angle) / math.sin(angle) ** 2
    total = 0.0
    while x < 20:
        total -= 2 / (x * x * x)
        x += 1
    z = 1 / x / x
    tail = z * (1 / 2 - z * (1 / 6 - z * (1 / 6 - z * (3 / 10 - z * (5 / 6 - z * 691 / 210)))))
    return total - (1 + 1 / x + tail) * z


def erfinv(x: float) -> float:
    """The inverse of erf, by Newton's method on erfc."""
    if not -1 < x < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    if abs(x) < 1e-8:
        return x * math.sqrt(math.pi) / 2
    rest = 1 - abs(x)  # exact for abs(x) >= 0.5
    y = math.sqrt(-math.log(rest * (2 - rest)))
    for _ in range(60):
        error = math.erf(y) - abs(x) if abs(x) < 0.5 else rest - math.erfc(y)
        step = error * math.sqrt(math.pi) / 2 * math.exp(y * y)
        y -= step / (1 + y * step)  # Halley's correction
        if abs(step) <= 1e-16 * y:
            break
    return math.copysign(y, x)


def erfcx(x: float) -> float:
    """``exp(x * x) * erfc(x)``."""
    if x < 25:
        return math.exp(x * x) * math.erfc(x) if x > -26.7 else (math.inf if x == x else x)
    z = 0.5 / x / x
    series = 1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z)))
    return series / x / math.sqrt(math.pi)


def gammainc(a: float, x: float) -> float:
    """The regularised lower incomplete gamma function."""
    return _incomplete(a, x)[0]


def gammaincc(a: float, x: float) -> float:
    """The regularised upper incomplete gamma function."""
    return _incomplete(a, x)[1]


def _incomplete(a: float, x: float) -> tuple[float, float]:
    if not (a >= 0 and x >= 0) or a == x == 0 or a == x == math.inf:
        return math.nan, math.nan
    if x == 0 or a == math.inf:
        return 0.0, 1.0
    if a == 0 or x == math.inf:
        return 1.0, 0.0
    if a > _LARGE:
        if abs(x - a) > a / 2:
            return float(x > a), float(x < a)
        front, eta, mu = _around(a, x)
        side = math.copysign(math.sqrt(a * _excess(mu)), mu)
        # DLMF 8.12.3, 8.12.4; 1 / mu - 1 / eta cancels near 0, and has the series 8.12.10 there.
        gap = -1 / 3 + eta / 12 - 2 * eta**2 / 135 + eta**3 / 864
        if abs(eta) > 0.03:
            gap = 1 / mu - 1 / eta
        wing = front * (gap - (1 / 540 + eta / 288) / a)
        return math.erfc(-side) / 2 - wing, math.erfc(side) / 2 + wing
    factor = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        lower = factor * _series(a, x)
        return lower, 1 - lower
    upper = factor * _fraction(a, x)
    return 1 - upper, upper


def _series(a: float, x: float) -> float:
    """DLMF 8.7.1, divided by the common factor."""
    term = total = 1 / a
    n = a
    while term > total * 1e-17:
        n += 1
        term *= x / n
        total += term
    return total


def _fraction(a: float, x: float) -> float:
    """DLMF 8.9.2 by Lentz's method, divided by the common factor."""
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    value = d
    for k in range(1, 100_000):
        step = k * (a - k)
        b += 2
        d = 1 / (step * d + b or _TINY)
        c = b + step / c or _TINY
        value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value


_LARGE = 1e5  # sums take some sqrt(a) terms, and their common factor loses log10(a) digits


def _around(a: float, x: float) -> tuple[float, float, float]:
    """For x near a: ``exp(-a * eta**2 / 2) / sqrt(2 * pi * a)``, eta (DLMF 8.12.1), x / a - 1."""
    mu = (x - a) / a
    eta = math.copysign(math.sqrt(2 * _excess(mu)), mu)
    return math.exp(-a * _excess(mu)) / math.sqrt(2 * math.pi) / math.sqrt(a), eta, mu


def _excess(mu: float) -> float:
    """``mu - log(1 + mu)``; near 0 by DLMF 4.6.4."""
    if abs(mu) > 0.1:
        return mu - math.log1p(mu)
    r = mu / (2 + mu)
    return r * (mu - 2 * sum(r ** (2 * k + 2) / (2 * k + 3) for k in range(12)))


def gammainc_da(a: float, x: float) -> float:
    """The derivative of gammainc by a, which is that of ``factor * sum`` below or above.

    The sums are differentiated by a tiny imaginary step: no digits are lost as in a difference.
    For large a it is that of DLMF 8.12.3, up to terms of order 1 / a.
    """
    if not (a > 0 and x >= 0):
        return math.nan
    if x == 0 or math.inf in (a, x):
        return 0.0
    if a > _LARGE:
        if abs(x - a) > a / 2:
            return 0.0
        front, eta, mu = _around(a, x)
        return -front * ((math.log1p(mu) / mu if mu else 1.0) + (1 / 12 - eta / 24) / a)
    factor = math.exp(a * math.log(x) - x - math.lgamma(a))
    sign, total = (1, _complex_series(a, x)) if x < a + 1 else (-1, _complex_fraction(a, x))
    slope = (math.log(x) - digamma(a)) * total.real + total.imag / _STEP
    return sign * factor * slope


_STEP = 1e-30


def _complex_series(a: float, x: float) -> complex:
    n = complex(a, _STEP)
    term = total = 1 / n
    while abs(term) > abs(total) * 1e-18:
        n += 1
        term *= x / n
        total += term
    return total


def _complex_fraction(a: float, x: float) -> complex:
    """Backwards, so that its derivative has as many terms as it needs."""
    shape = complex(a, _STEP)
    last = 60 + int(20 * math.sqrt(a)) + int(400 / x)
    value = complex(0.0)
    for k in range(last, 0, -1):
        value = k * (shape - k) / (x + 1 - shape + 2 * k + value)
    return 1 / (x + 1 - shape + value)


def _is_pole(x: float) -> bool:
    return x <= 0 and x == math.floor(x)


def beta(a: float, b: float) -> float:
    """Gamma(a) Gamma(b) / Gamma(a + b)."""
    if a != a or b != b or min(a, b) == -math.inf:
        return math.nan
    low, high = min(a, b), max(a, b)
    if _is_pole(low):
        mirrored = 1 - low - high
        if high != math.floor(high) or mirrored <= 0 or high <= 0:
            return math.inf
        return beta(mirrored, high) * (-1 if high % 2 else 1)
    if _is_pole(high):
        return math.inf
    if _is_pole(a + b):
        return 0.0
    sign = _sign(a) * _sign(b) * _sign(a + b)
    size = _log_beta(low, high)
    return sign * math.exp(size) if size < 709 else sign * math.inf


def _log_beta(low: float, high: float) -> float:
    """The sum of three log|Gamma|, whose differences of large numbers are left out."""
    if high > 1e17 * max(1.0, abs(low)):
        return math.lgamma(low) - low * math.log(high)  # DLMF 5.11.12
    try:
        return math.lgamma(low) + math.lgamma(high) - math.lgamma(low + high)
    except OverflowError:  # both are beyond 1e288: it is below -1e288
        return -math.inf


def _sign(x: float) -> int:
    """The sign of Gamma(x)."""
    return 1 if x > 0 or math.floor(x) % 2 == 0 else -1


def betaln(a: float, b: float) -> float:
    """``log(abs(beta(a, b)))``."""
    value = abs(beta(a, b))
    if 1e-300 < value < 1e300 or value != value:
        return math.log(value) if value == value else value
    if a > 0 and b > 0:
        return _log_beta(min(a, b), max(a, b))
    return math.inf if value else -math.inf


def j0(x: float) -> float:
    """The Bessel function of the first kind of order 0."""
    return _bessel(0, x)


def j1(x: float) -> float:
    """The Bessel function of the first kind of order 1."""
    return _bessel(1, x)


def _bessel(order: int, x: float) -> float:
    """Bessel's integral by the trapezoidal rule, or far out DLMF 10.17.3."""
    if not math.isfinite(x):
        return 0.0 if math.isinf(x) else x
    if abs(x) > 200:
        return _bessel_far(order, abs(x)) * (-1 if order and x < 0 else 1)
    points = 40 + int(abs(x))
    angles = ((k + 0.5) * math.pi / points for k in range(points))
    return math.fsum(math.cos(order * t - x * math.sin(t)) for t in angles) / points


def _bessel_far(order: int, x: float) -> float:
    sums = [0.0, 0.0, 0.0, 0.0]
    term = 1.0
    for k in range(16):
        sums[k % 4] += term
        term *= (4 * order * order - (2 * k + 1) ** 2) / ((k + 1) * 8 * x)
    angle = math.fmod(x, 2 * math.pi) - (order / 2 + 0.25) * math.pi
    p, q = sums[0] - sums[2], sums[1] - sums[3]
    return math.sqrt(2 / math.pi / x) * (p * math.cos(angle) - q * math.sin(angle))


def i0(x: float) -> float:
    """The modified Bessel function of the first kind of order 0."""
    return _modified(1.0, 0, x)


def i1(x: float) -> float:
    """The modified Bessel function of the first kind of order 1."""
    return _modified(x / 2, 1, x)


def _modified(first: float, order: int, x: float) -> float:
    """The power series DLMF 10.25.2, all of whose terms have one sign."""
    if not math.isfinite(x):
        return x if x != x or order else math.inf
    term = total = first
    k = 0
    while abs(term) > abs(total) * 1e-17 and abs(total) < math.inf:
        k += 1
        term *= (x / 2) ** 2 / (k * (k + order))
        total += term
    return total
