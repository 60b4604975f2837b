"""What Bessel functions of real order mean in NumPy: by integrals, power series, and for large
arguments Hankel's expansions. `bessel.py` has the ops.
"""

from __future__ import annotations

import math

import numpy as np

from symc.tensor.libm import each
from symc.tensor.reference_values import Floats, log_of_gamma, log_of_gamma_from_1, vectorised


def _hankel(v: Floats, x: Floats, sign: float) -> tuple[Floats, Floats]:
    """The sums of the even and the odd terms of DLMF 10.17.1, up to the smallest one."""
    term, sums = np.ones_like(x), [np.ones_like(x), np.zeros_like(x)]
    for k in range(1, 60):
        odd = 2 * k - 1
        following = term * sign * ((2 * v - odd) / (8 * k)) * ((2 * v + odd) / x)
        term = np.where((np.abs(following) > np.abs(term)) & (k > v), 0, following)
        sums[k % 2] = sums[k % 2] + (term if sign < 0 or k % 4 < 2 else -term)
    return sums[0], sums[1]


def _legendre(count: int) -> tuple[Floats, Floats]:
    nodes: Floats
    weights: Floats
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _series(v: Floats, x: Floats, sign: float, less: Floats | float = 0.0) -> Floats:
    """The power series 10.2.2 and 10.25.2 by exp(-less), with terms found by their logarithms.

    NaN where its terms grow for more than a million, which would take minutes.
    """
    growing = (np.hypot(v, x) - v) / 2
    endless = growing > 1e6
    v, x = np.where(endless, 0.0, v), np.where(endless, 1.0, x)
    scale = _log_of_first(v, x) - less
    total, term = np.ones_like(x), np.ones_like(x)
    for k in range(1, 3000 + int(growing.max(initial=0, where=~endless))):
        term = term * sign * x * x / 4 / (k * (v + k))
        total = total + term
        shift = np.where(np.abs(term) > 1e100, 200.0, 0.0)
        term, total, scale = term * np.exp(-shift), total * np.exp(-shift), scale + shift
        falls = x * x / 4 < k * (v + k)
        if np.all(falls & (np.abs(term) <= 1e-18 * np.abs(total))):
            break
    return np.where(endless, np.nan, np.exp(scale / 2) * total * np.exp(scale / 2))


def _loggamma(x: Floats) -> Floats:
    return each(log_of_gamma, x)


def _k(v: Floats, x: Floats, less: Floats | float = 0.0) -> Floats:
    """exp(x - less) K(v, x): integral 10.32.9 by the trapezoidal rule, exact to all digits."""
    v, tiny = np.abs(v), x < 1e-8
    near = _first_k(v, np.where(tiny, x, 1e-9)) * np.exp(np.where(tiny, x, 0.0) - less)
    x = np.where(tiny, 1.0, x)
    end: Floats = 2 * np.arcsinh(np.sqrt(30 / x)) + np.arcsinh(np.minimum(v / x, 1e300))
    total = np.zeros_like(x)
    count, part = 400, 2.0**-12  # exponents are summed as parts, which do not overflow
    for k in range(count + 1):
        t = end * k / count
        decay = x * part * (2 * np.sinh(t / 2) ** 2) + part * less
        term = np.exp((v * part * t - decay) / part) + np.exp((-v * part * t - decay) / part)
        total = total + term * (end / count / 2 * (0.5 if k == 0 else 1.0))
    return np.where(tiny, near, total)


def _first_k(v: Floats, x: Floats) -> Floats:
    """K of a tiny x: 10.27.4 and the first terms below 1, from there 10.30.2."""
    w, mean, half = _temme(v, x)
    many = np.exp(_loggamma(np.where(v > 0, v, 1.0)) - v * (np.log(x) - math.log(2))) / 2
    below = np.pi * np.exp(mean) * np.sinh(half) / _sinpi(w)
    return np.where(v < 0.97, below, many)


