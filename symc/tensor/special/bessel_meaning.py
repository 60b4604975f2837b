"""What Bessel functions of real order mean in NumPy: by integrals, power series, and for large
arguments Hankel's expansions. `bessel.py` has the ops.
"""

from __future__ import annotations

import math

import numpy as np

from symc.tensor.libm import each
from symc.tensor.reference_values import Floats, vectorised


def _hankel(v: Floats, x: Floats, sign: float) -> tuple[Floats, Floats]:
    """The sums of the even and the odd terms of DLMF 10.17.1, up to the smallest one."""
    term, sums = np.ones_like(x), [np.ones_like(x), np.zeros_like(x)]
    for k in range(1, 60):
        following = term * sign * (4 * v * v - (2 * k - 1) ** 2) / (8 * k * x)
        term = np.where((np.abs(following) > np.abs(term)) & (k > v), 0, following)
        sums[k % 2] = sums[k % 2] + (term if sign < 0 or k % 4 < 2 else -term)
    return sums[0], sums[1]


def _legendre(count: int) -> tuple[Floats, Floats]:
    nodes: Floats
    weights: Floats
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _series(v: Floats, x: Floats, sign: float) -> Floats:
    """The power series 10.2.2 and 10.25.2, whose terms are found by their logarithms."""
    log = v * np.log(x / 2) - _loggamma(v + 1)
    scale = np.where(sign > 0, log - x, log)
    total, term = np.zeros_like(x), np.ones_like(x)
    peak = np.zeros_like(x)
    for k in range(1, 3000):
        total = total + term * np.exp(scale + peak)
        term = term * sign * x * x / 4 / (k * (v + k))
        shift = np.where(np.abs(term) > 1e100, 200.0, 0.0)
        term, peak = term * np.exp(-shift), peak + shift
        if np.all(np.abs(term) * np.exp(scale + peak) <= 1e-18 * np.abs(total)):
            break
    return total


def _loggamma(x: Floats) -> Floats:
    return each(math.lgamma, x)


def _k(v: Floats, x: Floats) -> Floats:
    """exp(x) K(v, x): integral 10.32.9 by the trapezoidal rule, exact to all digits."""
    end: Floats = np.arccosh(1 + 60 / x) + np.arcsinh(np.abs(v) / x) + 1
    v = np.abs(v)
    total = np.zeros_like(x)
    count = 400
    for k in range(count + 1):
        t = end * k / count
        term = np.exp(v * t - x * (np.cosh(t) - 1)) + np.exp(-v * t - x * (np.cosh(t) - 1))
        total = total + term / 2 * (0.5 if k == 0 else 1.0)
    return total * end / count


def _i(v: Floats, x: Floats) -> Floats:
    """exp(-x) I(v, x), v >= 0."""
    even, odd = _hankel(v, x, -1.0)
    far = (even + odd) / np.sqrt(2 * np.pi * x)
    use = (x > 100) & (x > v * v)
    return np.where(use, far, _series(v, np.where(use, 1.0, x), 1.0))


def _j_and_y(v: Floats, x: Floats) -> tuple[Floats, Floats]:
    """J and Y of v >= 0: Schlaefli's integrals 10.9.6 and 10.9.7, and Hankel's expansion."""
    nodes, weights = _legendre(600)
    end = np.arcsinh(80 / x) + np.maximum(0, np.arcsinh(2 * v / x))
    j, y = np.zeros_like(x), np.zeros_like(x)
    sine, cosine = _sinpi(v), _sinpi(v + 0.5)
    for node, weight in zip(nodes, weights, strict=True):
        angle = math.pi * node
        j = j + weight * np.cos(x * math.sin(angle) - v * angle)
        y = y + weight * np.sin(x * math.sin(angle) - v * angle)
        t = end * node
        decay = weight * end / math.pi * np.exp(-x * np.sinh(t))
        j = j - sine * decay * np.exp(-v * t)
        y = y - decay * (np.exp(v * t) + cosine * np.exp(-v * t))
    even, odd = _hankel(v, x, 1.0)
    turn = np.pi * (np.mod(v, 4) / 2 + 0.25)
    c = np.cos(x) * np.cos(turn) + np.sin(x) * np.sin(turn)
    s = np.sin(x) * np.cos(turn) - np.cos(x) * np.sin(turn)
    size = np.sqrt(2 / (np.pi * x))
    use, small = (x > 50) & (x > v * v), x * x < 4 * (v + 1)
    series = _series(v, np.where(small, x, 1.0), -1.0)
    j = np.where(use, size * (even * c - odd * s), np.where(small, series, j))
    return j, np.where(use, size * (even * s + odd * c), y)


def _sinpi(v: Floats) -> Floats:
    r = v - 2 * np.round(v / 2)
    return np.sin(np.pi * np.where(r > 0.5, 1 - r, np.where(r < -0.5, -1 - r, r)))


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


@vectorised
def ive(v: Floats, x: Floats) -> Floats:
    """exp(-|x|) I(v, x), by 10.27.2 for negative orders."""
    inside, w, a = _inside(v, x)
    whole = (v >= 0) | (v == np.round(v))
    more = np.where(whole, 0, 2 / np.pi * _sinpi(w) * _k(w, a) * np.exp(-2 * a))
    value = np.where(inside, _i(w, a) + more, np.where(x == 0, _at_zero(v), 0.0))
    return _parity(v, x) * value


@vectorised
def iv(v: Floats, x: Floats) -> Floats:
    """I(v, x)."""
    half, scaled = np.exp(np.abs(x) / 2), ive(v, x)
    return np.where(np.isinf(half), np.inf * _parity(v, x), half * scaled * half)


@vectorised
def kve(v: Floats, x: Floats) -> Floats:
    """exp(x) K(v, x); inf at 0, NaN below."""
    inside, w, a = _inside(v, x)
    value = np.where(inside, _k(w, a), np.where(x == 0, np.inf, 0.0))
    return np.where((x >= 0) & np.isfinite(v), value, np.nan)


@vectorised
def kv(v: Floats, x: Floats) -> Floats:
    """K(v, x)."""
    half = np.exp(-x / 2)
    return np.where(x == np.inf, kve(v, x), half * kve(v, x) * half)


@vectorised
def jv(v: Floats, x: Floats) -> Floats:
    """J(v, x), by 10.4.7 for negative orders."""
    inside, w, a = _inside(v, x)
    j, y = _j_and_y(w, a)
    sine = _sinpi(w)
    mirrored = _sinpi(w + 0.5) * j - np.where(sine == 0, 0, sine * y)
    value = np.where(inside, np.where(v < 0, mirrored, j), np.where(x == 0, _at_zero(v), 0.0))
    return _parity(v, x) * value


@vectorised
def yv(v: Floats, x: Floats) -> Floats:
    """Y(v, x), by 10.4.7 for negative orders; -inf at 0, NaN below."""
    inside, w, a = _inside(v, x)
    j, y = _j_and_y(w, a)
    cosine = _sinpi(w + 0.5)
    mirrored = _sinpi(w) * j + np.where(cosine == 0, 0, cosine * y)
    turned = np.where(v < 0, np.round(_sinpi(np.abs(v) + 0.5), 15), 1.0)
    pole = np.where(turned == 0, 0.0, -np.inf * turned)
    value = np.where(inside, np.where(v < 0, mirrored, y), np.where(x == 0, pole, 0.0))
    return np.where((x >= 0) & np.isfinite(v), value, np.nan)
