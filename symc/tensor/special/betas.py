"""The incomplete beta function, inverses of the incomplete ones, and products of gammas.

Names and ranges are those of `scipy.special`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from symc.graph.node import Tensor, TensorLike
from symc.tensor import reference_values as known
from symc.tensor.beta_values import beta, sinpi_sum
from symc.tensor.beta_values import betaln as betaln_of
from symc.tensor.elementwise import common, elementwise
from symc.tensor.exponentials import exp, expm1, log
from symc.tensor.libm import each
from symc.tensor.logarithmic import xlog1py, xlogy
from symc.tensor.logic import eq, ge, isinf, isnan, le, logical_and, where
from symc.tensor.math import abs as size_of
from symc.tensor.reference_values import Floats, log_of_gamma, stirling, vectorised
from symc.tensor.rows import IN_HEADER
from symc.tensor.signatures import FunctionOfThree, FunctionOfTwo
from symc.tensor.special_functions import betaln, digamma, gamma_density, gammainc_da
from symc.tensor.unknown import unknown

__all__ = [
    "betainc",
    "betaincinv",
    "binom",
    "boxcox",
    "comb",
    "gammainccinv",
    "gammaincinv",
    "poch",
]
_ALSO_ENTERED = ["betainc_da", "betainc_db"]

# --- the incomplete beta function -----------------------------------------------------------------


def _tail(a: Floats, b: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """I(a, b, x), x below its mean, by the power series 8.17.8, and its derivatives by a and b."""
    term, total = np.ones_like(a), np.ones_like(a)
    by_a, by_b, slopes_a, slopes_b = (np.zeros_like(a) for _ in range(4))
    for n in range(20000):
        term = term * (a + b + n) / (a + 1 + n) * x
        by_a = by_a + 1 / (a + b + n) - 1 / (a + 1 + n)
        by_b = by_b + 1 / (a + b + n)
        total, slopes_a, slopes_b = total + term, slopes_a + term * by_a, slopes_b + term * by_b
        if np.all(term * (1 + by_b) <= 1e-18 * total):
            break
    lx, ly = np.where(x < y, np.log(x), np.log1p(-y)), np.where(x < y, np.log1p(-x), np.log(y))
    value = np.exp(a * lx + b * ly - betaln_of(a, b)) / a
    both = known.digamma(a + b)
    slope_a = value * (total * (lx - known.digamma(a + 1) + both) + slopes_a)
    slope_b = value * (total * (ly - known.digamma(b) + both) + slopes_b)
    return value * total, slope_a, slope_b


def _parts(a: Floats, b: Floats, x: Floats, y: Floats) -> tuple[Floats, ...]:
    """I, 1 - I and the derivatives of I by a and b, at x = 1 - y."""
    ends = [a, b, x, y]
    inside = np.logical_and.reduce([(v > 0) & np.isfinite(v) for v in ends])
    p, q, at, rest = (np.where(inside, v, d) for v, d in zip(ends, (1, 1, 0.5, 0.5), strict=True))
    swap = at > (p + 1) / (p + q + 2)
    p, q = np.where(swap, q, p), np.where(swap, p, q)
    value, by_p, by_q = _tail(p, q, np.where(swap, rest, at), np.where(swap, at, rest))
    low = np.where((a == 0) | (y == 0) | ((b == np.inf) & (x > 0)), 1.0, 0.0)
    low = np.where((x == 0) | ((b == 0) & (y > 0)), 0.0, low)
    wrong = ~((a >= 0) & (b >= 0) & (x >= 0) & (y >= 0)) | ((a == 0) & (b == 0))
    wrong = wrong | (np.isinf(a) & np.isinf(b))
    low = np.where(wrong, np.nan, low)
    zero = np.where(wrong | (a == 0) | (b == 0), np.nan, 0.0)
    return (
        np.where(inside, np.where(swap, 1 - value, value), low),
        np.where(inside, np.where(swap, value, 1 - value), 1 - low),
        np.where(inside, np.where(swap, -by_q, by_p), zero),
        np.where(inside, np.where(swap, -by_p, by_q), zero),
    )


@vectorised
def _betainc(a: Floats, b: Floats, x: Floats) -> Floats:
    return _parts(a, b, x, 1 - x)[0]


@vectorised
def _betainc_da(a: Floats, b: Floats, x: Floats) -> Floats:
    return _parts(a, b, x, 1 - x)[2]


@vectorised
def _betainc_db(a: Floats, b: Floats, x: Floats) -> Floats:
    return _parts(a, b, x, 1 - x)[3]


def _density(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """The derivative of betainc by x."""
    return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


def _twice(name: str, bar: Tensor) -> Tensor:
    return unknown(f"the derivative of {name} by its first or second argument twice", bar)


betainc: FunctionOfThree = elementwise(
    "betainc", _betainc, """
    static inline double symc_betainc_f64(double a, double b, double x) {
        return symc_betainc_all_f64(a, b, x, 1.0 - x, 0);
    }
    """,
    """The regularised incomplete beta function I(a, b, x) of a, b > 0, 0 <= x <= 1 (DLMF 8.17.2):
    the probability that a number with the beta distribution is below x. NaN outside.

    >>> import symc.tensor as T
    >>> T.betainc(2.0, 3.0, [0.25, 0.5]).eval()
    array([0.26171875, 0.6875    ])
    """,
    lambda g, a, b, x, y: g * _slope_a(a, b, x), lambda g, a, b, x, y: g * _slope_b(a, b, x),
    lambda g, a, b, x, y: g * _density(a, b, x), cost=400, sign_bit="never",
)  # fmt: skip
_slope_a: FunctionOfThree = elementwise(
    "betainc_da", _betainc_da, """
    static inline double symc_betainc_da_f64(double a, double b, double x) {
        return symc_betainc_all_f64(a, b, x, 1.0 - x, 2);
    }
    """,
    "The derivative of betainc by its first argument.",
    lambda g, a, b, x, y: _twice("betainc", g), lambda g, a, b, x, y: _twice("betainc", g),
    lambda g, a, b, x, y: g * _density(a, b, x) * (log(x) - digamma(a) + digamma(a + b)), cost=600,
)  # fmt: skip
_slope_b: FunctionOfThree = elementwise(
    "betainc_db", _betainc_db, """
    static inline double symc_betainc_db_f64(double a, double b, double x) {
        return symc_betainc_all_f64(a, b, x, 1.0 - x, 3);
    }
    """,
    "The derivative of betainc by its second argument.",
    lambda g, a, b, x, y: _twice("betainc", g), lambda g, a, b, x, y: _twice("betainc", g),
    lambda g, a, b, x, y: g * _density(a, b, x) * (log(1 - x) - digamma(b) + digamma(a + b)),
    cost=600,
)  # fmt: skip

# --- inverses -------------------------------------------------------------------------------------


def _bisected(rising: Callable[[Floats], Floats], low: float, high: float, like: Floats) -> Floats:
    """Where a growing function changes its sign."""
    below, above = np.full_like(like, low), np.full_like(like, high)
    for _ in range(66):
        middle = (below + above) / 2
        up = rising(middle) > 0
        below, above = np.where(up, below, middle), np.where(up, middle, above)
    return (below + above) / 2


@vectorised
def _betaincinv(a: Floats, b: Floats, p: Floats) -> Floats:
    inside = (a > 0) & (b > 0) & (p > 0) & (p < 1) & np.isfinite(a) & np.isfinite(b)
    c, d, wanted = (np.where(inside, v, 0.5) for v in (a, b, p))

    def rising(t: Floats) -> Floats:
        low, high, _, _ = _parts(c, d, 1 / (1 + np.exp(-t)), 1 / (1 + np.exp(t)))
        return np.where(wanted > 0.5, 1 - wanted - high, low - wanted)

    t = _bisected(rising, -700, 700, c)
    ends = np.where((a > 0) & (b > 0) & ((p == 0) | (p == 1)), p, np.nan)
    return np.where(inside, 1 / (1 + np.exp(-t)), ends)


def _gammainc_inverse(a: Floats, p: Floats, upper: bool) -> Floats:
    inside = (a > 0) & (p > 0) & (p < 1) & np.isfinite(a)
    c, wanted = np.where(inside, a, 1.0), np.where(inside, p, 0.5)

    def rising(t: Floats) -> Floats:
        low, high = known.gammainc(c, np.exp(t)), known.gammaincc(c, np.exp(t))
        mine, other = (high, low) if upper else (low, high)
        miss = np.where(wanted > 0.5, 1 - wanted - other, mine - wanted)
        return -miss if upper else miss

    x = np.exp(_bisected(rising, -746, 710, c))
    first, last = (1.0, 0.0) if upper else (0.0, 1.0)
    # For a = 0 and a = inf the functions jump from one end to the other.
    ends = np.where(p == last, np.inf, np.where(p == first, 0.0, np.nan))
    return np.where(inside, x, np.where(a >= 0, ends, np.nan))


@vectorised
def _gammaincinv(a: Floats, p: Floats) -> Floats:
    return _gammainc_inverse(a, p, upper=False)


@vectorised
def _gammainccinv(a: Floats, p: Floats) -> Floats:
    return _gammainc_inverse(a, p, upper=True)


betaincinv: FunctionOfThree = elementwise(
    "betaincinv", _betaincinv, IN_HEADER,
    """The x with ``betainc(a, b, x) == p``: quantiles of the beta distribution.

    >>> import symc.tensor as T
    >>> T.betaincinv(2.0, 3.0, 0.6875).eval()
    array(0.5)
    """,
    lambda g, a, b, p, x: -g * _slope_a(a, b, x) / _density(a, b, x),
    lambda g, a, b, p, x: -g * _slope_b(a, b, x) / _density(a, b, x),
    lambda g, a, b, p, x: g / _density(a, b, x), cost=4000, sign_bit="never",
)  # fmt: skip
gammaincinv: FunctionOfTwo = elementwise(
    "gammaincinv", _gammaincinv, IN_HEADER,
    """The x with ``gammainc(a, x) == p``: quantiles of the gamma distribution.

    0 for p = 0 and inf for p = 1; NaN for other p where a is 0 or inf, as in SciPy.

    >>> import symc.tensor as T
    >>> T.gammaincinv(1.0, 0.5).eval()
    array(0.69314718)
    """,
    lambda g, a, p, x: -g * gammainc_da(a, x) / gamma_density(a, x),
    lambda g, a, p, x: g / gamma_density(a, x), cost=2000, sign_bit="never",
)  # fmt: skip
gammainccinv: FunctionOfTwo = elementwise(
    "gammainccinv", _gammainccinv, IN_HEADER,
    """The x with ``gammaincc(a, x) == q``, also for q too small to be one minus anything.

    inf for q = 0 and 0 for q = 1; NaN for other q where a is 0 or inf, as in SciPy.

    >>> import symc.tensor as T
    >>> T.gammainccinv(1.0, 1e-100).eval()
    array(230.2585093)
    """,
    lambda g, a, q, x: -g * gammainc_da(a, x) / gamma_density(a, x),
    lambda g, a, q, x: -g / gamma_density(a, x), cost=2000, sign_bit="never",
)  # fmt: skip

# --- products of gammas ---------------------------------------------------------------------------


@vectorised
def _poch(z: Floats, m: Floats) -> Floats:
    return each(_rising, z, m)


def _is_pole(x: float) -> bool:
    return x <= 0 and x == math.floor(x)


def _sign_and_log(x: float) -> tuple[float, float]:
    """Of gamma(x); x is no pole."""
    return (1.0 if x > 0 or math.floor(x) % 2 == 0 else -1.0), log_of_gamma(x)


def _rising(z: float, m: float) -> float:
    """gamma(z + m) / gamma(z): a product for whole m, else by their logarithms."""
    if not (math.isfinite(z) and math.isfinite(m)):
        return math.nan
    if m == math.floor(m) and abs(m) <= 10000:
        up = math.prod(z + k for k in range(int(m)))
        down = math.prod(z + k for k in range(int(m), 0))
        return up if m >= 0 else 1 / down if down else math.inf
    end = z + m
    if end < -_WHOLE or _is_pole(end):
        return math.inf if not _is_pole(z) else math.nan
    if _is_pole(z):
        return 0.0
    if abs(z) < 1e-18 and abs(end) < 1e-18:
        return z / end  # 5.7.1
    if z < 0 and end < 0:  # 5.5.3, twice
        sines = sinpi_sum(np.array([z, z]), np.array([0.0, m]))
        return float(sines[0] / sines[1]) * _raised(1 - end, m, 1 - z)
    return _raised(z, m, end)


_WHOLE = 2.0**52
"""Numbers from here on are whole."""


def _raised(z: float, m: float, end: float) -> float:
    """As `_rising`, for an `end` z + m that is no pole, nor is z; one of them is positive."""
    if min(z, end) >= 10:  # 5.11.1 for both, whose large terms are left out
        z, end = min(z, sys.float_info.max), min(end, sys.float_info.max)
        more = (z - 0.5) * math.log1p(m / z) + m * math.log(end) - m
        top, bottom = stirling(np.array([end, z])).tolist()
        size = more + (top - bottom)
        return math.exp(size) if size < 709.7 else math.inf
    (top, more), (bottom, less) = _sign_and_log(end), _sign_and_log(z)
    return top * bottom * (math.exp(more - less) if more - less < 709.7 else math.inf)


poch: FunctionOfTwo = elementwise(
    "poch", _poch,
    """
    // Gamma(z + m) / Gamma(z): a product for whole m, else from B(z, m) = Gamma(z) Gamma(m) / ...
    // A tiny z has Gamma(z) = 1 / z to all digits, and a tiny m changes Gamma near poles alone.
    static inline double symc_poch_f64(double z, double m) {
        if (!(fabs(z) < INFINITY && fabs(m) < INFINITY)) return NAN;
        if (m == rint(m) && fabs(m) <= 10000.0) {
            double product = 1.0, low = m < 0.0 ? z + m : z;
            for (double k = 0.0; k < fabs(m); k++) product *= low + k;
            return m >= 0.0 ? product : product == 0.0 ? INFINITY : 1.0 / product;
        }
        double end = z + m, factor = 1.0;
        int pole = z <= 0.0 && z == rint(z);
        if (end <= 0.0 && end == rint(end)) return pole ? NAN : INFINITY;
        if (pole) return 0.0;
        if (fabs(z) < 0x1p-60) {
            if (fabs(end) < 0x1p-60) return z / end;
            if (fabs(end) < 170.0) return z * symc_gamma_f64(end);
        } else if (fabs(m) < 0x1p-200) {
            return 1.0;
        }
        if (z > 0.0 && m > 0.0 && m < 170.0) return symc_gamma_f64(m) / symc_beta_f64(z, m);
        if (end > 0.0 && m < 0.0 && m > -170.0) return symc_beta_f64(end, -m) / symc_gamma_f64(-m);
        if (fabs(end) < 170.0 && fabs(z) < 170.0) return symc_gamma_f64(end) / symc_gamma_f64(z);
        if (z < 0.0 && end < 0.0) {  // DLMF 5.5.3, twice
            factor = symc_sinpi_f64(z) / symc_sinpi_sum_f64(z, m);
            double turned = 1.0 - end;
            end = 1.0 - z;
            z = turned;
            if (m > 0.0 && m < 170.0) return factor * (symc_gamma_f64(m) / symc_beta_f64(z, m));
            if (m < 0.0 && m > -170.0)
                return factor * (symc_beta_f64(end, -m) / symc_gamma_f64(-m));
        }
        // Of large z and m the digits that the logarithms share are all they have.
        if (z > 0x1p50 && end > 0x1p50) return factor * (m > 0.0 ? INFINITY : 0.0);
        int top = 1, bottom = 1;
        double size = exp(lgamma_r(end, &top) - lgamma_r(z, &bottom));
        return top * bottom * size * factor;
    }
    """,
    """The rising factorial ``gamma(z + m) / gamma(z)``, Pochhammer's symbol (DLMF 5.2.4).

    >>> import symc.tensor as T
    >>> T.poch(3.0, [0.0, 1.0, 2.0]).eval()
    array([ 1.,  3., 12.])
    """,
    lambda g, z, m, y: g * y * (digamma(z + m) - digamma(z)),
    lambda g, z, m, y: g * y * digamma(z + m), cost=150,
)  # fmt: skip


@vectorised
def _binom(n: Floats, k: Floats) -> Floats:
    """By a product, or the beta function of arguments that the reflection 5.5.3 makes positive."""
    below_0 = (k < 0) & (k == np.floor(k))
    k = np.where(~below_0 & (n < -1) & (k < 0) & (n - k > -1), n - k, k)
    known_ends = (
        below_0
        | (n < 0) & (n == np.floor(n))
        | (k == np.floor(k)) & ((k < 400) | (n == np.floor(n)) & (n - k < 400))
    )
    rest = np.where(np.abs(n) < 1, (1 - k) + n, n - k + 1)
    sine, pi = sinpi_sum(k, -n), math.pi
    plain = 1 / ((n + 1) * beta(rest, k + 1))
    small_k = np.where(np.abs(k) < 100, k, 1.0)
    root = np.abs(n) ** (small_k / 2)
    plain = np.where((n > 1e30) & (small_k == k), root / known.gamma(small_k + 1) * root, plain)
    above, below = sine / pi * beta(n + 1, k - n), sinpi_sum(-k) / pi
    turned = sine / sinpi_sum(-n)
    small = np.where(
        k > -1,
        turned / ((k - n) * beta(k + 1, -n)),
        below * turned * beta(-k, k - n),
    )
    large = np.where(k - n >= 1, above, np.where(k <= -1, below * beta(n + 1, -k), plain))
    small = np.where(turned == 0, 0.0, small)
    finite = np.isfinite(n) & np.isfinite(k)
    return np.where(known_ends | ~finite, each(_choose, n, k), np.where(n < -1, small, large))


def _choose(n: float, k: float) -> float:
    """Of whole numbers, or of a small whole k."""
    if not (math.isfinite(n) and math.isfinite(k)) or _is_pole(n + 1):
        return math.nan
    if k < 0 or (n == math.floor(n) and k > n >= 0):
        return 0.0
    if n == math.floor(n) and 0 <= n - k < k:
        k = n - k
    return math.prod((n - (k - j)) / j for j in range(1, int(k) + 1)) if k < 400 else 0.0


binom: FunctionOfTwo = elementwise(
    "binom", _binom,
    """
    // Gamma(n + 1) / (Gamma(k + 1) Gamma(n - k + 1)): a product for a small whole k or n - k.
    static inline double symc_binom_f64(double n, double k) {
        if (!(fabs(n) < INFINITY && fabs(k) < INFINITY)) return NAN;
        if (n < 0.0 && n == rint(n)) return NAN;
        if (n == rint(n) && k == rint(k) && k > 0.5 * n && k <= n) k = n - k;
        if (k == rint(k) && k >= 0.0 && k < 400.0) {
            double product = 1.0;
            for (double j = 1.0; j <= k; j++) product *= (n - (k - j)) / j;
            return product;
        }
        if (k < 0.0 && k == rint(k)) return 0.0;
        if (k > n && n - k == rint(n - k) && (n - k) + k == n) return 0.0;
        // Reflected, DLMF 5.5.3, where a gamma has a negative argument: k - n > 0, then n < 0 too.
        if (n < -1.0 && k < 0.0 && n - k > -1.0) k = n - k;
        double sine = symc_sinpi_sum_f64(k, -n);
        if (n > -1.0 && k - n >= 1.0)
            return sine / 3.141592653589793 * symc_beta_f64(n + 1.0, k - n);
        if (n > -1.0 && k <= -1.0)
            return symc_sinpi_f64(-k) / 3.141592653589793 * symc_beta_f64(n + 1.0, -k);
        if (n < -1.0 && k > -1.0)
            return sine / symc_sinpi_f64(-n) / ((k - n) * symc_beta_f64(k + 1.0, -n));
        if (n < -1.0)
            return symc_sinpi_f64(-k) / 3.141592653589793 * (sine / symc_sinpi_f64(-n)) *
                   symc_beta_f64(-k, k - n);
        // Of a large n beta may be too small: Gamma(n + 1) / Gamma(n - k + 1) is n^k to
        // all digits (DLMF 5.11.12).
        double root = pow(n, 0.5 * k);
        if (n > 0x1p100 && fabs(k) < 100.0) return root / symc_gamma_f64(k + 1.0) * root;
        double rest = fabs(n) < 1.0 ? (1.0 - k) + n : n - k + 1.0;
        return 1.0 / ((n + 1.0) * symc_beta_f64(rest, k + 1.0));
    }
    """,
    """The binomial coefficient of real numbers, n over k (DLMF 1.2.6). NaN for a negative whole n.

    >>> import symc.tensor as T
    >>> T.binom([4.0, 0.5], 2.0).eval()
    array([ 6.   , -0.125])
    """,
    lambda g, n, k, y: g * y * (digamma(n + 1) - digamma(n - k + 1)),
    lambda g, n, k, y: g * y * (digamma(n - k + 1) - digamma(k + 1)), cost=150,
)  # fmt: skip


def comb(n: TensorLike, k: TensorLike, *, repetition: bool = False) -> Tensor:
    """The number of ways to choose k of n things, 0 where k < 0 or k > n. Elementwise.

    With `repetition` a thing may be chosen several times. Floats, as
    `scipy.special.comb` without ``exact``.

    >>> import symc.tensor as T
    >>> T.comb(5, [2, 6]).eval(), T.comb(5, 2, repetition=True).eval()
    (array([10.,  0.]), array(15.))
    """
    n, k = common((n, k), "float", "comb")
    if repetition:
        return where(eq(n + k, 0), 1.0, comb(n + k - 1, k))
    inside = logical_and(logical_and(ge(n, 0), ge(k, 0)), le(k, n))
    return where(isnan(n + k), np.nan, where(inside, binom(where(inside, n, 0.0), k), 0.0))


def boxcox(x: TensorLike, lmbda: TensorLike) -> Tensor:
    """``(x ** lmbda - 1) / lmbda``, and ``log(x)`` for `lmbda` = 0: Box and Cox's transformation
    (J. Roy. Stat. Soc. B 26 (1964) 211). NaN for x < 0. Elementwise.

    >>> import symc.tensor as T
    >>> T.boxcox([1.0, 4.0], 0.5).eval(), T.boxcox(4.0, 0.0).eval()
    (array([0., 2.]), array(1.38629436))
    """
    x, lmbda = common((x, lmbda), "float", "boxcox")
    logarithm = log(x)
    product = lmbda * logarithm
    # Near lmbda = 0 three terms of the series, whose derivative by lmbda is right there too.
    small = le(size_of(product), 1e-5)
    series = logarithm * (1 + product / 2 * (1 + product / 3))
    result = where(small, series, expm1(product) / where(small, 1.0, lmbda))
    return where(logical_and(eq(lmbda, 0), isinf(logarithm)), logarithm, result)