def _temme(v: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Of the logarithms of (x/2)^-v / gamma(1 - v) and (x/2)^v / gamma(1 + v) the mean, and half of
    how far they are apart, for v < 0.97; and v, or what stands for it: nothing cancels at v = 0.
    """
    log = np.log(x) - math.log(2)
    w = np.where(v < 1e-290, 1e-290, np.where(v < 0.97, v, 0.25))
    up, down = log_of_gamma_from_1(w), log_of_gamma_from_1(-w)
    return w, -(up + down) / 2, (up - down) / 2 - w * log


def _i(v: Floats, x: Floats, more: Floats | float) -> Floats:
    """exp(more - x) I(v, x), v >= 0."""
    even, odd = _hankel(v, x, -1.0)
    half = np.exp(np.asarray(more) / 2)
    far = half * ((even + odd) / (np.sqrt(2 * np.pi) * np.sqrt(x))) * half
    use, tiny = (x > 100) & (x > v * v), x < 1e-8
    at = np.where(use | tiny, 1.0, x)
    near = _series(v, at, 1.0, x - more)
    return np.where(tiny, _first(v, x) * np.exp(more - x), np.where(use, far, near))


def _j_and_y(v: Floats, x: Floats) -> tuple[Floats, Floats]:
    """J and Y of v >= 0. From the orders m = v - floor(v) and m + 1 up, Y by recurrence; J is then
    the Wronskian's (10.5.2), where Y is finite, with the ratio of neighbours of 10.10.1.
    """
    direct, tiny = x > np.maximum(50, 2 * v), x < 1e-8
    far = ~direct & (x - v > 1e7)
    # J is below exp(-h), h = (8/9)^(1/2) (v - x)^(3/2) / v^(1/2), by 10.14.5, and Y beyond exp(h).
    none = (x < v) & ((v - x) * np.sqrt((v - x) / v) > 800)
    known = direct | tiny | far | none
    w, a = np.where(known, 0.0, v), np.where(known, 1.0, x)
    steps = np.floor(w)
    j, low = _low_orders(w - steps, a)
    _, high = _low_orders(w - steps + 1, a)
    for k in range(1, 1 + int(min(steps.max(initial=0), 1e5))):
        go = (k <= steps) & np.isfinite(high)
        following = 2 * (w - steps + k) / a * high - low
        low, high = np.where(go, high, low), np.where(go, following, high)
        if not go.any():
            break
    done = np.isfinite(high)
    far |= done & (steps > 1e5)  # NaN, rather than seconds for a number
    y = np.where(done, low, -np.inf)
    ratio = np.zeros_like(x)
    count = np.where(done & ~far, np.floor(np.maximum(a - w, 0) + 40 + 15 * np.cbrt(a)), 0)
    for k in range(int(count.max(initial=0)), 0, -1):
        ratio = np.where(k <= count, 1 / (2 * (w + k) / a - ratio), ratio)
    above = np.where(done, 2 / (np.pi * a) / (ratio * low - high), 0.0)
    small = a * a < 4 * (w + 1)
    series = _series(np.where(small, w, 1.0), np.where(small, a, 1.0), -1.0)
    j = np.where(w < 1, j, np.where(small, series, above))
    modulus, phase = _modulus(np.where(direct, v, 0.0), np.where(direct, x, 100.0))
    sine, cosine = np.sin(phase), np.cos(phase)
    c, s = np.cos(x) * cosine + np.sin(x) * sine, np.sin(x) * cosine - np.cos(x) * sine
    j, y = np.where(direct, modulus * c, j), np.where(direct, modulus * s, y)
    j, y = np.where(tiny, _first(v, x), j), np.where(tiny, _second(v, x), y)
    j, y = np.where(none, 0.0, j), np.where(none, -np.inf, y)
    return np.where(far, np.nan, j), np.where(far, np.nan, y)


def _low_orders(v: Floats, x: Floats) -> tuple[Floats, Floats]:
    """J and Y of 0 <= v < 2: Schlaefli's integrals 10.9.6 and 10.9.7, or by modulus and phase."""
    nodes, weights = _legendre(600)
    large = x > 50
    a = np.where(large, 1.0, x)
    end = np.arcsinh(80 / a) + np.maximum(0, np.arcsinh(2 * v / a))
    j, y = np.zeros_like(x), np.zeros_like(x)
    sine, cosine = _sinpi(v), _cospi(v)
    for node, weight in zip(nodes, weights, strict=True):
        angle = math.pi * node
        j = j + weight * np.cos(a * math.sin(angle) - v * angle)
        y = y + weight * np.sin(a * math.sin(angle) - v * angle)
        t = end * node
        decay = weight * end / math.pi * np.exp(-a * np.sinh(t))
        j = j - sine * decay * np.exp(-v * t)
        y = y - decay * (np.exp(v * t) + cosine * np.exp(-v * t))
    small = a * a < 4 * (v + 1)
    j = np.where(small, _series(v, np.where(small, a, 1.0), -1.0), j)
    modulus, phase = _modulus(v, np.where(large, x, 100.0))
    return (
        np.where(large, modulus * np.cos(x - phase), j),
        np.where(large, modulus * np.sin(x - phase), y),
    )


def _modulus(v: Floats, x: Floats) -> tuple[Floats, Floats]:
    """The modulus M of J + i Y (10.18.17), and x less its phase, with the slope 2 / (pi x M^2)."""
    squares, slopes, lacks = [np.ones_like(x)], [np.ones_like(x)], np.zeros_like(x)
    for k in range(1, 32):
        odd = 2 * k - 1
        share = (v - odd / 2) / x * ((v + odd / 2) / x)
        squares.append(squares[-1] * share * odd / (2 * k))
        slope = np.zeros_like(x)
        for i in range(1, k + 1):
            slope = slope - squares[i] * slopes[k - i]
        slopes.append(slope)
        lacks = lacks + slopes[-1] / odd
    turn = np.pi * (np.mod(v, 4) / 2 + 0.25)
    return np.sqrt(2 / np.pi) / np.sqrt(x) * np.sqrt(sum(squares)), turn + lacks * x


def _first(v: Floats, x: Floats) -> Floats:
    """(x / 2)^v / gamma(v + 1), the first term of the power series 10.2.2 and 10.25.2."""
    return np.exp(_log_of_first(v, x))


def _log_of_first(v: Floats, x: Floats) -> Floats:
    """Of huge orders by 5.11.1: two logarithms would be infinite."""
    log, large = np.log(x) - math.log(2), v > 1e15
    at = np.where(large, v, 1e15)
    far = at * (log - np.log(at) + 1) - 0.5 * (math.log(math.tau) + np.log(at))
    return np.where(large, far, v * log - _loggamma(v + 1))


def _second(v: Floats, x: Floats) -> Floats:
    """Y of a tiny x: 10.2.3 and the first terms below 1, from there 10.7.4."""
    w, mean, half = _temme(v, x)
    # J(v) (cos(pi v) - 1) / sin(pi v) - (J(-v) - J(v)) / sin(pi v)
    below = -np.tan(np.pi / 2 * w) * np.exp(mean - half)
    below = below - 2 * np.exp(mean) * np.sinh(half) / _sinpi(w)
    log = np.log(x) - math.log(2)
    many = -np.exp(_loggamma(np.where(v > 0, v, 1.0)) - v * log) / np.pi
    return np.where(v < 0.97, below, many)


def _sinpi(v: Floats) -> Floats:
    r = v - 2 * np.round(v / 2)
    return np.sin(np.pi * np.where(r > 0.5, 1 - r, np.where(r < -0.5, -1 - r, r)))


def _cospi(v: Floats) -> Floats:
    return np.sin(np.pi * (0.5 - np.abs(v - 2 * np.round(v / 2))))


def _parity(v: Floats, x: Floats) -> Floats:
    """The factor of x < 0: (-1)^v for whole orders, else NaN."""
    whole = np.where(np.mod(v, 2) == 0, 1.0, np.where(v == np.round(v), -1.0, np.nan))
    known = np.isfinite(v) & ~np.isnan(x)
    return np.where(known, np.where(x < 0, whole, 1.0), np.nan)


def _at_zero(v: Floats) -> Floats:
    """(x/2)^v / gamma(v + 1) at x = 0."""
    pole = np.where(np.mod(np.floor(v), 2) == 1, np.inf, -np.inf)
    return np.where(v == 0, 1.0, np.where((v < 0) & (v != np.round(v)), pole, 0.0))


def _inside(v: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Where |x| and v are finite and x is not 0; there |v| and |x|, elsewhere 0 and 1."""
    inside = np.isfinite(x) & (x != 0) & np.isfinite(v)
    return inside, np.where(inside, np.abs(v), 0.0), np.where(inside, np.abs(x), 1.0)


def _any_i(v: Floats, x: Floats, scaled: bool) -> Floats:
    """I(v, x), or exp(-|x|) times it, by 10.27.2 for negative orders."""
    inside, w, a = _inside(v, x)
    whole = (v >= 0) | (v == np.round(v))
    more = 0.0 * a if scaled else a
    extra = np.where(whole, 0, 2 / np.pi * _sinpi(w) * _k(w, a, 2 * a - more))
    end = 0.0 if scaled else np.inf
    value = np.where(inside, _i(w, a, more) + extra, np.where(x == 0, _at_zero(v), end))
    return _parity(v, x) * value


@vectorised
def ive(v: Floats, x: Floats) -> Floats:
    """exp(-|x|) I(v, x)."""
    return _any_i(v, x, scaled=True)


@vectorised
def iv(v: Floats, x: Floats) -> Floats:
    """I(v, x)."""
    return _any_i(v, x, scaled=False)


def _any_k(v: Floats, x: Floats, scaled: bool) -> Floats:
    inside, w, a = _inside(v, x)
    less = 0.0 * a if scaled else a
    value = np.where(inside, _k(w, a, less), np.where(x == 0, np.inf, 0.0))
    return np.where((x >= 0) & np.isfinite(v), value, np.nan)


@vectorised
def kve(v: Floats, x: Floats) -> Floats:
    """exp(x) K(v, x); inf at 0, NaN below."""
    return _any_k(v, x, scaled=True)


@vectorised
def kv(v: Floats, x: Floats) -> Floats:
    """K(v, x); inf at 0, NaN below."""
    return _any_k(v, x, scaled=False)


@vectorised
def jv(v: Floats, x: Floats) -> Floats:
    """J(v, x), by 10.4.7 for negative orders."""
    inside, w, a = _inside(v, x)
    j, y = _j_and_y(w, a)
    sine = _sinpi(w)
    mirrored = _cospi(w) * j - np.where(sine == 0, 0, sine * y)
    value = np.where(inside, np.where(v < 0, mirrored, j), np.where(x == 0, _at_zero(v), 0.0))
    return _parity(v, x) * value


@vectorised
def yv(v: Floats, x: Floats) -> Floats:
    """Y(v, x), by 10.4.7 for negative orders; -inf at 0, NaN below."""
    inside, w, a = _inside(v, x)
    j, y = _j_and_y(w, a)
    cosine = _cospi(w)
    mirrored = _sinpi(w) * j + np.where(cosine == 0, 0, cosine * y)
    turned = np.where(v < 0, _cospi(v), 1.0)
    pole = np.where(turned == 0, 0.0, -np.inf * turned)
    value = np.where(inside, np.where(v < 0, mirrored, y), np.where(x == 0, pole, 0.0))
    return np.where((x >= 0) & np.isfinite(v), value, np.nan)
