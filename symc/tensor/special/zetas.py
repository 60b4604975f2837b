"""Zeta functions, derivatives of the digamma function, and inverses of the error function."""

from __future__ import annotations

import math

import numpy as np

from symc.graph.node import Tensor, TensorLike
from symc.tensor import reference_values as known
from symc.tensor.elementwise import common, elementwise
from symc.tensor.exponentials import exp
from symc.tensor.libm import each
from symc.tensor.logic import eq, isnan, logical_or, lt, where
from symc.tensor.math import as_float, mod, sqr
from symc.tensor.reference_values import Floats, real_power, vectorised
from symc.tensor.rows import IN_HEADER
from symc.tensor.signatures import FunctionOfOne, FunctionOfTwo
from symc.tensor.special_functions import digamma, gamma, gammaln
from symc.tensor.unknown import unknown

__all__ = ["erfcinv", "loggamma", "ndtri", "polygamma", "zeta"]
_ALSO_ENTERED = ["hurwitz"]

# --- zeta -----------------------------------------------------------------------------------------


def _sum_of_powers(s: float, q: float) -> float:
    """The sum of (q + n)^-s by Euler and Maclaurin's formula 25.11.5, from a far n."""
    terms: list[float] = []
    for n in range(30 + int(min(abs(s), 1e5))):
        terms.append(real_power(q + n, -s))
        if s > 2 and terms[-1] * (q + n) < 1e-20 * terms[0]:
            return math.fsum(terms)  # what is left is too small to count
    if terms[0] == 0:
        return real_power(q, 1 - s) / (s - 1)
    far = q + len(terms)
    power, rising = far**-s, s / far
    terms += [real_power(far, 1 - s) / (s - 1), power / 2]
    for k, b in enumerate(known.BERNOULLI, 1):
        terms.append(b / math.factorial(2 * k) * rising * power)
        rising *= (s + 2 * k - 1) * (s + 2 * k) / far**2
    return math.fsum(terms)


def _hurwitz(s: float, q: float) -> float:
    if math.isnan(s) or math.isnan(q):
        return math.nan
    if s <= 1:
        if s == 1 or q != 1 or s == -math.inf:
            return math.inf if s == 1 else math.nan
        if s > -0.5:
            return _sum_of_powers(s, 1.0)
        if s % 2 == 0:
            return 0.0
        sine = math.sin(math.pi / 2 * (s % 4))
        log = s * math.log(math.tau) + math.lgamma(1 - s)
        size = math.exp(log) if log < 709 else math.inf
        return size / math.pi * sine * _sum_of_powers(1 - s, 1.0)
    if q == -math.inf or (math.isinf(s) and q < 0 and q != math.floor(q)):
        return math.nan
    if q <= 0:
        if q == math.floor(q) or s != math.floor(s) or math.isinf(s):
            return math.inf if q == math.floor(q) else math.nan
        steps = -math.floor(q)
        r, odd = q + steps, -1 if s % 2 else 1
        below = _sum_of_powers(s, -q - (steps - 1)) - _sum_of_powers(s, steps + 1 - r)
        return _sum_of_powers(s, r) + odd * below
    if math.isinf(s):
        return 0.0 if q > 1 else 1.0 if q == 1 else math.inf
    return 0.0 if math.isinf(q) else _sum_of_powers(s, q)


@vectorised
def _zeta(s: Floats, q: Floats) -> Floats:
    return each(_hurwitz, s, q)


_hurwitz_zeta: FunctionOfTwo = elementwise(
    "hurwitz", _zeta, IN_HEADER,
    "Hurwitz' zeta function.",
    lambda g, s, q, y: unknown("the derivative of zeta by its first argument", g),
    lambda g, s, q, y: -g * s * _hurwitz_zeta(s + 1, q), cost=200,
)  # fmt: skip


def zeta(x: TensorLike, q: TensorLike = 1) -> Tensor:
    """Hurwitz' zeta function, the sum of ``(n + q) ** -x`` over n >= 0 (DLMF 25.11). Elementwise.

    With ``q=1`` Riemann's, for all x; else x > 1, and q < 0 needs a whole x. Poles give inf, what
    is not defined NaN. There is a derivative by q alone.

    >>> import symc.tensor as T
    >>> T.zeta([2.0, 0.0]).eval(), T.zeta(2.0, 0.5).eval()
    (array([ 1.64493407, -0.5       ]), array(4.9348022))
    """
    x, q = common((x, q), "float", "zeta")
    return _hurwitz_zeta(x, q)


