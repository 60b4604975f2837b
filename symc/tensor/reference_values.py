"""Special functions that NumPy lacks, in NumPy: the oracle of tests, and the interpreter's.

They favour being evidently right over being fast, and use other formulas than the C in
``codegen/runtime`` where that costs little: integrals by quadrature, recurrences, the functions of
``math``. Everything is computed in float64; float16 and float32 arguments give results of their
type. Poles and domain errors give inf or NaN, no warning. Sections: NIST's https://dlmf.nist.gov.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from symc.tensor import libm
from symc.tensor.libm import each

if TYPE_CHECKING:
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"


def vectorised(function: Callable[..., Floats]) -> Callable[..., npt.NDArray[Any]]:
    """Broadcasts, computes in float64, gives the type of the arguments, keeps quiet."""

    @wraps(function)
    def wrapped(*args: npt.ArrayLike) -> npt.NDArray[Any]:
        arrays = [np.asarray(arg) for arg in args]
        common = np.result_type(*arrays)
        wide = [np.asarray(array, np.float64) for array in arrays]
        if len(wide) > 1:
            wide = [*np.broadcast_arrays(*wide)]
        with np.errstate(all="ignore"):
            result = function(*map(np.atleast_1d, wide)).reshape(wide[0].shape)
            return result.astype(common if common.kind == "f" else np.float64, copy=False)

    return wrapped


# --- the sigmoid family ---------------------------------------------------------------------------


@vectorised
def sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), in (0, 1)."""
    e = np.exp(-np.abs(x))
    result: Floats = np.where(x < 0, e, 1) / (1 + e)
    return result


@vectorised
def softplus(x: Floats) -> Floats:
    """log(1 + exp(x)) > 0."""
    return np.logaddexp(0, x)


@vectorised
def log_sigmoid(x: Floats) -> Floats:
    """log(sigmoid(x)) < 0."""
    return -np.logaddexp(0, -x)


# --- error functions ------------------------------------------------------------------------------


def erf(x: npt.ArrayLike) -> npt.NDArray[Any]:
    """The error function (7.2.1), in [-1, 1]."""
    return libm.erf(x)


def erfc(x: npt.ArrayLike) -> npt.NDArray[Any]:
    """1 - erf(x) (7.2.2), in [0, 2]; exact for large x."""
    return libm.erfc(x)


@vectorised
def erfcx(x: Floats) -> Floats:
    """exp(x*x) erfc(x) (7.2.3); 0 at inf, inf below -26.63.

    From 2 on the continued fraction 7.9.1, below it the definition.
    """
    a = np.abs(x)
    fraction = np.copy(a)
    for n in range(80, 0, -1):
        fraction = a + n / 2 / fraction
    far = 1 / (math.sqrt(math.pi) * fraction)
    # x = coarse + fine, and x*x = coarse*coarse + (x + coarse) * fine: nothing is rounded off.
    coarse = np.round(x * 2.0**20) / 2.0**20
    near = np.exp(coarse * coarse) * np.exp((x + coarse) * (x - coarse)) * libm.erfc(x)
    return np.where(x < -27, np.inf, np.where(x > 2, far, near))


@vectorised
def erfinv(x: Floats) -> Floats:
    """The inverse of erf: inf at 1, -inf at -1, NaN outside.

    Halley's method from Winitzki's approximation (2008), which is right to 0.4 %. Beyond 1/2 it
    solves for erfc, whose argument 1 - |x| is exact.
    """
    a = np.abs(x)
    inside = a < 1
    target = np.where(inside, a, 0.5)
    log = np.log1p(-target * target)
    half = 2 / (math.pi * 0.147) + log / 2
    y = np.sqrt(np.maximum(np.sqrt(half * half - log / 0.147) - half, 0))
    y = np.where(target < 1e-8, target * math.sqrt(math.pi) / 2, y)
    for _ in range(5):
        miss = np.where(target > 0.5, (1 - target) - libm.erfc(y), libm.erf(y) - target)
        step = miss * math.sqrt(math.pi) / 2 * np.exp(y * y)
        y = y - step / (1 + y * step)
    return np.where(inside, np.copysign(y, x), np.where(a == 1, x * np.inf, np.nan))


# --- gamma ----------------------------------------------------------------------------------------


def real_power(x: float, p: float) -> float:
    """`math.pow` of an x that is not negative; infinite where it raises."""
    try:
        return math.pow(x, p)
    except OverflowError:
        return math.inf


def gamma_of(x: float) -> float:
    """As `gamma`, of one number."""
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf if x > 0 or math.floor(x) % 2 == 0 else -math.inf
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def log_of_gamma(x: float) -> float:
    """As `gammaln`, of one number: `math.lgamma` raises where it is infinite."""
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf


@vectorised
def gamma(x: Floats) -> Floats:
    """The gamma function (5.2.1): ±inf at ±0, NaN at negative whole numbers and -inf."""
    return each(gamma_of, x)


@vectorised
def gammaln(x: Floats) -> Floats:
    """log |gamma(x)|: inf at 0, negative whole numbers and ±inf."""
    return each(log_of_gamma, x)


def _reflected(x: Floats) -> tuple[Floats, Floats, Floats]:
    """For x < 0: 1 - x, and pi x less whole turns as sine and cosine. Other x are themselves."""
    angle = math.pi * (x - np.round(x))
    return np.where(x < 0, 1 - x, x), np.sin(angle), np.cos(angle)


def _raised(x: Floats, term: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """Step x up until it is at least 20; also the sum of `term` over the steps."""
    total = np.zeros_like(x)
    for _ in range(20):
        low = x < 20
        total = total + np.where(low, term(x), 0)
        x = np.where(low, x + 1, x)
    return x, total


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # B2, B4 ... (24.2.1)


@vectorised
def digamma(x: Floats) -> Floats:
    """The derivative of gammaln (5.2.2): ∓inf at ±0, NaN at negative whole numbers and -inf.

    Recurrence 5.5.2, asymptotic series 5.11.2, reflection 5.5.4.
    """
    up, sine, cosine = _reflected(x)
    up, steps = _raised(up, lambda v: 1 / v)
    series = sum(b / (2 * k) * up ** (-2.0 * k) for k, b in enumerate(BERNOULLI, 1))
    result = np.log(up) - 0.5 / up - series - steps
    result = np.where(x < 0, result - math.pi * cosine / sine, result)
    pole = (x < 0) & ((sine == 0) | np.isinf(x))
    return np.where(pole, np.nan, np.where(x == 0, np.copysign(np.inf, -x), result))


@vectorised
def trigamma(x: Floats) -> Floats:
    """The derivative of digamma: inf at 0, negative whole numbers and -inf.

    Recurrence 5.15.5, asymptotic series 5.15.8, reflection 5.15.6.
    """
    up, sine, _ = _reflected(x)
    up, steps = _raised(up, lambda v: v**-2.0)
    series = sum(b * up ** (-2.0 * k - 1) for k, b in enumerate(BERNOULLI, 1))
    result = 1 / up + 0.5 / (up * up) + series + steps
    result = np.where(x < 0, (math.pi / sine) ** 2 - result, result)
    return np.where((x <= 0) & ((sine == 0) | np.isinf(x)), np.inf, result)


@vectorised
def tetragamma(x: Floats) -> Floats:
    """The derivative of trigamma: ∓inf at ±0, NaN at negative whole numbers and -inf.

    The derivatives of trigamma's formulas.
    """
    up, sine, cosine = _reflected(x)
    up, steps = _raised(up, lambda v: 2 * v**-3.0)
    series = sum(b * (2 * k + 1) * up ** (-2.0 * k - 2) for k, b in enumerate(BERNOULLI, 1))
    result = -(up**-2.0) - up**-3.0 - series - steps
    result = np.where(x < 0, result - 2 * (math.pi / sine) ** 3 * cosine, result)
    pole = (x < 0) & ((sine == 0) | np.isinf(x))
    return np.where(pole, np.nan, np.where(x == 0, np.copysign(np.inf, -x), result))


# --- incomplete gamma -----------------------------------------------------------------------------


def stirling(x: Floats) -> Floats:
    """log(gamma(x)) less its leading terms, for x >= 10 (5.11.1)."""
    terms = (b / (2 * k * (2 * k - 1)) * x ** (1.0 - 2 * k) for k, b in enumerate(BERNOULLI, 1))
    return np.asarray(sum(terms))


def _gamma_density(a: Floats, x: Floats) -> Floats:
    """x^a exp(-x) / gamma(a), from a = 10 on by Stirling's formula around x = a."""
    direct = np.where(x < 800, x**a * np.exp(-x) / each(gamma_of, np.where(a < 10, a, 1)), 0)
    mu = (x - a) / a
    ratio = mu / (2 + mu)  # log(1 + mu) = 2 artanh(ratio)
    series = sum(ratio ** (2 * n) / (2 * n + 1) for n in range(30, 0, -1))
    near = ratio * (mu - 2 * series)
    exponent = np.where(np.abs(mu) < 0.5, near, mu - np.log(x / a))
    return np.where(a < 10, direct, np.exp(-a * exponent - stirling(a)) * np.sqrt(a / math.tau))


def _upper_integrals(a: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Of exp(a s - x (exp(s) - 1)) and s times it over s > 0, for x > a, x > 1.

    With t = x exp(s) they make up 8.2.2 and its derivative. The part left out is below
    exp(-40) of the whole.
    """
    end = np.sqrt(80 / x)
    end = np.minimum(np.minimum(end, np.log1p((40 + a * end) / x)), 40 / (x - a))
    return integrals(end, lambda s: (a - x) * s - x * _expm1_less(s))


def _lower_integrals(a: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Of exp(x (1 - exp(-s)) - a s) and s times it over s > 0, for x <= a, a >= 1 (8.2.1)."""
    end = np.minimum((40 + x) / a, 40 / (a - x))
    end = np.minimum(end, np.where(x > 120, np.sqrt(120 / x), np.inf))
    return integrals(end, lambda s: (x - a) * s - x * _expm1_less(-s))


def _expm1_less(s: Floats) -> Floats:
    """exp(s) - 1 - s, with all digits."""
    series = np.ones_like(s)
    for n in range(16, 2, -1):
        series = 1 + s / n * series
    return np.where(np.abs(s) < 0.5, s * s / 2 * series, np.expm1(s) - s)


def integrals(end: Floats, exponent: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """By the tanh-sinh rule (Takahasi and Mori, 1974), 129 points on [0, end]."""
    plain, times = np.zeros_like(end), np.zeros_like(end)
    for t in np.arange(-64, 65) / 20:
        node = 1 / (1 + math.exp(-math.pi * math.sinh(t)))
        weight = math.pi / 20 * math.cosh(t) * node / (1 + math.exp(math.pi * math.sinh(t)))
        value = weight * np.exp(exponent(node * end))
        plain, times = plain + value, times + node * value
    return plain * end, times * end * end


def _series(a: Floats, x: Floats) -> tuple[Floats, Floats]:
    """P(a, x) and its derivative by a from the power series 8.7.1, for x <= 1.1."""
    term, total = np.ones_like(a), np.ones_like(a)
    slope, slopes = np.zeros_like(a), np.zeros_like(a)
    for n in range(1, 40):
        term = term * x / (a + n)
        slope = slope - 1 / (a + n)
        total, slopes = total + term, slopes + term * slope
    front = x**a * np.exp(-x) / each(gamma_of, a + 1)
    return front * total, front * ((np.log(x) - digamma(a + 1)) * total + slopes)


@cache
def _zeta(k: int) -> float:
    """The zeta function at k >= 2: nine terms and Euler-Maclaurin (25.2.9)."""
    n = 10.0
    tail = n ** (1 - k) / (k - 1) + n**-k / 2
    rising = float(k)
    for j, b in enumerate(BERNOULLI, 1):
        tail += b / math.factorial(2 * j) * rising * n ** (1 - k - 2 * j)
        rising *= (k + 2 * j - 1) * (k + 2 * j)
    return tail + math.fsum(m**-k for m in range(1, 10))


def log_of_gamma_from_1(a: Floats) -> Floats:
    """log gamma(1 + a), with all digits for small a by 5.7.3."""
    series = -np.euler_gamma * a
    for k in range(2, 40):
        series = series + _zeta(k) / k * (-a) ** k
    return np.where(np.abs(a) < 0.25, series, each(log_of_gamma, 1 + a))


def _remainder(a: Floats, x: Floats) -> Floats:
    """Q(a, x) for x <= 1.1 where P is nearly 1: 8.7.1 less one, without cancelling."""
    exponent = a * np.log(x) - log_of_gamma_from_1(a)
    power, total = np.ones_like(a), np.zeros_like(a)
    for n in range(1, 40):
        power = -power * x / n
        total = total + a * power / (a + n)
    return -np.expm1(exponent) - np.exp(exponent) * total


def _incomplete(a: Floats, x: Floats, upper: bool) -> Floats:
    fraction = (x > a) & (x > 1.1)
    small = ~fraction & ((a < 1) | (x < 1.1))
    density = _gamma_density(a, x)
    lower = np.where(small, _series(a, x)[0], density * _lower_integrals(a, x)[0])
    above = density * _upper_integrals(a, x)[0]
    if upper:
        near = np.where(small & (lower > 0.5), _remainder(a, x), 1 - lower)
        result = np.where(fraction, above, near)
    else:
        result = np.where(fraction, 1 - above, lower)
    full = 1.0 - upper  # the value when all of the integral lies below x
    result = np.where((a == 0) | np.isinf(x), full, result)
    result = np.where((x == 0) | np.isinf(a), 1 - full, result)
    wrong = ~((a >= 0) & (x >= 0)) | ((a == 0) & (x == 0)) | (np.isinf(a) & np.isinf(x))
    return np.where(wrong, np.nan, result)


@vectorised
def gammainc(a: Floats, x: Floats) -> Floats:
    """P(a, x), the regularised lower incomplete gamma function (8.2.4), in [0, 1].

    NaN where a or x is negative or both are 0 or inf; P(0, x) = P(a, inf) = 1 and
    P(a, 0) = P(inf, x) = 0.
    """
    return _incomplete(a, x, upper=False)


@vectorised
def gammaincc(a: Floats, x: Floats) -> Floats:
    """Q(a, x) = 1 - P(a, x) (8.2.4), small values with all digits; NaN as `gammainc`."""
    return _incomplete(a, x, upper=True)


@vectorised
def gammainc_da(a: Floats, x: Floats) -> Floats:
    """The derivative of gammainc by a: never positive, 0 at x = 0 and x = inf, -E1(x) at a = 0.

    Under the integral sign; the two terms have one sign. NaN where a < 0 or x < 0 or both are 0.
    """
    none = (a == 0) & (x == 0)
    a = np.where((a >= 0) & (a < 2.0**-100), 2.0**-100, a)
    fraction = (x > a) & (x > 1.1)
    small = ~fraction & ((a < 1) | (x < 1.1))
    density, bend = _gamma_density(a, x), np.log(x) - digamma(a)
    plain, times = _upper_integrals(a, x)
    above = -density * (bend * plain + times)
    plain, times = _lower_integrals(a, x)
    below = density * (bend * plain - times)
    result = np.where(fraction, above, np.where(small, _series(a, x)[1], below))
    result = np.where((x == 0) | np.isinf(x) | np.isinf(a), 0.0, result)
    return np.where((a > 0) & (x >= 0) & ~none, result, np.nan)


# --- Bessel functions -----------------------------------------------------------------------------


def _bessel_series(x: Floats, order: int, sign: float) -> Floats:
    """10.2.2 and 10.25.2, for |x| < 1."""
    term, total = np.ones_like(x), np.ones_like(x)
    for k in range(1, 14):
        term = term * sign * (x * x / 4) / (k * (k + order))
        total = total + term
    return total * (x / 2) ** order


def _bessel_j(x: Floats, order: int) -> Floats:
    """Integral 10.9.2 up to |x| = 30, Hankel's expansion 10.17.3 beyond.

    The trapezoidal rule with 80 points on the circle misses by about J_80(30), which is 1e-28.
    """
    a = np.abs(x)
    near = np.zeros_like(x)
    bounded = np.minimum(a, 30)
    for step in range(80):
        angle = 2 * math.pi * step / 80
        near = near + np.cos(order * angle - bounded * math.sin(angle)) / 80
    term, real, imaginary = np.ones_like(a), np.ones_like(a), np.zeros_like(a)
    for k in range(1, 31):
        term = term * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * a)
        signed = term if k % 4 < 2 else -term
        real, imaginary = (real, imaginary + signed) if k % 2 else (real + signed, imaginary)
    # The cosine and sine of a - pi/4 (order 0) or a - 3 pi/4 (order 1), times sqrt(2).
    plus, minus = np.sin(a) + np.cos(a), np.sin(a) - np.cos(a)
    cosine, sine = (plus, minus) if order == 0 else (minus, -plus)
    far = (real * cosine - imaginary * sine) / (math.sqrt(math.pi) * np.sqrt(a))
    odd = np.where((x < 0) & (order == 1), -1.0, 1.0)
    result = odd * np.where(np.isinf(a), 0, np.where(a > 30, far, near))
    return np.where(a < 1, _bessel_series(x, order, -1.0), result)


def _bessel_i(x: Floats, order: int) -> Floats:
    """Integral 10.32.1-3: trapezoidal rule, 320 points on the circle, exp(-x) taken out."""
    a = np.abs(x)
    total = np.zeros_like(a)
    for step in range(161):
        angle = math.pi * step / 160
        weight = (0.5 if step in (0, 160) else 1) / 160 * math.cos(order * angle)
        total = total + weight * np.exp(-2 * a * math.sin(angle / 2) ** 2)
    far = np.where(a > 720, a + np.inf, np.exp(a / 2) * (np.exp(a / 2) * total))
    odd = np.where((x < 0) & (order == 1), -1.0, 1.0)
    return np.where(a < 1, _bessel_series(x, order, 1.0), odd * far)


@vectorised
def j0(x: Floats) -> Floats:
    """The Bessel function J of order 0 (10.2.2); 0 at ±inf."""
    return _bessel_j(x, 0)


@vectorised
def j1(x: Floats) -> Floats:
    """The Bessel function J of order 1 (10.2.2); 0 at ±inf."""
    return _bessel_j(x, 1)


@vectorised
def i0(x: Floats) -> Floats:
    """The modified Bessel function I of order 0 (10.25.2); inf from |x| = 713.99 on."""
    return _bessel_i(x, 0)


@vectorised
def i1(x: Floats) -> Floats:
    """The modified Bessel function I of order 1 (10.25.2); ±inf from |x| = 713.99 on."""
    return _bessel_i(x, 1)