def polygamma(n: TensorLike, x: TensorLike) -> Tensor:
    """The derivative number n of the digamma function, n >= 0 and whole (DLMF 5.15). Elementwise.

    It is ``(-1) ** (n + 1) * n! * zeta(n + 1, x)``. NaN where n is negative.

    >>> import symc.tensor as T
    >>> T.polygamma([0.0, 1.0, 2.0], 1.0).eval()
    array([-0.57721566,  1.64493407, -2.40411381])
    """
    n, x = common((n, x), "float", "polygamma")
    order = where(lt(n, 1), 1.0, n)
    sign = 1 - 2 * mod(order + 1, 2)
    higher = sign * gamma(order + 1) * _hurwitz_zeta(order + 1, x)
    return where(lt(n, 0), np.nan, where(eq(n, 0), digamma(x), higher))


# --- logarithms of gamma --------------------------------------------------------------------------


def loggamma(x: TensorLike) -> Tensor:
    """The logarithm of gamma, of real numbers: NaN for x < 0, where it is complex. Elementwise.

    `gammaln` is the logarithm of its size, also for x < 0.

    >>> import symc.tensor as T
    >>> T.loggamma([0.5, 5.0, -0.5]).eval()
    array([0.57236494, 3.17805383,        nan])
    """
    x = as_float(x)
    outside = logical_or(lt(x, 0), isnan(x))
    return where(outside, np.nan, gammaln(where(outside, 1.0, x)))


# --- inverses of error functions ------------------------------------------------------------------


@vectorised
def _erfcinv(x: Floats) -> Floats:
    """From 1/2 on by erfinv, below by Newton's method for the logarithm of erfc."""
    inside = (x > 0) & (x < 0.5)
    target = np.log(np.where(inside, x, 0.25))
    y = np.sqrt(-target)
    for _ in range(60):
        scaled = known.erfcx(y)
        y = y + (np.log(scaled) - y * y - target) * scaled * math.sqrt(math.pi) / 2
    return np.where(inside, y, np.where(x < 0, np.nan, known.erfinv(1 - x)))


erfcinv: FunctionOfOne = elementwise(
    "erfcinv", _erfcinv,
    """
    // By erfinv from 1/2 on, where 1 - x is exact; below by Newton's method for log erfc, which is
    // concave, with erfc(y) = exp(-y^2) erfcx(y). It starts from erfinv, or in the tail from the
    // asymptotic y^2 = w - log(pi y^2)/2 - 1/(2 y^2) + 5/(8 y^4) for w = -log(x), which is off by
    // 3e-4 at most: two steps give all digits. Without branches, so that loops over it vectorise.
    static inline double symc_erfcinv_f64(double x) {
        int inside = (x > 0.0) & (x < 0.5);
        double part = inside ? x : 0.25, target = -log(part), near = symc_erfinv_f64(1.0 - x);
        double square = target - 0.5 * log(3.141592653589793 * target), s = 1.0 / square;
        square = target - 0.5 * log(3.141592653589793 * square) - s * (0.5 - 0.625 * s);
        double y = part < 1e-5 ? sqrt(square) : near;
        double scaled = symc_erfcx_of_size_f64(y);
        y += (log(scaled) - y * y + target) * scaled * 0.886226925452758;
        scaled = symc_erfcx_of_size_f64(y);
        y += (log(scaled) - y * y + target) * scaled * 0.886226925452758;
        return inside ? y : x < 0.0 ? NAN : near;
    }
    """,
    """The inverse of erfc, of 0 <= x <= 2: inf at 0, -inf at 2, NaN outside.

    >>> import symc.tensor as T
    >>> T.erfcinv([1.0, 1e-100]).eval()
    array([ 0.       , 15.0655747])
    """,
    lambda g, x, y: g * (math.sqrt(math.pi) / -2 * exp(sqr(y))), cost=200,
)  # fmt: skip


def ndtri(p: TensorLike) -> Tensor:
    """Quantiles of the normal distribution: the x with ``ndtr(x) == p``. Elementwise.

    >>> import symc.tensor as T
    >>> T.ndtri([0.025, 0.5]).eval().round(6) + 0.0
    array([-1.959964,  0.      ])
    """
    return 0.0 - math.sqrt(2) * erfcinv(2 * as_float(p))
